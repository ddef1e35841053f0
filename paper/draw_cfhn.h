// Figures 11 to 13: two coupled FitzHugh-Nagumo neurons, seen in three ways.
#pragma once

#include "paper/page_data.h"

namespace penn {

PageData draw_cfhn_estimates(const PaperItem& item, Session& session);     // 11
PageData draw_cfhn_trajectories(const PaperItem& item, Session& session);  // 12
PageData draw_cfhn_densities(const PaperItem& item, Session& session);     // 13

}  // namespace penn
