// Figures 18 and 19, Tables 2 and 3: models trained only to be compared.
#pragma once

#include "paper/page_data.h"

namespace penn {

PageData draw_ablation(const PaperItem& item, Session& session);          // 18
PageData draw_ablation_table(const PaperItem& item, Session& session);    // 2
PageData draw_covariance(const PaperItem& item, Session& session);        // 19
PageData draw_covariance_table(const PaperItem& item, Session& session);  // 3

}  // namespace penn
