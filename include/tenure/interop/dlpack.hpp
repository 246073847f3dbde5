// SPDX-License-Identifier: BSL-1.0
// DLPack, the exchange of tensors between libraries (https://dmlc.github.io/dlpack): to_dlpack(x) lends a constant's memory,
// from_dlpack<T, Shape>(m) borrows another library's. Law: the memory lives until the last side lets go, a deleter runs
// once; what is read-only stays so, by its flag there and by its type here. Only the host's memory; no copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include <tenure/tensor/from.hpp>

namespace TENURE_NAMESPACE {
namespace dlpack {

// DLPack 1.0 as its ABI has it, under our names: pointers to these are pointers to DLTensor, DLManagedTensor and
// DLManagedTensorVersioned.

enum class type_code : std::uint8_t { integer = 0, unsigned_integer = 1, floating = 2, boolean = 6 };

struct data_type {
  type_code code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct device {
  std::int32_t type;  ///< 1 is the host
  std::int32_t id;
};
struct tensor_view {
  void* data;
  dlpack::device device;
  std::int32_t rank;
  data_type type;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: row-major
  std::uint64_t byte_offset;
};

/// DLManagedTensor, from before version 1: it cannot say that it is read-only.
struct unversioned_tensor {
  tensor_view view;
  void* context;
  void (*deleter)(unversioned_tensor*);
};
/// DLManagedTensorVersioned.
struct managed_tensor {
  std::uint32_t major_version, minor_version;
  void* context;
  void (*deleter)(managed_tensor*);
  std::uint64_t flags;
  tensor_view view;

  static constexpr std::uint64_t read_only = 1;
};
static_assert(sizeof(void*) != 8 || (sizeof(tensor_view) == 48 && sizeof(unversioned_tensor) == 64 && sizeof(managed_tensor) == 80));

template <class M>
concept managed = std::is_same_v<M, managed_tensor> || std::is_same_v<M, unversioned_tensor>;

struct let_go {
  template <managed M>
  void operator()(M* m) const noexcept {
    if (m->deleter != nullptr) m->deleter(m);
  }
};
/// What owns a managed tensor on its way; release() gives the pointer that a Python capsule or another library takes.
template <managed M>
using handle = std::unique_ptr<M, let_go>;

template <element T>
inline constexpr data_type type_of{std::is_same_v<T, bool> ? type_code::boolean : is_floating(dtype_v<T>) ? type_code::floating : type_code::integer,
                                   static_cast<std::uint8_t>(8 * sizeof(T)), 1};

}  // namespace dlpack

namespace detail {

/// What an export points to: DLPack's struct, the extents that it points to, and a hold on the memory.
template <class M>
struct dlpack_export : M {
  std::int64_t shape[max_rank], strides[max_rank];
  storage_handle storage;
};

/// The extents of a managed tensor; throws where a tensor of T and Shape cannot stand over it.
template <class T, class Shape>
extents dlpack_extents(const dlpack::tensor_view& v) {
  const dlpack::data_type wanted = dlpack::type_of<std::remove_const_t<T>>;
  if (v.device.type != 1) throw ownership_error("tenure: from_dlpack: the memory is not the host's (DLPack's device " + std::to_string(v.device.type) + ")");
  if (v.type.code != wanted.code || v.type.bits != wanted.bits || v.type.lanes != 1)
    throw shape_error("tenure: from_dlpack: the elements are not " + std::string(name_of(dtype_v<std::remove_const_t<T>>)) + " (DLPack's type " +
                      std::to_string(static_cast<int>(v.type.code)) + ", " + std::to_string(v.type.bits) + " bits, " + std::to_string(v.type.lanes) + " lanes)");
  if (v.rank != Shape::rank) throw shape_error("tenure: from_dlpack: " + std::to_string(v.rank) + " axes for a tensor of " + std::to_string(Shape::rank));
  extents s;
  for (int i = 0; i < v.rank; ++i) s.push_back(v.shape[i]);
  if (!fits(Shape::value, s)) throw_shape_mismatch("from_dlpack", Shape::value, s);
  return s;
}

template <class M>
struct dlpack_deleter {
  M* managed;
  void operator()() const noexcept { dlpack::let_go{}(managed); }
};

}  // namespace detail

/// Lends the memory of a constant: read-only where x is, else writable, which raises the version and throws ownership_error
/// while a graph has saved the storage. to_dlpack<dlpack::unversioned_tensor>(x) is for consumers from before DLPack 1.
template <dlpack::managed M = dlpack::managed_tensor, any_tensor X>
dlpack::handle<M> to_dlpack(X& x) {
  static_assert(!requires_grad_v<X>, "tenure: to_dlpack: the tensor is tracked: detach() it first");
  static_assert(is_on_host_v<X>, "tenure: to_dlpack: the elements lie in the memory of a device: call to(tn::cpu) first");
  constexpr bool is_read_only = std::is_const_v<X> || access_of_v<X> == access::read_only;
  constexpr bool has_flag = std::is_same_v<M, dlpack::managed_tensor>;
  static_assert(has_flag || !is_read_only, "tenure: to_dlpack: the unversioned struct cannot say that the tensor is read-only");
  using door = detail::tensor_access;
  using made = detail::dlpack_export<M>;
  door::check_alive(x, "to_dlpack");
  auto* const e = ::new (pool::take(sizeof(made))) made{};
  e->context = e;
  e->deleter = [](M* m) {
    auto* const self = static_cast<made*>(m->context);
    self->~made();
    pool::give(self, sizeof(made));
  };
  dlpack::handle<M> kept(e);
  if constexpr (!is_read_only) door::export_writable(x, "to_dlpack");
  e->storage = door::storage(x);
  const extents s = x.extents(), strides = x.strides();
  for (int i = 0; i < s.rank; ++i) e->shape[i] = s[i], e->strides[i] = strides[i];
  e->view = {door::fresh(x), {1, 0}, s.rank, dlpack::type_of<element_t<X>>, e->shape, e->strides, 0};
  if constexpr (has_flag) {
    e->major_version = 1;
    e->flags = is_read_only ? M::read_only : 0;
  }
  return kept;
}
template <dlpack::managed M = dlpack::managed_tensor, any_tensor X>
  requires(!std::is_lvalue_reference_v<X>)
dlpack::handle<M> to_dlpack(X&&) {
  static_assert(detail::never<X>, "tenure: to_dlpack: the tensor is a temporary: give it a name");
  return {};
}

template <dlpack::managed M = dlpack::managed_tensor, expression E>
dlpack::handle<M> to_dlpack(const E&) {
  static_assert(detail::never<E>, "tenure: to_dlpack: an expression has no memory: evaluate it first");
  return {};
}

/// A tensor over another library's memory, which is let go of with the last tensor over it: from_dlpack<float, shape<dyn, 3>>(m),
/// and from_dlpack<const float, ...> for a read-only one, as which alone what is flagged read-only can be borrowed. m is a handle or
/// the bare pointer. Throws shape_error, ownership_error, std::bad_alloc, and m is then still the caller's.
template <class T, any_shape Shape, dlpack::managed M>
auto from_dlpack(M* m) {
  if constexpr (!detail::is_borrowable<T>()) {
    return detail::borrow<Shape>(static_cast<float*>(nullptr), extents{});  // something to go on with
  } else {
    if constexpr (std::is_same_v<M, dlpack::managed_tensor>) {
      if (m->major_version != 1) throw ownership_error("tenure: from_dlpack: DLPack " + std::to_string(m->major_version) + " is not known, 1 is");
      if (!std::is_const_v<T> && (m->flags & M::read_only) != 0)
        throw ownership_error("tenure: from_dlpack: the memory is read-only: borrow it as from_dlpack<const T, Shape>");
    }
    const dlpack::tensor_view& v = m->view;
    const extents s = detail::dlpack_extents<T, Shape>(v);
    extents strides = row_major(s);
    if (v.strides != nullptr)
      for (int i = 0; i < s.rank; ++i) strides[i] = v.strides[i];
    auto* const first = reinterpret_cast<T*>(static_cast<std::byte*>(v.data) + v.byte_offset);
    return detail::borrow<Shape>(first, s, strides, [m](void* data, std::size_t bytes) { return detail::borrow_storage(data, bytes, detail::dlpack_deleter<M>{m}); });
  }
}
template <class T, any_shape Shape, dlpack::managed M>
auto from_dlpack(dlpack::handle<M>&& m) {
  auto made = from_dlpack<T, Shape>(m.get());
  static_cast<void>(m.release());
  return made;
}

}  // namespace tenure
