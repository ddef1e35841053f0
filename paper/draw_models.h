// Figure 1 (architecture), Figure 17 (loss curves) and Table 1 (cost): about the models themselves.
#pragma once

#include "paper/page_data.h"

namespace penn {

PageData draw_architecture(const PaperItem& item, Session& session);  // Figure 1
PageData draw_loss_curves(const PaperItem& item, Session& session);   // 17
PageData draw_cost(const PaperItem& item, Session& session);          // Table 1

}  // namespace penn
