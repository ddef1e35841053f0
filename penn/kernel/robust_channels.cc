#include "penn/kernel/robust_channels.h"

#include <algorithm>

#include "penn/kernel/aligned_buffer.h"
#include "penn/kernel/lane.h"

namespace penn {

void robust_channels(const float* z, int64_t n, int64_t d, const float* centre, const float* unit, std::span<const int> lags, float* out) {
  const int64_t per = 1 + static_cast<int64_t>(lags.size()), C = d * per;
  AlignedBuffer column(n + kVector);  // room after the end, so that whole vectors can be taken
  float* c = column.data();
  for (int64_t j = 0; j < d; ++j)
    for (int64_t k = 0; k < per; ++k) {
      const float* x = z + j;
      const float scale = 1.0f / unit[j * per + k];
      const int64_t lag = k == 0 ? 0 : std::min<int64_t>(lags[static_cast<size_t>(k - 1)], n);
      for (int64_t t = 0; t < lag; ++t) c[t] = 0.0f;
      if (k == 0)
        for (int64_t t = 0; t < n; ++t) c[t] = (x[t * d] - centre[j]) * scale;
      else
        for (int64_t t = lag; t < n; ++t) c[t] = (x[t * d] - x[(t - lag) * d]) * scale;
      for (int64_t t = 0; t < n; t += kVector) store(c + t, asinh(load(c + t)));
      float* o = out + j * per + k;
      for (int64_t t = 0; t < n; ++t) o[t * C] = c[t];
    }
}

}  // namespace penn
