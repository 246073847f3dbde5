// SPDX-License-Identifier: BSL-1.0
// The freestanding profile: compiled functions of static extents for microcontrollers and other programs without exceptions, RTTI, a heap, threads or
// streams. It lists what such a program can use; docs/microcontroller.md. With exceptions it is a small part of <tenure/tenure.hpp>.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <tenure/version.hpp>

#include <tenure/expr/traced.hpp>
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

#include <tenure/tensor/factories.hpp>

#include <tenure/ops/accumulation.hpp>
#include <tenure/ops/like.hpp>
#include <tenure/ops/loss.hpp>
#include <tenure/ops/matrices.hpp>
#include <tenure/ops/members.hpp>
#include <tenure/ops/norm.hpp>
#include <tenure/ops/normalization.hpp>
#include <tenure/ops/number.hpp>
#include <tenure/ops/parts.hpp>
#include <tenure/ops/products.hpp>
#include <tenure/ops/rearrangement.hpp>
#include <tenure/ops/rotations.hpp>
#include <tenure/ops/subscript.hpp>
#include <tenure/ops/traced_factories.hpp>
#include <tenure/ops/traced_number.hpp>

#include <tenure/transform/control_flow_rules.hpp>
#include <tenure/transform/control_flow.hpp>
#include <tenure/transform/as_numbers.hpp>
#include <tenure/transform/compile.hpp>
#include <tenure/transform/custom.hpp>
#include <tenure/transform/gradient.hpp>
#include <tenure/transform/in_workspace.hpp>
#include <tenure/transform/jacobian.hpp>
#include <tenure/transform/linearize.hpp>
#include <tenure/transform/model.hpp>
#include <tenure/transform/root.hpp>
#include <tenure/transform/tree_map.hpp>
#include <tenure/transform/vmap.hpp>

#include <tenure/inspect/plan.hpp>

#include <tenure/core/letters/restore.hpp>
