#include "penn/kernel/mixture_link.h"

#include <algorithm>
#include <cmath>

namespace penn {

void apply_relative_link(const MixtureShape& shape, int64_t B, float* y) {
  const int M = shape.parameters, N = shape.components;
  for (int64_t b = 0; b < B; ++b, y += shape.size()) {
    const float* first = y + N;
    float* mean = y + N;
    float* gamma = y + N * (1 + M);
    float* upper = gamma + N * M;
    for (int j = 0; j < N; ++j, mean += M, gamma += M)
      for (int k = 0; k < M; ++k) {
        const float u = kSmallestScale + std::exp(std::min(gamma[k], kLargestLog));
        gamma[k] = u + std::log(-std::expm1(-u));
        if (j > 0) mean[k] = first[k] + mean[k] / u;
        if (shape.full)
          for (int l = k + 1; l < M; ++l) *upper++ *= u;
      }
  }
}

}  // namespace penn
