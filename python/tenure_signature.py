# SPDX-License-Identifier: BSL-1.0
"""What tenure_xla and tenure_torch share: the signatures of exported functions, the trees of their arguments, and the list of a library's functions."""
import ctypes
import functools
import json
import math
import operator
import os
import typing

VALUE, JVP, VJP = "value", "jvp", "vjp"


class _Record(ctypes.Structure):
    pass


_Record._fields_ = [("name", ctypes.c_char_p), ("entries", ctypes.c_void_p * 3), ("signature", ctypes.CFUNCTYPE(ctypes.c_char_p)),
                    ("next", ctypes.POINTER(_Record))]


_loaded = {}  # of a path: the file that was loaded from it


def records(path, symbol, macro):
    """The library, and {name: (name in C++, {kind: entry}, signature)} of the functions that it exports with a macro."""
    stat = os.stat(path)
    if _loaded.setdefault(path, (stat.st_ino, stat.st_mtime_ns)) != (stat.st_ino, stat.st_mtime_ns):
        raise ImportError(f"tenure: load: {path} was built again after it was loaded: start Python again")
    library = ctypes.CDLL(path)
    try:
        first = getattr(library, symbol)
    except AttributeError:
        raise ImportError(f"tenure: load: {path} exports no function: write {macro}(f, types of its arguments...); in it") from None
    first.restype = ctypes.POINTER(_Record)
    found, at = {}, first()
    while at:
        record = at.contents
        written = record.name.decode()
        name = written.rsplit("::", 1)[-1]
        if name in found:
            raise ImportError(f"tenure: load: {path} exports two functions of the name {name}: {written} and {found[name][0]}")
        entries = {kind: entry for kind, entry in zip((VALUE, JVP, VJP), record.entries) if entry}
        found[name] = written, entries, json.loads(record.signature())
        at = record.next
    return library, found


_paths = {}  # of the names of files that were loaded


def name_of_library(path):
    """The name of the file, which is the same where the library lies elsewhere; the path, if another library of this name was loaded before."""
    name = os.path.basename(path)
    return name if _paths.setdefault(name, path) == path else path


class Library:
    """The exported functions of a shared library, as attributes."""

    def __init__(self, path, functions):
        self._path = path
        self.__dict__.update(functions)

    def __repr__(self):
        return f"<{self._path}: {', '.join(name for name in vars(self) if name != '_path')}>"


def loader(load):
    """load(path) for any spelling of a path: a library is loaded once, and again if its file changed."""
    cached = functools.lru_cache(maxsize=None)(lambda path, changed: load(path))

    @functools.wraps(load)
    def of_file(path):
        path = os.path.realpath(path)
        return cached(path, os.stat(path).st_mtime_ns)

    return of_file


class Sums(typing.NamedTuple):
    """The inputs whose cotangents a vjp adds up over the batch, except over its first `free` axes."""
    inputs: tuple = ()
    free: int = 0

    def __bool__(self):
        return bool(self.inputs)


class Leaf:
    """The type of an array: the name of its element type, and its shape. An extent is a number, None (any) or a formula of extents of arguments."""

    def __init__(self, path, type, shape):
        self.path, self.type, self.shape = path, type, tuple(shape)

    def __str__(self):
        return f"{self.type}[{','.join(str(n) if isinstance(n, int) else '?' for n in self.shape)}]"


def leaves_of(tree, path):
    if isinstance(tree, list):
        return [leaf for i, part in enumerate(tree) for leaf in leaves_of(part, f"{path}[{i}]")]
    if "members" in tree:
        return [leaf for name, part in tree["members"].items() for leaf in leaves_of(part, f"{path}.{name}")]
    return [Leaf(path, tree["type"], tree["shape"])]


class Signature:
    """An exported function: the trees of its arguments and its result."""

    def __init__(self, name, signature):
        self.__name__ = name
        self.arguments, self.result = signature["arguments"], signature["results"]
        self.has_derivatives = signature["has_derivatives"]
        inputs = [leaves_of(tree, f"argument {i}") for i, tree in enumerate(self.arguments)]
        self.inputs = [leaf for leaves in inputs for leaf in leaves]
        self.outputs = leaves_of(self.result, "the result")
        of_leaves = lambda flags: [flag for flag, leaves in zip(signature[flags], inputs) for _ in leaves]
        self.variables = [i for i, is_variable in enumerate(of_leaves("variables")) if is_variable]
        self.shared = of_leaves("shared")

    def __repr__(self):
        return f"<function of Tenure {self.__name__}({', '.join(map(str, self.inputs))}) -> {', '.join(map(str, self.outputs))}>"

    def flatten(self, arguments):
        """The arrays of the arguments, in the order of C++."""
        if len(arguments) != len(self.arguments):
            raise TypeError(f"tenure: {self.__name__}: {len(arguments)} arguments, and the function in C++ takes {len(self.arguments)}")
        return [x for i, (tree, a) in enumerate(zip(self.arguments, arguments)) for x in self._flatten(tree, a, f"argument {i}")]

    def _flatten(self, tree, x, where):
        if isinstance(tree, list):
            if not isinstance(x, (tuple, list)) or len(x) != len(tree):
                raise TypeError(f"tenure: {self.__name__}: {where} is no tuple or list of {len(tree)}: {type(x).__name__}")
            return [leaf for i, part in enumerate(tree) for leaf in self._flatten(part, x[i], f"{where}[{i}]")]
        if "members" in tree:
            names = list(tree["members"])
            if isinstance(x, dict):
                if set(x) != set(names):
                    raise TypeError(f"tenure: {self.__name__}: {where} has the keys {sorted(map(str, x))}, and the members in C++ are {names}")
                parts = [x[name] for name in names]
            elif all(hasattr(x, name) for name in names):
                parts = [getattr(x, name) for name in names]
            else:
                raise TypeError(f"tenure: {self.__name__}: {where} is no dict and no object with {names}: {type(x).__name__}")
            return [leaf for name, part in zip(names, parts) for leaf in self._flatten(tree["members"][name], part, f"{where}.{name}")]
        return [x]

    def unflatten(self, leaves):
        return self._unflatten(self.result, iter(leaves))

    def _unflatten(self, tree, leaves):
        if isinstance(tree, list):
            return tuple(self._unflatten(part, leaves) for part in tree)
        if "members" in tree:
            return {name: self._unflatten(part, leaves) for name, part in tree["members"].items()}
        return next(leaves)

    def takes_number(self, leaf, x):
        """Whether x is a number of Python that becomes the type of a leaf."""
        if isinstance(x, bool):
            return leaf.type == "bool"
        return isinstance(x, int) and leaf.type != "bool" or isinstance(x, float) and "float" in leaf.type

    def mismatch(self, leaf, type, shape):
        """What is wrong with an array, or None."""
        fits = type == leaf.type and len(shape) == len(leaf.shape) and all(n is None or n == m for n, m in zip(leaf.shape, shape))
        return None if fits else f"tenure: {self.__name__}: {leaf.path} is {type}[{','.join(map(str, shape))}], and the function in C++ takes {leaf}"

    # The leaves of the three functions of C++.

    def operands(self, kind):
        if kind == VALUE:
            return self.inputs
        return self.inputs + ([self.inputs[i] for i in self.variables] if kind == JVP else self.outputs)

    def results(self, kind):
        return [self.inputs[i] for i in self.variables] if kind == VJP else self.outputs

    def batches(self, kind, shapes):
        """The leading axes of each operand, which are a batch, and the whole batch."""
        batches = [tuple(shape[:len(shape) - len(leaf.shape)]) for leaf, shape in zip(self.operands(kind), shapes)]
        if len({len(b) for b in batches}) > 1:
            raise TypeError(f"tenure: {self.__name__}: the arguments have different numbers of axes of a batch")
        whole = tuple(max(n, key=lambda m: (m != 1, m)) if 0 not in n else 0 for n in zip(*batches))
        return batches, whole

    def result_shapes(self, kind, sums, shapes):
        """The shapes of the results."""
        _, whole = self.batches(kind, shapes)
        extents = [tuple(shape[len(whole):]) for shape in shapes]

        def extent(formula):
            if isinstance(formula, int):
                return formula
            operation, a, b = formula
            if operation == "extent":
                return extents[a][b]
            return {"+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "min": min}[operation](extent(a), extent(b))

        if kind == VJP:
            summed = whole[:sums.free] + (1,) * (len(whole) - sums.free)
            return [(summed if i in sums.inputs else whole) + extents[i] for i in self.variables]
        return [whole + tuple(map(extent, leaf.shape)) for leaf in self.outputs]

    def sums(self, shapes, wanted=None):
        """The cotangents that a vjp adds up by itself: those of inputs that are declared as shared, and shared by the whole batch. `wanted` are the shapes of the
        cotangents, where they are those of tangents, which may have a batch that the inputs share."""
        batches, whole = self.batches(VJP, shapes)
        are_joined = all(set(b) <= {1} or b == whole for b in batches)
        are_alone = any(is_shared and not set(b) <= {1} for b, is_shared in zip(batches, self.shared))  # a batch of what is declared as shared
        if not are_joined or are_alone or math.prod(whole) == 1:
            return Sums()
        sums = [k for k, i in enumerate(self.variables) if self.shared[i] and set(batches[i]) <= {1}]
        if wanted is not None and any(not set(wanted[k][:len(whole)]) <= {1} for k in sums):
            return Sums()
        return Sums(tuple(self.variables[k] for k in sums))
