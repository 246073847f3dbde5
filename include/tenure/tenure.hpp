// SPDX-License-Identifier: BSL-1.0
// Tenure: compile-time tensors whose ownership is part of their type. This header lists the library; a folder is a phase
// and includes only itself and the phases above it.
//
//   core/ math/          types, shapes, errors; vector math over packets
//   storage/ tensor/     memory; the tensor, its views and factories
//   ir/                  the graph, as a constexpr value
//   expr/ ops/           expressions and traced values; the operations with their derivatives
//   passes/              graph -> graph, and graph -> schedule of fused kernels
//   program/             the one splice, values -> types
//   kernels/             what runs on a GPU, as templates over an encoded program; beside include/
//   backend/             reference (for tests), cpu (our engine), cuda (kernels)
//   transform/           what is compiled: compile, grad, vjp, jvp, loops and branches, models
//   inspect/             what shows a plan: text, pictures, profiles, the first NaN
//   eager/               what runs at once: evaluation, assignment, in-place updates, history and backward()
//   optim/               optimizers
//   distributed/         many processes, included by <tenure/mpi.hpp>
//   interop/             edges: Eigen, files and others, which are included by name
#pragma once

#include <tenure/core/letters/hide.hpp>

#if defined(__clang__) ? __clang_major__ < 14 : defined(__GNUC__) && __GNUC__ < 12
#error "tenure: include: this compiler is too old: take g++ 12 or newer, or clang 14 or newer"
#elif __cplusplus < 202002L
#error "tenure: include: C++20 is needed: compile with -std=c++20"
#elif defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ < 8
#error "tenure: include: a 64-bit target is needed: compile without -m32"
#elif defined(__GNUC__) && !defined(__cpp_exceptions)
#error "tenure: include: exceptions are needed: compile without -fno-exceptions, or include <tenure/freestanding.hpp>"
#elif !__has_include(<boost/hana/accessors.hpp>)
#error "tenure: include: Boost.Hana is not on the include path: install libboost-dev"
#else

#include <tenure/version.hpp>
#include <tenure/core/flush_denormals.hpp>

// These hold most static_asserts, and come first: with a message a compiler prints the chain of includes up to its header, which is short here.
#include <tenure/tensor/members/elements.hpp>
#include <tenure/tensor/members/views.hpp>
#include <tenure/tensor/members/copies.hpp>
#include <tenure/tensor/members/roles.hpp>
#include <tenure/tensor/members/writes.hpp>
#include <tenure/tensor/members/gradients.hpp>
#include <tenure/tensor/tensor.hpp>
#include <tenure/expr/traced.hpp>
#include <tenure/expr/lazy.hpp>
#include <tenure/ops/structure.hpp>
#include <tenure/ops/axes.hpp>
#include <tenure/ops/pointwise.hpp>
#include <tenure/ops/arithmetic.hpp>
#include <tenure/ops/exponential.hpp>
#include <tenure/ops/remainder.hpp>
#include <tenure/ops/special.hpp>
#include <tenure/ops/movement.hpp>
#include <tenure/ops/indexing.hpp>
#include <tenure/ops/reduction.hpp>
#include <tenure/ops/contraction.hpp>
#include <tenure/ops/interpolation.hpp>
#include <tenure/ops/convolution.hpp>
#include <tenure/ops/opaque/registry.hpp>
#include <tenure/transform/call_rules.hpp>

#include <tenure/tensor/deepcopy.hpp>
#include <tenure/tensor/factories.hpp>
#include <tenure/tensor/from.hpp>
#include <tenure/tensor/random.hpp>

#include <tenure/ops/accumulation.hpp>
#include <tenure/ops/attention.hpp>
#include <tenure/ops/csr.hpp>
#include <tenure/ops/distributions.hpp>
#include <tenure/ops/einsum.hpp>
#include <tenure/ops/like.hpp>
#include <tenure/ops/log_density.hpp>
#include <tenure/ops/log_density_parameters.hpp>
#include <tenure/ops/loss.hpp>
#include <tenure/ops/matrices.hpp>
#include <tenure/ops/members.hpp>
#include <tenure/ops/missing.hpp>
#include <tenure/ops/norm.hpp>
#include <tenure/ops/normalization.hpp>
#include <tenure/ops/number.hpp>
#include <tenure/ops/order.hpp>
#include <tenure/ops/parts.hpp>
#include <tenure/ops/pooling.hpp>
#include <tenure/ops/adaptive_pooling.hpp>
#include <tenure/ops/position.hpp>
#include <tenure/ops/products.hpp>
#include <tenure/ops/random.hpp>
#include <tenure/ops/rearrangement.hpp>
#include <tenure/ops/rotations.hpp>
#include <tenure/ops/subscript.hpp>
#include <tenure/ops/traced_factories.hpp>
#include <tenure/ops/traced_number.hpp>

// Before the headers that include them: their messages are a line shorter then.
#include <tenure/transform/control_flow_rules.hpp>
#include <tenure/transform/control_flow.hpp>

#include <tenure/transform/as_numbers.hpp>
#include <tenure/transform/attention_rows.hpp>
#include <tenure/transform/autocast.hpp>
#include <tenure/transform/checkpoint.hpp>
#include <tenure/transform/compile.hpp>
#include <tenure/transform/custom.hpp>
#include <tenure/transform/dynamic_slice.hpp>
#include <tenure/transform/extern.hpp>
#include <tenure/transform/gradient.hpp>
#include <tenure/transform/init.hpp>
#include <tenure/transform/jacobian.hpp>
#include <tenure/transform/krylov.hpp>
#include <tenure/transform/linear_solve.hpp>
#include <tenure/transform/linearize.hpp>
#include <tenure/transform/model.hpp>
#include <tenure/transform/quantization.hpp>
#include <tenure/transform/root.hpp>
#include <tenure/transform/sampling.hpp>
#include <tenure/transform/tree_map.hpp>
#include <tenure/transform/vmap.hpp>

#include <tenure/inspect/plan.hpp>

#include <tenure/eager/call_history.hpp>
#include <tenure/eager/deepcopy.hpp>
#include <tenure/eager/in_place.hpp>
#include <tenure/eager/no_grad.hpp>
#include <tenure/eager/to.hpp>
#if defined(__CUDACC__)  // a .cu file that prints includes <tenure/print.hpp>
#include <tenure/tensor/no_print.hpp>
#else
#include <tenure/eager/print.hpp>
#include <tenure/inspect/print.hpp>
#endif

#include <tenure/optim/adam.hpp>
#include <tenure/optim/clipped.hpp>
#include <tenure/optim/lbfgs.hpp>
#include <tenure/optim/least_squares.hpp>
#include <tenure/optim/micro_batches.hpp>
#include <tenure/optim/schedule.hpp>
#include <tenure/optim/sgd.hpp>
#if TENURE_DEBUG_NANS && !defined(__CUDACC__)
#include <tenure/eager/debug_nans.hpp>
#include <tenure/optim/debug_nans.hpp>
#endif

#endif

#include <tenure/core/letters/restore.hpp>
