// Every figure and table of the paper, by the paper's own numbering: what it shows and what redrawing it needs.
#pragma once

#include <string>
#include <vector>

namespace penn {

struct PaperItem {
  std::string name;                    // "fig5", "tab2": what the command line calls it, and the name of its page
  std::string number;                  // "Figure 5"
  std::string title;                   // a few words
  std::vector<std::string> models;     // shipped models it is drawn from
  std::vector<std::string> trainings;  // trained for it (trainings.h), where the folder does not hold them yet
  double minutes = 0;  // roughly, on two cores with the default number of trajectories, without trainings
};

// In the order of the paper: figures, then tables.
const std::vector<PaperItem>& paper_items();

// What the command line asks for, in the order of the paper, each once; "all" is everything. UsageError for a name that
// is none.
std::vector<PaperItem> find_paper_items(const std::vector<std::string>& names);

// The table of `penn reproduce --list`. minutes: the budget of one training.
std::string paper_item_list(double minutes);

}  // namespace penn
