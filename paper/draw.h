// One function per figure and table of the paper: results of the models in, the data of a page out.
#pragma once

#include <array>
#include <utility>

#include "paper/page_data.h"

namespace penn {

// MissingModel where a model is not there, Interrupted where the caller stopped it.
PageData draw_paper_item(const PaperItem& item, Session& session);

// ---- by system; in files draw_*.cc
using DrawPage = PageData (*)(const PaperItem& item, Session& session);
PageData draw_architecture(const PaperItem& item, Session& session);     // Figure 1
PageData draw_exact(const PaperItem& item, Session& session);            // 2
PageData draw_oup_estimates(const PaperItem& item, Session& session);    // 3
PageData draw_oup_trajectories(const PaperItem& item, Session& session);  // 4
PageData draw_oup_densities(const PaperItem& item, Session& session);    // 5
PageData draw_dvdp_estimates(const PaperItem& item, Session& session);   // 6
PageData draw_dvdp_trajectories(const PaperItem& item, Session& session);  // 7
PageData draw_dvdp_densities(const PaperItem& item, Session& session);   // 8
PageData draw_dvdp_calibration(const PaperItem& item, Session& session);  // 9
PageData draw_dvdp_couplings(const PaperItem& item, Session& session);   // 10
PageData draw_cfhn_estimates(const PaperItem& item, Session& session);   // 11
PageData draw_cfhn_trajectories(const PaperItem& item, Session& session);  // 12
PageData draw_cfhn_densities(const PaperItem& item, Session& session);   // 13
PageData draw_airfoil_estimates(const PaperItem& item, Session& session);  // 14
PageData draw_airfoil_couplings(const PaperItem& item, Session& session);  // 15
PageData draw_airfoil_densities(const PaperItem& item, Session& session);  // 16
PageData draw_loss_curves(const PaperItem& item, Session& session);      // 17
PageData draw_ablation(const PaperItem& item, Session& session);         // 18
PageData draw_covariance(const PaperItem& item, Session& session);       // 19
PageData draw_cost(const PaperItem& item, Session& session);             // Table 1
PageData draw_ablation_table(const PaperItem& item, Session& session);   // 2
PageData draw_covariance_table(const PaperItem& item, Session& session);  // 3

// What several of them say: a table of errors, sentences about the trajectories, the list 0 .. M-1.
void add_error_table(PageData& page, const System& system, const CalibrationReport& report, const std::vector<Spread>& paper);
std::string thousands(int64_t n);  // 20,000
void say_trajectories(PageData& page, const Evaluation& evaluation, const std::string& of_paper);
// -ln q(truth); no number where the truth lies on an edge of the box: there a density in box coordinates has none (box_coordinates.h).
std::string surprise_text(const Answer& answer, int decimals = 2);
std::vector<int> all_parameters(const System& system);
std::vector<Panel> estimates_panels(const std::string& evaluation, size_t columns);
void add_trajectories(PageData& page, Session& session, const std::string& model, const std::vector<TestTrajectory>& tests, int of_paper, bool overlay);  // one section; of_paper: how many it shows
// Densities of pairs of parameters: a section for each test trajectory, with the trajectory itself where asked for; a table of their correlations
// and of -ln q(truth), with what the paper says of each pair in its last row; and as headline how many true values lie within two SDs.
struct DrawnPairs {
  std::vector<std::pair<int, int>> pairs;
  std::vector<std::string> of_paper;  // as many
  double threshold = 0.01;            // of a component's weight
  bool with_trajectory = false;
};
void add_pair_densities(PageData& page, Session& session, const std::string& model, const DrawnPairs& drawn);
double sd_of_sum(const Inference& inference, size_t a, size_t b);  // of theta_a + theta_b
double correlation_of(const CalibrationReport& report, const std::string& a, const std::string& b);
// Mean and SD of all correlations as heat maps, and beside what the paper says of some pairs: {first, second, the paper's words or number}.
void add_couplings(PageData& page, const System& system, const CalibrationReport& report, const std::vector<std::array<const char*, 3>>& said);

}  // namespace penn
