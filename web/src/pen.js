// Drawing that does not know where it goes: the same code draws to a canvas (fast, for plots that follow a slider) and to SVG text (for
// everything else and for downloads). Colours are names of palette.js. A path is a function of a context with moveTo, lineTo, ....
import { path as newPath } from "d3-path";

export const FONT = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

export function escapeText(text) {
  return String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
}

// A text is a string or a list of parts {text, sub} (labels.js).
const partsOf = (text) => (Array.isArray(text) ? text : [{ text }]);

// Width of a text in units of its font size; good to some 10 %, enough to keep labels apart.
export function textWidth(text, size) {
  return partsOf(text).reduce((sum, part) => sum + String(part.text).length * size * (part.sub ? 0.42 : 0.56), 0);
}

export class SvgPen {
  constructor(width, height, color, title) {
    Object.assign(this, { width, height, color, title, body: [], clips: 0, id: `c${++SvgPen.count}` });
  }
  static count = 0;

  style({ fill, stroke, width = 1, dash, opacity = 1, fillOpacity = 1, round } = {}) {
    let text = ` fill="${fill ? this.color(fill) : "none"}"`;
    if (fill && fillOpacity !== 1) text += ` fill-opacity="${fillOpacity}"`;
    if (stroke) text += ` stroke="${this.color(stroke)}" stroke-width="${width}"`;
    if (dash) text += ` stroke-dasharray="${dash.join(" ")}"`;
    if (opacity !== 1) text += ` opacity="${opacity}"`;
    return text + (round ? ' stroke-linejoin="round"' : "");
  }
  path(make, style) {
    const context = newPath(2);
    make(context);
    const d = context.toString();
    if (d) this.body.push(`<path d="${d}"${this.style(style)}/>`);
  }
  rect(x, y, w, h, style) {
    this.body.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(0, w))}" height="${round(Math.max(0, h))}"${this.style(style)}/>`);
  }
  line(x1, y1, x2, y2, style) {
    this.path((c) => (c.moveTo(x1, y1), c.lineTo(x2, y2)), style);
  }
  circle(x, y, r, style) {
    this.body.push(`<circle cx="${round(x)}" cy="${round(y)}" r="${r}"${this.style(style)}/>`);
  }
  text(x, y, text, { anchor = "start", size = 11, color = "soft", rotate, bold, halo } = {}) {
    const place = rotate ? `transform="translate(${round(x)} ${round(y)}) rotate(${rotate})"` : `x="${round(x)}" y="${round(y)}"`;
    let lowered = false;
    const inner = partsOf(text).map((part) => {
      const shift = Boolean(part.sub) === lowered ? "" : ` dy="${round((part.sub ? 0.28 : -0.28) * size)}"`;
      lowered = Boolean(part.sub);
      return shift || part.sub ? `<tspan${shift}${part.sub ? ` font-size="${round(0.75 * size)}"` : ""}>${escapeText(part.text)}</tspan>` : escapeText(part.text);
    }).join("");
    this.body.push(`<text ${place} font-size="${size}" text-anchor="${anchor}" fill="${this.color(color)}"${bold ? ' font-weight="600"' : ""}` +
      `${halo ? ` stroke="${this.color("paper")}" stroke-width="3" paint-order="stroke" stroke-linejoin="round"` : ""}>${inner}</text>`);
  }
  clip(x, y, w, h, draw) {
    const id = `${this.id}-${++this.clips}`;
    this.body.push(`<clipPath id="${id}"><rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}"/></clipPath><g clip-path="url(#${id})">`);
    draw();
    this.body.push("</g>");
  }
  // standalone: a file of its own, with size, name space and background
  markup(standalone) {
    const head = standalone ? ` xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}"` : "";
    const back = standalone ? `<rect width="100%" height="100%" fill="${this.color("paper")}"/>` : "";
    return `<svg${head} viewBox="0 0 ${round(this.width)} ${round(this.height)}" font-family="${escapeText(FONT)}" role="img" aria-label="${escapeText(this.title)}">` +
      `<title>${escapeText(this.title)}</title>${back}${this.body.join("")}</svg>`;
  }
}

export class CanvasPen {
  constructor(canvas, width, height, color) {
    const ratio = Math.min(3, Math.max(1, globalThis.devicePixelRatio || 1));
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    this.context = canvas.getContext("2d");
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
    Object.assign(this, { width, height, color });
  }
  paint(style = {}) {
    const c = this.context, { fill, stroke, width = 1, dash, opacity = 1, fillOpacity = 1, round } = style;
    if (fill) {
      c.globalAlpha = opacity * fillOpacity;
      c.fillStyle = this.color(fill);
      c.fill("evenodd");
    }
    if (stroke) {
      c.globalAlpha = opacity;
      c.strokeStyle = this.color(stroke);
      c.lineWidth = width;
      c.lineJoin = round ? "round" : "miter";
      c.setLineDash(dash ?? []);
      c.stroke();
    }
    c.globalAlpha = 1;
  }
  path(make, style) {
    this.context.beginPath();
    make(this.context);
    this.paint(style);
  }
  rect(x, y, w, h, style) {
    this.path((c) => c.rect(x, y, w, h), style);
  }
  line(x1, y1, x2, y2, style) {
    this.path((c) => (c.moveTo(x1, y1), c.lineTo(x2, y2)), style);
  }
  circle(x, y, r, style) {
    this.path((c) => c.arc(x, y, r, 0, 2 * Math.PI), style);
  }
  text(x, y, text, { anchor = "start", size = 11, color = "soft", rotate, bold, halo } = {}) {
    const c = this.context;
    const font = (part) => `${bold ? "600 " : ""}${part.sub ? 0.75 * size : size}px ${FONT}`;
    const parts = partsOf(text).map((part) => ((c.font = font(part)), { ...part, font: c.font, width: c.measureText(part.text).width }));
    const width = parts.reduce((sum, part) => sum + part.width, 0);
    c.save();
    c.translate(x, y);
    if (rotate) c.rotate((rotate * Math.PI) / 180);
    let at = anchor === "middle" ? -width / 2 : anchor === "end" ? -width : 0;
    for (const part of parts) {
      c.font = part.font;
      if (halo) {
        c.strokeStyle = this.color("paper");
        c.lineWidth = 3;
        c.lineJoin = "round";
        c.strokeText(part.text, at, part.sub ? 0.28 * size : 0);
      }
      c.fillStyle = this.color(color);
      c.fillText(part.text, at, part.sub ? 0.28 * size : 0);
      at += part.width;
    }
    c.restore();
  }
  clip(x, y, w, h, draw) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, w, h);
    this.context.clip();
    draw();
    this.context.restore();
  }
}

const round = (x) => Math.round(x * 100) / 100;
