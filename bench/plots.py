#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Draws a run of the benchmarks: time an element against size, with the memory floor; compile time against the size of a program. And draws the published ratios to
each peer against size.

plots.py [--run results.json] [--compile compile.json] [--table docs/performance.md] [--into FOLDER]
Writes gradient.svg, forward.svg, forward_f32.svg, compile_time.svg, ratios_gradient.svg and ratios_forward_f32.svg, those for which there are rows. Needs nothing but Python.
"""
import argparse
import html
import json
import math
import re
from pathlib import Path

from ratios import Run

colours = {"tenure": "#c0392b", "hand": "#2c5f8a", "eigen": "#b8860b", "eigen_exp": "#d4a017", "libmvec": "#3a8f5c", "libtorch": "#8e6bb0",
           "pytorch": "#ee4c2c", "pytorch_compiled": "#f29b83", "jax": "#1f9e9e"}  # fmt: skip
floor = {"stream": "memory floor"}
width, height, left, right, top, bottom = 720, 420, 64, 130, 44, 48


class Scale:
    """Logarithmic, from the data's smallest to its largest, mapped to pixels."""

    def __init__(self, values, low, high):
        self.first, self.last = math.log10(min(values)), math.log10(max(values))
        self.low, self.high = low, high

    def __call__(self, value):
        return self.low + (self.high - self.low) * (math.log10(value) - self.first) / ((self.last - self.first) or 1)

    def ticks(self, steps):
        decades = range(math.floor(self.first), math.ceil(self.last) + 1)
        return [s * 10.0**d for d in decades for s in steps if self.first - 1e-9 <= math.log10(s * 10.0**d) <= self.last + 1e-9]


def spread(positions, gap):
    """The positions, moved apart so that labels do not overlap; the order stays."""
    order = sorted(range(len(positions)), key=positions.__getitem__)
    placed = list(positions)
    for before, after in zip(order, order[1:]):
        placed[after] = max(placed[after], placed[before] + gap)
    return placed


def drawing(title, x_label, y_label, lines, x_spell):
    """lines: name -> (colour, dash, [(x, y), ...]). An SVG document."""
    points = [p for _, _, series in lines.values() for p in series]
    x = Scale([p[0] for p in points], left, width - right)
    y = Scale([p[1] for p in points], height - bottom, top)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<title>{html.escape(title)}</title>', f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
           f'<text x="{left}" y="22" font-size="15" fill="#222222">{html.escape(title)}</text>']  # fmt: skip
    for value in y.ticks((1, 2, 5)):
        at = f"{y(value):.1f}"
        out.append(f'<line x1="{left}" y1="{at}" x2="{width - right}" y2="{at}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{left - 8}" y="{at}" dy="4" text-anchor="end" fill="#555555">{value:g}</text>')
    for value in sorted({p[0] for p in points}):
        at = f"{x(value):.1f}"
        out.append(f'<line x1="{at}" y1="{top}" x2="{at}" y2="{height - bottom}" stroke="#f2f2f2"/>')
        out.append(f'<text x="{at}" y="{height - bottom + 18}" text-anchor="middle" fill="#555555">{x_spell(value)}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle" fill="#222222">{html.escape(x_label)}</text>')
    out.append(f'<text transform="translate(16 {(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle" fill="#222222">'
               f"{html.escape(y_label)}</text>")  # fmt: skip
    ends = spread([y(series[-1][1]) for _, _, series in lines.values()], 15)
    for (name, (colour, dash, series)), end in zip(lines.items(), ends):
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in series)
        style = f' stroke-dasharray="{dash}"' if dash else ""
        thick = 3 if name.startswith("tenure") else 1.8
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{thick}"{style}/>')
        out += [f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="{thick}" fill="{colour}"/>' for a, b in series]
        out.append(f'<text x="{width - right + 10}" y="{end:.1f}" dy="4" fill="{colour}">{html.escape(name)}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def against_size(run, workload, what):
    lines = {}
    for implementation in ("tenure", "hand", "eigen_exp", "eigen", "libmvec", "libtorch", "stream"):
        series = sorted((float(size), row[implementation] / float(size)) for (w, size), row in run.rows.items() if w == workload and implementation in row)
        if len(series) > 1:
            is_floor = implementation in floor
            lines[floor.get(implementation, implementation)] = ("#777777" if is_floor else colours[implementation], "6 4" if is_floor else "", series)
    if "tenure" not in lines:
        return None
    return drawing(f"{workload}: {what}, {run.compiler}", "elements", "ns an element", lines, lambda v: f"1e{math.log10(v):.0f}")


def published_ratios(page, compiler):
    """{workload: {peer: [(size, ratio), ...]}} of the table of workloads, in which a cell has `**hand 0.49**, libtorch 1/19`."""
    found = {}
    text = page.read_text()
    table = text[text.index(f"<!-- workloads, {compiler} -->"):text.index(f"<!-- end of workloads, {compiler} -->")]
    for line in table.splitlines()[3:]:
        workload, size, _, cell = (part.strip() for part in line.strip("|").split("|"))
        for peer, ratio in re.findall(r"([\w.]+) (1/\d+|[\d.]+)", cell):
            over, _, under = ratio.partition("/")
            found.setdefault(workload, {}).setdefault(peer, []).append((size.removesuffix(" ~"), float(over) / float(under or 1)))
    return found


def ratios_against_size(peers, title, shown):
    """Tenure's time divided by that of the peers {row: what it is called}, which have more than one size."""
    lines = {}
    for peer, name in shown.items():
        series = sorted((float(size), ratio) for size, ratio in peers.get(peer, []))
        if len(series) > 1:
            lines[name] = (colours[peer], "", series)
    if not lines:
        return None
    sizes = [x for _, _, series in lines.values() for x, _ in series]
    lines["the same time"] = ("#777777", "6 4", [(min(sizes), 1.0), (max(sizes), 1.0)])
    return drawing(f"{title}: Tenure's time / that of", "elements", "below 1 Tenure is faster", lines, lambda v: f"1e{math.log10(v):.0f}")


def against_nodes(rows):
    lines = {}
    for compiler, colour in {"g++": "#c0392b", "clang": "#2c5f8a"}.items():
        seconds = {row["source"]: row["seconds"] for row in rows if compiler in row["compiler"] and "seconds" in row}
        iterations = sorted(int(name.removeprefix("loop_")) for name in seconds if re.fullmatch(r"loop_\d+", name))
        if len(iterations) > 1:
            nodes = [15 * n for n in iterations]  # as bench/compile/sweep.py counts them
            lines[compiler] = (colour, "", [(n, seconds[f"loop_{t}"]) for n, t in zip(nodes, iterations)])
            lines[f"bare Eigen, {compiler}"] = (colour, "6 4", [(n, seconds["bare_eigen"]) for n in (nodes[0], nodes[-1])])
    if not lines:
        return None
    return drawing("compile time of a traced loop and its gradient, -O2", "nodes of the graph", "seconds", lines, lambda v: f"{v:g}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--run", type=Path)
    options.add_argument("--compile", type=Path)
    options.add_argument("--table", type=Path)
    options.add_argument("--into", type=Path, default=Path("docs/figures"))
    given = options.parse_args()
    pictures = {}
    if given.run:
        run = Run(given.run)
        pictures["gradient"] = against_size(run, "gradient", "sum(sigmoid(ax+b) log1p(exp(cx))), value and 3 gradients, float64")
        pictures["forward"] = against_size(run, "forward", "exp(-xx)a + tanh(b)c, float64")
        pictures["forward_f32"] = against_size(run, "forward_f32", "exp(-xx)a + tanh(b)c, float32")
    if given.table:
        ratios = published_ratios(given.table, "g++")
        others = {"libtorch": "libtorch", "pytorch_compiled": "torch.compile", "jax": "jax.jit"}
        pictures["ratios_gradient"] = ratios_against_size(ratios["gradient"], "value and 3 gradients, float64", {"hand": "a loop by hand", "eigen": "Eigen", **others})
        pictures["ratios_forward_f32"] = ratios_against_size(ratios["forward_f32"], "exp(-xx)a + tanh(b)c, float32", {"eigen": "Eigen", "libmvec": "libmvec", **others})
    if given.compile:
        pictures["compile_time"] = against_nodes(json.loads(given.compile.read_text()))
    given.into.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures.items():
        if picture:
            (given.into / f"{name}.svg").write_text(picture)
            print(given.into / f"{name}.svg")


if __name__ == "__main__":
    main()
