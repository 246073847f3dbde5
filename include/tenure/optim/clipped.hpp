// SPDX-License-Identifier: BSL-1.0
// A rule that scales the gradients of the whole model to the norm `max_norm` if their norm is greater, as clip_by_global_norm does.
// Law: the moments and the results are those of `rule` with clip_by_global_norm(gradients, max_norm). All hyperparameters are those of the
// rule, and `max_norm`, which may change between steps too.
// Cost: the updates wait for all gradients. The gradients need memory until then, or are computed again where that is cheap.
#pragma once

#include <array>
#include <utility>

#include <tenure/optim/rule.hpp>
#include <tenure/transform/tree_map.hpp>

namespace TENURE_NAMESPACE::optim {

/// A rule that scales the gradients of the whole model to the norm max_norm if their norm is greater: clipped{adam{}, 1.0}.
template <class Rule>
struct clipped : Rule {
  double max_norm = 1;

  auto hyperparameters(std::int64_t steps) const {
    if (!(max_norm >= 0)) TENURE_THROW(error("tenure: clipped: max_norm is at least 0"));
    const auto of_rule = Rule::hyperparameters(steps);
    std::array<double, std::tuple_size_v<decltype(Rule::hyperparameters(steps))> + 1> all{max_norm};
    for (std::size_t i = 0; i < of_rule.size(); ++i) all[i + 1] = of_rule[i];
    return all;
  }

  /// init() gives the state of the rule before the first step. update() does one step in place.
  auto init(const auto& model) const { return detail::initial_state<clipped>(model); }
  void update(auto& model, const auto& gradients, auto& state) const { detail::apply_update(*this, model, gradients, state); }

  static constexpr bool prepares = true;
  /// The gradients that the steps of the parameters get: the rule's prepared gradients, clipped.
  static constexpr auto prepare(const auto& gradients, const auto& norm, const auto&... hyper) {
    return detail::clip_to_norm{}(detail::prepared<Rule>(gradients, hyper...), norm);
  }

  template <class P, class M, class H, class... Hyper>
  static constexpr auto step(const P& p, const P& g, const M& moments, const H&, const Hyper&... hyper) {
    return Rule::step(p, g, moments, hyper...);
  }
  /// The step of leaf i, if the rule has groups.
  template <class Model, class P, class M, class H, class... Hyper>
  static constexpr auto step_of(int i, const P& p, const P& g, const M& moments, const H&, const Hyper&... hyper) {
    return detail::step_of_leaf<Rule, Model>(i, p, g, moments, hyper...);
  }
};
template <class Rule>
clipped(Rule, double) -> clipped<Rule>;

}  // namespace tenure::optim
