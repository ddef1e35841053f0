#include "paper/draw_models.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "paper/draw.h"
#include "paper/paper_numbers.h"
#include "penn/base/parallel.h"
#include "penn/simulate/simulator.h"

namespace penn {
namespace {

constexpr int64_t kTimed = 256;  // trajectories of one measurement
constexpr int kRepeats = 3;      // the best counts: other programs only ever slow it down

Json block(const std::string& title, const std::vector<std::string>& lines) {
  return {{"title", title}, {"lines", lines}};
}

// The five stations of Figure 1 for one network.
std::vector<Json> stations(const NetworkOptions& o) {
  std::vector<std::string> encoder;
  for (const std::string& name : o.encoders) {
    if (name == "lstm")
      encoder.insert(encoder.end(),
                     {fmt::format("LSTM, {} layers of {}", o.lstm_layers, o.lstm_hidden), "mean over time"});
    else encoder.insert(encoder.end(), {"fixed statistics", "of the trajectory"});
  }
  if (o.varying_length()) encoder.push_back("and ln n");
  const MixtureShape& m = o.mixture;
  return {block("trajectory Z", {"z₁ … zₙ", fmt::format("n × {}", o.inputs),
                                 o.varying_length() ? fmt::format("n from {:g} to {:g}", o.length_low, o.length_high)
                                                    : fmt::format("n = {:g}", o.length_high)}),
          block("encoder", encoder),
          block("decoder", {fmt::format("residual blocks: {}", o.decoder_blocks),
                            fmt::format("of width {}", o.decoder_width), fmt::format("to y: K = {}", m.size())}),
          block("surjection", {"softmax: weights", m.parameterisation == "direct" ? "means" : "means in scales",
                               m.parameterisation == "direct" ? "softplus: diagonals" : "exp: diagonals"}),
          block("mixture Φ",
                {fmt::format("N = {} components", m.components), fmt::format("M = {} parameters", m.parameters),
                 m.full ? "full covariances" : "diagonal covariances",
                 o.all_probit() ? "inside the box" : "of the parameters"})};
}

struct Speed {
  double simulated = 0, identified = 0;  // trajectories per second
};

Speed measure(const Estimator& model, const ReproduceOptions& options) {
  const int64_t n =
      std::clamp(model.system().simulation.length.high, model.info().lengths.low, model.info().lengths.high);
  const Simulator simulator(model.system(), model.observation(), {.seed = 71, .threads = options.threads, .length = n});
  std::vector<float> theta(static_cast<size_t>(kTimed * simulator.parameters())),
      z(static_cast<size_t>(kTimed * n * simulator.channels())), sampling(kTimed);
  const auto rate = [&](const auto& work) {
    double best = 0;
    for (int i = 0; i < kRepeats; ++i) {
      const auto start = std::chrono::steady_clock::now();
      work();
      best = std::max(best, static_cast<double>(kTimed) /
                                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
  };
  Speed speed;
  speed.simulated = rate([&] { simulator.run(0, kTimed, theta.data(), z.data(), sampling.data()); });
  speed.identified = rate([&] { model.estimate(z.data(), kTimed, n, sampling.data()); });
  return speed;
}

std::string length_text(IntRange lengths) {
  return lengths.is_single() ? std::to_string(lengths.low) : fmt::format("{} to {}", lengths.low, lengths.high);
}

}  // namespace

PageData draw_architecture(const PaperItem& item, Session& session) {
  PageData page(item,
                "From a trajectory to a mixture: encoder, decoder, and the map onto weights, means and covariances.",
                session.options());
  const Estimator& model = page.use_model("oup", session);
  NetworkOptions paper = paper_network(model.info().network.inputs, model.info().network.mixture.parameters);
  paper.length_low = paper.length_high = static_cast<double>(model.system().simulation.length.high);
  page.section("The paper's network",
               "For the Ornstein-Uhlenbeck process with two noises (oup). Trained with --preset paper.",
               {Json{{"type", "blocks"}, {"title", "paper"}, {"blocks", stations(paper)}}});
  page.section("Our model", "As it is in the model file.",
               {Json{{"type", "blocks"}, {"title", "oup"}, {"blocks", stations(model.info().network)}}});
  page.headline("unconstrained parameters K of the oup mixture", std::to_string(model.info().network.mixture.size()),
                std::to_string(paper.mixture.size()));
  return page;
}

PageData draw_loss_curves(const PaperItem& item, Session& session) {
  PageData page(item, "Training and validation loss of the seven models.", session.options());
  std::vector<Panel> panels;
  std::vector<PageData::Row> rows;
  double largest = 0;
  for (const std::string& name : item.models) {
    const Estimator& model = page.use_model(name, session);
    const ModelInfo& info = model.info();
    panels.push_back(loss_panel(name, info));
    if (info.curve.empty()) continue;
    const double gap = info.curve.back().validation_nll - info.curve.back().train_nll;
    largest = std::max(largest, gap);
    rows.push_back({{name, fmt::format("{:.3f}", info.curve.back().train_nll),
                     fmt::format("{:.3f}", info.curve.back().validation_nll), fmt::format("{:.3f}", gap),
                     fmt::format("{:.3f}", info.validation_nll)}});
  }
  page.section(
      "Loss curves",
      "NLL in the parameters' own units, against minutes of training. Grey: training batches. Blue: validation.",
      panels);
  page.table(
      "At the end",
      "Ours trains on new trajectories all the time unless said otherwise, so that it cannot overfit; validation uses "
      "averaged weights and can lie below the training loss. The paper's curves lie close together as well.",
      {"model", "training NLL", "validation NLL", "difference", "validation NLL of the kept weights"}, rows);
  page.headline("largest excess of validation over training loss", fmt::format("{:.2f}", largest),
                "curves close together");
  return page;
}

PageData draw_cost(const PaperItem& item, Session& session) {
  PageData page(item, "What training cost, and how fast the models answer.", session.options());
  std::vector<PageData::Row> rows, speeds;
  double minutes = 0, hours = 0;
  for (const PaperCost& paper : kPaperCosts) {
    const std::string name(paper.model);
    const Estimator& model = page.use_model(name, session);
    const ModelInfo& info = model.info();
    const int64_t batch = info.steps > 0 ? info.trajectories / info.steps : 0;
    // Files of 0.1 have a number and a folder, later ones one text.
    const auto said = [&](const char* key) {
      return info.training->contains(key) ? info.training->at(key) : nlohmann::ordered_json();
    };
    const std::string text = said("dataset").is_string()                           ? said("dataset").get<std::string>()
                             : said("dataset").is_number() && said("dataset") != 0 ? said("dataset").dump()
                                                                                   : "";
    const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    const bool has_folder = (!text.empty() && !is_number) ||
                            (said("dataset_folder").is_string() && !said("dataset_folder").get<std::string>().empty());
    const std::string epochs = is_number    ? std::to_string(info.trajectories / std::stoll(text))
                               : has_folder ? "of a given set"
                                            : "always new";
    rows.push_back(
        {{name, "ours", std::to_string(info.network.inputs), thousands(info.trajectories), length_text(info.lengths),
          std::to_string(batch), epochs, fmt::format("{:.2f} h", info.minutes / 60)}});
    rows.push_back({{"", "paper", std::to_string(info.network.inputs), paper.trajectories, paper.length, paper.batch,
                     paper.epochs, fmt::format("{} h", paper.hours)},
                    true});
    minutes += info.minutes;
    hours += std::stod(paper.hours);
    const Speed speed = measure(model, session.options());
    speeds.push_back({{name, thousands(std::llround(speed.identified)), thousands(std::llround(speed.simulated)),
                       fmt::format("{:.0f} s", 100000 / speed.simulated)}});
  }
  const int threads = session.options().threads > 0 ? session.options().threads : processor_count();
  page.table("Training",
             "Ours: new trajectories for every batch, each seen once (unless a model says otherwise). Paper: a fixed "
             "set, seen in every epoch, on one RTX 4090.",
             {"model", "", "channels", "trajectories", "length", "batch", "epochs", "time"}, rows);
  page.table(
      "Speed",
      fmt::format(
          "Measured just now with {} thread{}: the best of three passes over {} trajectories of the system's length. "
          "Paper, RTX 4090: more than 20,000 identified per second; 100,000 airfoil trajectories simulated in 48 s.",
          threads, threads == 1 ? "" : "s", kTimed),
      {"model", "identified per second", "simulated per second", "100,000 simulated in"}, speeds);
  page.headline("training of all seven, hours", fmt::format("{:.1f}", minutes / 60),
                fmt::format("{:.1f} (RTX 4090)", hours));
  return page;
}

}  // namespace penn
