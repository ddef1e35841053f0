// The models that `penn serve` offers: found and loaded once, before the first request, and known by name from then on.
// A request can only pick a name from this table; nothing of it ever becomes a path.
#pragma once

#include <string>
#include <vector>

#include "penn/model/estimator.h"

namespace penn {

struct ServedModel {
  std::string name;  // the file's, without folder and ending
  Estimator estimator;
};

class ModelTable {
 public:
  // given: model files, or folders of them; then the shipped models, where no given one has the name. Files in folders
  // that cannot be loaded are left out with a warning; ModelError for a file given by name, UsageError for two given
  // ones of one name. threads: of one estimate.
  ModelTable(const std::vector<std::string>& given, int threads, std::vector<std::string>& warnings);

  const std::vector<ServedModel>& models() const { return models_; }
  const ServedModel* find(const std::string& name) const;  // null where there is none

 private:
  std::vector<ServedModel> models_;  // sorted by name
};

}  // namespace penn
