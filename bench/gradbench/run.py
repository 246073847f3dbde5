#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""run.py CHECKOUT OURS THEIRS RESULT [FILTER]: measures our programs beside those of the tool `manual` of a checkout of GradBench (or `finite`, for
evals that it lacks), in turns, so that a slow minute of the machine does not fall on one of them. Compares the results with
the tolerance of GradBench's validators, prints the table and writes RESULT. Inputs have the sizes of the evals, and where the evals read data of the
checkout, so do they."""
import glob
import json
import math
import os
import random
import subprocess
import sys
import tempfile


def uniform(r, *extents):
    return [uniform(r, *extents[1:]) for _ in range(extents[0])] if extents else r.random()


def normal(r, *extents):
    return [normal(r, *extents[1:]) for _ in range(extents[0])] if extents else r.gauss(0, 1)


def gmm(r, d, k, n):
    return dict(d=d, k=k, n=n, m=0, gamma=1.0, x=normal(r, n, d), alpha=normal(r, k), mu=uniform(r, k, d), q=normal(r, k, d),
                l=normal(r, k, d * (d - 1) // 2))


def ba(checkout, number):
    [file] = glob.glob(f"{checkout}/evals/ba/data/ba{number}_*.txt")
    lines = [line.split() for line in open(file)]
    n, m, p = map(int, lines[0])
    cam, x, w, feat = ([float(v) for v in line] for line in lines[1:5])
    return dict(n=n, m=m, p=p, cam=cam, x=x, w=w[0], feat=feat)


def lstm(r, checkout, layers, characters):
    file, bits = f"{checkout}/evals/lstm/data/lstm_full.txt", 14
    if os.path.exists(file):
        text = open(file, encoding="utf8").read(characters)
        bits = math.ceil(math.log2(max(map(ord, text))))
    else:  # a checkout without the large files
        text = "".join(open(f, encoding="utf8").read() for f in sorted(glob.glob("docs/*.md")))[:characters]
    return dict(main_params=uniform(r, 2 * layers, 4 * bits), extra_params=uniform(r, 3, bits), state=uniform(r, 2 * layers, bits),
                sequence=[[float(b) for b in format(ord(c), f"0{bits}b")] for c in text])


def kmeans(r, k, n, d):
    points = uniform(r, n, d)
    return dict(points=points, centroids=points[-k:])


def hand(checkout, variant, number):
    folder = f"{checkout}/evals/ht/data/{variant}"
    bones = [line.strip().split(":") for line in open(f"{folder}/model/bones.txt")]
    square = lambda numbers: [[float(v) for v in numbers[4 * i:4 * i + 4]] for i in range(4)]
    positions, weights = [], []
    for line in open(f"{folder}/model/vertices.txt"):
        atoms = line.strip().split(":")
        positions.append([float(v) for v in atoms[:3]] + [1.0])
        row = [0.0] * len(bones)
        for i in range(int(atoms[8])):
            row[int(atoms[9 + 2 * i])] = float(atoms[10 + 2 * i])
        weights.append(row)
    model = dict(bone_count=len(bones), bone_names=[b[0] for b in bones], parents=[int(b[1]) for b in bones],
                 base_relatives=[square(b[2:18]) for b in bones], inverse_base_absolutes=[square(b[18:34]) for b in bones],
                 base_positions=positions, weights=weights, is_mirrored=False,
                 triangles=[[int(v) for v in line.split(":")] for line in open(f"{folder}/model/triangles.txt")])
    [file] = glob.glob(f"{folder}/hand{number}_*.txt")
    lines = [line.split() for line in open(file)]
    n, parameters = int(lines[0][0]), int(lines[0][1])
    at = 1 + n
    us = []
    if variant.startswith("complicated"):
        us = [[float(v) for v in line] for line in lines[at:at + n]]
        at += n
    return dict(theta=[float(line[0]) for line in lines[at:at + parameters]], us=us,
                data=dict(model=model, correspondences=[int(line[0]) for line in lines[1:1 + n]],
                          points=[[float(v) for v in line[1:]] for line in lines[1:1 + n]]))


def inputs(checkout):
    """{eval: (functions, {name: how to make the input from a random generator})}"""
    return {
        "hello": (["square", "double"], {"3": lambda r: 3.0}),
        "lse": (["primal", "gradient"], {str(n): lambda r, n=n: dict(x=uniform(r, n)) for n in (2500, 160000)}),
        "llsq": (["primal", "gradient"], {str(n): lambda r, n=n: dict(x=uniform(r, 128), n=n) for n in (256, 4096)}),
        "gmm": (["objective", "jacobian"], {f"d{d} K{k}": lambda r, d=d, k=k: gmm(r, d, k, 1000) for d, k in ((10, 25), (64, 50))}),
        "ba": (["objective", "jacobian"], {str(i): lambda r, i=i: ba(checkout, i) for i in (1, 8)}),
        "lstm": (["objective", "jacobian"], {f"l{l} c{c}": lambda r, l=l, c=c: lstm(r, checkout, l, c) for l, c in ((2, 1024), (4, 4096))}),
        "kmeans": (["cost", "dir"], {f"k{k} n{n} d{d}": lambda r, k=k, n=n, d=d: kmeans(r, k, n, d)
                                     for k, n, d in ((10, 1000, 8), (100, 10000, 8), (1000, 10000, 16))}),
        "ode": (["primal", "gradient"], {f"{n} s{s}": lambda r, n=n, s=s: dict(x=uniform(r, n), s=s) for n, s in ((1000, 10), (10000, 10))}),
        "ht": (["objective", "jacobian"], {f"{v} {i}": lambda r, v=v, i=i: hand(checkout, v, i)
                                           for v, i in (("simple_small", 1), ("complicated_small", 5), ("simple_big", 5), ("complicated_big", 8))}),
        "det": (["primal", "gradient"], {str(n): lambda r, n=n: dict(A=uniform(r, n * n), ell=n) for n in (5, 7, 9)}),
        "particle": (["ff", "fr", "rf", "rr"], {"0": lambda r: dict(w=0.0)}),
        "saddle": (["ff", "fr", "rf", "rr"], {"1 1": lambda r: dict(start=[1.0, 1.0])}),
    }


# GradBench's expected values of the two evals that the `manual` tool lacks.
EXPECTED = {"particle": 0.2071918746486116, "saddle": [8.246324826140356e-06] * 4}


def run(program, file, function):
    lines = subprocess.run([program, file, function], check=True, capture_output=True, text=True).stdout.splitlines()
    times = [json.loads(line) for line in lines[1:]]
    return json.loads(lines[0]), min(t["nanoseconds"] for t in times if t["name"] == "evaluate")


def differences(a, b, at=""):
    """Where b is not what a has, as GradBench's validators compare."""
    if isinstance(a, dict) or isinstance(b, dict):
        if not isinstance(a, dict) or not isinstance(b, dict) or a.keys() != b.keys():
            return [f"{at}: other names"]
        return [d for key in a for d in differences(a[key], b[key], f"{at}/{key}")]
    if isinstance(a, list) or isinstance(b, list):
        if not isinstance(a, list) or not isinstance(b, list) or len(a) != len(b):
            return [f"{at}: other lengths"]
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in differences(x, y, f"{at}[{i}]")]
    if a is None or b is None:
        return [f"{at}: {a} and {b}"] if a is not b else []
    return [f"{at}: {a} and {b}"] if not abs(a - b) / max(1, abs(a) + abs(b)) <= 1e-4 else []


def main():
    checkout, ours, theirs, result = sys.argv[1:5]
    wanted = sys.argv[5] if len(sys.argv) > 5 else ""
    passes = int(os.environ.get("PASSES", "5"))
    seconds = float(os.environ.get("SECONDS_EACH", "0.2"))
    rows, wrong = [], 0
    print("| eval | function | input | Tenure, us | tool | its time, us | Tenure / tool |\n|---|---|---|---|---|---|---|")
    for name, (functions, made) in inputs(checkout).items():
        if wanted not in name or not os.path.exists(f"{ours}/{name}"):
            continue
        for label, make in made.items():
            value = make(random.Random(f"{name} {label}"))  # so that an input does not depend on the filter
            if isinstance(value, dict):
                value |= dict(min_runs=5, min_seconds=seconds)
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                json.dump(value, file)
                file.flush()
                for function in functions:
                    best = {}
                    found = {}
                    programs = {"tenure": f"{ours}/{name}"}
                    tool = "manual" if os.path.exists(f"{checkout}/tools/manual/{name}.cpp") else "finite"
                    if os.path.exists(f"{theirs}/{name}"):
                        programs[tool] = f"{theirs}/{name}"
                    for _ in range(passes):
                        for who, program in programs.items():
                            found[who], ns = run(program, file.name, function)
                            best[who] = min(ns, best.get(who, ns))
                    expected = found.get(tool, EXPECTED.get(name))
                    bad = differences(expected, found["tenure"]) if expected is not None else []
                    if bad:
                        wrong += 1
                        print(f"{name} {function} {label}: differs at {len(bad)} places: {bad[:3]}", file=sys.stderr)
                    rows.append(dict(eval=name, function=function, input=label, tenure_ns=best["tenure"], tool=tool if tool in best else None,
                                     tool_ns=best.get(tool), agrees=not bad if expected is not None else None))
                    other = " | | "
                    if tool in best:
                        other = f"{tool} | {best[tool] / 1e3:.4g} | {best['tenure'] / best[tool]:.3g}"
                    print(f"| {name} | {function} | {label} | {best['tenure'] / 1e3:.4g} | {other} |", flush=True)
    with open(result, "w") as file:
        json.dump(rows, file, indent=1)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
