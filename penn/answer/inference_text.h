// An inference for programs (JSON) and for people (a table and sentences).
#pragma once

#include "penn/answer/inference.h"

namespace penn {

nlohmann::ordered_json inference_to_json(const Inference& inference);
std::string inference_table(const Inference& inference);

}  // namespace penn
