// A calibration for people (a table) and for programs (JSON with everything a page needs to draw).
#pragma once

#include "penn/evaluate/calibration.h"

namespace penn {

std::string calibration_table(const CalibrationReport& report);
nlohmann::ordered_json calibration_to_json(const CalibrationReport& report);

}  // namespace penn
