# SPDX-License-Identifier: BSL-1.0
"""The workloads of cuda_bench.cu in PyTorch, eager and through torch.compile: the same rows, one JSON object a line. With --eager no
torch.compile, which takes minutes."""
import json
import statistics
import sys

import torch
import torch.nn.functional as F

if not torch.cuda.is_available():
    sys.exit("peers.py: torch sees no GPU")

torch.set_float32_matmul_precision("highest")
DEVICE = "cuda"
PEERS = [("torch_eager", lambda f: f)]
if "--eager" not in sys.argv:
    PEERS.append(("torch_compile", torch.compile))


def milliseconds(f):
    for _ in range(5):
        f()
    times = []
    for _ in range(20):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        f()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def rows(name, size, make):
    """make(wrap) gives the function to time, with `wrap` around what torch.compile may compile."""
    for peer, wrap in PEERS:
        torch._dynamo.reset()
        print(json.dumps({"name": f"{name}/{peer}/{size}", "milliseconds": round(milliseconds(make(wrap)), 4)}), flush=True)


def uniform(*shape):
    return torch.rand(*shape, device=DEVICE) * 2 - 1


def forward(n):
    x, a, b, c = (uniform(n) for _ in range(4))

    def make(wrap):
        f = wrap(lambda x, a, b, c: torch.exp(-x * x) * a + torch.tanh(b) * c)
        return lambda: f(x, a, b, c)

    rows("forward_f32", n, make)


def product(name, size, m, k, n):
    a, b = uniform(m, k), uniform(k, n)

    def make(wrap):
        f = wrap(torch.matmul)
        return lambda: f(a, b)

    rows(name, size, make)


def step_of(wrap, f, leaves):
    value = wrap(f)

    def step():
        for leaf in leaves:
            leaf.grad = None
        value(*leaves).backward()

    return step


def gradient(n):
    x = uniform(n)
    a, b, c = (uniform(n).requires_grad_() for _ in range(3))
    f = lambda a, b, c: (torch.sigmoid(a * x + b) * torch.log1p(torch.exp(c * x))).sum()
    rows("gradient_f32", n, lambda wrap: step_of(wrap, f, (a, b, c)))


def table(n, columns):
    x, w = uniform(n, columns), uniform(n, columns)
    leaf = x.clone().requires_grad_()
    gain, bias = uniform(columns).requires_grad_(), uniform(columns).requires_grad_()

    def forward(wrap):
        softmax = wrap(lambda v: F.softmax(v, 1))
        return lambda: softmax(x)

    rows("softmax", columns, forward)
    rows("softmax_gradient", columns, lambda wrap: step_of(wrap, lambda v: (F.softmax(v, 1) * w).sum(), (leaf,)))
    norm = lambda v, g, b: (F.layer_norm(v, (columns,), g, b) * w).sum()
    rows("layer_norm_gradient", columns, lambda wrap: step_of(wrap, norm, (leaf, gain, bias)))


def mlp_step(batch):
    x, y = uniform(batch, 784), uniform(batch, 10)

    def make(wrap):
        model = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)).to(DEVICE)
        rule = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
        loss = wrap(lambda: -(y * F.log_softmax(model(x), 1)).sum(1).mean())

        def step():
            rule.zero_grad(set_to_none=True)
            loss().backward()
            rule.step()

        return step

    rows("mlp_step", batch, make)


for size in (8192, 1024):
    product("matmul_f32", size, size, size, size)
product("matmul_784x128_f32", 4096, 4096, 784, 128)
for size in (2**17, 2**22, 2**27):
    forward(size)
for size in (2**17, 2**22, 2**27):
    gradient(size)
table(2**15, 1024)
table(2**12, 8192)
for batch in (32, 256, 4096):
    mlp_step(batch)
