#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The workloads of the benchmarks in JAX (under jit) and in PyTorch (eager, and by torch.compile), on one core.

python_rows.py jax|torch [--benchmark_list_tests] [--benchmark_filter=REGEX] [--benchmark_repetitions=N] [--benchmark_min_time=SECONDS]
                           [--benchmark_out=FILE]
It takes the options of Google Benchmark that scripts/bench.sh gives to every program (and ignores the others), and writes the same
JSON. Each value is compared with one that NumPy computes in float64 before its row is timed. Of several ways to write a step, the one
that is fastest in that library stands here: donated arguments under jit, scaled_dot_product_attention and fused AdamW in PyTorch.
"""
import json
import os
import re
import sys
import time

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ |= {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import numpy as np

library = sys.argv[1]
options = dict(word.lstrip("-").partition("=")[::2] for word in sys.argv[2:])
wanted = re.compile(options.get("benchmark_filter") or ".")
repetitions = int(options.get("benchmark_repetitions") or 1)
min_time = float((options.get("benchmark_min_time") or "0.5").rstrip("s"))
listing = "benchmark_list_tests" in options
rows = []


def row(workload, implementation, size, prepare):
    """prepare() gives a call, its value, and the value that is expected, or None where only the call is timed."""
    name = f"{workload}/{implementation}/{size}"
    if not wanted.search(name):
        return
    if listing:
        print(name)
        return
    call, value, expected = prepare()
    if expected is not None and not np.isclose(float(value), expected, rtol=1e-4, atol=1e-6):
        sys.exit(f"{name}: got {float(value)}, expected {expected}")
    call(), call()
    began = time.perf_counter()
    call()
    turns = max(1, int(min_time / max(time.perf_counter() - began, 1e-7)))
    for repetition in range(repetitions):
        began, began_cpu = time.perf_counter(), time.process_time()
        for _ in range(turns):
            call()
        real, cpu = (time.perf_counter() - began) / turns * 1e9, (time.process_time() - began_cpu) / turns * 1e9
        print(f"{name:50} {cpu:14.0f} ns", flush=True)
        rows.append({"name": name, "run_name": name, "run_type": "iteration", "repetitions": repetitions, "repetition_index": repetition,
                     "threads": 1, "iterations": turns, "real_time": real, "cpu_time": cpu, "time_unit": "ns"})  # fmt: skip


def uniform(seed, *shape, bound=1.0, dtype=np.float32):
    return np.random.default_rng(seed).uniform(-bound, bound, shape).astype(dtype)


sizes = {"1e3": 1_000, "1e5": 100_000, "1e6": 1_000_000}
types = {"": np.float64, "_f32": np.float32}
wide = 1024
labels = np.array([i * 37 % wide for i in range(wide)])
lstm_steps, lstm_batch, lstm_width = 16, 16, 64


# ---- the data of each workload, and its value by NumPy ----------------------------------------------------------------


def elementwise_data(n, dtype):
    return [uniform(1, n, dtype=dtype), uniform(2, n, dtype=dtype), uniform(3, n, dtype=dtype), uniform(4, n, bound=2, dtype=dtype)]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def log_softmax(x):
    return x - x.max(1, keepdims=True) - np.log(np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True))


def gradient_value(a, b, c, x):
    a, b, c, x = (np.float64(v) for v in (a, b, c, x))
    return np.sum(sigmoid(a * x + b) * np.log1p(np.exp(c * x)))


def layer_norm_data():
    return [uniform(1, wide, wide, bound=3), uniform(2, wide), uniform(3, wide), uniform(4, wide, wide)]


def layer_norm_value(x, g, b, w):
    x = np.float64(x)
    return np.sum(((x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * g + b) * w)


def tiny_data():
    shapes = [(2, 8), (8,), (8, 1), (1,), (4, 2), (4, 1)]
    return [uniform(i, *shape, dtype=np.float64) for i, shape in enumerate(shapes)]


def tiny_value(w1, b1, w2, b2, x, y):
    return np.mean((np.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2)


def mlp_data(batch):
    parameters = [uniform(1, 784, 128, bound=0.035), uniform(2, 128, bound=0.035), uniform(3, 128, 10, bound=0.085), uniform(4, 10, bound=0.085)]
    return parameters, uniform(5, batch, 784), np.array([i * 7 % 10 for i in range(batch)])


def mlp_value(parameters, x, y):
    w1, b1, w2, b2 = (np.float64(p) for p in parameters)
    return -np.mean(log_softmax(np.maximum(x @ w1 + b1, 0) @ w2 + b2)[np.arange(len(y)), y])


def lstm_data():
    return [uniform(1, 64, 256, bound=0.125), uniform(2, 64, 256, bound=0.125), uniform(3, 256, bound=0.125),
            uniform(4, lstm_steps, lstm_batch, lstm_width)]  # fmt: skip


def lstm_value(wx, wh, b, xs):
    h = c = np.zeros((lstm_batch, lstm_width))
    for x in np.float64(xs):
        i, f, g, o = np.split(x @ wx + h @ wh + b, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
    return np.mean(h * h)


# Layers, width, time, batch, vocabulary, heads.
gpts = [(2, 64, 64, 4, 64, 4), (4, 128, 64, 8, 64, 4), (2, 128, 1024, 1, 64, 4)]
if "TENURE_BENCH_LARGE" in os.environ:
    gpts.append((12, 768, 64, 4, 50304, 12))  # GPT-2 124M


def text(batch, length, vocabulary):
    now = np.random.default_rng(7).integers(0, vocabulary, (batch, length))
    return now, (now * 5 + 3) % vocabulary


# ---- JAX --------------------------------------------------------------------------------------------------------------


def jax_rows():
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def prepared(f, data, expected, value_of=lambda y: y[0]):
        def prepare():
            compiled, arguments = jax.jit(f), [jnp.asarray(x) for x in data]
            return (lambda: jax.block_until_ready(compiled(*arguments))), value_of(compiled(*arguments)), expected

        return prepare

    for suffix, dtype in types.items():
        for size, n in sizes.items():
            data = elementwise_data(n, dtype)
            f = jax.value_and_grad(lambda a, b, c, x: jnp.sum(jax.nn.sigmoid(a * x + b) * jnp.log1p(jnp.exp(c * x))), argnums=(0, 1, 2))
            row(f"gradient{suffix}", "jax", size, prepared(f, data, gradient_value(*data)))
            row(f"forward{suffix}", "jax", size,
                prepared(lambda x, a, b, c: jnp.exp(-x * x) * a + jnp.tanh(b) * c, data[::-1], None))  # fmt: skip

    x, w = uniform(1, wide, wide, bound=3), uniform(2, wide, wide)
    softmax = jax.value_and_grad(lambda x, w: jnp.sum(jax.nn.softmax(x, axis=1) * w))
    row("softmax", "jax", wide, prepared(softmax, [x, w], np.sum(np.exp(log_softmax(np.float64(x))) * w)))
    entropy = jax.value_and_grad(lambda x, y: -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x, axis=1), y[:, None], 1)))
    row("cross_entropy", "jax", wide, prepared(entropy, [x, labels], -np.mean(log_softmax(np.float64(x))[np.arange(wide), labels])))

    def norm(x, g, b):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * g + b

    data = layer_norm_data()
    row("layer_norm", "jax", wide,
        prepared(jax.value_and_grad(lambda x, g, b, w: jnp.sum(norm(x, g, b) * w), argnums=(0, 1, 2)), data, layer_norm_value(*data)))  # fmt: skip

    def tiny(w1, b1, w2, b2, x, y):
        value, slopes = jax.value_and_grad(lambda w1, b1, w2, b2: jnp.mean((jnp.tanh(x @ w1 + b1) @ w2 + b2 - y) ** 2), argnums=(0, 1, 2, 3))(w1, b1, w2, b2)
        return value, *(p - 1e-4 * d for p, d in zip((w1, b1, w2, b2), slopes))

    row("tiny_step", "jax", 4, prepared(tiny, tiny_data(), tiny_value(*tiny_data())))
    matrices = [uniform(i, 4, 4, dtype=np.float64) for i in range(4)]
    row("chain4", "jax", 4,
        prepared(jax.value_and_grad(lambda a, b, c, d: jnp.sum(a @ b @ c @ d), argnums=(0, 1, 2, 3)), matrices, np.sum(np.linalg.multi_dot(matrices))))  # fmt: skip

    # jax-ml/jax#36927.
    count = 182 * 474
    factors = np.random.default_rng(1).standard_normal((count, 3, 3), dtype=np.float32)
    systems = [factors @ factors.swapaxes(1, 2) + np.float32(1e-2) * np.eye(3, dtype=np.float32), np.random.default_rng(2).standard_normal((count, 3, 1), dtype=np.float32)]
    solution, transposed = np.linalg.solve(*(np.float64(s) for s in systems)), np.linalg.solve(np.float64(systems[0]).swapaxes(1, 2), np.ones((count, 3, 1)))
    # The median of sizes: nearly singular systems lose all digits of float32 in any library, and would decide a sum.
    middle = lambda x: float(np.median(np.abs(x)))  # noqa: E731
    row("solves_3x3_f32", "jax", count, prepared(jnp.linalg.solve, systems, middle(solution), middle))
    row("solves_3x3_gradient_f32", "jax", count,
        prepared(jax.grad(lambda a, b: jnp.sum(jnp.linalg.solve(a, b)), argnums=(0, 1)), systems, middle(transposed), lambda y: middle(y[1])))  # fmt: skip

    def training(step, state, data, expected):
        def prepare():
            compiled = jax.jit(step, donate_argnums=0)
            kept = [compiled(state, *data)]

            def call():
                kept[0] = jax.block_until_ready(compiled(kept[0][1], *data))

            return call, kept[0][0], expected

        return prepare

    for batch in (1, 32, 256):
        parameters, x, y = mlp_data(batch)

        def mlp_step(state, x, y):
            def loss(p):
                logits = jax.nn.relu(x @ p[0] + p[1]) @ p[2] + p[3]
                return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits, axis=1), y[:, None], 1))

            value, slopes = jax.value_and_grad(loss)(state[0])
            momentum = [0.9 * v + g for v, g in zip(state[1], slopes)]
            return value, ([p - 1e-3 * v for p, v in zip(state[0], momentum)], momentum)

        state = [jnp.asarray(p) for p in parameters], [jnp.zeros_like(p) for p in parameters]
        row("mlp_step", "jax", batch, training(mlp_step, state, (x, y), mlp_value(parameters, x, y)))

    def lstm(wx, wh, b, xs):
        def cell(state, x):
            h, c = state
            i, f, g, o = jnp.split(x @ wx + h @ wh + b, 4, 1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        zero = jnp.zeros((lstm_batch, lstm_width), jnp.float32)
        return jnp.mean(jax.lax.scan(cell, (zero, zero), xs)[0][0] ** 2)

    row("lstm", "jax", 16, prepared(jax.value_and_grad(lstm, argnums=(0, 1, 2)), lstm_data(), lstm_value(*lstm_data())))

    for layers, width, length, batch, vocabulary, heads in gpts:

        def logits(p, now):
            def block(x, q):
                qkv = norm(x, q["g1"], q["c1"]) @ q["qkv"] + q["b_qkv"]
                q_, k, v = (t.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3) for t in jnp.split(qkv, 3, -1))
                scores = q_ @ k.swapaxes(-1, -2) * (width // heads) ** -0.5
                mixed = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)) @ v
                x = x + mixed.transpose(0, 2, 1, 3).reshape(batch, length, width) @ q["out"] + q["b_out"]
                return x + jax.nn.gelu(norm(x, q["g2"], q["c2"]) @ q["up"] + q["b_up"]) @ q["down"] + q["b_down"], None

            x, _ = jax.lax.scan(block, p["wte"][now] + p["wpe"], p["layers"])
            return norm(x, p["g"], p["c"]) @ p["wte"].T

        def gpt_step(state, now, following):
            def loss(p):
                return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits(p, now)), following[..., None], -1))

            tree = jax.tree_util.tree_map
            value, slopes = jax.value_and_grad(loss)(state[0])
            count = state[3] + 1
            m = tree(lambda m, g: 0.9 * m + 0.1 * g, state[1], slopes)
            v = tree(lambda v, g: 0.999 * v + 0.001 * g * g, state[2], slopes)
            first, second = 1 - 0.9**count, 1 - 0.999**count
            p = tree(lambda p, m, v: p - 3e-4 * (m / first) / (jnp.sqrt(v / second) + 1e-8), state[0], m, v)
            return value, (p, m, v, count)

        def prepare():
            shapes = {"qkv": (width, 3 * width), "out": (width, width), "up": (width, 4 * width), "down": (4 * width, width)}
            random = np.random.default_rng(1)
            normal = lambda *shape: jnp.asarray(random.normal(0, 0.02, shape).astype(np.float32))  # noqa: E731
            blocks = {name: normal(layers, *shape) for name, shape in shapes.items()}
            blocks |= {f"b_{name}": jnp.zeros((layers, 1, shape[1]), jnp.float32) for name, shape in shapes.items()}
            blocks |= {f"g{i}": jnp.ones((layers, 1, width), jnp.float32) for i in (1, 2)} | {f"c{i}": jnp.zeros((layers, 1, width), jnp.float32) for i in (1, 2)}
            p = {"wte": normal(vocabulary, width), "wpe": normal(length, width), "layers": blocks,
                 "g": jnp.ones(width, jnp.float32), "c": jnp.zeros(width, jnp.float32)}  # fmt: skip
            zeros = jax.tree_util.tree_map(jnp.zeros_like, p)
            state = p, zeros, jax.tree_util.tree_map(jnp.zeros_like, p), jnp.zeros((), jnp.float32)
            call, value, _ = training(gpt_step, state, text(batch, length, vocabulary), None)()
            if abs(float(value) - np.log(vocabulary)) > 0.1:
                sys.exit(f"gpt: the loss of an untrained model is {float(value)}")
            return call, value, None

        row(f"gpt_{layers}x{width}x{length}", "jax", batch, prepare)


# ---- PyTorch ----------------------------------------------------------------------------------------------------------


def pytorch_rows():
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(1)
    torch.set_flush_denormal(True)

    def leaf(x):
        return torch.tensor(x, requires_grad=True)

    def both(workload, size, make, expected):
        """make(compiled) gives a call whose result is the value. compiled(f) is f, or f by torch.compile."""
        for implementation, compiled in (("pytorch", lambda f: f), ("pytorch_compiled", lambda f: torch.compile(f, dynamic=False))):

            def prepare():
                call = make(compiled)
                return call, call(), expected

            row(workload, implementation, size, prepare)

    def with_gradients(f, leaves, rest):
        def make(compiled):
            g, parameters, others = compiled(f), [leaf(x) for x in leaves], [torch.tensor(x) for x in rest]

            def call():
                for p in parameters:
                    p.grad = None
                value = g(*parameters, *others)
                value.backward()
                return value.detach()

            return call

        return make

    for suffix, dtype in types.items():
        for size, n in sizes.items():
            data = elementwise_data(n, dtype)
            both(f"gradient{suffix}", size,
                 with_gradients(lambda a, b, c, x: (torch.sigmoid(a * x + b) * torch.log1p(torch.exp(c * x))).sum(), data[:3], data[3:]),
                 gradient_value(*data))  # fmt: skip

            def forward(compiled, data=data):
                f, arguments = compiled(lambda x, a, b, c: torch.exp(-x * x) * a + torch.tanh(b) * c), [torch.tensor(x) for x in data[::-1]]

                def call():
                    with torch.no_grad():
                        return f(*arguments)

                return call

            both(f"forward{suffix}", size, forward, None)

    # bench/networks/convolution.cpp: images, rows, channels, taps, results, stride, padding
    for name, n, h, c, k, o, stride, padding in (("conv2d", 8, 30, 32, 3, 32, 1, 0), ("conv2d", 1, 56, 64, 3, 64, 1, 1), ("conv2d", 1, 14, 256, 3, 256, 1, 1),
                                                 ("conv2d_strided", 1, 56, 64, 3, 128, 2, 1)):  # fmt: skip
        for suffix, layout in (("", torch.channels_last), ("_nchw", torch.contiguous_format)):
            x, w = (torch.tensor(uniform(i, *shape)).contiguous(memory_format=layout) for i, shape in ((1, (n, c, h, h)), (2, (o, c, k, k))))
            g = torch.ones_like(F.conv2d(x, w, stride=stride, padding=padding))

            def value(x=x, w=w, stride=stride, padding=padding):
                with torch.no_grad():
                    return F.conv2d(x, w, stride=stride, padding=padding)

            def gradients(x=x, w=w, g=g, stride=stride, padding=padding):
                ones = [stride] * 2, [padding] * 2, [1, 1]
                return torch.ops.aten.convolution_backward(g, x, w, None, *ones, False, [0, 0], 1, [True, True, False])

            row(f"{name}{suffix}", "pytorch", c, lambda value=value: (value, 0, None))
            row(f"{name}{suffix}_gradients", "pytorch", c, lambda gradients=gradients: (gradients, 0, None))

    # bench/networks/narrow.cpp
    for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
        w = torch.tensor(uniform(2, 2048, 2048)).to(dtype)
        for rows in (4, 16, 128):
            x = torch.tensor(uniform(1, rows, 2048)).to(dtype)
            row(f"prefill_{name}", "pytorch", rows, lambda x=x, w=w: (lambda: F.linear(x, w), 0, None))
        w = torch.tensor(uniform(2, 16384, 4096)).to(dtype)
        x = torch.tensor(uniform(1, 1, 4096)).to(dtype)
        row(f"decode_{name}", "pytorch", 16384, lambda x=x, w=w: (lambda: F.linear(x, w), 0, None))

    x, w = uniform(1, wide, wide, bound=3), uniform(2, wide, wide)
    both("softmax", wide, with_gradients(lambda x, w: (torch.softmax(x, 1) * w).sum(), [x], [w]), np.sum(np.exp(log_softmax(np.float64(x))) * w))
    both("cross_entropy", wide, with_gradients(lambda x, y: F.cross_entropy(x, y), [x], [labels]), -np.mean(log_softmax(np.float64(x))[np.arange(wide), labels]))
    data = layer_norm_data()
    both("layer_norm", wide, with_gradients(lambda x, g, b, w: (F.layer_norm(x, (wide,), g, b) * w).sum(), data[:3], data[3:]), layer_norm_value(*data))
    matrices = [uniform(i, 4, 4, dtype=np.float64) for i in range(4)]
    both("chain4", 4, with_gradients(lambda a, b, c, d: (a @ b @ c @ d).sum(), matrices, []), np.sum(np.linalg.multi_dot(matrices)))

    def tiny(compiled):
        *parameters, x, y = (torch.tensor(v) for v in tiny_data())
        parameters = [p.requires_grad_() for p in parameters]
        f = compiled(lambda w1, b1, w2, b2, x, y: F.mse_loss(torch.addmm(b2, torch.tanh(torch.addmm(b1, x, w1)), w2), y))

        def call():
            for p in parameters:
                p.grad = None
            value = f(*parameters, x, y)
            value.backward()
            with torch.no_grad():
                for p in parameters:
                    p.sub_(p.grad, alpha=1e-4)
            return value.detach()

        return call

    both("tiny_step", 4, tiny, tiny_value(*tiny_data()))

    for batch in (1, 32, 256):
        data, x, y = mlp_data(batch)

        def mlp(compiled, data=data, x=x, y=y):
            parameters, x, y = [leaf(p) for p in data], torch.tensor(x), torch.tensor(y)
            momentum = [torch.zeros_like(p) for p in parameters]
            f = compiled(lambda w1, b1, w2, b2: F.cross_entropy(torch.addmm(b2, torch.relu(torch.addmm(b1, x, w1)), w2), y))

            def update(parameters, momentum, slopes):
                for p, v, g in zip(parameters, momentum, slopes):
                    v.mul_(0.9).add_(g)
                    p.sub_(v, alpha=1e-3)

            update = compiled(update)

            def call():
                for p in parameters:
                    p.grad = None
                value = f(*parameters)
                value.backward()
                with torch.no_grad():
                    update(parameters, momentum, [p.grad for p in parameters])
                return value.detach()

            return call

        both("mlp_step", batch, mlp, mlp_value(data, x, y))

    def lstm():
        wx, wh, b, xs = lstm_data()
        network = torch.nn.LSTM(lstm_width, lstm_width)
        with torch.no_grad():
            network.weight_ih_l0.copy_(torch.tensor(wx.T)), network.weight_hh_l0.copy_(torch.tensor(wh.T))
            network.bias_ih_l0.copy_(torch.tensor(b)), network.bias_hh_l0.zero_()
        xs = torch.tensor(xs)

        def call():
            network.zero_grad()
            value = network(xs)[0][-1].square().mean()
            value.backward()
            return value.detach()

        return call, call(), lstm_value(*lstm_data())

    row("lstm", "pytorch", 16, lstm)

    for layers, width, length, batch, vocabulary, heads in gpts:

        class Block(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
                self.qkv, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
                self.up, self.down = torch.nn.Linear(width, 4 * width), torch.nn.Linear(4 * width, width)

            def forward(self, x):
                q, k, v = (t.view(batch, length, heads, width // heads).transpose(1, 2) for t in self.qkv(self.first(x)).split(width, 2))
                mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width)
                x = x + self.out(mixed)
                return x + self.down(F.gelu(self.up(self.second(x)), approximate="tanh"))

        class GPT(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.wte, self.wpe = torch.nn.Parameter(0.02 * torch.randn(vocabulary, width)), torch.nn.Parameter(0.02 * torch.randn(length, width))
                self.blocks, self.last = torch.nn.ModuleList(Block() for _ in range(layers)), torch.nn.LayerNorm(width)

            def forward(self, now, following):
                x = F.embedding(now, self.wte) + self.wpe
                for block in self.blocks:
                    x = block(x)
                return F.cross_entropy((self.last(x) @ self.wte.T).view(-1, vocabulary), following.view(-1))

        def gpt(compiled):
            torch.manual_seed(1)
            model = GPT()
            rule = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0, fused=True)
            now, following = (torch.tensor(t) for t in text(batch, length, vocabulary))
            f = compiled(model)

            def call():
                rule.zero_grad(set_to_none=True)
                value = f(now, following)
                value.backward()
                rule.step()
                return value.detach()

            return call

        both(f"gpt_{layers}x{width}x{length}", batch, gpt, None)


{"jax": jax_rows, "torch": pytorch_rows}[library]()
if "benchmark_out" in options and rows:
    with open(options["benchmark_out"], "w") as file:
        json.dump({"context": {"library": library}, "benchmarks": rows}, file)
