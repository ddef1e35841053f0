// IEEE half precision: sign, 5 bits of exponent, 10 of mantissa. For files only.
#pragma once

#include <cstdint>

namespace penn {

float widen(uint16_t half);
// The nearest half, of two equally near ones the even; infinity beyond 65,504.
uint16_t narrow(float value);

}  // namespace penn
