// What holds for every noise of the table.
#include "penn/noise/noise_type.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "penn/base/files.h"
#include "tests/noise/noise_values.h"

namespace penn {
namespace {

// Some shapes inside of all domains, another for every lane.
std::vector<double> shapes_of(const NoiseType& type, int lane) {
  std::vector<double> shapes;
  for (const NoiseShape& shape : type.shapes) {
    const double low = shape.low, high = std::min(shape.high, low + 3);
    shapes.push_back(low + (high - low) * (0.3 + 0.6 * lane / (kLanes - 1)));
  }
  return shapes;
}

TEST(noise_type_test, no_two_noises_are_written_alike) {
  for (const NoiseType* a : noise_types())
    for (const NoiseType* b : noise_types())
      EXPECT_TRUE(a == b || a->name != b->name || a->shapes.size() != b->shapes.size()) << a->call();
}

TEST(noise_type_test, domains_know_their_ends) {
  const NoiseShape alpha{"alpha", 0, 2, NoiseShape::kOpenLow}, H{"H", 0, 1, NoiseShape::kOpen};
  EXPECT_FALSE(alpha.contains(0));
  EXPECT_TRUE(alpha.contains(2));
  EXPECT_FALSE(H.contains(1));
  EXPECT_FALSE(H.contains(std::nan("")));
  const NoiseShape beta{"beta", -1, 1, NoiseShape::kClosed}, rate{"rate", 0, HUGE_VAL, NoiseShape::kOpenHigh};
  EXPECT_TRUE(beta.contains(-1) && beta.contains(1) && rate.contains(0));
  EXPECT_FALSE(rate.contains(HUGE_VAL));
  EXPECT_EQ(alpha.outside(2.5), "alpha must lie in (0, 2], got 2.5");
  EXPECT_EQ(beta.domain(), "[-1, 1]");
  EXPECT_EQ(rate.domain(), "[0, inf)");
}

// The table of docs/system_language.md has a row for every noise, with its shapes and their domains.
TEST(noise_type_test, the_documentation_lists_every_noise_with_its_domains) {
  const std::string page = read_text_file(std::string(PENN_SOURCE_DIR) + "/docs/system_language.md");
  for (const NoiseType* type : noise_types()) {
    std::string domains;
    for (const NoiseShape& shape : type->shapes)
      domains += (domains.empty() ? "" : ", ") + shape.name + " in " + shape.domain();
    const std::string row = "\n| `" + type->call() + "` | " + (domains.empty() ? "-" : domains) + " | ";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(noise_type_test, every_driver_equals_its_reference) {
  constexpr int kSteps = 130;
  for (const NoiseType* type : noise_types())
    for (const double dt : {1.0, 0.01}) {
      const auto driver = started_driver(*type, 70, kSteps, dt, [&](int lane) { return shapes_of(*type, lane); });
      const float* fast = driver->values(0, kSteps);
      for (int lane = 0; lane < kLanes; ++lane) {
        const std::vector<double> slow = type->reference({kTestSeed, 70u + static_cast<uint64_t>(lane), 0}, kTestStream,
                                                         shapes_of(*type, lane).data(), dt, kSteps);
        double scale = 0;  // the median size of a value
        std::vector<double> size;
        for (const double value : slow) size.push_back(std::abs(value));
        std::nth_element(size.begin(), size.begin() + kSteps / 2, size.end());
        scale = size[kSteps / 2];
        for (int i = 0; i < kSteps; ++i)
          ASSERT_NEAR(fast[i * kLanes + lane], slow[i], 3e-5 * (scale + std::abs(slow[i])))
              << type->call() << ", dt " << dt << ", lane " << lane << ", step " << i;
      }
    }
}

TEST(noise_type_test, a_value_depends_on_neither_lane_nor_neighbours_nor_block) {
  constexpr int kSteps = 150;
  for (const NoiseType* type : noise_types()) {
    const auto shapes = [&](int lane) { return shapes_of(*type, lane); };
    const auto driver = started_driver(*type, 0, kSteps, 0.1, shapes);
    const float* values = driver->values(0, kSteps);
    const std::vector<float> whole(values, values + kSteps * kLanes);
    for (const int first : {0, 1, 2, 3, 5, 63, 64, 100}) {
      const float* cut = driver->values(first, 7);
      EXPECT_TRUE(std::equal(cut, cut + 7 * kLanes, whole.begin() + first * kLanes)) << type->call() << " " << first;
    }
    // The same trajectories, eleven lanes further on.
    LaneKeys turned;
    turned.seed = kTestSeed;
    const auto other = type->make_driver(type->is_white() ? nullptr : type->make_grid(kSteps));
    for (int lane = 0; lane < kLanes; ++lane) {
      const int to = (lane + 11) % kLanes;
      turned.set(to, {kTestSeed, static_cast<uint64_t>(lane), 0});
      other->set_lane(to, shapes(lane).data(), 0.1);
    }
    other->start(turned, kTestStream);
    values = other->values(0, kSteps);
    for (int i = 0; i < kSteps; ++i)
      for (int lane = 0; lane < kLanes; ++lane)
        ASSERT_EQ(values[i * kLanes + (lane + 11) % kLanes], whole[i * kLanes + lane]) << type->call();
  }
}

}  // namespace
}  // namespace penn
