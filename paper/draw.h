// One function per figure and table of the paper: results of the models in, the data of a page out.
#pragma once

#include <array>
#include <utility>

#include "paper/page_data.h"

namespace penn {

// MissingModel where a model is not there, Interrupted where the caller stopped it.
PageData draw_paper_item(const PaperItem& item, Session& session);

using DrawPage = PageData (*)(const PaperItem& item, Session& session);

// What several of them say: a table of errors, sentences about the trajectories, the list 0 .. M-1.
void add_error_table(PageData& page, const System& system, const CalibrationReport& report,
                     const std::vector<Spread>& paper);
std::string thousands(int64_t n);  // 20,000
void say_trajectories(PageData& page, const Evaluation& evaluation, const std::string& of_paper);
// -ln q(truth); no number where the truth lies on an edge of the box: there a density in probit coordinates has none
// (probit_coordinates.h).
std::string surprise_text(const Answer& answer, int decimals = 2);
std::vector<int> all_parameters(const System& system);
std::vector<Panel> estimates_panels(const std::string& evaluation, size_t columns);
void add_trajectories(PageData& page, Session& session, const std::string& model,
                      const std::vector<TestTrajectory>& tests, int of_paper,
                      bool overlay);  // one section; of_paper: how many it shows
// Densities of pairs of parameters: a section for each test trajectory, with the trajectory itself where asked for; a
// table of their correlations and of -ln q(truth), with what the paper says of each pair in its last row; and as
// headline how many true values lie within two SDs.
struct DrawnPairs {
  std::vector<std::pair<int, int>> pairs;
  std::vector<std::string> of_paper;  // as many
  double threshold = 0.01;            // of a component's weight
  bool with_trajectory = false;
};
void add_pair_densities(PageData& page, Session& session, const std::string& model, const DrawnPairs& drawn);
double sd_of_sum(const Inference& inference, size_t a, size_t b);  // of theta_a + theta_b
double correlation_of(const CalibrationReport& report, const std::string& a, const std::string& b);
// Mean and SD of all correlations as heat maps, and beside what the paper says of some pairs: {first, second, the
// paper's words or number}.
void add_couplings(PageData& page, const System& system, const CalibrationReport& report,
                   const std::vector<std::array<const char*, 3>>& said);

}  // namespace penn
