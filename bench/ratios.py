#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What a run of the benchmarks says: Tenure's time as a ratio to every other row of the same workload and size.

ratios.py results.json                       the tables, in Markdown
ratios.py results.json --check FILE          exit status 1 where a ratio grew by more than the tolerance (default 0.15)
ratios.py results.json --baseline            write the ratios of this compiler and kind of processor to baseline.json
ratios.py results.json --publish             the same, and the tables in README.md and docs/performance.md
Times are medians of the processor time of all repetitions; of the time on the clock for rows of several threads. Ratios are taken
within a pass over all programs, and are medians of the passes: a minute in which the machine is slow would otherwise meet the two
rows of a ratio in different shares. Times differ from machine to machine, ratios within a run carry over.
"""
import argparse
import json
import re
import statistics
import sys
from pathlib import Path

root = Path(__file__).resolve().parents[1]

# What a workload is compared with first: the first of these that it has.
references = ["hand", "kept", "eigen_exp", "eigen", "ceres", "boost", "compiled", "uncounted", "keep_all", "straight", "unrolled", "value", "limit"]

# A row, what it is held against, and at most how many times as long it may take.
goals = [
    ("gradient/1e3", "hand", 0.65), ("gradient/1e5", "hand", 0.65), ("gradient/1e6", "hand", 0.65), ("gradient_f32/1e5", "hand", 0.85),
    ("forward/1e5", "eigen_exp", 0.60), ("forward_f32/1e7", "eigen", 1.05), ("forward_f32/1e7", "stream", 1.10),
    ("softmax/1024", "hand", 1.0), ("layer_norm/1024", "hand", 1.0), ("cross_entropy/1024", "hand", 1.0),
    ("mlp_step/1", "hand", 0.95), ("mlp_step/32", "hand", 0.88), ("mlp_step/256", "hand", 0.78),
    ("mlp_step/1", "libtorch", 1 / 5), ("mlp_step/32", "libtorch", 1 / 1.8), ("mlp_step/256", "libtorch", 1 / 1.2),
    ("forward_deep_f32/1e7", "one thread", 0.6), ("mlp_step/256", "one thread", 0.6),
    # 15 ns an expression that runs at once, where a new vector of Eigen takes 8 and an assignment to one 2.8
    ("eager_new/4", "heap", 1.1), ("eager_new_2/4", "heap", 1.3), ("eager_exp/4", "heap", 0.6), ("eager_assign/4", "heap", 3), ("eager_update/4", "heap", 3.5),
    ("eager_dot/4", "heap", 6), ("eager_chain/4", "heap", 6), ("borrowed_call/4", "eigen", 10), ("borrowed_dot/4", "eigen", 15),
    ("kalman/6", "hand", 1.1), ("kalman_rows/6", "hand", 1.1), ("kalman_scan/64", "hand", 1.1), ("arm/7", "hand", 1.2), ("arm_jacobian/7", "hand", 1.2),
    ("small_product/4", "eigen", 1.1), ("small_apply/4", "eigen", 1.1), ("small_add/4", "eigen", 1.1), ("small_dot/4", "eigen", 1.1), ("small_solve/4", "eigen", 1.1),
    ("small_solve/6", "eigen", 1.1), ("small_layer/20", "eigen", 1.1), ("small_layer/32", "eigen", 1.1), ("small_layer/40", "eigen", 1.1),
    ("small_layer_transposed/32", "eigen", 1.1), ("short_rows/2", "hand", 1.0), ("short_rows/3", "hand", 1.0), ("short_rows/8", "hand", 1.0),
    *((f"few_rows{t}/{n}", "kept", 1.1) for t in ("", "_f32") for n in (1, 2, 4, 8, 16)),
    *((f"one_{f}/{n}", "eigen", 1.1) for f in ("eigh", "svd", "lu", "cholesky", "qr") for n in (3, 4, 6)),
    *((f"batch_{f}/{n}", "eigen", goal) for f in ("eigh", "svd", "lu", "cholesky", "qr") for n, goal in ((3, 0.3), (8, 0.3), (32, 0.5))),
    ("bundle_jacobian/30000", "ceres", 0.15), ("bundle_solution/30000", "ceres", 0.5), ("pose_graph/2500", "ceres", 0.5),
    ("ceres_projection/12", "ceres", 0.7), ("ceres_edge/14", "ceres", 0.7), ("ceres_blocks/30000", "ceres", 0.7), ("ceres_bundle/30000", "ceres", 1.0),
    *((f"gaussian_process/{n}", "Eigen by hand", 0.9) for n in (50, 200, 500)), ("logistic/1e4", "hand", 1.0), ("logistic/1e4", "blocks", 1.0),
    *((f"special_{f}/1e4", "boost", 0.2) for f in ("lgamma", "digamma", "normal_cdf", "gammainc")),
    ("solves_3x3_f32/86268", "milliseconds", 1.0), ("solves_3x3_gradient_f32/86268", "milliseconds", 2.5),
    ("residual/12", "hand", 0.7), ("schools/8", "hand", 1.2), ("volatility/1e4", "hand", 1.1), ("paths/64", "hand", 1.1), ("paths_by_rows/64", "hand", 1.1),
    *((f"{cell}{layout}/{n}", "hand", 1.05) for cell, n in (("gru_cell", 32), ("lstm_cell", 20), ("lstm_cell", 40)) for layout in ("", "_transposed")),
    ("few_columns/9", "hand", 1.5), ("few_columns/17", "hand", 1.5), ("lennard_jones/256", "hand", 1.0),
    ("tiny_step/4", "hand", 1.0), ("chain4/4", "hand", 0.75), ("lstm/16", "hand", 1.0),
    ("rk4/1e4", "hand", 1.1), ("rk4_gradient/1e4", "hand", 1.2), ("while/1e6", "hand", 1.2), ("lstm/16", "without scan", 1.05),
    ("checkpoint/256", "keep_all", 1.35), ("one_iteration/1e3", "straight", 1.05), ("one_iteration/1e5", "straight", 1.05), ("layers/12", "unrolled", 1.03),
    ("projection_jacobian/1e5", "hand", 0.3), ("products_3x3/1e5", "hand", 1.0), ("rk4_steps/1e5", "hand", 0.3),
    *((f"conv2d{l}{g}/{c}", "pytorch", 1.0) for c in (32, 64, 256) for l in ("", "_nchw") for g in ("", "_gradients")),
    *((f"decode_{t}/16384", "read", 1.18) for t in ("f32", "bf16", "f16", "int8")),
    *((f"prefill_{t}/{n}", "pytorch", 0.8) for t in ("f32", "bf16") for n in (4, 16, 128)),
    ("gpt_4x128x64_bf16/8", "float32", 0.67), ("gpt_4x128x64/8", "hand", 0.5), ("gpt_2x64x64/4", "pytorch", 0.7), ("gpt_4x128x64/8", "pytorch", 0.7), ("gpt_2x128x1024/1", "pytorch", 0.7),
]  # fmt: skip
goals += [(f"{f}_{t}/1024", "peer", 1.0) for f in ("exp", "log", "log1p", "tanh", "sin", "erf") for t in ("f32", "f64")]

# Goals between other rows than ours and a peer's: what they are called, the row that is measured, and the row that it is divided by.
own_rows = {"one thread": ("tenure_2_threads", "tenure", "two threads"), "without scan": ("scan", "tenure", "by scan"),
            "Eigen by hand": ("tenure_eigen", "eigen", "TENURE_EIGEN_DECOMPOSITIONS")}  # fmt: skip

# The rows of the README: what they are called there, and which they are.
readme_rows = [
    ("value and 3 gradients of an elementwise sum, float64", "gradient", ["1e3", "1e5", "1e6"]),
    ("the same, float32", "gradient_f32", ["1e5", "1e7"]),
    ("training step of a 784-128-10 perceptron, batch 1, 32, 256", "mlp_step", ["1", "32", "256"]),
    ("LSTM, 16 steps, 64 wide, batch 16, with gradients", "lstm", ["16"]),
    ("gradient and update of a 2-8-1 perceptron, 4 samples", "tiny_step", ["4"]),
    ("sum of the product of four 4x4 matrices, 4 gradients", "chain4", ["4"]),
    ("softmax, 1024 x 1024, with gradient", "softmax", ["1024"]),
]


class Run:
    """rows[workload, size][implementation] is a median in nanoseconds, passes[number] the same of one pass; errors[...] the largest
    error in ulp where it was measured."""

    def __init__(self, path):
        with open(path) as file:
            report = json.load(file)
        self.context = report.get("context", {})
        samples, of_a_pass, self.errors, self.rates = {}, {}, {}, {}
        for row in report["benchmarks"]:
            if row.get("run_type") != "iteration" or row["name"].count("/") != 2:
                continue
            unit = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}[row["time_unit"]]
            time = row["real_time" if "threads" in row["name"] else "cpu_time"]
            name = tuple(row["name"].split("/"))
            samples.setdefault(name, []).append(time * unit)
            of_a_pass.setdefault(row.get("pass"), {}).setdefault(name, []).append(time * unit)
            if "ulp" in row:
                self.errors[name] = row["ulp"]
            for rate in ("GB/s", "GFLOP/s"):
                if rate in row:
                    self.rates.setdefault(name, []).append((row[rate], rate))
        self.rows = {}
        for (workload, implementation, size), times in samples.items():
            self.rows.setdefault((workload, size), {})[implementation] = statistics.median(times)
        self.passes = [{name: statistics.median(times) for name, times in rows.items()} for rows in of_a_pass.values()]

    @property
    def compiler(self):
        return "clang++" if "clang" in self.context.get("compiler", "") else "g++"

    @property
    def kind(self):
        """The compiler and the vectors of the processor: ratios of 512-bit and of 256-bit code are different."""
        return f"{self.compiler}, {self.context.get('vectors', 'AVX-512')}"

    def reference(self, workload, size):
        """The row that the ratio is taken to: for a function of math/, the fastest peer that was never more than 2 ulp off."""
        row = self.rows[workload, size]
        accurate = [peer for peer in row if peer != "tenure" and self.errors.get((workload, peer, size), 9) <= 2]
        if accurate:
            return min(accurate, key=row.get)
        return next((r for r in references if r in row), None)

    def ratios(self, workload, size, peer):
        """One a pass, in order of size."""
        if peer in own_rows:
            ours, theirs, _ = own_rows[peer]
        else:
            ours, theirs = "tenure", self.reference(workload, size) if peer == "peer" and (workload, size) in self.rows else peer
        ours, theirs = (workload, ours, size), (workload, theirs, size)
        return sorted(times[ours] / times[theirs] for times in self.passes if ours in times and theirs in times)

    def ratio(self, workload, size, peer):
        """The median of the passes; against "milliseconds" the time itself."""
        if peer == "milliseconds":
            return self.rows[workload, size]["tenure"] / 1e6 if (workload, size) in self.rows else None
        ratios = self.ratios(workload, size, peer)
        return statistics.median(ratios) if ratios else None

    def is_noisy(self, workload, size):
        """Are the ratios of the passes, but for the least and the largest, more than a tenth apart?"""
        ratios = self.ratios(workload, size, "peer")[1:-1]
        return bool(ratios) and ratios[-1] > 1.1 * ratios[0]

    def sorted(self):
        def number(size):
            return float(size) if re.fullmatch(r"[\d.e]+", size) else 0

        return sorted(self.rows.items(), key=lambda r: (r[0][0], number(r[0][1]), r[0][1]))


def spell(nanoseconds):
    for limit, unit in ((1e3, "ns"), (1e6, "us"), (1e9, "ms")):
        if nanoseconds < limit:
            return f"{nanoseconds / limit * 1e3:.3g} {unit}"
    return f"{nanoseconds / 1e9:.3g} s"


def spell_ratio(ratio):
    return f"{ratio:.2f}" if ratio >= 0.1 else f"1/{1 / ratio:.0f}"


def workloads_table(run):
    lines = ["| workload | size | Tenure | Tenure's time / |", "|---|---|---|---|"]
    for (workload, size), row in run.sorted():
        if "tenure" not in row or any((workload, peer, size) in run.errors for peer in row):
            continue
        first = run.reference(workload, size)
        peers = sorted((p for p in row if p != "tenure"), key=lambda p: (p != first, -row[p]))
        ratios = ", ".join(("**{} {}**" if p == first else "{} {}").format(p, spell_ratio(run.ratio(workload, size, p))) for p in peers)
        lines.append(f"| {workload} | {size}{' ~' if run.is_noisy(workload, size) else ''} | {spell(row['tenure'])} | {ratios} |")
    return lines


def functions_table(run):
    lines = ["| 1024 values in L1 | Tenure | ulp | fastest within 2 ulp | its ulp | ratio | faster but further off |", "|---|---|---|---|---|---|---|"]
    for (workload, size), row in run.sorted():
        if (workload, "tenure", size) not in run.errors:
            continue
        errors = {peer: f"{run.errors[workload, peer, size]:.2f}" for peer in row}
        peer, ours = run.reference(workload, size), row["tenure"]
        cells = [f"{peer} {spell(row[peer])}", errors[peer], f"{run.ratio(workload, size, peer):.2f}"] if peer else ["none", "", ""]
        others = [f"{p} {spell(row[p])}, {errors[p]} ulp" for p in row if row[p] < ours and run.errors[workload, p, size] > 2]
        lines.append(f"| {workload} | {spell(ours)} | {errors['tenure']} | {' | '.join(cells)} | {'; '.join(others)} |")
    return lines


def limits_table(run):
    lines = ["| limit | size | |", "|---|---|---|"]
    for (workload, size), row in run.sorted():
        for implementation in sorted(row):
            if workload.startswith("limit"):
                rates = run.rates[workload, implementation, size]
                name = workload if implementation == "limit" else f"{workload}, {implementation.replace('_', ' ')}"
                lines.append(f"| {name} | {size} | {statistics.median(r for r, _ in rates):.0f} {rates[0][1]} |")
    return lines


def goals_table(run):
    lines = ["| row | against | at most | measured | |", "|---|---|---|---|---|"]
    for row, peer, most in goals:
        workload, size = row.split("/")
        measured = run.ratio(workload, size, peer)
        if measured is not None:
            name = f"{run.reference(workload, size)}, within 2 ulp" if peer == "peer" else peer
            row += f", {own_rows[peer][2]}" if peer in own_rows else ""
            lines.append(f"| {row} | {name} | {most:.2f} | {measured:.2f} | {'met' if round(measured, 2) <= most else '**missed**'} |")
    return lines


def readme_table(run):
    lines = ["| workload | by hand | Tenure / by hand | Tenure / libtorch |", "|---|---|---|---|"]
    for name, workload, sizes in readme_rows:
        sizes = [s for s in sizes if (workload, s) in run.rows]
        if not sizes:
            continue
        first = run.reference(workload, sizes[0])
        cells = [", ".join(spell(run.rows[workload, s][first]) for s in sizes)]
        for peer in (first, "libtorch"):
            ratios = [run.ratio(workload, s, peer) for s in sizes]
            cells.append(", ".join(spell_ratio(r) if r else "" for r in ratios) if any(ratios) else "")
        exponents = f", {', '.join(sizes)} elements" if "e" in sizes[0] else ""
        lines.append(f"| {name}{exponents} | " + " | ".join(cells) + " |")
    return lines


def replace_between(path, name, lines):
    """Puts lines between <!-- name --> and <!-- end of name -->, where the file has them."""
    text = path.read_text()
    pattern = re.compile(rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end of {re.escape(name)} -->)", re.S)
    if pattern.search(text):
        path.write_text(pattern.sub(lambda m: m.group(1) + "\n".join(lines) + "\n" + m.group(2), text))


def write_baseline(run, ratios):
    path = root / "bench" / "baseline.json"
    baseline = json.loads(path.read_text()) if path.exists() else {}
    known = baseline.get(run.kind, {}).get("ratios", {})
    machine = {key: run.context.get(key, "") for key in ("compiler", "machine")}
    baseline[run.kind] = {**machine, "ratios": dict(sorted((known | ratios).items()))}
    path.write_text(json.dumps(dict(sorted(baseline.items())), indent=1) + "\n")


def publish(run):
    performance = root / "docs" / "performance.md"
    for name, table in (("workloads", workloads_table), ("functions", functions_table), ("limits", limits_table), ("goals", goals_table)):
        replace_between(performance, f"{name}, {run.compiler}", table(run))
    if run.compiler == "g++":
        replace_between(root / "README.md", "ratios", readme_table(run))


def slower(run, ratios, path, tolerance):
    known = json.loads(Path(path).read_text()).get(run.kind, {}).get("ratios", {})
    for name, ratio in ratios.items():
        if name in known and ratio > known[name] * (1 + tolerance):
            noise = ", noisy: measure it again" if run.is_noisy(*name.split("/")) else ""
            yield f"slower: {name}: {ratio:.2f} of its reference, was {known[name]:.2f}{noise}"
    if not any(name in known for name in ratios):
        yield f"{path} knows none of these rows for {run.kind}: scripts/bench.sh --baseline writes them"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("results")
    options.add_argument("--check", metavar="FILE")
    options.add_argument("--baseline", action="store_true")
    options.add_argument("--publish", action="store_true")
    options.add_argument("--tolerance", type=float, default=0.15)
    given = options.parse_args()
    run = Run(given.results)
    ratios = {}
    for (workload, size), row in run.rows.items():
        reference = run.reference(workload, size)
        if "tenure" in row and reference is not None:
            ratios[f"{workload}/{size}"] = round(run.ratio(workload, size, reference), 3)

    tables = (workloads_table, functions_table, limits_table, goals_table)
    print("\n\n".join("\n".join(lines) for lines in (table(run) for table in tables) if len(lines) > 2))
    if given.baseline or given.publish:
        write_baseline(run, ratios)
    if given.publish:
        publish(run)
    if given.check:
        found = list(slower(run, ratios, given.check, given.tolerance))
        print("\n".join(found), file=sys.stderr)
        sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
