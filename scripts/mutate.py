#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Would the tests notice a mistake? Makes small mistakes in the headers, one at a time, and runs the tests that could see them.

    scripts/mutate.py [-n 20] [--seed 1] [--jobs 1] [--cxx g++] include/tenure/passes
    scripts/mutate.py --list include/tenure/passes       # every mutation there, without running one
    scripts/mutate.py --only <name> ...                  # this one again, by the name that is printed

A mistake is called a mutant: a comparison turned round, one more or less, a dropped condition or statement, swapped operands. Each is
built in a scratch copy of the headers, against the test files that `tests` below names for its folder, in order, until one is red. A
mutant is killed where a test or a static_assert is red, or where the time is up. What these leave alive meets the must-not-compile tests of
the messages in its header, and the tests of `wider`, which use all of its layer; it lives where all are green. The last line is the score. Not counted are mutants that are no C++, and those that change no result: these stand in scripts/mutants_equivalent.txt, each
with the reason.
"""
import argparse, functools, os, random, re, resource, shutil, signal, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

root = Path(__file__).resolve().parent.parent

# Which test files could see a mistake in a folder, the quickest first. A file of headers is looked up by its longest prefix: its path below
# include/tenure or kernels/tenure. fail/<pattern> are must-not-compile tests, each with g++'s message of the first error and the length of
# the diagnostic. mpi/<file> and nccl/<file> run as two processes, where there is an mpicxx.
tests = {
    "core/number": ["numbers/integers", "passes/passes"],
    "core": ["tensor/construct", "ir/builder", "passes/passes"],
    "core/flush_denormals": ["threads/state"],
    "expr": ["fail/after_error", "expr/traced", "expr/members", "eager/expressions"],
    "math": ["math/special_values", "math/packet", "math/accuracy_float", "math/accuracy_double"],
    "storage": ["storage/block", "storage/pool", "storage/steady_state", "tensor/ownership"],
    "storage/pool": ["storage/pool", "service/memory", "storage/steady_state", "service/fork"],
    "storage/cuda": ["cuda/memory cuda/fake_runtime"],
    "tensor/cuda": ["cuda/eager cuda/fake_runtime"],
    "tensor": ["tensor/views", "tensor/construct", "tensor/copy", "tensor/ownership", "tensor/factories", "tensor/print", "tensor/gradient", "tensor/device", "eager/views"],
    "tensor/tensor": ["tensor/views", "tensor/construct", "tensor/copy", "tensor/ownership", "tensor/device", "eager/views", "fail/tensor*"],
    "tensor/access": ["tensor/views", "tensor/construct", "tensor/ownership", "eager/consumed_views", "eager/hazards", "eager/views"],
    "tensor/traits": ["tensor/device", "tensor/construct", "tensor/ownership", "tensor/views"],
    "tensor/view_rules": ["tensor/views", "fail/reshape*", "fail/expand*", "fail/squeeze*", "fail/permute*", "fail/transpose*", "fail/flip*", "expr/traced", "eager/views"],
    "tensor/indexing": ["tensor/views", "fail/index*", "fail/slice*", "fail/range*", "fail/select*", "fail/element*", "eager/views"],
    "tensor/extents": ["tensor/construct", "tensor/views", "tensor/factories", "fail/shape*", "laws/run_time"],
    "tensor/layout": ["tensor/views", "tensor/copy", "tensor/construct", "eager/views", "interop/dlpack"],
    "tensor/concepts": ["tensor/ownership", "tensor/device", "fail/const*", "fail/copy*", "expr/traced", "eager/roles"],
    "tensor/members/gradients": ["tensor/gradient", "eager/retained", "eager/roles", "eager/paused", "fail/*grad*", "eager/backward"],
    "tensor/members/writes": ["tensor/construct", "eager/copies", "eager/hazards", "fail/const*", "fail/copy*", "fail/masked*", "fail/assign*", "eager/expressions"],
    "tensor/members/copies": ["tensor/ownership", "tensor/copy", "eager/copies", "fail/copy*", "tensor/device"],
    "tensor/members/roles": ["tensor/gradient", "tensor/ownership", "eager/roles", "fail/detach*", "fail/requires*"],
    "tensor/members/views": ["tensor/views", "eager/views", "eager/consumed_views", "fail/*view*"],
    "tensor/consumed_view": ["eager/consumed_views", "eager/views", "eager/hazards"],
    "tensor/print": ["tensor/print"],
    "tensor/factories": ["tensor/factories"],
    "tensor/random": ["tensor/factories"],
    "tensor/from": ["tensor/construct"],
    "tensor/literal": ["tensor/construct"],
    "tensor/overlap": ["tensor/copy", "tensor/views", "transform/overwrite", "transform/compile"],
    "ir": ["ir/builder", "passes/passes", "passes/verify", "passes/golden", "control_flow/indices"],
    "ir/bodies": ["ir/builder", "passes/verify", "control_flow/laws", "control_flow/indices", "batch/loops"],
    "ir/builder": ["ir/builder", "passes/passes", "passes/verify", "passes/golden", "profile_lines/lines"],
    "ops/axes": ["passes/golden", "golden/reduction_of_axes golden/check"],
    "ops/order": ["passes/verify", "ops/order", "golden/order golden/check"],
    "ops/shapes": ["ir/builder", "passes/verify", "passes/passes", "transform/compile"],
    "ops/structural": ["passes/verify", "passes/algebra", "passes/passes", "passes/golden", "backend/reference", "laws/adjoint_shapes"],
    "ops/structural/body": ["passes/verify", "control_flow/laws"],
    "ops/structural/order": ["passes/verify", "ops/order", "golden/order golden/check", "batch/operations"],
    "ops/structural/indexing": ["passes/verify", "control_flow/rows", "laws/positions", "laws/picks", "batch/operations", "passes/passes", "golden/indexing golden/check", "laws/adjoint_shapes"],
    "ops/structural/product": ["passes/verify", "passes/passes", "batch/operations", "golden/contraction golden/check", "laws/adjoint_shapes"],
    "ops/parts": ["ops/parts", "golden/parts golden/check", "fail/chunk*", "fail/split*"],
    "ops/number": ["ops/number", "eager/expressions", "expr/traced"],
    "ops/members": ["expr/members", "expr/traced"],
    "ops/like": ["ops/like", "ops/factory"],
    "ops/random_bits": ["ops/random"],
    "ops/remainder": ["golden/pointwise golden/check", "numbers/integers", "backend/reference", "laws/types", "laws/kinks"],
    "ops/opaque": ["laws/solve", "laws/factorizations", "passes/verify"],
    "backend/cpu/samples": ["laws/solve", "laws/factorizations"],
    "ops/csr": ["batch/csr", "fail/csr*"],
    "ops/attention": ["laws/attention", "laws/attention_transforms"],
    "ops/structural/attention": ["laws/attention_derivatives", "passes/verify"],
    "ops/attention_rules": ["laws/attention_derivatives"],
    "backend/cpu/attention": ["laws/attention", "laws/attention_sizes"],
    "math/lanes": ["laws/solve", "laws/factorizations"],
    "math/constant": ["math/constant"],
    "math/random": ["ops/random"],
    "ops/random": ["ops/random"],
    "passes/scalarize": ["batch/scalarize", "batch/jacobian"],
    "passes/order_of_scalars": ["batch/scalarize", "batch/jacobian"],
    "passes/batch": ["batch/operations", "batch/loops"],
    "passes/differentiate_control_flow": ["control_flow/laws"],
    "passes/differentiate_scan": ["control_flow/laws"],
    "passes/differentiate_reverse_while": ["control_flow/second_reverse_while", "control_flow/nesting_reverse_while"],
    "passes/differentiate_while": ["control_flow/nesting_reverse_while", "control_flow/indices"],
    "program/snapshots": ["control_flow/snapshots", "control_flow/reverse_while"],
    "passes/derived_body": ["control_flow/laws", "control_flow/custom", "control_flow/updates", "control_flow/second_reverse_while", "control_flow/indices"],
    "passes/activity": ["control_flow/laws", "control_flow/custom", "control_flow/reverse_while", "batch/loops"],
    "passes/hoist": ["control_flow/hoist"],
    "passes/liveness": ["control_flow/hoist", "control_flow/nesting_reverse_while", "control_flow/indices"],
    "passes/sum_of_others": ["control_flow/iterations"],
    "passes/recompute": ["passes/fuse", "fuzz/passes"],
    "passes/residuals": ["passes/fuse"],
    "passes/assemble": ["passes/passes", "laws/picks", "laws/adjoint_shapes", "laws/run_time", "fuzz/derivative", "batch/jacobian"],
    "passes/join": ["passes/passes", "passes/golden", "laws/picks", "fuzz/passes fuzz/schedule", "laws/shapes", "laws/run_time"],
    "passes/sliced_operations": ["passes/passes", "laws/picks", "laws/adjoint_shapes"],
    "passes/padded_sums": ["control_flow/iterations", "passes/passes", "passes/algebra", "laws/adjoint_shapes", "laws/picks"],
    "passes/merge_loops": ["control_flow/laws", "control_flow/hoist", "control_flow/nesting_reverse_while", "control_flow/plans"],
    "passes/trip_count_one": ["control_flow/equal_loops", "fuzz/control_flow"],
    "passes/differentiate": ["passes/passes", "laws/adjoint_shapes", "fuzz/derivative", "control_flow/laws", "eager/saved_pointwise"],
    "passes/overwrite": ["transform/overwrite", "passes/fuse", "fuzz/passes fuzz/schedule", "control_flow/updates", "laws/run_time"],
    "passes/memory": ["passes/fuse", "fuzz/passes fuzz/schedule", "control_flow/plans", "laws/run_time"],
    "passes/print": ["passes/golden", "passes/passes", "passes/fuse"],
    "passes/differentiate_custom": ["control_flow/custom", "control_flow/checkpoint"],
    "transform/custom": ["control_flow/custom"],
    "transform/checkpoint": ["control_flow/checkpoint"],
    "transform/jacobian": ["fail/jacobian*", "batch/jacobian"],
    "transform/root": ["batch/root"],
    "transform/vmap": ["batch/operations"],
    "transform/extern": ["fail/extern*", "control_flow/external", "control_flow/external_nested"],
    "transform/control_flow": ["fail/*loop*", "fail/scan*", "fail/cond*", "fail/switch*", "control_flow/laws", "control_flow/bounded"],
    "program/carries": ["control_flow/laws", "control_flow/rows", "control_flow/reverse_while"],
    "program/control_flow": ["control_flow/laws", "control_flow/small_iterations", "control_flow/external", "control_flow/nesting_while", "control_flow/reverse_while", "control_flow/nesting_reverse_while"],
    "transform/control_flow_rules": ["fail/*loop*", "fail/scan*", "fail/cond*", "fail/switch*"],
    "program/control_flow_memory": ["control_flow/laws", "control_flow/nesting_while", "control_flow/reverse_while", "control_flow/nesting_reverse_while"],
    "program/overwrites": ["control_flow/external", "control_flow/updates", "control_flow/laws", "transform/overwrite"],
    "backend/cpu/control_flow": ["control_flow/laws", "control_flow/small_iterations", "control_flow/iterations", "control_flow/special", "control_flow/hoist"],
    "ops/subscript": ["fail/trace_*", "expr/traced", "ops/block"],
    "ops/traced_factories": ["fail/trace_zeros_*", "ops/factory"],
    "ops/block": ["ops/block", "control_flow/positions"],
    "transform/dynamic_slice": ["ops/block"],
    "ops/position": ["laws/positions", "golden/movement golden/check", "golden/indexing golden/check", "laws/kinks"],
    "ops/movement": ["fail/reshape*", "fail/trace_reshape*", "expr/traced", "golden/movement golden/check", "laws/shapes", "laws/run_time", "laws/adjoint_shapes"],
    "ops/rearrangement": ["golden/movement golden/check", "laws/shapes", "laws/adjoint_shapes", "laws/positions"],
    "ops/reduction": ["numbers/integers", "eager/expressions", "golden/reduction golden/check", "golden/reduction_of_axes golden/check", "laws/kinks", "laws/rows"],
    "ops/accumulation": ["eager/expressions", "golden/reduction_of_axes golden/check", "laws/adjoint_shapes"],
    "ops/indexing": ["golden/indexing golden/check", "transform/compile", "laws/positions", "laws/shapes", "laws/adjoint_shapes"],
    "ops/contraction": ["golden/contraction golden/check", "laws/shapes", "laws/adjoint_shapes"],
    "ops/normalization": ["golden/normalization golden/check", "golden/normalization_of_axes golden/check", "laws/rows"],
    "ops/norm": ["golden/reduction golden/check", "golden/edge golden/check", "laws/kinks"],
    "ops/loss_options": ["golden/reduced_loss golden/check", "ops/loss", "fail/cross_entropy*"],
    "ops/loss": ["golden/loss golden/check", "golden/reduced_loss golden/check", "ops/loss", "laws/kinks", "eager/expressions"],
    "ops/activation": ["golden/activation golden/check", "golden/edge golden/check", "laws/kinks", "backend/reference"],
    "ops/trigonometric": ["golden/activation golden/check", "backend/reference", "laws/adjoint_pointwise"],
    "ops/exponential": ["golden/pointwise golden/check", "golden/activation golden/check", "golden/edge golden/check", "laws/kinks"],
    "ops": ["passes/verify", "passes/algebra", "passes/passes", "golden/pointwise golden/check", "backend/reference", "laws/kinks", "laws/types", "laws/adjoint_pointwise"],
    "passes/verify": ["passes/verify"],
    "passes/groups": ["laws/epilogue", "laws/row_consumers", "laws/gathers", "passes/fuse", "laws/run_time"],
    "passes": ["passes/algebra", "passes/passes", "passes/fuse", "passes/golden", "fuzz/passes fuzz/schedule", "laws/shapes", "laws/run_time"],
    "program": ["batch/scalarize", "laws/positions", "laws/shapes", "laws/run_time", "transform/compile"],
    "interop": ["interop/npz", "interop/dlpack", "interop/mdspan", "interop/eigen"],
    "interop/npy": ["interop/npz", "service/files"],
    "interop/file": ["interop/npz", "service/files"],
    "interop/replacement": ["service/files", "interop/npz"],
    "interop/npz": ["interop/npz"],
    "interop/save": ["interop/saved_states", "interop/npz"],
    "interop/dlpack": ["interop/dlpack"],
    "interop/eigen": ["interop/eigen"],
    "interop/mdspan": ["interop/mdspan"],
    "backend/cpu/fused/arguments": ["passes/fuse", "laws/rows"],
    "backend/cpu/row_consumers": ["laws/row_consumers", "laws/epilogue"],
    "backend/cpu/epilogue": ["laws/epilogue", "laws/row_consumers", "laws/shapes", "laws/run_time", "passes/fuse"],
    "backend/cpu/fused/reductions": ["laws/rows", "laws/long_sums", "laws/shapes", "laws/extremes"],
    "backend/cpu/fused/interleaved": ["laws/rows", "laws/shapes", "laws/non_temporal", "batch/scalarize"],
    "backend/cpu/choose": ["backend/choose", "backend/matmul"],
    "backend/cpu/matmul": ["backend/matmul"],
    "backend/cpu/matvec": ["backend/matmul"],
    "backend/cpu/tiles": ["backend/matmul"],
    "backend/cpu/opaque": ["laws/solve", "ops/order", "control_flow/small_iterations", "laws/shapes", "laws/picks", "laws/run_time"],
    "backend/cpu/indexing": ["backend/gather", "control_flow/rows", "control_flow/small_iterations", "laws/shapes", "laws/picks", "laws/run_time"],
    "backend/cpu/strided": ["backend/gather", "control_flow/rows", "control_flow/small_iterations", "laws/shapes", "laws/picks", "laws/run_time"],
    "backend/cpu/products": ["backend/matmul", "laws/row_consumers", "control_flow/small_iterations", "laws/epilogue", "batch/operations", "laws/shapes"],
    "backend/cpu/gemm_small": ["backend/matmul"],
    "backend/reference/run": ["backend/reference", "fuzz/control_flow"],
    "backend/reference/operations": ["backend/reference", "fuzz/control_flow", "laws/attention", "ops/order"],
    "backend/reference/plan": ["backend/reference", "fuzz/schedule"],
    "backend/reference": ["backend/reference", "laws/attention", "ops/order"],
    "backend/cpu/execute": ["transform/compile", "control_flow/laws", "control_flow/rows", "control_flow/small_iterations", "laws/run_time", "laws/gathers", "laws/epilogue", "inspect/debug_nans", "inspect/profile"],
    "backend/cpu/memory_plan": ["control_flow/laws", "control_flow/external", "passes/fuse", "laws/run_time"],
    "backend/cpu/gathers": ["laws/gathers", "backend/gather"],
    "backend/cpu/fused/transposed": ["laws/non_temporal", "batch/scalarize"],
    "backend/cpu/fused/non_temporal": ["laws/non_temporal"],
    "backend/cuda": ["kernels/control_flow", "kernels/kernels", "kernels/random"],
    "backend/cuda/call": [],  # only nvcc compiles these two
    "backend/cuda/cublas": [],
    "backend/cpu": ["laws/shapes", "laws/rows", "laws/epilogue", "laws/run_time", "laws/extremes"],
    "backend/backend": ["laws/shapes", "device/compiled", "threads/threads"],
    "backend/execution": ["threads/state", "threads/threads"],
    "threads": ["threads/state", "threads/threads"],
    "kernels": ["kernels/control_flow", "kernels/kernels", "kernels/random"],
    "distributed": ["mpi/collectives", "mpi/train_step", "mpi/sharded"],
    "distributed/sharded": ["mpi/sharded"],
    "distributed/train_step": ["mpi/train_step", "mpi/sharded"],
    "distributed/schedule": ["mpi/train_step", "mpi/sharded"],
    "distributed/arena": ["mpi/collectives", "mpi/sharded"],
    "distributed/nccl": ["nccl/nccl nccl/fake_nccl cuda/fake_runtime"],
    "optim": ["optim/optim"],
    "optim/cuda": ["cuda/training cuda/fake_runtime"],
    "optim/groups": ["optim/groups", "fail/groups*"],
    "optim/lbfgs": ["optim/lbfgs"],
    "optim/micro_batches": ["optim/micro_batches", "fail/micro_batches*"],
    "optim/debug_nans": ["inspect/debug_nans"],
    "optim/profile": ["inspect/profile"],
    "optim/names": ["inspect/picture"],
    "eager": ["eager/expressions", "eager/backward", "eager/hazards", "eager/versions", "eager/variations_of_graphs"],
    "eager/backward": ["eager/backward", "threads/state", "eager/expressions", "eager/hazards"],
    "eager/expression_program": ["eager/expressions", "eager/calls", "eager/saved_pointwise", "eager/backward", "eager/saved_compound", "eager/hazards"],
    "eager/to": ["optim/optim"],
    "eager/call_history": ["eager/calls"],
    "eager/deepcopy": ["optim/optim"],
    "transform/init": ["transform/init", "optim/optim", "fail/init*"],
    "inspect/picture": ["inspect/picture"],
    "inspect/labels": ["inspect/picture"],
    "inspect/html": ["inspect/picture"],
    "inspect/dot": ["inspect/picture"],
    "inspect/page": ["inspect/picture"],
    "inspect/formula": ["inspect/debug_nans", "inspect/picture"],
    "inspect/debug_nans": ["inspect/debug_nans", "debug_nans/scope"],
    "eager/debug_nans": ["debug_nans/scope"],
    "inspect/profile": ["inspect/profile", "profile_lines/lines"],
    "inspect/source_lines": ["profile_lines/lines"],
    "transform/tree": ["fail/into*", "transform/compile", "transform/targets", "transform/tree_map", "optim/optim"],
    "transform/tree_map": ["transform/tree_map", "fail/map*"],
    "transform/gradient": ["fail/grad*", "fail/jvp*", "fail/vjp*", "transform/compile", "ops/number", "batch/jacobian", "control_flow/laws"],
    "transform/body_trace": ["control_flow/laws", "control_flow/nesting", "control_flow/custom"],
    "inspect/names": ["inspect/picture", "fail/dim*", "inspect/profile"],
    "inspect/plan": ["passes/fuse", "inspect/profile", "control_flow/plans", "control_flow/updates", "laws/picks"],
    "inspect/print": ["passes/fuse", "control_flow/plans"],
    "transform/targets": ["transform/compile", "transform/overwrite", "transform/targets", "transform/borrowed_targets"],
    "transform/call_rules": ["fail/after_error", "fail/call*", "fail/into*", "transform/targets"],
    "transform/into": ["transform/compile", "transform/targets", "transform/borrowed_targets"],
    "transform": ["transform/compile", "eager/expressions", "transform/overwrite", "eager/backward", "eager/hazards"],
}

# What a mutant meets that the tests above leave alive: tests that use all of a layer, so of which no single header is the subject. Looked up
# as above; some minutes for each survivor.
golden = [f"golden/{f} golden/check" for f in ("model", "edge", "parts", "broadcast", "normalization")]
of_graphs = ["fuzz/control_flow", "fuzz/passes fuzz/schedule", "fuzz/derivative", "control_flow/laws", "control_flow/reverse_while", "control_flow/plans", "batch/operations", "batch/loops", "laws/shapes", "laws/run_time",
             "laws/adjoint_shapes", "laws/epilogue", "transform/compile", "transform/overwrite", "golden/model golden/check"]
of_tensors = ["tensor/views", "tensor/construct", "tensor/copy", "tensor/ownership", "expr/traced", "eager/views", "eager/hazards", "eager/operations", "eager/roles",
              "eager/expressions", "laws/shapes"]
of_kernels = ["kernels/kernels", "kernels/random", "kernels/control_flow", "golden/model golden/check", "golden/reduction_of_axes golden/check", "golden/normalization golden/check",
              "golden/movement golden/check", "golden/indexing golden/check", "golden/attention golden/check"]
wider = {
    "core": ["expr/traced", "tensor/views", "tensor/factories", "laws/shapes", "laws/run_time", "transform/compile", "interop/npz", "numbers/integers"],
    "math": ["backend/reference", "golden/pointwise golden/check", "golden/activation golden/check", "golden/edge golden/check", "laws/rows", "laws/extremes", "ops/random"],
    "storage": ["threads/versions", "eager/host_memory", "eager/versions", "eager/exports", "transform/allocation", "out_of_memory/pools", "out_of_memory/tensors", "eager/expressions"],
    "tensor": of_tensors,
    "expr": of_tensors,
    "ir": of_graphs,
    "ops": ["backend/reference", "expr/traced", "batch/operations", "laws/run_time", "laws/adjoint_shapes", "laws/adjoint_pointwise", "laws/types", "golden/edge golden/check",
            "golden/parts golden/check", "golden/model golden/check", "fuzz/derivative"],
    "passes": of_graphs,
    "program": of_graphs,
    "backend/cpu": ["laws/shapes", "laws/rows", "laws/run_time", "laws/types", "laws/non_temporal", "laws/picks", "golden/model golden/check", "golden/normalization golden/check",
                    "golden/convolution golden/check", "control_flow/laws", "batch/scalarize", "backend/matmul"],
    "backend/cuda": of_kernels,
    "kernels": of_kernels,
    "backend": ["laws/shapes", "laws/run_time", "laws/solve", "backend/reference", "fuzz/passes fuzz/schedule", "fuzz/control_flow", "fuzz/derivative", "kernels/kernels",
                "threads/versions", "transform/allocation"],
    "threads": ["threads/versions", "out_of_memory/threads", "laws/shapes"],
    "transform": ["transform/compile", "eager/expressions", "transform/tree_map", "transform/pytorch", "ops/like", "ops/number", "transform/targets",
                  "control_flow/laws", "control_flow/custom", "batch/models", "batch/jacobian", "optim/optim", "optim/rules"],
    "eager": ["eager/expressions", "transform/pytorch", "tensor/gradient", *(f"eager/{f}" for f in ("backward", "calls", "consumed_views", "hazards", "operations", "paused", "retained",
              "roles", "saved_pointwise", "saved_compound", "views"))],
    "optim": ["optim/optim", "optim/rules", "optim/groups", "optim/lbfgs", "optim/micro_batches", "transform/pytorch"],
    "interop": ["interop/saved_states", "interop/foreign_limits", "interop/eigen_after", "eager/exports", "out_of_memory/exported"],
    "distributed": ["mpi/collectives", "mpi/train_step", "mpi/sharded", "fail/mpi*", "fail/train_step*"],
}

# ---- what a mistake looks like --------------------------------------------------------------------

# Each pattern of a line of code -> what may stand in its place. Spaces around an operator tell it from a template's bracket.
swaps = [
    (r" < ", [" <= ", " >= "]), (r" <= ", [" < ", " > "]), (r" > ", [" >= ", " <= "]), (r" >= ", [" > ", " < "]),
    (r" == ", [" != "]), (r" != ", [" == "]), (r" && (?!\{)", [" || "]), (r" \|\| ", [" && "]),
    (r" \+ 1\b", ["", " + 2", " - 1"]), (r" - 1\b", ["", " - 2", " + 1"]), (r" \+ ", [" - "]), (r" - ", [" + "]), (r" \* ", [" + "]), (r" / ", [" * "]),
    (r" \+= ", [" -= "]), (r" -= ", [" += "]), (r" << ", [" >> "]), (r" >> ", [" << "]),
    (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]), (r"\bmin\(", ["max("]), (r"\bmax\(", ["min("]), (r"\bmin\b(?=[;,)}])", ["max"]),
    (r"(?<![\w.:\[<])0(?![\w.x\]>])", ["1"]), (r"(?<![\w.:\[<])1(?![\w.\]>])", ["0", "2"]), (r"(?<=[(&| ])!(?=[\w(])", [""]),
    (r"\bcontinue;", [";"]), (r"\bbreak;", [";"]),
]


def is_code(line, in_raw_text):
    text = line.strip()
    skipped = ("//", "#", "using ", "namespace", "template", "static_assert", "friend ", "///", "*", "throw", "case ", "[[noreturn]]")
    return not in_raw_text and text and not text.startswith(skipped) and "fail(" not in text and "require(" not in text


def outside_text(line, at):
    """Is this place of a line code, not a string or a comment?"""
    quoted = False
    for i, c in enumerate(line[:at]):
        if c == '"' and line[i - 1:i] != "\\" and line[i - 1:i + 2] != "'\"'":
            quoted = not quoted
        if not quoted and line.startswith("//", i):
            return False
    return not quoted


def split_condition(line):
    """if (a && b): each way to leave out one condition, and the whole, where the parts hold no brackets that we would cut."""
    m = re.search(r"\b(if|while) (constexpr )?\((.*)\)(?= [^)]*$|$)", line)
    if not m:
        return []
    whole, parts = m[3], re.split(r" (?:&&|\|\|) ", m[3])
    out = [(m.start(3), m.end(3), p) for p in parts if len(parts) > 1 and all(p.count(a) == p.count(b) for a, b in ("()", "[]", "{}"))]
    if m[1] == "if" and ";" not in whole:
        out += [(m.start(3), m.end(3), "true"), (m.start(3), m.end(3), "false")]
    return out


def has_avx512(cxx="g++"):
    return "__AVX512F__" in subprocess.run([cxx, "-march=native", "-dM", "-E", "-x", "c++", os.devnull], capture_output=True, text=True).stdout


tables_for_512 = ("pieces.hpp",)  # what only the code behind such an #if reads


def mutations_of(path):
    """(line number, the line as it is, the line with a mistake) for each mistake of one file, in what this processor compiles."""
    out, closing = [], None  # what ends a text over many lines, also of another language: the script and the style of a page
    unseen, opens_512 = [], "#if defined(EIGEN_VECTORIZE_AVX512)"
    text = path.read_text()
    sees_512 = (opens_512 not in text and path.name not in tables_for_512) or has_avx512()
    if not sees_512 and path.name in tables_for_512:
        return []
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#if"):
            unseen.append(not sees_512 and line == opens_512)
        elif line.startswith(("#else", "#elif")):
            unseen[-1] = False
        elif line.startswith("#endif"):
            unseen.pop()
        if any(unseen):
            continue
        if is_code(line, closing is not None):
            code = [(m.start(), m.end(), new) for pattern, news in swaps for m in re.finditer(pattern, line) for new in news]
            code += split_condition(line)
            statement = re.fullmatch(r"(\s+)((?!return|const |auto |break|continue|throw|if|for|while|else|using|static|constexpr|int |std::int64_t )[^{}]*[^;{}]);", line)
            if statement and re.search(r"[^=!<>]=[^=]|\w\(|\+\+|--", statement[2]) and not re.match(r"[\w:<>,*& ]+ [\w]+( = .*|\{.*)?$", statement[2]):
                code.append((len(statement[1]), len(line), ";"))
            for operand in re.finditer(r"(?<![\w.)\]])(\w[\w.\[\]]*) (-|/|<<|>>) (\w[\w.\[\]]*)(?![\w(\[.])", line):
                code.append((operand.start(), operand.end(), f"{operand[3]} {operand[2]} {operand[1]}"))
            seen = set()
            for begin, end, new in code:
                changed = line[:begin] + new + line[end:]
                if changed != line and changed not in seen and outside_text(line, begin):
                    seen.add(changed)
                    out.append((number, line, changed))
        if closing is None:
            opening = re.search(r'R"(\w*)\(', line)
            if opening and f'){opening[1]}"' not in line[opening.end():]:
                closing = f'){opening[1]}"'
        elif closing in line:
            closing = None
    return out


# ---- running ---------------------------------------------------------------------------------------

def name_of(header):
    """The path by which units include it, without tenure/."""
    folder = root / ("kernels" if (root / "kernels") in header.parents else "include")
    return str(header.relative_to(folder / "tenure"))


def found_in(table, header):
    relative = name_of(header)
    prefixes = [p for p in table if relative.startswith(p + "/") or relative.startswith(p + ".") or relative == p]
    return table[max(prefixes, key=len)] if prefixes else []


@functools.cache
def expected_messages():
    found = {case.stem: re.search(r"// expect: (tenure: .*)", case.read_text()) for case in sorted((root / "tests/compile_fail").glob("*.cpp"))}
    return {case: m[1] for case, m in found.items() if m}


def tests_of_messages(header):
    """The must-not-compile tests that expect a message of this header."""
    said = [m for m in re.findall(r'"(tenure: [^"]*)"', header.read_text()) if len(m) > 20]
    return [f"fail/{case}" for case, message in expected_messages().items() if any(re.match(message, m) for m in said)]


def tests_for(header):
    named = found_in(tests, header)
    more = tests_of_messages(header) + found_in(wider, header)
    return named + [t for t in dict.fromkeys(more) if t not in named] if named else []


# What reads past an array may give the right result: these are tested under ASan. Kernels too, whose threads have stacks of their own: it
# warns of them, and sees what they read. Not the tests that count allocations or stop them.
reads_arrays = ("backend/", "eager/call_history", "kernels/", "interop/", "distributed/", "tensor/memory", "tensor/copy", "tensor/layout", "tensor/overlap", "math/packet/memory", "program/kernel", "program/walk", "program/bind")


def command(copy, test, header, cxx, program, main):
    folder = test.split("/")[0]
    flags = ["-std=c++20", "-O1" if folder in ("backend", "math") else "-O0", "-w", "-march=native", "-pthread", f'-DTENURE_SOURCE_DIR="{root}"']
    if name_of(header).startswith(reads_arrays) and folder not in ("threads", "out_of_memory"):
        flags += ["-fsanitize=address,bounds", "-fno-sanitize-recover=bounds"]
    includes = [f"-I{copy}/include", f"-I{copy}/kernels", f"-I{root}/tests", f"-I{root}", "-isystem", "/usr/include/eigen3"]
    if folder in ("cuda", "nccl"):  # runtimes of host code
        includes = [f"-I{root}/tests/nccl/fake", f"-I{root}/tests/cuda/fake", *includes]
        flags = [f for f in flags if not f.startswith(("-fsanitize", "-fno-sanitize"))] + ["-fsanitize=address"]
    if folder in ("mpi", "nccl"):
        cxx = "mpicxx"
    return ["nice", "-n", "19", cxx, *flags, *includes, *(f"{root}/tests/{t}.cpp" for t in test.split()), main, "-o", program]


def misuse(copy, case, cxx):
    """The check of a must-not-compile test, as cmake/CompileFail.cmake has it."""
    compile_it = [cxx, "-std=c++20", "-fsyntax-only", "-fmax-errors=20", "-fmessage-length=0", "-Wno-ignored-attributes", f"-I{copy}/include", "-isystem", "/usr/include/eigen3"]
    script = ["cmake", f"-DSOURCE={case}", "-DCOMPILER_ID=GNU", "-P", str(root / "cmake/ExpectDiagnostic.cmake"), "--"]
    return ["nice", "-n", "19", *script, *compile_it, "-DTENURE_MISUSE", str(case)]


# As tenure_add_mpi_test of cmake/TenureDevelopment.cmake has them.
more_ranks_than_cores = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
                         "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
                         "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=0"}
on_own_stacks = {"ASAN_OPTIONS": "detect_stack_use_after_return=0"}  # as clang 15 does not by itself


def run(what, seconds, **more):
    """(exit status or None where the time was up, output). The seconds are those of a processor, so that other work on the machine kills no mutant."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))  # SIGXCPU, not SIGKILL as where memory ends
    try:
        done = subprocess.run(what, capture_output=True, text=True, errors="replace", timeout=20 * seconds, preexec_fn=limit, **more)
    except subprocess.TimeoutExpired:  # it waits for something
        return None, ""
    output = done.stdout + done.stderr
    # The compiler's driver reports the signal of the compiler proper.
    is_up = done.returncode == -signal.SIGXCPU or (done.returncode != 0 and "CPU time limit" in output)
    return (None if is_up else done.returncode), output


def judge(copy, header, options, main):
    """("lives" | "killed", by what, the first lines of the red test)"""
    for test in tests_for(header):
        if test.startswith("fail/"):
            cases = sorted((root / "tests/compile_fail").glob(test.removeprefix("fail/") + ".cpp"))
            assert cases, f"no must-not-compile test is named {test}"
            for case in cases:
                status, said = run(misuse(copy, case, options.cxx), options.limit)
                if status != 0:
                    verdict = re.search(r"verdict: (.*)", said)
                    return ("killed", f"fail.{case.stem}", verdict[1] if verdict else said[-300:])
            continue
        program = str(copy / "test")
        status, said = run(command(copy, test, header, options.cxx, program, main), options.limit, env={**os.environ, "OMPI_CXX": options.cxx})
        if status != 0:
            errors = [line for line in said.split("\n") if "error:" in line] or ["the time is up" if status is None else said[-300:]]
            # The first error is the cause. What a constant evaluation refuses, an element past an array too, is C++ that gives a wrong graph.
            is_red = status is None or any(word in errors[0] for word in ("static assertion", "static_assert failed", "constant", "constexpr", "outside the bounds", "overflow", "uninitialized array element"))
            return ("killed" if is_red else "no C++", f"{test} does not compile", errors[0][:300])
        start, environment = [], {**os.environ, **on_own_stacks}
        if test.startswith(("mpi/", "nccl/")):
            start, environment = ["mpirun", "-n", "2"], {**os.environ, **more_ranks_than_cores}
        status, said = run([*start, program, "--abort"], 200, cwd=copy, env=environment)
        if status != 0:
            shown = said[said.find("FAILED"):] if "FAILED" in said else said
            return ("killed", f"{test}" + (" (time is up)" if status is None else ""), " | ".join(line.strip() for line in shown.split("\n")[:9] if line.strip())[:400])
    return ("lives", "", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, help="headers, or folders of them")
    parser.add_argument("-n", type=int, default=20, help="how many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=int, default=900, help="seconds of a processor for one build")
    parser.add_argument("--cxx", default="g++")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", action="append", default=[], help="a mutant by its name")
    options = parser.parse_args()

    headers = sorted({h.resolve() for p in options.paths for h in (p.rglob("*.hpp") if p.is_dir() else [p])})
    untested = [h for h in headers if not tests_for(h) and mutations_of(h)]
    headers = [h for h in headers if tests_for(h)]
    for h in untested:
        print(f"no test is named for it in scripts/mutate.py, so no mutants: {h.relative_to(root)}", flush=True)
    all_mutants = []
    for h in headers:
        count = {}
        for number, line, changed in mutations_of(h):
            # A name that other edits of the file do not change: the words of the line, not its number.
            count[line] = count.get(line, 0) + 1
            all_mutants.append((f"{name_of(h)}: {line.strip()} -> {changed.strip()}", h, number, line, changed))
    listed = root / "scripts/mutants_equivalent.txt"
    reasons = {}
    for entry in listed.read_text().split("\n\n") if listed.exists() else []:
        lines = [line for line in entry.split("\n") if line and not line.startswith("#")]
        if lines:
            reasons[lines[0]] = " ".join(lines[1:])
    if options.only:
        chosen = [m for m in all_mutants if m[0] in options.only]
    else:
        chosen = random.Random(options.seed).sample(all_mutants, min(options.n, len(all_mutants)))
    if options.list:
        for name, *_ in all_mutants:
            print(name)
        print(f"{len(all_mutants)} mutations of {len(headers)} headers")
        return 0

    scratch = Path(tempfile.mkdtemp(prefix="tenure-mutants-"))
    try:
        main_object = str(scratch / "main.o")
        subprocess.run([options.cxx, "-std=c++20", "-O0", "-c", str(root / "tests/main.cpp"), "-o", main_object], check=True)
        survivors, killed, skipped, not_cxx = [], 0, 0, 0

        def one(mutant):
            name, header, number, line, changed = mutant
            if name in reasons:
                return mutant, ("equivalent", "", reasons[name]), 0
            copy = Path(tempfile.mkdtemp(dir=scratch))
            for folder in ("include", "kernels"):
                shutil.copytree(root / folder, copy / folder)
            target = copy / header.relative_to(root)
            text = target.read_text().split("\n")
            text[number - 1] = changed
            target.write_text("\n".join(text))
            began = time.time()
            verdict = judge(copy, header, options, main_object)
            shutil.rmtree(copy, ignore_errors=True)
            return mutant, verdict, time.time() - began

        with ThreadPoolExecutor(options.jobs) as pool:
            for mutant, (verdict, by, message), seconds in pool.map(one, chosen):
                name, header, number, line, changed = mutant
                killed += verdict == "killed"
                skipped += verdict == "equivalent"
                not_cxx += verdict == "no C++"
                if verdict == "lives":
                    survivors.append(name)
                print(f"{verdict}  {header.relative_to(root)}:{number}  ({seconds:.0f} s)\n    - {line.strip()}\n    + {changed.strip()}")
                print(f"    {by}: {message}\n" if by else f"    {message}\n", flush=True)
        judged = killed + len(survivors)
        print("\n".join(["survivors:", *survivors]) if survivors else "no survivors")
        print(f"{killed} of {judged} killed ({100 * killed / max(judged, 1):.0f} %), {skipped} equivalent, {not_cxx} no C++; seed {options.seed}")
        return 1 if survivors else 0
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
