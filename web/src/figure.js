// A plot on the page: heading, drawing, and the buttons that save it as SVG or PNG. `draw(pen, width, height)` draws it, anywhere.
import { element, labelNodes, saveBlob, saveText } from "./dom.js";
import { LIGHT, screenPalette } from "./palette.js";
import { CanvasPen, SvgPen } from "./pen.js";

export class Figure {
  // options: title, name (of files), width, height (CSS pixels at full size), draw, canvas (true for plots that follow a slider), note, heading (label parts, instead of the title)
  constructor(options) {
    Object.assign(this, options);
    this.plot = this.canvas ? element("canvas", { role: "img", "aria-label": this.title }) : element("div", { class: "plot" });
    this.plot.style.width = `${this.width}px`;
    const save = (text, action) => element("button", { type: "button", class: "save", "aria-label": `${this.title} as ${text}`, onclick: action }, text);
    this.head = element("figcaption", {}, element("span", { class: "name" }, this.heading ? labelNodes(this.heading) : this.title),
      element("span", { class: "saves" }, save("SVG", () => this.saveSvg()), save("PNG", () => this.savePng())));
    this.node = element("figure", { "data-plot": this.name }, this.head, this.plot, this.note ? element("p", { class: "note" }, this.note) : null);
    this.node.figure = this;  // only the document holds a figure: what leaves the page is free
  }

  redraw() {
    if (this.canvas) {
      const palette = screenPalette();
      this.plot.style.aspectRatio = `${this.width} / ${this.height}`;
      this.draw(new CanvasPen(this.plot, this.width, this.height, (name) => palette[name]), this.width, this.height, true);
    } else {
      const pen = new SvgPen(this.width, this.height, (name) => `var(--${name})`, this.title);
      this.draw(pen, this.width, this.height, true);
      this.plot.innerHTML = pen.markup(false);
    }
    this.node.dataset.drawn = "true";
    return this;
  }

  svgText() {
    const pen = new SvgPen(this.width, this.height, (name) => LIGHT[name], this.title);
    this.draw(pen, this.width, this.height, false);
    return pen.markup(true);
  }
  saveSvg() {
    saveText(`<?xml version="1.0" encoding="UTF-8"?>\n${this.svgText()}\n`, "image/svg+xml", `${this.name}.svg`);
  }
  async savePng() {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(this.svgText())}`;
    await image.decode();
    const canvas = element("canvas", { width: 2 * this.width, height: 2 * this.height });
    canvas.getContext("2d").drawImage(image, 0, 0, 2 * this.width, 2 * this.height);
    canvas.toBlob((blob) => saveBlob(blob, `${this.name}.png`), "image/png");
  }
}

// Canvases hold colours, not names: draw them again when the scheme changes or the page goes to paper.
export function followColorScheme() {
  const again = () => {
    for (const { figure } of document.querySelectorAll("figure[data-plot]")) if (figure?.canvas) figure.redraw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  matchMedia("print").addEventListener("change", again);
}
