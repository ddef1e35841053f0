#!/usr/bin/env python3
"""Writes docs/accuracy.md from models/evaluations/*.json (and the loss curves in models/*.safetensors): what the shipped models reach, beside the paper.

    scripts/accuracy_page.py            write docs/accuracy.md
    scripts/accuracy_page.py --check    fail if docs/accuracy.md is not what the evaluations say
"""
import json, pathlib, struct, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHIPPED = ["soup", "oup", "dvdp", "cfhn-x1x2", "cfhn-x1", "cfhn-mean", "airfoil"]
BESIDE = ["soup-quarter", "soup-paper", "oup-45", "oup-paper", "dvdp-full-10", "dvdp-diagonal-10", "dvdp-diagonal-30"]  # for comparison; of these soup-paper is shipped
LENGTH = {"soup": 1000, "oup": 1000, "dvdp": 500, "cfhn-x1x2": 1500, "cfhn-x1": 1500, "cfhn-mean": 1500, "airfoil": 1000,  # the paper's
          "soup-paper": 1000, "soup-quarter": 1000, "oup-45": 1000, "oup-paper": 1000, "dvdp-full-10": 500, "dvdp-diagonal-10": 500, "dvdp-diagonal-30": 500}
PAPER_HOURS = {"soup": 5.8, "oup": 12.5, "dvdp": 9.7, "cfhn-x1x2": 23.1, "cfhn-x1": 22.0, "cfhn-mean": 23.0, "airfoil": 25.4}
PAPER_OUP = {"N = 10": (["0.085/0.081", "0.139/0.113", "0.061/0.064", "0.126/0.107", "0.093/0.075"], "-6.495/1.974"),
             "N = 20": (["0.085/0.081", "0.138/0.113", "0.060/0.064", "0.126/0.107", "0.092/0.075"], "-6.558/1.928")}
PAPER_COUPLINGS = {
    "soup": [("lg_tau", "D", "positive")],
    "oup": [("D_fgn", "D_levy", "negative where alpha is near 2")],
    "dvdp": [("b1", "b2", "strongly positive"), ("D1", "tau1", "strongly positive"), ("D2", "tau2", "strongly positive"), ("eps", "b1", "weakly negative"), ("D1", "D2", "near 0"),
             ("tau1", "tau2", "near 0")],
    "cfhn-x1x2": [("c1", "D1", "negative"), ("c2", "D2", "negative")],
    "airfoil": [("U0", "a_h", "-0.57"), ("a_h", "mu", "+0.47"), ("U0", "beta3", "positive"), ("U0", "gamma3", "positive"), ("beta3", "gamma3", "positive"), ("x_phi", "r_phi", "positive"),
                ("D_gauss", "D_levy", "-0.16"), ("alpha", "D_levy", "+0.12")]}
# model, n, what, floor, aims: smaller is better
TARGETS = [("soup", 200, "gap to the exact posterior", 0.10, [0.02]), ("soup", 1000, "gap to the exact posterior", 0.05, [0.02]), ("soup", 5000, "gap to the exact posterior", 0.10, [0.02]),
           ("oup", 1000, "NLL", -6.50, [-6.56, -6.70]), ("dvdp", 500, "NLL", -9.36, [-9.70])]
Z_FLOOR, Z_AIM, COVERAGE_FLOOR, COVERAGE_AIM = (0.93, 1.07), (0.97, 1.03), (88, 92), (89, 91)


def read_evaluation(name, length=None):
    path = ROOT / "models" / "evaluations" / f"{name}-{length or LENGTH[name]}.json"
    return json.loads(path.read_text()) if path.exists() else None


def lengths_of(name):
    found = [int(path.stem.removeprefix(name + "-")) for path in (ROOT / "models" / "evaluations").glob(f"{name}-*.json") if path.stem.removeprefix(name + "-").isdigit()]
    return sorted(found)


def read_model(name):
    """Of a shipped model: rows of minutes, step, trajectories, training NLL, validation NLL, learning rate; the size of the file; its scale factors."""
    path = ROOT / "models" / f"{name}.safetensors"
    if not path.exists():
        return None, None, []
    with path.open("rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header = json.loads(file.read(size))
        offset, end = header["curve"]["data_offsets"]
        file.seek(8 + size + offset)
        values = struct.unpack(f"<{(end - offset) // 8}d", file.read(end - offset))
    scales = json.loads((header["__metadata__"].get("recalibration") or header["__metadata__"].get("widths") or '{"factors": []}'))["factors"]
    return [values[i:i + 6] for i in range(0, len(values), 6)], path.stat().st_size, scales


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows] + [""]


def nll(e):
    return f"{e['nll']['mean']:.3f}/{e['nll']['sd']:.3f}"


def errors(e):
    return [f"{p['absolute_error']['mean']:.3f}/{p['absolute_error']['sd']:.3f}" for p in e["parameters"]]


def z_sds(e):
    return [p["z"]["sd"] for p in e["parameters"]]


def coverages(e, level):
    return [100 * c.get("fraction", c.get("share")) for p in e["parameters"] for c in p["coverage"] if c["level"] == level]


def coupling(e, a, b):
    return next(c for c in e["correlations"] if {c["first"], c["second"]} == {a, b})


def span(values, form):
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


def trained(e):
    return f"{e['training']['minutes']:.0f} min on one core, {e['training']['trajectories'] / 1e6:.1f} M trajectories"


def verdict(value, floor, aims):
    reached = [aim for aim in aims if value <= aim]
    if value > floor:
        return f"**missed** by {value - floor:.3f}"
    return f"aim of {reached[-1]} met" if reached else "floor met"


def range_verdict(values, floor, aim):
    within = lambda limits: limits[0] <= min(values) and max(values) <= limits[1]
    return "aim met" if within(aim) else "floor met" if within(floor) else "**missed**"


def targets():
    rows = []
    for name, length, what, floor, aims in TARGETS:
        if (e := read_evaluation(name, length)):
            value = e["nll"]["mean"] if what == "NLL" else e["exact"]["gap"]["mean"]
            rows.append([f"{name}, n = {length}", what, floor, ", ".join(map(str, aims)), f"{value:.3f}", verdict(value, floor, aims)])
    for name in SHIPPED:
        if (e := read_evaluation(name)):
            z, c = z_sds(e), coverages(e, 0.9)
            rows.append([f"{name}, n = {LENGTH[name]}", "SD of z, every parameter", "{} to {}".format(*Z_FLOOR), "{} to {}".format(*Z_AIM), span(z, "{:.3f}"), range_verdict(z, Z_FLOOR, Z_AIM)])
            rows.append(["", "90 % interval holds the truth, %", "{} to {}".format(*COVERAGE_FLOOR), "{} to {}".format(*COVERAGE_AIM), span(c, "{:.1f}"), range_verdict(c, COVERAGE_FLOOR, COVERAGE_AIM)])
    return rows


def page():
    out = ["# Accuracy of the shipped models", "",
           "Written by `scripts/accuracy_page.py` from `models/evaluations/`, which `scripts/train_models.sh` makes. Every number is from 20,000 trajectories that no",
           "training has seen, in the parameters' own units; NLL and absolute errors as mean/SD. NLL is the mean of -ln q(truth): smaller is better.", ""]
    missing = [name for name in SHIPPED + BESIDE if not read_evaluation(name)]
    if missing:
        out += ["Not trained yet: " + ", ".join(missing) + ".", ""]
    out += ["## What was asked, and what was reached", "", "Floor: the least that was asked. Aim: what was hoped for.", "", *table(["model", "measure", "floor", "aim", "measured", ""], targets())]

    if (e := read_evaluation("oup")):
        out += ["## oup: fractional and Lévy noise", ""]
        rows = [[f"paper, {label}", "12.5 h RTX 4090", *cells, value] for label, (cells, value) in PAPER_OUP.items()]
        rows.append(["penn, N = 10, shipped", trained(e), *errors(e), nll(e)])
        rows += [[f"penn, preset `{preset}`, N = 10, 45 minutes", trained(d), *errors(d), nll(d)] for preset, name in (("fast", "oup-45"), ("paper", "oup-paper")) if (d := read_evaluation(name))]
        out += table(["model, n = 1000", "training", *[p["name"] for p in e["parameters"]], "NLL"], rows)

    if (e := read_evaluation("dvdp")):
        out += ["## dvdp: Duffing-van der Pol oscillator", ""]
        rows = [["paper, full covariance, N = 10", "9.7 h RTX 4090", "-9.357/3.721"], ["paper, diagonal, N = 10", "", "-8.529/3.646"], ["paper, diagonal, N = 30", "", "-8.833/3.590"],
                ["penn, full covariance, N = 10, shipped", trained(e), nll(e)]]
        rows += [[f"penn, {label}", trained(d), nll(d)] for label, name in (("full, N = 10, one length", "dvdp-full-10"), ("diagonal, N = 10", "dvdp-diagonal-10"), ("diagonal, N = 30", "dvdp-diagonal-30")) if (d := read_evaluation(name))]
        out += table(["model, n = 500", "training", "NLL"], rows)

    rows = [[name, length, trained(e), nll(e), nll(e["exact"]), f"{e['exact']['gap']['mean']:.3f} ± {e['exact']['gap']['error']:.3f}"]
            for name in ("soup", "soup-quarter", "soup-paper") for length in lengths_of(name) if (e := read_evaluation(name, length))]
    out += ["## soup: against the exact posterior", "", "The Ornstein-Uhlenbeck process has an exact posterior; the gap is what the network loses, in nats. `soup` and `soup-paper` had the same minutes on one core of the same kind of machine."]
    out += ["", *table(["model", "n", "training", "NLL", "exact NLL, same trajectories", "gap"], rows)]

    rows, pairs = [], []
    for name in SHIPPED + BESIDE:
        for length in lengths_of(name):
            e = read_evaluation(name, length)
            joint = next(100 * c.get("fraction", c.get("share")) for c in e["joint"]["coverage"] if c["level"] == 0.9)
            rows.append([name, length, nll(e), span([p["z"]["mean"] for p in e["parameters"]], "{:+.2f}"), span(z_sds(e), "{:.2f}"), span(coverages(e, 0.5), "{:.1f}"),
                         span(coverages(e, 0.9), "{:.1f}"), f"{joint:.1f}", f"{100 * e['outside_mass']:.1f}"])
        if (e := read_evaluation(name)):
            for a, b, said in PAPER_COUPLINGS.get(name, []):
                pairs.append([name, f"{a}, {b}", "{mean:+.2f} ({sd:.2f})".format(**coupling(e, a, b)), said])
    out += ["## Calibration", "", "Smallest and largest over the parameters. z = (estimate - truth) / posterior SD; 90 % intervals should hold the truth in 90 % of the trajectories.",
            "The regions are those of highest density, of all parameters together. At other lengths than the paper's too; oup at 10,000 is twice what it was trained for.", ""]
    out += table(["model", "n", "NLL", "mean z", "SD of z", "50 % coverage", "90 % coverage", "90 % regions", "mass outside the box, %"], rows)
    out += ["## Couplings", "", "Posterior correlation, mean (SD) over the trajectories, of the pairs the paper speaks of.", "", *table(["model", "pair", "penn", "paper"], pairs)]

    rows = []
    for name in SHIPPED + BESIDE:
        if (e := read_evaluation(name)):
            (curve, size, scales), t = read_model(name), e["training"]
            at = lambda minutes: f"{max((row for row in curve if row[0] <= minutes + 0.5), key=lambda row: row[0])[4]:.3f}" if curve and t["minutes"] >= minutes else ""
            rows.append([name, PAPER_HOURS.get(name, ""), f"{t['minutes']:.0f}", f"{t['trajectories'] / 1e6:.2f}", t["lengths"][0] if t["lengths"][0] == t["lengths"][1] else "{} to {}".format(*t["lengths"]),
                         f"{size / 1e6:.1f}" if size else "not shipped", at(10), at(30), at(60), f"{t['validation_nll']:.3f}", f"{float(at(t['minutes'] / 2)) - curve[-1][4]:.2f}" if curve else "", span(scales, "{:.2f}") if scales else ""])
    out += ["## Cost, and what more would give", "", "Validation NLL of each training after 10, 30, 60 and all of its minutes, over all its lengths; the rate falls to zero only at the end,",
            "so the early numbers are worse than what a training of that many minutes reaches. The last but one is what the second half of the minutes gave: the trend, as far as one",
            "training shows it, before recalibration ([how](notes/recipe.md)); by which factors, over all parameters and lengths, says the last.", ""]
    out += table(["model", "paper, GPU hours", "CPU minutes, one core", "million trajectories", "lengths", "MB", "NLL after 10 min", "30 min", "60 min", "at the end", "second half", "scales times"], rows)
    quarters = [(length, q, e) for length in lengths_of("soup-quarter") if (q := read_evaluation("soup-quarter", length)) and (e := read_evaluation("soup", length))]
    if quarters:
        gap = lambda e: e["exact"]["gap"]["mean"]
        out += ["`soup`, whose aim is a gap of 0.02 nats to the exact posterior, beside the same trained for a quarter of the minutes (`soup-quarter`): two doublings.", ""]
        out += table(["n", f"gap after {quarters[0][1]['training']['minutes']:.1f} min", f"after {quarters[0][2]['training']['minutes']:.0f} min", "gained per doubling of the minutes"],
                     [[length, f"{gap(q):.3f} ± {q['exact']['gap']['error']:.3f}", f"{gap(e):.3f} ± {e['exact']['gap']['error']:.3f}", f"{(gap(q) - gap(e)) / 2:.3f}"] for length, q, e in quarters])
    notes = ROOT / "scripts" / "accuracy_notes.md"
    if notes.exists():
        out += [notes.read_text().strip(), ""]
    return "\n".join(out)


if __name__ == "__main__":
    target, text = ROOT / "docs" / "accuracy.md", page()
    if "--check" in sys.argv[1:]:
        if not target.exists() or target.read_text() != text:
            sys.exit("docs/accuracy.md is not what models/evaluations say; write it with scripts/accuracy_page.py")
    else:
        target.write_text(text)
