// Names as people write them: tau -> τ, beta3 -> β₃, lg_tau -> lg τ, D_levy -> D with the subscript "levy".
// A label is a list of parts {text, sub}; `plain` is the same as one string for places that know no subscripts (title, CSV, aria-label).

const GREEK = Object.fromEntries(
  ("alpha α beta β gamma γ delta δ epsilon ε eps ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ " +
    "phi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω")
    .split(" ").reduce((pairs, word, i, all) => (i % 2 ? pairs : [...pairs, [word, all[i + 1]]]), []),
);
const SUBSCRIPT_DIGITS = "₀₁₂₃₄₅₆₇₈₉";
const greek = (word) => GREEK[word] ?? word;
const lower = (digits) => digits.replace(/[0-9]/g, (d) => SUBSCRIPT_DIGITS[d]);

export function labelParts(name) {
  const logarithm = /^(lg|ln|log10|log)[_ ](.+)$/.exec(name);
  if (logarithm) return [{ text: (logarithm[1] === "log10" ? "lg" : logarithm[1]) + "\u2009" }, ...labelParts(logarithm[2])];
  const match = /^([A-Za-z]+?)([0-9]*)(?:_(.+))?$/.exec(name);
  if (!match) return [{ text: name }];  // already written with its symbols, or something we should not touch
  const [, word, digits, sub] = match;
  const parts = [{ text: greek(word) + lower(digits) }];
  if (sub) parts.push({ text: /^[0-9]+$/.test(sub) ? lower(sub) : sub.split("_").map(greek).join(" "), sub: !/^[0-9]+$/.test(sub) });
  return parts;
}

// The label of the JSON when it says more than the name does, else the name translated. "D_Lévy" has a subscript.
export function parameterParts(parameter) {
  const { label, name } = parameter;
  if (!label || label === name) return labelParts(name);
  const [, base, sub] = /^([^_]+)_([^_]+)$/.exec(label) ?? [null, label, null];
  return sub ? [{ text: base }, { text: sub, sub: true }] : [{ text: base }];
}

export const plainLabel = (parts) => parts.map((part) => (part.sub ? "_" : "") + part.text).join("").replace("\u2009", " ");

// "oup" of "models/oup.safetensors".
export const modelName = (path) => (path ? String(path).split("/").pop().replace(/\.safetensors$/, "") : "model");
