// One colour, one meaning, on every page: the same names as the CSS variables of style.css. Downloads use the light values, written out.
export const LIGHT = {
  ink: "#1c2330", soft: "#5d6675", grid: "#dfe3e9", paper: "#ffffff", data: "#3b4656",
  posterior: "#1f6fb4", truth: "#0b7d4f", estimate: "#d2590f", prior: "#858d99", warning: "#b3261e", fixed: "#7b3fa8",
  positive: "#0d7c80", negative: "#a23a6d",
};
export const DARK = {
  ink: "#e6e9ef", soft: "#9aa4b4", grid: "#2c3440", paper: "#14181f", data: "#b9c2d0",
  posterior: "#6db3f2", truth: "#5fd39b", estimate: "#f59a5c", prior: "#8993a3", warning: "#ff8a80", fixed: "#c79be8",
  positive: "#4cc4c8", negative: "#ee86b3",
};

export const darkScheme = () => matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches;
export const screenPalette = () => (darkScheme() ? DARK : LIGHT);

export const cssVariables = (palette) => Object.entries(palette).map(([name, value]) => `--${name}: ${value};`).join(" ");
