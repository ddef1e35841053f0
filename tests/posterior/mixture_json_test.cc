#include "penn/posterior/mixture_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "penn/base/error.h"
#include "posterior/brute_force.h"

namespace penn {
namespace {

using namespace brute_force;
using nlohmann::json;

TEST(mixture_json_test, a_mixture_survives_the_way_through_text) {
  for (const auto& q : {random_mixture(5, 3, 1), random_mixture(1, 1, 2)}) {
    std::vector<std::string> names;
    for (std::size_t k = 0; k < q.dimension(); ++k) names.push_back("p" + std::to_string(k));
    const auto back = mixture_from_json(json::parse(mixture_to_json(q, names).dump()));
    EXPECT_EQ(back.parameters, names);
    DrawStream draws(1);
    for (int i = 0; i < 20; ++i) {
      std::vector<double> theta(q.dimension());
      for (double& v : theta) v = draws.normal();
      EXPECT_NEAR(back.mixture.log_density(theta), q.log_density(theta), 1e-9);
    }
  }
}

TEST(mixture_json_test, a_nearly_singular_mixture_survives_too) {
  const auto q = GaussianMixture::from_covariances({1.0}, {{1, 2}}, {covariance_2d(1e-3, 1e3, 1 - 1e-12)});
  const auto back = mixture_from_json(json::parse(mixture_to_json(q, {"a", "b"}).dump())).mixture;
  EXPECT_NEAR(back.covariance()(0, 0), 1e-6, 1e-15);
  EXPECT_GT(back.correlation()(0, 1), 1 - 2e-12);
}

TEST(mixture_json_test, the_layout_is_nested_lists) {
  const auto q = GaussianMixture::from_covariances({0.25, 0.75}, {{1, 2}, {3, 4}},
                                                   {covariance_2d(1, 2, 0.5), covariance_2d(1, 1, 0)});
  const json j = mixture_to_json(q, {"tau", "D"});
  EXPECT_EQ(j["parameters"], json({"tau", "D"}));
  EXPECT_NEAR(j["weights"][1].get<double>(), 0.75, 1e-15);
  EXPECT_EQ(j["means"][1][0], 3.0);
  EXPECT_NEAR(j["covariances"][0][0][1].get<double>(), 1.0, 1e-14);
}

TEST(mixture_json_test, wrong_text_is_refused_with_the_place_named) {
  const char* good = R"({"parameters":["a"],"weights":[1],"means":[[0]],"covariances":[[[1]]]})";
  EXPECT_NO_THROW(mixture_from_json(json::parse(good)));
  const auto message = [&](const char* patch) -> std::string {
    json j = json::parse(good);
    j.merge_patch(json::parse(patch));
    try {
      mixture_from_json(j);
    } catch (const DataError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message(R"({"weights":null})"), "mixture: no \"weights\"");
  EXPECT_EQ(message(R"({"weights":[]})"), "mixture: \"weights\" must be a list with entries");
  EXPECT_EQ(message(R"({"weights":[0.5]})"), "mixture: weights sum to 0.5, not 1");
  EXPECT_EQ(message(R"({"weights":[2,-1]})"), "mixture: weight -1 is negative");
  EXPECT_EQ(message(R"({"weights":["x"]})"), "mixture: \"weights\" holds string, not a number");
  EXPECT_EQ(message(R"({"weights":[0.5,0.5]})"), "mixture: 2 weights, 1 means, 1 covariances");
  EXPECT_EQ(message(R"({"means":[[0,1]]})"), "mixture: mean 1 must be a list of 1 numbers");
  EXPECT_EQ(message(R"({"covariances":[[[1,2]]]})"), "mixture: row 1 of covariance 1 must be a list of 1 numbers");
  EXPECT_EQ(message(R"({"covariances":[[[-1]]]})"), "mixture: covariance of component 1 is not positive definite");
  EXPECT_EQ(message(R"({"parameters":["a","a"]})"), "mixture: parameter \"a\" is named twice");
  EXPECT_EQ(message(R"({"parameters":[1]})"), "mixture: \"parameters\" must be a list of names");
  EXPECT_THROW(mixture_from_json(json::parse("[1]")), DataError);
}

}  // namespace
}  // namespace penn
