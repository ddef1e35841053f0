#include "penn/base/half.h"

#include <gtest/gtest.h>

#include <cmath>

namespace penn {
namespace {

TEST(half_test, known_numbers) {
  EXPECT_EQ(widen(0x3c00), 1);
  EXPECT_EQ(widen(0xc000), -2);
  EXPECT_EQ(widen(0x7bff), 65504);
  EXPECT_EQ(widen(0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(widen(0x3555), 0.333251953125f);  // the half nearest to a third
  EXPECT_EQ(narrow(1.0f / 3), 0x3555);
}

TEST(half_test, every_half_comes_back) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const uint16_t half = static_cast<uint16_t>(bits);
    if (std::isnan(widen(half))) EXPECT_TRUE(std::isnan(widen(narrow(widen(half)))));
    else EXPECT_EQ(narrow(widen(half)), half);
  }
}

TEST(half_test, between_two_halves_the_nearer_and_half_way_the_even_one) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const uint16_t low = static_cast<uint16_t>(bits), high = static_cast<uint16_t>(bits + 1);
    const float middle = 0.5f * (widen(low) + widen(high));
    EXPECT_EQ(narrow(middle), low % 2 == 0 ? low : high);
    EXPECT_EQ(narrow(std::nextafter(middle, 0.0f)), low);
    EXPECT_EQ(narrow(std::nextafter(middle, 1e9f)), high);
    EXPECT_EQ(narrow(-middle), 0x8000 | (low % 2 == 0 ? low : high));
  }
}

TEST(half_test, beyond_the_largest_is_infinity) {
  EXPECT_EQ(narrow(65519.0f), 0x7bff);
  EXPECT_EQ(narrow(65520.0f), 0x7c00);
  EXPECT_EQ(narrow(-1e30f), 0xfc00);
}

}  // namespace
}  // namespace penn
