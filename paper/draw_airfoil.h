// Figures 14 to 16: the airfoil.
#pragma once

#include "paper/page_data.h"

namespace penn {

PageData draw_airfoil_estimates(const PaperItem& item, Session& session);  // 14
PageData draw_airfoil_couplings(const PaperItem& item, Session& session);  // 15
PageData draw_airfoil_densities(const PaperItem& item, Session& session);  // 16

}  // namespace penn
