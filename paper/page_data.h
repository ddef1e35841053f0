// The data of one page, {"kind": "reproduction", ...} of web/README.md, put together part by part.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "paper/paper_items.h"
#include "paper/session.h"
#include "penn/base/json_box.h"

namespace penn {

using Json = nlohmann::ordered_json;
using Panel = JsonBox;

class PageData {
 public:
  PageData(const PaperItem& item, std::string caption, const ReproduceOptions& options);

  // One number that stands for the page in the index. paper: "" where it prints none.
  void headline(const std::string& what, const std::string& ours, const std::string& paper);
  void note(const std::string& text);
  const Estimator& use_model(const std::string& name,
                             Session& session);  // opens it; how it was trained is shown, once per name
  void section(const std::string& heading, const std::string& note, std::vector<Panel> panels);
  // Rows of text, ours or the paper's.
  struct Row {
    std::vector<std::string> cells;
    bool is_paper = false;
  };
  void table(const std::string& heading, const std::string& note, const std::vector<std::string>& head,
             const std::vector<Row>& rows);

  // Keeps the data panels draw from; returns the key that names them.
  std::string add_evaluation(const std::string& name, const Estimator& model, const Evaluation& evaluation,
                             const std::vector<int>& columns, bool with_sd);
  std::string add_posterior(const std::string& key, const Estimator& model, const Answer& answer);
  void note_length(
      const Estimator& model,
      const Answer& answer);  // where it is not the paper's, or beyond what was trained; add_posterior does so itself

  const Json& json() const { return *json_; }

 private:
  JsonBox json_;
};

// ---- panels; indices of parameters count within the system, of an evaluation within its columns
Panel trajectory_panel(const std::string& title, const Estimator& model, const Answer& answer, bool overlay = false);
// range: {low, high} of the two axes, or none
Panel pair_panel(const std::string& title, const std::string& posterior, int x, int y, double threshold,
                 const std::vector<double>& range = {});
// A density on a grid of cells x cells over range {x0, x1, y0, y1}, row 0 at y0.
Panel density_panel(const std::string& title, const System& system, int x, int y, const std::vector<double>& range,
                    int cells, const std::vector<float>& values, const std::vector<double>& truth,
                    const std::vector<double>& estimate);
Panel estimates_panel(const std::string& evaluation, int column);
Panel error_panel(const std::string& evaluation, int column, int x, int y);
Panel z_panel(const std::string& title, const std::string& evaluation, const std::vector<int>& columns);
Panel qq_panel(const std::string& evaluation, int column);
Panel matrix_panel(const std::string& title, const System& system, const std::vector<std::vector<double>>& matrix,
                   bool diverging);
// A loss curve: train and validation of one model against minutes.
Panel loss_panel(const std::string& title, const ModelInfo& info);
// Validation curves of several models against trajectories seen.
struct NamedCurve {
  std::string name;
  const ModelInfo* info;
};
Panel curves_panel(const std::string& title, const std::vector<NamedCurve>& curves);

// Mean and SD of the pairwise correlations as full matrices.
std::vector<std::vector<double>> correlation_matrix(const CalibrationReport& report, bool sd);

std::string parameters_text(const System& system, const std::vector<double>& theta);  // "lg τ = 0.5, D_fGn = 0.2, ..."
std::string spread_text(const Spread& spread, int decimals = 3);                      // "0.086 / 0.082"

}  // namespace penn
