// The answer to "what do these data say?": posterior, its numbers, reasons to doubt it, and a verdict in words.
//   const Estimator estimator(open_model(find_model("oup")));
//   const std::vector<Inference> answers = infer(estimator, "oup", read_observations("bead.csv",
//   observation_format(estimator)));
// In linear coordinates (posterior.h) mean, SD, quantiles and contraction are those of the mixture as it is; draws
// (draws.h) are cut to the box.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penn/answer/predictive.h"
#include "penn/answer/verdict.h"
#include "penn/data/dither.h"
#include "penn/data/observation.h"
#include "penn/model/estimator.h"

namespace penn {

// Mass outside the box that is worth a warning (linear coordinates). A Gaussian centred on an edge has half of its mass
// beyond it, so less is what a right posterior near an edge looks like: of 1,000 trajectories of oup itself, half have
// more than 13 % outside, one in a hundred more than 47 %.
inline constexpr double kLeakWarning = 0.55;
inline constexpr std::array<double, 7> kQuantiles = {0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975};

struct Inference {
  std::string source,
      model;  // source: file, and index where it holds several ("many.npy[3]"); "3 trajectories" where combined
  std::vector<std::string> sources = {};  // of the trajectories that were combined; else empty
  uint64_t fingerprint = 0;               // of the data, to notice one trajectory given twice
  std::vector<std::string> parameters;    // (M) names
  Box box;
  int64_t n = 0;                           // samples; of all trajectories together where combined
  double sampling = 0, sampling_high = 0;  // the same, unless trajectories of several are combined
  bool other_sampling = false;             // than the model was trained for
  bool sampling_assumed = false;
  std::string reading = {};  // of a CSV file: "time from 't', x from 'velocity'"
  int64_t combined = 1;      // trajectories
  Posterior posterior;
  double typicality = 1, outside_mass = 0;
  // False: unlike the training data, another sampling, stuck, mostly outside the box, or combined from what does not
  // fit together; there is no verdict then.
  bool trusted = true;
  std::vector<double> mean, median, sd;
  std::vector<std::vector<double>> quantiles;  // (kQuantiles, M)
  DenseMatrix correlation;
  PosteriorVerdict verdict;
  std::vector<std::string> warnings;
  std::optional<PredictiveCheck> predictive;
};

// Reasons to doubt that show before any posterior: length, sampling, values outside what was trained, a line that does
// not move.
std::vector<std::string> observation_warnings(const ModelContext& model, const ObservedTrajectory& observed,
                                              std::span<const Quantisation> quantisations = {});

// Everything that follows from one posterior.
Inference make_inference(const ModelContext& model, const ObservedTrajectory& observed, const Estimate& estimate,
                         std::span<const Quantisation> quantisations = {});

// Several trajectories of one system with the same parameters: evidence multiplied, prior counted once. Disagreement,
// and a trajectory that is there twice, are warnings.
Inference combine_inferences(std::span<const Inference> single);

}  // namespace penn
