#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""What a function of Tenure costs as an operator of PyTorch (docs/inside-pytorch.md): beside an operator that is written by hand with PyTorch's stable C++ interface,
beside PyTorch's own operations, and from Python with and without autograd, on one core.

inside_torch.py [--compiler C++] [--include DIR]... [--flags=...] [--repetitions N]
Values are compared first. The times are the least of N, taken in turns.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
parser.add_argument("--include", action="append", default=[])
parser.add_argument("--flags", default="-std=c++20 -O3 -march=native")
parser.add_argument("--repetitions", type=int, default=15)
options = parser.parse_args()
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
root = os.path.realpath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, os.path.join(root, "python"))

import torch

import tenure_torch

torch.set_num_threads(1)
PROGRAM = r"""
#include <cmath>

#include <tenure/interop/torch.hpp>
#include <tenure/tenure.hpp>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

namespace tn = tenure;
using three = tn::tensor<float, tn::shape<3>>;
constexpr auto distance = [](auto x, auto y, auto scale) { return scale * sqrt(sum((x - y) * (x - y))); };
TENURE_TORCH(distance, three, three, tn::constant_argument<float>);

// What a careful author writes: it checks types and shapes, as Tenure's operator does.
using torch::stable::Tensor;
static void check(const Tensor& x, std::int64_t rank) {
  if (x.scalar_type() != torch::headeronly::ScalarType::Float || x.dim() != rank || (rank == 1 && x.size(0) != 3) || !x.is_contiguous())
    throw std::runtime_error("another type or shape");
}
static Tensor by_hand(Tensor x, Tensor y, Tensor scale, std::int64_t) {
  check(x, 1), check(y, 1), check(scale, 0);
  AtenTensorHandle made;  // torch::stable::empty_like takes 5 us more: it goes through the dispatcher
  aoti_torch_empty_strided(0, nullptr, nullptr, aoti_torch_dtype_float32(), aoti_torch_device_type_cpu(), 0, &made);
  Tensor result(made);
  const float *a = static_cast<const float*>(x.data_ptr()), *b = static_cast<const float*>(y.data_ptr());
  float sum = 0;
  for (int i = 0; i < 3; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  *static_cast<float*>(result.data_ptr()) = *static_cast<const float*>(scale.data_ptr()) * std::sqrt(sum);
  return result;
}
STABLE_TORCH_LIBRARY(distance_by_hand, m) { m.def("distance(Tensor x, Tensor y, Tensor scale, int sums) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(distance_by_hand, CPU, m) { m.impl("distance", TORCH_BOX(&by_hand)); }
"""
of_torch = os.path.dirname(torch.__file__)
folder = tempfile.TemporaryDirectory()
source, path = os.path.join(folder.name, "functions.cpp"), os.path.join(folder.name, "libfunctions.so")
with open(source, "w") as file:
    file.write(PROGRAM)
folders = [os.path.join(root, "include"), *(options.include or ["/usr/include/eigen3"]), os.path.join(of_torch, "include")]
includes = [i for folder in folders for i in ("-isystem", folder)]
subprocess.run([options.compiler, *options.flags.split(), "-fPIC", "-shared", *includes, source, "-o", path, f"-L{of_torch}/lib", "-ltorch_cpu"], check=True)
library = tenure_torch.load(path)
operator, by_hand = library.distance._operators["value"], torch.ops.distance_by_hand.distance.default

x, y, scale = torch.randn(3), torch.randn(3), torch.tensor(2.0)
of_torch = lambda: scale * torch.linalg.vector_norm(x - y)
calls = {
    "operator of Tenure": lambda: operator(x, y, scale, 0),
    "operator by hand": lambda: by_hand(x, y, scale, 0),
    "PyTorch's operations": of_torch,
    "function of the library": lambda: library.distance(x, y, scale),
}
leaf = x.clone().requires_grad_()
calls["the same, recorded by autograd"] = lambda: library.distance(leaf, y, scale)
calls["PyTorch's operations, recorded"] = lambda: scale * torch.linalg.vector_norm(leaf - y)
for f in calls.values():
    torch.testing.assert_close(f().detach(), of_torch())
best = dict.fromkeys(calls, float("inf"))
for _ in range(options.repetitions):
    for name, f in calls.items():
        start = time.perf_counter()
        for _ in range(5000):
            f()
        best[name] = min(best[name], (time.perf_counter() - start) / 5000 * 1e6)
for name, t in best.items():
    print(f"{name}: {t:.3g} us")
