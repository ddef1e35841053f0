#!/usr/bin/env python3
"""Draws loss curves (MODEL.csv of `penn train`) as an SVG, one panel per argument:

  scripts/plot_curves.py docs/training_curves.svg "soup|fast=soup.safetensors.csv|paper=soup-paper.safetensors.csv|exact=-3.767" "oup|fast=..."
A file gives a line of validation NLL against minutes (logarithmic), a number a horizontal level.
"""
import csv, math, sys

WIDTH, HEIGHT, LEFT, TOP, BOTTOM, GAP = 460, 300, 62, 34, 44, 30
COLOURS = {"fast": "#1f6fb4", "paper": "#d2601a", "exact": "#3b7f4c"}


def read(path):
    with open(path) as f:
        rows = list(csv.DictReader(line for line in f if not line.startswith("#")))
    return [(float(r["minutes"]), float(r["validation_nll"])) for r in rows]


def panel(spec, x0, out):
    title, *parts = spec.split("|")
    lines, levels = {}, {}
    for part in parts:
        name, value = part.split("=", 1)
        try:
            levels[name] = float(value)
        except ValueError:
            lines[name] = read(value)
    minutes = [m for points in lines.values() for m, _ in points]
    nll = [v for points in lines.values() for _, v in points] + list(levels.values())
    a, b = math.log10(min(minutes)), math.log10(max(minutes))
    low, high = min(nll), max(nll)
    low, high = low - 0.05 * (high - low), high + 0.03 * (high - low)
    x = lambda m: x0 + LEFT + (math.log10(m) - a) / (b - a) * (WIDTH - LEFT - 10)
    y = lambda v: TOP + (high - v) / (high - low) * (HEIGHT - TOP - BOTTOM)
    text = lambda px, py, s, anchor="middle", extra="": out.append(f'<text x="{px:.1f}" y="{py:.1f}" text-anchor="{anchor}" {extra}>{s}</text>')
    text(x0 + LEFT, 20, f"{title}: validation NLL", "start", 'font-weight="bold"')
    for m in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100):
        if a <= math.log10(m) <= b:
            out.append(f'<path d="M{x(m):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
            text(x(m), HEIGHT - BOTTOM + 16, f"{m:g}")
    text(x0 + (LEFT + WIDTH) / 2, HEIGHT - 8, "minutes, one core")
    step = 10 ** math.floor(math.log10((high - low) / 4))
    step *= 5 if (high - low) / step > 20 else 2 if (high - low) / step > 8 else 1
    v = math.ceil(low / step) * step
    while v <= high:
        out.append(f'<path d="M{x0 + LEFT} {y(v):.1f}H{x0 + WIDTH - 10}" stroke="#ddd"/>')
        text(x0 + LEFT - 6, y(v) + 4, f"{v:.{max(0, -math.floor(math.log10(step)))}f}", "end")
        v += step
    for name, level in levels.items():
        out.append(f'<path d="M{x0 + LEFT} {y(level):.1f}H{x0 + WIDTH - 10}" stroke="{COLOURS.get(name, "#555")}" stroke-dasharray="5 4"/>')
        text(x0 + LEFT + 4, y(level) - 4, f"{name} {level:g}", "start", f'fill="{COLOURS.get(name, "#555")}"')
    for name, points in lines.items():
        path = "M" + "L".join(f"{x(m):.1f} {y(v):.1f}" for m, v in points)
        out.append(f'<path d="{path}" fill="none" stroke="{COLOURS.get(name, "#555")}" stroke-width="2"/>')
        above = min(y(v) for m, v in points if x(m) > x(points[-1][0]) - 80)  # clear of the line below the text
        text(x(points[-1][0]), above - 6, f"{name} {points[-1][1]:.3f}", "end", f'fill="{COLOURS.get(name, "#555")}"')


def main():
    out = []
    for i, spec in enumerate(sys.argv[2:]):
        panel(spec, i * (WIDTH + GAP), out)
    width = len(sys.argv[2:]) * (WIDTH + GAP)
    with open(sys.argv[1], "w") as f:
        f.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}" font-family="sans-serif" font-size="12">\n'
                f'<rect width="{width}" height="{HEIGHT}" fill="white"/>\n' + "\n".join(out) + "\n</svg>\n")


if __name__ == "__main__":
    main()
