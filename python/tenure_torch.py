# SPDX-License-Identifier: BSL-1.0
"""Functions that Tenure compiled, as operators of PyTorch.

    library = tenure_torch.load("./libarm.so")   # a shared library with TENURE_TORCH(hand, ...)
    position = library.hand(angles, lengths)     # on the CPU; also under autograd, torch.func.grad, torch.func.vmap and torch.compile

A model of C++ is a dict, or an object with such attributes, such as a torch.nn.Module; a tuple or an array is a tuple or a list. A result that is a model is a
dict. A derivative of a derivative is no operation: export the gradient as a function of its own, TENURE_TORCH(gradient, ...) with `constexpr auto gradient = tn::grad(f)`.
"""
import ctypes
import functools
import re

import torch
from torch.autograd import forward_ad

from tenure_signature import JVP, VALUE, VJP, Library, Signature, Sums, loader, name_of_library, records

__all__ = ["load"]

_transforms_are_active = torch._C._are_functorch_transforms_active  # as torch.autograd.Function.apply asks


class Function(Signature):
    """An exported function of C++. Call it with tensors, numbers, tuples and dicts."""

    def __call__(self, *arguments):
        tensors = [self._tensor(leaf, type, x) for leaf, type, x in zip(self.inputs, self._types, self.flatten(arguments))]
        # A call without derivatives is the operator itself: an autograd.Function takes ten times as long.
        is_plain = not _transforms_are_active() and forward_ad._current_level < 0 and not (torch.is_grad_enabled() and any(x.requires_grad for x in tensors))
        return self.unflatten(self.run(VALUE, Sums(), tensors) if is_plain else _Call.apply(self, VALUE, Sums(), *tensors))

    def _tensor(self, leaf, type, x):
        tensor = x if isinstance(x, torch.Tensor) else torch.as_tensor(x, dtype=type if self.takes_number(leaf, x) else None)
        if tensor.dtype == type and tensor.shape == leaf.shape and tensor.is_cpu:
            return tensor
        if wrong := self.mismatch(leaf, str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape)):
            raise TypeError(wrong)
        if tensor.device.type not in ("cpu", "meta"):
            raise TypeError(f"tenure: {self.__name__}: {leaf.path} is on {tensor.device}, and the function runs on the CPU")
        return tensor

    def define(self, library, space, name, entries):
        """Defines the operators of PyTorch. Their last arguments are Sums, with a bit for each result that is one."""
        self._operators = {}
        self._types = [getattr(torch, leaf.type) for leaf in self.inputs]
        for kind, entry in entries.items():
            results = ["Tensor"] * len(self.results(kind))
            parameters = "".join(f"Tensor x{i}, " for i in range(len(self.operands(kind))))
            schema = f"{name}_{kind}({parameters}int sums, int free) -> {results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'}"
            if not library.tenure_torch_define(space.encode(), f"{name}_{kind}".encode(), schema.encode(), ctypes.c_void_p(entry)):
                raise RuntimeError(f"tenure: load: PyTorch does not take the operator {space}::{schema}")
            torch.library.register_fake(f"{space}::{name}_{kind}", functools.partial(self._fake, kind))
            self._operators[kind] = getattr(getattr(torch.ops, space), f"{name}_{kind}").default

    def _fake(self, kind, *operands):
        *tensors, bits, free = operands
        sums = Sums(tuple(i for k, i in enumerate(self.variables) if kind == VJP and bits >> k & 1), free)
        shapes = self.result_shapes(kind, sums, [tuple(x.shape) for x in tensors])
        results = [tensors[0].new_empty(shape, dtype=getattr(torch, leaf.type)) for shape, leaf in zip(shapes, self.results(kind))]
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, kind, sums, tensors):
        results = self._operators[kind](*tensors, sum(1 << k for k, i in enumerate(self.variables) if i in sums.inputs) if sums else 0, sums.free)
        return results if isinstance(results, tuple) else (results,)


class _Call(torch.autograd.Function):
    """One function of PyTorch for all functions of C++, their jvp and their vjp. Leading axes of its tensors are a batch: they have an extent of 1 where all
    samples share a tensor."""

    @staticmethod
    def forward(function, kind, sums, *tensors):
        return function.run(kind, sums, tensors)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.function, ctx.kind, ctx.sums, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*[y for y in output if not y.is_floating_point()])

    @staticmethod
    def vmap(info, axes, function, kind, sums, *tensors):
        moved = [x.unsqueeze(0) if axis is None else x.movedim(axis, 0) for x, axis in zip(tensors, axes[3:])]
        if sums and all(axis is None for axis in axes[3:3 + len(function.inputs)]):  # sums over the axes that were there before, and not over the new one
            results = _Call.apply(function, kind, sums._replace(free=sums.free + 1), *moved)
        elif sums:
            each = [_Call.apply(function, kind, sums, *(x[i if x.shape[0] > 1 else 0] for x in moved)) for i in range(info.batch_size)]
            results = tuple(map(torch.stack, zip(*each)))
        else:
            results = _Call.apply(function, kind, sums, *moved)
        return results, (0,) * len(results)

    @staticmethod
    def backward(ctx, *gradients):
        function, kind, tensors = ctx.function, ctx.kind, ctx.saved_tensors
        n = len(function.inputs)
        needs = ctx.needs_input_grad[3:]
        if kind == VALUE:
            _check(function, [i for i in range(n) if needs[i]])
        elif any(needs[:n]):
            _refuse(function)
        primals = tensors[:n]
        shapes = function.result_shapes(kind, ctx.sums, [tuple(x.shape) for x in tensors])
        given = [primals[0].new_zeros(shape, dtype=getattr(torch, leaf.type)) if g is None else g for g, shape, leaf in zip(gradients, shapes, function.results(kind))]
        if kind == VJP:  # linear in the cotangents of the outputs
            transposed = _Call.apply(function, JVP, Sums(), *primals, *given)
            return (None,) * (3 + n) + tuple(g.sum_to_size(x.shape) for g, x in zip(transposed, tensors[n:]))
        sums = function.sums([tuple(x.shape) for x in (*primals, *given)], [tuple(x.shape) for x in tensors[n:]] if kind == JVP else None)
        cotangents = dict(zip(function.variables, _Call.apply(function, VJP, sums, *primals, *given)))
        if kind == JVP:  # linear in the tangents of the variables
            return (None,) * (3 + n) + tuple(cotangents[i].sum_to_size(x.shape) for i, x in zip(function.variables, tensors[n:]))
        return (None,) * 3 + tuple(cotangents[i].sum_to_size(x.shape) if needs[i] else None for i, x in enumerate(primals))

    @staticmethod
    def jvp(ctx, *tangents):
        function, kind, tensors, tangents = ctx.function, ctx.kind, ctx.saved_tensors, tangents[3:]
        n = len(function.inputs)
        if kind == VALUE:
            _check(function, [i for i in range(n) if tangents[i] is not None])
            linear = [(i, tangents[i]) for i in function.variables]
        else:
            if any(t is not None for t in tangents[:n]):
                _refuse(function)
            linear = list(enumerate(tangents))[n:]
        given = [torch.zeros_like(tensors[i]) if t is None else t for i, t in linear]
        return _Call.apply(function, JVP if kind == VALUE else kind, ctx.sums, *tensors[:n], *given)


def _check(function, wanted):
    """The inputs that would get a derivative."""
    if not function.has_derivatives:
        raise TypeError(f"tenure: {function.__name__}: it has no derivative: its result or all of its arguments are integers, bool or constants")
    for i in wanted:
        if i not in function.variables:
            raise TypeError(f"tenure: {function.__name__}: {function.inputs[i].path} is a constant of the function in C++, and it would get a derivative: "
                            "detach it, or export the function without tn::constant_argument there")


def _refuse(function):
    raise NotImplementedError(f"tenure: {function.__name__}: a derivative of a derivative: export the gradient, such as tn::grad(f), as a function of its own")


@loader
def load(path):
    """The functions that a shared library exports with TENURE_TORCH, as attributes."""
    library, found = records(path, "tenure_torch_first_record", "TENURE_TORCH")
    library.tenure_torch_define.restype = ctypes.c_bool
    space = "tenure_" + re.sub(r"\W", "_", name_of_library(path))
    functions = {}
    for name, (written, entries, signature) in found.items():
        functions[name] = Function(name, signature)
        functions[name].define(library, space, re.sub(r"\W", "_", written), entries)
    return Library(path, functions)
