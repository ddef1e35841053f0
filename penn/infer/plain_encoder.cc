// The encoders without a tensor library: the statistics, the LSTM, the convolutions. Same tensors and names as penn/network.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "penn/base/error.h"
#include "penn/base/parallel.h"
#include "penn/infer/plain_network.h"
#include "penn/kernel/lane_convolution.h"
#include "penn/kernel/lane_lstm.h"
#include "penn/kernel/robust_channels.h"
#include "penn/summary/summary.h"

namespace penn {
namespace {

class PlainStatistics final : public PlainEncoder {
 public:
  PlainStatistics(const ModelFile& model, const std::string& prefix) : summary_(make_summary(model, prefix)) {
    const Shape shape = {static_cast<size_t>(summary_.size())};
    centre_ = read_network_tensor(model.file, prefix + "centre", shape);
    unit_ = read_network_tensor(model.file, prefix + "unit", shape);
  }
  int64_t size() const override { return summary_.size(); }

  void encode(const float* z, int64_t B, int64_t n, float* out, int threads) const override {
    summary_.compute(z, B, n, out, threads);
    const int64_t F = size();
    for (int64_t b = 0; b < B; ++b) {
      float* x = out + b * F;
      for (int64_t f = 0; f < F; ++f) {
        const size_t i = static_cast<size_t>(f);
        x[f] = std::clamp(((std::isfinite(x[f]) ? x[f] : 0.0f) - centre_[i]) / unit_[i], -8.0f, 8.0f);
      }
    }
  }

 private:
  static Summary make_summary(const ModelFile& model, const std::string& prefix) {
    const auto settings = model.info.network.encoder_settings.find("statistics");
    const int version = settings == model.info.network.encoder_settings.end() ? 0 : settings->value("version", 0);
    const size_t d = static_cast<size_t>(model.info.network.inputs);
    const std::vector<double> v = model.file.read<double>(kNetworkPrefix + prefix + "scaling", {d, 5});
    SummaryScaling scaling;
    for (size_t c = 0; c < d; ++c) scaling.channels.push_back({v[5 * c], v[5 * c + 1], v[5 * c + 2], v[5 * c + 3], v[5 * c + 4]});
    try {
      return Summary(summary_options(version, static_cast<int64_t>(d)), scaling);
    } catch (const ModelError& error) {
      throw ModelError(fmt::format("{}: {}", model.file.name(), error.what()), error.hint());
    }
  }

  Summary summary_;
  std::vector<float> centre_, unit_;
};

// Of an encoder with weights; ModelError where the file has none.
const nlohmann::json& settings_of(const ModelFile& model, const char* encoder) {
  const auto found = model.info.network.encoder_settings.find(encoder);
  if (found == model.info.network.encoder_settings.end()) throw ModelError(fmt::format("{}: the settings of the encoder '{}' are missing", model.file.name(), encoder));
  return *found;
}

class PlainLstm final : public PlainEncoder {
 public:
  PlainLstm(const ModelFile& model, const std::string& prefix) : d_(model.info.network.inputs) {
    const nlohmann::json& settings = settings_of(model, "lstm");
    layers_ = settings.value("layers", 4);
    hidden_ = settings.value("hidden", 50);
    if (layers_ < 1 || layers_ > 100 || hidden_ < 1 || hidden_ > 10000) throw ModelError(fmt::format("{}: an LSTM of {} layers of {}", model.file.name(), layers_, hidden_));
    const size_t d = static_cast<size_t>(d_), H = static_cast<size_t>(hidden_);
    centre_ = read_network_tensor(model.file, prefix + "input.centre", {d});
    unit_ = read_network_tensor(model.file, prefix + "input.unit", {d, 1});
    for (int layer = 0; layer < layers_; ++layer) {
      const auto read = [&](const char* what, Shape shape) {
        weights_.push_back(read_network_tensor(model.file, fmt::format("{}lstm.{}_l{}", prefix, what, layer), shape));
      };
      read("weight_ih", {4 * H, layer == 0 ? d : H});
      read("weight_hh", {4 * H, H});
      read("bias_ih", {4 * H});
      read("bias_hh", {4 * H});
    }
  }
  int64_t size() const override { return hidden_; }

  void encode(const float* z, int64_t B, int64_t n, float* out, int threads) const override {
    std::vector<float> x(static_cast<size_t>(B * n * d_));
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t c = i % static_cast<size_t>(d_);
      x[i] = std::asinh((z[i] - centre_[c]) / unit_[c]);
    }
    std::vector<LstmWeights> weights;
    for (size_t k = 0; k < weights_.size(); k += 4) weights.push_back({weights_[k].data(), weights_[k + 1].data(), weights_[k + 2].data(), weights_[k + 3].data()});
    const LaneLstm lstm({static_cast<int>(B), static_cast<int>(n), d_, hidden_, layers_}, weights, LstmMemory::kNothing);
    parallel_for(lstm.tiles(), threads, [&](int64_t tile, int) { lstm.forward(static_cast<int>(tile), x.data(), out, nullptr); });
  }

 private:
  int d_, layers_ = 0, hidden_ = 0;
  std::vector<float> centre_, unit_;
  std::vector<std::vector<float>> weights_;  // per layer: w_ih, w_hh, b_ih, b_hh
};

class PlainConvolution final : public PlainEncoder {
 public:
  PlainConvolution(const ModelFile& model, const std::string& prefix) : d_(model.info.network.inputs) {
    const nlohmann::json& settings = settings_of(model, "convolution");
    try {
      lags_ = settings.at("lags").get<std::vector<int>>();
      channels_ = settings.at("channels").get<std::vector<int>>();
      kernel_ = settings.at("kernel").get<int>();
      stride_ = settings.at("stride").get<int>();
    } catch (const nlohmann::json::exception& error) {
      throw ModelError(fmt::format("{}: encoder convolution: {}", model.file.name(), error.what()));
    }
    const auto lie_in = [](const std::vector<int>& list, int low, int high) { return std::all_of(list.begin(), list.end(), [&](int v) { return low <= v && v <= high; }); };
    if (channels_.empty() || channels_.size() > 100 || lags_.size() > 100 || !lie_in(channels_, 1, 10000) || !lie_in(lags_, 1, 1000000) || !lie_in({kernel_, stride_}, 1, 99) || kernel_ % 2 == 0)
      throw ModelError(fmt::format("{}: encoder convolution: settings that make no sense: {}", model.file.name(), settings.dump()));
    const size_t d = static_cast<size_t>(d_);
    centre_ = read_network_tensor(model.file, prefix + "input.centre", {d});
    unit_ = read_network_tensor(model.file, prefix + "input.unit", {d, 1 + lags_.size()});
    size_t in = d * (1 + lags_.size());
    for (size_t k = 0; k < channels_.size(); ++k) {
      const size_t out = static_cast<size_t>(channels_[k]);
      weights_.push_back(read_network_tensor(model.file, fmt::format("{}weight{}", prefix, k + 1), {out, in, static_cast<size_t>(kernel_)}));
      biases_.push_back(read_network_tensor(model.file, fmt::format("{}bias{}", prefix, k + 1), {out}));
      size_ += channels_[k];
      in = out;
    }
    const Shape all = {static_cast<size_t>(size_)};
    scale_ = read_network_tensor(model.file, prefix + "norm.weight", all);
    shift_ = read_network_tensor(model.file, prefix + "norm.bias", all);
  }
  int64_t size() const override { return size_; }

  void encode(const float* z, int64_t B, int64_t n, float* out, int threads) const override {
    const int64_t C = d_ * (1 + static_cast<int64_t>(lags_.size()));
    std::vector<float> x(static_cast<size_t>(B * n * C));
    parallel_for(B, threads, [&](int64_t b, int) { robust_channels(z + b * n * d_, n, d_, centre_.data(), unit_.data(), lags_, x.data() + b * n * C); });
    ConvolutionShape shape{.batch = static_cast<int>(B), .time = static_cast<int>(n), .channels = {static_cast<int>(C)}, .kernel = kernel_, .stride = stride_};
    shape.channels.insert(shape.channels.end(), channels_.begin(), channels_.end());
    std::vector<ConvolutionWeights> weights;
    for (size_t k = 0; k < weights_.size(); ++k) weights.push_back({weights_[k].data(), biases_[k].data()});
    const LaneConvolution kernel(shape, weights);
    parallel_for(kernel.tiles(), threads, [&](int64_t tile, int) {
      AlignedBuffer memory(kernel.saved_floats_per_tile());
      kernel.forward(static_cast<int>(tile), x.data(), out, memory.data());
    });
    for (int64_t b = 0; b < B; ++b) normalise(out + b * size_);
  }

 private:
  void normalise(float* x) const {  // LayerNorm
    double mean = 0, square = 0;
    for (int64_t i = 0; i < size_; ++i) mean += x[i];
    mean /= static_cast<double>(size_);
    for (int64_t i = 0; i < size_; ++i) square += (x[i] - mean) * (x[i] - mean);
    const double unit = 1 / std::sqrt(square / static_cast<double>(size_) + 1e-5);
    for (int64_t i = 0; i < size_; ++i) x[i] = static_cast<float>((x[i] - mean) * unit) * scale_[static_cast<size_t>(i)] + shift_[static_cast<size_t>(i)];
  }

  int d_, kernel_ = 5, stride_ = 2;
  int64_t size_ = 0;
  std::vector<int> lags_, channels_;
  std::vector<float> centre_, unit_, scale_, shift_;
  std::vector<std::vector<float>> weights_, biases_;  // by layer
};

}  // namespace

std::unique_ptr<PlainEncoder> make_plain_encoder(const ModelFile& model, const std::string& name) {
  const std::string prefix = fmt::format("encoder_{}.", name);
  if (name == "statistics") return std::make_unique<PlainStatistics>(model, prefix);
  if (name == "lstm") return std::make_unique<PlainLstm>(model, prefix);
  if (name == "convolution") return std::make_unique<PlainConvolution>(model, prefix);
  throw ModelError(fmt::format("{}: inference cannot run the encoder '{}'", model.file.name(), name), "it runs: statistics, lstm, convolution");
}

}  // namespace penn
