// From the raw output of a network to a posterior in the parameters' own units.
#pragma once

#include <span>

#include "penn/model/model_file.h"
#include "penn/posterior/posterior.h"

namespace penn {

// raw (K), finite. scale_factors (M): what the scale_factors of the components are multiplied with, or empty. They are
// so before they are limited (precision_floor): no component becomes wider than the box, on which the combination of
// trajectories relies (penn/posterior/mixture_product.h).
Posterior posterior_of(const Model& model, std::span<const float> raw, std::span<const double> scale_factors);

}  // namespace penn
