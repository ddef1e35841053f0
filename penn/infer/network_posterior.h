// From what a network says, its free vector, to a posterior in the parameters' own units.
#pragma once

#include <span>

#include "penn/density/posterior.h"
#include "penn/model/model_file.h"

namespace penn {

// free (K), finite. widths (M): what the widths of the components are multiplied with, or empty. They are so before they are limited (least_precision):
// no component becomes wider than the box, on which the combination of trajectories relies (penn/density/mixture_product.h).
Posterior posterior_of(const ModelFile& model, std::span<const float> free, std::span<const double> widths);

}  // namespace penn
