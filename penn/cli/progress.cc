#include "penn/cli/progress.h"

#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "penn/evaluate/recalibrate.h"

namespace penn {
namespace {
volatile std::sig_atomic_t interrupts = 0;
}

ProgressBar::ProgressBar(std::string what, int64_t total)
    : what_(std::move(what)),
      total_(std::max<int64_t>(total, 1)),
      is_terminal_(isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()),
      shown_(start_) {}

ProgressBar::~ProgressBar() {
  if (is_terminal_) fmt::print(stderr, "\r\033[K");
}

void ProgressBar::update(int64_t done) {
  if (!is_terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - shown_ < std::chrono::milliseconds(100) && done < total_) return;
  shown_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double fraction = static_cast<double>(done) / static_cast<double>(total_);
  constexpr int kWidth = 30;
  const int filled = static_cast<int>(fraction * kWidth);
  fmt::print(stderr, "\r{} [{}{}] {:3.0f} %  {:.0f}/s  {:.0f} s left\033[K", what_, std::string(filled, '#'),
             std::string(kWidth - filled, '.'), 100 * fraction, static_cast<double>(done) / seconds,
             fraction > 0 ? seconds / fraction - seconds : 0.0);
  std::fflush(stderr);
}

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = [](int signal) {
    if (interrupts > 0) _exit(128 + signal);
    interrupts = 1;
  };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
}

bool is_interrupted() {
  return interrupts > 0;
}

void warn_of_divergence(double fraction) {
  if (fraction <= 0.02) return;
  fmt::print(
      stderr,
      "warning: {:.0f} % of the trajectories diverged and were drawn again: the parameters are no longer uniform "
      "in the box, and a posterior is given that the system does not diverge\n"
      "hint: narrow the ranges to where the system is stable, or use a smaller step\n",
      100 * fraction);
}

void warn_of_wrong_scales(const Recalibration& recalibration) {
  const bool is_wrong = std::any_of(recalibration.factors.begin(), recalibration.factors.end(), [](double f) {
    return std::abs(std::log(f)) > 0.95 * std::log(kLargestScaleFactor);
  });
  if (is_wrong)
    fmt::print(stderr,
               "warning: some scales are so far off that they were corrected only in part\nhint: train longer, and "
               "look at `penn evaluate`\n");
}

}  // namespace penn
