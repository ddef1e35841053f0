// The public simulator: a system and an observation in, pairs (theta, z) out, into memory the caller owns.
//
//   const SystemChoice choice = load_system("oup");
//   Simulator simulator(choice.system, choice.observation, {.seed = 1});
//   std::vector<float> theta(n * simulator.parameters()), z(n * simulator.length() * simulator.channels());
//   simulator.run(0, n, theta.data(), z.data());
//
// Trajectory i of a seed is the same bits for any number of threads, any batch and any n.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "penn/simulate/kernel.h"
#include "penn/system/system.h"

namespace penn {

// kAutomatic: compiled, or by lanes where there is no compiler. kInterpreted is the slow reference. kNoise makes the
// noise but takes no steps: for benchmarks only.
enum class KernelChoice { kAutomatic, kCompiled, kLanes, kInterpreted, kNoise };

struct SimulatorOptions {
  uint64_t seed = 1;
  int threads = 0;                           // 0: one per processor
  int64_t length = 0;                        // samples; 0: the (longest) length of the system
  std::map<std::string, double> fixed = {};  // parameters and nuisance parameters with a given value
  KernelChoice kernel = KernelChoice::kAutomatic;
};

struct SimulationCount {
  int64_t kept = 0, discarded = 0;  // discarded: left the finite numbers; theta and noise were drawn again
  double discarded_fraction() const {
    return kept + discarded ? static_cast<double>(discarded) / static_cast<double>(kept + discarded) : 0;
  }
};

class Simulator {
 public:
  Simulator(const System& system, int observation, const SimulatorOptions& options = {});
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  int64_t parameters() const;  // M
  int64_t channels() const;    // d
  int64_t length() const;      // n
  const System& system() const;
  std::string kernel_description() const;
  const std::string& kernel_warning() const;  // why the interpreter is used, or ""

  // Trajectories first .. first + count - 1: theta (count, M), z (count, n, d), and where wanted the sampling interval
  // of each (count). Only finite numbers are ever written. Throws SystemError where a system diverges over and over
  // again.
  SimulationCount run(uint64_t first, int64_t count, float* theta, float* z, float* sampling = nullptr) const;

  // Another length with the same compiled system: nothing is compiled again.
  void set_length(int64_t samples);

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace penn
