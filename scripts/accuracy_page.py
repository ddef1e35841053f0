#!/usr/bin/env python3
"""Writes docs/accuracy.md from models/*.safetensors and models/evaluations/*.json: what the shipped models reach, beside the paper.

    scripts/accuracy_page.py            write docs/accuracy.md
    scripts/accuracy_page.py --check    fail if docs/accuracy.md is not what the evaluations say
"""
import json, pathlib, struct, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ["soup", "oup", "dvdp", "cfhn-x1x2", "cfhn-x1", "cfhn-mean", "airfoil"]
PAPER_LENGTH = {"soup": 1000, "oup": 1000, "dvdp": 500, "cfhn-x1x2": 1500, "cfhn-x1": 1500, "cfhn-mean": 1500, "airfoil": 1000}
PAPER_HOURS = {"soup": 5.8, "oup": 12.5, "dvdp": 9.7, "cfhn-x1x2": 23.1, "cfhn-x1": 22.0, "cfhn-mean": 23.0, "airfoil": 25.4}
PAPER_OUP = {"N = 10": (["0.085/0.081", "0.139/0.113", "0.061/0.064", "0.126/0.107", "0.093/0.075"], "-6.495/1.974"),
             "N = 20": (["0.085/0.081", "0.138/0.113", "0.060/0.064", "0.126/0.107", "0.092/0.075"], "-6.558/1.928")}


def read_model(name):
    """What the model file says of its training, without reading the weights."""
    path = ROOT / "models" / f"{name}.safetensors"
    if not path.exists():
        return None
    with path.open("rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        text = header["__metadata__"]
        offset, end = header["curve"]["data_offsets"]
        file.seek(8 + struct.unpack("<Q", path.open("rb").read(8))[0] + offset)
        rows = struct.unpack(f"<{(end - offset) // 8}d", file.read(end - offset))
    summary = json.loads(text["summary"])
    return {"training": json.loads(text["training"]), "curve": [rows[i:i + 6] for i in range(0, len(rows), 6)], "bytes": path.stat().st_size, **summary}


def read_evaluation(name, length):
    path = ROOT / "models" / "evaluations" / f"{name}-{length}.json"
    return json.loads(path.read_text()) if path.exists() else None


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows] + [""]


def nll(e):
    return f"{e['nll']['mean']:.3f}/{e['nll']['sd']:.3f}"


def errors(e):
    return [f"{p['absolute_error']['mean']:.3f}/{p['absolute_error']['sd']:.3f}" for p in e["parameters"]]


def coverage(p, level):
    return next(100 * c["share"] for c in p["coverage"] if c["level"] == level)


def span(values, form):
    return f"{form.format(min(values))} to {form.format(max(values))}"


def trained(model):
    return f"{model['minutes']:.0f} min on one core, {model['trajectories'] / 1e6:.1f} M trajectories"


def trend(model):
    """NLL on the training's own held set at a quarter, a half and all of the budget. The learning rate falls to zero only at the end, so the
    early numbers are worse than a training of that many minutes would be."""
    total = model["curve"][-1][0]
    at = lambda share: min(model["curve"], key=lambda row: abs(row[0] - share * total))
    return [f"{at(share)[4]:.3f}" for share in (0.25, 0.5, 1.0)]


def page():
    out = ["# Accuracy of the shipped models", "",
           "Written by `scripts/accuracy_page.py` from `models/evaluations/`, which `scripts/train_models.sh` makes. Every number is from 20,000 trajectories that no",
           "training has seen, in the parameters' own units; NLL and absolute errors as mean/SD. NLL is the mean of -ln q(truth): smaller is better.", ""]
    models = {name: read_model(name) for name in MODELS + ["soup-paper", "oup-paper"]}
    missing = [name for name in MODELS if not models[name] or not read_evaluation(name, PAPER_LENGTH[name])]
    if missing:
        out += ["Not trained yet: " + ", ".join(missing) + ".", ""]

    e = read_evaluation("oup", 1000)
    if e:
        out += ["## oup: fractional and Lévy noise", ""]
        rows = [[f"paper, {label}", "12.5 h RTX 4090", *cells, value] for label, (cells, value) in PAPER_OUP.items()]
        rows.append(["penn, N = 10", trained(models["oup"]), *errors(e), nll(e)])
        if (lstm := read_evaluation("oup-paper", 1000)):
            rows.append(["penn, preset `paper`, N = 10", trained(models["oup-paper"]), *errors(lstm), nll(lstm)])
        out += table(["model, n = 1000", "training", *[p["name"] for p in e["parameters"]], "NLL"], rows)

    e = read_evaluation("dvdp", 500)
    if e:
        out += ["## dvdp: Duffing-van der Pol oscillator", ""]
        out += table(["model, n = 500", "training", "NLL"], [["paper, full covariance, N = 10", "9.7 h RTX 4090", "-9.357/3.721"], ["paper, diagonal, N = 10", "", "-8.529/3.646"],
                      ["paper, diagonal, N = 30", "", "-8.833/3.590"], ["penn, full covariance, N = 10", trained(models["dvdp"]), nll(e)]])

    rows = []
    for name, length in (("soup", 200), ("soup", 1000), ("soup", 5000), ("soup-paper", 1000)):
        if (e := read_evaluation(name, length)):
            rows.append([name, length, trained(models[name]), nll(e), nll(e["exact"]), f"{e['exact']['gap']['mean']:.3f} ± {e['exact']['gap']['error']:.3f}"])
    if rows:
        out += ["## soup: against the exact posterior", "", "The Ornstein-Uhlenbeck process has an exact posterior; the gap is what the network loses, in nats."]
        out += ["", *table(["model", "n", "training", "NLL", "exact NLL, same trajectories", "gap"], rows)]

    rows, pairs = [], []
    for name in MODELS + ["soup-paper", "oup-paper"]:
        for length in (200, 500, 1000, 1500, 2000, 5000):
            if (e := read_evaluation(name, length)):
                p = e["parameters"]
                rows.append([name, length, nll(e), span([x["z"]["mean"] for x in p], "{:+.2f}"), span([x["z"]["sd"] for x in p], "{:.2f}"),
                             span([coverage(x, 0.5) for x in p], "{:.1f}"), span([coverage(x, 0.9) for x in p], "{:.1f}"), f"{100 * e['outside_mass']:.1f}"])
                if length == PAPER_LENGTH.get(name):
                    pairs.append([name, ", ".join(f"({c['first']}, {c['second']}) {c['mean']:+.2f} ({c['sd']:.2f})" for c in sorted(e["correlations"], key=lambda c: -abs(c["mean"]))[:8])])
    if rows:
        out += ["## Calibration", "", "Smallest and largest over the parameters. z = (estimate - truth) / posterior SD; 90 % intervals should hold the truth in 90 % of the trajectories."]
        out += ["", *table(["model", "n", "NLL", "mean z", "SD of z", "50 % coverage", "90 % coverage", "mass outside the box, %"], rows)]
        out += ["## Couplings", "", "Mean (SD) of the posterior correlation over the trajectories, the strongest first.", "", *table(["model", "pairs"], pairs)]

    rows = [[name, f"{PAPER_HOURS.get(name, '')}", f"{models[name]['minutes']:.0f}", f"{models[name]['trajectories'] / 1e6:.2f}", f"{models[name]['lengths'][0]} to {models[name]['lengths'][1]}"
             if models[name]["lengths"][0] < models[name]["lengths"][1] else models[name]["lengths"][0], f"{models[name]['bytes'] / 1e6:.1f}", *trend(models[name])]
            for name in models if models[name]]
    if rows:
        out += ["## Cost, and what more would give", "", "Held-set NLL of the training after a quarter, a half and all of its minutes, over all its lengths; the rate falls to zero only at the end,",
                "so the early numbers are worse than what a training of that many minutes reaches.", ""]
        out += table(["model", "paper, GPU hours", "CPU minutes, one core", "million trajectories", "lengths", "MB", "NLL at 1/4", "at 1/2", "at the end"], rows)
    notes = ROOT / "docs" / "accuracy_notes.md"
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
