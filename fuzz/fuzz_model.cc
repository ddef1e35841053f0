// Any bytes as a model: an answer with finite numbers, or an Error of the kind promised.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "penn/base/error.h"
#include "penn/model/estimator.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const penn::Estimator estimator(penn::open_model(penn::SafetensorsFile(penn::InputFile(
                                        {reinterpret_cast<const char*>(data), size}, "fuzz.safetensors"))),
                                    1);
    const size_t d = estimator.system().observations[static_cast<size_t>(estimator.observation())].channels.size();
    constexpr int64_t n = 12;
    std::vector<float> z(n * d);
    for (size_t i = 0; i < z.size(); ++i) z[i] = std::sin(static_cast<float>(i));
    const float sampling = static_cast<float>(estimator.info().sampling.low);
    const std::vector<penn::Estimate> answer = estimator.estimate(z.data(), 1, n, &sampling);
    if (answer.size() != 1 || !(answer[0].typicality >= 0 && answer[0].typicality <= 1)) std::abort();
    penn::describe_model(penn::open_model(
        penn::SafetensorsFile(penn::InputFile({reinterpret_cast<const char*>(data), size}, "fuzz.safetensors"))));
  } catch (const penn::Error&) {
  }
  return 0;
}
