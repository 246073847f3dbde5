// SPDX-License-Identifier: BSL-1.0
// Weights of int8 with a scale for each row, or for each group of neighbours: quantize, dequantize, and quantized_linear, which multiplies bytes by bytes.
// Law: dequantize(quantize(x)) differs from x by at most half a step, which is the largest magnitude of a row, or of a group, divided by 127.
// Cost: quantized_linear reads a byte for each weight, and its products are as fast as memory (backend/cpu/byte_products.hpp). linear(x, dequantize(w, scale))
// keeps x as it is, and is limited by the conversion of bytes to floats.
#pragma once

#include <tenure/ops/contraction.hpp>
#include <tenure/ops/movement.hpp>
#include <tenure/ops/reduction.hpp>
#include <tenure/transform/custom.hpp>
#include <tenure/transform/in_memory.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

template <class T>
using lane_of = number::lane_t<T>;

/// The last two axes, of groups of neighbours, as one.
template <class S>
struct shape_without_groups {
  static constexpr extents value = [] {
    extents e;
    for (int i = 0; i + 1 < S::rank; ++i) e.push_back(i + 2 == S::rank ? S::value[i] * S::value[i + 1] : S::value[i]);
    return e;
  }();
};
/// The last axis in groups of neighbours: [..., k] becomes [..., k / Group, Group].
template <std::int64_t Group, class X>
constexpr auto in_groups(const X& x) {
  using S = typename X::shape_type;
  return ops::split_axis<S, S::rank - 1, S::value[S::rank - 1] / Group>::trace(x);
}
template <class X>
constexpr auto without_groups(const X& x) {
  using S = typename X::shape_type;
  const extents from = x.shape();
  extents to;
  for (int i = 0; i + 1 < S::rank; ++i) to.push_back(i + 2 == S::rank ? S::value[i] * S::value[i + 1] : from[i]);
  return traced<typename X::element_type, shape_from<shape_without_groups<S>>>{x.graph, ops::reshape_to(x, to).id};
}

/// Group: the neighbours that share a scale; 0: a row.
template <std::int64_t Group>
struct quantize_call {
  template <class X>
  constexpr auto operator()(const X& x) const {
    const auto numbers = ops::cast<lane_of<typename X::element_type>>::trace(x);
    if constexpr (Group == 0) {
      return rounded(numbers);
    } else {
      const auto [bytes, scale] = rounded(in_groups<Group>(numbers));
      return std::tuple{without_groups(bytes), scale};
    }
  }

 private:
  template <class X>
  static constexpr auto rounded(const X& x) {
    const auto scale = amax(abs(x), axis<-1>, keepdim) / 127.0;
    return std::tuple{tenure::cast<std::int8_t>(round(x / scale)), squeeze<-1>(scale)};
  }
};

struct dequantize_call {
  template <class W, class S>
  constexpr auto operator()(const W& numbers, const S& scale) const {
    constexpr int rank = W::shape_type::rank;
    const auto wide = ops::cast<typename S::element_type>::trace(numbers);
    if constexpr (S::shape_type::rank < rank) return wide * unsqueeze<-1>(scale);
    else return without_groups(in_groups<W::shape_type::value[rank - 1] / S::shape_type::value[rank - 1]>(wide) * unsqueeze<-1>(scale));
  }
};

/// x w^T by products of bytes: the rows of x are quantized as they come.
struct product_of_quantized {
  template <class X, class W, class S>
  constexpr auto operator()(const X& x, const W& w, const S& scale) const {
    const auto [bytes, scale_of_x] = quantize_call<0>{}(x);
    const auto sums = matmul(tenure::cast<std::int32_t>(bytes), transpose(tenure::cast<std::int32_t>(w)));
    using lane = lane_of<typename X::element_type>;
    return ops::cast<typename X::element_type>::trace(ops::cast<lane>::trace(sums) * unsqueeze<-1>(scale_of_x) * ops::cast<lane>::trace(scale));
  }
};
/// The derivatives are those of the product that was rounded.
struct rule_of_quantized {
  template <class X, class W, class S>
  constexpr auto operator()(const X& x, const W& w, const S& scale, const X& dx, const W&, const S& dscale) const {
    using lane = lane_of<typename X::element_type>;
    const auto times = [&](const auto& rows, const auto& of_w) {
      return matmul(ops::cast<lane>::trace(rows), transpose(ops::cast<lane>::trace(dequantize_call{}(w, of_w))));
    };
    return std::tuple{product_of_quantized{}(x, w, scale), ops::cast<typename X::element_type>::trace(times(dx, scale) + times(x, dscale))};
  }
};
struct quantized_linear_call {
  template <class X, class W, class S>
  constexpr auto operator()(const X& x, const W& w, const S& scale) const {
    return custom_jvp_of<product_of_quantized, rule_of_quantized>{}(x, w, scale);
  }
};

template <class X>
constexpr bool has_rows_of_floats() {
  constexpr bool has_rows = [] {
    if constexpr (operand<X>) return shape_of_t<X>::rank > 0;
    else return false;
  }();
  static_assert(has_rows, "tenure: quantize: x has no axis: a row lies along the last axis");
  if constexpr (has_rows) {
    static_assert(number::is_floating<element_t<X>>, "tenure: quantize: x is not of a floating-point type");
    return number::is_floating<element_t<X>>;
  } else {
    return false;
  }
}
template <class X, std::int64_t Group>
constexpr bool divides_into_groups() {
  if constexpr (Group != 0) {
    constexpr std::int64_t last = shape_of_t<X>::value[shape_of_t<X>::rank - 1];
    constexpr bool divides = Group > 0 && is_static(last) && last % Group == 0;
    static_assert(divides, "tenure: quantize<Group>(x): the last extent of x is not a multiple of Group that is known when the program compiles");
    return divides;
  } else {
    return true;
  }
}
template <class W, class S>
constexpr bool is_scale_of() {
  if constexpr (operand<W> && operand<S>) {
    using of_w = shape_of_t<W>;
    using of_s = shape_of_t<S>;
    if constexpr (!number::is_floating<element_t<S>> || of_w::rank == 0 || of_s::rank > of_w::rank || of_s::rank + 1 < of_w::rank) {
      return false;
    } else {
      for (int i = 0; i + 1 < of_w::rank; ++i)
        if (is_static(of_w::value[i]) && is_static(of_s::value[i]) && of_w::value[i] != of_s::value[i]) return false;
      if constexpr (of_s::rank < of_w::rank) {
        return true;
      } else {
        constexpr std::int64_t last = of_w::value[of_w::rank - 1], groups = of_s::value[of_w::rank - 1];
        return is_static(last) && is_static(groups) && groups > 0 && last % groups == 0;
      }
    }
  } else {
    return false;
  }
}
template <class W>
constexpr bool are_bytes() {
  if constexpr (operand<W>) return std::is_same_v<element_t<W>, std::int8_t>;
  else return false;
}
template <class W, class S>
constexpr bool are_quantized() {
  static_assert(are_bytes<W>(), "tenure: dequantize, quantized_linear: the numbers are not int8: auto [numbers, scale] = tn::quantize(w)");
  static_assert(!are_bytes<W>() || is_scale_of<W, S>(), "tenure: dequantize, quantized_linear: the scale is not one number for each row of the numbers, nor for each group of it");
  return are_bytes<W>() && is_scale_of<W, S>();
}
template <class X, class W, class S>
constexpr bool are_factors() {
  if constexpr (!are_quantized<W, S>()) {
    return false;
  } else {
    constexpr bool is_matrix = shape_of_t<W>::rank == 2 && shape_of_t<S>::rank == 1;
    static_assert(is_matrix, "tenure: quantized_linear: it takes numbers [out, in] and a scale [out]: with a scale for each group write linear(x, dequantize(numbers, scale))");
    constexpr bool are_rows = [] {
      if constexpr (operand<X>) return shape_of_t<X>::rank > 0 && number::is_floating<element_t<X>>;
      else return false;
    }();
    static_assert(are_rows, "tenure: quantized_linear: x has no rows of floating-point numbers");
    if constexpr (is_matrix && are_rows) {
      constexpr std::int64_t in = shape_of_t<W>::value[1], last = shape_of_t<X>::value[shape_of_t<X>::rank - 1];
      constexpr bool fits = !is_static(in) || !is_static(last) || in == last;
      static_assert(fits, "tenure: quantized_linear: the last extent of x is not the last extent of the numbers, which are [out, in]");
      return fits;
    }
    return false;
  }
}

}  // namespace detail

/// The rows of x along the last axis as int8, and a scale for each: std::tuple{numbers, scale}, where x is close to numbers * unsqueeze<-1>(scale). The number of
/// the largest magnitude of a row is 127 or -127, and its scale is that magnitude / 127. With Group, the last extent of x is a multiple of it, and each Group
/// neighbours share a scale: x [..., k] gives a scale [..., k / Group]. The scale is float32, or float64 if x is.
/// Cost: two passes over x. A row of zeros has the scale 0. A row with NaN or an infinity has such a scale, and what is computed with it is not finite.
/// The numbers have no derivative: a derivative by x sees the scale only.
/// Source: PyTorch's per-channel symmetric quantization; with Group = 32, ggml's Q8_0.
template <std::int64_t Group = 0, class X>
constexpr auto quantize(const X& x) {
  if constexpr (!detail::has_rows_of_floats<X>()) return std::tuple{after_error(), after_error()};
  else if constexpr (!detail::divides_into_groups<X, Group>()) return std::tuple{after_error(), after_error()};
  else return detail::call_by_trace<detail::quantize_call<Group>>(x);
}

/// The numbers times their scale, of the element type of the scale: what quantize() rounded. numbers: int8 [..., k]. scale: a number for each row [...], or for
/// each group [..., k / Group]. In a product of a compiled function no matrix of floats is written, if the scale is one for each row.
template <class W, class S>
constexpr auto dequantize(const W& numbers, const S& scale) {
  if constexpr (!detail::are_quantized<W, S>()) return after_error();
  else return detail::call_by_trace<detail::dequantize_call>(numbers, scale);
}

/// linear(x, dequantize(numbers, scale)) by products of bytes: the rows of x are quantized too, and the sums are exact in int32, for up to 130,000 inputs. x
/// [..., in], numbers int8 [out, in], scale [out]; the result [..., out] has the element type of x. It differs from the exact product by the rounding of x, which
/// is at most 1 / 254 of the largest magnitude of its row.
/// Derivatives by x and by the scale are those of linear(x, dequantize(numbers, scale)): the rounding counts as the identity.
template <class X, class W, class S>
constexpr auto quantized_linear(const X& x, const W& numbers, const S& scale) {
  if constexpr (!detail::are_factors<X, W, S>()) return after_error();
  else return detail::call_by_trace<detail::quantized_linear_call>(x, numbers, scale);
}

}  // namespace tenure
