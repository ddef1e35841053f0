#include "penn/model/model_file.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/base/half.h"
#include "penn/base/renamed_keys.h"
#include "penn/base/safetensors_header.h"
#include "penn/network/network_file.h"
#include "penn/system/describe_system.h"
#include "penn/system/parse_system.h"

namespace penn {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

namespace {

constexpr int kModelFormat = 3, kOldModelFormat = 2;  // 2: version 0.1, the same under other names
constexpr RenamedKey kRenamedSummaryKeys[] = {{"on_lattice", "quantised"}, {"discarded_share", "discarded_fraction"}};
constexpr int kCurveColumns = 6;

json parse_entry(const SafetensorsFile& file, const std::string& key) {
  try {
    return json::parse(file.text(key));
  } catch (const nlohmann::json::exception& error) {
    throw ModelError(fmt::format("{}: the entry '{}' cannot be read: {}", file.name(), key, error.what()));
  }
}

std::vector<double> flatten(const std::vector<LossPoint>& curve) {
  std::vector<double> rows;
  for (const LossPoint& p : curve)
    rows.insert(rows.end(), {p.minutes, p.step, p.trajectories, p.train_nll, p.validation_nll, p.learning_rate});
  return rows;
}

}  // namespace

void save_model(const fs::path& path, const Model& model) {
  const ModelInfo& info = model.info;
  const json summary = {{"lengths", {info.lengths.low, info.lengths.high}},
                        {"sampling", {info.sampling.low, info.sampling.high}},
                        {"quantised", info.quantised},
                        {"discarded_fraction", info.discarded_fraction},
                        {"validation_nll", info.validation_nll},
                        {"steps", info.steps},
                        {"trajectories", info.trajectories},
                        {"minutes", info.minutes}};
  Metadata metadata = {{"format", fmt::format("penn model {}", kModelFormat)},
                       {"version", info.version},
                       {"system", info.system_text},
                       {"observation", info.observation},
                       {"network", to_json(info.network).dump()},
                       {"training", info.training->dump()},
                       {"summary", summary.dump()}};
  if (!info.recalibration.is_empty()) metadata["recalibration"] = to_json(info.recalibration).dump();
  const NetworkTensors network(model.network, NetworkTensors::Precision::kHalf);
  std::vector<TensorView> tensors = network.views();
  const auto add = [&](const char* name, const auto& values, Shape shape) {
    using Value = typename std::decay_t<decltype(values)>::value_type;
    tensors.push_back({name, tensor_type<Value>(), std::move(shape), values.data()});
  };
  const size_t E = info.typicality.mean.size();
  const std::vector<double> curve = flatten(info.curve);
  add("typicality.mean", info.typicality.mean, {E});
  std::vector<uint16_t> directions;  // a quarter of the file otherwise
  for (const float value : info.typicality.directions) directions.push_back(narrow(value));
  tensors.push_back({"typicality.directions", TensorType::kF16, {info.typicality.spread.size(), E}, directions.data()});
  add("typicality.spread", info.typicality.spread, {info.typicality.spread.size()});
  add("typicality.inside", info.typicality.inside, {info.typicality.inside.size()});
  add("typicality.outside", info.typicality.outside, {info.typicality.outside.size()});
  add("values.low", info.value_low, {info.value_low.size()});
  add("values.high", info.value_high, {info.value_high.size()});
  add("curve", curve, {info.curve.size(), kCurveColumns});
  write_safetensors(path, metadata, std::move(tensors));
}

Model open_model(const fs::path& path) {
  return open_model(SafetensorsFile(path));
}

nlohmann::ordered_json training_record(const ModelInfo& info) {
  return {{"version", info.version},
          {"options", *info.training},
          {"lengths", {info.lengths.low, info.lengths.high}},
          {"minutes", info.minutes},
          {"steps", info.steps},
          {"trajectories", info.trajectories},
          {"validation_nll", info.validation_nll}};
}

Model open_model(const SafetensorsFile& file) {
  ModelInfo info;
  System system;
  int observation = 0;
  const auto refuse = [&](const std::string& reason, const std::string& hint = "") {
    throw ModelError(fmt::format("{}: {}", file.name(), reason), hint);
  };
  if (!file.metadata().count("format"))
    refuse("not a model of penn: the entry 'format' is missing", "models are made by `penn train`");
  const std::string& format = file.text("format");
  if (format.rfind("penn checkpoint", 0) == 0)
    refuse("this is the checkpoint of an unfinished training, not a model", "finish it with `penn train ... --resume`");
  if (format.rfind("penn model ", 0) != 0) refuse("not a model of penn", "models are made by `penn train`");
  const bool is_old = format == fmt::format("penn model {}", kOldModelFormat);
  if (!is_old && format != fmt::format("penn model {}", kModelFormat))
    refuse(fmt::format("model format {}, this program reads {}", format.substr(11), kModelFormat),
           "train it again with this version, or use the version that made it");

  info.version = file.text("version");
  info.system_text = file.text("system");
  info.observation = file.text("observation");
  try {
    system = parse_system(info.system_text, file.name() + " (system)");
    observation = system.observation_index(info.observation);
    const json network = parse_entry(file, "network");  // names the file itself where it fails
    try {
      info.network = network_options_from_json(network);
    } catch (const ModelError& error) {
      refuse(error.what(), error.hint());
    }
    info.training = parse_entry(file, "training");
    const json summary = with_new_keys(parse_entry(file, "summary"), kRenamedSummaryKeys);
    info.lengths = {summary.at("lengths").at(0).get<int64_t>(), summary.at("lengths").at(1).get<int64_t>()};
    info.sampling = {summary.at("sampling").at(0).get<double>(), summary.at("sampling").at(1).get<double>()};
    summary.at("quantised").get_to(info.quantised);
    summary.at("discarded_fraction").get_to(info.discarded_fraction);
    summary.at("validation_nll").get_to(info.validation_nll);
    summary.at("steps").get_to(info.steps);
    summary.at("trajectories").get_to(info.trajectories);
    summary.at("minutes").get_to(info.minutes);
  } catch (const nlohmann::json::exception& error) {
    refuse(fmt::format("its description cannot be read: {}", error.what()));
  } catch (const SystemError& error) {
    refuse(fmt::format("its system text is damaged: {}", error.what()));
  }
  const size_t M = system.parameters.size(), d = system.observations[static_cast<size_t>(observation)].channels.size();
  if (static_cast<size_t>(info.network.mixture.parameters) != M || static_cast<size_t>(info.network.inputs) != d)
    refuse(fmt::format("its network has {} inputs and {} parameters, its system {} and {}", info.network.inputs,
                       info.network.mixture.parameters, d, M));
  const std::string typicality = is_old ? "familiarity." : "typicality.",  // version 0.1
      recalibration = is_old ? "widths" : "recalibration";
  const TensorInfo* directions = file.find(typicality + "directions");
  if (!directions || directions->shape.size() != 2)
    refuse("the statistics of the embedding are missing or have another shape");
  const size_t k = directions->shape[0], E = directions->shape[1];
  info.typicality.mean = file.read<float>(typicality + "mean", {E});
  info.typicality.directions = file.read<float>(typicality + "directions", {k, E});
  info.typicality.spread = file.read<float>(typicality + "spread", {k});
  info.typicality.inside = file.read<float>(typicality + "inside", {1001});
  info.typicality.outside = file.read<float>(typicality + "outside", {1001});
  for (const auto* list : {&info.typicality.mean, &info.typicality.directions, &info.typicality.spread,
                           &info.typicality.inside, &info.typicality.outside})
    for (const float v : *list)
      if (!std::isfinite(v)) refuse("the statistics of the embedding are not finite");
  for (const float v : info.typicality.spread)
    if (!(v > 0)) refuse("the statistics of the embedding have a spread that is not positive");
  info.value_low = file.read<float>("values.low", {d});
  info.value_high = file.read<float>("values.high", {d});
  for (size_t c = 0; c < d; ++c)
    if (!(std::isfinite(info.value_low[c]) && std::isfinite(info.value_high[c]) &&
          info.value_low[c] <= info.value_high[c]))
      refuse("its range of observed values makes no sense");
  if (info.quantised.size() != d) refuse("its description is of another number of channels");
  if (file.metadata().count(recalibration)) {
    const json entry = parse_entry(file, recalibration);  // names the file itself where it fails
    try {
      info.recalibration = recalibration_from_json(entry, M);
    } catch (const ModelError& error) {
      refuse(error.what());
    }
  }
  const NetworkOptions& net = info.network;
  if (info.lengths.low < 2 || info.lengths.low > info.lengths.high || info.lengths.high > 1'000'000'000 ||
      static_cast<double>(info.lengths.low) != net.length_low ||
      static_cast<double>(info.lengths.high) != net.length_high || info.sampling.low != net.sampling_low ||
      info.sampling.high != net.sampling_high)
    refuse("its trained ranges of length or sampling make no sense, or are not those of its network");
  const TensorInfo* curve = file.find("curve");
  if (!curve || curve->shape.size() != 2 || curve->shape[1] != kCurveColumns)
    refuse("the loss curve is missing or has another shape");
  const std::vector<double> rows = file.read<double>("curve");
  for (size_t i = 0; i < rows.size(); i += kCurveColumns)
    info.curve.push_back({rows[i], rows[i + 1], rows[i + 2], rows[i + 3], rows[i + 4], rows[i + 5]});
  const auto read = [&] {
    try {
      return read_network(file, net);
    } catch (const std::bad_alloc&) {
      throw ModelError(fmt::format("{}: its network does not fit into memory", file.name()));
    }
  };
  Network network = read();
  if (network.embedding_size() != info.typicality.embedding_size())
    refuse("the statistics of the embedding do not fit the network");
  return {file.name(), std::move(info), std::move(system), observation, std::move(network)};
}

bool has_tensors(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  const InputFile file(path);
  unsigned char start[9];  // length of the header, little-endian, and its first character: eight bytes of text would be
                           // a length beyond all limits
  if (file.size() < sizeof start) return false;
  file.read_at(0, start, sizeof start);
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | start[i];
  return length <= kSafetensorsMaxHeader && start[8] == '{';
}

std::string shipped_model(const std::string& name) {
  if (name.find('/') != std::string::npos) return "";
  std::string stored = name;  // an observation is written cfhn:x1 and stored as cfhn-x1
  for (char& c : stored) c = c == ':' ? '-' : c;
  return shared_file("models/" + stored + ".safetensors");
}

fs::path find_model(const std::string& what) {
  std::error_code ignored;
  const bool is_file = fs::is_regular_file(what, ignored),
             is_system_file = is_file && what.ends_with(".toml") && !has_tensors(what);
  if (is_file && !is_system_file) return what;
  const std::string shipped = shipped_model(what);
  if (!shipped.empty()) return shipped;
  const std::string file = what + ".safetensors", name = what.substr(0, what.find(':'));
  if (fs::is_regular_file(file, ignored))
    throw ModelError(fmt::format("there is no model file '{}'", what), fmt::format("did you mean '{}'?", file));
  if (is_system_file || !shared_file("systems/" + name + ".toml").empty())
    throw ModelError(
        fmt::format("'{}' is a system, and there is no trained model of it here", what),
        fmt::format("train one: penn train {} -o {}.safetensors", shell_word(what), fs::path(name).stem().string()));
  std::string list;
  for (const std::string& name : shared_names("models", ".safetensors")) list += (list.empty() ? "" : ", ") + name;
  throw ModelError(fmt::format("there is no model file '{}'", what),
                   list.empty() ? "train one with `penn train SYSTEM -o MODEL.safetensors`"
                                : fmt::format("give the path of a model or one of: {}", list));
}

std::string describe_model(const Model& model) {
  const ModelInfo& info = model.info;
  std::string out = fmt::format("Model of {}{}{}, trained by penn {}\n", model.system.name,
                                info.observation.empty() ? "" : ":", info.observation, info.version);
  const auto range = [](auto low, auto high) {
    return low == high ? fmt::format("{}", low) : fmt::format("{} to {}", low, high);
  };
  out += fmt::format(
      "\nTraining\n  {} steps, {} trajectories{}\n  validation NLL {:.4f} (in the parameters' own units)\n  discarded "
      "as divergent: {:.2f} %\n",
      info.steps, info.trajectories, info.minutes > 0 ? fmt::format(", {:.1f} minutes", info.minutes) : "",
      info.validation_nll, 100 * info.discarded_fraction);
  out += "  options:";
  for (const auto& [key, value] : info.training->items()) out += fmt::format(" {}={}", key, value.dump());
  out += "\n";
  if (!info.recalibration.is_empty()) {
    out += fmt::format("  scales of the posteriors times, measured on {} fresh trajectories of each length,\n",
                       info.recalibration.trajectories);
    out += describe_recalibration(info.recalibration, model.system);
  }
  out += fmt::format("\nUse\n  length {} samples, sampling {}\n", range(info.lengths.low, info.lengths.high),
                     range(info.sampling.low, info.sampling.high));
  out += fmt::format("\nNetwork, {} weights\n  {}\n\n", model.network.weights().size(), to_json(info.network).dump());
  return out + describe_system(model.system);
}

}  // namespace penn
