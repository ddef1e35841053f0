#include "paper/test_trajectories.h"

#include <algorithm>
#include <map>

#include "penn/base/error.h"
#include "penn/simulate/simulator.h"

namespace penn {
namespace {

// lg tau, D
const std::vector<TestTrajectory> kSoup = {
    {"1", "quick and weak", {-0.25, 0.3}, 0, 21},
    {"2", "", {0.25, 0.7}, 0, 22},
    {"3", "", {0.5, 0.3}, 0, 23},
    {"4", "slow: few correlation times in the record", {1.0, 0.5}, 0, 24},
};

// lg tau, D_fgn, H, D_levy, alpha. (e), (f): H = 0.5, alpha = 2 and D_fgn + D_levy = 1 as stated; (g), (b), (h): one
// point, three lengths as stated.
const std::vector<TestTrajectory> kOup = {
    {"(a)", "H and α far from 0.5 and 2", {0.5, 0.5, 0.2, 0.5, 1.5}, 0, 31},
    {"(b)", "H and α far from 0.5 and 2", {0.5, 0.6, 0.3, 0.4, 1.6}, 0, 32},
    {"(c)", "H and α far from 0.5 and 2", {0.5, 0.4, 0.75, 0.6, 1.5}, 0, 33},
    {"(d)", "α = 1.9, nearly Gaussian", {0.5, 0.5, 0.25, 0.5, 1.9}, 0, 34},
    {"(e)", "two white noises: only their sum shows", {0.5, 0.2, 0.5, 0.8, 2.0}, 0, 35},
    {"(f)", "two white noises: only their sum shows", {0.5, 0.7, 0.5, 0.3, 2.0}, 0, 36},
    {"(g)", "as (b), shorter", {0.5, 0.6, 0.3, 0.4, 1.6}, 200, 37},
    {"(h)", "as (b), longer", {0.5, 0.6, 0.3, 0.4, 1.6}, 10000, 38},
};

// eps, b0, b1, b2, D1, D2, tau1, tau2
const std::vector<TestTrajectory> kDvdp = {
    {"(a)", "weak noises", {-0.1, 0.1, 0.5, 0.5, 0.2, 0.2, 1.0, 1.0}, 0, 41},
    {"(b)", "strongly damped, slow noises", {-0.2, 0.05, 0.4, 0.6, 0.3, 0.3, 2.0, 3.0}, 0, 42},
    {"(c)", "undamped at small amplitude", {0.0, 0.15, 0.8, 0.5, 0.4, 0.15, 3.5, 1.5}, 0, 43},
};

// a1, a2, b1, b2, c1, c2, g1, g2, alpha1, alpha2, D1, D2. TRAJ-3: alpha1, alpha2 as stated.
const std::vector<TestTrajectory> kCfhn = {
    {"TRAJ-1",
     "synchronised: both couplings negative",
     {0.5, -0.3, 0.6, 1.2, 1.8, 1.2, -1.5, -1.0, 1.8, 1.6, 0.15, 0.3},
     0,
     51},
    {"TRAJ-2",
     "opposite: both couplings positive",
     {0.2, -0.4, 0.8, 1.4, 1.5, 2.2, 0.8, 0.6, 1.9, 1.5, 0.2, 0.1},
     0,
     52},
    {"TRAJ-3", "chase-run: γ₁ < 0 < γ₂", {0.3, -0.2, 0.7, 0.4, 2.0, 1.4, -0.8, 2.0, 1.414, 1.406, 0.1, 0.15}, 0, 53},
};

// U0, beta3, gamma3, x_phi, r_phi, a_h, mu, tau, D_gauss, D_levy, alpha
const std::vector<TestTrajectory> kAirfoil = {
    {"(a)", "U₀ = 7", {7.0, 80, 10, 0.25, 0.5, -0.5, 100, 2.0, 0.05, 0.05, 1.6}, 0, 61},
    {"(b)", "U₀ = 9", {9.0, 60, 8, 0.22, 0.45, -0.45, 90, 1.0, 0.02, 0.08, 1.8}, 0, 62},
    {"(c)", "U₀ = 12", {12.0, 100, 12, 0.28, 0.55, -0.55, 110, 3.0, 0.08, 0.02, 1.5}, 0, 63},
    {"(d)", "U₀ = 15", {15.0, 70, 7, 0.24, 0.52, -0.48, 95, 4.0, 0.03, 0.03, 1.9}, 0, 64},
};

}  // namespace

const std::vector<TestTrajectory>& test_trajectories(const std::string& system) {
  static const std::map<std::string, const std::vector<TestTrajectory>*> by_system = {
      {"soup", &kSoup}, {"oup", &kOup}, {"dvdp", &kDvdp}, {"cfhn", &kCfhn}, {"airfoil", &kAirfoil}};
  const auto found = by_system.find(system);
  if (found == by_system.end()) throw Error("the paper shows no trajectories of " + system);
  return *found->second;
}

TestTrajectory ablation_trajectory() {
  return {"", "as stated in the paper", {0.5, 0.2, 0.5, 0.8, 2.0}, 0, 35};
}

ObservedTrajectory simulate_test(const System& system, int observation, const TestTrajectory& test, IntRange trained) {
  SimulatorOptions options{
      .seed = test.seed, .threads = 1, .length = test.length > 0 ? test.length : system.simulation.length.high};
  options.length =
      std::clamp(options.length, trained.low,
                 2 * trained.high);  // docs/accuracy.md has the calibration at twice the longest trained length
  if (test.theta.size() != system.parameters.size())
    throw Error("a test trajectory does not fit the system " + system.name);
  for (size_t k = 0; k < test.theta.size(); ++k) options.fixed[system.parameters[k].name] = test.theta[k];
  const Simulator simulator(system, observation, options);
  ObservedTrajectory result;
  result.source = test.name;
  result.n = simulator.length();
  result.z.resize(static_cast<size_t>(simulator.length() * simulator.channels()));
  std::vector<float> theta(static_cast<size_t>(simulator.parameters()));
  float sampling = 0;
  simulator.run(0, 1, theta.data(), result.z.data(), &sampling);
  result.sampling = static_cast<double>(sampling);
  return result;
}

}  // namespace penn
