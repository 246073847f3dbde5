// SPDX-License-Identifier: BSL-1.0
// tensor_access: the only class through which kernels, histories and other layers read the private members of a tensor.
// Law: code that writes elements calls write(), which raises the version. make() raises no version.
#pragma once

#include <type_traits>
#include <utility>

#include "concepts.hpp"
#include "extents.hpp"
#include "gradient.hpp"
#include "layout.hpp"
#include "memory.hpp"

namespace TENURE_NAMESPACE::detail {

// The handle to the gradient accumulator of a tensor. A constant has no handle, which also saves compile time: the destructor of a handle
// instantiates the virtual functions of every history.
template <role R>
struct stored_accumulator {
  stored_accumulator() = default;
  stored_accumulator(accumulator_handle h) : handle(std::move(h)) {}
  accumulator_handle handle;
};
template <>
struct stored_accumulator<role::constant> {
  constexpr stored_accumulator() = default;
  constexpr stored_accumulator(const accumulator_handle&) {}
};

struct tensor_access {
  /// Throws ownership_error if x was moved from, or if an in-place operation through a view consumed it.
  template <class X>
  static void check_alive(const X& x, const char* call) {
    if (!x.storage_) [[unlikely]] throw_empty(call);
    if constexpr (ownership_of_v<X> == ownership::owning && is_node_v<X>)
      if (x.accumulator_.handle->is_superseded) [[unlikely]] throw_consumed(call);
  }

  template <class X>
  static const element_t<X>* read(const X& x, const char* call = "read") {
    check_alive(x, call);
    return address(x);
  }
  /// Raises the version and returns the elements for writing. For a kernel that writes all elements of its target.
  template <class X>
  static element_t<X>* write(const X& x, const char* call = "write") {
    check_alive(x, call);
    x.storage_.bump();
    return address(x);
  }
  /// Returns a pointer for code outside the library, which reads through it.
  template <class X>
  static const element_t<X>* lend(const X& x, const char* call) {
    check_alive(x, call);
    x.storage_.lend();
    return address(x);
  }
  /// Returns a writable pointer for code outside the library and raises the version. Throws ownership_error while a graph has saved
  /// the storage, because the library does not see later writes through the pointer.
  template <class X>
  static element_t<X>* export_writable(const X& x, const char* call) {
    check_alive(x, call);
    if (x.storage_.is_saved())
      TENURE_THROW(ownership_error(message(call) << "a graph has saved this storage: clone() it, or finish backward() first"));
    x.storage_.bump();
    x.storage_.lend();
    x.storage_.mark_exported();
    return address(x);
  }
  /// lend(), or export_writable() if the elements may be written through x.
  template <class X>
  static auto* hand_out(X& x, const char* call) {
    if constexpr (std::is_const_v<X> || access_of_v<X> == access::read_only) return lend(x, call);
    else return export_writable(x, call);
  }
  /// Returns the elements for writing without raising the version. For new memory that no other tensor refers to, and for callers
  /// that raise the version themselves.
  template <class X>
  static element_t<X>* fresh(const X& x) { return address(x); }

  static constexpr const storage_handle& storage(const auto& x) { return x.storage_; }
  template <class X>
  static const accumulator_handle& accumulator(const X& x) {
    static_assert(requires_grad_v<X>);
    return x.accumulator_.handle;
  }
  /// The layout of x. Its offset is 0, the first element of x.
  static layout layout_of(const auto& x) { return {0, x.extents(), x.strides()}; }

  /// Makes a tensor of type X over existing memory. `data` points to the first element, inside `storage`. An owning X ignores the
  /// strides, and a constant X ignores the accumulator.
  template <class X>
  static constexpr X make(storage_handle storage, element_t<X>* data, const extents& shape, const extents& strides,
                stored_accumulator<role_of_v<X>> accumulator = {}) {
    return X(raw{}, std::move(storage), data, shape, strides, std::move(accumulator));
  }

  /// Hands the memory of x over to a tensor of type Y, which has another role. x becomes empty.
  template <class Y, class X>
  static Y hand_over(X& x, stored_accumulator<role_of_v<Y>> accumulator) {
    return make<Y>(std::move(x.storage_), x.data_, x.extents(), x.strides(), std::move(accumulator));
  }

  /// Makes a second handle to an owning node. An in-place operation on one handle consumes both.
  template <class X>
  static X second(const X& x) { return make<X>(x.storage_, x.data_, x.extents(), x.strides(), x.accumulator_.handle); }

  /// Makes an owning X of these extents. The elements are unspecified. A leaf gets a new accumulator. Throws std::bad_alloc.
  template <class X>
  static X allocate(const extents& shape) {
    static_assert(ownership_of_v<X> == ownership::owning && !is_node_v<X>);
    storage_handle memory = device_memory<device_of_t<X>>::allocate(bytes_of<X>(shape));
    auto* const data = static_cast<element_t<X>*>(memory.data());
    stored_accumulator<role_of_v<X>> accumulator;
    if constexpr (is_leaf_v<X>) accumulator = make_leaf_accumulator(dtype_v<element_t<X>>, shape, device_operations_of<device_of_t<X>>());
    return make<X>(std::move(memory), data, shape, shape, std::move(accumulator));
  }

#if defined(__CUDACC__)  // nvcc warns here as it does in factories.hpp
#pragma nv_diagnostic push
#pragma nv_diag_suppress 3060
#endif
  /// allocate(), but in constant evaluation a list of elements takes the place of the memory.
  template <class X>
  static constexpr X for_elements(const extents& shape) {
    if (role_of_v<X> == role::constant && std::is_constant_evaluated()) {
      auto* const made = new constant_block;
      made->list_elements(count(shape));
      return make<X>(storage_handle(made), nullptr, shape, {});
    }
    return allocate<X>(shape);
  }
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif

  /// Moves `other` into x and leaves `other` empty. x drops its old memory. No element is written.
  template <class X>
  static void rebind(X& x, X&& other) noexcept {
    x.data_ = other.data_;
    x.storage_ = std::move(other.storage_);
    x.extents_ = other.extents_;
    x.strides_ = other.strides_;
    x.accumulator_ = std::move(other.accumulator_);
  }

  struct raw {};

 private:
  template <class X>
  static element_t<X>* address(const X& x) {
    if constexpr (!is_on_host_v<X>) x.storage_.note_use();
    return x.data_;
  }
  template <class X>
  static std::size_t bytes_of(const extents& shape) {
    using S = shape_of_t<X>;
    if constexpr (S::is_static && is_countable(S::value)) return static_cast<std::size_t>(S::size) * sizeof(element_t<X>);
    else return checked_bytes(shape, sizeof(element_t<X>));
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void throw_consumed(const char* call) {
    TENURE_THROW(ownership_error(message(call) << "an in-place operation through a view consumed this node: use the result of that operation"));
  }
  [[noreturn, gnu::cold, gnu::noinline]] static void throw_empty(const char* call) {
    TENURE_THROW(ownership_error(message(call) << "the tensor is empty: it was moved from, or made without extents"));
  }
};

// The strides of a tensor. An owning tensor stores none, because it is always row-major.
template <ownership O, int Rank>
struct stored_strides {
  stored_strides() = default;
  explicit stored_strides(const extents& s) {
    for (int i = 0; i < Rank; ++i) kept[i] = s[i];
  }
  extents get(const extents&) const {
    extents s;
    for (int i = 0; i < Rank; ++i) s.push_back(kept[i]);
    return s;
  }
  std::int64_t kept[Rank == 0 ? 1 : Rank] = {};
};
template <int Rank>
struct stored_strides<ownership::owning, Rank> {
  constexpr stored_strides() = default;
  constexpr explicit stored_strides(const extents&) {}
  static constexpr extents get(const extents& shape) { return row_major(shape); }
};

// The copy constructor of a tensor, by its type. An owning tensor has none. A writable alias is copied only from a non-const alias, so that const
// stays read-only. A read-only alias is copied from any alias.
template <ownership O, access A>
struct copy_rule {
  copy_rule() = default;
  copy_rule(copy_rule&) = default;
  copy_rule(copy_rule&&) = default;
};
template <ownership O>
struct copy_rule<O, access::read_only> {};
template <access A>
struct copy_rule<ownership::owning, A> {
  copy_rule() = default;
  copy_rule(const copy_rule&) = delete;  // tenure: an owning tensor is not copied: call clone(), deepcopy() of a model, or capture it by [&]
  copy_rule(copy_rule&&) = default;
};
template <>
struct copy_rule<ownership::owning, access::read_only> : copy_rule<ownership::owning, access::read_write> {};

}  // namespace tenure::detail
