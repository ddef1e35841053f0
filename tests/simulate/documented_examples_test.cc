// Every ```toml block of docs/system_language.md and of the README is a complete system: it is parsed, described, and a
// few trajectories of each of its observations are simulated by compiled code and by both interpreters.
#include <gtest/gtest.h>

#include <cmath>

#include "penn/base/files.h"
#include "penn/simulate/simulator.h"
#include "penn/system/describe_system.h"
#include "penn/system/parse_system.h"

namespace penn {
namespace {

std::vector<std::string> toml_blocks(const std::string& page) {
  std::vector<std::string> blocks;
  const std::string fence = "\n```toml\n";
  for (size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
    at += fence.size();
    const size_t end = page.find("\n```\n", at);
    if (end == std::string::npos) break;
    blocks.push_back(page.substr(at, end + 1 - at));
    at = end;
  }
  return blocks;
}

TEST(documented_examples_test, every_example_is_understood_and_simulated) {
  std::vector<std::string> blocks =
      toml_blocks(read_text_file(std::string(PENN_SOURCE_DIR) + "/docs/system_language.md"));
  EXPECT_GE(blocks.size(), 6u);
  const std::vector<std::string> readme = toml_blocks(read_text_file(std::string(PENN_SOURCE_DIR) + "/README.md"));
  EXPECT_EQ(readme.size(), 1u);
  blocks.insert(blocks.end(), readme.begin(), readme.end());
  for (const std::string& text : blocks) {
    const System system = parse_system(text, "example.toml");
    EXPECT_FALSE(system.title.empty()) << text;
    EXPECT_FALSE(describe_system(system).empty());
    for (size_t observation = 0; observation < system.observations.size(); ++observation)
      for (const KernelChoice kernel : {KernelChoice::kCompiled, KernelChoice::kLanes, KernelChoice::kInterpreted}) {
        Simulator simulator(system, static_cast<int>(observation), {.seed = 1, .length = 20, .kernel = kernel});
        const int64_t n = 33;
        std::vector<float> theta(static_cast<size_t>(n * simulator.parameters())),
            z(static_cast<size_t>(n * 20 * simulator.channels()));
        const SimulationCount count = simulator.run(0, n, theta.data(), z.data());
        EXPECT_EQ(count.discarded, 0) << system.name;
        for (const float value : z) ASSERT_TRUE(std::isfinite(value)) << system.name;
      }
  }
}

}  // namespace
}  // namespace penn
