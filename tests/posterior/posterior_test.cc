// Posteriors in probit coordinates against integrals over the box by brute force, and what must hold at the ends: flat,
// narrow, at an edge.
#include "penn/posterior/posterior.h"

#include <gtest/gtest.h>

#include <cmath>

#include "penn/posterior/mixture_product.h"
#include "penn/posterior/probit_coordinates.h"

namespace penn {
namespace {

const Box kBox = {{-1.0, 10.0}, {3.0, 10.5}};

DenseMatrix matrix(double a, double b, double c) {
  DenseMatrix m(2, 2);
  m(0, 0) = a, m(0, 1) = m(1, 0) = b, m(1, 1) = c;
  return m;
}

GaussianMixture two_components() {
  return GaussianMixture::from_covariances({0.3, 0.7}, {{-0.8, 0.4}, {0.9, -0.2}},
                                           {matrix(0.2, 0.12, 0.3), matrix(0.4, -0.2, 0.35)});
}

Posterior boxed(GaussianMixture mixture = two_components()) {
  return {std::move(mixture), Coordinate::kProbit, kBox};
}

// f over the box, by the midpoint rule.
template <class Function>
double integral(Function f, int cells) {
  double sum = 0;
  for (int i = 0; i < cells; ++i)
    for (int j = 0; j < cells; ++j) {
      const std::vector<double> theta = {-1 + 4 * (i + 0.5) / cells, 10 + 0.5 * (j + 0.5) / cells};
      sum += f(theta);
    }
  return sum * 4 * 0.5 / (cells * cells);
}

TEST(posterior_test, covariance_of_two_normal_probabilities) {
  for (const double rho : {-0.95, -0.6, -0.1, 0.05, 0.19, 0.21, 0.59, 0.61, 0.95}) {
    EXPECT_NEAR(probit_covariance(0, 0, rho), std::asin(rho) / (2 * M_PI), 1e-12) << rho;
    for (const double a : {-1.5, 0.3, 2.0})
      for (const double b : {-0.7, 1.1}) {
        // Phi_2(a, b; rho) = int_-inf^a phi(x) Phi((b - rho x) / sqrt(1 - rho^2)) dx
        double sum = 0;
        const double step = 1e-4;
        for (double x = -10 + step / 2; x < a; x += step)
          sum += normal_density(x) * normal_cdf((b - rho * x) / std::sqrt(1 - rho * rho)) * step;
        EXPECT_NEAR(probit_covariance(a, b, rho), sum - normal_cdf(a) * normal_cdf(b), 1e-7)
            << a << ' ' << b << ' ' << rho;
      }
  }
  // Where it is small all its digits are right: a normal distribution of SD 1e-6 has phi(a)^2 1e-12.
  EXPECT_NEAR(probit_covariance(0.5, 0.5, 1e-12) / (normal_density(0.5) * normal_density(0.5) * 1e-12), 1, 1e-9);
}

TEST(posterior_test, density_in_the_box_integrates_to_one_and_vanishes_outside) {
  const Posterior q = boxed();
  EXPECT_NEAR(integral([&](const std::vector<double>& theta) { return std::exp(q.log_density(theta)); }, 1500), 1,
              3e-5);
  EXPECT_EQ(q.log_density(std::vector<double>{3.1, 10.2}), -HUGE_VAL);
  EXPECT_TRUE(std::isfinite(q.log_density(std::vector<double>{3.0, 10.5})));  // a true value on the edge itself
  EXPECT_EQ(q.outside_mass(), 0);
}

TEST(posterior_test, moments_are_those_of_the_density) {
  const Posterior q = boxed();
  const auto moment = [&](auto f) {
    return integral([&](const std::vector<double>& theta) { return std::exp(q.log_density(theta)) * f(theta); }, 1000);
  };
  const std::vector<double> mean = q.mean();
  const DenseMatrix c = q.covariance();
  for (size_t k = 0; k < 2; ++k) {
    const double width = kBox.hi[k] - kBox.lo[k];
    EXPECT_NEAR(mean[k], moment([&](const auto& t) { return t[k]; }), 2e-4 * std::max(width, std::abs(mean[k])));
    EXPECT_NEAR(q.marginal(k).mean(), mean[k], 1e-12 * std::abs(mean[k]));
    EXPECT_NEAR(q.marginal(k).sd(), std::sqrt(c(k, k)), 1e-12 * width);
    for (size_t l = 0; l < 2; ++l)
      EXPECT_NEAR(c(k, l), moment([&](const auto& t) { return (t[k] - mean[k]) * (t[l] - mean[l]); }),
                  2e-4 * width * (kBox.hi[l] - kBox.lo[l]));
    const double fourth = moment([&](const auto& t) { return std::pow(t[k] - mean[k], 4); });
    EXPECT_NEAR(q.marginal(k).kurtosis(), fourth / (c(k, k) * c(k, k)), 2e-3);
  }
  EXPECT_NEAR(q.correlation()(0, 1), c(0, 1) / std::sqrt(c(0, 0) * c(1, 1)), 1e-12);
}

TEST(posterior_test, law_of_one_parameter) {
  const Posterior q = boxed();
  const Marginal distribution = q.marginal(0);
  EXPECT_EQ(distribution.cdf(-1), 0);
  EXPECT_EQ(distribution.cdf(3), 1);
  for (const double p : {0.001, 0.05, 0.5, 0.9, 0.999}) {
    const double x = distribution.quantile(p), h = 1e-5;
    EXPECT_NEAR(distribution.cdf(x), p, 1e-12);
    EXPECT_NEAR(distribution.survival(x), 1 - p, 1e-12);
    EXPECT_NEAR(std::exp(distribution.log_density(x)), (distribution.cdf(x + h) - distribution.cdf(x - h)) / (2 * h),
                1e-5);
  }
}

TEST(posterior_test, the_prior_is_flat) {
  const Posterior q = boxed(GaussianMixture::from_covariances({1}, {{0, 0}}, {matrix(1, 0, 1)}));
  for (const std::vector<double>& theta :
       {std::vector<double>{-0.99, 10.01}, std::vector<double>{1, 10.25}, std::vector<double>{2.9999, 10.4}})
    EXPECT_NEAR(q.log_density(theta), -std::log(4 * 0.5), 1e-12);
  EXPECT_NEAR(q.mean()[0], 1, 1e-12);
  EXPECT_NEAR(q.marginal(0).sd(), 4 / std::sqrt(12.0), 1e-9);
  EXPECT_NEAR(q.marginal(1).kurtosis(), 1.8, 1e-6);
  EXPECT_NEAR(q.correlation()(0, 1), 0, 1e-12);
}

TEST(posterior_test, a_component_of_any_width_stays_inside) {  // training may leave one, of next to no weight: half of
                                                               // it lies at each edge
  for (const double wide : {1e3, 1e6, 1e12}) {
    const Posterior q = boxed(GaussianMixture::from_covariances({1}, {{0, 0}}, {matrix(wide * wide, 0, 1)}));
    EXPECT_NEAR(q.mean()[0], 1, 1e-9);
    EXPECT_NEAR(q.marginal(0).sd(), 2, 0.002 * 2);
    EXPECT_NEAR(q.marginal(0).kurtosis(), 1, 0.01);
  }
}

TEST(posterior_test, a_narrow_posterior_is_gaussian_in_the_parameters) {
  const double s = 1e-4;
  const Posterior q = boxed(GaussianMixture::from_covariances({1}, {{0.3, -0.4}}, {matrix(s * s, 0.6 * s * s, s * s)}));
  EXPECT_NEAR(q.marginal(0).sd(), 4 * normal_density(0.3) * s, 1e-6 * s);
  EXPECT_NEAR(q.correlation()(0, 1), 0.6, 1e-6);
  EXPECT_NEAR(q.marginal(0).kurtosis(), 3, 1e-4);
}

TEST(posterior_test, draws_follow_the_density_and_stay_inside) {
  const Posterior q = boxed();
  DrawStream draws(3);
  const size_t n = 40000;
  const TruncatedDraws drawn = PosteriorInBox(q).sample(n, draws);
  double mean = 0, below = 0;
  for (size_t i = 0; i < n; ++i) {
    ASSERT_TRUE(kBox.contains(std::span(&drawn.theta[2 * i], 2)));
    mean += drawn.theta[2 * i] / n;
    below += drawn.theta[2 * i + 1] < q.marginal(1).quantile(0.3) ? 1.0 / n : 0.0;
  }
  EXPECT_NEAR(mean, q.mean()[0], 5 * q.marginal(0).sd() / std::sqrt(n));
  EXPECT_NEAR(below, 0.3, 5 * std::sqrt(0.21 / n));
  EXPECT_EQ(drawn.approximate, 0u);
}

TEST(posterior_test, conditional_is_joint_over_marginal) {
  const Posterior q = boxed();
  const std::vector<size_t> given = {1};
  for (const double at : {10.1, 10.45}) {
    const Posterior rest = q.conditional(given, std::vector<double>{at});
    for (const double x : {-0.5, 1.0, 2.8})
      EXPECT_NEAR(rest.log_density(std::vector<double>{x}),
                  q.log_density(std::vector<double>{x, at}) - q.marginal(1).log_density(at), 1e-10);
  }
}

TEST(posterior_test, linear_coordinates_are_the_mixture_itself) {
  const GaussianMixture mixture = two_components();
  const Posterior q(mixture, Coordinate::kLinear, {{-1, -1}, {1, 1}});
  const std::vector<double> theta = {0.2, 0.3};
  EXPECT_EQ(q.log_density(theta), mixture.log_density(theta));
  EXPECT_EQ(q.mean(), mixture.mean());
  EXPECT_EQ(q.marginal(0).quantile(0.3), mixture.marginal_1d(0).quantile(0.3));
  const NormalMixture1d marginal = mixture.marginal_1d(0);
  double fourth = 0;
  for (size_t j = 0; j < 2; ++j) {
    const double d = marginal.component_mean(j) - marginal.mean(),
                 s2 = marginal.component_sd(j) * marginal.component_sd(j);
    fourth += marginal.weight(j) * (3 * s2 * s2 + 6 * s2 * d * d + d * d * d * d);
  }
  EXPECT_NEAR(q.marginal(0).kurtosis(), fourth / std::pow(marginal.sd(), 4), 1e-6);
  EXPECT_GT(q.outside_mass(), 0.1);
}

TEST(posterior_test, evidence_of_several_trajectories_counts_the_prior_once) {
  // Nothing known, twice, beside something known: the something.
  const GaussianMixture flat = GaussianMixture::from_covariances({1}, {{0, 0}}, {matrix(1, 0, 1)});
  const GaussianMixture known = GaussianMixture::from_covariances({0.4, 0.6}, {{-0.8, 0.4}, {0.9, -0.2}},
                                                                  {matrix(0.2, 0.12, 0.3), matrix(0.5, -0.3, 0.6)});
  const ProductResult same = multiply_posteriors(ProductDensity({flat, known, flat}, kBox, {true, true}));
  for (const std::vector<double>& u :
       {std::vector<double>{0, 0}, std::vector<double>{-1, 2}, std::vector<double>{1.5, -0.5}})
    EXPECT_NEAR(same.mixture.log_density(u), known.log_density(u), 1e-9);
  EXPECT_NEAR(same.log_agreement, 0, 1e-9);
  EXPECT_NEAR(same.divergence, 0, 0.02);  // from 3,000 draws
  // Two that know something: proportional to the product over the prior, and the constant is the agreement.
  const ProductDensity product({known, known}, kBox, {true, true});
  const ProductResult twice = multiply_posteriors(product);
  for (const std::vector<double>& u :
       {std::vector<double>{0, 0}, std::vector<double>{-1, 0.5}, std::vector<double>{1.2, -0.5}})
    EXPECT_NEAR(product.log_density(u) - twice.mixture.log_density(u), twice.log_agreement, 1e-8);
  EXPECT_NEAR(twice.divergence, 0, 0.02);
}

// One parameter in each kind of coordinates: uniform prior in 10 to 10.5 for the second.
TEST(posterior_test, coordinates_may_differ_from_parameter_to_parameter) {
  const auto inside = [](double s, double t, double rho) { return matrix(s * s, rho * s * t, t * t); };
  const GaussianMixture mixture = GaussianMixture::from_covariances({0.3, 0.7}, {{-0.8, 10.2}, {0.9, 10.3}},
                                                                    {inside(0.5, 0.02, 0.6), inside(0.6, 0.03, -0.7)});
  const Posterior q(mixture, {Coordinate::kProbit, Coordinate::kLinear}, kBox);
  const auto moment = [&](auto f) {
    return integral([&](const std::vector<double>& theta) { return std::exp(q.log_density(theta)) * f(theta); }, 1000);
  };
  EXPECT_NEAR(moment([](const auto&) { return 1.0; }), 1, 1e-4);
  const std::vector<double> mean = q.mean();
  EXPECT_NEAR(mean[0], moment([](const auto& t) { return t[0]; }), 1e-3);
  EXPECT_NEAR(mean[1], mixture.mean()[1], 1e-12);
  EXPECT_NEAR(q.covariance()(0, 1), moment([&](const auto& t) { return (t[0] - mean[0]) * (t[1] - mean[1]); }), 1e-5);
  EXPECT_NEAR(q.covariance()(1, 1), mixture.covariance()(1, 1), 1e-12);
  EXPECT_LT(q.outside_mass(), 1e-4);

  const ProductDensity product({mixture, mixture}, kBox, {true, false});
  const ProductResult twice = multiply_posteriors(product);
  for (const std::vector<double>& u :
       {std::vector<double>{0, 10.2}, std::vector<double>{-1, 10.25}, std::vector<double>{1.2, 10.3}})
    EXPECT_NEAR(product.log_density(u) - twice.mixture.log_density(u), twice.log_agreement, 1e-7);
  EXPECT_NEAR(twice.divergence, 0, 0.02);

  // At the edge of the linear one: draws are cut there, and only there.
  const Posterior edge(GaussianMixture::from_covariances({1}, {{0.5, 10.5}}, {inside(1, 0.1, 0.5)}),
                       {Coordinate::kProbit, Coordinate::kLinear}, kBox);
  EXPECT_NEAR(edge.outside_mass(), 0.5, 1e-3);
  DrawStream draws(4);
  const PosteriorInBox cut(edge);
  const TruncatedDraws drawn = cut.sample(2000, draws);
  for (size_t i = 0; i < 2000; ++i) ASSERT_TRUE(kBox.contains(std::span(&drawn.theta[2 * i], 2)));
  const std::vector<double> theta = {1, 10.4};
  EXPECT_NEAR(cut.log_density(theta), edge.log_density(theta) + std::log(2.0), 1e-3);
}

// Mean and SD of each coordinate of the product, and ln of its integral, on a grid.
struct GridMoments {
  double mean[2] = {}, sd[2] = {}, log_integral = 0;
};

GridMoments on_grid(const ProductDensity& product) {
  constexpr int kCells = 400;
  constexpr double kReach = 8, kCell = 2 * kReach / kCells;
  const double largest = product.log_density(std::vector<double>{0, 0});
  double sum = 0, first[2] = {}, second[2] = {};
  for (int i = 0; i < kCells; ++i)
    for (int j = 0; j < kCells; ++j) {
      const std::vector<double> u = {-kReach + (i + 0.5) * kCell, -kReach + (j + 0.5) * kCell};
      const double mass = std::exp(product.log_density(u) - largest) * kCell * kCell;
      sum += mass;
      for (size_t k = 0; k < 2; ++k) first[k] += mass * u[k], second[k] += mass * u[k] * u[k];
    }
  GridMoments m;
  m.log_integral = std::log(sum) + largest;
  for (size_t k = 0; k < 2; ++k)
    m.mean[k] = first[k] / sum, m.sd[k] = std::sqrt(second[k] / sum - m.mean[k] * m.mean[k]);
  return m;
}

void expect_the_product(const std::vector<GaussianMixture>& factors) {
  const ProductDensity product(factors, kBox, {true, true});
  const ProductResult result = multiply_posteriors(product);
  const GridMoments truth = on_grid(product);
  for (size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(result.mixture.mean()[k], truth.mean[k], 0.15 * truth.sd[k])
        << factors.size() << " factors, coordinate " << k;
    EXPECT_NEAR(std::sqrt(result.mixture.covariance()(k, k)) / truth.sd[k], 1, 0.1)
        << factors.size() << " factors, coordinate " << k;
  }
  EXPECT_NEAR(result.log_agreement, truth.log_integral, 0.1);
  EXPECT_LT(result.divergence, 0.1);
}

// What a network makes of a parameter near an edge: a narrow part, and one wider than the prior whose quotient by it
// grows without limit. The algebra alone puts the product of three at u = 8 and of ten at 30.
TEST(posterior_test, wide_parts_do_not_carry_the_product_of_many_to_the_edge) {
  const auto factor = [](double shift) {
    return GaussianMixture::from_covariances({0.8, 0.2}, {{1.2 + shift, -1.2}, {1.5 + shift, -1}},
                                             {matrix(0.25, -0.05, 0.09), matrix(1.7, -0.2, 0.3)});
  };
  std::vector<GaussianMixture> factors;
  for (const double shift : {0.1, -0.3, 0.2, 0.0, 0.3, -0.1, -0.2, 0.1, 0.0, -0.1}) {
    factors.push_back(factor(shift));
    if (factors.size() == 2 || factors.size() == 3 || factors.size() == 10) expect_the_product(factors);
  }
}

TEST(posterior_test, narrow_parts_beside_an_edge_do_not_drift_beyond_it) {
  const GaussianMixture factor = GaussianMixture::from_covariances({0.6, 0.4}, {{-2, 0.5}, {-1.7, 0.6}},
                                                                   {matrix(0.8, 0.1, 0.3), matrix(0.15, 0, 0.2)});
  expect_the_product(std::vector<GaussianMixture>(3, factor));
  expect_the_product(std::vector<GaussianMixture>(8, factor));
}

TEST(posterior_test, a_part_as_wide_as_the_prior_adds_nothing) {
  const GaussianMixture known = GaussianMixture::from_covariances({1}, {{0.4, -0.2}}, {matrix(0.3, 0.1, 0.2)});
  const GaussianMixture nothing =
      GaussianMixture::from_covariances({0.5, 0.5}, {{0, 0}, {0, 0}}, {matrix(1, 0, 1), matrix(1, 0, 1)});
  const ProductResult result =
      multiply_posteriors(ProductDensity({nothing, known, nothing, nothing}, kBox, {true, true}));
  EXPECT_NEAR(result.mixture.mean()[0], 0.4, 1e-9);
  EXPECT_NEAR(result.mixture.covariance()(0, 1), 0.1, 1e-9);
  EXPECT_EQ(result.fits, 0u);
}

}  // namespace
}  // namespace penn
