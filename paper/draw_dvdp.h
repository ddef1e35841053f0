// Figures 6 to 10: the Duffing-van der Pol oscillator.
#pragma once

#include "paper/page_data.h"

namespace penn {

PageData draw_dvdp_estimates(const PaperItem& item, Session& session);     // 6
PageData draw_dvdp_trajectories(const PaperItem& item, Session& session);  // 7
PageData draw_dvdp_densities(const PaperItem& item, Session& session);     // 8
PageData draw_dvdp_calibration(const PaperItem& item, Session& session);   // 9
PageData draw_dvdp_couplings(const PaperItem& item, Session& session);     // 10

}  // namespace penn
