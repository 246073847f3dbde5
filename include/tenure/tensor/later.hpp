// SPDX-License-Identifier: BSL-1.0
// The functions that tensors and expressions call but a later phase defines. A phase cannot include a later one, so such a call
// passes later_phase{} as its first argument: argument-dependent lookup finds the function in tenure::detail when a program uses
// it. This list is complete: the test include_arrows fails for a call, or for a definition, that is not in it.
// Cost: nothing at run time. A program that does not include the later phase gets an error that names the function.
#pragma once

#include "../core/config.hpp"

namespace TENURE_NAMESPACE::detail {

// X is a type of tensor, E a type of expression, number or tensor, and Op an operation, such as ops::add. One
// line is one function: the phase that defines it, its signature without later_phase, and a sentence.
//
//   eager/ constructed_from(element_tag<X>, const E& e) -> X     A tensor X with the value of e, in new memory.
//   eager/ assign_from(X& x, const E& e)                         x = e: writes the value of e, and gives a node a new history.
//   eager/ copy_from(X& x, const E& e)                           x.copy_(e) for an expression e and a constant x.
//   eager/ copy_tracked(X&& x, const E& e) -> node               std::move(x).copy_(e) if the result is a node.
//   eager/ update_from(element_tag<Op>, X& x, const E&... e)     x.add_(e), x.masked_fill_(mask, e), ...: writes the elements, and gives a node a new history.
//   eager/ update_from(element_tag<Op>, X&& x, const E&... e) -> node   The same for a temporary: the result is a node.
//   eager/ update_view(element_tag<Op>, X&& base, V& seen, layout, e...) -> X  Updates the view `seen` of a node in place and returns the whole node.
//   eager/ clone_tracked(const X& x) -> node                     x.clone() if x is tracked.
//   eager/ convert_tracked(element_tag<U>, const X& x) -> node   x.to<U>() if x is tracked and U is floating.
//   eager/ view_history(const X& base, layout) -> accumulator_handle    Makes the history of a view of a tracked tensor.
//   eager/ tensor_of(const E& e) -> tensor or node               The value of an expression.
//   eager/ evaluate_item(const E& e) -> kept_element             e.item(): computes an expression of one element.
//   eager/ backward_scalar(const E& e, bool retain) -> kept_element   e.backward() for an expression of one element: value and gradients.
//   eager/ backward_with(const E& e, const C& cotangent, bool retain) -> bool   e.backward(c); true if the gradient reads a value of e.
//   eager/ backward_node(const X& y, bool retain)                y.backward() for a node of one element.
//   eager/ backward_reads(const E& e) -> bool                    True if the gradient of e reads the value of a tensor.
//   eager/ record_call(element_tag<F>, Run run, const X&... x)   run() computes F(x...) for arguments x. Gives the results a history.
//   eager/ extents_of(const E& e) -> extents                     The extents of the value of an expression with run-time extents.
//   ops/ reduced_by(Call, const X& x, const Along&... along) -> expression or traced   x.sum(along...) and the other reductions.
//   ops/ subscript(const traced& x, const I&... index) -> traced   x.at(index...) and x(i, j) of a traced value.
struct later_phase {};

}  // namespace tenure::detail
