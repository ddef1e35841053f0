// What the mixtures of the shipped models must show, system by system: couplings and their signs, several explanations, what cannot be told.
// Fresh trajectories of the model's own system, 400 or more, so that a mean correlation is known to 0.02. The paper's figures are in the comments.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "penn/base/files.h"
#include "penn/infer/estimator.h"
#include "penn/simulate/simulator.h"

namespace penn {
namespace {

struct Shipped {
  explicit Shipped(const std::string& name) : estimator(open_model(find_model(name))) {}

  int index(const std::string& parameter) const { return estimator.system().parameter_index(parameter); }
  double width(const std::string& parameter) const {  // of the box
    const Range range = estimator.system().parameters[static_cast<size_t>(index(parameter))].range;
    return range.high - range.low;
  }

  // Posteriors of `count` trajectories, parameters from the box unless fixed.
  std::vector<Posterior> posteriors(int64_t count, int64_t length, std::map<std::string, double> fixed = {}) {
    const Simulator simulator(estimator.system(), estimator.observation(), {.seed = 20261, .length = length, .fixed = std::move(fixed)});
    theta.resize(static_cast<size_t>(count * simulator.parameters()));
    std::vector<float> z(static_cast<size_t>(count * length * simulator.channels())), sampling(static_cast<size_t>(count));
    simulator.run(0, count, theta.data(), z.data(), sampling.data());
    std::vector<Posterior> list;
    for (Estimate& estimate : estimator.estimate(z.data(), count, length, sampling.data())) list.push_back(std::move(estimate.posterior));
    return list;
  }

  // Mean over trajectories of the posterior's correlation.
  double coupling(const std::vector<Posterior>& list, const std::string& a, const std::string& b) const {
    double sum = 0;
    for (const Posterior& q : list) sum += q.correlation()(static_cast<size_t>(index(a)), static_cast<size_t>(index(b)));
    return sum / static_cast<double>(list.size());
  }
  // Mean over trajectories of the posterior's SD, the box being 1 wide. Uniform in the box: 0.289.
  double spread(const std::vector<Posterior>& list, const std::string& a) const {
    const size_t k = static_cast<size_t>(index(a));
    double sum = 0;
    for (const Posterior& q : list) sum += std::sqrt(q.covariance()(k, k));
    return sum / static_cast<double>(list.size()) / width(a);
  }

  Estimator estimator;
  std::vector<float> theta;  // of the last posteriors()
};

TEST(shipped_models_test, every_model_fits_into_three_megabytes) {
  const std::vector<std::string> names = shared_names("models", ".safetensors");
  const std::set<std::string> have(names.begin(), names.end());
  for (const char* name : {"soup", "dvdp"}) EXPECT_TRUE(have.contains(name)) << name;
  for (const std::string& name : names) EXPECT_LE(std::filesystem::file_size(find_model(name)), 3'000'000u) << name;
}

TEST(shipped_models_test, soup_relaxation_time_and_strength_rise_together) {
  Shipped soup("soup");
  EXPECT_GT(soup.coupling(soup.posteriors(400, 1000), "lg_tau", "D"), 0.7);
}

TEST(shipped_models_test, soup_more_data_narrow_the_posterior) {
  Shipped soup("soup");
  const double at200 = soup.spread(soup.posteriors(400, 200), "D"), at1000 = soup.spread(soup.posteriors(400, 1000), "D"), at5000 = soup.spread(soup.posteriors(400, 5000), "D");
  EXPECT_LT(at1000, 0.8 * at200);
  EXPECT_LT(at5000, 0.8 * at1000);
}

TEST(shipped_models_test, dvdp_couplings_have_the_published_signs) {
  Shipped dvdp("dvdp");
  const auto list = dvdp.posteriors(600, 500);
  EXPECT_GT(dvdp.coupling(list, "b1", "b2"), 0.5);
  EXPECT_GT(dvdp.coupling(list, "D1", "tau1"), 0.5);
  EXPECT_GT(dvdp.coupling(list, "D2", "tau2"), 0.3);
  EXPECT_LT(dvdp.coupling(list, "eps", "b1"), 0);
  EXPECT_GT(dvdp.coupling(list, "eps", "b1"), -0.5);
  EXPECT_NEAR(dvdp.coupling(list, "D1", "D2"), 0, 0.15);
  EXPECT_NEAR(dvdp.coupling(list, "tau1", "tau2"), 0, 0.15);
}

}  // namespace
}  // namespace penn
