#include "penn/network/network_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "penn/base/error.h"
#include "penn/base/half.h"

namespace penn {
namespace {

constexpr const char *kScaling = "encoder_statistics.scaling", *kCentre = "encoder_statistics.centre",
                     *kUnit = "encoder_statistics.unit", *kLstmCentre = "encoder_lstm.input.centre",
                     *kLstmUnit = "encoder_lstm.input.unit";
constexpr std::string_view kProjection = "decoder.input_projection";

// Eleven bits are enough for a matrix whose errors average out over many inputs, and only such matrices are worth it.
bool is_stored_as_half(const WeightBlock& block, const float* values) {
  constexpr size_t kLarge = 1 << 16;
  constexpr float kLargestHalf = 65504;
  return block.shape.size() == 2 && block.size() >= kLarge &&
         std::all_of(values, values + block.size(), [](float v) { return std::fabs(v) < kLargestHalf; });
}

}  // namespace

NetworkTensors::NetworkTensors(const Network& network, Precision precision) {
  const auto add = [&](const std::string& name, TensorType type, Shape shape, const void* data) {
    views_.push_back({kNetworkPrefix + name, type, std::move(shape), data});
  };
  for (const WeightBlock& block : network.blocks()) {
    const float* values = network.weights().data() + block.offset;
    if (precision == Precision::kFull || !is_stored_as_half(block, values)) {
      add(block.name, TensorType::kF32, block.shape, values);
      continue;
    }
    std::vector<uint16_t> half(block.size());
    std::transform(values, values + block.size(), half.begin(), narrow);
    halves_.push_back(std::move(half));  // the heap memory stays where it is
    add(block.name, TensorType::kF16, block.shape, halves_.back().data());
  }
  if (const auto& s = network.statistics()) {
    scaling_ = s->scaling();
    add(kScaling, TensorType::kF64, {scaling_.size() / 5, 5}, scaling_.data());
    add(kCentre, TensorType::kF32, {s->centre().size()}, s->centre().data());
    add(kUnit, TensorType::kF32, {s->unit().size()}, s->unit().data());
  }
  if (const auto& l = network.lstm()) {
    add(kLstmCentre, TensorType::kF32, {l->centre().size()}, l->centre().data());
    add(kLstmUnit, TensorType::kF32, {l->unit().size(), 1}, l->unit().data());
  }
}

void round_as_stored(Network& network) {
  for (const WeightBlock& block : network.blocks()) {
    float* values = network.weights().data() + block.offset;
    if (is_stored_as_half(block, values))
      std::transform(values, values + block.size(), values, [](float v) { return widen(narrow(v)); });
  }
}

Network read_network(const SafetensorsFile& file, const NetworkOptions& options) {
  std::set<std::string> known;
  const auto read = [&]<class T>(const std::string& name, const Shape& shape, T) {
    std::string stored = kNetworkPrefix + name;
    if (const size_t at = stored.find(kProjection); at != std::string::npos && !file.find(stored))
      stored.replace(at, kProjection.size(), "decoder.stem");  // version 0.1
    known.insert(stored);
    std::vector<T> values = file.read<T>(stored, shape);
    for (const T v : values)
      if (!std::isfinite(v))
        throw ModelError(
            fmt::format("{}: the tensor '{}' holds values that are not finite", file.name(), kNetworkPrefix + name));
    return values;
  };
  uint64_t bytes = 0;
  for (const TensorInfo& info : file.tensors()) bytes += info.end - info.begin;
  const auto make = [&] {
    try {
      return Network(options, static_cast<size_t>(bytes / 2));
    } catch (const ModelError& error) {
      throw ModelError(fmt::format("{}: {}", file.name(), error.what()), error.hint());
    }
  };
  Network network = make();
  for (const WeightBlock& block : network.blocks()) {
    const std::vector<float> values = read(block.name, block.shape, float{});
    std::copy(values.begin(), values.end(), network.weights().begin() + static_cast<std::ptrdiff_t>(block.offset));
  }
  try {
    if (auto& s = network.statistics()) {
      const Shape features = {static_cast<size_t>(s->size())};
      const std::vector<double> scaling = read(kScaling, {static_cast<size_t>(options.inputs), 5}, double{});
      std::vector<float> centre = read(kCentre, features, float{});
      s->set(scaling, std::move(centre), read(kUnit, features, float{}));
    }
  } catch (const ModelError& error) {
    const std::string text = error.what();
    throw ModelError(text.rfind(file.name(), 0) == 0 ? text : fmt::format("{}: {}", file.name(), text), error.hint());
  }
  if (auto& l = network.lstm()) {
    const size_t d = static_cast<size_t>(options.inputs);
    std::vector<float> centre = read(kLstmCentre, {d}, float{});
    l->set(std::move(centre), read(kLstmUnit, {d, 1}, float{}));
  }
  for (const TensorInfo& info : file.tensors())
    if (info.name.rfind(kNetworkPrefix, 0) == 0 && !known.count(info.name))
      throw ModelError(fmt::format("{}: the tensor '{}' does not belong to this network", file.name(), info.name));
  return network;
}

}  // namespace penn
