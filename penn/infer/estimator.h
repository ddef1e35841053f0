// A trained model at work: trajectories in, posteriors out. Plain code, so that an answer does not wait for a tensor library to load.
//   const Estimator estimator(open_model(find_model("oup")));
//   const std::vector<Estimate> answers = estimator.estimate(z, B, n, sampling);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "penn/density/posterior.h"
#include "penn/model/model_file.h"

namespace penn {

struct Estimate {
  Posterior posterior;     // in the parameters' own units
  double familiarity = 1;  // see Familiarity in penn/model/familiarity.h: small where the network has not seen the like
};

class PlainNetwork;

class Estimator {
 public:
  // threads 0: one per processor. ModelError where the network's tensors do not fit its description.
  explicit Estimator(ModelFile model, int threads = 0);
  ~Estimator();
  Estimator(Estimator&&) noexcept;

  const ModelInfo& info() const { return model_.info; }
  const System& system() const { return model_.system; }
  int observation() const { return model_.observation; }

  // z (B, n, d) in the units of the observation, finite; sampling (B): time between samples. A trajectory's estimate does not depend
  // on its neighbours or on the number of threads.
  std::vector<Estimate> estimate(const float* z, int64_t B, int64_t n, const float* sampling) const;

 private:
  ModelFile model_;
  std::unique_ptr<PlainNetwork> network_;
  int threads_;
};

}  // namespace penn
