#include "paper/paper_items.h"

#include <fmt/core.h>

#include <algorithm>

#include "penn/base/error.h"

namespace penn {
namespace {

using Names = std::vector<std::string>;

const Names kNeurons = {"cfhn-x1x2", "cfhn-x1", "cfhn-mean"};
const Names kSeven = {"soup", "oup", "dvdp", "cfhn-x1x2", "cfhn-x1", "cfhn-mean", "airfoil"};
const Names kAblation = {"oup-components-1",       "oup-components-2",       "oup-components-10",
                         "oup-components-20",      "oup-trajectories-1000",  "oup-trajectories-10000",
                         "oup-trajectories-50000", "oup-trajectories-100000"};
const Names kCovariance = {"dvdp-full-10", "dvdp-diagonal-10", "dvdp-diagonal-30"};

std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string duration(double minutes) {
  if (minutes < 1) return "seconds";
  if (minutes < 90) return fmt::format("{:.0f} min", minutes);
  return fmt::format("{:.1f} h", minutes / 60);
}

}  // namespace

const std::vector<PaperItem>& paper_items() {
  static const std::vector<PaperItem> items = {
      {"fig1", "Figure 1", "architecture of the network", {"oup"}, {}, 0.1},
      {"fig2", "Figure 2", "SOUP, exact and estimated densities", {"soup"}, {}, 0.4},
      {"fig3", "Figure 3", "OUP, estimates against truth, error maps", {"oup"}, {}, 0.1},
      {"fig4", "Figure 4", "OUP, eight trajectories", {"oup"}, {}, 0.1},
      {"fig5", "Figure 5", "OUP, densities for the eight trajectories", {"oup"}, {}, 0.1},
      {"fig6", "Figure 6", "DVDP, estimates against truth, error maps", {"dvdp"}, {}, 0.1},
      {"fig7", "Figure 7", "DVDP, three trajectories", {"dvdp"}, {}, 0.1},
      {"fig8", "Figure 8", "DVDP, densities for the three trajectories", {"dvdp"}, {}, 0.1},
      {"fig9", "Figure 9", "DVDP, calibration by z-scores", {"dvdp"}, {}, 0.1},
      {"fig10", "Figure 10", "DVDP, correlations of the parameters", {"dvdp"}, {}, 0.1},
      {"fig11", "Figure 11", "CFHN, estimates against truth, three observations", kNeurons, {}, 0.5},
      {"fig12", "Figure 12", "CFHN, three trajectories", {"cfhn-x1x2"}, {}, 0.1},
      {"fig13", "Figure 13", "CFHN, densities for three trajectories and observations", kNeurons, {}, 0.1},
      {"fig14", "Figure 14", "airfoil, estimates against truth", {"airfoil"}, {}, 0.3},
      {"fig15", "Figure 15", "airfoil, correlations of the parameters", {"airfoil"}, {}, 0.3},
      {"fig16", "Figure 16", "airfoil, trajectories and densities", {"airfoil"}, {}, 0.1},
      {"fig17", "Figure 17", "loss curves of the seven models", kSeven, {}, 0.1},
      {"fig18", "Figure 18", "ablation, densities and loss curves", {}, kAblation, 0.1},
      {"fig19", "Figure 19", "full against diagonal covariance, densities", {}, kCovariance, 0.1},
      {"tab1", "Table 1", "cost of the seven models", kSeven, {}, 0.3},
      {"tab2", "Table 2", "ablation by components and training trajectories", {}, kAblation, 1},
      {"tab3", "Table 3", "full against diagonal covariance, NLL", {}, kCovariance, 0.3},
  };
  return items;
}

std::vector<PaperItem> find_paper_items(const std::vector<std::string>& names) {
  const std::vector<PaperItem>& all = paper_items();
  for (const std::string& name : names)
    if (name != "all" && std::none_of(all.begin(), all.end(), [&](const PaperItem& item) { return item.name == name; }))
      throw UsageError(fmt::format("the paper has no '{}'", name),
                       "give fig1 to fig19, tab1 to tab3, or all; see `penn reproduce --list`");
  std::vector<PaperItem> chosen;
  for (const PaperItem& item : all)
    if (std::any_of(names.begin(), names.end(),
                    [&](const std::string& name) { return name == "all" || name == item.name; }))
      chosen.push_back(item);
  return chosen;
}

std::string paper_item_list(double minutes) {
  std::string text = fmt::format("{:<6} {:<10} {:<56} {:<10} needs\n", "name", "paper", "what", "time");
  for (const PaperItem& item : paper_items()) {
    const double trainings = static_cast<double>(item.trainings.size());
    const std::string needs =
        item.trainings.empty()
            ? fmt::format("{} {}", item.models.size() == 1 ? "model" : "models", joined(item.models))
            : fmt::format("{:.0f} trainings of {:g} min: {}", trainings, minutes, joined(item.trainings));
    text += fmt::format("{:<6} {:<10} {:<56} {:<10} {}\n", item.name, item.number, item.title,
                        duration(item.minutes + trainings * minutes), needs);
  }
  return text +
         "\nTimes are for two cores and 20,000 trajectories. fig18 and tab2 share their trainings, as do fig19 and "
         "tab3; a finished training in the\n"
         "folder is kept, an interrupted one goes on. `all` makes every page and an index.\n";
}

}  // namespace penn
