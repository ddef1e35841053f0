#include "penn/network/network_options.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "penn/base/error.h"

namespace penn {
namespace {

NetworkOptions unusual() {
  NetworkOptions o = paper_network(2, 11);
  o.mixture.components = 7;
  o.mixture.full = false;
  o.encoders = {"lstm", "statistics"};
  o.lstm_hidden = 20;
  o.lstm_layers = 2;
  o.coordinates.assign(static_cast<size_t>(o.mixture.parameters), "probit");
  o.coordinates[0] = "linear";
  o.set_precision_floor();
  o.has_input_projection = true;
  o.decoder_blocks = 3;
  o.decoder_width = 256;
  o.length_low = 100;
  o.length_high = 2000;
  o.sampling_low = 0.1;
  o.sampling_high = 0.4;
  return o;
}

TEST(network_options_test, json_text_gives_the_same_options_back) {
  const NetworkOptions o = unusual();
  EXPECT_EQ(network_options_from_json(nlohmann::json::parse(to_json(o).dump())), o);
}

TEST(network_options_test, output_sizes_are_those_of_the_paper) {
  EXPECT_EQ((MixtureShape{5, 10, true}.size()), 10 * (1 + 5 * 8 / 2));
  EXPECT_EQ((MixtureShape{12, 10, true}.size()), 910);
  EXPECT_EQ((MixtureShape{8, 30, false}.size()), 30 * 17);
}

TEST(network_options_test, one_precision_floor_stands_for_all_parameters) {  // in model files of an earlier version
  nlohmann::json json = to_json(unusual());
  json["precision_floor"] = 0.25;
  EXPECT_EQ(network_options_from_json(json).mixture.precision_floor,
            std::vector<double>(static_cast<size_t>(unusual().mixture.parameters), 0.25));
  json["precision_floor"] = 0.0;
  EXPECT_TRUE(network_options_from_json(json).mixture.precision_floor.empty());
}

TEST(network_options_test, damaged_json_is_refused) {
  const nlohmann::json good = to_json(unusual());
  const auto refused = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json bad = good;
    bad[key] = value;
    EXPECT_THROW(network_options_from_json(bad), ModelError) << key << " = " << value;
  };
  for (const auto& [key, value] : good.items()) {
    nlohmann::json bad = good;
    bad.erase(key);
    if (key == "coordinates") EXPECT_FALSE(network_options_from_json(bad).is_probit(1));  // as the first model files
    else if (key == "input_projection") EXPECT_FALSE(network_options_from_json(bad).has_input_projection);
    else if (key == "precision_floor") EXPECT_TRUE(network_options_from_json(bad).mixture.precision_floor.empty());
    else EXPECT_THROW(network_options_from_json(bad), ModelError) << "without " << key;
    refused(key.c_str(), nullptr);
  }
  refused("coordinates", "polar");
  refused("coordinates", {"probit"});
  refused("components", 0);
  refused("components", 2.5);
  refused("components", 1e300);
  refused("precision_floor", {1, 1});
  refused("precision_floor", std::vector<double>(11, -1));
  refused("precision_floor", -1);
  refused("precision_floor", "much");
  refused("parameters", -1);
  refused("covariance", "round");
  refused("encoders", nlohmann::json::array());
  refused("encoders", {"lstm", "lstm"});
  refused("length", {10, 5});
  refused("sampling", {0, 1});
  refused("colour", "blue");
  EXPECT_THROW(network_options_from_json(nlohmann::json::array()), ModelError);
}

// Renamed since version 0.1, whose files are read for one version more.
TEST(network_options_test, names_of_version_0_1_are_read) {
  const nlohmann::json now = to_json(fast_network(1, 2));
  nlohmann::json old = now;
  for (const auto& [old_key, new_key] : {std::pair{"least_precision", "precision_floor"},   // version 0.1
                                         std::pair{"link", "parameterisation"},             // version 0.1
                                         std::pair{"decoder_stem", "input_projection"}}) {  // version 0.1
    old[old_key] = now.at(new_key);
    old.erase(new_key);
  }
  old["link"] = "widths";               // version 0.1
  old["coordinates"] = {"box", "box"};  // version 0.1
  EXPECT_EQ(network_options_from_json(old), fast_network(1, 2));
  EXPECT_EQ(to_json(network_options_from_json(old)), now);
}

// What version 0.1 could train and this one cannot run: the message says what to do.
TEST(network_options_test, options_of_version_0_1_are_refused_with_the_advice_to_train_again) {
  nlohmann::json statistics = to_json(fast_network(1, 2)), parameterisation = statistics, encoder = statistics;
  statistics["encoder_settings"]["statistics"]["version"] = 2;
  parameterisation["parameterisation"] = "relative";
  encoder["encoders"] = {"statistics", "convolution"};
  for (const nlohmann::json& old : {statistics, parameterisation, encoder}) {
    try {
      network_options_from_json(old);
      ADD_FAILURE() << old;
    } catch (const ModelError& error) {
      EXPECT_NE(error.full_text().find("train the model again"), std::string::npos) << error.full_text();
    }
  }
}

}  // namespace
}  // namespace penn
