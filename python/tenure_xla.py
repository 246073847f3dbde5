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

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from tenure_signature import JVP, VALUE, VJP, Library, Signature, Sums, loader, name_of_library, records

__all__ = ["load"]


class Function(Signature):
    """An exported function of C++. Call it with arrays, numbers, tuples and dicts."""

    def __init__(self, name, signature, targets):
        super().__init__(name, signature)
        self.targets = targets  # the names of XLA's handlers, for jax.export.DisabledSafetyCheck.custom_call

    def __call__(self, *arguments):
        arrays = [self._array(leaf, x) for leaf, x in zip(self.inputs, self.flatten(arguments))]
        return self.unflatten(_bind(*arrays, function=self, kind=VALUE, sums=Sums()))

    def _array(self, leaf, x):
        type = _dtype(leaf)
        takes_type = self.takes_number(leaf, x) and (type.itemsize < 8 or jax.config.jax_enable_x64)
        try:
            array = jnp.asarray(x, type if takes_type else None)
        except (TypeError, ValueError) as error:
            raise TypeError(f"tenure: {self.__name__}: {leaf.path} is no array: {error}") from None
        if wrong := self.mismatch(leaf, str(array.dtype), array.shape):
            is_narrow = type.itemsize == 8 and array.dtype.itemsize == 4 and not jax.config.jax_enable_x64
            raise TypeError(wrong + (': write jax.config.update("jax_enable_x64", True)' if is_narrow else ""))
        return array

    def shapes(self, kind, sums, arrays):
        shapes = self.result_shapes(kind, sums, [x.shape for x in arrays])
        return [jax.ShapeDtypeStruct(shape, _dtype(leaf)) for shape, leaf in zip(shapes, self.results(kind))]


def _dtype(leaf):
    return np.dtype(getattr(jnp, "bool_" if leaf.type == "bool" else leaf.type))


# One primitive of JAX for all functions. Leading axes of its operands are a batch: they have an extent of 1 where all samples share an operand.
_call = Primitive("tenure_call")
_call.multiple_results = True


def _bind(*arrays, **parameters):
    """One call. Inside shard_map all arrays vary along the axes of the mesh along which one does."""
    varying = [_varying(x) for x in arrays]
    whole = frozenset().union(*varying)
    if whole:
        arrays = [jax.lax.pcast(x, tuple(sorted(whole - v)), to="varying") if whole - v else x for x, v in zip(arrays, varying)]
    return _call.bind(*arrays, **parameters)


def _varying(x):
    """The axes of a mesh along which an array varies. Versions of JAX name them differently, and old ones do not know them."""
    t = x if isinstance(x, jax.core.ShapedArray) else jax.typeof(x)
    return getattr(getattr(t, "mat", t), "varying", None) or getattr(t, "vma", None) or frozenset()


@_call.def_impl
def _impl(*arrays, function, kind, sums):
    looks_for_nan = jax.config.jax_debug_nans
    with jax.disable_jit(False), jax.debug_nans(False):  # else jax.jit would come back here
        results = _compiled(function, kind, sums)(*arrays)
        if looks_for_nan and any(bool(jnp.isnan(r).any()) for r in results):
            raise FloatingPointError(f"invalid value (nan) encountered in {function.__name__}, a function of Tenure")
    return results


@functools.lru_cache(maxsize=None)
def _compiled(function, kind, sums):
    return jax.jit(lambda *arrays: _bind(*arrays, function=function, kind=kind, sums=sums))


@_call.def_abstract_eval
def _abstract(*avals, function, kind, sums):
    results = function.shapes(kind, sums, avals)
    varying = frozenset().union(*map(_varying, avals))
    if not varying:
        return [jax.core.ShapedArray(r.shape, r.dtype) for r in results]
    from jax._src import core
    as_varying = {"manual_axis_type": core.ManualAxisType(varying=varying)} if hasattr(core, "ManualAxisType") else {"vma": varying}
    return [core.ShapedArray(r.shape, r.dtype, sharding=core.get_cur_mesh_sharding(core.P(*[None] * len(r.shape))), **as_varying) for r in results]


def _foreign(*arrays, function, kind, sums):
    return jax.ffi.ffi_call(function.targets[kind], function.shapes(kind, sums, arrays))(*arrays)


def _on_another_platform(ctx, *operands, function, kind, sums):
    raise NotImplementedError(f"tenure: {function.__name__}: it runs on the CPU: put its arguments there, or use jax.jit(f, backend=\"cpu\")")


mlir.register_lowering(_call, _on_another_platform)
mlir.register_lowering(_call, mlir.lower_fun(_foreign, multiple_results=True), platform="cpu")


def _batched(arrays, axes, *, function, kind, sums):
    moved = [jnp.expand_dims(x, 0) if axis is None else jnp.moveaxis(x, axis, 0) for x, axis in zip(arrays, axes)]
    if sums:  # sums over the axes that were there before, and not over the new one
        if all(axis is None for axis in axes[:len(function.inputs)]):
            return _bind(*moved, function=function, kind=kind, sums=sums._replace(free=sums.free + 1)), [0] * len(function.variables)
        size = next(x.shape[axis] for x, axis in zip(arrays, axes) if axis is not None)
        return jax.lax.map(lambda x: _bind(*x, function=function, kind=kind, sums=sums), [jnp.broadcast_to(x, (size,) + x.shape[1:]) for x in moved]), [0] * len(function.variables)
    results = _bind(*moved, function=function, kind=kind, sums=sums)
    return results, [0] * len(results)


batching.primitive_batchers[_call] = _batched


def _is_zero(t):
    return type(t) is ad.Zero


def _jvp(primals, tangents, *, function, kind, sums):
    n = len(function.inputs)
    constants = [t for i, t in enumerate(tangents[:n]) if i not in function.variables and not _is_zero(t)]
    results = _bind(*primals, function=function, kind=kind, sums=sums)
    zeros = [ad.Zero(jax.typeof(r).update(weak_type=False) if jnp.issubdtype(r.dtype, jnp.floating) else jax.core.ShapedArray(r.shape, jax.dtypes.float0)) for r in results]
    if kind != VALUE:  # linear in the tangents or cotangents
        if any(not _is_zero(t) for t in tangents[:n]):
            raise NotImplementedError(f"tenure: {function.__name__}: a derivative of a derivative: export the gradient, such as tn::grad(f), as a function of its own")
        if all(map(_is_zero, tangents)):
            return results, zeros
        linear = [ad.instantiate_zeros(t) for t in tangents[n:]]
        return results, _bind(*primals[:n], *linear, function=function, kind=kind, sums=sums)
    if all(_is_zero(tangents[i]) for i in range(n)):
        return results, zeros
    if not function.has_derivatives:
        raise TypeError(f"tenure: {function.__name__}: it has no derivative: its result or all of its arguments are integers, bool or constants")
    if constants:
        paths = [leaf.path for i, leaf in enumerate(function.inputs) if i not in function.variables and not _is_zero(tangents[i])]
        raise TypeError(f"tenure: {function.__name__}: {paths[0]} is a constant of the function in C++, and it would get a derivative: "
                        "use jax.lax.stop_gradient, or export the function without tn::constant_argument there")
    variables = [ad.instantiate_zeros(tangents[i]) for i in function.variables]
    return results, _bind(*primals, *variables, function=function, kind=JVP, sums=sums)


ad.primitive_jvps[_call] = _jvp


def _transpose(cotangents, *operands, function, kind, sums):
    n = len(function.inputs)
    primals, linear = operands[:n], operands[n:]
    given = [ad.instantiate_zeros(c) for c in cotangents]
    shapes = [x.aval.shape if ad.is_undefined_primal(x) else x.shape for x in linear]
    if kind == JVP:
        # The cotangent of an operand that the samples share is a sum. A handler adds where the operand is declared as shared.
        sums = function.sums([x.shape for x in (*primals, *given)], [x.aval.shape if ad.is_undefined_primal(x) else x.shape for x in linear])
        transposed = _bind(*primals, *given, function=function, kind=VJP, sums=sums)
    else:
        transposed = _bind(*primals, *given, function=function, kind=JVP, sums=Sums())

    def reduced(x, shape):
        shared = tuple(a for a in range(len(shape)) if shape[a] == 1 and x.shape[a] != 1)
        return jnp.sum(x, axis=shared, keepdims=True) if shared else x

    return [None] * n + [reduced(t, shape) if ad.is_undefined_primal(x) else None for t, x, shape in zip(transposed, linear, shapes)]


ad.primitive_transposes[_call] = _transpose


@loader
def load(path):
    """The functions that a shared library exports with TENURE_XLA_FFI, as attributes."""
    functions, library = {}, name_of_library(path)
    for name, (written, entries, signature) in records(path, "tenure_xla_first_record", "TENURE_XLA_FFI")[1].items():
        targets = {kind: f"tenure:{library}:{written}:{kind}" for kind in entries}
        for kind, entry in entries.items():
            jax.ffi.register_ffi_target(targets[kind], jax.ffi.pycapsule(ctypes.c_void_p(entry)), platform="cpu")
        functions[name] = Function(name, signature, targets)
    return Library(path, functions)
