// SPDX-License-Identifier: BSL-1.0
// The names of the parameters of a traced function, which the compiler knows where it has reflection (C++26). Functions with several
// operator(), and parameters in a pack, give no names. Cost: nothing is instantiated that the trace has not, unless a parameter is auto&&.
#pragma once

#include <string>
#include <vector>

#include <tenure/transform/call_rules.hpp>

#if defined(__cpp_impl_reflection)
#include <meta>
#endif

namespace TENURE_NAMESPACE::detail {

#if defined(__cpp_impl_reflection)
/// The names of the parameters of F that take values of these types, or none.
template <class F, class... X>
consteval std::vector<const char*> reflected_parameters() {
  std::vector<std::meta::info> calls;
  for (const std::meta::info m : members_of(dealias(^^F), std::meta::access_context::unchecked()))
    if (is_operator_function_template(m) || is_operator_function(m))
      if (operator_of(m) == std::meta::op_parentheses) calls.push_back(m);
  if (calls.size() != 1) return {};
  const std::vector<std::meta::info> types{^^X...};
  std::meta::info call = calls.front();
  if (is_operator_function_template(call)) {
    if (!can_substitute(call, types)) return {};
    call = substitute(call, types);
  }
  std::vector<const char*> names;
  for (const std::meta::info p : parameters_of(call)) {
    if (!has_identifier(p)) return {};
    for (const char* const other : names)
      if (identifier_of(p) == other) return {};  // a pack
    names.push_back(std::define_static_string(identifier_of(p)));
  }
  if (names.size() != types.size()) names.clear();
  return names;
}
#endif

/// The names of the parameters of F, an object with an operator(), for arguments of the types X, or no names.
template <class F, class... X>
std::vector<std::string> names_of_parameters() {
#if defined(__cpp_impl_reflection)
  if constexpr (!transform<F> && std::is_class_v<F>) {
    static constexpr auto names = std::define_static_array(reflected_parameters<F, X...>());
    return {names.begin(), names.end()};
  }
#endif
  return {};
}

}  // namespace tenure::detail
