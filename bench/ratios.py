#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Medians of a run as a Markdown table of ratios to the hand row, and a comparison with a committed run.

ratios.py results.json                            print the table
ratios.py results.json --check baseline.json      fail where a ratio of ours grew by more than the tolerance (default 0.15)
ratios.py results.json --write baseline.json      what --check compares with
Times differ from machine to machine; ratios of rows that ran interleaved in one process carry over.
"""
import argparse
import json
import statistics
import sys


def medians(path):
    with open(path) as file:
        report = json.load(file)
    samples = {}
    for row in report["benchmarks"]:
        if row.get("run_type") == "iteration":
            unit = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}[row["time_unit"]]
            samples.setdefault(row["name"].split("/repeats")[0], []).append(row["cpu_time"] * unit)
    rows = {}
    for name, times in samples.items():
        parts = name.split("/")
        if len(parts) == 3:
            rows.setdefault((parts[0], parts[2]), {})[parts[1]] = statistics.median(times)
    return report.get("context", {}), rows


# What a workload is compared with, the first that it has.
references = ["hand", "eigen_exp", "eigen", "compiled", "libm"]


def reference_of(row):
    return next((r for r in references if r in row), None)


def spell(nanoseconds):
    for limit, unit in ((1e3, "ns"), (1e6, "us"), (1e9, "ms")):
        if nanoseconds < limit:
            return f"{nanoseconds / limit * 1e3:.3g} {unit}"
    return f"{nanoseconds / 1e9:.3g} s"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("results")
    options.add_argument("--check")
    options.add_argument("--write")
    options.add_argument("--tolerance", type=float, default=0.15)
    given = options.parse_args()
    context, rows = medians(given.results)

    ratios = {}
    print("| workload | size | reference | " + "ratio to it |\n|---|---|---|---|")
    for (workload, size), row in sorted(rows.items(), key=lambda r: (r[0][0], float(r[0][1]) if r[0][1].replace("e", "").isdigit() else 0)):
        reference = reference_of(row)
        if reference is None:
            print(f"| {workload} | {size} | | " + ", ".join(f"{k} {spell(v)}" for k, v in row.items()) + " |")
            continue
        base = row[reference]
        others = ", ".join(f"{'**' if k == 'tenure' else ''}{k} {v / base:.2f}{'**' if k == 'tenure' else ''}" for k, v in row.items() if k != reference)
        print(f"| {workload} | {size} | {reference} {spell(base)} | {others} |")
        if "tenure" in row:
            ratios[f"{workload}/{size}"] = round(row["tenure"] / base, 3)

    if given.write:
        with open(given.write, "w") as file:
            json.dump({"compiler": context.get("compiler", ""), "machine": context.get("machine", ""), "ratios": ratios}, file, indent=1)
            file.write("\n")
    if given.check:
        with open(given.check) as file:
            wanted = json.load(file)["ratios"]
        slower = [(name, wanted[name], ratio) for name, ratio in ratios.items() if name in wanted and ratio > wanted[name] * (1 + given.tolerance)]
        for name, before, now in slower:
            print(f"slower: {name}: {now:.2f} of its reference, was {before:.2f}", file=sys.stderr)
        sys.exit(1 if slower else 0)


if __name__ == "__main__":
    main()
