// SPDX-License-Identifier: BSL-1.0
// Prints an expression, after computing its value, and prints a tuple, an array or a model of tensors leaf by leaf.
#pragma once

#include <iosfwd>
#include <string>

#include <tenure/eager/evaluate.hpp>
#include <tenure/tensor/print.hpp>
#include <tenure/transform/model.hpp>

namespace TENURE_NAMESPACE {

namespace detail {
template <class>
struct printing {};  // tensor/no_print.hpp checks whether it is defined
}  // namespace detail

/// Computes an expression and prints the tensor.
template <expression E>
std::ostream& operator<<(std::ostream& out, const E& e) { return out << eval(e); }

/// Prints the leaves of a tuple, an array or a model in their order, each on a line of its own.
template <class X>
  requires detail::is_branch<X>
std::ostream& operator<<(std::ostream& out, const X& tree) {
  bool follows = false;
  detail::for_each_leaf(tree, [&](const auto& leaf) {
    if (follows) out << std::string(1, '\n');
    follows = true;
    out << leaf;
  });
  return out;
}

}  // namespace tenure
