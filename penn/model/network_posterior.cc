#include "penn/model/network_posterior.h"

#include <vector>

#include "penn/model/parameter_box.h"
#include "penn/network/mixture_output.h"

namespace penn {

Posterior posterior_of(const Model& model, std::span<const float> raw, std::span<const double> scale_factors) {
  const GaussianMixture mixture = mixture_of(model.info.network.mixture, raw.data(), scale_factors);
  const size_t M = mixture.dimension();
  // Linear coordinates of the network lie in [-1, 1]: the affine map that takes these to the parameter, and leaves box
  // coordinates as they are.
  const Box box = parameter_box(model.system);
  std::vector<double> low = box.lo, high = box.hi;
  const std::vector<double> minus_one(M, -1), plus_one(M, 1);
  Coordinates coordinates;
  for (size_t k = 0; k < M; ++k) {
    coordinates.push_back(model.info.network.is_probit(k) ? Coordinate::kProbit : Coordinate::kLinear);
    if (model.info.network.is_probit(k)) low[k] = -1, high[k] = 1;
  }
  return {mixture.unscaled(minus_one, plus_one).rescaled(low, high), std::move(coordinates), box};
}

}  // namespace penn
