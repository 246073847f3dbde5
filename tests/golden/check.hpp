// SPDX-License-Identifier: BSL-1.0
// Checks an item against its golden numbers: value and gradients by vjp, Hessian-vector products by jvp of the gradient
// (forward over reverse) and, on request, by the gradient of <gradient, v> (reverse over reverse). All of it by
// compiled code and by the reference backend; values and gradients by the GPU's kernels too, on the host. Cost: one program an item, and
// one more for each Hessian-vector product; the kernels are as much again to compile, so with g++ only. The quick tests do not compile
// Hessian-vector products: what is golden about them are the rules of derivatives, which the graph as written shows.
#pragma once

#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include <tenure/backend/reference/array.hpp>
#include <tenure/ops/contraction.hpp>
#include <tenure/ops/loss.hpp>
#include <tenure/tensor/from.hpp>
#include <tenure/transform/gradient.hpp>

#include "../kernels/host_device.hpp"
#include "../on_device.hpp"

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

/// Numbers that a result must agree with, and what they are; `other` will do as well.
struct expectation {
  const char* what;
  int argument;
  const double* numbers;
  const double* other;
};

/// All results of one function, by four routes. Those that were not taken are empty; one is always there.
struct outcome {
  std::vector<reference::array> compiled;
  std::vector<reference::array> by_kernels;    // of the GPU, on the host
  std::vector<reference::array> as_traced;     // the reference backend, on the graph as written
  std::vector<reference::array> as_scheduled;  // and on the graph that was compiled
};

// Bodies in check.cpp, so that Catch2 stays out of the templates.
std::vector<reference::array> interpret(const ir::graph_view& g, const std::vector<reference::array>& arguments);
void agree(const char* id, const std::vector<expectation>& expected, const outcome& got);

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

enum class routes { as_traced, compiled, compiled_and_kernels };
#ifdef TENURE_QUICK_TESTS
constexpr routes routes_of_products = routes::as_traced;
#else
constexpr routes routes_of_products = routes::compiled;
#endif

/// f(parts...), each part a tuple of arguments.
template <class F, routes Routes, class... Part>
outcome evaluate(const Part&... parts) {
  const auto call = [](const auto&... x) {
    using source = tenure::detail::source_of<F, std::remove_cvref_t<decltype(x)>...>;
    const std::vector<reference::array> arguments{reference::array(x.extents(), x.data())...};
    outcome r;
    r.as_traced = interpret(program_detail::traced_graph<source>.view(), arguments);
    if constexpr (Routes != routes::as_traced) {
      using program_type = program<source>;
      tenure::detail::for_each_leaf(compile(F{})(on_device::there(x)...), [&](const auto& y) {
        const auto& arrived = on_device::here(y);
        r.compiled.emplace_back(arrived.extents(), arrived.data());
      });
#if !defined(__clang__) && !defined(TENURE_TEST_CUDA)
      if constexpr (Routes == routes::compiled_and_kernels) r.by_kernels = host::run<program_type>(r.compiled, arguments, {});
#endif
      r.as_scheduled = interpret(program_type::value.view(), arguments);
    }
    return r;
  };
  return std::apply(call, std::tuple_cat(std::apply([](const auto&... x) { return std::tie(x...); }, parts)...));
}

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
  const auto expect_like_arguments = [&](std::vector<expectation> expected, const char* what, const double* other) {
    int number = 0;
    const auto add = [&](const auto& argument) {
      expected.push_back({what, number++, at, other ? other : at});
      at += argument.size();
    };
    std::apply([&](const auto&... argument) { (add(argument), ...); }, x);
    return expected;
  };

  const double* other = nullptr;
  if constexpr (requires { Item::other_gradients; }) other = Item::other_gradients;
  agree(Item::id, expect_like_arguments({{"value", 0, output, output}}, "gradient", other),
        evaluate<value_and_pullback<F, count>, routes::compiled_and_kernels>(x, cotangent, c));

  if constexpr (requires { Item::has_hvp; }) {
    const auto v = take<arguments>(at);
    const auto product = expect_like_arguments({}, "Hessian-vector product", nullptr);
    agree(Item::id, product, evaluate<forward_over_reverse<F, count>, routes_of_products>(x, v, cotangent, c));
    if constexpr (Second == second_order::both)
      agree(Item::id, product, evaluate<reverse_over_reverse<F, count>, routes_of_products>(x, v, cotangent, c));
  }
}

}  // namespace golden
