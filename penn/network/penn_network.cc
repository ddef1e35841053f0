#include "penn/network/penn_network.h"

#include <cmath>

#include "penn/kernel/mixture_link.h"

namespace penn {
namespace {

// ln x scaled so that the trained range becomes [-1, 1]; beyond it goes on linearly.
double scaled_log(double x, double low, double high) {
  return 2 * std::log(x / low) / std::log(high / low) - 1;
}

// mixture_link.h, differentiable.
torch::Tensor linked(const torch::Tensor& r, const MixtureShape& shape, bool by_row) {
  const int64_t M = shape.parameters, N = shape.components, B = r.size(0);
  const torch::Tensor means = r.slice(1, N, N * (1 + M)).view({B, N, M});
  const torch::Tensor u = r.slice(1, N * (1 + M), N * (1 + 2 * M)).clamp_max(kLargestLog).exp().view({B, N, M}) + kSmallestScale;
  const torch::Tensor first = means.slice(1, 0, 1), others = first + means.slice(1, 1) / u.slice(1, 1);
  std::vector<torch::Tensor> parts = {r.slice(1, 0, N), torch::cat({first, others}, 1).view({B, N * M}), (u + torch::log(-torch::expm1(-u))).view({B, N * M})};
  if (shape.full && M > 1) {
    std::vector<int64_t> scale;  // of each strictly upper entry: the width of its row or its column
    for (int64_t k = 0; k < M; ++k)
      for (int64_t l = k + 1; l < M; ++l) scale.push_back(by_row ? k : l);
    const torch::Tensor scales = torch::tensor(scale, torch::TensorOptions(torch::kInt64).device(r.device()));
    parts.push_back((r.slice(1, N * (1 + 2 * M)).view({B, N, -1}) * u.index_select(2, scales)).view({B, -1}));
  }
  return torch::cat(parts, 1);
}

// Components that start in one place split along a few parameters only; these start apart in every one, by about a width in all: one width in every
// of 11 parameters left nine components of ten too far away to be of use ever.
void spread_components(torch::Tensor bias, const MixtureShape& shape) {
  torch::NoGradGuard no_grad;
  const int64_t M = shape.parameters, N = shape.components;
  bias.slice(0, N + M, N * (1 + M)).normal_(0, 1 / std::sqrt(static_cast<double>(M)));  // of all means but the first, which are told in widths from it
}

}  // namespace

PennNetwork::PennNetwork(const NetworkOptions& options) : options_(options) {
  options_.check();
  for (const std::string& name : options_.encoders) {
    const auto given = options_.encoder_settings.find(name);
    auto encoder =
        make_encoder(name, options_.inputs, given == options_.encoder_settings.end() ? nlohmann::json() : *given);
    options_.encoder_settings[name] = encoder->settings();
    embedding_size_ += encoder->output_size();
    encoders_.push_back(register_module("encoder_" + name, encoder));
  }
  embedding_size_ += options_.varying_length() + options_.varying_sampling();
  decoder_ = register_module("decoder", std::make_shared<ResNet>(embedding_size_, options_.decoder_width,
                                                                 options_.decoder_blocks, options_.mixture.size(), options_.decoder_stem));
  if (options_.link != "direct") spread_components(decoder_->last()->bias, options_.mixture);
}

void PennNetwork::calibrate(const torch::Tensor& z) {
  for (auto& encoder : encoders_) encoder->calibrate(z);
}

torch::Tensor PennNetwork::embedding(const torch::Tensor& z, const torch::Tensor& sampling) {
  TORCH_CHECK(z.dim() == 3 && z.size(2) == options_.inputs, "trajectories have size ", z.sizes(), ", expected (B, n, ",
              options_.inputs, ")");
  std::vector<torch::Tensor> parts;
  for (auto& encoder : encoders_) parts.push_back(encoder->forward(z));
  const int64_t B = z.size(0);
  if (options_.varying_length())
    parts.push_back(torch::full({B, 1},
                                scaled_log(static_cast<double>(z.size(1)), options_.length_low, options_.length_high),
                                parts[0].options().requires_grad(false)));
  if (options_.varying_sampling()) {
    TORCH_CHECK(sampling.defined() && sampling.numel() == B, "the sampling interval of every trajectory is needed");
    const double low = options_.sampling_low, high = options_.sampling_high;
    parts.push_back((torch::log(sampling.view({B, 1}) / low) * (2 / std::log(high / low)) - 1).to(parts[0].dtype()));
  }
  return parts.size() == 1 ? parts[0] : torch::cat(parts, 1);
}

torch::Tensor PennNetwork::forward(const torch::Tensor& z, const torch::Tensor& sampling) {
  return decode(embedding(z, sampling));
}

torch::Tensor PennNetwork::decode(const torch::Tensor& embedding) {
  const torch::Tensor r = decoder_->forward(embedding);
  return options_.link == "direct" ? r : linked(r, options_.mixture, options_.link == "relative");
}

}  // namespace penn
