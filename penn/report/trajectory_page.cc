#include "penn/report/trajectory_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "penn/base/files.h"

namespace penn {
namespace {

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

constexpr double kWidth = 720, kHeight = 150, kLeft = 56, kBottom = 26, kTop = 8, kRight = 8;

// Round numbers, about `wanted` of them, that cover [low, high].
std::vector<double> ticks(double low, double high, int wanted) {
  const double raw = (high - low) / wanted, power = std::pow(10, std::floor(std::log10(raw)));
  const double ratio = raw / power, step = power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
  std::vector<double> result;
  for (double x = std::ceil(low / step) * step; x <= high + 1e-9 * step; x += step)
    result.push_back(std::abs(x) < 1e-9 * step ? 0 : x);
  return result;
}

// One channel against time. More points than pixels are drawn as the smallest and largest value of each pixel column.
std::string panel(const float* z, int64_t length, int64_t channels, int64_t channel, double sampling,
                  const std::string& label) {
  const auto value = [&](int64_t i) { return static_cast<double>(z[i * channels + channel]); };
  double low = value(0), high = value(0);
  for (int64_t i = 0; i < length; ++i) low = std::min(low, value(i)), high = std::max(high, value(i));
  if (!(high > low)) low -= 1 + std::abs(low), high += 1 + std::abs(high);
  const double margin = 0.05 * (high - low), duration = static_cast<double>(length - 1) * sampling;
  low -= margin, high += margin;
  const auto x_of = [&](double t) { return kLeft + t / duration * (kWidth - kLeft - kRight); };
  const auto y_of = [&](double v) { return kTop + (high - v) / (high - low) * (kHeight - kTop - kBottom); };

  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} against time\">", kWidth,
                                kHeight, escape(label));
  for (const double v : ticks(low, high, 4))
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text x=\"{:.1f}\" y=\"{:.1f}\" "
        "class=\"y\">{:g}</text>",
        kLeft, kWidth - kRight, y_of(v), y_of(v), kLeft - 6, y_of(v) + 4, v);
  for (const double t : ticks(0, duration, 8))
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"x\">{:g}</text>", x_of(t), kHeight - 8, t);
  svg += fmt::format("<text class=\"name\" transform=\"translate(13 {:.1f}) rotate(-90)\">{}</text>",
                     (kHeight - kBottom + kTop) / 2, escape(label));
  std::string points;
  const int64_t columns = static_cast<int64_t>(2 * (kWidth - kLeft - kRight)),
                per_column = (length + columns - 1) / columns;
  for (int64_t begin = 0; begin < length; begin += per_column) {
    double smallest = value(begin), largest = value(begin);
    for (int64_t i = begin; i < std::min(length, begin + per_column); ++i)
      smallest = std::min(smallest, value(i)), largest = std::max(largest, value(i));
    const double x = x_of(static_cast<double>(begin) * sampling);
    points += fmt::format("{:.1f},{:.1f} ", x, y_of(largest));
    if (per_column > 1) points += fmt::format("{:.1f},{:.1f} ", x, y_of(smallest));
  }
  return svg + fmt::format("<polyline points=\"{}\"/></svg>\n", points);
}

const char* const kStyle = R"(
:root { color-scheme: light dark; --ink: #1c2330; --paper: #fff; --grid: #e3e6eb; --soft: #5d6675; --data: #3b4656; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --paper: #14181f; --grid: #2a313c; --soft: #9aa4b4; --data: #b9c2d0; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 780px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; margin: 0; } p { margin: .2rem 0 1rem; color: var(--soft); }
figure { margin: 0 0 1.6rem; break-inside: avoid; } figcaption { font-size: .85rem; color: var(--soft); overflow-wrap: anywhere; }
figcaption b { color: var(--ink); font-weight: 600; margin-right: .35rem; } figcaption span { display: inline-block; margin-right: .9rem; }
svg { width: 100%; display: block; } text { font-size: 11px; fill: var(--soft); } .y { text-anchor: end; } .x, .name { text-anchor: middle; } .name { fill: var(--ink); }
.grid { stroke: var(--grid); } polyline { fill: none; stroke: var(--data); stroke-width: 1; stroke-linejoin: round; }
)";

}  // namespace

std::string trajectory_page(const Simulator& simulator, int observation, int64_t count) {
  const System& system = simulator.system();
  const std::vector<Channel>& channels = system.observations[static_cast<size_t>(observation)].channels;
  const int64_t M = simulator.parameters(), n = simulator.length(), d = simulator.channels();
  std::vector<float> theta(static_cast<size_t>(count * M)), z(static_cast<size_t>(count * n * d)),
      sampling(static_cast<size_t>(count));
  simulator.run(0, count, theta.data(), z.data(), sampling.data());

  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width\">"
      "<title>{0}</title><style>{1}</style></head><body>\n<h1>{2}</h1>\n<p>{0}: {3} simulated trajectories of {4} "
      "samples, parameters drawn uniformly from the box. "
      "Horizontal axes: time. penn {5}.</p>\n",
      escape(system.name), kStyle, escape(system.title.empty() ? system.name : system.title), count, n, version());
  for (int64_t i = 0; i < count; ++i) {
    page += "<figure>";
    for (int64_t c = 0; c < d; ++c)
      page +=
          panel(z.data() + i * n * d, n, d, c, sampling[static_cast<size_t>(i)], channels[static_cast<size_t>(c)].name);
    page += "<figcaption>";
    for (int64_t p = 0; p < M; ++p)
      page += fmt::format("<span><b>{}</b>{:.4g}</span> ", escape(system.parameters[static_cast<size_t>(p)].label),
                          theta[static_cast<size_t>(i * M + p)]);
    page += "</figcaption></figure>\n";
  }
  return page + "</body></html>\n";
}

}  // namespace penn
