// SPDX-License-Identifier: BSL-1.0
// Factories: functions that make an owning constant on the host. The shape is a type, and one integer follows for each run-time
// extent (each dyn, and each name once): zeros<float>(shape<3, 3>{}), zeros<float>(shape<dyn, 3>{}, n). The element type is float
// if it is not given. Each throws shape_error if an extent is negative, and std::bad_alloc.
// Law: the result shares no memory, and its version is 0. In constant evaluation a factory keeps only how the elements follow from their
// positions, so in a trace its result is a constant operand; `empty` gives zeros there.
#pragma once

#include <cstdint>

#include "tensor.hpp"

namespace TENURE_NAMESPACE {

namespace detail {
// True if the arguments of a factory do not start with a shape type, or if T is not an element type.
template <class T, class... N>
inline constexpr bool makes_none = true;
template <element T, any_shape Shape, class... N>
inline constexpr bool makes_none<T, Shape, N...> = false;
template <class T, class... N>
after_error refused_factory() {
  constexpr bool holds = element<T>;
  static_assert(holds, "tenure: tensor: the element type is not bool, uint8, int8, int32, int64, bfloat16, float16, float or double");
  static_assert(!holds || never<T>, "tenure: shape: the shape is a type and comes first: zeros<float>(shape<2, 3>{})");
  return {};
}

/// A tensor in constant evaluation.
template <class X, class... N>
constexpr X constant_tensor(const constant_block& like, N... n) {
  const std::int64_t given[sizeof...(N) + 1] = {static_cast<std::int64_t>(n)..., 0};
  auto* const made = new constant_block;
  made->describe_as(like);
  return tensor_access::make<X>(storage_handle(made), nullptr, bind_extents(shape_of_t<X>::value, given), {});
}
template <class X, class T, class... N>
constexpr X constant_filled(T value, N... n) {
  constant_block like;
  like.fill_with(value);
  return constant_tensor<X>(like, n...);
}
template <class X, class... N>
constexpr X constant_counted(double first, double step, N... n) {
  constant_block like;
  like.what = constant_block::pattern::counted, like.first = first, like.step = step;
  return constant_tensor<X>(like, n...);
}
/// The first or last number of linspace in T. An integer that becomes an integer is not rounded to a double on the way.
template <class T, class A>
constexpr T end_of_linspace(A x) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<T> && sizeof(A) <= sizeof(T)) return static_cast<T>(x);
  else return number::convert<T>(static_cast<double>(x));
}
constexpr void describe_linspace(constant_block& like, auto first, auto last) {
  like.what = constant_block::pattern::counted, like.has_last = true;
  like.first = static_cast<double>(first), like.last = static_cast<double>(last);
  like.whole = end_of_linspace<std::int64_t>(first), like.whole_last = end_of_linspace<std::int64_t>(last);
}
/// The number of values first, first + step, ... before `last`, or -1 if the step does not lead to `last`.
constexpr std::int64_t counted_steps(double first, double last, double step) {
  const double steps = (last - first) / step;
  if (!(steps >= 0 && steps < 1e15)) return -1;
  const auto n = static_cast<std::int64_t>(steps);
  return n + (static_cast<double>(n) < steps);
}
/// counted_steps() of integers, without rounding. The differences are unsigned, so that they do not overflow.
constexpr std::int64_t counted_steps(std::int64_t first, std::int64_t last, std::int64_t step) {
  if (step == 0 || (step > 0 ? last < first : last > first)) return -1;
  const auto from = static_cast<std::uint64_t>(first), to = static_cast<std::uint64_t>(last), by = static_cast<std::uint64_t>(step);
  const std::uint64_t distance = step > 0 ? to - from : from - to, each = step > 0 ? by : 0 - by;
  const std::uint64_t n = distance / each + (distance % each != 0);
  return n < 1000000000000000 ? static_cast<std::int64_t>(n) : -1;
}
}  // namespace detail

#if defined(__CUDACC__)  // nvcc warns of is_constant_evaluated in each instance with a local tensor, though the call may be constant
#pragma nv_diagnostic push
#pragma nv_diag_suppress 3060
#endif
/// A tensor with unspecified elements.
template <element T = float, any_shape Shape, std::integral... N>
constexpr tensor<T, Shape> empty(Shape, N... n) {
  if (std::is_constant_evaluated()) return detail::constant_filled<tensor<T, Shape>>(T(0), n...);
  return tensor<T, Shape>(uninitialized, n...);
}

/// A tensor whose elements are all `value`, converted to T as by cast<T>. For an integer T the fraction is cut off, a value outside its range becomes
/// its least or largest number, and NaN becomes 0.
template <element T = float, any_shape Shape, scalar U, std::integral... N>
constexpr tensor<T, Shape> full(Shape, U value, N... n) {
  if (std::is_constant_evaluated()) return detail::constant_filled<tensor<T, Shape>>(number::convert<T>(value), n...);
  tensor<T, Shape> made(uninitialized, n...);
  detail::device_memory<cpu_device>::fill(detail::tensor_access::fresh(made), made.strides(), made.extents(), number::convert<T>(value));
  return made;
}
template <element T = float, any_shape Shape, std::integral... N>
constexpr tensor<T, Shape> zeros(Shape s, N... n) { return full<T>(s, T(0), n...); }
template <element T = float, any_shape Shape, std::integral... N>
constexpr tensor<T, Shape> ones(Shape s, N... n) { return full<T>(s, T(1), n...); }

/// A matrix with ones on the diagonal and zeros elsewhere. The shape must have two axes; it need not be square.
template <element T = float, any_shape Shape, std::integral... N>
constexpr tensor<T, Shape> eye(Shape s, N... n) {
  static_assert(Shape::rank == 2, "tenure: eye: the shape does not have two axes");
  if (std::is_constant_evaluated()) {
    detail::constant_block like;
    like.what = detail::constant_block::pattern::diagonal;
    return detail::constant_tensor<tensor<T, Shape>>(like, n...);
  }
  tensor<T, Shape> made = zeros<T>(s, n...);
  const layout d = detail::diagonal(detail::tensor_access::layout_of(made));
  detail::device_memory<cpu_device>::fill(detail::tensor_access::fresh(made), d.strides, d.shape, T(1));
  return made;
}

/// The values 0, 1, 2, ... The shape must have one axis.
template <element T = float, any_shape Shape, std::integral... N>
constexpr tensor<T, Shape> arange(Shape, N... n) {
  static_assert(Shape::rank == 1, "tenure: arange: the shape does not have one axis");
  if (std::is_constant_evaluated()) return detail::constant_counted<tensor<T, Shape>>(0, 1, n...);
  tensor<T, Shape> made(uninitialized, n...);
  T* const to = detail::tensor_access::fresh(made);
  for (std::int64_t i = 0; i < made.size(); ++i) to[i] = static_cast<T>(i);
  return made;
}
/// The values first, first + step, ... up to `last`, which is not included. Throws shape_error if the step is 0, NaN or leads away from `last`. The
/// value i is first + i * step, computed in double, or in std::int64_t if both are integers, and then converted to T. A trace uses the same formula;
/// a double may differ there by one rounding, because the compiler may fuse the product and the sum.
template <element T = float, scalar A, scalar B, scalar C = int>
constexpr tensor<T, shape<dyn>> arange(A first, B last, C step = 1) {
  using between = std::conditional_t<std::is_integral_v<A> && std::is_integral_v<C>, std::int64_t, double>;
  using counted_in = std::conditional_t<std::is_integral_v<B>, between, double>;
  const std::int64_t n = detail::counted_steps(static_cast<counted_in>(first), static_cast<counted_in>(last), static_cast<counted_in>(step));
  if (n < 0) TENURE_THROW(shape_error("tenure: arange: the step does not lead from the first value to the last"));
  if (std::is_constant_evaluated()) {
    auto made = detail::constant_counted<tensor<T, shape<dyn>>>(static_cast<double>(first), static_cast<double>(step), n);
    if constexpr (std::is_integral_v<between>)
      if (!number::is_exact_in_double(static_cast<std::int64_t>(first)) || !number::is_exact_in_double(static_cast<std::int64_t>(last)) ||
          !number::is_exact_in_double(static_cast<std::int64_t>(step))) {
        auto* const block = static_cast<detail::constant_block*>(detail::tensor_access::storage(made).get());
        block->whole = static_cast<std::int64_t>(first), block->whole_step = static_cast<std::int64_t>(step);
      }
    return made;
  }
  tensor<T, shape<dyn>> made(uninitialized, n);
  T* const to = detail::tensor_access::fresh(made);
  for (std::int64_t i = 0; i < n; ++i) {
    // Unsigned, because i * step may overflow although first + i * step does not.
    using counter = std::conditional_t<std::is_integral_v<between>, std::uint64_t, double>;
    const counter at = static_cast<counter>(static_cast<between>(first)) + static_cast<counter>(i) * static_cast<counter>(static_cast<between>(step));
    to[i] = number::convert<T>(static_cast<between>(at));
  }
  return made;
}
/// The values 0, 1, ..., n - 1.
template <element T = float, std::integral N>
constexpr tensor<T, shape<dyn>> arange(N n) { return arange<T>(shape<dyn>{}, n); }

/// Evenly spaced values from `first` to `last`, both included. The shape must have one axis; with one element the value is `first`. `first` and
/// `last` are exact in T; the values between them are computed in double and converted to T.
template <element T = float, any_shape Shape, scalar A, scalar B, std::integral... N>
constexpr tensor<T, Shape> linspace(Shape, A first, B last, N... n) {
  static_assert(Shape::rank == 1, "tenure: linspace: the shape does not have one axis");
  if (std::is_constant_evaluated()) {
    detail::constant_block like;
    detail::describe_linspace(like, first, last);
    return detail::constant_tensor<tensor<T, Shape>>(like, n...);
  }
  tensor<T, Shape> made(uninitialized, n...);
  T* const to = detail::tensor_access::fresh(made);
  const std::int64_t steps = made.size() - 1;
  const auto a = static_cast<double>(first);
  const auto b = static_cast<double>(last);
  const double scale = number::scale_of_difference(a, b), from = a * scale;
  const double step = steps > 0 ? (b * scale - from) / static_cast<double>(steps) : 0;
  for (std::int64_t i = 1; i < steps; ++i) to[i] = number::convert<T>((from + static_cast<double>(i) * step) * (1 / scale));
  if (steps > 0) to[steps] = detail::end_of_linspace<T>(last);
  if (steps >= 0) to[0] = detail::end_of_linspace<T>(first);
  return made;
}
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif

// Overloads for wrong calls: numbers in place of a shape, or a T that is not an element type. They give the message.
template <class T = float, class... N>
  requires(detail::makes_none<T, N...>)
auto empty(const N&...) { return detail::refused_factory<T, N...>(); }
template <class T = float, class... N>
  requires(detail::makes_none<T, N...>)
auto full(const N&...) { return detail::refused_factory<T, N...>(); }
template <class T = float, class... N>
  requires(detail::makes_none<T, N...>)
auto zeros(const N&...) { return detail::refused_factory<T, N...>(); }
template <class T = float, class... N>
  requires(detail::makes_none<T, N...>)
auto ones(const N&...) { return detail::refused_factory<T, N...>(); }
template <class T = float, class... N>
  requires(detail::makes_none<T, N...>)
auto eye(const N&...) { return detail::refused_factory<T, N...>(); }
template <class T = float, class... N>
  requires(detail::makes_none<T, N...>)
auto linspace(const N&...) { return detail::refused_factory<T, N...>(); }

namespace detail {
template <class T, class X>
using like_t = tensor<T, shape_of_t<X>, ownership::owning, role::constant, access::read_write, device_of_t<X>>;
}  // namespace detail

/// Owning constants with the shape, extents and device of x. The element type is that of x unless T is given. The result does not
/// require a gradient, even if x does. full_like converts `value` as full does.
template <class T = void, any_tensor X>
auto empty_like(const X& x) {
  return detail::tensor_access::allocate<detail::like_t<std::conditional_t<std::is_void_v<T>, element_t<X>, T>, X>>(
      x.extents());
}
template <class T = void, any_tensor X, scalar U>
auto full_like(const X& x, U value) {
  auto made = empty_like<T>(x);
  using made_element = element_t<decltype(made)>;
  detail::device_memory<device_of_t<X>>::fill(detail::tensor_access::fresh(made), made.strides(), made.extents(), number::convert<made_element>(value));
  return made;
}
template <class T = void, any_tensor X>
auto zeros_like(const X& x) { return full_like<T>(x, 0); }
template <class T = void, any_tensor X>
auto ones_like(const X& x) { return full_like<T>(x, 1); }
/// Identity matrices: ones on the diagonals of the last two axes, for each index of the batch, and zeros elsewhere. They need not be square.
template <class T = void, any_tensor X>
auto eye_like(const X& x) {
  constexpr bool is_matrix = shape_of_t<X>::rank >= 2;
  static_assert(is_matrix, "tenure: eye_like: the operand has less than two axes");
  auto made = zeros_like<T>(x);
  using made_element = element_t<decltype(made)>;
  if constexpr (is_matrix) {
    const layout d = detail::diagonal(detail::tensor_access::layout_of(made));
    detail::device_memory<device_of_t<X>>::fill(detail::tensor_access::fresh(made), d.strides, d.shape, made_element(1));
  }
  return made;
}

}  // namespace tenure
