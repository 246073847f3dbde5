// SPDX-License-Identifier: BSL-1.0
// Shares memory with Eigen. as_eigen(x) makes an Eigen::Map over a constant with at most two axes. from(m) makes a tensor over a
// matrix, map or block and keeps its strides (Eigen's matrices are column-major by default). Law: the result is writable exactly
// if the argument is. Making a writable map raises the version, and throws ownership_error while a graph has saved the storage. A
// temporary matrix is moved into the tensor. Cost: no copy. The map of an owning tensor is contiguous and aligned; other maps
// have run-time strides.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <type_traits>
#include <utility>

#include <tenure/math/eigen_core.hpp>
#include <tenure/tensor/from.hpp>

namespace TENURE_NAMESPACE {
namespace detail {

template <class>
struct eigen_interop {};

constexpr Eigen::Index eigen_extent(std::int64_t e) { return is_static(e) ? static_cast<Eigen::Index>(e) : Eigen::Dynamic; }

/// The Eigen matrix type for a map of X. One axis becomes a column. Eigen does not allow row-major columns or column-major rows.
template <class X>
struct eigen_layout {
  static constexpr extents shape = shape_of_t<X>::value;
  static constexpr int rank = shape_of_t<X>::rank;
  static constexpr Eigen::Index rows = rank >= 1 ? eigen_extent(shape.extent[0]) : 1, columns = rank >= 2 ? eigen_extent(shape.extent[1]) : 1;
  static constexpr bool is_column_major = columns == 1 && rows != 1;
  using matrix = Eigen::Matrix<element_t<X>, static_cast<int>(rows), static_cast<int>(columns), is_column_major ? Eigen::ColMajor : Eigen::RowMajor>;
  static constexpr bool is_read_only = std::is_const_v<X> || access_of_v<X> == access::read_only;
  using pointee = std::conditional_t<is_read_only, const matrix, matrix>;
  using strided = Eigen::Map<pointee, Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;
  using contiguous = Eigen::Map<pointee, Eigen::AlignedMax>;
  static constexpr bool is_contiguous = ownership_of_v<X> == ownership::owning;
  using map = std::conditional_t<is_contiguous, contiguous, strided>;
};

/// True if X can be mapped. Otherwise a static_assert says why not.
template <class X>
constexpr bool is_mappable() {
  static_assert(!requires_grad_v<X>, "tenure: as_eigen: the tensor is tracked: detach() it first");
  static_assert(is_on_host_v<X>, "tenure: as_eigen: the elements lie in the memory of a device: call to(tn::cpu) first");
  static_assert(shape_of_t<X>::rank <= 2, "tenure: as_eigen: Eigen's matrices have at most two axes: take a view of the tensor");
  return !requires_grad_v<X> && is_on_host_v<X> && shape_of_t<X>::rank <= 2;
}

template <class M>
concept eigen_expression = requires(const std::remove_cvref_t<M>& m) { []<class D>(const Eigen::EigenBase<D>&) {}(m); };
template <class M>
concept eigen_memory = eigen_expression<M> && (Eigen::internal::traits<std::remove_cvref_t<M>>::Flags & Eigen::DirectAccessBit) != 0;
template <class M>
concept eigen_matrix = requires(const M& m) { []<class D>(const Eigen::PlainObjectBase<D>&) {}(m); };

template <class M>
inline constexpr bool is_eigen_map = false;
template <class M, int Options, class Stride>
inline constexpr bool is_eigen_map<Eigen::Map<M, Options, Stride>> = true;

constexpr std::int64_t tenure_extent(int e) { return e == Eigen::Dynamic ? dyn : e; }

/// The shape of a tensor over an Eigen object M. A vector has one axis.
template <class M>
struct eigen_shape {
  static constexpr bool is_vector = M::IsVectorAtCompileTime;
  using vector = shape<tenure_extent(M::SizeAtCompileTime)>;
  using matrix = shape<tenure_extent(M::RowsAtCompileTime), tenure_extent(M::ColsAtCompileTime)>;
  using type = std::conditional_t<is_vector, vector, matrix>;

  static extents extents_of(const M& m) {
    if constexpr (is_vector) return {1, {m.size()}};
    else return {2, {m.rows(), m.cols()}};
  }
  static extents strides_of(const M& m) {
    if constexpr (is_vector) return {1, {m.innerStride()}};
    else if constexpr (M::IsRowMajor) return {2, {m.outerStride(), m.innerStride()}};
    else return {2, {m.innerStride(), m.outerStride()}};
  }
};

template <class M>
auto borrow_eigen(M& m) {
  using as = eigen_shape<std::remove_const_t<M>>;
  return borrow<typename as::type>(m.data(), as::extents_of(m), as::strides_of(m));
}

}  // namespace detail

/// Returns an Eigen::Map over the elements of x: a matrix with the same rows and columns; a tensor with one axis gives a column.
/// It is read-only if x is const or read-only. The map is valid as long as the memory of x. Throws ownership_error if x is empty,
/// and, for a writable map, while a graph has saved the storage.
template <any_tensor X>
auto as_eigen(X& x TENURE_LIFETIMEBOUND) {
  using mapped = detail::eigen_layout<X>;
  if constexpr (detail::is_mappable<X>()) {
    const extents s = x.extents(), strides = x.strides();
    const auto at = [](const extents& e, int axis) { return static_cast<Eigen::Index>(axis < mapped::rank ? e.extent[axis] : 1); };
    auto* const first = detail::tensor_access::hand_out(x, "as_eigen");
    if constexpr (mapped::is_contiguous) {
      return typename mapped::map(first, at(s, 0), at(s, 1));
    } else {
      constexpr int inner = mapped::is_column_major ? 0 : 1;
      return typename mapped::map(first, at(s, 0), at(s, 1), {at(strides, 1 - inner), at(strides, inner)});
    }
  } else {
    return Eigen::Map<Eigen::Matrix<element_t<X>, 1, 1>>(nullptr);  // a valid return type avoids errors after the message
  }
}
template <any_tensor X>
  requires(!std::is_lvalue_reference_v<X>)
auto as_eigen(X&&) {
  static_assert(detail::never<X>, "tenure: as_eigen: the tensor is a temporary and its memory is freed with it: give it a name");
  return Eigen::Map<Eigen::Matrix<element_t<X>, 1, 1>>(nullptr);
}
template <expression E>
auto as_eigen(const E&) {
  static_assert(detail::never<E>, "tenure: as_eigen: an expression has no memory: evaluate it first");
  return Eigen::Map<Eigen::Matrix<element_t<E>, 1, 1>>(nullptr);
}

/// Makes a tensor over the memory of an Eigen matrix, map or block. It has two axes, or one if the Eigen type is a vector. Static
/// sizes become static extents. A const argument gives a read-only tensor. The matrix must outlive the tensor and must not be
/// resized during that time. Throws ownership_error if the memory is not aligned to its elements, a stride is negative, or
/// writable elements overlap.
template <class M>
  requires detail::eigen_memory<M>
auto from(M& m TENURE_LIFETIMEBOUND) {
  return detail::borrow_eigen(m);
}
/// The same for a temporary. A matrix is moved into the tensor; a const matrix, which eval() returns, is copied. A map refers to
/// memory that must outlive the tensor.
template <class M>
  requires(detail::eigen_memory<M> && !std::is_lvalue_reference_v<M>)
auto from(M&& m) {
  constexpr bool owns = detail::eigen_matrix<M>;
  static_assert(owns || detail::is_eigen_map<std::remove_const_t<M>>, "tenure: from: the Eigen expression is a temporary: give it a name");
  if constexpr (owns && std::is_const_v<M>) {
    return from(std::remove_const_t<M>(m));
  } else if constexpr (owns) {
    using as = detail::eigen_shape<M>;
    const extents s = as::extents_of(m), strides = as::strides_of(m);
    return detail::take_over<typename as::type, typename M::Scalar>(std::move(m), s, strides, [](auto& kept) { return kept.data(); });
  } else {
    return detail::borrow_eigen(m);
  }
}
template <class M>
  requires(detail::eigen_expression<M> && !detail::eigen_memory<M>)
auto from(M&&) {
  static_assert(detail::never<M>, "tenure: from: the Eigen expression has no memory: evaluate it first");
  return detail::borrow<shape<>>(static_cast<float*>(nullptr), {});
}

}  // namespace tenure

#include <tenure/core/letters/restore.hpp>
