# SPDX-License-Identifier: BSL-1.0
"""Golden values of bfloat16 by ml_dtypes, the bfloat16 of JAX for NumPy, which rounds each operation and keeps subnormal numbers (XLA makes them zero):
python3 tests/golden/bfloat16.py > tests/golden/data_bfloat16.hpp"""
import ml_dtypes
import numpy as np

random = np.random.default_rng(38)
numbers = np.concatenate([random.normal(size=40), 10.0 ** random.uniform(-38, 38, size=20), [0.0, -0.0, np.inf, -np.inf, np.nan, 3.3e38, 1e-39, 1e-40]])
a, b = (random.permutation(numbers).astype(np.float32).astype(ml_dtypes.bfloat16) for _ in range(2))

with np.errstate(all="ignore"):
    results = {
        "a": a,
        "b": b,
        "sum": a + b,
        "difference": a - b,
        "product": a * b,
        "quotient": a / b,
        "product_and_sum": a * b + a,
        "root": np.sqrt(np.abs(a)),
        "negative": -a,
        "larger": np.maximum(a, b),
        "smaller": np.minimum(a, b),
        "whole": np.floor(a),
        "third": a * ml_dtypes.bfloat16(1 / 3),
        "from_float": (a.astype(np.float32) * np.float32(1.001)).astype(ml_dtypes.bfloat16),
    }
print("// SPDX-License-Identifier: BSL-1.0")
print(f"// The bits of bfloat16, by ml_dtypes {ml_dtypes.__version__}: tests/golden/bfloat16.py writes this file.")
print("#pragma once\n\n#include <cstdint>\n\nnamespace golden_bfloat16 {\n")
for name, value in results.items():
    assert value.dtype == ml_dtypes.bfloat16, name
    print(f"inline constexpr std::uint16_t {name}[] = {{" + ", ".join(f"0x{x:04x}" for x in value.view(np.uint16)) + "};")
print("\n}  // namespace golden_bfloat16")
