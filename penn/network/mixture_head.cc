#include "penn/network/mixture_head.h"

#include <cmath>

#include "penn/kernel/mixture_kernel.h"
#include "penn/kernel/thread_pool.h"

namespace penn {
namespace {

class LogDensity : public torch::autograd::Function<LogDensity> {
 public:
  // The gradient costs little more than the value, so it is made at once; backward only scales its rows.
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* context, const torch::Tensor& y,
                                                const torch::Tensor& theta, int64_t parameters, int64_t components,
                                                bool full, const std::vector<double>& least_precision, double lesson, bool training) {
    const MixtureShape shape{static_cast<int>(parameters), static_cast<int>(components), full, least_precision};
    const int64_t B = y.size(0);
    const torch::Tensor log_q = torch::empty({B}, y.options()), bad = torch::empty({B}, torch::kUInt8);
    torch::Tensor gradient;
    if (training) gradient = torch::empty_like(y);
    AT_DISPATCH_FLOATING_TYPES(y.scalar_type(), "mixture_log_density", [&] {
      pool_for(B, 16, [&](int64_t begin, int64_t end) {
        mixture_rows<scalar_t>(shape, begin, end, y.data_ptr<scalar_t>(), theta.data_ptr<scalar_t>(),
                               log_q.data_ptr<scalar_t>(), bad.data_ptr<uint8_t>(),
                               training ? gradient.data_ptr<scalar_t>() : nullptr, lesson);
      });
    });
    if (training) context->save_for_backward({gradient});
    context->mark_non_differentiable({bad});
    return {log_q, bad};
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list output_gradients) {
    const torch::Tensor gradient = context->get_saved_variables()[0];
    return {gradient * output_gradients[0].unsqueeze(1), {}, {}, {}, {}, {}, {}, {}};
  }
};

void check_sizes(const torch::Tensor& y, const torch::Tensor& theta, const MixtureShape& shape) {
  TORCH_CHECK(y.dim() == 2 && y.size(1) == shape.size(), "free vectors have size ", y.sizes(), ", expected (B, ",
              shape.size(), ")");
  TORCH_CHECK(theta.dim() == 2 && theta.size(0) == y.size(0) && theta.size(1) == shape.parameters, "theta has size ",
              theta.sizes());
  TORCH_CHECK(!theta.requires_grad(), "the log density has no gradient in theta");
}

// The parts of y: logits (B, N), means and gammas (B, N, M), strictly upper entries (B, N, M (M - 1) / 2).
std::vector<torch::Tensor> split(const torch::Tensor& y, const MixtureShape& s) {
  const int64_t B = y.size(0), N = s.components, M = s.parameters;
  const auto parts = y.split_with_sizes({N, N * M, N * M, N * s.upper()}, 1);
  return {parts[0], parts[1].view({B, N, M}), parts[2].view({B, N, M}), parts[3].view({B, N, s.upper()})};
}

torch::Tensor factors(const torch::Tensor& gammas, const torch::Tensor& uppers, const MixtureShape& s) {
  // softplus as logaddexp: LibTorch's softplus is linear above 20 only, this is exact everywhere.
  const torch::Tensor u = torch::diag_embed(torch::logaddexp(gammas, torch::zeros_like(gammas)));
  if (s.upper() == 0) return u;
  const torch::Tensor at =
      torch::triu_indices(s.parameters, s.parameters, 1, torch::device(u.device()).dtype(torch::kLong));
  torch::Tensor off = torch::zeros_like(u);
  off.index_put_({torch::indexing::Slice(), torch::indexing::Slice(), at[0], at[1]}, uppers);
  return u + off;
}

// (M), zeros where there is none
torch::Tensor least_precision(const MixtureShape& s, const torch::TensorOptions& options) {
  return s.least_precision.empty() ? torch::zeros({s.parameters}, options) : torch::tensor(s.least_precision, torch::kDouble).to(options);
}

// The factor R of R^T R = U^T U + diag(least_precision)
torch::Tensor narrowed(const torch::Tensor& u, const MixtureShape& s) {
  if (s.least_precision.empty()) return u;
  return torch::linalg_cholesky(torch::matmul(u.transpose(-1, -2), u) + torch::diag(least_precision(s, u.options().requires_grad(false)))).transpose(-1, -2);
}

}  // namespace

MixtureParameters mixture_parameters(const torch::Tensor& y, const MixtureShape& shape) {
  const auto parts = split(y.contiguous(), shape);
  return {torch::softmax(parts[0], 1), parts[1], narrowed(factors(parts[2], parts[3], shape), shape)};
}

torch::Tensor mixture_log_density_reference(const torch::Tensor& y, const torch::Tensor& theta,
                                            const MixtureShape& shape, double lesson) {
  check_sizes(y, theta, shape);
  const auto parts = split(y.contiguous(), shape);
  const torch::Tensor r = narrowed(factors(parts[2], parts[3], shape), shape);
  const torch::Tensor v = torch::matmul(r, (theta.unsqueeze(1) - parts[1]).unsqueeze(-1)).squeeze(-1);
  const torch::Tensor alone = torch::diagonal(r, 0, -2, -1).log().sum(-1) - 0.5 * v.square().sum(-1) - 0.5 * shape.parameters * std::log(2 * M_PI);
  const torch::Tensor log_q = torch::logsumexp(torch::log_softmax(parts[0], 1) + alone, 1);
  return lesson > 0 ? log_q + lesson * (alone - alone.detach()).mean(1) : log_q;
}

MixtureDensity mixture_log_density(const torch::Tensor& y, const torch::Tensor& theta, const MixtureShape& shape, double lesson) {
  check_sizes(y, theta, shape);
  if (y.is_cpu()) {
    const auto out =
        LogDensity::apply(y.contiguous(), theta.to(y.dtype()).contiguous(), shape.parameters, shape.components,
                          shape.full, shape.least_precision, lesson, y.requires_grad() && torch::GradMode::is_enabled());
    return {out[0], out[1].to(torch::kBool)};
  }
  // Bad rows are computed again as zeros, so that no NaN enters the backward pass.
  torch::Tensor bad;
  {
    torch::NoGradGuard no_grad;
    bad = ~(mixture_log_density_reference(y, theta, shape).abs() <= kMixtureLimit);
  }
  const torch::Tensor safe = torch::where(bad.unsqueeze(1), torch::zeros_like(y), y);
  const torch::Tensor safe_theta = torch::where(bad.unsqueeze(1), torch::zeros_like(theta), theta);
  const torch::Tensor log_q = mixture_log_density_reference(safe, safe_theta, shape, lesson);
  return {torch::where(bad, torch::zeros_like(log_q), log_q), bad};
}

MixtureLoss mixture_loss(const torch::Tensor& y, const torch::Tensor& theta, const MixtureShape& shape, double lesson) {
  const MixtureDensity density = mixture_log_density(y, theta, shape, lesson);
  MixtureLoss result;
  result.bad = density.bad.sum().item<int64_t>();
  result.good = y.size(0) - result.bad;
  result.loss = result.good > 0 ? -density.log_density.sum() / result.good : torch::zeros({}, y.options());
  return result;
}

}  // namespace penn
