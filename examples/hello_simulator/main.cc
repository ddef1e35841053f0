// A stranger's program: an equation as text, a thousand trajectories in memory, one number from them.
// Uses the library alone, without the command line.
#include <cstdio>
#include <vector>

#include "penn/base/error.h"
#include "penn/simulate/simulator.h"
#include "penn/system/parse_system.h"

int main() try {
  const penn::System system = penn::parse_system(R"toml(
    [parameters]
    k = [1, 1.01]
    [noise]
    B = "gaussian()"
    [equations]
    x = "-k*x + B"
    [initial]
    x = 0
    [observe]
    x = "x"
    [simulation]
    step = 0.01
    sampling = 0.5
    burn_in = 20
    length = 100
  )toml",
                                                 "spring.toml");

  const penn::Simulator simulator(system, 0, {.seed = 1});
  const int64_t n = 1000;
  std::vector<float> theta(n * simulator.parameters()), z(n * simulator.length() * simulator.channels());
  simulator.run(0, n, theta.data(), z.data());

  double square = 0;
  for (const float x : z) square += x * x / static_cast<double>(z.size());
  std::printf("stationary variance of x: %.2f (theory: 1/(2k), about 0.50)\n", square);
} catch (const penn::Error& error) {
  std::fprintf(stderr, "%s\n", error.full_text().c_str());
  return 1;
}
