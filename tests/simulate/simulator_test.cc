// What every trajectory must satisfy, whatever the system: the same bits however it is computed, finite numbers,
// compiled code and lane interpreter that agree with the reference interpreter, and honest counting of what was
// discarded.
#include "penn/simulate/simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "base/files_for_tests.h"
#include "penn/base/error.h"
#include "penn/base/parallel.h"
#include "penn/system/load_system.h"
#include "penn/system/parse_system.h"

namespace penn {
namespace {

namespace fs = std::filesystem;

struct Batch {
  std::vector<float> theta, z, sampling;
  SimulationCount count;
};

Batch run(const Simulator& simulator, uint64_t first, int64_t n) {
  Batch batch;
  batch.theta.resize(static_cast<size_t>(n * simulator.parameters()));
  batch.z.resize(static_cast<size_t>(n * simulator.length() * simulator.channels()));
  batch.sampling.resize(static_cast<size_t>(n));
  batch.count = simulator.run(first, n, batch.theta.data(), batch.z.data(), batch.sampling.data());
  return batch;
}

Batch run(const std::string& name, const SimulatorOptions& options, uint64_t first, int64_t n) {
  const SystemChoice choice = load_system(name);
  return run(Simulator(choice.system, choice.observation, options), first, n);
}

const char* const kNames[] = {"soup", "oup", "dvdp", "cfhn:x1x2", "cfhn:mean", "airfoil"};

TEST(simulator_test, a_trajectory_is_the_same_bits_for_any_threads_batch_and_count) {
  for (const char* name : kNames) {
    const int64_t length = 60;
    const SystemChoice choice = load_system(name);
    const Simulator one(choice.system, choice.observation, {.seed = 3, .threads = 1, .length = length});
    const Simulator two(choice.system, choice.observation, {.seed = 3, .threads = 2, .length = length});
    const Batch all = run(one, 0, 150), threaded = run(two, 0, 150), few = run(two, 0, 70), later = run(one, 70, 80);
    EXPECT_EQ(all.z, threaded.z) << name;
    EXPECT_EQ(all.theta, threaded.theta) << name;
    EXPECT_TRUE(std::equal(few.z.begin(), few.z.end(), all.z.begin())) << name;
    EXPECT_TRUE(std::equal(few.theta.begin(), few.theta.end(), all.theta.begin())) << name;
    EXPECT_TRUE(std::equal(later.z.begin(), later.z.end(), all.z.begin() + static_cast<int64_t>(few.z.size()))) << name;
    EXPECT_NE(all.z, run(name, {.seed = 4, .length = length}, 0, 150).z) << name;
  }
}

TEST(simulator_test, only_finite_numbers_leave_and_theta_lies_in_its_box) {
  for (const char* name : kNames) {
    const SystemChoice choice = load_system(name);
    const Batch batch = run(name, {.seed = 1, .length = 300}, 0, 1000);
    for (const float value : batch.z) ASSERT_TRUE(std::isfinite(value)) << name;
    const std::vector<Parameter>& parameters = choice.system.parameters;
    for (size_t i = 0; i < batch.theta.size(); ++i) {
      const Range range = parameters[i % parameters.size()].range;
      ASSERT_GE(batch.theta[i], static_cast<float>(range.low));
      ASSERT_LE(batch.theta[i], static_cast<float>(range.high));
    }
  }
}

// penn and the system compiled for different instruction sets (PENN_MARCH) need not agree: one may fuse, the other
// not.
bool is_same_instruction_set(const Simulator& compiled, const Simulator& lanes) {
  const auto width = [](const std::string& description) { return description.substr(description.find(',')); };
  return width(compiled.kernel_description()) == width(lanes.kernel_description());
}

TEST(simulator_test, the_lane_interpreter_gives_the_bits_of_compiled_code) {
  for (const char* name : {"soup", "oup", "dvdp", "cfhn:x1x2", "cfhn:x1", "cfhn:mean", "airfoil"}) {
    const SystemChoice choice = load_system(name);
    const Simulator compiled(choice.system, choice.observation,
                             {.seed = 6, .length = 200, .kernel = KernelChoice::kCompiled});
    const Simulator lanes(choice.system, choice.observation,
                          {.seed = 6, .length = 200, .kernel = KernelChoice::kLanes});
    if (!is_same_instruction_set(compiled, lanes)) GTEST_SKIP() << "penn is not built for this processor";
    const Batch a = run(compiled, 0, 300), b = run(lanes, 0, 300);
    EXPECT_EQ(a.theta, b.theta) << name;
    EXPECT_EQ(a.z, b.z) << name;
    EXPECT_EQ(a.count.discarded, b.count.discarded) << name;
  }
}

// Every noise of the language drives and measures; all kernels see the same values, for any threads and batch.
TEST(simulator_test, every_noise_gives_the_same_bits_however_it_is_run) {
  const System system = parse_system(R"toml(
[parameters]
a = [0.5, 0.9]
[noise]
G = "gaussian()"
F = "fractional(a)"
L = "stable(2*a)"
A = "stable(2*a, 2*a - 1)"
J = "compound_poisson(10*a)"
MA = "stable(2*a, -a)"
MJ = "compound_poisson(a)"
[equations]
x = "-x + G + F + 0.1*L + 0.1*A + J"
[initial]
x = 0
[observe]
x = "x + 0.1*MA + MJ"
[simulation]
step = 0.02
sampling = [0.06, 0.1]
burn_in = [0, 30]
length = 70
)toml",
                                     "noises.toml");
  const Simulator compiled(system, 0, {.seed = 6, .threads = 1, .kernel = KernelChoice::kCompiled});
  const Simulator lanes(system, 0, {.seed = 6, .threads = 2, .kernel = KernelChoice::kLanes});
  const Batch a = run(compiled, 0, 100), b = run(lanes, 0, 100), later = run(lanes, 60, 40);
  if (is_same_instruction_set(compiled, lanes)) {
    EXPECT_EQ(a.z, b.z);
  }
  EXPECT_TRUE(std::equal(later.z.begin(), later.z.end(), b.z.begin() + 60 * 70));
  const Batch slow = run(Simulator(system, 0, {.seed = 6, .kernel = KernelChoice::kInterpreted}), 0, 100);
  for (size_t i = 0; i < slow.z.size(); ++i) ASSERT_NEAR(b.z[i], slow.z[i], 1e-4 * (1 + std::abs(slow.z[i]))) << i;
}

TEST(simulator_test, without_a_compiler_the_lane_interpreter_is_used_and_nobody_warned) {
  const char* const before = std::getenv("PENN_CXX");
  const std::string saved = before ? before : "";
  setenv("PENN_CXX", "/nowhere/c++", 1);
  const SystemChoice choice = load_system("soup");
  const Simulator simulator(choice.system, choice.observation, {.length = 10});
  EXPECT_THROW(Simulator(choice.system, choice.observation, {.kernel = KernelChoice::kCompiled}), Error);
  if (before) setenv("PENN_CXX", saved.c_str(), 1);
  else unsetenv("PENN_CXX");
  EXPECT_EQ(simulator.kernel_description().find("lane interpreter"), 0u) << simulator.kernel_description();
  EXPECT_EQ(simulator.kernel_warning(), "");
}

// The same draws through float32 lanes (compiled and interpreted) and through the double-precision reference. The
// systems are nonlinear and noise kicks them hard, so rounding grows along a trajectory: 40 samples without burn-in,
// compared in units of the trajectory's own size.
TEST(simulator_test, compiled_code_and_lanes_agree_with_the_reference) {
  for (const char* name : kNames)
    for (const KernelChoice kernel : {KernelChoice::kCompiled, KernelChoice::kLanes}) {
      SystemChoice choice = load_system(name);
      choice.system.simulation.burn_in = {0, 0};
      const Batch fast =
          run(Simulator(choice.system, choice.observation, {.seed = 2, .length = 40, .kernel = kernel}), 0, 64);
      const Batch slow = run(
          Simulator(choice.system, choice.observation, {.seed = 2, .length = 40, .kernel = KernelChoice::kInterpreted}),
          0, 64);
      EXPECT_EQ(fast.theta, slow.theta);
      const size_t row = fast.z.size() / 64;
      int apart = 0;
      for (size_t i = 0; i < 64; ++i) {
        float size = 1e-3f, difference = 0;
        for (size_t j = i * row; j < (i + 1) * row; ++j) {
          size = std::max(size, std::abs(slow.z[j]));
          difference = std::max(difference, std::abs(fast.z[j] - slow.z[j]));
        }
        apart += difference > 2e-4f * size;
      }
      EXPECT_EQ(apart, 0) << name;
    }
}

// Everything the language has, once, in equations that stay bounded.
const char* const kEverything = R"toml(
[parameters]
a = [0.5, 1.5]
b = [0.2, 0.8]
[nuisance]
q = [0.1, 0.2]
[constants]
c = -0.7
[define]
r = "a^b + exp(-b) + log(1 + a) + log10(2 + a) + sqrt(a)"
osc = "sin(t) + cos(2*t) + 0.1*tan(0.3*tanh(x)) + 0.1*log(2 + x^2)*log10(3 + y^2) - 0.1*sqrt(1 + abs(w))*exp(-y^2)"
[noise]
B = "gaussian()"
W = "fractional(b)"
L = "stable(1 + b)"
E = "gaussian()"
[equations]
x = "-r*x + osc + min(x, y)/(1 + abs(y)) + 0.1*B + 0.05*(1 + tanh(y))*W"
y = "-2*y + max(x, c) + sign(x)*q + pow(1 + x^2, 0.3)/a^2 - y^3 + 0.02*L"
w = "abs(x)^1.5 - (2 + abs(w))^-2 - w"
[initial]
x = { uniform = [0.5, 1], sign = "random" }
y = "a - b"
w = 1
[observe]
x = "x + 0.1*E"
y = "y*exp(-x^2)"
w = "w"
[simulation]
METHOD
step = 0.02
sampling = [0.05, 0.2]
burn_in = [3, 9]
length = 30
)toml";

TEST(simulator_test, every_word_of_the_language_becomes_what_it_means) {
  for (const char* method : {"method = \"euler-maruyama\"", "method = \"rk4\""})
    for (const KernelChoice kernel : {KernelChoice::kCompiled, KernelChoice::kLanes}) {
      std::string text = kEverything;
      text.replace(text.find("METHOD"), 6, method);
      const System system = parse_system(text, "everything.toml");
      const Batch fast = run(Simulator(system, 0, {.seed = 9, .kernel = kernel}), 0, 96);
      const Batch slow = run(Simulator(system, 0, {.seed = 9, .kernel = KernelChoice::kInterpreted}), 0, 96);
      EXPECT_EQ(fast.theta, slow.theta);
      EXPECT_EQ(fast.sampling, slow.sampling);
      for (size_t i = 0; i < fast.z.size(); ++i)
        ASSERT_NEAR(fast.z[i], slow.z[i], 2e-4 * (1 + std::abs(slow.z[i]))) << method << " " << i;
      const auto [low, high] = std::minmax_element(fast.sampling.begin(), fast.sampling.end());
      EXPECT_GE(*low, 0.05f);
      EXPECT_LE(*high, 0.2f);
      EXPECT_GT(*high - *low, 0.1f);
    }
}

TEST(simulator_test, fixed_parameters_are_fixed_and_the_others_are_drawn_as_before) {
  const Batch free = run("oup", {.seed = 5, .length = 20}, 0, 40),
              fixed = run("oup", {.seed = 5, .length = 20, .fixed = {{"H", 0.7}}}, 0, 40);
  for (size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(fixed.theta[5 * i + 2], 0.7f);
    EXPECT_EQ(fixed.theta[5 * i], free.theta[5 * i]);
    EXPECT_EQ(fixed.theta[5 * i + 4], free.theta[5 * i + 4]);
  }
  EXPECT_THROW(run("oup", {.fixed = {{"h", 0.7}}}, 0, 1), UsageError);
  EXPECT_THROW(run("oup", {.length = 20, .fixed = {{"H", 1.7}}}, 0, 1), SystemError);
}

TEST(simulator_test, with_no_burn_in_the_first_sample_is_the_initial_state) {
  SystemChoice choice = load_system("airfoil");
  choice.system.simulation.burn_in = {0, 0};
  const Batch batch = run(Simulator(choice.system, 0, {.seed = 1, .length = 5}), 0, 2000);
  int positive = 0;
  for (size_t i = 0; i < 2000; ++i) {
    const float phi = batch.z[i * 10], xi = batch.z[i * 10 + 1];
    positive += phi > 0;
    ASSERT_TRUE(std::abs(phi) >= 0.02f && std::abs(phi) <= 0.1f && std::abs(xi) <= 0.1f);
  }
  EXPECT_NEAR(positive, 1000, 5 * std::sqrt(500));  // the sign is random
}

// A fraction of cfhn trajectories diverges: a large jump makes explicit Euler unstable on the cubic. 0.77 % is known
// for the whole horizon of 3,000 samples; with the burn-in drawn from 500 to 1500 a trajectory is 2,500 samples long on
// average, and 0.61 % diverge.
TEST(simulator_test, cfhn_discards_about_three_quarters_of_a_percent) {
  SystemChoice choice = load_system("cfhn:x1");
  choice.system.simulation.burn_in = {1500, 1500};
  const Batch batch = run(Simulator(choice.system, choice.observation, {.seed = 1}), 0, 20000);
  EXPECT_EQ(batch.count.kept, 20000);
  EXPECT_NEAR(batch.count.discarded_fraction(), 0.0077, 3 * std::sqrt(0.0077 / 20000));
}

// Theta of a diverged trajectory is drawn again together with the noise, so that what is kept follows p(theta) P(finite
// | theta). Here x' = k x overflows float32 exactly for k > 0.8852 or so; k must be uniform below and absent above.
TEST(simulator_test, a_diverged_pair_is_replaced_as_a_whole) {
  const System system = parse_system(
      "[parameters]\nk = [0, 1]\n[equations]\nx = \"k*x\"\n[initial]\nx = 1\n[observe]\nx = \"x\"\n"
      "[simulation]\nstep = 0.1\nsampling = 1\nlength = 103\n",
      "explode.toml");
  const Batch batch = run(Simulator(system, 0, {.seed = 1}), 0, 20000);
  const double edge = (std::exp(std::log(3.4028235e38) / 1020) - 1) / 0.1;  // 1020 Euler steps of factor 1 + k/10
  double mean = 0;
  for (const float k : batch.theta) {
    ASSERT_LT(k, edge * 1.001);
    mean += k / 20000;
  }
  EXPECT_NEAR(mean, edge / 2, 5 * edge / std::sqrt(12 * 20000.0));
  EXPECT_NEAR(batch.count.discarded_fraction(), 1 - edge, 5 * std::sqrt(edge * (1 - edge) / 22000));
}

TEST(simulator_test, a_system_that_always_diverges_is_reported) {
  const System system = parse_system(
      "[parameters]\nk = [5, 6]\n[equations]\nx = \"k*x^3\"\n[initial]\nx = 10\n[observe]\nx = \"tanh(x)\"\n"
      "[simulation]\nstep = 0.1\nsampling = 1\nlength = 100\n",
      "explode.toml");
  try {
    run(Simulator(system, 0, {}), 0, 10);
    FAIL() << "accepted";
  } catch (const SystemError& error) {
    EXPECT_NE(std::string(error.what()).find("left the finite numbers 20 times in a row (100.0 % of all draws did)"),
              std::string::npos)
        << error.what();
  }
}

// A single trajectory of a system of which nine in ten diverge is the same as in a batch, and no reason to give up.
TEST(simulator_test, one_trajectory_of_a_wild_system_equals_that_of_a_batch) {
  const System system = parse_system(
      "[parameters]\nk = [0, 10]\n[equations]\nx = \"k*x\"\n[initial]\nx = 1\n[observe]\nx = \"x\"\n"
      "[simulation]\nstep = 0.1\nsampling = 1\nlength = 103\n",
      "explode.toml");
  const Simulator simulator(system, 0, {.seed = 1});
  const Batch all = run(simulator, 0, 40);
  EXPECT_GT(all.count.discarded_fraction(), 0.8);
  for (uint64_t i = 0; i < 40; ++i) EXPECT_EQ(run(simulator, i, 1).theta[0], all.theta[i]);
}

// t is 0 at the first recorded sample, whatever the burn-in, and advances by the trajectory's own sampling interval.
TEST(simulator_test, time_starts_at_the_first_recorded_sample) {
  for (const char* method : {"euler-maruyama", "rk4"}) {
    const System system = parse_system(
        std::string("[parameters]\nk = [0, 1]\n[equations]\nx = \"0\"\n[initial]\nx = \"k\"\n[observe]\nt1 = \"t\"\n"
                    "[simulation]\nstep = 0.1\nsampling = [0.2, 1]\nburn_in = [0, 20]\nlength = 6\nmethod = \"") +
            method + "\"\n",
        "clock.toml");
    for (const KernelChoice kernel : {KernelChoice::kCompiled, KernelChoice::kLanes, KernelChoice::kInterpreted}) {
      const Batch batch = run(Simulator(system, 0, {.kernel = kernel}), 0, 100);
      for (size_t i = 0; i < 100; ++i)
        for (size_t j = 0; j < 6; ++j)
          ASSERT_NEAR(batch.z[6 * i + j], static_cast<double>(j) * batch.sampling[i], 2e-5) << i;
    }
  }
}

// A burn-in of 7 samples leaves out exactly the first 7 samples of the trajectory that has none.
TEST(simulator_test, burn_in_counts_samples) {
  SystemChoice choice = load_system("dvdp");
  choice.system.simulation.burn_in = {0, 0};
  const Batch whole = run(Simulator(choice.system, 0, {.seed = 1, .length = 30}), 0, 40);
  choice.system.simulation.burn_in = {7, 7};
  const Batch later = run(Simulator(choice.system, 0, {.seed = 1, .length = 23}), 0, 40);
  for (size_t i = 0; i < 40; ++i)
    for (size_t j = 0; j < 23; ++j) ASSERT_EQ(later.z[23 * i + j], whole.z[30 * i + 7 + j]);
}

// Simulators are made in several threads at once: all compile the same new system, none disturbs another.
TEST(simulator_test, threads_may_make_simulators_of_the_same_new_system_at_once) {
  const TestDirectory cache;  // empty, so that nothing is compiled yet
  fs::permissions(cache.path(), fs::perms(0700));
  setenv("PENN_CACHE", cache.path().c_str(), 1);
  const System system = parse_system(
      "[parameters]\nk = [0, 1]\n[equations]\nx = \"k\"\n[initial]\nx = 0\n[observe]\nx = \"x\"\n"
      "[simulation]\nstep = 1\nsampling = 1\nlength = 5\n",
      "new.toml");
  std::vector<Batch> batches(3);
  parallel_for(3, 3, [&](int64_t task, int) {
    batches[static_cast<size_t>(task)] =
        run(Simulator(system, 0, {.threads = 1, .kernel = KernelChoice::kCompiled}), 0, 10);
  });
  unsetenv("PENN_CACHE");
  EXPECT_EQ(batches[0].z, batches[1].z);
  EXPECT_EQ(batches[0].z, batches[2].z);
  EXPECT_EQ(cache.file_count(), 1u) << "only the library is left";
}

TEST(simulator_test, values_beyond_float32_are_refused) {
  EXPECT_THROW(run("soup", {.fixed = {{"D", 1e39}}}, 0, 1), UsageError);
  EXPECT_THROW(run("soup", {.fixed = {{"D", std::nan("")}}}, 0, 1), UsageError);
}

TEST(simulator_test, a_grid_of_fractional_noise_that_fills_the_memory_is_refused) {
  try {
    run("oup", {.length = 9'000'000}, 0, 1);
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("GB of memory"), std::string::npos) << error.what();
  }
}

// Systems at the edge of the language: no state, no noise, fractional noise that is only measured, exponents at their
// limits.
TEST(simulator_test, odd_systems_give_finite_numbers) {
  const std::string tail = "[simulation]\nsampling = 0.5\nstep = 0.1\nlength = 4\nburn_in = [0, 2]\n",
                    head = "[parameters]\nk = [1, 2]\n";
  const std::string one = "[equations]\nx = \"-k*x + N\"\n[initial]\nx = 1\n[observe]\nx = \"x\"\n";
  const std::string texts[] = {
      head + "[observe]\nx = \"k\"\n" + tail,
      head + "[observe]\nx = \"k\"\n" + tail + "method = \"rk4\"\n",
      head + "[noise]\nW = \"fractional(k/3)\"\nS = \"stable(k)\"\n[observe]\nx = \"W\"\ny = \"exp(-S^2)*W\"\n" + tail,
      head + "[noise]\nN = \"fractional(1e-14)\"\n" + one + tail,
      head + "[noise]\nN = \"fractional(0.9999999999999999)\"\n" + one + tail,
      head + "[noise]\nN = \"stable(0.05)\"\n" + one + tail,
      head + "[noise]\nN = \"gaussian()\"\n" + one + tail + "method = \"rk4\"\n",
  };
  for (const std::string& text : texts)
    for (const KernelChoice kernel : {KernelChoice::kCompiled, KernelChoice::kLanes}) {
      const Batch batch = run(Simulator(parse_system(text, "odd.toml"), 0, {.kernel = kernel}), 0, 33);
      for (const float value : batch.z) ASSERT_TRUE(std::isfinite(value)) << text;
      EXPECT_EQ(batch.count.kept, 33);
    }
}

TEST(simulator_test, set_length_equals_a_new_simulator) {
  const SystemChoice choice = load_system("oup");
  Simulator simulator(choice.system, 0, {.seed = 1, .length = 50});
  simulator.set_length(80);
  EXPECT_EQ(run(simulator, 0, 33).z, run("oup", {.seed = 1, .length = 80}, 0, 33).z);
}

}  // namespace
}  // namespace penn
