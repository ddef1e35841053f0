// The estimator on recordings.
//   const Estimator estimator(open_model(find_model("oup")));
//   const std::vector<Inference> answers = infer(estimator, "oup", read_observations("bead.csv",
//   observation_format(estimator)));
#pragma once

#include "penn/answer/inference.h"

namespace penn {

ObservationFormat observation_format(const Estimator& estimator);

// A recording as network and predictive check see it. Recorded values are rounded where simulated ones are not: they
// are dithered (dither.h), except in channels whose training data are quantised themselves.
struct SeenTrajectory {
  std::vector<float> z;                     // (n, d)
  std::vector<Quantisation> quantisations;  // (d)
};
SeenTrajectory as_seen(const ModelInfo& model, const ObservedTrajectory& observed);

// The estimator on every trajectory; those of one length go together. model_name: as the user calls it.
std::vector<Inference> infer(const Estimator& estimator, const std::string& model_name,
                             const std::vector<ObservedTrajectory>& observed);

}  // namespace penn
