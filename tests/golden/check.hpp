// SPDX-License-Identifier: BSL-1.0
// Checks an item against its golden numbers: value and gradients by vjp, Hessian-vector products by jvp of the gradient
// (forward over reverse) and, on request, by the gradient of <gradient, v> (reverse over reverse).
// Cost: one compiled program an item, and one more for each Hessian-vector product.
#pragma once

#include <cstdint>
#include <limits>
#include <tuple>

#include <tenure/ops/contraction.hpp>
#include <tenure/ops/loss.hpp>
#include <tenure/tensor/from.hpp>
#include <tenure/transform/gradient.hpp>

namespace golden {

using namespace tenure;  // the items spell shapes and tensors

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class... Shape>
using arguments = std::tuple<tensor<double, Shape>...>;
template <class... Tensor>
using constants = std::tuple<Tensor...>;

/// What an item is made of. Its numbers follow each other in this order: arguments, constants, output, cotangent,
/// gradients of the arguments, then, where has_hvp is declared, the direction v and the product with the Hessian of
/// sum(output * cotangent), over all arguments jointly.
template <class Arguments, class Constants, class Output>
struct item {
  using arguments_type = Arguments;
  using constants_type = Constants;
  using output_type = tensor<double, Output>;
};

enum class second_order { forward_over_reverse, both };

/// What is compared, for the report of a failure.
struct subject {
  const char* id;
  const char* what;
  int number;  // of the argument
};

// Bodies in check.cpp, so that Catch2 stays out of the templates.
void agree(const subject& s, const double* wanted, const double* got, std::int64_t n);
/// Either convention will do.
void agree(const subject& s, const double* wanted, const double* other, const double* got, std::int64_t n);

/// The next numbers as tensors.
template <class Tuple>
Tuple take(const double*& from) {
  const auto next = [&]<class T, class Shape>(element_tag<tensor<T, Shape>>) {
    tensor<T, Shape> x(uninitialized);
    for (T& to : as_span(x)) to = static_cast<T>(*from++);
    return x;
  };
  return
      [&]<class... X>(element_tag<std::tuple<X...>>) { return Tuple{next(element_tag<X>{})...}; }(element_tag<Tuple>{});
}

template <class Tuple>
constexpr auto without_first(const Tuple& t) {
  return std::apply([](const auto&, const auto&... rest) { return std::tuple{rest...}; }, t);
}

/// (x..., cotangent, constants...) to {f, gradients...}: vjp, with what is constant captured.
template <class F, int Arguments>
struct value_and_pullback {
  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... all) const {
    return split(std::make_index_sequence<Arguments>{}, std::make_index_sequence<sizeof...(X) - Arguments - 1>{},
                 std::tuple{all...});
  }

 private:
  template <std::size_t... I, std::size_t... J, class All>
  constexpr auto split(std::index_sequence<I...>, std::index_sequence<J...>, const All& all) const {
    const auto of_arguments = [&](const auto&... x) { return f(x..., std::get<Arguments + 1 + J>(all)...); };
    return vjp(of_arguments)(std::get<I>(all)..., std::get<Arguments>(all));
  }
};

/// (x..., v..., cotangent, constants...) to the Hessian times v: the tangent of the gradient along v.
template <class F, int Arguments>
struct forward_over_reverse {
  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... all) const {
    return split(std::make_index_sequence<2 * Arguments>{}, std::make_index_sequence<sizeof...(X) - 2 * Arguments>{},
                 std::tuple{all...});
  }

 private:
  template <std::size_t... I, std::size_t... J, class All>
  constexpr auto split(std::index_sequence<I...>, std::index_sequence<J...>, const All& all) const {
    const auto gradient = [&](const auto&... x) {
      return without_first(value_and_pullback<F, Arguments>{f}(x..., std::get<2 * Arguments + J>(all)...));
    };
    return std::get<1>(jvp(gradient)(std::get<I>(all)...));
  }
};

/// The same by the gradient of <gradient, v>.
template <class F, int Arguments>
struct reverse_over_reverse {
  [[no_unique_address]] F f{};

  template <class... X>
  constexpr auto operator()(const X&... all) const {
    return split(std::make_index_sequence<Arguments>{}, std::make_index_sequence<sizeof...(X) - 2 * Arguments>{},
                 std::tuple{all...});
  }

 private:
  template <std::size_t... I, std::size_t... J, class All>
  constexpr auto split(std::index_sequence<I...>, std::index_sequence<J...>, const All& all) const {
    const auto slope = [&](const auto&... x) {
      const auto gradients = value_and_pullback<F, Arguments>{f}(x..., std::get<2 * Arguments + J>(all)...);
      return (sum(std::get<1 + I>(gradients) * std::get<Arguments + I>(all)) + ...);
    };
    return without_first(value_and_grad<static_cast<int>(I)...>(slope)(std::get<I>(all)...));
  }
};

/// f(arguments..., constants...) is the item.
template <class Item, second_order Second = second_order::forward_over_reverse, class F>
void check(F) {
  using arguments = typename Item::arguments_type;
  constexpr int count = std::tuple_size_v<arguments>;
  const double* at = Item::numbers;
  const auto x = take<arguments>(at);
  const auto c = take<typename Item::constants_type>(at);
  const double* const output = at;
  at += Item::output_type::shape_type::size;
  const auto cotangent = take<std::tuple<typename Item::output_type>>(at);
  const auto call = [](auto f, const auto&... parts) {
    return std::apply(compile(f),
                      std::tuple_cat(std::apply([](const auto&... part) { return std::tie(part...); }, parts)...));
  };
  const auto compare = [&at](const char* what, const auto&... got) {
    int number = 0;
    ((agree({Item::id, what, number++}, at, got.data(), got.size()), at += got.size()), ...);
  };

  std::apply(
      [&](const auto& value, const auto&... gradient) {
        agree({Item::id, "value", 0}, output, value.data(), value.size());
        if constexpr (requires { Item::other_gradients; })
          (agree({Item::id, "gradient", 0}, at, Item::other_gradients, gradient.data(), gradient.size()), ...);
        else
          compare("gradient", gradient...);
      },
      call(value_and_pullback<F, count>{}, x, cotangent, c));

  if constexpr (requires { Item::has_hvp; }) {
    const auto v = take<arguments>(at);
    const double* const product = at;
    const auto compare_product = [&](const auto& got) {
      at = product;
      if constexpr (any_tensor<std::remove_cvref_t<decltype(got)>>)
        compare("Hessian-vector product", got);
      else
        std::apply([&](const auto&... part) { compare("Hessian-vector product", part...); }, got);
    };
    compare_product(call(forward_over_reverse<F, count>{}, x, v, cotangent, c));
    if constexpr (Second == second_order::both)
      compare_product(call(reverse_over_reverse<F, count>{}, x, v, cotangent, c));
  }
}

}  // namespace golden
