# SPDX-License-Identifier: BSL-1.0
"""What inside_jax.py and gradbench_in_jax.py share: their options, libraries of Tenure's functions, and rows that are compared and timed on one core."""
import argparse
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
root = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, os.path.join(root, "python"))


def parse(description, *positional):
    """The options. JAX is set to one thread, so this is called before JAX is imported."""
    global options
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in positional:
        parser.add_argument(name)
    parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--flags", default="-std=c++20 -O3 -march=native")
    parser.add_argument("--repetitions", type=int, default=9)
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    return options


_folder = tempfile.TemporaryDirectory()


def build(name, program):
    """The path of a library of this program."""
    import jax

    source, path = os.path.join(_folder.name, f"{name}.cpp"), os.path.join(_folder.name, f"lib{name}.so")
    with open(source, "w") as file:
        file.write(program)
    folders = [os.path.join(root, "include"), os.path.join(root, "bench/gradbench"), *(options.include or ["/usr/include/eigen3"]), jax.ffi.include_dir()]
    includes = [i for folder in folders for i in ("-isystem", folder)]
    subprocess.run([options.compiler, *options.flags.split(), "-fPIC", "-shared", *includes, source, "-o", path], check=True)
    return path


def row(name, functions, arguments, per=1.0, unit="ms", scale=1e3, tolerance=2e-3):
    """Prints the least time of each function, jitted, and the first one's divided by the last one's. The first is Tenure's, the last JAX's own."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    jitted = [jax.jit(f) for f in functions.values()]
    results = [jax.block_until_ready(f(*arguments)) for f in jitted]
    for other in results[1:]:
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * float(jnp.max(jnp.abs(b)))), results[0], other)
    best = [float("inf")] * len(jitted)
    for _ in range(options.repetitions):
        for i, f in enumerate(jitted):
            start = time.perf_counter()
            jax.block_until_ready(f(*arguments))
            best[i] = min(best[i], (time.perf_counter() - start) / per * scale)
    print(f"{name}: " + ", ".join(f"{key} {t:.3g} {unit}" for key, t in zip(functions, best)) + f"; {best[0] / best[-1]:.2g}", flush=True)
