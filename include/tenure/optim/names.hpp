// SPDX-License-Identifier: BSL-1.0
// The names of the arguments and results of a training step.
#pragma once

#include <tenure/optim/rule.hpp>
#include <tenure/inspect/names.hpp>

namespace TENURE_NAMESPACE::detail {

template <class Loss>
struct call_names<optim::detail::auxiliary<Loss>> : call_names<Loss> {};
template <class Loss, class Rule>
struct call_names<optim::detail::train_step_of<Loss, Rule>> {
  static std::string argument(int i, int) {
    constexpr const char* names[] = {"model", "state", "rule"};
    return i < 3 ? names[i] : "data " + std::to_string(i - 3);
  }
  /// The names that the loss has for the model and the data, where they are known.
  template <class Model, class Moments, class Hyper, class... Data>
  static name_list parameters() {
    name_list names = call_names<Loss>::template parameters<Model, Data...>();
    if (!names.empty()) names.insert(names.begin() + 1, {"state", "rule"});
    return names;
  }
  static std::string result(int i, int, const name_list& arguments) { return i == 0 ? "loss" : arguments[static_cast<std::size_t>(i - 1)]; }
  static constexpr bool is_for_update(int i) { return i == 1 || i == 2; }
};

}  // namespace tenure::detail
