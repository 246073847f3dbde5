// SPDX-License-Identifier: BSL-1.0
// Tensors as arguments and results of functions that nanobind binds to Python. Arrays go in and out by DLPack: no element is copied.
//   argument  python::array<float, tn::dyn, 3>: the memory of an array of NumPy, PyTorch or JAX. Writes are seen there. Where a library has DLPack's functions of C, as
//             PyTorch has, they lend it.
//             python::array<const float, tn::dyn, 3>: the same, read-only. Arrays that are read-only need this form.
//   result    a constant tensor becomes a NumPy array over its memory, read-only if the tensor is. The memory lives as long as the array, or
//             any view of it. torch.from_dlpack() and jax.dlpack.from_dlpack() take such an array without a copy.
// A wrong rank, extent or element type, or memory that cannot be used, is a ValueError with the message of from_dlpack.
// A function that is bound with python::parallel releases the GIL while it runs, so it must be safe to call from several threads.
// An argument is a python::array, an std::optional of it or an std::vector of it (a list or any other sequence). In other containers a wrong array
// ends the program, because nanobind converts them in functions that are noexcept. A wrong array for the first of several overloads is an error: the
// others are not tried.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <tenure/interop/dlpack.hpp>
#include <tenure/tenure.hpp>

namespace python {

namespace tn = tenure;

/// A tensor over the memory of a Python array, with these extents: python::array<const double, tn::dyn, 64>.
template <class T, auto... Extents>
using array = tn::tensor<std::remove_const_t<T>, tn::shape<Extents...>, tn::ownership::aliasing, tn::role::constant,
                         std::is_const_v<T> ? tn::access::read_only : tn::access::read_write>;

/// For nanobind's def(): other threads of Python run meanwhile. Such a function must not touch Python objects.
using parallel = nanobind::call_guard<nanobind::gil_scoped_release>;

/// Makes Tenure's exceptions ValueErrors, and an index outside its axis an IndexError. Call it once in a module.
inline void register_exceptions() {
  nanobind::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const tn::index_error& e) {
      PyErr_SetString(PyExc_IndexError, e.what());
    } catch (const tn::error& e) {
      PyErr_SetString(PyExc_ValueError, e.what());
    }
  });
}

namespace detail {

/// A Python array as DLPack's struct. The array is released with the GIL, from whatever thread drops the last tensor over it.
struct import : tn::dlpack::managed_tensor {
  explicit import(nanobind::ndarray<nanobind::ro> from) : array(std::move(from)) {
    major_version = 1;
    minor_version = 0;
    context = this;
    deleter = [](tn::dlpack::managed_tensor* m) {
      if (!nanobind::is_alive()) return;  // the interpreter has ended, and with it the array
      const nanobind::gil_scoped_acquire python_lock;
      delete static_cast<import*>(m);
    };
    flags = read_only;
    const auto type = array.dtype();
    view = {const_cast<void*>(array.data()), {array.device_type(), array.device_id()}, static_cast<std::int32_t>(array.ndim()),
            {static_cast<tn::dlpack::type_code>(type.code), type.bits, type.lanes}, const_cast<std::int64_t*>(array.shape_ptr()),
            const_cast<std::int64_t*>(array.stride_ptr()), 0};
  }

  nanobind::ndarray<nanobind::ro> array;
};

/// Whether a library defines the type of an object.
inline bool is_of(nanobind::handle source, std::string_view library) {
  const auto module = nanobind::str(nanobind::getattr(source.type(), "__module__", nanobind::str("")));
  const std::string_view name = module.c_str();
  return name == library || (name.starts_with(library) && name[library.size()] == '.');
}
/// Whether an array may change. DLPack before version 1 cannot say so, and JAX does not: so NumPy and PyTorch are asked by DLPack, and an array of
/// any other library has to give a writable buffer.
inline bool is_writable(nanobind::handle source) {
  if (is_of(source, "numpy") || is_of(source, "torch")) {
    nanobind::ndarray<> writable;
    return nanobind::try_cast(source, writable, false);
  }
  Py_buffer buffer;
  if (PyObject_GetBuffer(source.ptr(), &buffer, PyBUF_WRITABLE | PyBUF_STRIDES) != 0) {
    PyErr_Clear();
    return false;
  }
  PyBuffer_Release(&buffer);
  return true;
}

/// What PyTorch's __dlpack__ refuses, and its functions of C lend: tensors that require a gradient, and memory with the negatives of the elements.
inline void check_tensor_of_pytorch(nanobind::handle source) {
  if (!nanobind::hasattr(source, "is_neg")) return;  // a type, or something else that is no tensor
  if (nanobind::cast<bool>(source.attr("requires_grad"))) throw tn::ownership_error("tenure: from_dlpack: the tensor requires a gradient: detach() it first");
  if (nanobind::cast<bool>(source.attr("is_neg")())) throw tn::ownership_error("tenure: from_dlpack: the memory has the negatives of the elements: resolve_neg() them first");
}
/// The functions of C by which the library of an array lends its memory, or null. PyTorch has them from 2.10 on: a call with two of its tensors takes 3 us, and 33 us without them.
inline const tn::dlpack::exchange_api* exchange_api_of(nanobind::handle source) {
  const nanobind::object capsule = nanobind::getattr(source.type(), "__dlpack_c_exchange_api__", nanobind::none());
  constexpr const char* name = tn::dlpack::exchange_api::capsule;
  if (!PyCapsule_IsValid(capsule.ptr(), name)) return nullptr;
  return tn::dlpack::version_1(static_cast<const tn::dlpack::exchange_api*>(PyCapsule_GetPointer(capsule.ptr(), name)));
}

/// A tensor over the memory of an array, or nothing if `source` is no array at all.
template <class T, class Shape>
auto import_array(nanobind::handle source) {
  using made = decltype(tn::from_dlpack<T, Shape>(std::declval<tn::dlpack::handle<tn::dlpack::managed_tensor>>()));
  if (is_of(source, "torch")) check_tensor_of_pytorch(source);
  if (const tn::dlpack::exchange_api* const api = exchange_api_of(source)) {
    tn::dlpack::handle<tn::dlpack::managed_tensor> lent = tn::dlpack::from_object(*api, source.ptr());
    if (lent == nullptr) throw nanobind::python_error();  // the library says why
    return std::optional<made>(tn::from_dlpack<T, Shape>(std::move(lent)));
  }
  nanobind::ndarray<nanobind::ro> array;
  if (!nanobind::try_cast(source, array, false)) return std::optional<made>();
  tn::dlpack::handle<tn::dlpack::managed_tensor> taken(new import(std::move(array)));
  if (is_writable(source)) taken->flags = 0;
  return std::optional<made>(tn::from_dlpack<T, Shape>(std::move(taken)));
}

/// A NumPy array over the memory of a tensor.
template <class X>
nanobind::handle export_array(X& x, nanobind::detail::cleanup_list* cleanup) {
  using element = std::conditional_t<std::is_const_v<X> || tn::access_of_v<X> == tn::access::read_only, const tn::element_t<X>, tn::element_t<X>>;
  auto shared = tn::to_dlpack(x);
  const tn::dlpack::tensor_view& view = shared->view;
  std::array<std::size_t, tn::max_rank> shape{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(view.rank); ++i) shape[i] = static_cast<std::size_t>(view.shape[i]);
  void* const data = view.data;
  const auto rank = static_cast<std::size_t>(view.rank);
  const std::int64_t* const strides = view.strides;
  const nanobind::capsule owner(shared.release(), [](void* p) noexcept { tn::dlpack::let_go{}(static_cast<tn::dlpack::managed_tensor*>(p)); });
  const nanobind::ndarray<nanobind::numpy, element> made(static_cast<element*>(data), rank, shape.data(), owner, strides);
  return nanobind::detail::make_caster<decltype(made)>::from_cpp(made, nanobind::rv_policy::automatic, cleanup);
}

}  // namespace detail

}  // namespace python

template <class T, class Shape, tenure::ownership Owns, tenure::role Role, tenure::access Access, class Device>
struct nanobind::detail::type_caster<tenure::tensor<T, Shape, Owns, Role, Access, Device>> {
  using Value = tenure::tensor<T, Shape, Owns, Role, Access, Device>;
  static constexpr auto Name = const_name("numpy.typing.NDArray");
  template <class>
  using Cast = Value;
  template <class>
  static constexpr bool can_cast() { return true; }

  template <class Flags>
  bool from_python(handle source, Flags, cleanup_list*) {
    static_assert(Owns == tenure::ownership::aliasing && Role == tenure::role::constant, "an argument from Python is a python::array<T, extents...>");
    auto made = python::detail::import_array<std::conditional_t<Access == tenure::access::read_only, const T, T>, Shape>(source);
    if (!made) return false;
    value.emplace(std::move(*made));
    return true;
  }
  template <class X>
  static handle from_cpp(X&& x, rv_policy, cleanup_list* cleanup) {
    return python::detail::export_array(x, cleanup);
  }

  explicit operator Value() { return std::move(*value); }
  std::optional<Value> value;
};

// Containers of arrays. nanobind's own functions from_python are noexcept, so the exception of a wrong array would end the program there.
template <class T, class Shape, tenure::ownership Owns, tenure::role Role, tenure::access Access, class Device>
struct nanobind::detail::type_caster<std::optional<tenure::tensor<T, Shape, Owns, Role, Access, Device>>>
    : optional_caster<std::optional<tenure::tensor<T, Shape, Owns, Role, Access, Device>>> {
  using Array = tenure::tensor<T, Shape, Owns, Role, Access, Device>;

  template <class Flags>
  bool from_python(handle source, Flags flags, cleanup_list* cleanup) {
    this->value.reset();
    if (source.is_none()) return true;
    make_caster<Array> array;
    if (!array.from_python(source, flags, cleanup)) return false;
    this->value.emplace(array.operator Array());
    return true;
  }
};

template <class T, class Shape, tenure::ownership Owns, tenure::role Role, tenure::access Access, class Device>
struct nanobind::detail::type_caster<std::vector<tenure::tensor<T, Shape, Owns, Role, Access, Device>>>
    : list_caster<std::vector<tenure::tensor<T, Shape, Owns, Role, Access, Device>>, tenure::tensor<T, Shape, Owns, Role, Access, Device>> {
  using Array = tenure::tensor<T, Shape, Owns, Role, Access, Device>;

  template <class Flags>
  bool from_python(handle source, Flags flags, cleanup_list* cleanup) {
    this->value.clear();
    if (!isinstance<sequence>(source)) return false;
    for (const handle element : borrow<sequence>(source)) {
      make_caster<Array> array;
      if (!array.from_python(element, flags, cleanup)) return false;
      this->value.push_back(array.operator Array());
    }
    return true;
  }
};
