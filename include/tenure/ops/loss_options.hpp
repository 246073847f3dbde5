// SPDX-License-Identifier: BSL-1.0
// The options that a loss takes after its operands: a reduction, and for classes weights, a label to ignore and label smoothing.
#pragma once

#include <type_traits>

#include <tenure/expr/apply.hpp>

namespace TENURE_NAMESPACE {

/// How a loss combines the losses of its elements or rows: their mean, their sum, or no combination.
namespace reduction {
struct mean_t {};
struct sum_t {};
struct none_t {};
inline constexpr mean_t mean{};
inline constexpr sum_t sum{};
inline constexpr none_t none{};
}  // namespace reduction

template <class W>
struct class_weights_t {
  const W& weights;
};
/// A weight for each class. The option refers to w until the loss is called.
template <class W>
constexpr class_weights_t<W> class_weights(const W& w) { return {w}; }

template <std::int64_t I>
struct ignore_index_t {};
/// The label of rows that do not count.
template <std::int64_t I>
inline constexpr ignore_index_t<I> ignore_index{};

struct label_smoothing_t {
  double share;
};
/// This share of each label is divided equally among all classes.
constexpr label_smoothing_t label_smoothing(double share) { return {share}; }

namespace detail {

template <class R>
concept a_reduction = std::is_same_v<R, reduction::mean_t> || std::is_same_v<R, reduction::sum_t> || std::is_same_v<R, reduction::none_t>;

template <class R>
struct known_reduction {
  static_assert(a_reduction<R>, "tenure: loss: the reduction is tn::reduction::mean, tn::reduction::sum or tn::reduction::none");
  using type = std::conditional_t<a_reduction<R>, R, reduction::mean_t>;
};
template <class R>
using reduction_of = typename known_reduction<R>::type;

enum class loss_option { unknown, reduces, weighs, ignores, smooths };
template <class O>
struct option_rule {
  static constexpr loss_option kind = a_reduction<O> ? loss_option::reduces : loss_option::unknown;
};
template <class W>
struct option_rule<class_weights_t<W>> {
  static constexpr loss_option kind = loss_option::weighs;
};
template <std::int64_t I>
struct option_rule<ignore_index_t<I>> {
  static constexpr loss_option kind = loss_option::ignores;
  static constexpr std::int64_t index = I;
};
template <>
struct option_rule<label_smoothing_t> {
  static constexpr loss_option kind = loss_option::smooths;
};

template <class... Option>
struct loss_options {
  template <loss_option Kind>
  static constexpr int number_of = (0 + ... + (option_rule<Option>::kind == Kind));
  static constexpr bool are_known = number_of<loss_option::unknown> == 0 && number_of<loss_option::reduces> <= 1 && number_of<loss_option::weighs> <= 1 &&
                                    number_of<loss_option::ignores> <= 1 && number_of<loss_option::smooths> <= 1;
  static constexpr bool has_weights = number_of<loss_option::weighs> > 0, ignores = number_of<loss_option::ignores> > 0, smooths = number_of<loss_option::smooths> > 0;
  static constexpr bool has_operands = has_weights || smooths;  // without them a message is one line shorter
  static constexpr bool keeps = (std::is_same_v<Option, reduction::none_t> || ...), adds = (std::is_same_v<Option, reduction::sum_t> || ...);
  using reduction_type = std::conditional_t<keeps, reduction::none_t, std::conditional_t<adds, reduction::sum_t, reduction::mean_t>>;
  static constexpr std::int64_t ignored = [] {
    std::int64_t index = 0;
    [[maybe_unused]] const auto take = []<class O>(std::int64_t& i, element_tag<O>) {
      if constexpr (option_rule<O>::kind == loss_option::ignores) i = option_rule<O>::index;
    };
    (take(index, element_tag<Option>{}), ...);
    return index;
  }();

  /// Operation applied to x, y, the weights if there are any, and the share of smoothing if there is one. At least one of the two is given.
  template <class Operation, class X, class Y>
  static constexpr auto apply_to(const X& x, const Y& y, [[maybe_unused]] const Option&... option) {
    if constexpr (has_weights && smooths) return apply<Operation>(x, y, found<loss_option::weighs>(option...).weights, found<loss_option::smooths>(option...).share);
    else if constexpr (has_weights) return apply<Operation>(x, y, found<loss_option::weighs>(option...).weights);
    else return apply<Operation>(x, y, found<loss_option::smooths>(option...).share);
  }

 private:
  template <loss_option Kind, class First, class... Rest>
  static constexpr const auto& found(const First& first, const Rest&... rest) {
    if constexpr (option_rule<First>::kind == Kind) return first;
    else return found<Kind>(rest...);
  }
};

}  // namespace detail
}  // namespace tenure
