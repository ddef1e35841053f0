// A stranger's program: infer_csv MODEL FILE.csv prints the mean and the standard deviation of every parameter.
#include <cstdio>

#include "penn/answer/infer.h"
#include "penn/base/error.h"

int main(int count, char** arguments) try {
  if (count != 3) throw penn::Error("two arguments are needed", "infer_csv MODEL FILE.csv");
  const penn::Estimator estimator(penn::open_model(penn::find_model(arguments[1])));
  const auto observed = penn::read_observations(arguments[2], penn::observation_format(estimator));
  for (const penn::Inference& answer : penn::infer(estimator, arguments[1], observed))
    for (size_t k = 0; k < answer.parameters.size(); ++k)
      std::printf("%s = %.3f +- %.3f\n", answer.parameters[k].c_str(), answer.mean[k], answer.sd[k]);
} catch (const penn::Error& error) {
  std::fprintf(stderr, "%s\n", error.full_text().c_str());
  return 1;
}
