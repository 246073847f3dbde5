#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The functions of exported.cpp inside PyTorch, beside the same functions of PyTorch: values, derivatives, batches of each argument and of none, and what is refused; and the
example of docs/inside-pytorch.md.

    torch_operators.py [--compiler C++] [--include DIR]... [--flags=...]

Exits with 77 where Python has no PyTorch of 2.10 or newer.
"""
import argparse, itertools, os, subprocess, sys, tempfile

sys.dont_write_bytecode = True
parser = argparse.ArgumentParser()
parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
parser.add_argument("--include", action="append", default=[])
parser.add_argument("--flags", default="-std=c++20 -O1 -march=native")
options = parser.parse_args()
try:
    import torch
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)
if tuple(int(n) for n in torch.__version__.split("+")[0].split(".")[:2]) < (2, 10):
    print("skipped: PyTorch", torch.__version__)
    sys.exit(77)
here = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(here, "../../python"))
import tenure_torch

of_torch = os.path.dirname(torch.__file__)
root = os.path.join(here, "../..")
folder = tempfile.TemporaryDirectory()


def library_of(source):
    path = os.path.join(folder.name, f"lib{os.path.basename(source)}.so")
    includes = [x for i in [*options.include, os.path.join(of_torch, "include")] for x in ("-isystem", i)]
    subprocess.run([options.compiler, *options.flags.split(), "-Wall", "-Wextra", "-Werror", "-DEXPORT_TO_TORCH=1", "-fPIC", "-shared", *includes, source, "-o", path,
                    f"-L{of_torch}/lib", "-ltorch_cpu"], check=True)
    return path


# The example, beside what docs/inside-pytorch.md says that it prints.
mass = library_of(os.path.join(root, "examples/torch/mass.cpp"))
environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.join(root, "python"), os.environ.get("PYTHONPATH", "")])}
printed = subprocess.run([sys.executable, os.path.join(root, "examples/torch/mass.py"), mass], check=True, env=environment, capture_output=True, text=True).stdout
with open(os.path.join(root, "docs/inside-pytorch.md")) as page:
    assert f"```\n{printed}```" in page.read(), f"docs/inside-pytorch.md does not show what the example prints:\n{printed}"

library = tenure_torch.load(library_of(os.path.join(here, "exported.cpp")))
torch.set_default_dtype(torch.float64)
torch.manual_seed(1)
normal = lambda *shape: torch.randn(shape)
tree_map = torch.utils._pytree.tree_map
tree_leaves = torch.utils._pytree.tree_leaves


def same(a, b, tolerance=1e-12):
    a, b = tree_leaves(a), tree_leaves(b)
    assert len(a) == len(b), (len(a), len(b))
    for x, y in zip(a, b):
        torch.testing.assert_close(x.to(torch.float64), y.to(torch.float64), rtol=tolerance, atol=tolerance)


def projected(c, point):
    seen = torch.linalg.cross(c["rotation"], point) + point + c["position"]
    return c["focal"] * seen[:2] / seen[2]


def newton(x):
    y = x
    for _ in range(6):
        y = 0.5 * (y + x / y)
    return y


energy = lambda x: torch.sum(x**3) / 3 + torch.sum(torch.sin(x))
peers = {
    "projected": projected,
    "layer": lambda net, x: torch.tanh(net["w"] @ x + net["b"]),
    "both": lambda pair: (pair[0] * torch.sum(pair[1]), (torch.sin(pair[1]), torch.dot(*pair))),
    "joined": lambda x, y: torch.cat([x * torch.sum(y), torch.exp(y)]),
    "table": lambda x, y: torch.outer(torch.sin(x), y) * torch.sum(x),
    "newton": newton,
    "energy": energy,
    "slope": torch.func.grad(energy),
}
camera = lambda *n: {"rotation": normal(*n, 3), "position": normal(*n, 3) + 4, "focal": normal(*n)}
network = lambda *n: {"w": normal(*n, 4, 5), "b": normal(*n, 4)}
arguments = {  # makers of each argument, and which get derivatives
    "projected": ([camera, lambda *n: normal(*n, 3)], (0,)),
    "layer": ([network, lambda *n: normal(*n, 5)], (0, 1)),
    "both": ([lambda *n: (normal(*n, 3), normal(*n, 3))], (0,)),
    "joined": ([lambda *n: normal(*n, 4), lambda *n: normal(*n, 3)], (0, 1)),
    "table": ([lambda *n: normal(*n, 4), lambda *n: normal(*n, 3)], (0, 1)),
    "newton": ([lambda *n: torch.exp(normal(*n))], (0,)),
    "energy": ([lambda *n: normal(*n, 3)], (0,)),
    "slope": ([lambda *n: normal(*n, 3)], (0,)),
}
total = lambda y: sum(torch.sum(torch.cos(leaf) * (1 + i)) for i, leaf in enumerate(tree_leaves(y)))
grad, vmap = torch.func.grad, torch.func.vmap

for name, peer in peers.items():
    f = getattr(library, name)
    make, variables = arguments[name]
    x = [m() for m in make]
    loss = lambda g: lambda *a: total(g(*a))
    same(f(*x), peer(*x))
    same(grad(loss(f), variables)(*x), grad(loss(peer), variables)(*x))
    tangents = tuple(tree_map(lambda leaf: 0.5 + torch.cos(leaf), x[i]) for i in variables)
    forward = lambda g: torch.func.jvp(lambda *v: g(*v, *x[len(variables):]), tuple(x[:len(variables)]), tangents)
    same(forward(f), forward(peer))
    if name != "both":
        for jacobian in (torch.func.jacfwd, torch.func.jacrev):
            same(jacobian(f, variables)(*x), jacobian(peer, variables)(*x))
    for n in (1, 7):
        for axes in itertools.product((0, None), repeat=len(make)):
            if all(a is None for a in axes):
                continue
            many = [m(n) if a == 0 else m() for m, a in zip(make, axes)]
            batch = lambda g: vmap(g, axes)
            same(batch(f)(*many), batch(peer)(*many))
            same(batch(grad(loss(f), variables))(*many), batch(grad(loss(peer), variables))(*many))
            same(grad(loss(batch(f)), variables)(*many), grad(loss(batch(peer)), variables)(*many))
            # Jacobians of a batch, and batches of Jacobians: only the directions differ.
            if name != "both" and n == 7:
                for jacobian in (torch.func.jacfwd, torch.func.jacrev):
                    for of_batch in (lambda g: vmap(jacobian(g, variables), axes), lambda g: jacobian(vmap(g, axes), variables)):
                        same(of_batch(f)(*many), of_batch(peer)(*many))
    if len(make) == 2:
        for outer in (lambda g: vmap(vmap(g, (None, 0)), (0, None)), lambda g: vmap(vmap(g, (0, None)), (None, 0))):
            grid = [make[0](3), make[1](5)]
            same(outer(f)(*grid), outer(peer)(*grid))
            same(grad(loss(outer(f)), variables)(*grid), grad(loss(outer(peer)), variables)(*grid))
        grid = [make[0](3), make[1](3, 5)]
        models = lambda g: vmap(lambda a, b: vmap(g, (None, 0))(a, b))
        same(models(f)(*grid), models(peer)(*grid))
        same(vmap(grad(lambda a, b: total(vmap(f, (None, 0))(a, b)), variables))(*grid), vmap(grad(lambda a, b: total(vmap(peer, (None, 0))(a, b)), variables))(*grid))
    print("ok", name, f)

# Autograd and strides; a module as a model; a Hessian by an exported gradient; narrow types; no samples.
x = normal(9, 3)
leaf = normal(3, 2)[:, 0].requires_grad_()
library.energy(leaf).backward()
same(leaf.grad, torch.cos(leaf.detach()) + leaf.detach() ** 2)
same(vmap(library.energy, 1)(x.T), vmap(energy)(x))
module = torch.nn.Linear(5, 4)
module.w, module.b = module.weight, module.bias
y = normal(5)
same(library.layer(module, y), torch.tanh(module(y)))
library.layer(module, y).sum().backward()
same(module.weight.grad, torch.outer(1 - torch.tanh(module(y)) ** 2, y))
same(torch.func.jacfwd(library.slope)(x[0]), torch.func.hessian(energy)(x[0]))
keep, n, single = torch.tensor([True, False, True, True]), torch.tensor([3, 4], dtype=torch.int32), torch.randn(4, dtype=torch.float32)
same(library.chosen(keep, n, single), (torch.where(keep, single, 0), n + 1))
narrow = torch.randn(8).to(torch.bfloat16).requires_grad_()
same(library.narrow(narrow), narrow * narrow + narrow, 0.02)
same(vmap(library.energy)(normal(0, 3)), torch.zeros(0))


def refused(text, f, *x):
    try:
        f(*x)
    except Exception as e:
        assert text in str(e), f"another message: {e}"
        return
    raise SystemExit(f"not refused: {text}")


refused("energy: argument 0 is float64[2], and the function in C++ takes float64[3]", library.energy, x[0, :2])
refused("energy: argument 0 is float32[3]", library.energy, single[:3])
refused("energy: 2 arguments, and the function in C++ takes 1", library.energy, x[0], x[0])
refused("projected: argument 1 is a constant", grad(lambda p: torch.sum(library.projected(camera(), p))), x[0])
refused("energy: a derivative of a derivative", torch.func.hessian(library.energy), x[0])
refused("chosen: it has no derivative", lambda: library.chosen(keep, n, single.clone().requires_grad_())[0].sum().backward())
refused("tenure: add: shapes 3 and 4 disagree", library.checked, normal(3), normal(4))
print("ok")
