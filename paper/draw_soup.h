// Figure 2: the exact posterior of the standard Ornstein-Uhlenbeck process beside the mixture, on the same axes.
#pragma once

#include "paper/page_data.h"

namespace penn {

PageData draw_exact(const PaperItem& item, Session& session);  // 2

}  // namespace penn
