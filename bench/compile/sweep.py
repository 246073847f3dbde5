#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What compiling Tenure costs: seconds, peak memory, object bytes, longest symbol; with clang the template instantiations.

sweep.py [--build FOLDER] [--iterations 67 200 400] [--layers 2 12] [--steps 16 1024] [--compilers g++ clang++] [--no-examples] [--only PATTERN]
Writes compile.json and compile.md into FOLDER. Needs GNU time (/usr/bin/time) for the peak.
"""
import argparse
import json
import re
import shutil
import subprocess
import time
from pathlib import Path

root = Path(__file__).resolve().parents[2]

bare_eigen = "#include <Eigen/Core>\n"
headers = "#include <tenure/tenure.hpp>\n"  # what a program of loops is compared with

readme_gradient = """#include <tenure/tenure.hpp>
namespace tn = tenure;
constexpr auto loss = [](auto a, auto b, auto c, auto x) { return sum(sigmoid(a * x + b) * log1p(exp(c * x))); };
using vector = tn::tensor<double, tn::shape<tn::dyn>>;
auto step(const vector& a, const vector& b, const vector& c, const vector& x) { return tn::value_and_grad<0, 1, 2>(loss)(a, b, c, x); }
"""

loop = """#include <tenure/tenure.hpp>
namespace tn = tenure;
constexpr auto loss = [](auto h, auto u, auto b) {{
  for (int i = 0; i < {iterations}; ++i) h = tanh(matmul(h, u) + b);
  return sum(h);
}};
using state = tn::tensor<float, tn::shape<4, 16>>;
using weights = tn::tensor<float, tn::shape<16, 16>>;
using bias = tn::tensor<float, tn::shape<16>>;
auto step(const state& h, const weights& u, const bias& b) {{ return tn::value_and_grad<0, 1, 2>(loss)(h, u, b); }}
"""

pendulum = """#include <tenure/tenure.hpp>
namespace tn = tenure;
constexpr auto slope = [](auto s, auto damping) { return tn::stack<0>(s(1), -sin(s(0)) - damping * s(1)); };
constexpr auto iteration = [](auto s, auto damping) {
  const auto h = 0.05;
  const auto a = slope(s, damping), b = slope(s + 0.5 * h * a, damping), c = slope(s + 0.5 * h * b, damping), d = slope(s + h * c, damping);
  return s + h / 6 * (a + 2.0 * b + 2.0 * c + d);
};
constexpr auto energy = [](auto s, auto damping) { return sum(square(tn::fori_loop(200, [=](auto, auto x) { return iteration(x, damping); }, s))); };
using state = tn::tensor<double, tn::shape<2>>;
auto run(const state& s, double damping) { return tn::value_and_grad<0, 1>(energy)(s, damping); }
"""

lstm = """#include <tenure/tenure.hpp>
namespace tn = tenure;
constexpr auto loss = [](auto wx, auto wh, auto bias, auto xs) {{
  constexpr std::int64_t w = 64;
  const auto step = [=](auto state, auto x) {{
    const auto z = matmul(x, wx) + matmul(std::get<0>(state), wh) + bias;
    const auto gate = [&](auto range) {{ return sigmoid(z.at(tn::all, range)); }};
    const auto c = gate(tn::range<w, 2 * w>()) * std::get<1>(state) + gate(tn::range<0, w>()) * tanh(z.at(tn::all, tn::range<2 * w, 3 * w>()));
    return std::tuple{{std::tuple{{gate(tn::range<3 * w, 4 * w>()) * tanh(c), c}}, tn::nothing}};
  }};
  const auto zero = tn::zeros_like(xs[0]);
  return mean(square(std::get<0>(std::get<0>(tn::scan(step, std::tuple{{zero, zero}}, xs)))));
}};
template <std::int64_t... E>
using array = tn::tensor<float, tn::shape<E...>>;
auto step(const array<64, 256>& wx, const array<64, 256>& wh, const array<256>& bias, const array<{steps}, 16, 64>& x) {{
  return tn::value_and_grad<0, 1, 2>(loss)(wx, wh, bias, x);
}}
"""

language_model = """#include "gpt/model.hpp"
namespace tn = tenure;
using model = decltype(tn::init<gpt::model, 64, 64, 128, 4, {layers}>(std::declval<tn::engine&>()));
using text = tn::tensor<std::int64_t, tn::shape<8, 64>>;
auto step(const model& m, const text& now, const text& next) {{ return tn::value_and_grad(gpt::loss)(m, now, next); }}
"""


def compile_one(compiler, source, folder, name):
    """Seconds of processor time, the best of two: a busy machine or a cold cache counts less."""
    path = folder / f"{name}.cpp"
    if isinstance(source, Path):
        path = source
    else:
        path.write_text(source)
    target = folder / f"{name}.o"
    command = [compiler, "-std=c++20", "-O2", f"-I{root / 'include'}", f"-I{root / 'examples'}", f"-I{root / 'bench'}", "-isystem", "/usr/include/eigen3", "-c", str(path), "-o", str(target)]
    timer = ["/usr/bin/time", "-v"] if Path("/usr/bin/time").exists() else []
    best, peak = None, None
    for _ in range(2):
        start = time.monotonic()
        result = subprocess.run(timer + command, capture_output=True, text=True)
        seconds = time.monotonic() - start
        if result.returncode != 0:
            return {"error": result.stderr.strip().splitlines()[:1]}
        found = re.search(r"Maximum resident set size \(kbytes\): (\d+)", result.stderr)
        peak = int(found.group(1)) / 1024 if found else None
        spent = re.findall(r"(?:User|System) time \(seconds\): ([\d.]+)", result.stderr)
        if spent:
            seconds = sum(map(float, spent))
        best = seconds if best is None else min(best, seconds)
        if best > 10:
            break
    symbols = subprocess.run(["nm", str(target)], capture_output=True, text=True).stdout.split()
    row = {"seconds": round(best, 2), "peak_mb": round(peak) if peak else None, "object_bytes": target.stat().st_size,
           "longest_symbol": max((len(s) for s in symbols), default=0)}
    if "clang" in compiler:
        # A trace of its own, since tracing takes time. The granularity of 0 keeps short instantiations.
        traced = subprocess.run(command + ["-ftime-trace", "-ftime-trace-granularity=0"], capture_output=True, text=True)
        trace = target.with_suffix(".json")
        if traced.returncode == 0 and trace.exists():
            with open(trace) as file:
                row["instantiations"] = sum(e.get("name", "").startswith("Instantiate") for e in json.load(file)["traceEvents"])
            trace.unlink()
    return row


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--build", type=Path, default=root / "build" / "bench" / "compile")
    options.add_argument("--iterations", type=int, nargs="*", default=[67, 200, 400])  # 1,000, 3,000 and 6,000 nodes
    options.add_argument("--compilers", nargs="*", default=["g++", "clang++"])
    options.add_argument("--layers", type=int, nargs="*", default=[2, 12])  # of a GPT by scan: at most 1.1 times as long for 12 as for 2
    options.add_argument("--steps", type=int, nargs="*", default=[16, 1024])  # of an LSTM by scan: at most 1.05 times as long for 1,024 as for 16
    options.add_argument("--only", default="", help="sources whose name matches this regular expression")
    options.add_argument("--no-examples", action="store_true")
    given = options.parse_args()
    given.build.mkdir(parents=True, exist_ok=True)

    sources = {"bare_eigen": bare_eigen, "headers": headers, "readme_gradient": readme_gradient}
    sources |= {f"loop_{n}": loop.format(iterations=n) for n in given.iterations}
    sources |= {"pendulum_200": pendulum}  # at most 2 s over the headers with g++
    sources |= {f"lstm_{n}": lstm.format(steps=n) for n in given.steps}
    sources |= {f"gpt_{n}": language_model.format(layers=n) for n in given.layers}
    sources |= {p.stem: p for p in sorted((root / "bench" / "compile" / "programs").glob("*.cpp"))}
    if not given.no_examples:
        sources |= {f"example_{p.stem}": p for p in sorted((root / "examples").glob("*.cpp"))}
    sources = {name: source for name, source in sources.items() if re.search(given.only, name)}
    rows = []
    for compiler in filter(shutil.which, given.compilers):
        version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
        for name, source in sources.items():
            row = {"source": name, "compiler": version, **compile_one(compiler, source, given.build, name)}
            rows.append(row)
            print(json.dumps(row), flush=True)
    (given.build / "compile.json").write_text(json.dumps(rows, indent=1) + "\n")
    columns = ["seconds", "peak_mb", "object_bytes", "longest_symbol", "instantiations"]
    lines = ["| source | compiler | " + " | ".join(columns) + " |", "|" + "---|" * (len(columns) + 2)]
    for row in rows:
        cells = [str(row.get(c, "")) for c in columns] if "error" not in row else ["fails"] + [""] * (len(columns) - 1)
        lines.append(f"| {row['source']} | {row['compiler']} | " + " | ".join(cells) + " |")
    (given.build / "compile.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
