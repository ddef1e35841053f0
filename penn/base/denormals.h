// Flushes subnormal numbers to zero while it lives: a decaying trajectory would otherwise become a hundred times
// slower.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace penn {

class [[maybe_unused]] FlushDenormals {
 public:
#if defined(__SSE2__)
  FlushDenormals() : saved_(_mm_getcsr()) {
    _mm_setcsr(saved_ | 0x8040);
  }
  ~FlushDenormals() {
    _mm_setcsr(saved_);
  }
  FlushDenormals(const FlushDenormals&) = delete;

 private:
  unsigned saved_;
#endif
};

}  // namespace penn
