// ln q(theta) of a Gaussian mixture given by its free vector y, and d ln q / dy, for rows of a batch (SPEC section 2):
//   a_j = y_j + ln det(P_j) / 2 - (theta - mu_j)^T P_j (theta - mu_j) / 2,   P_j = U_j^T U_j + diag(least_precision),
//   ln q = logsumexp_j a_j - logsumexp_j y_j - (M / 2) ln 2 pi
// Without least_precision, the paper's form, ln det(P_j) / 2 = sum_k ln u_kk.
// Sums are doubles whatever T is. Plain arrays, no threads.
#pragma once

#include <cstdint>

#include "penn/model/network_options.h"

namespace penn {

// A row is bad when y or theta is not finite, or when |ln q| or a derivative exceeds this: such a row would decide the
// whole step and a sum of squares of its gradient might overflow. Bad rows get ln q = 0, derivative 0 and are reported.
inline constexpr double kMixtureLimit = 1e12;

// lesson: the gradient is that of ln q + (lesson / N) sum_j ln q_j, q_j being component j alone; ln q is given as it is.
// Rows [begin, end): y (B, K), theta (B, M) -> log_q (B), bad (B, 0 or 1), gradient (B, K) unless null.
// T: float or double.
template <class T>
void mixture_rows(const MixtureShape& shape, std::int64_t begin, std::int64_t end, const T* y, const T* theta, T* log_q,
                  std::uint8_t* bad, T* gradient, double lesson = 0);

}  // namespace penn
