// SPDX-License-Identifier: BSL-1.0
// debug_nans(train_step)(model, state, data...).
#pragma once

#include <tenure/inspect/debug_nans.hpp>
#include <tenure/optim/names.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

template <class Loss, class Rule, class Execution>
struct watched_trainer {
  trainer<Loss, Rule, Execution> step;
  name_list names;

  template <class Model, class State, class... Data>
  auto operator()(Model& model, State& state, const Data&... data) const {
    if constexpr (!is_watched_device<device_of_tree<Model>>()) {
      return after_error();
    } else {
      const nan_watch watch(names);
      return step.through(watch, model, state, data...);
    }
  }
};

}  // namespace detail

/// debug_nans for a training step. If it throws, model and state are as they were before the step.
/// Cost: memory for a second copy of all results of the step.
template <class Loss, class Rule, class Execution>
auto debug_nans(const trainer<Loss, Rule, Execution>& step, std::vector<std::string> names = {}) {
  return detail::watched_trainer<Loss, Rule, Execution>{step, std::move(names)};
}

}  // namespace tenure
