// SPDX-License-Identifier: BSL-1.0
// The part that optimizers share. A rule is an aggregate of hyperparameters with one traced step for one parameter:
//   static auto step(parameter, gradient, std::array<moment, N>, hyperparameters...) -> {parameter, moments...}
// It also has `moments`, the number of moments, and hyperparameters(steps), the numbers of a step. `elementwise` = true says that the step computes
// each element of a parameter by itself, so that a part of a parameter can be updated alone. A rule with `prepares` = true also has
// prepare(gradients, hyperparameters...), which returns the gradients that the steps get. A rule with `is_grouped` = true has step_of<Model>(i,
// ...) in place of step; i is the number of the leaf. update() applies the rule to a whole model in place, as one compiled function. train_step()
// compiles loss, gradient and rule together. Hyperparameters are run-time numbers, so a schedule can change them without a new compilation.
#pragma once

#include <tenure/eager/deepcopy.hpp>
#include <tenure/eager/to.hpp>
#include <tenure/transform/gradient.hpp>

namespace TENURE_NAMESPACE::optim {

/// The state of a rule between steps: N trees like the model (velocities, moments) and the number of steps. On a device that records steps
/// it also holds the recording of the last step. So trainers with separate states have separate recordings.
template <class Model, int N>
struct state {
  std::array<Model, N> moments;
  std::int64_t steps = 0;
  [[no_unique_address]] tenure::detail::recorded_step<tenure::detail::device_of_tree<Model>> recorded{};
};

namespace detail {

using namespace tenure::detail;

template <class X>
auto zeros_like_tree(const X& x) {
  std::array<extents, tree<X>::leaves + 1> of_leaf;
  std::size_t i = 0;
  for_each_leaf(x, [&](const auto& leaf) {
    if constexpr (requires { leaf.extents(); }) of_leaf[i] = leaf.extents();  // a number has no extents; a message refuses it later
    ++i;
  });
  i = 0;
  auto make = [&]<class L>(element_tag<L>) {
    const extents& e = of_leaf[i++];
    if constexpr (shape_of_t<L>::is_static) {
      return L();
    } else {
      L made = tensor_access::allocate<L>(e);
      device_memory<device_of_t<L>>::fill(tensor_access::fresh(made), made.strides(), made.extents(), element_t<L>(0));
      return made;
    }
  };
  return build_tree<rebind_kind_t<X, results_on<device_of_tree<X>>>>(make);
}

template <class Rule, class Gradients, class... Hyper>
constexpr Gradients prepared(const Gradients& gradients, [[maybe_unused]] const Hyper&... hyper) {
  if constexpr (requires { Rule::prepares; }) return Rule::prepare(gradients, hyper...);
  else return gradients;
}

/// The step of leaf i of a model of type Model. A rule with `is_grouped` = true chooses the hyperparameters by the leaf. Integers and bool, which
/// have no gradient, stay as they are.
template <class Rule, class Model, class P, class M, class... Hyper>
constexpr auto step_of_leaf([[maybe_unused]] int i, const P& p, [[maybe_unused]] const P& gradient, const M& moments, [[maybe_unused]] const Hyper&... hyper) {
  if constexpr (!is_floating(dtype_v<typename P::element_type>)) return std::apply([&](const auto&... m) { return std::array<P, sizeof...(m) + 1>{p, m...}; }, moments);
  else if constexpr (requires { Rule::is_grouped; }) return Rule::template step_of<Model>(i, p, gradient, moments, hyper...);
  else return Rule::step(p, gradient, moments, hyper...);
}

/// Applies the rule to every leaf. Model, gradients and moments are trees of the same structure.
template <class Rule, class Model, class Gradients, class Moments, class... Hyper>
constexpr auto step_tree(const Model& model, const Gradients& gradients, const Moments& moments, const Hyper&... hyper) {
  constexpr std::size_t kept = std::tuple_size_v<Moments>;
  constexpr int leaves = tree<Model>::leaves;
  const node_ids<Gradients> gradient(prepared<Rule>(gradients, hyper...));
  const node_ids<Moments> moment(moments);
  node_ids<Model, Moments> next;
  ir::builder* g = nullptr;
  int i = 0;
  for_each_leaf(model, [&]<class L>(const L& leaf) {
    g = leaf.graph;
    std::array<L, kept> m{};
    for (std::size_t k = 0; k < kept; ++k) m[k] = L{g, moment.at[static_cast<int>(k) * leaves + i]};
    const std::array<L, kept + 1> stepped = step_of_leaf<Rule, Model>(i, leaf, L{g, gradient.at[i]}, m, hyper...);
    for (std::size_t k = 0; k <= kept; ++k) next.at[static_cast<int>(k) * leaves + i] = stepped[k].id;
    ++i;
  });
  i = 0;
  const auto take = [&]<class L>(element_tag<L>) { return L{g, next.at[i++]}; };
  return build_tree<std::tuple<Model, Moments>>(take);
}

template <class Rule>
struct update_of {
  constexpr auto operator()(const auto& model, const auto& gradients, const auto& moments, const auto&... hyper) const {
    return step_tree<Rule>(model, gradients, moments, hyper...);
  }
};

/// Zeros for every moment that the rule keeps.
template <class Rule, class Model>
auto initial_state(const Model& model) {
  constexpr auto n = static_cast<std::size_t>(Rule::moments);
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    using moment = decltype(zeros_like_tree(model));
    return state<moment, Rule::moments>{std::array<moment, n>{{(static_cast<void>(I), zeros_like_tree(model))...}}, 0};
  }(std::make_index_sequence<n>{});
}

/// The same for a tree.
template <class Model>
constexpr bool are_parameters() {
  constexpr bool are_tensors = !tree<Model>::has_numbers, is_writable = are_leaves_writable<Model>();
  static_assert(tree<Model>::leaves > 0, "tenure: optim: the model has no parameters");
  static_assert(are_tensors, "tenure: optim: a parameter is a number: make it a tensor without axes, tn::tensor<double, tn::shape<>> p(1.0)");
  static_assert(!are_tensors || is_writable, "tenure: optim: the model is read-only");
  return tree<Model>::leaves > 0 && are_tensors && is_writable;
}

/// Whether the model has parameters that may be written. If not, a static_assert says so.
template <class Model>
constexpr bool has_parameters() {
  if constexpr (!tree<Model>::is_tree) {
    constexpr bool is_named = names_fault<Model>();
    static_assert(is_named, "tenure: optim: the parameters are neither a tensor, a tuple, an array nor a model: a vector is copied by tn::from(v).clone(), and a struct becomes a model by BOOST_HANA_DEFINE_STRUCT (chapter 5)");
    return false;
  } else {
    return are_parameters<Model>();
  }
}
/// Whether X is a tuple of references, as std::tie makes it. Such a temporary may be fitted.
template <class X>
inline constexpr bool is_tied = false;
template <class... Part>
inline constexpr bool is_tied<std::tuple<Part&...>> = true;
/// A temporary is no model to fit. A static_assert says so.
template <class Model>
constexpr void refuse_temporary() {
  static_assert(never<Model>, "tenure: optim: the parameters are a temporary, which the fit would change: give it a name; tensors with names are std::tie(a, b)");
}

template <std::size_t Given, std::size_t OfRule>
constexpr bool are_moments_of_rule() {
  static_assert(Given == OfRule, "tenure: optim: the state has another number of moments than the rule: it is the state of another rule");
  return Given == OfRule;
}
/// Whether Given has as many leaves as Model, of the same element types and of shapes that may agree.
template <class Given, class Model>
constexpr bool are_leaves_of() {
  if constexpr (tree<Given>::leaves != tree<Model>::leaves) return false;
  else return first_mismatch<Model, Given>().fits();
}
/// Whether the gradients have the leaves of the model. If not, a static_assert says so, and compilers print both types.
template <class Gradients, class Model>
constexpr bool are_gradients_of() {
  if constexpr (!tree<Gradients>::is_tree) {
    return true;  // the call refuses them
  } else {
    constexpr bool are = are_leaves_of<Gradients, Model>();
    static_assert(are, "tenure: optim: the gradients are those of another model: they differ in number, element type or shape from its parameters");
    return are;
  }
}
/// Whether each moment has the leaves of the model. If not, a static_assert says so, and compilers print both types.
template <class Moments, class Model>
constexpr bool are_moments_of() {
  constexpr bool are = are_leaves_of<Moments, std::array<Model, std::tuple_size_v<Moments>>>();
  static_assert(are, "tenure: optim: the state is that of another model: its moments differ in number, element type or shape from the parameters");
  return are;
}
/// Whether S is a state of the rule that may be written. If not, a static_assert says so.
template <class Rule, class S>
constexpr bool is_state() {
  constexpr bool counts_steps = requires(const S& s) { std::tuple_size<std::remove_cvref_t<decltype(s.moments)>>::value, s.steps; };
  static_assert(counts_steps, "tenure: optim: an argument is not the state of a rule: make it by rule.init(model), and pass it after the model");
  static_assert(!counts_steps || !std::is_const_v<S>, "tenure: optim: the state is read-only");
  if constexpr (counts_steps && !std::is_const_v<S>) return are_moments_of_rule<std::tuple_size_v<std::remove_cvref_t<decltype(S::moments)>>, Rule::moments>();
  else return false;
}

/// Whether S is a state of the rule that may be written, and is for such a model.
template <class Rule, class Model, class S>
constexpr bool is_state_for() {
  if constexpr (!is_state<Rule, S>()) return false;
  else return are_moments_of<std::remove_cvref_t<decltype(S::moments)>, Model>();
}

/// Parameters that are leaves become constants over the same memory. So a rule can write them, as code inside no_grad can.
template <class Model>
auto values_of(const Model& model) {
  const auto value = []<class L, class X>(element_tag<L>, const X& x) -> L {
    constexpr bool is_parameter = ownership_of_v<X> == ownership::owning && !is_node_v<X>;
    static_assert(is_parameter, "tenure: optim: a parameter owns its memory, and is a constant or a leaf");
    tensor_access::check_alive(x, "update");
    return tensor_access::make<L>(tensor_access::storage(x), tensor_access::fresh(x), x.extents(), x.extents());
  };
  return build_tree<rebind_kind_t<Model, results_on<device_of_tree<Model>>>>(value, model);
}

/// One step in place, with one fused kernel for each parameter.
template <class Rule, class Model, class Gradients, class State>
void apply_update(const Rule& rule, Model& model, const Gradients& gradients, State& s) {
  if constexpr (is_after_error<Gradients> || is_after_error<Model> || is_after_error<State>) {
    return;
  } else if constexpr (!has_parameters<Model>() || !is_state_for<Rule, Model, State>() || !are_gradients_of<Gradients, Model>()) {
    return;
  } else if constexpr (tree<Model>::tracked) {
    auto values = values_of(model);
    apply_update(rule, values, gradients, s);
  } else {
    const compiled<update_of<Rule>> step{};
    std::apply([&](const auto&... h) { step.into(model, s.moments)(model, gradients, s.moments, h...); }, rule.hyperparameters(s.steps + 1));
    ++s.steps;
  }
}

/// The loss and its gradients with respect to the model. micro_batches.hpp specializes this for a loss in parts.
template <class Loss>
struct loss_and_gradients : value_and_grad_of<Loss, 0> {};

/// The type of a loss that returns std::tuple{loss, aux}, for a step that returns both. The trainer makes no object of it.
template <class Loss>
struct auxiliary {};
template <class Loss>
struct loss_and_gradients<auxiliary<Loss>> : value_and_grad_with_aux<Loss, 0> {};
template <class Loss>
inline constexpr bool has_aux_results = false;
template <class Loss>
inline constexpr bool has_aux_results<auxiliary<Loss>> = true;

/// Memory for results, whose extents are known before their values.
template <class Results>
Results memory_of() {
  auto make = []<class L>(element_tag<L>) {
    constexpr bool is_static = shape_of_t<L>::is_static;
    static_assert(is_static, "tenure: train_step: with has_aux the results beside the loss have static extents: otherwise call value_and_grad(loss, has_aux) and rule.update");
    if constexpr (is_static) return L(uninitialized);
    else return L();
  };
  return build_tree<Results>(make);
}

/// Loss, gradient and update in one graph: (model, moments, hyperparameters as an array, data...) -> {loss, model, moments}.
template <class Loss, class Rule>
struct train_step_of {
  constexpr auto operator()(const auto& model, const auto& moments, const auto& hyper, const auto&... data) const {
    const auto result = loss_and_gradients<Loss>{}(model, data...);
    const auto stepped = std::apply([&](const auto&... h) { return step_tree<Rule>(model, std::get<1>(result), moments, h...); }, hyper);
    return std::tuple{std::get<0>(result), std::get<0>(stepped), std::get<1>(stepped)};
  }
};

}  // namespace detail

}  // namespace tenure::optim

namespace TENURE_NAMESPACE {

/// Copies a state to a device; deepcopy() copies it on its device. The step that a GPU has recorded is not copied.
template <class Model, int N, any_device D>
auto to(const optim::state<Model, N>& s, D device) {
  auto moments = to(s.moments, device);
  return optim::state<typename decltype(moments)::value_type, N>{std::move(moments), s.steps};
}
template <class Model, int N>
auto deepcopy(const optim::state<Model, N>& s) { return optim::state<Model, N>{deepcopy(s.moments), s.steps}; }

/// A training step as one compiled function: forward, backward and update.
template <class Loss, class Rule, class Execution = inherited>
class trainer {
  using step_type = optim::detail::train_step_of<Loss, Rule>;
  template <class Model, class State, class... Data>
  using source = detail::source_of<step_type, Model, std::remove_cvref_t<decltype(std::declval<State>().moments)>,
                                   decltype(std::declval<Rule>().hyperparameters(0)), Data...>;
  template <class Model, class State, class... Data>
  using loss_of = detail::rebind_kind_t<std::tuple_element_t<0, typename source<Model, State, Data...>::result_type>, detail::results_on<detail::device_of_tree<Model>>>;

 public:
  explicit trainer(Rule r, Execution on = {}) : rule(r), execution(on) {}

  /// Updates model and state in place. Returns the loss before the update, which is the only allocation. On a device that records steps
  /// (a GPU), a step with the same tensors as the step before is a single launch.
  template <class Model, class State, class... Data>
  auto operator()(Model& model, State& state, const Data&... data) const {
    if constexpr (is_possible<Model, State>()) return run(model, state, data...);
    else return after_error();
  }

  /// Gives the message for a step without a state.
  template <class Model>
  auto operator()(Model&) const {
    static_cast<void>(optim::detail::is_state<Rule, Model>());
    return after_error();
  }

  /// The plan of one step.
  template <class Model, class State, class... Data>
  constexpr auto plan(const Model&, const State&, const Data&...) const
      -> tenure::plan<program<source<Model, State, Data...>>, detail::device_of_tree<Model>> {
    static_cast<void>(is_possible<Model, State>());
    return {};
  }

  /// One step, run by `runner`: see transform/call.hpp and inspect/profile.hpp.
  template <class Runner, class Model, class State, class... Data>
  auto through(Runner& runner, Model& model, State& state, const Data&... data) const {
    if constexpr (is_possible<Model, State>()) {
      auto loss = optim::detail::memory_of<loss_of<Model, State, Data...>>();
      step_into(loss, runner, model, state, data...);
      return loss;
    } else {
      return after_error();
    }
  }

  Rule rule;
  [[no_unique_address]] Execution execution;

 private:
  /// Whether the step compiles. The program has the type of the loss and not the object. If the loss captures values, the model has no parameters,
  /// or `State` is not a state of the rule, a static_assert says so.
  template <class Model, class State>
  static constexpr bool is_possible() {
    constexpr bool captures_nothing = std::is_empty_v<Loss>;
    static_assert(captures_nothing, "tenure: train_step: the loss captures nothing: pass run-time values as arguments");
    if constexpr (!captures_nothing || !optim::detail::has_parameters<Model>()) return false;
    else return optim::detail::is_state_for<Rule, Model, State>();
  }

  void step_into(auto& loss, auto& runner, auto& model, auto& state, const auto&... data) const {
    const compiled<step_type, Execution> step{{}, execution};
    step.into(loss, model, state.moments).through(runner, model, state.moments, rule.hyperparameters(state.steps + 1), data...);
    ++state.steps;
  }

  template <class Model, class State, class... Data>
  auto run(Model& model, State& state, const Data&... data) const {
    using device = detail::device_of_tree<Model>;
    if constexpr (detail::recorded_step<device>::exists && !optim::detail::has_aux_results<Loss>) {
      // Each step writes its loss to the same address, so that the recording stays valid.
      using loss_type = loss_of<Model, State, Data...>;
      const detail::storage_handle memory = state.recorded.memory_of_loss();
      auto kept = detail::tensor_access::make<loss_type>(memory, static_cast<element_t<loss_type>*>(memory.data()), {}, {});
      loss_type loss(uninitialized);
      step_into(kept, state.recorded, model, state, data...);
      loss.copy_(kept);
      return loss;
    } else {
      detail::at_once<device> now;
      return through(now, model, state, data...);
    }
  }
};

/// train_step(loss, rule) is one training step as one compiled function: step(model, state, data...) computes loss(model, data...) and its
/// gradient, updates the model and the state of `rule.init(model)` in place, and returns the loss before the update. The loss is a scalar
/// of floating type and captures nothing. Throws shape_error, before anything is written, if run-time extents differ.
template <class Loss, class Rule, class Execution = inherited>
auto train_step(Loss, Rule rule, Execution on = {}) {
  constexpr bool is_rule = requires { Rule::moments; };
  static_assert(is_rule, "tenure: train_step: the second argument is not a rule of single steps, as tn::optim::adam{}; L-BFGS is minimize(f, lbfgs{})(model, data...)");
  if constexpr (is_rule) return trainer<Loss, Rule, Execution>(rule, on);
  else return after_error();
}
/// The same for a loss that returns std::tuple{loss, aux}, and so does the step: aux is any tree of values with static extents, such as predictions, or the new
/// moments of a batch norm. They are those before the update.
template <class Loss, class Rule, class Execution = inherited>
auto train_step(Loss, Rule rule, has_aux_t, Execution on = {}) {
  // A loss that captures something gets the message of the trainer.
  using with_aux = std::conditional_t<std::is_empty_v<Loss>, optim::detail::auxiliary<Loss>, Loss>;
  return trainer<with_aux, Rule, Execution>(rule, on);
}
template <class Loss, class Rule, detail::any_execution Execution>
auto train_step(Loss loss, Rule rule, Execution on, has_aux_t aux) { return train_step(loss, rule, aux, on); }

}  // namespace tenure
