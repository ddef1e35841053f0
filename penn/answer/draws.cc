#include "penn/answer/draws.h"

#include <fmt/core.h>

#include <algorithm>

#include "penn/base/csv.h"
#include "penn/base/csv_writer.h"
#include "penn/base/files.h"

namespace penn {
namespace {
constexpr size_t kDrawsAtATime = 4096;  // in memory
}

void write_draws(const std::filesystem::path& path, const Inference& inference, int64_t samples, uint64_t seed) {
  const PosteriorInBox posterior(inference.posterior);
  std::vector<std::string> head = {
      fmt::format("penn {} infer", version()),
      fmt::format("model = {}", inference.model),
      fmt::format("observation = {}", inference.source),
      fmt::format("n = {}", inference.n),
      fmt::format("sampling = {}", inference.sampling),
      "method = sample",
      fmt::format("num_samples = {}", samples),
      "num_warmup = 0",
      "save_warmup = 0",
      "thin = 1",
      fmt::format("seed = {}", seed),
      "independent draws of the posterior cut to the box of the parameters; lp__ is its log density",
      fmt::format("outside_mass = {:.4f}", inference.outside_mass),
      fmt::format("typicality = {:.4f}", inference.typicality)};
  for (const std::string& warning : inference.warnings) head.push_back("warning: " + warning);
  std::vector<std::string> names = {"lp__"};
  names.insert(names.end(), inference.parameters.begin(), inference.parameters.end());
  CsvWriter writer(path, head, names);
  const size_t M = inference.parameters.size();
  std::vector<double> row(M + 1);
  DrawStream stream(seed);
  size_t approximate = 0;
  for (size_t left = static_cast<size_t>(samples); left > 0;) {
    const size_t count = std::min(left, kDrawsAtATime);
    const TruncatedDraws draws = posterior.sample(count, stream);
    for (size_t i = 0; i < count; ++i) {
      const std::span<const double> theta(&draws.theta[i * M], M);
      row[0] = posterior.log_density(theta);
      std::copy(theta.begin(), theta.end(), row.begin() + 1);
      writer.row(std::span<const double>(row));
    }
    approximate += draws.approximate;
    left -= count;
  }
  if (approximate > 0)  // known only now; CmdStan too closes its files with remarks
    writer.comment(fmt::format("{} draws come from the edge of the box, where they are approximate", approximate));
  writer.finish();
}

}  // namespace penn
