// SPDX-License-Identifier: BSL-1.0
// The error of a bound that does not hold, the same in every backend.
#pragma once

#include <tenure/core/error.hpp>
#include <tenure/ir/node.hpp>

namespace TENURE_NAMESPACE::ir {

/// Throws for a number that is not in [0, extent): an index_error, or for a bound on samples an error. `sample` is the position of the number in its array, in
/// row-major order, and -1 if the array is a single number.
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse(const bound& b, std::int64_t index, std::int64_t extent, std::int64_t sample) {
  if (b.refusal == nullptr) tenure::detail::throw_outside(b.call, index, extent, b.block);
  auto text = tenure::detail::message(b.call);
  if (sample < 0) text << "the matrix ";
  else text << "matrix " << sample << " of the batch ";
  TENURE_THROW(error(text << b.refusal));
}

}  // namespace tenure::ir
