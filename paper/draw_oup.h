// Figures 3 to 5: the Ornstein-Uhlenbeck process with fractional Gaussian and Levy noise.
#pragma once

#include "paper/page_data.h"

namespace penn {

PageData draw_oup_estimates(const PaperItem& item, Session& session);     // 3
PageData draw_oup_trajectories(const PaperItem& item, Session& session);  // 4
PageData draw_oup_densities(const PaperItem& item, Session& session);     // 5

}  // namespace penn
