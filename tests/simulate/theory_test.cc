// The shipped systems against what theory says about them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "penn/base/files.h"
#include "penn/simulate/simulator.h"
#include "penn/system/parse_system.h"

namespace penn {
namespace {

// z (n, length, channels) of a system with the given text, fixed parameters and seed 1.
std::vector<float> simulate(const System& system, int64_t n, int64_t length,
                            const std::map<std::string, double>& fixed) {
  const Simulator simulator(system, 0, {.seed = 1, .length = length, .fixed = fixed});
  std::vector<float> theta(static_cast<size_t>(n * simulator.parameters())),
      z(static_cast<size_t>(n * length * simulator.channels()));
  simulator.run(0, n, theta.data(), z.data());
  return z;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

System shipped(const std::string& name, const std::string& from = "", const std::string& to = "") {
  const std::string text = read_text_file(shared_file("systems/" + name + ".toml"));
  return parse_system(from.empty() ? text : replaced(text, from, to), name + ".toml");
}

// Euler-Maruyama makes x an AR(1) process with factor 1 - dt/tau per step: its stationary variance is D / (1 - dt/(2
// tau)), its autocorrelation over one sample (1 - dt/tau)^10. 4,000 trajectories x 40 samples that lie 2 tau or more
// apart.
TEST(theory_test, soup_has_the_stationary_variance_and_autocorrelation_of_its_discretisation) {
  for (const double lg_tau : {-0.5, 0.0, 0.5}) {
    const double tau = std::pow(10, lg_tau), D = 0.6, dt = 0.01;
    const int64_t n = 4000, length = 41;
    const std::vector<float> z = simulate(shipped("soup"), n, length, {{"lg_tau", lg_tau}, {"D", D}});
    double square = 0, lagged = 0;
    for (int64_t i = 0; i < n; ++i) {
      square += static_cast<double>(z[i * length]) * z[i * length];  // one sample per trajectory: independent
      lagged += static_cast<double>(z[i * length]) * z[i * length + 1];
    }
    const double variance = D / (1 - dt / (2 * tau)), correlation = std::pow(1 - dt / tau, 10);
    EXPECT_NEAR(square / n, variance, 4.5 * variance * std::sqrt(2.0 / n)) << lg_tau;
    EXPECT_NEAR(lagged / square, correlation, 4.5 * std::sqrt((1 - correlation * correlation) / n)) << lg_tau;
  }
}

// With alpha = 2 the Levy noise of oup is Gaussian of twice the variance, and with H = 1/2 the fractional one is white:
// each alone gives an Ornstein-Uhlenbeck process of stationary variance D. A wrong factor of two in either noise shows
// here.
TEST(theory_test, oup_noises_at_their_gaussian_ends_have_variance_D) {
  const System system = shipped("oup");
  const int64_t n = 4000;
  for (const bool levy : {false, true}) {
    const std::vector<float> z = simulate(
        system, n, 2, {{"lg_tau", 0}, {"D_fgn", levy ? 0 : 0.8}, {"H", 0.5}, {"D_levy", levy ? 0.8 : 0}, {"alpha", 2}});
    double square = 0;
    for (int64_t i = 0; i < n; ++i) square += static_cast<double>(z[2 * i]) * z[2 * i];
    EXPECT_NEAR(square / n, 0.8 / (1 - 0.005), 4.5 * 0.8 * std::sqrt(2.0 / n)) << levy;
  }
}

// Stationary distribution of the Levy-driven process alone: E exp(ikx) = exp(-|k|^alpha D/alpha), up to the time step:
// sum over steps of (D dt/tau) (1 - dt/tau)^(alpha j) = D (dt/tau) / (1 - (1 - dt/tau)^alpha).
TEST(theory_test, oup_levy_part_has_the_stable_stationary_distribution) {
  for (const double alpha : {1.4, 1.7}) {
    const double D = 0.5, dt = 0.01;
    const int64_t n = 20000;
    const std::vector<float> z =
        simulate(shipped("oup"), n, 2, {{"lg_tau", 0}, {"D_fgn", 0}, {"H", 0.5}, {"D_levy", D}, {"alpha", alpha}});
    for (const double k : {0.3, 0.8, 1.5}) {
      double real = 0;
      for (int64_t i = 0; i < n; ++i) real += std::cos(k * z[2 * i]);
      const double strength = D * dt / (1 - std::pow(1 - dt, alpha));
      EXPECT_NEAR(real / n, std::exp(-std::pow(k, alpha) * strength), 4 / std::sqrt(2.0 * n)) << alpha << " " << k;
    }
  }
}

// Stationary variance of the fractional Ornstein-Uhlenbeck process dx = -x/tau + s dW_H: s^2 tau^2H Gamma(2H + 1) / 2.
// The time step adds a few percent for small H; a step ten times smaller must come closer.
TEST(theory_test, oup_fractional_part_has_the_variance_of_fractional_ornstein_uhlenbeck) {
  for (const double H : {0.3, 0.7, 0.9}) {
    const double tau = 2, D = 0.5;
    const int64_t n = 4000;
    const std::vector<float> z = simulate(
        shipped("oup"), n, 2, {{"lg_tau", std::log10(tau)}, {"D_fgn", D}, {"H", H}, {"D_levy", 0}, {"alpha", 2}});
    double square = 0;
    for (int64_t i = 0; i < n; ++i) square += static_cast<double>(z[2 * i]) * z[2 * i];
    const double variance = 2 * D / tau * std::pow(tau, 2 * H) * std::tgamma(2 * H + 1) / 2;
    EXPECT_NEAR(square / n, variance, 4.5 * variance * std::sqrt(2.0 / n) + 0.02 * variance) << H;
  }
}

TEST(theory_test, dvdp_coloured_noises_have_variance_D_over_tau) {
  const System system = shipped("dvdp", "[observe]\nx = \"x\"", "[observe]\neta = \"eta\"\nxi = \"xi\"");
  const int64_t n = 4000, length = 2;
  const double D1 = 0.3, D2 = 0.45, tau1 = 0.7, tau2 = 3;
  const std::vector<float> z = simulate(system, n, length, {{"D1", D1}, {"D2", D2}, {"tau1", tau1}, {"tau2", tau2}});
  double eta = 0, xi = 0, both = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double a = z[i * 4], b = z[i * 4 + 1];
    eta += a * a / n, xi += b * b / n, both += a * b / n;
  }
  EXPECT_NEAR(eta, D1 / tau1 / (1 - 0.005 / tau1), 4.5 * D1 / tau1 * std::sqrt(2.0 / n));
  EXPECT_NEAR(xi, D2 / tau2 / (1 - 0.005 / tau2), 4.5 * D2 / tau2 * std::sqrt(2.0 / n));
  EXPECT_NEAR(both, 0, 4.5 * std::sqrt(D1 / tau1 * D2 / tau2 / n)) << "the two noises are independent";
}

// Measurement noise: one standard draw per sample, independent between samples.
TEST(theory_test, measurement_noise_is_standard_and_white) {
  const System system = parse_system(
      "[parameters]\nm = [0, 1]\n[noise]\nE = \"gaussian()\"\n[observe]\nx = \"m + 2*E\"\n[simulation]\nsampling = "
      "0.04\nlength = 500\n",
      "n.toml");
  const int64_t n = 400, length = 500;
  const std::vector<float> z = simulate(system, n, length, {{"m", 0.5}});
  double mean = 0, square = 0, lagged = 0;
  const double count = static_cast<double>(n * (length - 1));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j + 1 < length; ++j) {
      const double a = z[i * length + j] - 0.5, b = z[i * length + j + 1] - 0.5;
      mean += a / count, square += a * a / count, lagged += a * b / count;
    }
  EXPECT_NEAR(mean, 0, 5 * 2 / std::sqrt(count));
  EXPECT_NEAR(square, 4, 5 * 4 * std::sqrt(2 / count));
  EXPECT_NEAR(lagged, 0, 5 * 4 / std::sqrt(count));
}

// The other two kinds, beside a state that has a step of its own: neither step nor sampling interval enters. 20,000
// trajectories.
TEST(theory_test, fractional_and_stable_measurement_noise_are_standard) {
  const System system = parse_system(
      "[parameters]\nH = [0.1, 0.9]\n[noise]\nW = \"fractional(H)\"\nS = \"stable(1.5)\"\n[equations]\nx = "
      "\"-x\"\n[initial]\nx = 0\n"
      "[observe]\nw = \"x + W\"\ns = \"x + S\"\n[simulation]\nstep = 0.01\nsampling = 0.05\nburn_in = 3\nlength = 4\n",
      "n.toml");
  const int64_t n = 20000;
  const std::vector<float> z = simulate(system, n, 4, {{"H", 0.3}});
  double square = 0, lagged = 0, far = 0, wave = 0;
  const double count = static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    const float* row = z.data() + 8 * i;
    square += row[0] * row[0] / count, lagged += row[0] * row[2] / count, far += row[0] * row[6] / count,
        wave += std::cos(0.8 * row[1]) / count;
  }
  const double a = 0.6;  // 2 H
  EXPECT_NEAR(square, 1, 4.5 * std::sqrt(2 / count));
  EXPECT_NEAR(lagged, (std::pow(2, a) - 2) / 2, 4.5 * std::sqrt(2 / count));
  EXPECT_NEAR(far, (std::pow(4, a) - 2 * std::pow(3, a) + std::pow(2, a)) / 2, 4.5 * std::sqrt(1 / count));
  EXPECT_NEAR(wave, std::exp(-std::pow(0.8, 1.5)), 4 / std::sqrt(2 * count));
}

// Multiplicative noise is Ito's: x' = s x B has the constant mean 1 (Stratonovich's would be exp(s^2 t / 2) = 1.13),
// and its mean square is (1 + s^2 dt)^steps. 40,000 trajectories; the standard error of the mean is sqrt(0.284 / 40000)
// = 0.0027.
TEST(theory_test, multiplicative_noise_is_ito) {
  for (const char* method : {"euler-maruyama", "rk4"}) {
    const System system =
        parse_system(std::string("[parameters]\ns = [0, 1]\n[noise]\nB = \"gaussian()\"\n[equations]\nx = "
                                 "\"s*x*B\"\n[initial]\nx = 1\n[observe]\nx = \"x\"\n"
                                 "[simulation]\nstep = 0.01\nsampling = 1\nlength = 2\nmethod = \"") +
                         method + "\"\n",
                     "ito.toml");
    const int64_t n = 40000;
    const std::vector<float> z = simulate(system, n, 2, {{"s", 0.5}});
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; ++i)
      mean += z[2 * i + 1] / static_cast<double>(n),
          square += static_cast<double>(z[2 * i + 1]) * z[2 * i + 1] / static_cast<double>(n);
    EXPECT_NEAR(mean, 1, 4.5 * 0.0027);
    EXPECT_NEAR(square, std::pow(1 + 0.25 * 0.01, 100), 0.05);
  }
}

// Under rk4 a noisy state is advanced by Euler-Maruyama, so the flow disturbance of the airfoil is the same either way.
TEST(theory_test, rk4_advances_noisy_states_by_euler_maruyama) {
  std::string text = replaced(read_text_file(shared_file("systems/airfoil.toml")),
                              "[observe]\nphi = \"phi\"\nxi  = \"xi\"", "[observe]\neta = \"eta\"");
  text = replaced(text, "burn_in  = 1000", "burn_in  = 0");
  const std::vector<float> rk4 = simulate(parse_system(text, "a.toml"), 40, 50, {});
  text = replaced(text, "method   = \"rk4\"", "method   = \"euler-maruyama\"");
  const std::vector<float> euler =
      simulate(parse_system(text, "a.toml"), 40, 50, {{"U0", 5}});  // slow flow: Euler stays finite
  ASSERT_EQ(rk4.size(), euler.size());
  for (size_t i = 0; i < rk4.size(); ++i) ASSERT_NEAR(rk4[i], euler[i], 1e-5 * (1 + std::abs(rk4[i]))) << i;
}

// Runge-Kutta 4 on a driven oscillator, x'' = -x + cos 3t: the largest error up to t = 4 falls by 16 when the step is
// halved.
TEST(theory_test, rk4_has_order_four_and_knows_the_time) {
  const auto error = [](double step) {
    const System system = parse_system(
        "[parameters]\nk = [1, 2]\n[equations]\nx = \"v\"\nv = \"-k*x + cos(3*t)\"\n[initial]\nx = 1\nv = "
        "0\n[observe]\nx = \"x\"\n[simulation]\nmethod = \"rk4\"\nsampling = 0.4\nlength = 11\nstep = " +
            std::to_string(step) + "\n",
        "o.toml");
    const Simulator simulator(system, 0, {.fixed = {{"k", 1.0}}, .kernel = KernelChoice::kInterpreted});
    float theta, z[11];
    simulator.run(0, 1, &theta, z);
    double largest = 0;
    for (int i = 0; i < 11; ++i) {
      const double t = 0.4 * i, exact = std::cos(t) + (std::cos(t) - std::cos(3 * t)) / 8;
      largest = std::max(largest, std::abs(z[i] - exact));
    }
    return largest;
  };
  EXPECT_LT(error(0.1), 1e-4);
  EXPECT_NEAR(std::log2(error(0.2) / error(0.1)), 4, 0.3);
}

// ---- airfoil ----------------------------------------------------------------------------------------------------

// Eigenvalue with the largest real part of a real matrix (n, n): characteristic polynomial (Faddeev-Le Verrier), roots
// (Durand-Kerner).
double largest_growth(const std::vector<std::vector<long double>>& A) {
  using C = std::complex<long double>;
  const size_t n = A.size();
  std::vector<long double> c(n + 1, 0);  // monic: x^n + c[1] x^(n-1) + ...
  c[0] = 1;
  std::vector<std::vector<long double>> M(n, std::vector<long double>(n, 0));
  for (size_t k = 1; k <= n; ++k) {
    std::vector<std::vector<long double>> next(n, std::vector<long double>(n, 0));
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) {
        for (size_t l = 0; l < n; ++l) next[i][j] += A[i][l] * M[l][j];
        if (i == j) next[i][j] += c[k - 1];
      }
    M = next;
    long double trace = 0;
    for (size_t i = 0; i < n; ++i)
      for (size_t l = 0; l < n; ++l) trace += A[i][l] * M[l][i];
    c[k] = -trace / static_cast<long double>(k);
  }
  std::vector<C> root(n);
  for (size_t i = 0; i < n; ++i) root[i] = std::pow(C(0.4L, 0.9L), static_cast<long double>(i));
  for (int iteration = 0; iteration < 2000; ++iteration)
    for (size_t i = 0; i < n; ++i) {
      C value = 0, product = 1;
      for (size_t k = 0; k <= n; ++k) value = value * root[i] + c[k];
      for (size_t j = 0; j < n; ++j)
        if (j != i) product *= root[i] - root[j];
      root[i] -= value / product;
    }
  long double largest = -1e9L;
  for (const C& r : root) largest = std::max(largest, r.real());
  return static_cast<double>(largest);
}

// Growth rate of the linear part of the parsed file's own equations at flow speed U, zero damping: the Jacobian at the
// origin by central differences, which are exact for a cubic up to h^2 ~ 1e-8 of the cubic terms, which vanish at the
// origin.
double growth_rate(const System& system, const std::map<std::string, double>& parameter, double U) {
  const size_t n = 6;  // the structural and lag states; eta, the seventh, is held at 0
  const auto drift = [&](const std::vector<double>& x) {
    std::vector<double> values;
    system.graph.evaluate(values, {}, [&](SymbolKind kind, int index) -> double {
      if (kind == SymbolKind::kState) return x[static_cast<size_t>(index)];
      if (kind == SymbolKind::kNuisance) return 0;
      const std::string& name = system.parameters[static_cast<size_t>(index)].name;
      return name == "U0" ? U : parameter.count(name) ? parameter.at(name) : 1;
    });
    std::vector<double> f;
    for (size_t s = 0; s < n; ++s) f.push_back(values[static_cast<size_t>(system.states[s].drift)]);
    return f;
  };
  std::vector<std::vector<long double>> A(n, std::vector<long double>(n));
  const double h = 1e-4;
  for (size_t j = 0; j < n; ++j) {
    std::vector<double> up(7, 0), down(7, 0);
    up[j] = h, down[j] = -h;
    const std::vector<double> fu = drift(up), fd = drift(down);
    for (size_t i = 0; i < n; ++i) A[i][j] = (fu[i] - fd[i]) / (2 * h);
  }
  return largest_growth(A);
}

TEST(theory_test, airfoil_has_the_known_flutter_speeds) {
  const struct {
    double mu, a_h, x_phi, r_phi, om, speed;
  } cases[] = {{100, -0.5, 0.25, 0.5, 0.2, 6.28509},
               {100, -0.5, 0.25, 0.5, 0.25, 6.03856},
               {20, -0.2, 0.1, std::sqrt(0.24), 0.4, 2.17036},
               {100, -0.4, 0.25, 0.5, 0.2, 5.47808},
               {100, -0.6, 0.25, 0.5, 0.2, 7.68599}};
  for (const auto& c : cases) {
    const System system = shipped("airfoil", "om      = 0.2 ", "om      = " + std::to_string(c.om));
    const std::map<std::string, double> parameter = {{"mu", c.mu},       {"a_h", c.a_h}, {"x_phi", c.x_phi},
                                                     {"r_phi", c.r_phi}, {"beta3", 0},   {"gamma3", 0}};
    double low = 0.5 * c.speed, high = 1.5 * c.speed;
    ASSERT_LT(growth_rate(system, parameter, low), 0);
    ASSERT_GT(growth_rate(system, parameter, high), 0);
    for (int i = 0; i < 60; ++i) (growth_rate(system, parameter, (low + high) / 2) < 0 ? low : high) = (low + high) / 2;
    EXPECT_NEAR(low, c.speed, 1e-5 * c.speed) << c.mu << " " << c.a_h << " " << c.om;
  }
}

TEST(theory_test, airfoil_has_the_known_limit_cycle_amplitudes) {
  std::string text = read_text_file(shared_file("systems/airfoil.toml"));
  text = replaced(text, "phi  = { uniform = [0.02, 0.10], sign = \"random\" }", "phi  = 0.05");
  text = replaced(text, "xi   = { uniform = [-0.1, 0.1] }", "xi   = 0");
  text = replaced(text, "burn_in  = 1000", "burn_in  = 0");
  const System system = parse_system(text, "airfoil.toml");
  const struct {
    double U, amplitude, tolerance;
  } cases[] = {{5, 2.0e-6, 0.1e-6}, {7, 0.0636, 0.0001}, {10, 0.170, 0.0005}};
  for (const auto& c : cases) {
    const std::map<std::string, double> fixed = {{"U0", c.U},    {"beta3", 80},  {"gamma3", 10}, {"x_phi", 0.25},
                                                 {"r_phi", 0.5}, {"a_h", -0.5},  {"mu", 100},    {"D_gauss", 0},
                                                 {"D_levy", 0},  {"zeta_xi", 0}, {"zeta_phi", 0}};
    const std::vector<float> z = simulate(system, 1, 2001, fixed);  // sampling 0.5: t = 0 .. 1000
    double amplitude = 0;
    for (size_t i = 1000; i <= 2000; ++i) amplitude = std::max<double>(amplitude, std::abs(z[2 * i]));
    EXPECT_NEAR(amplitude, c.amplitude, c.tolerance) << c.U;
  }
}

}  // namespace
}  // namespace penn
