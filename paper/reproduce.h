// `penn reproduce`: pages of the paper's figures and tables in a folder, and an index of all of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "paper/paper_items.h"
#include "paper/session.h"

namespace penn {

struct PageResult {
  PaperItem item;
  std::string file;     // "" where the page could not be made
  std::string problem;  // why not, and what to do; "" where it was made
};

// Writes FOLDER/NAME.html for every item and FOLDER/index.html. skip_missing: an item whose models are not there is
// left out and says so in the index; else MissingModel. Pages made before are replaced, other files never: UsageError
// before any work is done. Interrupted where options.progress or options.train said stop; what was finished stays.
std::vector<PageResult> reproduce(const std::vector<PaperItem>& items, const ReproduceOptions& options,
                                  bool skip_missing, const std::function<void(const PageResult&)>& report = nullptr);

}  // namespace penn
