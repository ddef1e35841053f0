// The lane interpreter against compiled code, kernel beside kernel: the same bits for every operation, for both methods
// and for numbers that a simulation throws away (infinite, NaN).
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "penn/base/aligned.h"
#include "penn/base/denormals.h"
#include "penn/base/lanes.h"
#include "penn/noise/lane_group.h"
#include "penn/simulate/compiled_kernel.h"
#include "penn/simulate/interpreted_kernel.h"
#include "penn/simulate/kernel.h"
#include "penn/simulate/lane_kernel.h"
#include "penn/system/parse_system.h"

namespace penn {
namespace {

// All that a kernel reads and writes, filled with random numbers, and state s of lane l with values[(l + 5 s) mod size]
// where given.
struct Memory {
  Memory(const StepProgram& program, int steps, const std::vector<float>& values) : steps_(steps) {
    std::mt19937 random(7);
    const auto fill = [&](size_t rows, float low, float high) {
      AlignedVector<float> v(rows * kLanes);
      for (float& x : v) x = std::uniform_real_distribution<float>(low, high)(random);
      return v;
    };
    state = fill(program.drift.size(), -2, 2);
    for (size_t s = 0; !values.empty() && s < program.drift.size(); ++s)
      for (size_t l = 0; l < kLanes; ++l) state[s * kLanes + l] = values[(l + 5 * s) % values.size()];
    slots_ = fill(program.slots.size(), 0.5f, 1.5f);
    dt_ = fill(1, 0.01f, 0.03f);
    time_start_ = fill(1, -3, 0);
    const size_t rows = static_cast<size_t>(steps);
    for (size_t k = 0; k < program.driving_noises.size(); ++k) noise_.push_back(fill(rows, -0.3f, 0.3f));
    for (size_t k = 0; k < program.measurement_noises.size(); ++k) noise_.push_back(fill(rows, -2, 2));
    for (size_t k = 0; k < noise_.size(); ++k)
      (k < program.driving_noises.size() ? driving_ : measurement_).push_back(noise_[k].data());
    out.assign(rows * program.channels.size() * kLanes, 0);
  }

  void run(const Kernel& kernel, int64_t first_step, int64_t steps_per_sample) {
    const FlushDenormals flush;
    kernel.run({.state = state.data(),
                .slots = slots_.data(),
                .dt = dt_.data(),
                .time_start = time_start_.data(),
                .driving = driving_.data(),
                .measurement = measurement_.data(),
                .out = out.data(),
                .first_step = first_step,
                .steps = steps_,
                .steps_per_sample = steps_per_sample});
  }

  AlignedVector<float> state, out;

 private:
  int steps_;
  AlignedVector<float> slots_, dt_, time_start_;
  std::vector<AlignedVector<float>> noise_;
  std::vector<const float*> driving_, measurement_;
};

void expect_same(const AlignedVector<float>& a, const AlignedVector<float>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same =
        std::bit_cast<uint32_t>(a[i]) == std::bit_cast<uint32_t>(b[i]) || (std::isnan(a[i]) && std::isnan(b[i]));
    ASSERT_TRUE(same) << what << ": row " << i / kLanes << ", lane " << i % kLanes << ": " << a[i] << " and " << b[i];
  }
}

// penn and the system compiled for different instruction sets (PENN_MARCH) need not agree: one may fuse, the other
// not.
bool is_same_instruction_set(const Kernel& compiled) {
  return compiled.description().find(", " + std::to_string(lanes::kWidth) + " lanes per vector") != std::string::npos;
}

void compare(const std::string& text, int steps, int64_t first_step, int64_t steps_per_sample,
             const std::vector<float>& values = {}) {
  const System system = parse_system(text, "lanes.toml");
  const StepProgram program = make_step_program(system, 0);
  const auto compiled = make_compiled_kernel(program), lanes = make_lane_kernel(program);
  if (!is_same_instruction_set(*compiled)) GTEST_SKIP() << "penn is not built for this processor";
  Memory a(program, steps, values), b = Memory(program, steps, values);
  for (int block = 0; block < 2; ++block) {
    a.run(*compiled, first_step + block * steps, steps_per_sample);
    b.run(*lanes, first_step + block * steps, steps_per_sample);
    expect_same(a.out, b.out, text + "\nsamples");
    expect_same(a.state, b.state, text + "\nstates");
  }
}

const std::string kTail = "[simulation]\nstep = 0.1\nsampling = 0.5\nlength = 4\n";

TEST(lane_kernel_test, every_operation_is_that_of_compiled_code) {
  std::string text =
      "[parameters]\nk = [1, 2]\n[equations]\nx = \"y\"\ny = \"w\"\nw = \"x\"\n[initial]\nx = 1\ny = 1\nw = "
      "1\n[observe]\n";
  int channels = 0;
  const auto observe = [&](const std::string& expression) {
    text += "c" + std::to_string(channels++) + " = \"" + expression + "\"\n";
  };
  for (const auto& [name, op] : language_functions()) observe(is_unary(op) ? name + "(x)" : name + "(x, y)");
  for (const char* expression : {"x + y",
                                 "x - y",
                                 "x*y",
                                 "x/y",
                                 "x^y",
                                 "-x",
                                 "x^2",
                                 "x^4",
                                 "x^-3",
                                 "x^0.5",
                                 "(x*y)*(x*y)",
                                 "x + y*w",
                                 "x - y*w",
                                 "x*y + w",
                                 "x*y - w",
                                 "x*y - y*w",
                                 "2*x - 3",
                                 "k*x - y/k",
                                 "k - k*x",
                                 "x/3 + 1/y",
                                 "k",
                                 "7",
                                 "sin(x)*sin(x) + cos(x)^2"})
    observe(expression);
  const float most = std::numeric_limits<float>::max(), tiny = std::numeric_limits<float>::min();
  compare(text + kTail, 1, 0, 1,
          {0.0f, -0.0f, 1.0f, -1.0f,    0.5f,  -0.5f,  2.0f, -3.0f,       1e-30f, -1e-30f, 1e30f,      -1e30f,
           most, -most, tiny, tiny / 8, 88.7f, -88.7f, 1e5f, -4194304.0f, 0.29f,  0.31f,   3.14159265f});
  compare(text + kTail, 1, 0, 1);
}

// Random sums and products meet every way in which two operations can follow each other.
TEST(lane_kernel_test, random_expressions_are_those_of_compiled_code) {
  std::mt19937 random(11);
  const std::function<std::string(int)> expression = [&](int depth) -> std::string {
    const char* const leaves[] = {"x", "y", "w", "k", "0.7"};
    if (depth == 0) return leaves[random() % 5];
    const std::string a = expression(depth - 1 - static_cast<int>(random() % static_cast<unsigned>(depth)));
    const std::string b = expression(depth - 1);
    const char* const signs[] = {" + ", " - ", "*", " + ", "*"};
    return random() % 6 == 0 ? "(" + b + ")^2" : "(" + a + signs[random() % 5] + b + ")";
  };
  for (const char* method : {"", "method = \"rk4\"\n"}) {
    std::string text = "[parameters]\nk = [1, 2]\n[equations]\n";
    for (const char* state : {"x", "y", "w"}) text += state + std::string(" = \"tanh(") + expression(5) + ")\"\n";
    text += "[initial]\nx = \"k\"\ny = 1\nw = 1\n[observe]\n";
    for (int i = 0; i < 16; ++i) text += "c" + std::to_string(i) + " = \"x + " + expression(4) + "\"\n";
    compare(text + kTail + method, 20, 0, 2);
  }
}

// Time, ranges of sampling, measurement noise, multiplicative noise, states held over the stages of rk4, and lanes that
// are not finite.
TEST(lane_kernel_test, steps_and_samples_are_those_of_compiled_code) {
  const std::string text = R"toml(
[parameters]
k = [1, 2]
[noise]
B = "gaussian()"
L = "stable(1.5)"
E = "gaussian()"
[equations]
x = "y + sin(t)"
y = "-k*x - x^3 + 0.1*tanh(u)*y - t*0.01"
u = "-u/k + exp(-u^2) + (1 + 0.1*abs(x))*B + 0.3*u*L"
v = "cos(u) - v + 0.2*L"
[initial]
x = 1
y = 1
u = 0
v = 0
[observe]
x = "x + 0.1*E"
clock = "t"
u = "u*v + y*E"
[simulation]
step = 0.1
sampling = [0.5, 1]
length = 4
)toml";
  const float infinity = std::numeric_limits<float>::infinity();
  for (const char* method : {"", "method = \"rk4\"\n"})
    for (const std::vector<float>& values :
         {std::vector<float>{}, {1.0f, infinity, -0.5f, std::nanf(""), 0.7f, -infinity, 1e20f, 0.1f}})
      compare(text + method, 37, 5, 5, values);
}

// Where the next value of a state must wait until others have read the present one, and other corners of the rows.
TEST(lane_kernel_test, odd_systems_are_those_of_compiled_code) {
  const std::string head = "[parameters]\nk = [1, 2]\n",
                    three = "[initial]\nx = \"k\"\ny = 1\nw = 1\n[observe]\nx = \"x\"\ny = \"y\"\nw = \"w\"\n";
  const std::string texts[] = {
      head + "[equations]\nx = \"y\"\ny = \"x\"\nw = \"x + y\"\n" + three + kTail,
      head + "[equations]\nx = \"y*w\"\ny = \"y*w\"\nw = \"y*w + k\"\n" + three + kTail,
      head + "[equations]\nx = \"0\"\ny = \"k\"\nw = \"w*w*w*w\"\n" + three + kTail,
      head + "[observe]\nx = \"k\"\ny = \"k*t\"\n" + kTail,
      head + "[observe]\nx = \"k\"\ny = \"k\"\n" + kTail + "method = \"rk4\"\n",
      head + "[noise]\nB = \"gaussian()\"\n[equations]\nx = \"-x + w*B\"\ny = \"x*B\"\nw = \"-w + k*B\"\n" + three +
          kTail + "method = \"rk4\"\n",
  };
  for (const std::string& text : texts) compare(text, 12, 3, 4);
}

// Nothing is carried from one chain of 256 operations to the next. Three operations a term: 256, 512 and 768 cut a term
// in each of its three places. Sums of products are pairs in one instruction, where they do not lie across a cut.
TEST(lane_kernel_test, programs_longer_than_a_chain_are_those_of_compiled_code) {
  const auto sum = [](const std::string& start, const std::string& end) {
    std::string text;
    for (int i = 1; i <= 300; ++i) text += (i > 1 ? " + " : "") + start + std::to_string(i) + end;
    return text;
  };
  compare("[parameters]\nk = [1, 2]\n[equations]\nx = \"k - 0.1*(" + sum("sin(", "*x)") +
              ")\"\ny = \"x - y\"\n[initial]\nx = 1\ny = 1\n[observe]\nx = \"x + " + sum("(y + ", ")^2*x") + "\"\n" +
              kTail,
          6, 0, 2);
}

TEST(lane_kernel_test, a_sum_of_thousands_of_terms_is_that_of_the_reference) {
  std::string sum;
  for (int i = 1; i <= 3000; ++i) sum += (i > 1 ? " + " : "") + std::string("sin(") + std::to_string(i) + "*x)";
  const System system = parse_system("[parameters]\nk = [1, 2]\n[equations]\nx = \"k - " + std::to_string(0.001) +
                                         "*(" + sum + ")\"\n[initial]\nx = 1\n[observe]\nx = \"x\"\n" + kTail,
                                     "long.toml");
  const StepProgram program = make_step_program(system, 0);
  Memory lanes(program, 3, {}), reference(program, 3, {});
  lanes.run(*make_lane_kernel(program), 0, 1);
  reference.run(*make_interpreted_kernel(program), 0, 1);
  for (size_t i = 0; i < lanes.state.size(); ++i) EXPECT_NEAR(lanes.state[i], reference.state[i], 1e-4);
}

}  // namespace
}  // namespace penn
