// SPDX-License-Identifier: BSL-1.0
// Hyperparameters by group of parameters: groups{rule, group{selector, rule}, ...}. A group is chosen by the name or the shape of a
// parameter while the program compiles, and its numbers are run-time numbers like those of any rule. Law: a step is that of each group's
// rule on the parameters of the group. Cost: nothing in a step. Not part of <tenure/tenure.hpp>: the names of members, which are Hana's
// strings, cost compile time.
#pragma once

#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include <tenure/optim/rule.hpp>
#include <tenure/transform/leaf_names.hpp>

namespace TENURE_NAMESPACE::optim {

/// The parameters for which `selects(name, shape)` is true have the hyperparameters of `rule`. The name is the one in a file, such as "layers.0.w",
/// as a std::string_view. The shape is a tn::extents; stacked layers have one more axis. `selects` captures nothing. A mark such as tn::no_decay
/// selects the parameters that have it as an annotation (C++26).
template <class Selector, class Rule>
struct group {
  Selector selects;
  Rule rule;
};
template <class Selector, class Rule>
group(Selector, Rule) -> group<Selector, Rule>;

/// Selects biases and gains: the parameters with at most one axis.
struct select_vectors {
  constexpr bool operator()(std::string_view, const extents& shape) const { return shape.rank < 2; }
};
inline constexpr select_vectors vectors{};

namespace detail {

/// The name of a leaf while a tree is visited. A name of more than `most` characters is cut, and `fits` is false.
struct leaf_path {
  static constexpr int most = 256;
  char text[most] = {};
  int size = 0;
  bool fits = true;

  constexpr void append(const char* s) {
    while (*s != '\0' && size < most) text[size++] = *s++;
    fits &= *s == '\0';
  }
  constexpr void append(std::size_t i) {
    if (i >= 10) append(i / 10);
    const char digit[2] = {static_cast<char>('0' + i % 10), '\0'};
    append(digit);
  }
  constexpr leaf_path with(auto part) const {
    leaf_path longer = *this;
    if (size > 0) longer.append(".");
    longer.append(part);
    return longer;
  }
  constexpr std::string_view view() const { return {text, static_cast<std::size_t>(size)}; }
};

/// The group of each leaf of a model, and whether all of their names fit.
template <int Leaves>
struct chosen_groups {
  std::array<int, static_cast<std::size_t>(Leaves)> of{};
  bool names_fit = true;
};
template <class Model, class Selector>
constexpr bool selects_leaf(std::size_t leaf, std::string_view name, const extents& shape) {
  if constexpr (std::is_base_of_v<mark, Selector>) return leaf_marks<Model, Selector>[leaf];
  else return Selector{}(name, shape);
}

/// The group of each leaf of the model: the number of the first group that selects it, counted from 1. 0 is the rule for all other leaves.
template <class Model, class... Selector>
inline constexpr auto groups_of_leaves = [] {
  chosen_groups<tree<Model>::leaves> all;
  std::size_t leaf = 0;
  const auto choose = [&]<class L>(const leaf_path& name, const auto&, element_tag<L>) {
    constexpr extents shape = leaf_type<L>::shape_type::value;
    int chosen = 0, i = 0;
    ((++i, chosen = chosen == 0 && selects_leaf<Model, Selector>(leaf, name.view(), shape) ? i : chosen), ...);
    all.of[leaf++] = chosen;
    all.names_fit &= name.fits;
  };
  for_each_leaf_name<Model>(leaf_path{}, choose);
  return all;
}();

template <int Group, std::size_t N>
constexpr bool is_used(const std::array<int, N>& of) {
  for (const int g : of)
    if (g == Group) return true;
  return false;
}

/// Whether each group selects at least one parameter, and all names fit into leaf_path. If not, a static_assert names the group.
template <class Model, class... Selector, std::size_t... I>
constexpr void require_members(std::index_sequence<I...>) {
  constexpr bool names_fit = groups_of_leaves<Model, Selector...>.names_fit;
  static_assert(names_fit, "tenure: groups: a parameter has a name of more than 256 characters, with those of the models around it");
  const auto require = []<int Group>(std::integral_constant<int, Group>) {
    using selector = std::tuple_element_t<static_cast<std::size_t>(Group - 1), std::tuple<Selector...>>;
    constexpr bool is_selected = is_used<Group>(groups_of_leaves<Model, Selector...>.of), by_mark = std::is_base_of_v<mark, selector>;
    static_assert(
        is_selected || !by_mark,
        "tenure: groups: no parameter that is left for this group has its mark: a mark is an annotation of a member, [[=tn::no_decay]], and takes C++26 with reflection: elsewhere select by name or shape");
    static_assert(
        is_selected || by_mark,
        "tenure: groups: a group selects no parameter of the model: names are those in a file, as \"layers.0.w\", and the first group wins");
  };
  (require(std::integral_constant<int, static_cast<int>(I) + 1>{}), ...);
}

template <class Group>
struct rule_of_group {
  using type = void;
};
template <class Selector, class Rule>
struct rule_of_group<group<Selector, Rule>> {
  using type = Rule;
};
template <class Group>
using rule_of = typename rule_of_group<Group>::type;

template <class Selector>
constexpr bool is_selector() {
  constexpr bool is_mark = std::is_base_of_v<mark, Selector>;
  constexpr bool takes = (is_mark || std::is_invocable_r_v<bool, const Selector&, std::string_view, const extents&>) && std::is_empty_v<Selector>;
  static_assert(
      takes,
      "tenure: group: a selector captures nothing, and takes the name of a parameter, a std::string_view, and its shape, a tn::extents");
  return takes;
}

}  // namespace detail

/// A rule that has its own hyperparameters for each group: groups{adam{...}, group{vectors, adam{.weight_decay = 0}}}. The first rule is for the
/// parameters in no group. All rules have one type. `others` and `rule<I>()` are the rules, and for_each_rule calls a function with each rule, for
/// example for a schedule. A group without a parameter does not compile.
template <class Rule, class... Group>
struct groups {
  static_assert((std::is_same_v<Rule, detail::rule_of<Group>> && ...),
                "tenure: groups: pass a rule, and groups, group{selector, rule}, with rules of the same type and other hyperparameters");
  static_assert(!requires { Rule::prepares; },
                "tenure: groups: a rule that changes the gradients of the whole model, as clipped, does nothing inside groups: write clipped{groups{...}, max_norm}");

  Rule others;
  std::tuple<Group...> chosen;

  constexpr groups(Rule of_others, Group... of) : others(of_others), chosen(of...) {}

  template <std::size_t I>
  constexpr Rule& rule() {
    return std::get<I>(chosen).rule;
  }
  template <std::size_t I>
  constexpr const Rule& rule() const {
    return std::get<I>(chosen).rule;
  }
  constexpr void for_each_rule(auto&& f) {
    f(others);
    std::apply([&](auto&... of) { (f(of.rule), ...); }, chosen);
  }

  static constexpr int moments = Rule::moments;
  static constexpr bool is_grouped = true;

  /// The hyperparameters of `others`, then those of the rule of each group.
  auto hyperparameters(std::int64_t steps) const {
    constexpr std::size_t each = std::tuple_size_v<decltype(others.hyperparameters(steps))>;
    std::array<double, each*(sizeof...(Group) + 1)> all{};
    std::size_t i = 0;
    const auto append = [&](const Rule& r) {
      for (const double h : r.hyperparameters(steps)) all[i++] = h;
    };
    append(others);
    std::apply([&](const auto&... of) { (append(of.rule), ...); }, chosen);
    return all;
  }

  /// init() gives the state before the first step, with all moments zero. update() does one step in place.
  template <class Model>
  auto init(const Model& model) const {
    if constexpr ((detail::is_selector<decltype(Group::selects)>() && ...))
      detail::require_members<Model, decltype(Group::selects)...>(std::index_sequence_for<Group...>{});
    return detail::initial_state<groups>(model);
  }
  void update(auto& model, const auto& gradients, auto& state) const {
    detail::apply_update(*this, model, gradients, state);
  }

  /// The step of leaf i of the model.
  template <class Model, class P, class M, class... Hyper>
  static constexpr auto step_of(int i, const P& p, const P& g, const M& moments_of_leaf, const Hyper&... hyper) {
    constexpr std::size_t each = sizeof...(Hyper) / (sizeof...(Group) + 1);
    const std::array<std::common_type_t<Hyper...>, sizeof...(Hyper)> all{hyper...};
    std::size_t first = 0;
    if constexpr ((detail::is_selector<decltype(Group::selects)>() && ...)) {  // else init has given the message
      constexpr const auto& group_of = detail::groups_of_leaves<Model, decltype(Group::selects)...>.of;
      first = each * static_cast<std::size_t>(group_of[static_cast<std::size_t>(i)]);
    }
    return [&]<std::size_t... K>(std::index_sequence<K...>) { return Rule::step(p, g, moments_of_leaf, all[first + K]...); }
    (std::make_index_sequence<each>{});
  }
};

}  // namespace TENURE_NAMESPACE::optim
