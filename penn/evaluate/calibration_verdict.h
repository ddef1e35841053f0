// What a calibration report says in words, and whether it passed.
#pragma once

#include "penn/evaluate/calibration.h"

namespace penn {

// Fills failed, findings and verdict of a report from its numbers; thresholds in calibration_verdict.cc and
// docs/inference.md.
void judge_calibration(CalibrationReport& report);

}  // namespace penn
