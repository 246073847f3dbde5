// SPDX-License-Identifier: BSL-1.0
// The names of the operands and results of expressions, for the messages of debug_nans_scope. C++ does not know the names of variables:
// operands have numbers, in the order in which the expression reads them.
#pragma once

#include <tenure/eager/history.hpp>
#include <tenure/inspect/debug_nans.hpp>

namespace TENURE_NAMESPACE::detail {

template <class X>
struct operand_names {
  static void add(leaf_names& names, bool with_gradients) {
    names.arguments.push_back("operand " + std::to_string(names.arguments.size()));
    if (with_gradients && is_tracked_operand<X>) names.results.push_back("gradient of " + names.arguments.back());
  }
};
template <class Operation, class... Operand>
struct operand_names<lazy<Operation, Operand...>> {
  static void add(leaf_names& names, bool with_gradients) { (operand_names<Operand>::add(names, with_gradients), ...); }
};

template <class E>
struct names_of_program<program<value_source<E>>> {
  static leaf_names get(const name_list&) {
    leaf_names names{{}, {"result"}, {}};
    operand_names<E>::add(names, false);
    return names;
  }
};
template <class E>
struct names_of_program<program<backward_source<E>>> {
  static leaf_names get(const name_list&) {
    leaf_names names{{}, {"result"}, {}};
    operand_names<E>::add(names, true);
    return names;
  }
};
template <class E>
struct names_of_program<program<cotangent_source<E>>> {
  static leaf_names get(const name_list&) {
    leaf_names names;
    operand_names<E>::add(names, true);
    names.arguments.insert(names.arguments.end(), {"cotangent", "result"});
    return names;
  }
};

}  // namespace tenure::detail
