// Numbers beside ticks: every tick of an axis can be told from its neighbours and has its value, whatever the units.
import assert from "node:assert/strict";
import { scaleLinear } from "d3-scale";
import { test } from "node:test";
import { labelWith, lossRange, tickTexts } from "../src/axes.js";

const valueOf = (text) => Number(text.replaceAll("−", "-"));

test("labels_differ_fit_and_with_their_offset_have_the_values_of_the_ticks", () => {
  for (const middle of [0, 1, -1, 0.37, 101325, -101325.37, 1e-7, 6.02e23, 1.6e9, 12345678, -4.2e-12])
    for (const half of [1e-12, 1e-5, 0.3, 1, 40, 1e3, 1e7, 1e24].filter((h) => h > 1e-9 * Math.abs(middle)))
      for (const [count, size, space] of [[6, 11, undefined], [4, 11, 36], [3, 9, 30], [8, 12, 43]]) {
        const ticks = scaleLinear([middle - half, middle + half], [0, 1]).ticks(count), { texts, offset } = tickTexts(ticks, size, space), what = `${middle} ± ${half}: ${texts.join(", ")} "${offset}"`;
        assert.equal(new Set(texts).size, ticks.length, what);
        const base = offset ? -valueOf(offset.replaceAll(" ", "")) : 0, step = ticks[1] - ticks[0];
        texts.forEach((text, i) => {
          assert.ok(Math.abs(valueOf(text) + base - ticks[i]) < 0.01 * step + 4e-16 * Math.abs(ticks[i]), `${what} at ${ticks[i]}`);
          assert.ok(text.length <= 8, what);
        });
      }
});

test("usual_axes_look_as_people_write_them", () => {
  const axis = (low, high, count = 5) => tickTexts(scaleLinear([low, high], [0, 1]).ticks(count), 11);
  assert.deepEqual(axis(0, 1), { texts: ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"], offset: "" });
  assert.deepEqual(axis(-1000, 1000, 4), { texts: ["−1000", "−500", "0", "500", "1000"], offset: "" });
  assert.deepEqual(axis(101324.7, 101325.3, 3), { texts: ["−0.2", "0.0", "0.2"], offset: " − 101325" });
  assert.deepEqual(axis(-1 - 1e-5, -1 + 1e-5, 3), { texts: ["−1e−5", "−5e−6", "0", "5e−6", "1e−5"], offset: " + 1" });
  assert.deepEqual(axis(0, 3e-9, 3), { texts: ["0", "1e−9", "2e−9", "3e−9"], offset: "" });
  assert.deepEqual(labelWith([{ text: "p" }], " − 101325"), [{ text: "p" }, { text: " − 101325" }]);
});

test("loss_curves_are_seen_from_soon_after_their_start_to_their_lowest_points", () => {
  const falling = [900, 4, 3, 2, 1.5, 1.2, 1.1, 1, 1, 1], overfitted = [900, 3, 2.5, 3, 50, 700, 2000, 5000, 9000, 14000];
  const near = ([low, high], a, b) => assert.ok(Math.abs(low - a) < 0.2 && Math.abs(high - b) < 0.2, `${low} to ${high}`);
  near(lossRange([falling, overfitted], 0.1), 1, 4);
  near(lossRange([[NaN, 900, 3, 2, NaN, 1]], 0.25), 1, 3);
  near(lossRange([[2, 3, 4]], 0), 1.95, 2.05);
  near(lossRange([[], falling], 0.1), 1, 4);
});
