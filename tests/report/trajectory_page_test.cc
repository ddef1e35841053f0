#include "penn/report/trajectory_page.h"
#include "penn/system/parse_system.h"

#include <gtest/gtest.h>

namespace penn {
namespace {

std::string page(const std::string& start, const std::string& title = "A title") {
  const std::string text =
      "title = \"" + title +
      "\"\n[parameters]\nk = [1, 2]\n[equations]\nx = \"-k*x\"\ny = \"0\"\n[initial]\nx = " + start + "\ny = " + start +
      "\n[observe]\nx = \"x\"\ny = \"y\"\n[simulation]\nstep = 0.1\nsampling = 0.1\nlength = 50\n";
  const Simulator simulator(parse_system(text, "page.toml"), 0, {.kernel = KernelChoice::kInterpreted});
  return trajectory_page(simulator, 0, 3);
}

TEST(trajectory_page_test, every_trajectory_and_channel_is_drawn) {
  const std::string text = page("1");
  size_t lines = 0;
  for (size_t at = text.find("<polyline"); at != std::string::npos; at = text.find("<polyline", at + 1)) ++lines;
  EXPECT_EQ(lines, 6u);
  EXPECT_NE(text.find("</html>"), std::string::npos);
}

// x decays from `start`, y keeps it: neither scale may put "nan" or "inf" into the drawing.
TEST(trajectory_page_test, tiny_huge_and_constant_values_have_coordinates) {
  for (const char* start : {"0", "1e-30", "1e-15", "1", "1e30"}) {
    const std::string text = page(start);
    EXPECT_EQ(text.find("nan"), std::string::npos) << start;
    EXPECT_EQ(text.find("inf"), std::string::npos) << start;
  }
}

TEST(trajectory_page_test, texts_of_the_file_are_escaped) {
  EXPECT_EQ(page("1", "<script>alert(1)</script>").find("<script"), std::string::npos);
}

}  // namespace
}  // namespace penn
