# SPDX-License-Identifier: BSL-1.0
"""Functions that Tenure compiled, as operations of JAX.

    library = tenure_xla.load("./libarm.so")   # a shared library with TENURE_XLA_FFI(hand, ...)
    position = library.hand(angles, rows)      # on the CPU; also under jax.jit, jax.grad, jax.jvp, jax.vmap

A model of C++ is a dict, or an object with such attributes; a tuple or an array is a tuple or a list. A result that is a model is a dict. Element types
are those of C++: where they are float64 or int64, JAX needs jax.config.update("jax_enable_x64", True). A derivative of a derivative is no operation:
export the gradient as a function of its own, TENURE_XLA_FFI(gradient, ...) with `constexpr auto gradient = tn::grad(f)`.
"""
import ctypes
import functools
import json
import operator
import os

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

__all__ = ["load"]

_VALUE, _JVP, _VJP = "value", "jvp", "vjp"


class _Record(ctypes.Structure):
    pass


_Record._fields_ = [("name", ctypes.c_char_p), ("entries", ctypes.c_void_p * 3), ("signature", ctypes.CFUNCTYPE(ctypes.c_char_p)),
                    ("next", ctypes.POINTER(_Record))]


class _Leaf:
    """The type of an array. An extent of the shape is a number, None (any) or a formula of extents of arguments."""

    def __init__(self, path, type, shape):
        self.path, self.type, self.shape = path, np.dtype(getattr(jnp, "bool_" if type == "bool" else type)), tuple(shape)

    def __str__(self):
        return f"{self.type}[{','.join(str(n) if isinstance(n, int) else '?' for n in self.shape)}]"


def _leaves(tree, path=""):
    if isinstance(tree, list):
        return [leaf for i, part in enumerate(tree) for leaf in _leaves(part, f"{path}[{i}]")]
    if "members" in tree:
        return [leaf for name, part in tree["members"].items() for leaf in _leaves(part, f"{path}.{name}")]
    return [_Leaf(path, tree["type"], tree["shape"])]


def _flatten(function, tree, x, where):
    """The arrays of an argument, in the order of C++."""
    if isinstance(tree, list):
        if not isinstance(x, (tuple, list)) or len(x) != len(tree):
            raise TypeError(f"tenure: {function}: {where} is no tuple or list of {len(tree)}: {type(x).__name__}")
        return [leaf for i, part in enumerate(tree) for leaf in _flatten(function, part, x[i], f"{where}[{i}]")]
    if "members" in tree:
        names = list(tree["members"])
        if isinstance(x, dict):
            if set(x) != set(names):
                raise TypeError(f"tenure: {function}: {where} has the keys {sorted(x)}, and the members in C++ are {names}")
            parts = [x[name] for name in names]
        elif all(hasattr(x, name) for name in names):
            parts = [getattr(x, name) for name in names]
        else:
            raise TypeError(f"tenure: {function}: {where} is no dict and no object with {names}: {type(x).__name__}")
        return [leaf for name, part in zip(names, parts) for leaf in _flatten(function, tree["members"][name], part, f"{where}.{name}")]
    return [x]


def _unflatten(tree, leaves):
    if isinstance(tree, list):
        return tuple(_unflatten(part, leaves) for part in tree)
    if "members" in tree:
        return {name: _unflatten(part, leaves) for name, part in tree["members"].items()}
    return next(leaves)


def _floats(leaves):
    return [jnp.issubdtype(leaf.type, jnp.floating) for leaf in leaves]


class Function:
    """An exported function of C++. Call it with arrays, numbers, tuples and dicts."""

    def __init__(self, name, signature, targets):
        self.__name__ = name
        self._targets = targets
        self._arguments = signature["arguments"]
        self._result = signature["results"]
        self._has_derivatives = signature["has_derivatives"]
        inputs = [_leaves(tree, f"argument {i}") for i, tree in enumerate(self._arguments)]
        self.inputs = [leaf for leaves in inputs for leaf in leaves]
        self.outputs = _leaves(self._result, "the result")
        of_leaves = lambda flags: [flag for flag, leaves in zip(signature[flags], inputs) for _ in leaves]
        self.variables = [i for i, is_variable in enumerate(of_leaves("variables")) if is_variable]
        self.shared = of_leaves("shared")

    def __repr__(self):
        return f"<function of Tenure {self.__name__}({', '.join(map(str, self.inputs))}) -> {', '.join(map(str, self.outputs))}>"

    def __call__(self, *arguments):
        if len(arguments) != len(self._arguments):
            raise TypeError(f"tenure: {self.__name__}: {len(arguments)} arguments, and the function in C++ takes {len(self._arguments)}")
        given = [x for i, (tree, a) in enumerate(zip(self._arguments, arguments)) for x in _flatten(self.__name__, tree, a, f"argument {i}")]
        arrays = [self._array(leaf, x) for leaf, x in zip(self.inputs, given)]
        return _unflatten(self._result, iter(_call.bind(*arrays, function=self, kind=_VALUE, sums=())))

    def _array(self, leaf, x):
        takes_type = isinstance(x, (bool, int, float)) and (leaf.type.itemsize < 8 or jax.config.jax_enable_x64)
        array = jnp.asarray(x, leaf.type if takes_type else None)
        wrong = array.dtype != leaf.type or array.ndim != len(leaf.shape) or any(n is not None and n != m for n, m in zip(leaf.shape, array.shape))
        if wrong:
            found = f"{array.dtype}[{','.join(map(str, array.shape))}]"
            narrow = leaf.type.itemsize == 8 and array.dtype.itemsize == 4
            cure = ': write jax.config.update("jax_enable_x64", True)' if narrow and not jax.config.jax_enable_x64 else ""
            raise TypeError(f"tenure: {self.__name__}: {leaf.path} is {found}, and the function in C++ takes {leaf}{cure}")
        return array

    # The leaves of the three handlers.

    def _operands(self, kind):
        if kind == _VALUE:
            return self.inputs
        return self.inputs + ([self.inputs[i] for i in self.variables] if kind == _JVP else self.outputs)

    def _results(self, kind):
        return [self.inputs[i] for i in self.variables] if kind == _VJP else self.outputs

    def _shapes(self, kind, sums, avals):
        """The arrays that a handler gives. Cotangents of the inputs `sums` are sums over the batch."""
        operands = self._operands(kind)
        axes = {aval.ndim - len(leaf.shape) for aval, leaf in zip(avals, operands)}
        if len(axes) != 1:
            raise TypeError(f"tenure: {self.__name__}: the arguments have different numbers of axes of a batch")
        axes = axes.pop()
        batch = np.broadcast_shapes(*(aval.shape[:axes] for aval in avals)) if avals else ()
        extents = [aval.shape[axes:] for aval in avals]

        def extent(formula):
            if isinstance(formula, int):
                return formula
            operation, a, b = formula
            if operation == "extent":
                return extents[a][b]
            return {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "min": min}[operation](extent(a), extent(b))

        if kind == _VJP:
            batches = [(1,) * axes if i in sums else batch for i in self.variables]
            shapes = [b + extents[i] for b, i in zip(batches, self.variables)]
        else:
            shapes = [batch + tuple(map(extent, leaf.shape)) for leaf in self.outputs]
        return [jax.ShapeDtypeStruct(shape, leaf.type) for shape, leaf in zip(shapes, self._results(kind))]


# One primitive of JAX for all functions. Leading axes of its operands are a batch: they have an extent of 1 where all samples share an operand.
_call = Primitive("tenure_call")
_call.multiple_results = True


@_call.def_impl
def _impl(*arrays, function, kind, sums):
    return _compiled(function, kind, sums)(*arrays)


@functools.lru_cache(maxsize=None)
def _compiled(function, kind, sums):
    return jax.jit(lambda *arrays: _call.bind(*arrays, function=function, kind=kind, sums=sums))


@_call.def_abstract_eval
def _abstract(*avals, function, kind, sums):
    return [jax.core.ShapedArray(r.shape, r.dtype) for r in function._shapes(kind, sums, avals)]


def _foreign(*arrays, function, kind, sums):
    return jax.ffi.ffi_call(function._targets[kind], function._shapes(kind, sums, arrays))(*arrays)


mlir.register_lowering(_call, mlir.lower_fun(_foreign, multiple_results=True), platform="cpu")


def _batched(arrays, axes, *, function, kind, sums):
    moved = [jnp.expand_dims(x, 0) if axis is None else jnp.moveaxis(x, axis, 0) for x, axis in zip(arrays, axes)]
    if sums:  # sums over the axes that were there before, and not over the new one
        size = next(x.shape[axis] for x, axis in zip(arrays, axes) if axis is not None)
        return jax.lax.map(lambda x: _call.bind(*x, function=function, kind=kind, sums=sums), [jnp.broadcast_to(x, (size,) + x.shape[1:]) for x in moved]), [0] * len(function.variables)
    results = _call.bind(*moved, function=function, kind=kind, sums=())
    return results, [0] * len(results)


batching.primitive_batchers[_call] = _batched


def _is_zero(t):
    return type(t) is ad.Zero


def _jvp(primals, tangents, *, function, kind, sums):
    n = len(function.inputs)
    constants = [t for i, t in enumerate(tangents[:n]) if i not in function.variables and not _is_zero(t)]
    results = _call.bind(*primals, function=function, kind=kind, sums=sums)
    zeros = [ad.Zero(jax.core.ShapedArray(r.shape, r.dtype if jnp.issubdtype(r.dtype, jnp.floating) else jax.dtypes.float0)) for r in results]
    if kind != _VALUE:  # linear in the tangents or cotangents
        if any(not _is_zero(t) for t in tangents[:n]):
            raise NotImplementedError(f"tenure: {function.__name__}: a derivative of a derivative: export the gradient, such as tn::grad(f), as a function of its own")
        if all(map(_is_zero, tangents)):
            return results, zeros
        linear = [ad.instantiate_zeros(t) for t in tangents[n:]]
        return results, _call.bind(*primals[:n], *linear, function=function, kind=kind, sums=sums)
    if all(_is_zero(tangents[i]) for i in range(n)):
        return results, zeros
    if not function._has_derivatives:
        raise TypeError(f"tenure: {function.__name__}: it has no derivative: its result or all of its arguments are integers, bool or constants")
    if constants:
        paths = [leaf.path for i, leaf in enumerate(function.inputs) if i not in function.variables and not _is_zero(tangents[i])]
        raise TypeError(f"tenure: {function.__name__}: {paths[0]} is a constant of the function in C++, and it would get a derivative: "
                        "use jax.lax.stop_gradient, or export the function without tn::constant_argument there")
    variables = [ad.instantiate_zeros(tangents[i]) for i in function.variables]
    return results, _call.bind(*primals, *variables, function=function, kind=_JVP, sums=())


ad.primitive_jvps[_call] = _jvp


def _transpose(cotangents, *operands, function, kind, sums):
    n = len(function.inputs)
    primals, linear = operands[:n], operands[n:]
    given = [ad.instantiate_zeros(c) for c in cotangents]
    shapes = [x.aval.shape if ad.is_undefined_primal(x) else x.shape for x in linear]
    if kind == _JVP:
        # The cotangent of an operand that the samples share is a sum. A handler adds where the operand is declared as shared.
        batches = [x.shape[:x.ndim - len(leaf.shape)] for x, leaf in zip((*primals, *given), function._operands(_VJP))]
        whole = np.broadcast_shapes(*batches)
        are_joined = all(set(b) <= {1} or b == whole for b in batches)
        sums = tuple(i for i in function.variables if function.shared[i] and set(batches[i]) <= {1} and set(whole) - {1}) if are_joined else ()
        transposed = _call.bind(*primals, *given, function=function, kind=_VJP, sums=sums)
    else:
        transposed = _call.bind(*primals, *given, function=function, kind=_JVP, sums=())

    def reduced(x, shape):
        shared = tuple(a for a in range(len(shape)) if shape[a] == 1 and x.shape[a] != 1)
        return jnp.sum(x, axis=shared, keepdims=True) if shared else x

    return [None] * n + [reduced(t, shape) if ad.is_undefined_primal(x) else None for t, x, shape in zip(transposed, linear, shapes)]


ad.primitive_transposes[_call] = _transpose


class Library:
    """The exported functions of a shared library, as attributes."""

    def __init__(self, path, functions):
        self._path = path
        self.__dict__.update(functions)

    def __repr__(self):
        return f"<{self._path}: {', '.join(name for name in vars(self) if name != '_path')}>"


@functools.lru_cache(maxsize=None)
def _load(path):
    library = ctypes.CDLL(path)
    try:
        first = library.tenure_xla_first_record
    except AttributeError:
        raise ImportError(f"tenure: load: {path} exports no function: write TENURE_XLA_FFI(f, types of its arguments...); in it") from None
    first.restype = ctypes.POINTER(_Record)
    functions, at = {}, first()
    while at:
        record = at.contents
        name = record.name.decode().rsplit("::", 1)[-1]
        targets = {}
        for kind, handler in zip((_VALUE, _JVP, _VJP), record.entries):
            if handler:
                targets[kind] = f"{path}:{record.name.decode()}:{kind}"
                jax.ffi.register_ffi_target(targets[kind], jax.ffi.pycapsule(ctypes.c_void_p(handler)), platform="cpu")
        functions[name] = Function(name, json.loads(record.signature()), targets)
        at = record.next
    return Library(path, functions)


def load(path):
    """The functions that a shared library exports with TENURE_XLA_FFI, as attributes."""
    return _load(os.path.realpath(path))
