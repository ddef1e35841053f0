// The shipped system files against their equations written out a second time, by hand: drift and noise coefficients at
// random points, initial values, observations and time grid. A wrong sign, factor or index in a file shows here.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "penn/base/random.h"
#include "penn/system/describe_system.h"
#include "penn/system/load_system.h"
#include "penn/system/system.h"

namespace penn {
namespace {

using Values = std::map<std::string, double>;

struct Right {  // the right-hand side of one equation
  double drift;
  Values noise = {};  // coefficients by name of the noise
};
using Equations = std::map<std::string, Right>;

double value_at(const System& system, NodeId node, const Values& at) {
  std::vector<double> values;
  system.graph.evaluate(values, system.graph.reachable({node}), [&](SymbolKind kind, int index) {
    const size_t i = static_cast<size_t>(index);
    return at.at(kind == SymbolKind::kParameter  ? system.parameters[i].name
                 : kind == SymbolKind::kNuisance ? system.nuisance[i].name
                                                 : system.states[i].name);
  });
  return values[static_cast<size_t>(node)];
}

// 200 random points: parameters in their box, states in [-2, 2].
void expect_equations(const std::string& name, const std::function<Equations(Values)>& by_hand) {
  const System system = find_system(name);
  for (uint64_t repeat = 0; repeat < 200; ++repeat) {
    const RandomKey key{42, repeat, 0};
    uint32_t draw = 0;
    Values at;
    for (const auto* list : {&system.parameters, &system.nuisance})
      for (const Parameter& p : *list) at[p.name] = p.range.low + key.uniform(0, draw++) * (p.range.high - p.range.low);
    for (const State& state : system.states) at[state.name] = 4 * key.uniform(0, draw++) - 2;
    const Equations expected = by_hand(at);
    ASSERT_EQ(system.states.size(), expected.size()) << name;
    for (const State& state : system.states) {
      ASSERT_TRUE(expected.count(state.name)) << name << ": " << state.name;
      const Right& right = expected.at(state.name);
      ASSERT_NEAR(value_at(system, state.drift, at), right.drift, 1e-10 * (1 + std::abs(right.drift)))
          << name << ": " << state.name << "'";
      ASSERT_EQ(state.diffusion.size(), right.noise.size()) << name << ": " << state.name << "'";
      for (const Diffusion& d : state.diffusion) {
        const std::string& noise = system.noises[static_cast<size_t>(d.noise)].name;
        ASSERT_TRUE(right.noise.count(noise)) << name << ": " << noise << " in " << state.name << "'";
        ASSERT_NEAR(value_at(system, d.coefficient, at), right.noise.at(noise), 1e-10)
            << name << ": " << noise << " in " << state.name << "'";
      }
    }
  }
}

TEST(shipped_equations_test, soup) {
  expect_equations("soup", [](Values v) -> Equations {
    const double tau = std::pow(10, v["lg_tau"]);
    return {{"x", {-v["x"] / tau, {{"B", std::sqrt(2 * v["D"] / tau)}}}}};
  });
}

TEST(shipped_equations_test, oup) {
  expect_equations("oup", [](Values v) -> Equations {
    const double tau = std::pow(10, v["lg_tau"]);
    return {{"x",
             {-v["x"] / tau,
              {{"W", std::sqrt(2 * v["D_fgn"] / tau)}, {"L", std::pow(v["D_levy"] / tau, 1 / v["alpha"])}}}}};
  });
}

TEST(shipped_equations_test, dvdp) {
  expect_equations("dvdp", [](Values v) -> Equations {
    const double x = v["x"], y = v["y"];
    const double damping = v["eps"] + v["b1"] * x * x - v["b2"] * x * x * x * x;
    return {{"x", {y}},
            {"y", {damping * y - x - v["b0"] * x * x * x + v["eta"] + x * v["xi"]}},
            {"eta", {-v["eta"] / v["tau1"], {{"B1", std::sqrt(2 * v["D1"]) / v["tau1"]}}}},
            {"xi", {-v["xi"] / v["tau2"], {{"B2", std::sqrt(2 * v["D2"]) / v["tau2"]}}}}};
  });
}

TEST(shipped_equations_test, cfhn) {
  expect_equations("cfhn", [](Values v) -> Equations {
    const double x1 = v["x1"], y1 = v["y1"], x2 = v["x2"], y2 = v["y2"];
    return {{"x1", {v["c1"] * (x1 + y1 - x1 * x1 * x1 / 3) + v["g1"] * (x1 - x2)}},
            {"y1", {-(x1 - v["a1"] + v["b1"] * y1) / v["c1"], {{"L1", std::pow(v["D1"], 1 / v["alpha1"])}}}},
            {"x2", {v["c2"] * (x2 + y2 - x2 * x2 * x2 / 3) + v["g2"] * (x2 - x1)}},
            {"y2", {-(x2 - v["a2"] + v["b2"] * y2) / v["c2"], {{"L2", std::pow(v["D2"], 1 / v["alpha2"])}}}}};
  });
}

// Here the accelerations come from the two coupled equations of motion, M (xi'', phi'') = (F1, F2), solved as they
// stand.
TEST(shipped_equations_test, airfoil) {
  expect_equations("airfoil", [](Values v) -> Equations {
    const double om = 0.2, U = std::max(v["U0"] + v["eta"], 1.0);
    const double phi = v["phi"], dphi = v["dphi"], xi = v["xi"], dxi = v["dxi"], a = v["a_h"], mu = v["mu"],
                 r2 = v["r_phi"] * v["r_phi"];
    const double w = phi + dxi + (0.5 - a) * dphi;
    const double lift = 0.5 * w + 0.0075075 * v["om1"] + 0.1005 * v["om2"];
    const double F1 = -2 * v["zeta_xi"] * om / U * dxi - om * om / (U * U) * (xi + v["gamma3"] * xi * xi * xi) -
                      (dphi + 2 * lift) / mu;
    const double F2 = -r2 * (2 * v["zeta_phi"] * dphi / U + (phi + v["beta3"] * phi * phi * phi) / (U * U)) +
                      ((1 + 2 * a) * lift - (0.5 - a) * dphi) / mu;
    const double m11 = 1 + 1 / mu, m12 = v["x_phi"] - a / mu, m22 = r2 + (0.125 + a * a) / mu;
    const double ddphi = (F2 - m12 / m11 * F1) / (m22 - m12 * m12 / m11);
    const double ddxi = (F1 - m12 * ddphi) / m11;
    return {
        {"phi", {dphi}},
        {"dphi", {ddphi}},
        {"xi", {dxi}},
        {"dxi", {ddxi}},
        {"om1", {w - 0.0455 * v["om1"]}},
        {"om2", {w - 0.3 * v["om2"]}},
        {"eta",
         {-v["eta"] / v["tau"],
          {{"B", std::sqrt(2 * v["D_gauss"] / v["tau"])}, {"L", std::pow(v["D_levy"] / v["tau"], 1 / v["alpha"])}}}}};
  });
}

// States in [-2, 2] never bring the flow down to its floor; this one does.
TEST(shipped_equations_test, the_flow_at_the_airfoil_never_falls_below_one) {
  const System system = find_system("airfoil");
  Values at = {{"phi", 0}, {"dphi", 0}, {"xi", 1}, {"dxi", 0}, {"om1", 0}, {"om2", 0}, {"eta", -50}};
  for (const auto* list : {&system.parameters, &system.nuisance})
    for (const Parameter& p : *list) at[p.name] = p.range.low;
  const NodeId drift = system.states[3].drift;
  const double deep = value_at(system, drift, at);
  at["eta"] = 1 - at["U0"];
  EXPECT_EQ(value_at(system, drift, at), deep);
  at["eta"] += 0.1;
  EXPECT_NE(value_at(system, drift, at), deep);
}

// method, step, sampling, burn-in, length, noises, initial values, observations: one line per system.
std::string grid(const System& system) {
  const Simulation& s = system.simulation;
  char text[200];
  std::snprintf(text, sizeof text, "%s %g/%g (%d) %d..%d %d..%d |", s.method == Method::kRungeKutta4 ? "rk4" : "em",
                s.step, s.sampling.high, static_cast<int>(s.steps_per_sample), static_cast<int>(s.burn_in.low),
                static_cast<int>(s.burn_in.high), static_cast<int>(s.length.low), static_cast<int>(s.length.high));
  std::string result = text;
  for (const Noise& noise : system.noises) result += " " + noise.text;
  result += " |";
  for (const State& state : system.states) {
    const std::string low = to_text(system.graph, state.initial.low, system),
                      high = to_text(system.graph, state.initial.high, system);
    result += " " + (low == high ? low : low + ".." + high) + (state.initial.random_sign ? "+-" : "");
  }
  for (const Observation& observation : system.observations) {
    result += " | " + observation.name;
    for (const Channel& channel : observation.channels)
      result += " " + channel.name + "=" + to_text(system.graph, channel.value, system);
  }
  return result;
}

TEST(shipped_equations_test, grids_initial_values_and_observations) {
  EXPECT_EQ(grid(find_system("soup")), "em 0.01/0.1 (10) 500..500 1000..1000 | gaussian() | 0 |  x=x");
  EXPECT_EQ(grid(find_system("oup")), "em 0.01/0.1 (10) 500..500 1000..1000 | fractional(H) stable(alpha) | 0 |  x=x");
  EXPECT_EQ(grid(find_system("dvdp")),
            "em 0.01/0.1 (10) 2000..2000 500..500 | gaussian() gaussian() | (-1)..1 (-1)..1 0 0 |  x=x");
  EXPECT_EQ(grid(find_system("cfhn")),
            "em 0.01/0.2 (20) 500..1500 1500..1500 | stable(alpha1) stable(alpha2) | (-1)..1 (-1)..1 (-1)..1 (-1)..1"
            " | x1x2 x1=x1 x2=x2 | x1 x1=x1 | mean mean=(x1 + x2)/2");
  EXPECT_EQ(grid(find_system("airfoil")),
            "rk4 0.1/0.5 (5) 1000..1000 1000..1000 | gaussian() stable(alpha) | 0.02..0.1+- 0 (-0.1)..0.1 0 0 0 0 |  "
            "phi=phi xi=xi");
}

TEST(shipped_equations_test, airfoil_nuisance_parameters_are_the_two_dampings) {
  const System system = find_system("airfoil");
  ASSERT_EQ(system.nuisance.size(), 2u);
  for (const Parameter& p : system.nuisance) EXPECT_TRUE(p.range.low == 0 && p.range.high == 0.05) << p.name;
}

}  // namespace
}  // namespace penn
