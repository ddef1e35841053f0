#include "penn/base/random.h"

#include <Random123/philox.h>
#include <gtest/gtest.h>

namespace penn {
namespace {

TEST(random_test, philox_equals_random123) {
  for (uint32_t i = 0; i < 1000; ++i) {
    const uint32_t a = i * 2654435761u, b = ~a * 40503u, c = a ^ 0xdeadbeefu, d = b + i;
    const r123::Philox4x32_R<kPhiloxRounds>::ctr_type counter = {{a, b, c, d}};
    const r123::Philox4x32_R<kPhiloxRounds>::key_type key = {{c * 3, d * 7}};
    const auto expected = r123::Philox4x32_R<kPhiloxRounds>()(counter, key);
    const Quad ours = philox({a, b, c, d}, c * 3, d * 7);
    for (int word = 0; word < 4; ++word) ASSERT_EQ(ours[word], expected[word]) << i;
  }
}

TEST(random_test, every_part_of_the_key_changes_the_draw) {
  const RandomKey key{1, 2, 0};
  const double u = key.uniform(0, 0);
  EXPECT_NE(u, (RandomKey{2, 2, 0}.uniform(0, 0)));
  EXPECT_NE(u, (RandomKey{1, 3, 0}.uniform(0, 0)));
  EXPECT_NE(u, (RandomKey{1, 2 + (uint64_t{1} << 32), 0}.uniform(0, 0)));
  EXPECT_NE(u, (RandomKey{1 + (uint64_t{1} << 32), 2, 0}.uniform(0, 0)));
  EXPECT_NE(u, (RandomKey{1, 2, 1}.uniform(0, 0)));
  EXPECT_NE(u, key.uniform(1, 0));
  EXPECT_NE(u, key.uniform(0, 1));
}

TEST(random_test, uniform_has_mean_one_half_and_variance_one_twelfth) {
  double sum = 0, squares = 0;
  constexpr int kDraws = 1'000'000;  // standard errors: 2.9e-4 and 7.5e-5
  for (int i = 0; i < kDraws; ++i) {
    const double u = RandomKey{7, static_cast<uint64_t>(i), 0}.uniform(0, 3);
    ASSERT_TRUE(u > 0 && u < 1);
    sum += u;
    squares += (u - 0.5) * (u - 0.5);
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 1.2e-3);
  EXPECT_NEAR(squares / kDraws, 1.0 / 12, 3e-4);
}

}  // namespace
}  // namespace penn
