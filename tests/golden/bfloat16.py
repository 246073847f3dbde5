# SPDX-License-Identifier: BSL-1.0
"""Golden values of bfloat16 by PyTorch on a CPU: python3 tests/golden/bfloat16.py > tests/golden/data_bfloat16.hpp"""
import math

import torch
import torch.nn.functional as F

B, D, I = torch.bfloat16, torch.float64, torch.int64
torch.manual_seed(38)
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 3.3e38, 3.3895e38, -3.3895e38, 1e-39, 1e-40, 1.17549e-38, 1.0, 1.0078125, 256.0, 257.0, -0.1]


def permuted(x):
    return x[torch.randperm(len(x))].to(B)


numbers = torch.cat([torch.randn(40, dtype=D), 10 ** (76 * torch.rand(20, dtype=D) - 38), torch.tensor(SPECIAL, dtype=D)])
a, b = permuted(numbers), permuted(numbers)
u = torch.linspace(-9, 9, 64).to(B)
p = torch.logspace(-3, 3, 64).to(B)
words = [high << 16 | low for high in (0x0000, 0x0001, 0x007F, 0x3F80, 0x3F81, 0x7F7F, 0xBF81, 0xFF7F) for low in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF)]
halves = torch.tensor(words, dtype=I).to(torch.int32).view(torch.float32)
doubles = torch.tensor([1 + 2**-8 + 2**-40, 1 + 2**-8, 1e39, -1e300, 1e-45, 3.3961775292304957e38, math.nan, 0.1], dtype=D)
longs = torch.tensor([0, 1, -255, 256, 257, 258, 259, 2**24 + 1, 2**31, -(2**40) - 1, 2**62, 2**63 - 1])
small = torch.tensor([0.0, -0.0, 0.5, -0.99, 1.0, 1.99, -256.0, 300.0], dtype=B)
x, y = torch.randn(6, 24).to(B), torch.randn(6, 24).to(B)
m, w, bias, gain = torch.randn(5, 24).to(B), torch.randn(24, 7).to(B), torch.randn(7).to(B), torch.randn(24).to(B)
f, d, i = torch.randn(24), torch.randn(24, dtype=D), torch.arange(0, 520, 22)
bias_row = y[0].clone()
scalar, double_scalar = torch.tensor(0.3), torch.tensor(0.3, dtype=D)
cotangent = torch.cos(torch.arange(1, 169)).to(B)
labels = torch.tensor([0, 23, 7, 7, 20, 11])

ARGUMENTS = "a b u p halves doubles longs small x y m w bias gain bias_row f d i scalar double_scalar labels cotangent".split()
ROUNDED_OFTEN = ["functions", "normalizations", "gradients"]
# A name with parameters stands for the gradients to them, where the cotangent of the result is `cotangent`.
GROUPS = {
    "arithmetic": {
        "sum": "a + b", "difference": "a - b", "product": "a * b", "quotient": "a / b", "product_and_sum": "a * b + a", "negative": "-a", "magnitude": "abs(a)",
        "larger": "torch.maximum(a, b)", "smaller": "torch.minimum(a, b)", "whole": "torch.floor(a)", "nearest": "torch.round(a)", "root": "torch.sqrt(abs(a))",
        "squared": "torch.square(a)", "inverse": "torch.reciprocal(a)", "positive": "F.relu(a)", "chosen": "torch.where(a < b, a, b)",
    },
    "comparisons": {"less": "a < b", "at_most": "a <= b", "equal": "a == b", "different": "a != b", "more": "a > b", "at_least": "a >= b", "is_nan": "torch.isnan(a)"},
    "with_numbers": {
        "times": "a * 0.1", "divided": "a / 0.3", "whole_times": "a * 257", "above": "a > 0.1", "same": "a == -0.1", "within": "torch.clamp(a, -0.3, 0.3)",
        "leaky": "F.leaky_relu(a, 0.1)", "between": "torch.lerp(u, p, 0.3)", "number_chosen": "torch.where(a < b, a, 0.1)",
        "plus": "a + 0.1", "whole_plus": "u + 257", "minus": "1.1 - u", "power": "p ** 0.3", "divides": "0.1 / p",
    },
    "promotion": {
        "with_float": "x * f", "with_double": "x + d", "with_int64": "x * i", "with_scalar": "x * scalar", "with_double_scalar": "x * double_scalar",
        "plus_scalar": "x + scalar", "scalars": "x[0, 0] * scalar", "scalar_and_number": "x[0, 0] * 0.1", "with_bool": "x * (x > 0)", "int_and_half": "i * 0.5 + x[0]",
    },
    "casts": {
        "from_float": "halves.to(B)", "from_double": "doubles.to(B)", "from_int64": "longs.to(B)", "from_bool": "(a < b).to(B)", "to_float": "a.to(torch.float32)",
        "to_double": "a.to(D)", "to_int32": "small.to(torch.int32)", "to_int64": "small.to(I)", "to_bool": "small.to(torch.bool)",
    },
    "functions": {
        "exponential": "torch.exp(u)", "logarithm": "torch.log(p)", "hyperbolic": "torch.tanh(u)", "sine": "torch.sin(u)", "cosine": "torch.cos(u)", "logistic": "torch.sigmoid(u)",
        "error": "torch.erf(u)", "gaussian": "F.gelu(u * 0.5)", "silu": "F.silu(u)", "softplus": "F.softplus(u)", "exponential_less_1": "torch.expm1(u)",
        "logarithm_plus_1": "torch.log1p(p)", "inverse_root": "torch.rsqrt(p)", "elu": "F.elu(u)", "angle": "torch.atan2(u, p)", "to_power": "torch.pow(p, u)",
    },
    "reductions": {
        "total": "torch.sum(x)", "row_sums": "torch.sum(x, 1)", "column_sums": "torch.sum(x, 0)", "average": "torch.mean(x)", "row_means": "torch.mean(x, 1)",
        "largest": "torch.amax(x, 1)", "least": "torch.amin(x, 0)", "variance": "torch.var(x, 1)", "log_sum": "torch.logsumexp(x, 1)", "running": "torch.cumsum(x, 1)",
    },
    "normalizations": {
        "softmax": "torch.softmax(x, 1)", "log_softmax": "torch.log_softmax(x, 1)", "layer": "F.layer_norm(x, (24,))", "layer_gain": "F.layer_norm(x, (24,), gain, bias_row)",
        "root_mean": "F.rms_norm(x, (24,), gain, 1e-6)",
    },
    "products": {"matrix": "m @ w", "linear": "F.linear(m, w.T, bias)", "vector": "m @ gain"},
    "losses": {"squares": "F.mse_loss(x, y)", "entropy": "F.cross_entropy(x, labels)", "huber": "F.huber_loss(x, y)", "binary": "F.binary_cross_entropy_with_logits(x, torch.sigmoid(y))"},
    "gradients": {
        "d_exponential u": "torch.exp(u)", "d_hyperbolic u": "torch.tanh(u)", "d_logistic u": "torch.sigmoid(u)", "d_gaussian u": "F.gelu(u * 0.5)", "d_silu u": "F.silu(u)",
        "d_product x y": "x * y", "d_quotient x y": "x / y", "d_times x": "x * 0.1", "d_sum x": "torch.sum(x, 1)", "d_mean x": "torch.mean(x, 1)", "d_largest x": "torch.amax(x, 1)",
        "d_softmax x": "torch.softmax(x, 1)", "d_log_softmax x": "torch.log_softmax(x, 1)", "d_layer x gain bias_row": "F.layer_norm(x, (24,), gain, bias_row)",
        "d_matrix m w": "m @ w", "d_linear m w bias": "F.linear(m, w.T, bias)", "d_squares x y": "F.mse_loss(x, y)", "d_entropy x": "F.cross_entropy(x, labels)", "d_cast x": "x.float() * f",
    },
}
TYPES = {B: ("bfloat16", torch.int16, 4), torch.float32: ("float", torch.int32, 8), D: ("double", I, 16), torch.int32: ("std::int32_t", torch.int32, 8), I: ("std::int64_t", I, 16), torch.bool: ("bool", torch.uint8, 1)}


def bits(value):
    _, word, digits = TYPES[value.dtype]
    return "{" + ", ".join("0x{:0{}x}".format(v % 16**digits, digits) for v in value.detach().contiguous().flatten().view(word).tolist()) + "}"


def table(name, expression, value, exact=None):
    of = f"<{TYPES[value.dtype][0]}, {value.numel()}> {name}"
    if exact is None:
        print(f'inline constexpr values{of}{{"{expression}", {bits(value)}}};')
    else:
        print(f'inline constexpr approximations{of}{{{{"{expression}", {bits(value)}}}, {bits(exact.to(value.dtype))}}};')


def in_double(x):
    return x.double() if x.is_floating_point() else x


def results(expression, parameters, convert):
    """The value, or the gradients to parameters."""
    arguments = {n: convert(globals()[n]).clone() for n in ARGUMENTS}
    for n in parameters:
        arguments[n].requires_grad_()
    value = eval(expression, {**globals(), **arguments})
    if not parameters:
        return [value]
    return torch.autograd.grad(value, [arguments[n] for n in parameters], arguments["cotangent"][: value.numel()].to(value.dtype).reshape(value.shape))


print(f"""// SPDX-License-Identifier: BSL-1.0
// The bits of bfloat16 by PyTorch {torch.__version__.split("+")[0]} on a CPU: tests/golden/bfloat16.py writes this file.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tenure/core/dtype.hpp>

namespace golden_bfloat16 {{

using tenure::bfloat16;

template <std::size_t Bytes>
using word = std::conditional_t<Bytes == 1, std::uint8_t, std::conditional_t<Bytes == 2, std::uint16_t, std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

/// The bits of the elements of an argument or a result of PyTorch.
template <class T, int N>
struct values {{
  const char* expression;
  word<sizeof(T)> bits[N];
}};
/// Results that PyTorch rounds more than once, and the same computed in float64 and rounded once.
template <class T, int N>
struct approximations : values<T, N> {{
  word<sizeof(T)> exact[N];
}};
""")
for name in ARGUMENTS:
    table(name, name, globals()[name])
for group, items in GROUPS.items():
    for name, expression in items.items():
        name, *parameters = name.split()
        found, exact = (results(expression, parameters, convert) for convert in (lambda x: x, in_double))
        names = [f"{name}_{n}" for n in parameters] or [name]
        calls = [f"gradient of {expression} to {n}" for n in parameters] or [expression]
        for n, call, value, known in zip(names, calls, found, exact):
            table(n, call, value, known if group in ROUNDED_OFTEN else None)
print("\n}  // namespace golden_bfloat16")
