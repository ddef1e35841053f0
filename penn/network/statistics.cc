// The encoder `statistics`: the fixed features of penn/summary, standardised. No weights, no gradients, almost no time.
#include "penn/base/error.h"
#include "penn/network/fixed_encoder.h"
#include "penn/kernel/thread_pool.h"
#include "penn/summary/summary.h"

namespace penn {
namespace {

constexpr int kScales = 5;  // numbers of a ChannelScale

int version_in(const nlohmann::json& settings) {
  return setting_integer("statistics", merge_settings("statistics", {{"version", kSummaryVersion}}, settings), "version", 0, 1000);
}

int size_for(const SummaryOptions& options) {
  return static_cast<int>(Summary(options, {std::vector<ChannelScale>(options.channels.size())}).size());
}

class StatisticsEncoder final : public FixedEncoder {
 public:
  StatisticsEncoder(int inputs, int version)
      : FixedEncoder(size_for(summary_options(version, inputs))), inputs_(inputs), version_(version), options_(summary_options(version, inputs)) {
    scaling_ = register_buffer("scaling", torch::ones({inputs, kScales}, torch::kFloat64));
  }
  nlohmann::json settings() const override { return {{"version", version_}}; }

  void calibrate(const torch::Tensor& z) override {
    torch::NoGradGuard no_grad;
    const torch::Tensor data = z.detach().to(torch::kCPU, torch::kFloat32).contiguous();
    const SummaryScaling measured = measure_scaling(data.data_ptr<float>(), data.size(0), data.size(1), data.size(2));
    auto values = torch::empty({inputs_, kScales}, torch::kFloat64);
    for (int c = 0; c < inputs_; ++c) {
      const ChannelScale& s = measured.channels[static_cast<size_t>(c)];
      const double row[kScales] = {s.location, s.value, s.velocity, s.second, s.third};
      for (int k = 0; k < kScales; ++k) values[c][k] = row[k];
    }
    scaling_.copy_(values);
    FixedEncoder::calibrate(z);
  }

  void compute(const float* z, int64_t B, int64_t n, int64_t d, float* out) const override {
    if (d != inputs_) throw ModelError("statistics: the number of channels is not the trained one");
    current().compute(z, B, n, out, pool_threads());
  }

 private:
  // The scaling is a buffer and may be read from a file at any time, so the summary is made anew for every batch: microseconds.
  Summary current() const {
    const torch::Tensor host = scaling_.to(torch::kCPU).contiguous();
    const double* v = host.data_ptr<double>();
    SummaryScaling scaling;
    for (int c = 0; c < inputs_; ++c, v += kScales) scaling.channels.push_back({v[0], v[1], v[2], v[3], v[4]});
    return Summary(options_, scaling);
  }

  int inputs_, version_;
  SummaryOptions options_;
  torch::Tensor scaling_;  // (d, 5) float64
};

const RegisterEncoder registered("statistics", [](int inputs, const nlohmann::json& settings) {
  return std::make_shared<StatisticsEncoder>(inputs, version_in(settings));
});

}  // namespace
}  // namespace penn
