#!/usr/bin/env python3
"""Writes the seed of fuzz_model: a complete model of a few kilobytes, without checksum, so that changed bytes reach the code behind it."""
import json, random, struct, sys

SYSTEM = """name = "s"
[parameters]
a = [0, 1]
[noise]
B = "gaussian()"
[observe]
x = "a*B"
[simulation]
sampling = 1
length = 12
"""
H, W, N, M = 2, 3, 1, 1
K = N * (1 + 2 * M)
random.seed(1)
tensors = {}
def add(name, shape, dtype="F32", values=None):
    count = 1
    for s in shape: count *= s
    values = values or [random.uniform(-1, 1) for _ in range(count)]
    tensors[name] = (dtype, shape, struct.pack("<%d%s" % (count, "f" if dtype == "F32" else "d"), *values))
add("curve", [1, 6], "F64", [1, 2, 3, -1, -1, 0])
p = "network.encoder_lstm."
add(p + "input.centre", [1]); add(p + "input.unit", [1, 1], values=[1.5])
for name, shape in (("weight_ih", [4 * H, 1]), ("weight_hh", [4 * H, H]), ("bias_ih", [4 * H]), ("bias_hh", [4 * H])): add(p + "lstm." + name + "_l0", shape)
for layer, inputs in (("l1", H), ("l2", W), ("l3", W), ("skip", H)):
    add("network.decoder.block1.%s.weight" % layer, [W, inputs]); add("network.decoder.block1.%s.bias" % layer, [W])
add("network.decoder.last.weight", [K, W]); add("network.decoder.last.bias", [K])
add("typicality.mean", [H]); add("typicality.directions", [1, H], values=[1, 0]); add("typicality.spread", [1], values=[1])
for name in ("inside", "outside"): add("typicality." + name, [1001], values=[i / 100 for i in range(1001)])
add("values.low", [1], values=[-3]); add("values.high", [1], values=[3])
network = {"inputs": 1, "parameters": M, "components": N, "covariance": "full", "encoders": ["lstm"], "encoder_settings": {"lstm": {"hidden": H, "layers": 1}},
           "link": "widths", "decoder_blocks": 1, "decoder_width": W, "length": [12, 12], "sampling": [1, 1]}
summary = {"lengths": [12, 12], "sampling": [1, 1], "quantised": [False], "discarded_fraction": 0, "validation_nll": -1, "steps": 1, "trajectories": 1, "minutes": 1}
head, at, body = {"__metadata__": {"format": "penn model 2", "version": "0", "system": SYSTEM, "observation": "", "network": json.dumps(network), "training": "{}",
                                   "summary": json.dumps(summary)}}, 0, b""
for name, (dtype, shape, data) in tensors.items():
    head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
    at += len(data)
    body += data
text = json.dumps(head).encode()
text += b" " * (-len(text) % 8)
open(sys.argv[1], "wb").write(struct.pack("<Q", len(text)) + text + body)
