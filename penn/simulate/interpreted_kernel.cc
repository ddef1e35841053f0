// The reference: walks the expression graph for every lane and step in double precision.
#include "penn/simulate/interpreted_kernel.h"

#include <cmath>

#include "penn/noise/lane_group.h"
#include "penn/simulate/kernel.h"

namespace penn {
namespace {

class InterpretedKernel final : public Kernel {
 public:
  explicit InterpretedKernel(const StepProgram& program) : p_(program) {
    std::vector<NodeId> step_roots = p_.drift;
    for (const StepProgram::Term& term : p_.diffusion) step_roots.push_back(term.coefficient);
    step_marks_ = p_.graph.reachable(step_roots);
    channel_marks_ = p_.graph.reachable(p_.channels);
  }

  std::string description() const override { return "reference interpreter"; }

  void run(const KernelBlock& b) const override {
    const size_t S = p_.drift.size();
    std::vector<double> values, x(S);
    for (int lane = 0; lane < kLanes; ++lane) {
      for (size_t s = 0; s < S; ++s) x[s] = b.state[s * kLanes + lane];
      float* out = b.out + lane;
      int64_t recorded = 0;
      for (int64_t i = 0; i < b.steps; ++i) {
        const int64_t step = b.first_step + i;
        const double dt = b.dt[lane], t = b.time_start[lane] + static_cast<double>(step) * dt;
        if (step % b.steps_per_sample == 0) {
          evaluate(values, channel_marks_, b, lane, x, t, recorded);
          bool finite = true;
          for (const double v : x) finite = finite && std::isfinite(static_cast<float>(v));
          for (const NodeId channel : p_.channels) {
            *out = finite ? static_cast<float>(values[static_cast<size_t>(channel)]) : NAN;
            out += kLanes;
          }
          ++recorded;
        }
        advance(values, b, lane, i, t, dt, x);
      }
      for (size_t s = 0; s < S; ++s) b.state[s * kLanes + lane] = static_cast<float>(x[s]);
    }
  }

 private:
  void evaluate(std::vector<double>& values, const std::vector<char>& marks, const KernelBlock& b, int lane,
                const std::vector<double>& x, double t, int64_t sample) const {
    p_.graph.evaluate(values, marks, [&](SymbolKind kind, int index) -> double {
      switch (kind) {
        case SymbolKind::kSlot:
          return b.slots[index * kLanes + lane];
        case SymbolKind::kState:
          return x[static_cast<size_t>(index)];
        case SymbolKind::kTime:
          return t;
        default:
          return b.measurement[index][sample * kLanes + lane];
      }
    });
  }

  void advance(std::vector<double>& values, const KernelBlock& b, int lane, int64_t i, double t, double dt,
               std::vector<double>& x) const {
    const size_t S = x.size();
    const auto drift_at = [&](const std::vector<double>& y, double time) {
      evaluate(values, step_marks_, b, lane, y, time, 0);
      std::vector<double> f(S);
      for (size_t s = 0; s < S; ++s) f[s] = values[static_cast<size_t>(p_.drift[s])];
      return f;
    };
    std::vector<double> next = x;
    const std::vector<double> k1 = drift_at(x, t);
    for (const StepProgram::Term& term : p_.diffusion)
      next[static_cast<size_t>(term.state)] +=
          values[static_cast<size_t>(term.coefficient)] * b.driving[term.noise][i * kLanes + lane];
    if (p_.system->simulation.method == Method::kEulerMaruyama) {
      for (size_t s = 0; s < S; ++s) next[s] += dt * k1[s];
    } else {
      // Classical Runge-Kutta for the states without noise; the others keep their value during the stages.
      const auto moved = [&](const std::vector<double>& k, double h) {
        std::vector<double> y = x;
        for (size_t s = 0; s < S; ++s)
          if (!p_.is_held[s]) y[s] += h * k[s];
        return y;
      };
      const std::vector<double> k2 = drift_at(moved(k1, dt / 2), t + dt / 2);
      const std::vector<double> k3 = drift_at(moved(k2, dt / 2), t + dt / 2);
      const std::vector<double> k4 = drift_at(moved(k3, dt), t + dt);
      for (size_t s = 0; s < S; ++s)
        next[s] += p_.is_held[s] ? dt * k1[s] : dt / 6 * (k1[s] + 2 * k2[s] + 2 * k3[s] + k4[s]);
    }
    x = next;
  }

  const StepProgram& p_;
  std::vector<char> step_marks_, channel_marks_;
};

}  // namespace

std::unique_ptr<Kernel> make_interpreted_kernel(const StepProgram& program) {
  return std::make_unique<InterpretedKernel>(program);
}

}  // namespace penn
