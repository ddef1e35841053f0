#include "penn/kernel/mixture_link.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace penn {

void apply_link(const std::string& link, const MixtureShape& shape, int64_t B, float* y) {
  if (link == "direct") return;
  const bool by_row = link == "relative";
  std::vector<float> u(static_cast<size_t>(shape.parameters));
  const int M = shape.parameters, N = shape.components;
  for (int64_t b = 0; b < B; ++b, y += shape.size()) {
    const float* first = y + N;
    float* mean = y + N;
    float* gamma = y + N * (1 + M);
    float* upper = gamma + N * M;
    for (int j = 0; j < N; ++j, mean += M, gamma += M) {
      for (int k = 0; k < M; ++k) {
        u[k] = kSmallestScale + std::exp(std::min(gamma[k], kLargestLog));
        gamma[k] = u[k] + std::log(-std::expm1(-u[k]));
        if (j > 0) mean[k] = first[k] + mean[k] / u[k];
      }
      if (!shape.full) continue;
      for (int k = 0; k < M; ++k)
        for (int l = k + 1; l < M; ++l) *upper++ *= by_row ? u[k] : u[l];
    }
  }
}

}  // namespace penn
