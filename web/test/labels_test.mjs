// Names and numbers as people write them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { labelParts, parameterParts, plainLabel } from "../src/labels.js";
import { fixedDecimals, percent, short, withUncertainty } from "../src/numbers.js";
import { SvgPen, escapeText } from "../src/pen.js";

test("names_get_their_greek_letters_and_subscripts", () => {
  const plain = (name) => plainLabel(labelParts(name));
  for (const [name, expected] of [["tau", "τ"], ["beta3", "β₃"], ["alpha", "α"], ["lg_tau", "lg τ"], ["D_levy", "D_levy"], ["x_phi", "x_φ"], ["U0", "U₀"], ["a_h", "a_h"], ["eps", "ε"], ["tau12", "τ₁₂"], ["mu_1", "μ₁"], ["k", "k"]])
    assert.equal(plain(name), expected);
  assert.deepEqual(labelParts("D_levy"), [{ text: "D" }, { text: "levy", sub: true }]);
  assert.deepEqual(parameterParts({ name: "lg_tau", label: "lg τ" }), [{ text: "lg τ" }]);
  assert.deepEqual(parameterParts({ name: "D_fgn", label: "D_fgn" }), labelParts("D_fgn"));
  assert.deepEqual(parameterParts({ name: "D_levy", label: "D_Lévy" }), [{ text: "D" }, { text: "Lévy", sub: true }]);
});

test("numbers_show_the_digits_they_have", () => {
  for (const [x, expected] of [[0, "0"], [1 / 3, "0.333"], [-12.3456, "−12.3"], [1e-5, "1e−5"], [123456, "1.23e5"], [NaN, "–"], [0.1 + 0.2, "0.3"]]) assert.equal(short(x), expected);
  assert.equal(withUncertainty(1.23456, 0.012), "1.235");
  assert.equal(withUncertainty(123.456, 12), "123");
  assert.equal(withUncertainty(-0.0001, 0.12), "0.00");
  assert.equal(fixedDecimals(-0.04, 1), "0.0");
  for (const [p, expected] of [[0, "0 %"], [1, "100 %"], [0.0002, "< 0.1 %"], [0.9999, "> 99.9 %"], [0.5, "50 %"], [0.953, "95.3 %"]]) assert.equal(percent(p), expected);
});

test("svg_text_is_escaped", () => {
  const pen = new SvgPen(10, 10, (name) => name, 'a<b>&"');
  pen.text(1, 1, "<script>\u0001");
  assert.doesNotMatch(pen.markup(true), /<script|\u0001|a<b/);
  assert.equal(escapeText("a&b"), "a&#38;b");
});

test("a_small_uncertainty_of_a_large_or_tiny_number_shows", () => {
  assert.equal(withUncertainty(101325.1234, 0.1), "101325.12");
  assert.equal(withUncertainty(101325.1234, 5000), "1.013e5");
  assert.equal(withUncertainty(5.4321e-4, 1e-8), "5.4321e−4");
  assert.equal(withUncertainty(1.2345, 0.02), "1.234");
});
