// The list of the paper's figures and tables, the trajectories it shows, and the pages: their numbers against the
// library's own.
#include "paper/reproduce.h"
#include "penn/report/packed_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "base/files_for_tests.h"
#include "paper/draw.h"
#include "paper/paper_numbers.h"
#include "paper/untrained_models.h"
#include "penn/evaluate/exact_process.h"
#include "penn/system/load_system.h"

namespace penn {
namespace {

ReproduceOptions options_in(const TestDirectory& folder) {
  return {.folder = folder / "pages", .models = (folder / "models").string(), .count = 150, .threads = 1};
}

std::vector<float> unpacked(const Json& table) {
  const std::string text = table.at("float32"),
                    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, held = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    if ((held += 6) >= 8) bytes += static_cast<char>(bits >> (held -= 8) & 255);
  }
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), 4 * values.size());
  return values;
}

Json page_of(const std::string& name, Session& session) {
  return draw_paper_item(find_paper_items({name}).at(0), session).json();
}

double correlation(const std::vector<float>& z, size_t lag = 0) {  // of x1(t + lag) and x2(t), z (n, 2)
  RunningMoments a, b, both;
  const size_t n = z.size() / 2 - lag;
  for (size_t i = 0; i < n; ++i) a.add(z[2 * (i + lag)]), b.add(z[2 * i + 1]);
  for (size_t i = 0; i < n; ++i) both.add((z[2 * (i + lag)] - a.mean()) * (z[2 * i + 1] - b.mean()));
  return both.mean() / (a.sd() * b.sd());
}

TEST(paper_items_test, every_figure_and_table_once_in_the_order_of_the_paper) {
  std::vector<std::string> names;
  for (const PaperItem& item : paper_items()) names.push_back(item.name);
  std::vector<std::string> expected;
  for (int i = 1; i <= 19; ++i) expected.push_back("fig" + std::to_string(i));
  for (int i = 1; i <= 3; ++i) expected.push_back("tab" + std::to_string(i));
  EXPECT_EQ(names, expected);
  EXPECT_EQ(find_paper_items({"all"}).size(), expected.size());
}

TEST(paper_items_test, names_are_sorted_and_doubles_dropped) {
  const std::vector<PaperItem> items = find_paper_items({"tab2", "fig3", "tab2"});
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].name, "fig3");
  EXPECT_EQ(items[1].number, "Table 2");
  EXPECT_THROW(find_paper_items({"fig20"}), UsageError);
}

TEST(paper_items_test, the_list_says_what_each_needs) {
  const std::string list = paper_item_list(7);
  for (const PaperItem& item : paper_items()) {
    EXPECT_NE(list.find("\n" + item.name + " "), std::string::npos) << item.name;
    EXPECT_TRUE(item.models.empty() != item.trainings.empty()) << item.name;
    for (const std::string& training : item.trainings) EXPECT_NO_THROW(find_training(training));
  }
  EXPECT_NE(list.find("3 trainings of 7 min: dvdp-full-10"), std::string::npos);
}

TEST(trainings_test, a_command_trains_what_the_table_compares) {
  EXPECT_EQ(training_command(find_training("dvdp-diagonal-30"), 2, "m.safetensors"),
            "penn train dvdp --minutes 2 --components 30 --covariance diagonal --length 500 --recalibration 0 -o "
            "m.safetensors");
  EXPECT_EQ(
      training_command(find_training("oup-trajectories-1000"), 2.5, "m.safetensors"),
      "penn train oup --minutes 2.5 --components 10 --length 1000 --recalibration 0 --dataset 1000 -o m.safetensors");
}

TEST(paper_numbers_test, every_row_belongs_to_a_training_with_its_settings) {
  for (const PaperAblation& row : kPaperAblation) {
    const Training& training = find_training(std::string(row.training));
    EXPECT_EQ(std::to_string(training.components), row.components);
    std::string size = row.trajectories;
    std::erase(size, ',');
    EXPECT_EQ(training.trajectories == 0 ? 300000 : training.trajectories, std::stoll(size));
  }
  for (const PaperCovariance& row : kPaperCovariance)
    EXPECT_EQ(find_training(std::string(row.training)).full, std::string(row.covariance) == "full");
}

TEST(test_trajectories_test, parameters_lie_in_the_box_and_are_the_stated_ones) {
  for (const std::string name : {"soup", "oup", "dvdp", "cfhn", "airfoil"}) {
    const System system = find_system(name);
    std::set<uint64_t> seeds;
    for (const TestTrajectory& test : test_trajectories(name)) {
      ASSERT_EQ(test.theta.size(), system.parameters.size()) << name << test.name;
      for (size_t k = 0; k < test.theta.size(); ++k) {
        EXPECT_GE(test.theta[k], system.parameters[k].range.low) << name << test.name;
        EXPECT_LE(test.theta[k], system.parameters[k].range.high) << name << test.name;
      }
      seeds.insert(test.seed);
    }
    EXPECT_EQ(seeds.size(), test_trajectories(name).size());
  }
  const auto& oup = test_trajectories("oup");
  for (const size_t i : {4, 5})
    EXPECT_TRUE(oup[i].theta[2] == 0.5 && oup[i].theta[4] == 2 &&
                std::abs(oup[i].theta[1] + oup[i].theta[3] - 1) < 1e-12);
  EXPECT_EQ(oup[6].theta, oup[1].theta);
  EXPECT_EQ(oup[7].theta, oup[1].theta);
  EXPECT_EQ(oup[6].length, 200);
  EXPECT_EQ(oup[7].length, 10000);
  EXPECT_EQ(ablation_trajectory().theta, (std::vector<double>{0.5, 0.2, 0.5, 0.8, 2}));
}

TEST(test_trajectories_test, the_neurons_are_synchronised_opposite_and_chasing) {
  const System system = find_system("cfhn");
  const int both = system.observation_index("x1x2");
  std::vector<std::vector<float>> z;
  for (const TestTrajectory& test : test_trajectories("cfhn"))
    z.push_back(simulate_test(system, both, test, {1500, 1500}).z);
  EXPECT_GT(correlation(z[0]), 0.8);
  EXPECT_LT(correlation(z[1]), -0.5);
  double best = correlation(z[2]);
  size_t lag = 0;
  for (size_t k = 1; k <= 30; ++k)  // up to 6 time units
    if (correlation(z[2], k) > best) best = correlation(z[2], lag = k);
  EXPECT_GT(lag, 0u) << "x1, drawn to x2, does not run after it";
  EXPECT_GT(best, correlation(z[2]) + 0.1);
}

TEST(test_trajectories_test, every_observation_sees_the_same_trajectory) {
  const System system = find_system("cfhn");
  const TestTrajectory& test = test_trajectories("cfhn")[0];
  const auto seen = [&](const char* name) {
    return simulate_test(system, system.observation_index(name), test, {1500, 1500});
  };
  const ObservedTrajectory both = seen("x1x2"), first = seen("x1"), mean = seen("mean");
  for (size_t i = 0; i < 1500; ++i) {
    ASSERT_EQ(first.z[i], both.z[2 * i]);
    ASSERT_NEAR(mean.z[i], (both.z[2 * i] + both.z[2 * i + 1]) / 2, 1e-5);
  }
}

TEST(test_trajectories_test, a_length_is_at_most_twice_the_longest_trained_and_not_below_the_shortest) {
  const System system = find_system("oup");
  const TestTrajectory& longest = test_trajectories("oup")[7];
  EXPECT_EQ(simulate_test(system, 0, longest, {200, 3000}).n, 6000);
  EXPECT_EQ(simulate_test(system, 0, longest, {200, 5000}).n, 10000);
  EXPECT_EQ(simulate_test(system, 0, longest, {200, 20000}).n, 10000);
  EXPECT_EQ(simulate_test(system, 0, test_trajectories("oup")[6], {500, 3000}).n, 500);
}

TEST(page_data_test, packed_numbers_come_back_as_they_were) {
  for (const size_t n : {1, 2, 3, 4}) {  // all paddings of base64: 4 n bytes modulo 3
    std::vector<float> values;
    for (size_t i = 0; i < n; ++i) values.push_back(1.5f - 3.25f * static_cast<float>(i));
    EXPECT_EQ(unpacked(packed_table(values, n, 1)), values);
  }
}

// Figure 2 with an untrained model of soup: the grid, the moments and the distance against the library.
TEST(draw_test, the_exact_figure_shows_the_exact_posterior) {
  const TestDirectory folder;
  write_untrained_models(folder / "models", folder / "pages");
  Session session(options_in(folder));
  const Json page = page_of("fig2", session);
  const Estimator& model = session.estimator("soup");
  const OuProcess process = ou_process(model.system(), model.system().exact.tau, model.system().exact.D);
  const auto& tests = test_trajectories("soup");
  const Json &exact = page.at("sections").at(1).at("panels"), &mixtures = page.at("sections").at(2).at("panels");
  ASSERT_EQ(exact.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const ObservedTrajectory z = simulate_test(model.system(), 0, tests[i], model.info().lengths);
    const OuPosterior posterior(process, z.z.data(), z.n);
    const std::vector<double> range = exact[i].at("range");
    const std::vector<float> values = unpacked(exact[i].at("values"));
    const size_t cells = exact[i].at("values").at("shape").at(0), at = 40 * cells + 52;
    const double theta[2] = {range[0] + 52.5 * (range[1] - range[0]) / static_cast<double>(cells),
                             range[2] + 40.5 * (range[3] - range[2]) / static_cast<double>(cells)};
    EXPECT_NEAR(values[at], std::exp(posterior.log_density(theta)), 1e-5 * values[at] + 1e-12);
    double mass = 0;  // the axes show all of it
    for (const float v : values)
      mass +=
          static_cast<double>(v) * (range[1] - range[0]) * (range[3] - range[2]) / static_cast<double>(cells * cells);
    EXPECT_NEAR(mass, 1, 0.01) << i;
    EXPECT_EQ(mixtures[i].at("range"), exact[i].at("range"));
  }
  const Evaluation again = evaluate(model, "soup", {.count = 150, .threads = 1});
  EXPECT_EQ(page.at("headline").at("ours"),
            fmt::format("{:.3f} ± {:.3f}", again.exact->gap.mean, again.exact->gap_error));
}

TEST(draw_test, estimates_and_errors_are_those_of_the_evaluation) {
  const TestDirectory folder;
  write_untrained_models(folder / "models", folder / "pages");
  Session session(options_in(folder));
  const Json page = page_of("fig3", session);
  const Evaluation again = evaluate(session.estimator("oup"), "oup", {.count = 150, .threads = 1, .keep = true});
  EXPECT_EQ(unpacked(page.at("evaluations").at("oup").at("truth")), again.report.kept.truth);
  EXPECT_EQ(unpacked(page.at("evaluations").at("oup").at("estimate")), again.report.kept.mean);
  const Json& rows = page.at("sections").at(2).at("panels").at(0).at("rows");
  for (size_t k = 0; k < 5; ++k) {
    EXPECT_EQ(rows[k].at("cells").at(1), spread_text(again.report.parameters[k].error));
    EXPECT_EQ(rows[k].at("cells").at(2), spread_text(kPaperOup.error[k]));
  }
  EXPECT_EQ(page.at("headline").at("paper"), "-6.495 / 1.974");
}

TEST(draw_test, densities_are_the_posteriors_of_the_estimator) {
  const TestDirectory folder;
  write_untrained_models(folder / "models", folder / "pages");
  Session session(options_in(folder));
  const Json page = page_of("fig5", session);
  const Estimator& model = session.estimator("oup");
  for (const TestTrajectory& test : test_trajectories("oup")) {
    const Json& posterior = page.at("posteriors").at("oup " + test.name);
    const ObservedTrajectory z = simulate_test(model.system(), 0, test, model.info().lengths);
    const float sampling = 0.1f;
    const GaussianMixture q = model.estimate(z.z.data(), 1, z.n, &sampling)[0].posterior.mixture();
    for (size_t j = 0; j < q.components(); ++j) {
      EXPECT_DOUBLE_EQ(posterior.at("weights").at(j), q.weight(j));
      EXPECT_DOUBLE_EQ(posterior.at("factors").at(j).at(1).at(3), q.factor(j)[1 * 5 + 3]);
    }
    EXPECT_EQ(posterior.at("truth"), Json(test.theta));
  }
  // The untrained models know one length only, and the page says where the paper shows another.
  EXPECT_NE(page.at("notes").dump().find("(h): 2000 samples instead of 10000"), std::string::npos);
}

TEST(draw_test, ours_and_the_papers_rows_alternate_in_the_ablation) {
  const TestDirectory folder;
  write_untrained_models(folder / "models", folder / "pages");
  Session session(options_in(folder));
  const Json page = page_of("tab2", session);
  for (const size_t group : {0, 1}) {
    const Json& rows = page.at("sections").at(group).at("panels").at(0).at("rows");
    ASSERT_EQ(rows.size(), 8u);
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(rows[i].at("paper"), i % 2 == 1);
    EXPECT_EQ(rows[5].at("cells").back(), spread_text(kPaperAblation[4 * group + 2].nll));
    EXPECT_EQ(rows[4].at("cells").back(),
              spread_text(session.evaluation(std::string(kPaperAblation[4 * group + 2].training)).report.nll));
  }
  EXPECT_EQ(page.at("models").size(), 8u);
}

TEST(session_test, a_missing_model_names_the_command_that_makes_it) {
  const TestDirectory folder;
  std::filesystem::create_directories(folder / "models");
  Session session(options_in(folder));
  try {
    session.estimator("cfhn-mean");
    FAIL();
  } catch (const MissingModel& error) {
    EXPECT_EQ(error.hint(), "make it with: penn train cfhn:mean --minutes 60 -o " +
                                (folder / "models/cfhn-mean.safetensors").string());
  }
}

TEST(session_test, trains_what_is_missing_and_keeps_what_is_finished) {
  const TestDirectory folder;
  ReproduceOptions options = options_in(folder);
  options.minutes = 3;
  std::vector<std::string> asked;
  options.train = [&](const Training& training, double minutes, const std::filesystem::path& model) {
    EXPECT_EQ(minutes, 3);
    EXPECT_EQ(model, folder / "pages" / "models" / (training.name + ".safetensors"));
    asked.push_back(training.name);
    if (asked.size() == 2) return false;  // interrupted
    write_untrained_model(model, training.system, training.components, training.full, training.trajectories);
    return true;
  };
  Session first(options);
  EXPECT_THROW(page_of("tab3", first), Interrupted);
  Session second(options);
  page_of("tab3", second);
  EXPECT_EQ(asked,
            (std::vector<std::string>{"dvdp-full-10", "dvdp-diagonal-10", "dvdp-diagonal-10", "dvdp-diagonal-30"}));
}

TEST(session_test, a_model_trained_otherwise_is_refused) {
  const TestDirectory folder;
  std::filesystem::create_directories(folder / "pages/models");
  write_untrained_model(folder / "pages/models/oup-trajectories-1000.safetensors", "oup", 10, true, 10000);
  Session session(options_in(folder));
  EXPECT_THROW(session.estimator("oup-trajectories-1000"), ModelError);
}

TEST(reproduce_test, writes_pages_and_an_index_and_never_replaces_other_files) {
  const TestDirectory folder;
  std::filesystem::create_directories(folder / "models");
  write_untrained_model(folder / "models/oup.safetensors", "oup");
  const ReproduceOptions options = options_in(folder);
  const std::vector<PageResult> results = reproduce(find_paper_items({"fig4", "fig7"}), options, true);
  EXPECT_EQ(results[0].problem, "");
  EXPECT_NE(results[1].problem.find("penn train dvdp"), std::string::npos);
  const std::string index = read_whole(options.folder / "index.html");
  EXPECT_NE(index.find("\"link\":\"fig4.html\""), std::string::npos);
  EXPECT_NE(index.find("penn train dvdp"), std::string::npos);
  EXPECT_NE(index.find("not made yet: penn reproduce fig1"), std::string::npos);
  EXPECT_THROW(reproduce(find_paper_items({"fig7"}), options, false), MissingModel);

  write_whole(options.folder / "fig1.html", "<p>mine</p>");
  EXPECT_THROW(reproduce(find_paper_items({"fig1"}), options, true), UsageError);
  EXPECT_EQ(read_whole(options.folder / "fig1.html"), "<p>mine</p>");
  reproduce(find_paper_items({"fig4"}), options, true);  // its own pages it replaces
  // A report of another command is somebody else's as well.
  write_whole(options.folder / "fig4.html",
              "<script type=\"application/json\" id=\"penn-data\">{\"kind\":\"posterior\"}</script>");
  EXPECT_THROW(reproduce(find_paper_items({"fig4"}), options, true), UsageError);
}

}  // namespace
}  // namespace penn
