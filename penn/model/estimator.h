// A model at work: trajectories in, posteriors out. The model comes from a file or from a training that still runs.
//   const Estimator estimator(open_model(find_model("oup")));
//   const std::vector<Estimate> answers = estimator.estimate(z, B, n, sampling);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penn/model/model_file.h"
#include "penn/posterior/posterior.h"

namespace penn {

// What of a model an answer or an evaluation needs; refers to it.
struct ModelContext {
  std::string name;  // as the user calls it
  const System& system;
  int observation;
  const ModelInfo& info;
};

struct Estimate {
  Posterior posterior;    // in the parameters' own units
  double typicality = 1;  // see Typicality in penn/model/typicality.h: small where the network has not seen the like
};

class Estimator {
 public:
  explicit Estimator(Model model, int threads = 0);  // threads 0: one per processor

  const ModelInfo& info() const { return model_.info; }
  const System& system() const { return model_.system; }
  int observation() const { return model_.observation; }
  ModelContext context(const std::string& name) const { return {name, model_.system, model_.observation, model_.info}; }

  // z (B, n, d) in the units of the observation, finite; sampling (B): time between samples. A trajectory's estimate
  // does not depend on its neighbours or on the number of threads.
  std::vector<Estimate> estimate(const float* z, int64_t B, int64_t n, const float* sampling) const;

 private:
  Model model_;
  int threads_;
};

}  // namespace penn
