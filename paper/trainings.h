// The models that Tables 2 and 3 compare. Training itself comes from the caller (`Train`), so that it can be watched
// and interrupted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "penn/model/model_file.h"

namespace penn {

struct Training {
  std::string name;          // of the model file, without ending
  std::string system;        // a shipped one
  int components = 10;       // N
  bool full = true;          // covariance
  int64_t trajectories = 0;  // N_train; 0: new ones for every batch
};

// Trains for `minutes`, or goes on where the folder holds an interrupted training; false: interrupted again.
using Train = std::function<bool(const Training& training, double minutes, const std::filesystem::path& model)>;

const std::vector<Training>& trainings();
const Training& find_training(const std::string& name);  // Error for a name that is none

// The same as a command, for people.
std::string training_command(const Training& training, double minutes, const std::filesystem::path& model);

// ModelError where the file was trained otherwise: then it is not what the table compares.
void check_training(const Model& model, const Training& training);

}  // namespace penn
