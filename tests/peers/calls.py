# SPDX-License-Identifier: BSL-1.0
"""Calls of single functions of Tenure from Python: calls.hpp computes the results and the gradients, for the judges of the words of chapter 12.

A case has a name, the body of a C++ function of a, b, c, ... and of the data k, l, ..., and how many axes its arguments have: a number for extents at run
time, or a tuple of static ones. A body that ends with a semicolon has a return of its own. compiled(cases, calls) returns the results and gradients of all calls. Exits with 77 where Python lacks a module.
"""
import argparse, importlib, os, resource, struct, subprocess, sys, tempfile

sys.dont_write_bytecode = True
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=2)
parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
parser.add_argument("--include", action="append", default=[])
parser.add_argument("--flags", default="-std=c++20 -O1 -march=native")
parser.add_argument("--only", default="", help="the names of cases, with commas between them")
parser.add_argument("--keep")
options = parser.parse_args()
os.environ.setdefault("JAX_PLATFORMS", "cpu")


def needed(*names):
    """The modules; the test is skipped where one is missing."""
    missing = []
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    if missing:
        print(f"skipped: Python has no {' and no '.join(missing)}")
        sys.exit(77)


needed("numpy")
import numpy as np


class case:
    def __init__(self, name, body, arguments, data=(), **more):
        self.name, self.body, self.arguments, self.data = name, body, arguments, data
        self.__dict__.update(more)

    def cpp(self, number):
        def tensor(axes, of="double"):
            return f"peers::tensor<{', '.join([of] + (['tn::dyn'] * axes if isinstance(axes, int) else [str(e) for e in axes]))}>"

        names = [f"const auto& {name} = std::get<{i}>({of});" for group, of, letters in ((self.arguments, "x", "abcde"), (self.data, "known", "kl"))
                 for i, name in zip(range(len(group)), letters)]
        return f"""// {self.name}
struct case_{number} {{
  using arguments = std::tuple<{', '.join(tensor(a) for a in self.arguments)}>;
  using data = std::tuple<{', '.join(tensor(a, 'std::int64_t') for a in self.data)}>;
  template <class X, class K> constexpr auto operator()(const X& x, const K& known) const {{
    {' '.join(names)} (void)known;
    {self.body if self.body.endswith(';') else f'return {self.body};'}
  }}
}};
"""


def chosen(cases):
    names = options.only.split(",") if options.only else []
    return [c for c in cases if not names or c.name in names]


def built(text, what):
    """The path of the program."""
    folder = options.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    source, binary = os.path.join(folder, what + ".cpp"), os.path.join(folder, what)
    with open(source, "w") as file:
        file.write(text)
    here = os.path.dirname(os.path.abspath(__file__))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    ran = subprocess.run([options.compiler, *options.flags.split(), f"-I{here}", *(f"-I{d}" for d in options.include), source, "-o", binary], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{source} does not compile:\n{ran.stderr[:3000]}")
    print(f"{what}: compiled in {resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before:.0f} s of CPU", flush=True)
    return binary


def answers(binary, given):
    ran = subprocess.run([binary], input=given, capture_output=True)
    if ran.returncode:
        sys.exit(f"{binary}: it stops with {ran.returncode}\n{ran.stderr.decode()[:2000]}")
    return np.frombuffer(ran.stdout, dtype=np.float64)


def packed(arrays):
    return b"".join(struct.pack(f"{a.ndim}d", *a.shape) + np.asarray(a, np.float64).tobytes() for a in arrays)


def compiled(cases, calls, what):
    """calls[i] has (arguments, data, shapes of the results) for each call of case i. Returns for each case and call (results, gradients)."""
    binary = built('#include "calls.hpp"\nnamespace tn = tenure;\n\n' + "".join(c.cpp(i) for i, c in enumerate(cases)) +
                   "\nint main() {\n" + "".join(f"  peers::run<case_{i}>({len(calls[i])});\n" for i in range(len(cases))) + "}\n", what)
    numbers = answers(binary, b"".join(packed([*arguments, *data]) for of_case in calls for arguments, data, _ in of_case))
    at, all_of_them = 0, []

    def taken(shape):
        nonlocal at
        count = int(np.prod(shape))
        at += count
        assert at <= len(numbers), f"{what}: too few results"
        return numbers[at - count:at].reshape(shape)

    for of_case in calls:
        all_of_them.append([([taken(s) for s in shapes], [taken(np.shape(a)) for a in arguments]) for arguments, _, shapes in of_case])
    assert at == len(numbers), f"{what}: {len(numbers) - at} results too many"
    return all_of_them


def weights(shape, leaf):
    """Those of calls.hpp."""
    k = np.arange(int(np.prod(shape)))
    return ((8 + (7 * k + 3 * leaf) % 11) / 16 * np.where((k + leaf) % 3 == 0, -1.0, 1.0)).reshape(shape)


class report:
    """Counts comparisons, and prints the first failures of each case."""
    def __init__(self):
        self.compared = self.failed = 0
        self.of_case = {}

    def check(self, case, fine, text):
        self.compared += 1
        if not fine:
            self.failed += 1
            self.of_case[case] = self.of_case.get(case, 0) + 1
            if self.of_case[case] <= 8:
                print(f"{case}: {text()}", flush=True)

    def end(self, what):
        print(f"{what}, seed {options.seed}: {self.compared} comparisons, {self.failed} failed" + "".join(f", {k}: {v}" for k, v in self.of_case.items()))
        sys.exit(self.failed != 0 or self.compared == 0)
