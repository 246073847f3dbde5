// SPDX-License-Identifier: BSL-1.0
// Prints an expression. Its value is computed first.
#pragma once

#include <iosfwd>

#include <tenure/eager/evaluate.hpp>
#include <tenure/tensor/print.hpp>

namespace TENURE_NAMESPACE {

namespace detail {
template <class>
struct printing {};  // tensor/no_print.hpp checks whether it is defined
}  // namespace detail

/// Computes an expression and prints the tensor.
template <expression E>
std::ostream& operator<<(std::ostream& out, const E& e) { return out << eval(e); }

}  // namespace tenure
