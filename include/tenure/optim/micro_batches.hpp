// SPDX-License-Identifier: BSL-1.0
// train_step(loss, rule, micro_batches<N>): one step of the rule, with the gradients of N parts of the data, one part after the other. The parts
// are a loop in the graph. Its body computes one part, and adds the gradients to its carry in place. Law: loss, model and state are those of the
// step with all data at once, up to rounding, where the loss is a mean over samples. Only an argument with one row for each sample is cut. Any
// other array needs a mark that says what a part gets of it, because a guess would change the loss. Cost: between forward and backward
// only one part takes memory. The gradients take three times the memory of the model: their sum, the zeros at the start, and the gradients of a part. The
// loop reads the weights N times.
#pragma once

#include <array>
#include <tuple>
#include <utility>

#include <tenure/optim/rule.hpp>
#include <tenure/transform/control_flow.hpp>
#include <tenure/transform/tree_map.hpp>

namespace TENURE_NAMESPACE {

/// Marks arguments of the loss that have one row for each part: micro_batches<4, each_part<3>>. Arguments are counted as by
/// grad<3>(loss): the model is 0, and the first argument after it is 1.
template <std::size_t... Argument>
struct each_part {};
/// Marks arguments of the loss that go to every part as a whole, counted as by each_part.
template <std::size_t... Argument>
struct every_part {};

namespace optim::detail {

/// The type of the loss of a step with N parts. The trainer makes no object of it.
template <class Loss, std::int64_t N, class... Mark>
struct in_parts {};

/// How much of an argument a part gets: its samples, its row, or all of it.
enum class share { samples, row, all };

template <class Mark>
struct mark_traits {
  static constexpr bool is_mark = false;
};
template <std::size_t... I>
struct mark_traits<each_part<I...>> {
  static constexpr bool is_mark = true;
  static constexpr share of_part = share::row;
  static constexpr int names(std::size_t argument) { return (0 + ... + (argument == I)); }
  static constexpr int count = sizeof...(I);
};
template <std::size_t... I>
struct mark_traits<every_part<I...>> : mark_traits<each_part<I...>> {
  static constexpr share of_part = share::all;
};

/// How much a part gets of each argument after the model. An argument without axes goes to every part.
template <class Marks, class... Data>
inline constexpr std::array<share, sizeof...(Data)> shares{};
template <class... Mark, class... Data>
inline constexpr std::array<share, sizeof...(Data)> shares<std::tuple<Mark...>, Data...> = [] {
  std::array<share, sizeof...(Data)> of{(Data::shape_type::rank == 0 ? share::all : share::samples)...};
  for (std::size_t i = 0; i < of.size(); ++i) ((of[i] = mark_traits<Mark>::names(i + 1) > 0 ? mark_traits<Mark>::of_part : of[i]), ...);
  return of;
}();

/// Whether the marks name arguments after the model, and each at most once.
template <class... Mark>
constexpr bool are_named(std::tuple<Mark...>*, std::size_t arguments) {
  int found = 0;
  for (std::size_t i = 1; i <= arguments; ++i) {
    const int names = (0 + ... + mark_traits<Mark>::names(i));
    if (names > 1) return false;
    found += names;
  }
  return found == (0 + ... + mark_traits<Mark>::count);
}

/// The number of samples: the first extent of the first argument that is cut. 0 if none is cut.
template <class Marks, class... Data>
constexpr std::int64_t samples_of() {
  std::int64_t found = 0;
  std::size_t i = 0;
  const auto look = [&]<class D>(element_tag<D>) {
    if constexpr (D::shape_type::rank > 0)
      if (found == 0 && shares<Marks, Data...>[i] == share::samples) found = D::shape_type::value[0];
    ++i;
  };
  (look(element_tag<Data>{}), ...);
  return found;
}

/// Whether the first extent of each argument with this share is `rows`.
template <share Share, class Marks, class... Data>
constexpr bool have_rows(std::int64_t rows) {
  bool all = true;
  std::size_t i = 0;
  const auto look = [&]<class D>(element_tag<D>) {
    bool has = false;
    if constexpr (D::shape_type::rank > 0) has = D::shape_type::value[0] == rows;
    all &= shares<Marks, Data...>[i++] != Share || has;
  };
  (look(element_tag<Data>{}), ...);
  return all;
}

/// Whether the arguments can be cut into N parts. If not, a static_assert gives the reason.
template <std::int64_t N, class Marks, class... Data>
constexpr bool are_divisible() {
  constexpr bool are_leaves = (is_traced_v<Data> && ...);
  static_assert(are_leaves, "tenure: train_step: with micro_batches each argument after the state is a tensor or a number");
  if constexpr (are_leaves) {
    constexpr bool named = are_named(static_cast<Marks*>(nullptr), sizeof...(Data));
    static_assert(named,
                  "tenure: train_step: micro_batches<N>: each_part and every_part name arguments of the loss, from 1 on, and each one once");
    constexpr std::int64_t samples = samples_of<Marks, Data...>();
    static_assert(!named || is_static(samples),
                  "tenure: train_step: micro_batches: the first extent of the data is a run-time one; the parts have a static one");
    constexpr bool divides = !is_static(samples) || (N > 1 && samples > N && samples % N == 0);
    static_assert(
        !named || divides,
        "tenure: train_step: micro_batches<N>: N divides the number of samples, the first extent of the data, and is more than 1 and less than it");
    constexpr bool agree = have_rows<share::samples, Marks, Data...>(samples), have_each = have_rows<share::row, Marks, Data...>(N);
    static_assert(
        !named || !divides || agree,
        "tenure: train_step: micro_batches<N>: an argument has not one row for each sample: mark it by its number in the loss, each_part<I> where it has one row for each part, or every_part<I> where all of it goes to every part");
    static_assert(!named || have_each,
                  "tenure: train_step: micro_batches<N>: an argument that is marked each_part has not N rows, one for each part");
    return named && is_static(samples) && divides && agree && have_each;
  }
  return false;
}

/// An argument as an xs of the loop: cut into [N, samples / N, ...], or unchanged if it has one row for each part. An argument that goes to every
/// part as a whole is not an xs.
template <std::int64_t N, share Share, class T, std::int64_t... Extents>
constexpr auto xs_of(const traced<T, shape<Extents...>>& x) {
  if constexpr (Share == share::all) return std::tuple{};
  else if constexpr (Share == share::row) return std::tuple{x};
  else return [&]<std::int64_t First, std::int64_t... Rest>(shape<First, Rest...>) {
    return std::tuple{ops::reshape<N, First / N, Rest...>::trace(x)};
  }(shape<Extents...>{});
}

/// The number of xs among the first i arguments.
template <std::size_t N>
constexpr std::size_t xs_before(const std::array<share, N>& of, std::size_t i) {
  std::size_t n = 0;
  for (std::size_t k = 0; k < i; ++k) n += of[k] != share::all;
  return n;
}

template <class Loss, std::int64_t N, class... Mark>
struct loss_and_gradients<in_parts<Loss, N, Mark...>> {
  template <class Model, class... Data>
  constexpr auto operator()(const Model& model, const Data&... data) const {
    if constexpr (!are_divisible<N, std::tuple<Mark...>, Data...>()) return loss_and_gradients<Loss>{}(model, data...);
    else return summed(std::index_sequence_for<Data...>{}, model, data...);
  }

 private:
  template <std::size_t I, class... Data>
  static constexpr share share_of() { return shares<std::tuple<Mark...>, Data...>[I]; }

  template <std::size_t I, class... Data, class Part>
  static constexpr auto argument_of(const std::tuple<Data...>& all, const Part& part) {
    if constexpr (share_of<I, Data...>() == share::all) return std::get<I>(all);
    else return std::get<xs_before(shares<std::tuple<Mark...>, Data...>, I)>(part);
  }

  template <std::size_t... I, class Model, class... Data>
  static constexpr auto summed(std::index_sequence<I...>, const Model& model, const Data&... data) {
    ir::builder* g = nullptr;
    for_each_leaf(model, [&](const auto& leaf) { g = leaf.graph; });
    const std::tuple<Data...> all{data...};
    const auto xs = std::tuple_cat(xs_of<N, share_of<I, Data...>()>(data)...);
    const auto of_part = [=](const auto& part) {
      return loss_and_gradients<Loss>{}(model, argument_of<I>(all, part)...);
    };
    using part = rebind_kind_t<std::remove_const_t<decltype(xs)>, slices>;
    using result = decltype(of_part(std::declval<part>()));
    const auto zero = [&]<class L>(element_tag<L>) {
      return L{g, g->constant(dtype_v<typename L::element_type>, g->intern(L::shape_type::value), 0)};
    };
    const auto iteration = [=](const auto& sum, const auto& part_of_xs) {
      const result now = of_part(part_of_xs);
      return std::tuple{map_tree<result>([](const auto& a, const auto& b) { return a + b; }, sum, now), nothing};
    };
    const auto sums = std::get<0>(scan(iteration, build_tree<result>(zero), xs));
    return map_tree<result>([](const auto& x) { return x * (1.0 / N); }, sums);
  }
};

template <std::int64_t N, class... Mark>
struct number_of_parts {};

}  // namespace optim::detail

/// The number of parts of a step: train_step(loss, rule, micro_batches<4>). An argument after the state that has the samples along its first axis
/// is cut; this extent is static, and N divides it. A number goes to every part. Any other argument has a mark: micro_batches<4, each_part<3>,
/// every_part<4>> gives each part its row of argument 3 of the loss, as split_key<4>(key), and all of argument 4. The loss is a mean over samples.
template <std::int64_t N, class... Mark>
  requires(optim::detail::mark_traits<Mark>::is_mark && ...)
inline constexpr optim::detail::number_of_parts<N, Mark...> micro_batches{};

/// train_step(loss, rule) that computes the gradients of N parts of the data one after the other; see micro_batches.
template <class Loss, class Rule, std::int64_t N, class... Mark, class Execution = inherited>
auto train_step(Loss, Rule rule, optim::detail::number_of_parts<N, Mark...>, Execution on = {}) {
  // A loss that captures something gets the message of the trainer.
  using in_parts = std::conditional_t<std::is_empty_v<Loss>, optim::detail::in_parts<Loss, N, Mark...>, Loss>;
  return trainer<in_parts, Rule, Execution>(rule, on);
}
template <class Loss, class Rule, detail::any_execution Execution, std::int64_t N, class... Mark>
auto train_step(Loss loss, Rule rule, Execution on, optim::detail::number_of_parts<N, Mark...> parts) { return train_step(loss, rule, parts, on); }
/// Refused: what stands beside the loss of a part is a value of this part, and parts only add up.
template <class Loss, class Rule, std::int64_t N, class... Mark>
auto train_step(Loss, Rule, optim::detail::number_of_parts<N, Mark...>, has_aux_t) {
  static_assert(N < 0, "tenure: train_step: micro_batches and has_aux do not go together: parts add up losses and gradients only; use value_and_grad(loss, has_aux) of each part, and rule.update");
  return after_error();
}
template <class Loss, class Rule, std::int64_t N, class... Mark>
auto train_step(Loss loss, Rule rule, has_aux_t, optim::detail::number_of_parts<N, Mark...> parts) {
  return train_step(loss, rule, parts, has_aux);
}

}  // namespace TENURE_NAMESPACE
