#include "penn/system/system.h"
#include "base/files_for_tests.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "penn/base/error.h"
#include "penn/base/files.h"
#include "penn/system/describe_system.h"
#include "penn/system/load_system.h"
#include "penn/system/parse_system.h"

namespace penn {
namespace {

namespace fs = std::filesystem;

// A small valid system; `replace` changes one part of its text.
std::string valid(const std::string& old_text = "", const std::string& new_text = "") {
  std::string text = R"toml([parameters]
k = [1, 2]
s = { range = [0.1, 1], label = "σ" }
[noise]
B = "gaussian()"
[define]
g = "s*x"
[equations]
x = "-k*x + g*B"
v = "x - v"
[initial]
x = { uniform = [-1, 1] }
v = "k/2"
[observe]
v = "v"
[simulation]
step = 0.01
sampling = 0.1
length = 100
)toml";
  if (!old_text.empty()) text.replace(text.find(old_text), old_text.size(), new_text);
  return text;
}

std::string refusal(const std::string& text) {
  return error_text_or_accepted<SystemError>([&] { parse_system(text, "test.toml"); });
}

TEST(system_test, a_valid_file_is_understood) {
  const System system = parse_system(valid(), "folder/small.toml");
  EXPECT_EQ(system.name, "small");
  ASSERT_EQ(system.parameters.size(), 2u);
  EXPECT_EQ(system.parameters[0].name, "k");
  EXPECT_EQ(system.parameters[1].label, "σ");
  ASSERT_EQ(system.states.size(), 2u);
  ASSERT_EQ(system.states[0].diffusion.size(), 1u);
  EXPECT_EQ(to_text(system.graph, system.states[0].diffusion[0].coefficient, system), "s*x");
  EXPECT_EQ(to_text(system.graph, system.states[0].drift, system), "-k*x");
  EXPECT_TRUE(system.states[1].diffusion.empty());
  EXPECT_EQ(system.simulation.steps_per_sample, 10);
  EXPECT_EQ(system.simulation.burn_in.high, 0);
  EXPECT_EQ(system.simulation.length.low, 100);
}

// Drift and coefficients are found symbolically: f(x, noise) must equal drift + sum coefficient * noise for any noise
// value.
TEST(system_test, coefficients_of_noises_are_found) {
  const System system = parse_system(valid("-k*x + g*B", "(2*B - x)*k/s - -(x*B)/(1 + x^2) + 3*(x - B)"), "test.toml");
  const double x = 0.7, k = 1.3, s = 0.4;
  std::vector<double> values;
  system.graph.evaluate(values, {}, [&](SymbolKind kind, int index) {
    return kind == SymbolKind::kState ? x : index == 0 ? k : s;
  });
  ASSERT_EQ(system.states[0].diffusion.size(), 1u);
  const double drift = values[static_cast<size_t>(system.states[0].drift)];
  const double coefficient = values[static_cast<size_t>(system.states[0].diffusion[0].coefficient)];
  EXPECT_NEAR(drift, -x * k / s + 3 * x, 1e-12);
  EXPECT_NEAR(coefficient, 2 * k / s + x / (1 + x * x) - 3, 1e-12);
}

TEST(system_test, a_noise_that_cancels_is_no_noise) {
  const System system = parse_system(valid("x - v", "x - v + 0*B"), "test.toml");
  EXPECT_TRUE(system.states[1].diffusion.empty());
}

TEST(system_test, a_definition_may_hold_a_measurement_noise) {
  std::string text = valid("B = \"gaussian()\"", "B = \"gaussian()\"\nE = \"gaussian()\"");
  text.replace(text.find("g = \"s*x\""), 9, "g = \"s*x\"\nerror = \"0.1*E\"");
  text.replace(text.find("v = \"v\""), 7, "v = \"v + error\"");
  const System system = parse_system(text, "test.toml");
  EXPECT_FALSE(system.noises[0].is_measurement);
  EXPECT_TRUE(system.noises[1].is_measurement);
}

// The exponent depends on the last two of twelve parameters, and is wrong in one corner of them only.
TEST(system_test, exponents_are_checked_in_the_corners_of_the_parameters_they_depend_on) {
  std::string many;
  for (const char c : std::string("abcdefghijlm")) many += std::string(1, c) + "_ = [0, 1]\n";
  std::string text = valid("k = [1, 2]", "k = [1, 2]\n" + many);
  text.replace(text.find("gaussian()"), 10, "stable(1.5 + 0.6*m_*(1 - l_))");
  EXPECT_NE(refusal(text).find("alpha must lie in (0, 2], got 2.1"), std::string::npos) << refusal(text);
}

TEST(system_test, parameter_order_is_the_order_of_the_file) {
  std::string text = valid("k = [1, 2]\ns =", "zeta = [1, 2]\nk = [1, 2]\nalpha = [3, 4]\ns =");
  text.replace(text.find("-k*x"), 4, "-k*x + zeta*alpha");
  const System system = parse_system(text, "test.toml");
  std::string order;
  for (const Parameter& p : system.parameters) order += p.name + " ";
  EXPECT_EQ(order, "zeta k alpha s ");
}

TEST(system_test, the_five_shipped_systems_have_the_published_boxes) {
  const auto box = [](const std::string& name) {
    std::string text;
    for (const Parameter& p : load_system(name).system.parameters) {
      char entry[100];
      std::snprintf(entry, sizeof entry, "%s %g %g; ", p.name.c_str(), p.range.low, p.range.high);
      text += entry;
    }
    return text;
  };
  EXPECT_EQ(box("soup"), "lg_tau -0.5 1.5; D 0.01 1; ");
  EXPECT_EQ(box("oup"), "lg_tau -0.5 1.5; D_fgn 0 1; H 0.05 0.95; D_levy 0 1; alpha 1.4 2; ");
  EXPECT_EQ(box("dvdp"),
            "eps -0.3 0.1; b0 0 0.2; b1 0.2 1; b2 0.2 1; D1 0.1 0.5; D2 0.1 0.5; tau1 0.5 5; tau2 0.5 5; ");
  EXPECT_EQ(box("cfhn:mean"),
            "a1 -3 3; a2 -3 3; b1 0 3; b2 0 3; c1 0.1 3; c2 0.1 3; g1 -3 3; g2 -3 3; alpha1 1.2 2; alpha2 1.2 2; D1 "
            "0.05 0.5; D2 0.05 0.5; ");
  EXPECT_EQ(box("airfoil"),
            "U0 5 16; beta3 40 120; gamma3 5 15; x_phi 0.2 0.3; r_phi 0.4 0.6; a_h -0.6 -0.4; mu 80 120; tau 0.5 5; "
            "D_gauss 0 0.1; D_levy 0 0.1; alpha 1.2 2; ");
  EXPECT_EQ(load_system("cfhn:x1x2").system.observations[0].channels.size(), 2u);
  EXPECT_EQ(load_system("cfhn:x1").observation, 1);
}

TEST(system_test, observations_are_chosen_by_name) {
  const auto refused = [](const std::string& what) {
    try {
      load_system(what);
    } catch (const SystemError& error) {
      return error.full_text();
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refused("cfhn"),
            "systems/cfhn.toml: several observations are possible, choose one\nhint: choose one of: cfhn:x1x2, "
            "cfhn:x1, cfhn:mean");
  EXPECT_EQ(refused("cfhn:y"),
            "systems/cfhn.toml: there is no observation 'y'\nhint: choose one of: cfhn:x1x2, cfhn:x1, cfhn:mean");
  EXPECT_EQ(refused("soup:y"),
            "systems/soup.toml: there is only one observation, 'y' is not its name\nhint: write just 'soup'");
  EXPECT_EQ(
      refused("soupe"),
      "there is no system file 'soupe'\nhint: give the path of a .toml file or one of: airfoil, cfhn, dvdp, oup, soup");
}

TEST(system_test, a_description_names_everything) {
  const std::string text = describe_system(load_system("airfoil").system);
  for (const char* part : {"U0", "zeta_phi", "om = 0.2", "B = gaussian()", "sqrt(2*D_gauss/tau)", "random sign",
                           "Runge-Kutta 4", "burn-in 1000"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

// Every file in tests/system/bad must be refused with exactly the message stored beside it (write it again with
// PENN_WRITE_EXPECTED=1, then read it as a user would).
TEST(system_test, bad_files_are_refused_with_their_stored_message) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(PENN_SOURCE_DIR) / "tests/system/bad")) {
    if (entry.path().extension() != ".toml") continue;
    ++files;
    std::string message = "accepted\n";
    try {
      parse_system(read_text_file(entry.path().string()), entry.path().filename().string());
    } catch (const SystemError& error) {
      message = error.full_text() + "\n";
    }
    fs::path expected = entry.path();
    expected.replace_extension(".expected");
    EXPECT_NE(message, "accepted\n") << entry.path();
    if (std::getenv("PENN_WRITE_EXPECTED")) std::ofstream(expected) << message;
    EXPECT_EQ(message, read_text_file(expected.string())) << entry.path();
  }
  EXPECT_GE(files, 30);
}

// Hostile sizes: each of these once took time that grew with a product of two lengths.
TEST(system_test, very_long_names_and_many_definitions_take_no_time) {
  std::string definitions = "[define]\nd0 = \"k\"\n", uses = "d0";
  for (int i = 1; i < 5000; ++i)
    definitions += "d" + std::to_string(i) + " = \"d" + std::to_string(i - 1) + "*1.0001 + k\"\n";
  for (int i = 0; i < 10000; ++i) uses += "+d4999";
  std::string text = valid("[define]\n", definitions);
  EXPECT_EQ(refusal(std::string(text).replace(text.find("\"k/2\""), 5, "\"" + uses + "\"")), "accepted");
  EXPECT_NE(refusal(std::string(text).replace(text.find("k/2"), 3, std::string(90000, 'a'))).find("unknown name"),
            std::string::npos);
}

TEST(system_test, every_truncation_and_every_single_byte_change_is_survived) {
  const std::string text = valid();
  for (size_t size = 0; size < text.size(); ++size) refusal(text.substr(0, size));
  for (size_t i = 0; i < text.size(); ++i)
    for (const char c : {'\0', '\n', '"', '(', '[', 'x', '9', '\xff'}) {
      std::string changed = text;
      changed[i] = c;
      refusal(changed);
    }
}

}  // namespace
}  // namespace penn
