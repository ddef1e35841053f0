// The encoders that inference can run by itself: the statistics and the LSTM. Same tensors and names as penn/network.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "penn/base/error.h"
#include "penn/base/parallel.h"
#include "penn/infer/plain_network.h"
#include "penn/kernel/lane_lstm.h"
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
    if (version != kSummaryVersion)
      throw ModelError(fmt::format("{}: version {} of the statistics, this program has {}", model.file.name(), version, kSummaryVersion),
                       "train the model again, or use the program it was trained with");
    const size_t d = static_cast<size_t>(model.info.network.inputs);
    const std::vector<double> v = model.file.read<double>(kNetworkPrefix + prefix + "scaling", {d, 5});
    SummaryOptions options;
    SummaryScaling scaling;
    options.channels.clear();
    for (size_t c = 0; c < d; ++c) {
      options.channels.push_back(fmt::format("z{}", c + 1));
      scaling.channels.push_back({v[5 * c], v[5 * c + 1], v[5 * c + 2], v[5 * c + 3], v[5 * c + 4]});
    }
    return Summary(options, scaling);
  }

  Summary summary_;
  std::vector<float> centre_, unit_;
};

class PlainLstm final : public PlainEncoder {
 public:
  PlainLstm(const ModelFile& model, const std::string& prefix) : d_(model.info.network.inputs) {
    const auto settings = model.info.network.encoder_settings.find("lstm");
    if (settings == model.info.network.encoder_settings.end()) throw ModelError(fmt::format("{}: the settings of the LSTM are missing", model.file.name()));
    layers_ = settings->value("layers", 4);
    hidden_ = settings->value("hidden", 50);
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

}  // namespace

std::unique_ptr<PlainEncoder> make_plain_encoder(const ModelFile& model, const std::string& name) {
  const std::string prefix = fmt::format("encoder_{}.", name);
  if (name == "statistics") return std::make_unique<PlainStatistics>(model, prefix);
  if (name == "lstm") return std::make_unique<PlainLstm>(model, prefix);
  throw ModelError(fmt::format("{}: inference cannot run the encoder '{}'", model.file.name(), name), "it runs: statistics, lstm");
}

}  // namespace penn
