#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""peers_more.py: the rows of bench_more.cu by PyTorch (eager, fp32 without TF32; SDPA too in bf16), CuPy (CUB, Thrust, cuBLAS), one JSON object a line.
peers_more.py --table TENURE PEERS: both as a table with ratios."""
import json, math, sys

if sys.argv[1:2] == ["--table"]:
    rows, order = {}, []
    for path in sys.argv[2:]:
        try:
            for line in open(path):
                if line.startswith("{"):
                    r = json.loads(line)
                    if r["name"] not in rows: order.append(r["name"])
                    rows.setdefault(r["name"], {})[r["by"]] = r
        except OSError as e:
            print(e)
    print("\n| row | Tenure ms | GB/s | TFLOP/s | best peer | ms | Tenure / best |\n|---|---|---|---|---|---|---|")
    for name in order:
        t = rows[name].get("tenure")
        others = {k: v["ms"] for k, v in rows[name].items() if k != "tenure" and "ms" in v}
        best = min(others, key=others.get) if others else ""
        if t is None or "ms" not in t:
            print(f"| {name} | {(t or {}).get('error', 'missing')[:60]} | | | {best} | {others.get(best, '')} | |")
        else:
            print(f"| {name} | {t['ms']:.4g} | {t['GB_s']:.0f} | {t['TFLOP_s']:.2f} | {best} | {others.get(best, '')} | {t['ms'] / others[best]:.2f} |" if best else f"| {name} | {t['ms']:.4g} | {t['GB_s']:.0f} | {t['TFLOP_s']:.2f} | | | |")
    sys.exit()

import statistics
import torch
import torch.nn.functional as F

torch.set_float32_matmul_precision("highest")
torch.backends.cuda.matmul.allow_tf32 = False


def ms(f, runs=11):
    times = []
    for i in range(runs + 3):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record(); f(); b.record(); b.synchronize()
        if i >= 3: times.append(a.elapsed_time(b))
    return round(statistics.median(times), 4)


def row(name, by, make, runs=11):
    try:
        print(json.dumps({"name": name, "by": by, "ms": ms(make(), runs)}), flush=True)
    except Exception as e:  # a peer that lacks something is one row less
        print(json.dumps({"name": name, "by": by, "error": str(e)[:100]}), flush=True)


def u(*shape, dtype=torch.float32):
    return (torch.rand(*shape, device="cuda") * 2 - 1).to(dtype)


def of(f, *x):
    return lambda: f(*x)


T, n = "torch", 2**26
row("sum_all_2^26", T, lambda: of(torch.sum, u(n)))
row("sum_columns_8192x8192", T, lambda: of(lambda x: x.sum(0), u(8192, 8192)))
row("sum_rows_8192x8192", T, lambda: of(lambda x: x.sum(1), u(8192, 8192)))
row("sum_rows_64x1048576", T, lambda: of(lambda x: x.sum(1), u(64, 1048576)))
row("sum_small_1024", T, lambda: of(torch.sum, u(1024)), 101)
row("add_2^26", T, lambda: of(torch.add, u(n), u(n)))
row("add_transposed_8192", T, lambda: of(lambda a, b: a + b.T, u(8192, 8192), u(8192, 8192)))
row("add_misaligned_rows_8191x8191", T, lambda: of(torch.add, u(8191, 8191), u(8191)))
row("softmax_65536x64", T, lambda: of(lambda x: F.softmax(x, 1), u(65536, 64)))
row("softmax_2048x32768", T, lambda: of(lambda x: F.softmax(x, 1), u(2048, 32768)))
row("cumsum_64x65536", T, lambda: of(lambda x: x.cumsum(1), u(64, 65536)))
row("matmul_4096", T, lambda: of(torch.matmul, u(4096, 4096), u(4096, 4096)))
row("matmul_bias_gelu_4096", T, lambda: of(lambda x, w, b: F.gelu(F.linear(x, w, b)), u(4096, 4096), u(4096, 4096), u(4096)))
row("matmul_f64_4096", T, lambda: of(torch.matmul, u(4096, 4096, dtype=torch.float64), u(4096, 4096, dtype=torch.float64)))
row("matmul_batched_256x64x64x64", T, lambda: of(torch.matmul, u(256, 64, 64), u(256, 64, 64)), 101)
i = torch.randint(0, 65536, (1 << 20,), device="cuda")
row("gather_1M_rows_of_64", T, lambda: of(lambda x: x[i], u(65536, 64)))
row("index_add_1M_rows_of_64", T, lambda: of(lambda x, v: x.index_add(0, i, v), u(65536, 64), u(1 << 20, 64)))
row("sort_1024x1024", T, lambda: of(lambda x: x.sort(1), u(1024, 1024)))
row("add_small_1024", T, lambda: of(torch.add, u(1024), u(1024)), 101)


def scan(x, h):
    out = []
    for t in range(256):
        out.append(h * x[t]); h = torch.tanh(h + x[t])
    return h, torch.stack(out)


row("scan_256_iterations_of_1024", T, lambda: of(scan, u(256, 1024), u(1024)))


def graphed():
    x, h = u(256, 1024), u(1024)
    s = torch.cuda.Stream(); s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s): scan(x, h)
    torch.cuda.current_stream().wait_stream(s)
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g): scan(x, h)
    return g.replay


row("scan_256_iterations_of_1024", "torch_graph", graphed)


def loop(x):
    k = torch.zeros((), dtype=torch.int32, device="cuda")
    while k.item() < 100: x = torch.tanh(x); k += 1
    return x


row("while_100_iterations", T, lambda: of(loop, u(1024)))
sdpa = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)
for h, t in ((16, 512), (64, 2048)):
    row(f"attention_{h}x{t}x64", "torch_f32", lambda: of(sdpa, u(1, h, t, 64), u(1, h, t, 64), u(1, h, t, 64)))
    row(f"attention_{h}x{t}x64_bf16", "torch_bf16", lambda: of(sdpa, *(u(1, h, t, 64, dtype=torch.bfloat16) for _ in range(3))))


def pulled():
    q, k, v = (u(1, 16, 512, 64).requires_grad_() for _ in range(3))
    return lambda: torch.autograd.grad(sdpa(q, k, v).sum(), (q, k, v))


row("attention_gradient_16x512x64", "torch_f32", pulled)
row("solve_one_256", T, lambda: of(torch.linalg.solve, u(256, 256), u(256, 1)))
# What the card gives: products by precision, for the report.
row("matmul_4096_bf16", "torch_bf16", lambda: of(torch.matmul, u(4096, 4096, dtype=torch.bfloat16), u(4096, 4096, dtype=torch.bfloat16)))
torch.set_float32_matmul_precision("high")
row("matmul_4096_tf32", "torch_tf32", lambda: of(torch.matmul, u(4096, 4096), u(4096, 4096)))
torch.set_float32_matmul_precision("highest")
try:
    import cupy
    from cupy_backends.cuda.libs import cublas as _
    x = cupy.random.rand(n, dtype=cupy.float32); m = cupy.random.rand(8192, 8192, dtype=cupy.float32)
    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)
    with stream:
        row("sum_all_2^26", "cupy_cub", lambda: (lambda: x.sum()))
        row("sum_rows_8192x8192", "cupy_cub", lambda: (lambda: m.sum(1)))
        row("sum_columns_8192x8192", "cupy", lambda: (lambda: m.sum(0)))
        c = cupy.random.rand(64, 65536, dtype=cupy.float32)
        row("cumsum_64x65536", "cupy", lambda: (lambda: c.cumsum(1)))
        s = cupy.random.rand(1024, 1024, dtype=cupy.float32)
        row("sort_1024x1024", "cupy_thrust", lambda: (lambda: cupy.sort(s, 1)))
        a = cupy.random.rand(4096, 4096, dtype=cupy.float32)
        row("matmul_4096", "cupy_cublas", lambda: (lambda: a @ a))
except Exception as e:
    print(json.dumps({"name": "cupy", "by": "cupy", "error": str(e)[:100]}), flush=True)
