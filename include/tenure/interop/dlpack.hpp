// SPDX-License-Identifier: BSL-1.0
// DLPack exchanges tensors between libraries without a copy (https://dmlc.github.io/dlpack). to_dlpack(x) shares the memory of a
// constant, and from_dlpack<T, Shape>(m) makes a tensor over the memory of another library. Law: the memory lives as long as
// either side uses it, and a deleter runs once. Read-only memory stays read-only: DLPack has a flag for it, and here it is part
// of the type. Only memory of the host is supported.
#pragma once

#include <tenure/core/letters/hide.hpp>

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

// The structs of DLPack 1.3 with our names and the same ABI. A pointer to one of them can be used as a pointer to DLTensor,
// DLManagedTensor, DLManagedTensorVersioned or DLPackExchangeAPI.

enum class type_code : std::uint8_t { integer = 0, unsigned_integer = 1, floating = 2, brain_floating = 4, boolean = 6 };

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
  std::int64_t* strides;  ///< in elements; null means row-major
  std::uint64_t byte_offset;
};

/// DLManagedTensor, the struct of DLPack before version 1. It has no flag for read-only memory.
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
/// Owns a managed tensor until another library takes it. release() returns the pointer for that library or for a Python capsule.
template <managed M>
using handle = std::unique_ptr<M, let_go>;

/// DLPackExchangeAPI of DLPack 1.3: functions of C by which a library, such as PyTorch 2.10, gives and takes its arrays of Python, without a call of Python. The type of an array
/// has it as the attribute `__dlpack_c_exchange_api__`, a capsule of the name exchange_api::capsule. Objects of Python are void* here, and calls need Python's lock.
struct exchange_api {
  std::uint32_t major_version, minor_version;
  const exchange_api* previous;  ///< of an earlier version, or null
  int (*allocate)(tensor_view* prototype, managed_tensor** made, void* context, void (*set_error)(void* context, const char* kind, const char* message));
  int (*from_object)(void* object, managed_tensor** taken);
  int (*to_object)(managed_tensor* given, void** made);
  int (*view_object)(void* object, tensor_view* to);  ///< may be null
  int (*current_stream)(std::int32_t device_type, std::int32_t device_id, void** stream);

  static constexpr const char* capsule = "dlpack_exchange_api";
};
/// The functions of version 1 among those of all versions that a library has, or null.
inline const exchange_api* version_1(const exchange_api* api) {
  while (api != nullptr && api->major_version != 1) api = api->previous;
  return api;
}
/// The memory of an array of Python, of the type that has this api: from_dlpack<float, shape<dyn, 3>>(dlpack::from_object(api, object)). Empty if it cannot be lent: then an
/// exception of Python is set.
inline handle<managed_tensor> from_object(const exchange_api& api, void* object) {
  managed_tensor* taken = nullptr;
  if (api.from_object(object, &taken) != 0) return {};
  return handle<managed_tensor>(taken);
}
/// An array of Python over the memory of a tensor: to_object(api, to_dlpack(x)), a new reference. Null if the library does not take it: then an exception of Python is set.
inline void* to_object(const exchange_api& api, handle<managed_tensor> given) {
  void* made = nullptr;
  return api.to_object(given.release(), &made) == 0 ? made : nullptr;
}

template <element T>
inline constexpr data_type type_of{static_cast<type_code>(tenure::detail::row_of(dtype_v<T>).dlpack), static_cast<std::uint8_t>(8 * sizeof(T)), 1};

}  // namespace dlpack

namespace detail {

/// The object behind an export: DLPack's struct, the extents and strides that it points to, and a handle that keeps the memory
/// alive.
template <class M>
struct dlpack_export : M {
  std::int64_t shape[max_rank], strides[max_rank];
  storage_handle storage;
};

/// The extents of a managed tensor. Throws if a tensor of element type T and this shape cannot use its memory.
template <class T, class Shape>
extents dlpack_extents(const dlpack::tensor_view& v) {
  const dlpack::data_type wanted = dlpack::type_of<std::remove_const_t<T>>;
  if (v.device.type != 1) throw ownership_error("tenure: from_dlpack: the memory is not on the host (DLPack's device " + std::to_string(v.device.type) + ")");
  if (v.type.code != wanted.code || v.type.bits != wanted.bits || v.type.lanes != 1)
    throw shape_error("tenure: from_dlpack: the elements are not " + std::string(name_of(dtype_v<std::remove_const_t<T>>)) + " (DLPack's type " +
                      std::to_string(static_cast<int>(v.type.code)) + ", " + std::to_string(v.type.bits) + " bits, " + std::to_string(v.type.lanes) + " lanes)");
  if (v.rank != Shape::rank) throw shape_error("tenure: from_dlpack: " + std::to_string(v.rank) + " axes, but the shape has " + std::to_string(Shape::rank));
  extents s;
  for (int i = 0; i < v.rank; ++i) s.push_back(v.shape[i]);
  checked_extents("from_dlpack", s);
  if (!fits(Shape::value, s)) throw_shape_mismatch("from_dlpack", Shape::value, s);
  return s;
}

}  // namespace detail

/// Shares the memory of a constant on the host. It is read-only if x is const or read-only. A writable export raises the version
/// when it is made, and throws ownership_error while a graph has saved the storage. to_dlpack<dlpack::unversioned_tensor>(x)
/// makes the struct of DLPack before version 1. The result keeps the memory alive. Throws ownership_error if x is empty, and
/// std::bad_alloc.
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
  auto* const e = ::new (memory_pool::take(sizeof(made))) made{};
  e->context = e;
  e->deleter = [](M* m) {
    auto* const self = static_cast<made*>(m->context);
    self->~made();
    memory_pool::give(self, sizeof(made));
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

/// Makes a tensor over the memory of another library: from_dlpack<float, shape<dyn, 3>>(m). The deleter of m is called after the
/// last tensor over the memory is destroyed. from_dlpack<const float, ...> makes a read-only tensor, and memory with the
/// read-only flag needs that form. m is a handle or a plain pointer. Throws shape_error if rank, extents or element type differ
/// or no memory has such extents, ownership_error if the memory cannot be used (not on the host, not aligned, read-only, overlapping
/// elements, strides or byte_offset beyond any memory), and std::bad_alloc. If it throws, the caller still owns m.
template <class T, any_shape Shape, dlpack::managed M>
auto from_dlpack(M* m) {
  if constexpr (!detail::is_borrowable<T>()) {
    return detail::borrow<Shape>(static_cast<float*>(nullptr), extents{});  // a valid return type avoids errors after the message
  } else {
    if constexpr (std::is_same_v<M, dlpack::managed_tensor>) {
      if (m->major_version != 1) throw ownership_error("tenure: from_dlpack: DLPack " + std::to_string(m->major_version) + " is not supported, only version 1");
      if (!std::is_const_v<T> && (m->flags & M::read_only) != 0)
        throw ownership_error("tenure: from_dlpack: the memory is read-only: borrow it as from_dlpack<const T, Shape>");
    }
    const dlpack::tensor_view& v = m->view;
    const extents s = detail::dlpack_extents<T, Shape>(v);
    extents strides = row_major(s);
    if (v.strides != nullptr)
      for (int i = 0; i < s.rank; ++i) strides[i] = v.strides[i];
    // With this limit, and the limits on strides, no address overflows.
    if (constexpr std::uint64_t most = std::uint64_t{1} << 59; v.data != nullptr && v.byte_offset > most)
      throw ownership_error("tenure: from_dlpack: byte_offset " + std::to_string(v.byte_offset) + " reaches beyond any memory");
    // Nothing is added to a null pointer: it is refused, or stands for no elements.
    auto* const first = v.data == nullptr ? nullptr : reinterpret_cast<T*>(static_cast<std::byte*>(v.data) + v.byte_offset);
    return detail::borrow<Shape>(first, s, strides, [m](void* data, std::size_t bytes) { return detail::borrow_storage(data, bytes, [m]() noexcept { dlpack::let_go{}(m); }); });
  }
}
template <class T, any_shape Shape, dlpack::managed M>
auto from_dlpack(dlpack::handle<M>&& m) {
  auto made = from_dlpack<T, Shape>(m.get());
  static_cast<void>(m.release());
  return made;
}

}  // namespace tenure

#include <tenure/core/letters/restore.hpp>
