#include "penn/report/trajectory_page.h"
#include "penn/system/parse_system.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace penn {
namespace {

constexpr int64_t kLength = 50, kLongLength = 4001;

Simulator simulator(const std::string& title = "A title", int64_t length = kLength) {
  const std::string text =
      "title = \"" + title +
      "\"\n[parameters]\nk = [1, 2]\n[equations]\nx = \"-k*x\"\ny = \"0\"\n[initial]\nx = 1\n"
      "y = 3\n[observe]\nx = \"x\"\ny = \"y\"\n[simulation]\nstep = 0.1\nsampling = 0.1\nlength = 50\n";
  return Simulator(parse_system(text, "page.toml"), 0, {.length = length, .kernel = KernelChoice::kInterpreted});
}

// x' = -k x by Euler steps of 0.1: x_i = (1 - 0.1 k)^i, and y keeps its 3.
TEST(trajectory_page_test, the_data_are_the_simulated_trajectories_with_their_parameters) {
  const auto page = nlohmann::json::parse(trajectory_page_json(simulator(), 0, 3));
  EXPECT_EQ(page.at("kind"), "simulation");
  EXPECT_EQ(page.at("n"), kLength);
  ASSERT_EQ(page.at("trajectories").size(), 3u);
  for (const auto& one : page.at("trajectories")) {
    const double k = one.at("theta").at(0);
    const auto& values = one.at("trajectory").at("values");
    EXPECT_GE(k, 1);
    EXPECT_LE(k, 2);
    ASSERT_EQ(values.at(0).size(), size_t(kLength));
    for (int i = 0; i < kLength; ++i) {
      EXPECT_NEAR(values.at(0).at(size_t(i)).get<double>(), std::pow(1 - 0.1 * k, i), 1e-5);
      EXPECT_EQ(values.at(1).at(size_t(i)), 3);
    }
    EXPECT_FALSE(one.at("trajectory").contains("thinned"));
  }
}

// 4001 samples: two of every five. x falls, so a stretch keeps its first and its last sample, and the last stretch is
// one sample, twice.
TEST(trajectory_page_test, a_long_trajectory_keeps_the_extremes_of_each_stretch_and_its_duration) {
  const auto page = nlohmann::json::parse(trajectory_page_json(simulator("long", kLongLength), 0, 1));
  const auto& one = page.at("trajectories").at(0).at("trajectory");
  const double k = page.at("trajectories").at(0).at("theta").at(0);
  const auto& x = one.at("values").at(0);
  ASSERT_EQ(x.size(), size_t(2 * ((kLongLength + 4) / 5)));
  for (int stretch = 0; stretch < 20; ++stretch) {
    EXPECT_NEAR(x.at(size_t(2 * stretch)).get<double>(), std::pow(1 - 0.1 * k, 5 * stretch), 1e-5);
    EXPECT_NEAR(x.at(size_t(2 * stretch + 1)).get<double>(), std::pow(1 - 0.1 * k, 5 * stretch + 4), 1e-5);
  }
  EXPECT_NEAR(one.at("sampling").get<double>(), 0.25, 1e-6);
  EXPECT_EQ(one.at("thinned"), "the smallest and the largest of every 5 samples");
}

TEST(trajectory_page_test, texts_of_the_file_cannot_leave_the_data) {
  const std::string page = trajectory_page(simulator("</script><script>alert(1)</script>"), 0, 1);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_NE(page.find("\\u003cscript>alert"), std::string::npos);
}

}  // namespace
}  // namespace penn
