// Plots over time: the observed trajectory, channel by channel, and the posterior predictive fan.
import { area, line } from "d3-shape";
import { drawAxes, extent, frame } from "./axes.js";
import { labelParts } from "./labels.js";

const PANEL = 150;
export const trajectoryHeight = (trajectory) => PANEL * trajectory.channels.length + 34;

// {t0, sampling, channels (d), values: n rows of d, or d rows of n when there are as many rows as channels}
export function channelsOf(trajectory) {
  const { values, channels } = trajectory;
  if (!Array.isArray(values[0])) return [values];
  if (values.length === channels.length && values[0].length !== channels.length) return values;
  return channels.map((_, c) => values.map((row) => row[c]));
}

// More points than pixels are drawn as the smallest and the largest of each pixel column.
function drawSeries(pen, f, times, values, style) {
  pen.path((c) => {
    const per = Math.max(1, Math.ceil(values.length / (2 * f.width)));
    let started = false;
    const to = (x, y) => {
      if (!started) c.moveTo(x - 0.5, y);  // so that a single point between two gaps shows
      started = true;
      c.lineTo(x, y);
    };
    for (let i = 0; i < values.length; i += per) {
      let low = Infinity, high = -Infinity;
      for (let k = i; k < Math.min(values.length, i + per); ++k) if (values[k] !== null) (low = Math.min(low, values[k])), (high = Math.max(high, values[k]));
      if (!(low <= high)) {
        started = false;  // a gap
        continue;
      }
      to(f.x(times[i]), f.y(high));
      if (per > 1 && low < high) to(f.x(times[i]), f.y(low));
    }
  }, style);
}

export function drawTrajectory(pen, width, trajectory) {
  const series = channelsOf(trajectory), n = series[0].length, t0 = trajectory.t0 ?? 0, step = trajectory.sampling ?? 1;
  const times = Array.from({ length: n }, (_, i) => t0 + i * step);
  series.forEach((values, c) => {
    const f = frame({ left: 62, top: 8 + c * PANEL, width: width - 70, height: PANEL - 18, labelGap: 48 }, [times[0], times.at(-1)], padded(extent(values.filter((v) => v !== null))));
    const last = c === series.length - 1;
    drawAxes(pen, f, { xLabel: last ? "time" : null, yLabel: labelParts(trajectory.channels[c]), xTicks: 8, yTicks: 4, xText: last });
    drawSeries(pen, f, times, values, { stroke: "data", width: 0.9, round: true });
  });
}

// All channels in one frame, told apart by stroke: the first drawn thin and dark, the second thick and light.
export function drawOverlay(pen, width, height, trajectory) {
  const series = channelsOf(trajectory), times = series[0].map((_, i) => (trajectory.t0 ?? 0) + i * (trajectory.sampling ?? 1));
  const f = frame({ left: 62, top: 24, width: width - 70, height: height - 72, labelGap: 48 }, [times[0], times.at(-1)], padded(extent(series.flat().filter((v) => v !== null))));
  drawAxes(pen, f, { xLabel: "time", xTicks: 8, yTicks: 4 });
  const styles = [{ stroke: "data", width: 0.9 }, { stroke: "data", width: 2.4, opacity: 0.4 }];
  [...series.keys()].reverse().forEach((c) => drawSeries(pen, f, times, series[c], { ...styles[c % 2], round: true }));
  series.forEach((_, c) => {
    pen.line(f.left + 8 + 70 * c, 11.5, f.left + 30 + 70 * c, 11.5, styles[c % 2]);  // in the middle of a pixel: a thin line across two would look light
    pen.text(f.left + 36 + 70 * c, 16, labelParts(trajectory.channels[c]), { size: 12, color: "ink" });
  });
}

const padded = ([low, high]) => {
  const margin = high > low ? 0.05 * (high - low) : Math.abs(low) || 1;
  return [low - margin, high + margin];
};

// predictive {t (n), quantiles {"5": (n) or channels x n, ...}}: bands 5-95 and 25-75, the median, and the observation on top.
export const fanChannels = (predictive) => (Array.isArray(predictive.quantiles["50"][0]) ? predictive.quantiles["50"].length : 1);
export const fanHeight = (predictive) => PANEL * fanChannels(predictive) + 34;

export function drawFan(pen, width, predictive, trajectory) {
  const count = fanChannels(predictive), t = predictive.t, observed = trajectory ? channelsOf(trajectory) : [];
  for (let c = 0; c < count; ++c) {
    const q = (p) => (count > 1 || Array.isArray(predictive.quantiles[p]?.[0]) ? predictive.quantiles[p][c] : predictive.quantiles[p]);
    const values = observed[c] ?? [], times = values.map((_, i) => (trajectory.t0 ?? 0) + i * (trajectory.sampling ?? 1));
    const seen = values.filter((v, i) => v !== null && times[i] >= t[0] && times[i] <= t.at(-1));
    const f = frame({ left: 62, top: 8 + c * PANEL, width: width - 70, height: PANEL - 18, labelGap: 48 }, [t[0], t.at(-1)], padded(extent([...q("5"), ...q("95"), ...seen])));
    const last = c === count - 1;
    drawAxes(pen, f, { xLabel: last ? "time" : null, yLabel: trajectory ? labelParts(trajectory.channels[c]) : "", xTicks: 8, yTicks: 4, xText: last });
    const band = (low, high) => area().x((_, i) => f.x(t[i])).y0((_, i) => f.y(q(low)[i])).y1((_, i) => f.y(q(high)[i]));
    pen.clip(f.left, f.top, f.width, f.height, () => {
      for (const [low, high] of [["5", "95"], ["25", "75"]]) if (q(low) && q(high)) pen.path((context) => band(low, high).context(context)(t), { fill: "posterior", fillOpacity: 0.22 });
      drawSeries(pen, f, times, values, { stroke: "data", width: 0.9, round: true });
      pen.path((context) => line((_, i) => f.x(t[i]), (_, i) => f.y(q("50")[i])).context(context)(t), { stroke: "posterior", width: 1.5 });
    });
  }
}
