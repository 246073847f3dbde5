// SPDX-License-Identifier: BSL-1.0
// profile(train_step)(model, state, data...).
#pragma once

#include <tenure/inspect/profile.hpp>
#include <tenure/optim/rule.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

template <class Loss, class Rule, class Execution>
struct profiled_trainer {
  trainer<Loss, Rule, Execution> step;
  int runs;

  template <class Model, class State, class... Data>
  call_profile operator()(Model& model, State& state, const Data&... data) const {
    if constexpr (is_profiled_device<device_of_tree<Model>>()) {
      using moments = std::remove_cvref_t<decltype(state.moments)>;
      using numbers = decltype(step.rule.hyperparameters(0));
      constexpr int parameters = tree<Model>::leaves;
      profiler p(parameters, parameters + tree<moments>::leaves + tree<numbers>::leaves);
      for (int i = 0; i < runs; ++i) step.through(p, model, state, data...);
      return p.result();
    } else {
      return {};
    }
  }
};

}  // namespace detail

/// profile for a training step. It runs `runs` steps, which train the model.
template <class Loss, class Rule, class Execution>
auto profile(const trainer<Loss, Rule, Execution>& step, int runs = 20) { return detail::profiled_trainer<Loss, Rule, Execution>{step, runs}; }

}  // namespace tenure
