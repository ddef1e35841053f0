// A progress bar on a terminal, nothing in a pipe; and Ctrl-C as a flag, so that work can stop cleanly.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "penn/model/recalibration.h"

namespace penn {

class ProgressBar {
 public:
  ProgressBar(std::string what, int64_t total);
  ~ProgressBar();  // wipes the line
  void update(int64_t done);

 private:
  std::string what_;
  int64_t total_;
  bool is_terminal_;
  std::chrono::steady_clock::time_point start_, shown_;
};

// From now on SIGINT, SIGTERM and SIGHUP only set a flag; a second one ends the program at once.
void catch_interrupts();
bool is_interrupted();

// Says on standard error that many trajectories diverged, where it was more than one in fifty: what was drawn is then
// no longer uniform in the box.
void warn_of_divergence(double fraction);
// The same where a width is so wrong that it was corrected only in part.
void warn_of_wrong_scales(const Recalibration& recalibration);

}  // namespace penn
