// Trains the models that Tables 2 and 3 compare, with the options `penn train` would have.
#pragma once

#include <filesystem>
#include <functional>

#include "paper/trainings.h"

namespace penn {

using TrainProgress = std::function<bool(double fraction)>;  // of the minutes; false stops

// Trains, or goes on with an interrupted training; false: interrupted. ModelError where it was begun with other
// options.
bool train_model(const Training& training, double minutes, int threads, const std::filesystem::path& model,
                 const TrainProgress& progress);

}  // namespace penn
