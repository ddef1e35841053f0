#include "penn/report/trajectory_page.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "penn/base/files.h"
#include "penn/report/page_json.h"
#include "penn/report/posterior_page.h"

namespace penn {

std::string trajectory_page_json(const Simulator& simulator, int observation, int64_t count) {
  using json = nlohmann::ordered_json;
  const System& system = simulator.system();
  const int64_t M = simulator.parameters(), n = simulator.length(), d = simulator.channels();
  std::vector<float> theta(static_cast<size_t>(count * M)), z(static_cast<size_t>(count * n * d)),
      sampling(static_cast<size_t>(count));
  simulator.run(0, count, theta.data(), z.data(), sampling.data());
  json trajectories = json::array();
  for (int64_t i = 0; i < count; ++i)
    trajectories.push_back({{"theta", std::vector<float>(theta.begin() + i * M, theta.begin() + (i + 1) * M)},
                            {"trajectory", trajectory_json(z.data() + i * n * d, n, sampling[static_cast<size_t>(i)],
                                                           system.observations[static_cast<size_t>(observation)])}});
  const json page = {{"kind", "simulation"},
                     {"system", system.name},
                     {"title", system.title.empty() ? system.name : system.title},
                     {"n", n},
                     {"parameters", parameters_json(system)},
                     {"trajectories", trajectories},
                     {"version", version()}};
  return page.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string trajectory_page(const Simulator& simulator, int observation, int64_t count) {
  return posterior_page(trajectory_page_json(simulator, observation, count), simulator.system().name);
}

}  // namespace penn
