// SPDX-License-Identifier: BSL-1.0
// train_step(loss, rule, micro_batches<N>): one step of the rule, with the gradients of N parts of the data, one part after the other. The
// parts are a loop of the graph, which has the body of one part, and adds the gradients to its carry in place. Law: loss, model and state
// are those of the step with all data at once, up to rounding, where the loss is a mean over samples. Cost: the memory between forward and
// backward is that of one part, and the gradients take three times that of the model: their sum, its zeros at the start, and the gradients
// of a part. The loop reads the weights N times.
#pragma once

#include <tuple>
#include <utility>

#include <tenure/optim/rule.hpp>
#include <tenure/transform/control_flow.hpp>
#include <tenure/transform/tree_map.hpp>

namespace TENURE_NAMESPACE {
namespace optim::detail {

/// The loss of a step with N parts. The trainer makes none of it.
template <class Loss, std::int64_t N>
struct in_parts {};

/// The first extent of the first argument with axes: the number of samples. 0 where there is none.
template <class... Data>
constexpr std::int64_t samples_of() {
  std::int64_t found = 0;
  const auto look = [&]<class D>(element_tag<D>) {
    if constexpr (is_traced_v<D>)
      if constexpr (D::shape_type::rank > 0) found = found == 0 ? D::shape_type::value[0] : found;
  };
  (look(element_tag<Data>{}), ...);
  return found;
}

/// Whether the arguments can be cut into N parts. If not, a static_assert gives the reason.
template <std::int64_t N, class... Data>
constexpr bool are_divisible() {
  constexpr bool are_leaves = (is_traced_v<Data> && ...);
  static_assert(are_leaves, "tenure: train_step: with micro_batches each argument after the state is a tensor or a number");
  if constexpr (are_leaves) {
    constexpr std::int64_t samples = samples_of<Data...>();
    static_assert(is_static(samples),
                  "tenure: train_step: micro_batches: the first extent of the data is a run-time one; the parts have a static one");
    constexpr bool divides = !is_static(samples) || (N > 1 && samples > N && samples % N == 0);
    static_assert(
        divides,
        "tenure: train_step: micro_batches<N>: N divides the number of samples, the first extent of the data, and is more than 1 and less than it");
    constexpr auto fits = []<class D>(element_tag<D>) {
      if constexpr (D::shape_type::rank == 0) return true;
      else return D::shape_type::value[0] == samples || D::shape_type::value[0] == N;
    };
    constexpr bool agree = (fits(element_tag<Data>{}) && ...);
    static_assert(
        !divides || agree,
        "tenure: train_step: micro_batches<N>: an argument has neither one row for each sample, nor one for each of the N parts, nor no axis");
    return is_static(samples) && divides && agree;
  }
  return false;
}

/// A leaf as the xs of the loop: [N, samples / N, ...], or as it is where it has one row for each part. Numbers are no xs.
template <std::int64_t N, class T, std::int64_t First, std::int64_t... Rest>
constexpr auto parts_of(const traced<T, shape<First, Rest...>>& x) {
  if constexpr (First == N) return std::tuple{x};
  else return std::tuple{ops::reshape<N, First / N, Rest...>::trace(x)};
}
template <std::int64_t N, class T>
constexpr std::tuple<> parts_of(const traced<T, shape<>>&) {
  return {};
}

/// The number of xs among the first i arguments.
template <class... Data>
constexpr std::size_t xs_before(std::size_t i) {
  constexpr bool is_cut[] = {(Data::shape_type::rank > 0)..., false};
  std::size_t n = 0;
  for (std::size_t k = 0; k < i; ++k) n += is_cut[k];
  return n;
}

template <class Loss, std::int64_t N>
struct loss_and_gradients<in_parts<Loss, N>> {
  template <class Model, class... Data>
  constexpr auto operator()(const Model& model, const Data&... data) const {
    if constexpr (!are_divisible<N, Data...>()) return loss_and_gradients<Loss>{}(model, data...);
    else return summed(std::index_sequence_for<Data...>{}, model, data...);
  }

 private:
  template <std::size_t I, class All, class Part, class... Data>
  static constexpr auto argument_of(const std::tuple<Data...>*, const All& all, const Part& part) {
    if constexpr (std::tuple_element_t<I, All>::shape_type::rank == 0) return std::get<I>(all);
    else return std::get<xs_before<Data...>(I)>(part);
  }

  template <std::size_t... I, class Model, class... Data>
  static constexpr auto summed(std::index_sequence<I...>, const Model& model, const Data&... data) {
    ir::builder* g = nullptr;
    for_each_leaf(model, [&](const auto& leaf) { g = leaf.graph; });
    const std::tuple all{data...};
    const auto xs = std::tuple_cat(parts_of<N>(data)...);
    const auto of_part = [=](const auto& part) {
      return loss_and_gradients<Loss>{}(model, argument_of<I>(static_cast<const std::tuple<Data...>*>(nullptr), all, part)...);
    };
    using part = rebind_kind_t<std::remove_const_t<decltype(xs)>, slices>;
    using result = decltype(of_part(std::declval<part>()));
    const auto zero = [&]<class L>(element_tag<L>) {
      return L{g, g->constant(dtype_v<typename L::element_type>, g->intern(L::shape_type::value), 0)};
    };
    const auto turn = [=](const auto& sum, const auto& part_of_xs) {
      const result now = of_part(part_of_xs);
      return std::tuple{map_tree<result>([](const auto& a, const auto& b) { return a + b; }, sum, now), nothing};
    };
    const auto sums = std::get<0>(scan(turn, build_tree<result>(zero), xs));
    return map_tree<result>([](const auto& x) { return x * (1.0 / N); }, sums);
  }
};

template <std::int64_t N>
struct number_of_parts {};

}  // namespace optim::detail

/// The number of parts of a step: train_step(loss, rule, micro_batches<4>). The first argument after the state has the samples along its
/// first axis, of a static extent that N divides. An argument with as many rows is cut as it is; one with N rows, as split_key<N>(key),
/// gives one to each part; a number goes to every part. The loss is a mean over samples.
template <std::int64_t N>
inline constexpr optim::detail::number_of_parts<N> micro_batches{};

/// train_step(loss, rule), which computes the gradients of N parts of the data one after the other, see micro_batches.
template <class Loss, class Rule, std::int64_t N, class Execution = inherited>
auto train_step(Loss, Rule rule, optim::detail::number_of_parts<N>, Execution on = {}) {
  // A loss that captures something gets the message of the trainer.
  using in_parts = std::conditional_t<std::is_empty_v<Loss>, optim::detail::in_parts<Loss, N>, Loss>;
  return trainer<in_parts, Rule, Execution>(rule, on);
}

}  // namespace TENURE_NAMESPACE
