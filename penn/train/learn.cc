#include "penn/train/learn.h"

#include <algorithm>

#include "penn/kernel/thread_pool.h"

namespace penn {
namespace {

constexpr int64_t kFewestRows = 32;  // of a part: every part reads all weights and writes a whole gradient

}  // namespace

Learned learn(PennNetwork& network, const torch::Tensor& embedding, const torch::Tensor& theta, double balance, double lesson) {
  const MixtureShape& shape = network.options().mixture;
  const std::vector<torch::Tensor> weights = network.parameters();
  const int64_t B = embedding.size(0);
  const int64_t most = std::max<int64_t>(B / kFewestRows, 1);
  const int64_t parts = embedding.requires_grad() || !embedding.is_cpu() ? 1 : std::min<int64_t>(pool_threads(), most);
  struct Part {
    Learned learned;
    torch::autograd::variable_list gradients;  // of the sum over its rows
  };
  std::vector<Part> all(static_cast<size_t>(parts));
  const auto work = [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t first = B * k / parts, last = B * (k + 1) / parts;
      const torch::Tensor y = network.decode(embedding.slice(0, first, last));
      const MixtureLoss loss = mixture_loss(y, theta.slice(0, first, last), shape, lesson);
      Part& part = all[static_cast<size_t>(k)];
      const double count = static_cast<double>(loss.good);
      part.learned = {loss.loss.item<double>() * count, loss.good, loss.bad};
      if (loss.good == 0) continue;
      torch::Tensor objective = loss.loss;
      if (balance > 0) objective = objective - balance * torch::log_softmax(y.slice(1, 0, shape.components), 1).logsumexp(0).mean();  // the mean's count is a constant
      part.gradients = torch::autograd::grad({objective * count}, weights);
    }
  };
  if (parts == 1) work(0, 1);  // not inside the pool, which an encoder's backward pass uses itself
  else pool_for(parts, 1, work);

  Learned sum;
  for (const Part& part : all) {  // in order, so that the sum is the same bits every time
    sum.loss += part.learned.loss;
    sum.good += part.learned.good;
    sum.bad += part.learned.bad;
  }
  if (sum.good == 0) return sum;
  sum.loss /= static_cast<double>(sum.good);
  pool_for(static_cast<int64_t>(weights.size()), 1, [&](int64_t begin, int64_t end) {
    torch::NoGradGuard no_grad;  // a thread's own
    for (size_t i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      torch::Tensor total;
      for (const Part& part : all)
        if (!part.gradients.empty()) total = total.defined() ? total.add_(part.gradients[i]) : part.gradients[i].contiguous();
      torch::Tensor(weights[i]).mutable_grad() = total.div_(static_cast<double>(sum.good));
    }
  });
  return sum;
}

}  // namespace penn
