// SPDX-License-Identifier: BSL-1.0
// The names of the arguments and results of a training step.
#pragma once

#include <tenure/optim/rule.hpp>
#include <tenure/inspect/names.hpp>

namespace TENURE_NAMESPACE::detail {

template <class Loss, class Rule>
struct call_names<optim::detail::train_step_of<Loss, Rule>> {
  static std::string argument(int i, int) {
    constexpr const char* names[] = {"model", "state", "rule"};
    return i < 3 ? names[i] : "data " + std::to_string(i - 3);
  }
  static std::string result(int i, int, const name_list& arguments) { return i == 0 ? "loss" : arguments[static_cast<std::size_t>(i - 1)]; }
  static constexpr bool is_for_update(int i) { return i == 1 || i == 2; }
};

}  // namespace tenure::detail
