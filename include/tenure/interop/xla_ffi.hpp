// SPDX-License-Identifier: BSL-1.0
// A traced function as an operation of JAX: TENURE_XLA_FFI(f, tn::tensor<float, tn::shape<3>>, float); at namespace scope of a shared library. In Python
// tenure_xla.load("./library.so").f(x, y) calls it, under jax.jit, jax.vmap, jax.grad and jax.jvp too: its value, its jvp and its vjp are handlers of XLA's
// foreign function interface. They read and write the buffers of XLA (foreign_call.hpp). Not part of <tenure/tenure.hpp>. It needs one header of jaxlib.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <cstdint>
#include <exception>
#include <utility>

#if !__has_include(<xla/ffi/api/c_api.h>)
#error "tenure: xla_ffi: <xla/ffi/api/c_api.h> is not found: it comes with jaxlib: add the folder that python -c 'import jax; print(jax.ffi.include_dir())' prints"
#endif
#include <xla/ffi/api/c_api.h>

#include <tenure/interop/exported.hpp>

namespace TENURE_NAMESPACE::detail::exports {

/// The element type of a buffer. -1: Tenure has no such type.
constexpr int element_type_of(XLA_FFI_DataType type) {
  switch (type) {
    case XLA_FFI_DataType_PRED: return static_cast<int>(dtype::boolean);
    case XLA_FFI_DataType_U8: return static_cast<int>(dtype::uint8);
    case XLA_FFI_DataType_S8: return static_cast<int>(dtype::int8);
    case XLA_FFI_DataType_S32: return static_cast<int>(dtype::int32);
    case XLA_FFI_DataType_S64: return static_cast<int>(dtype::int64);
    case XLA_FFI_DataType_BF16: return static_cast<int>(dtype::bfloat16);
    case XLA_FFI_DataType_F16: return static_cast<int>(dtype::float16);
    case XLA_FFI_DataType_F32: return static_cast<int>(dtype::float32);
    case XLA_FFI_DataType_F64: return static_cast<int>(dtype::float64);
    default: return -1;
  }
}

/// Before the first call XLA asks a handler for its version.
inline bool asks_for_version(const XLA_FFI_CallFrame& frame) {
  return frame.extension_start != nullptr && frame.extension_start->type == XLA_FFI_Extension_Metadata;
}
[[gnu::cold, gnu::noinline]] inline XLA_FFI_Error* tell_version(const XLA_FFI_CallFrame& frame) {
  XLA_FFI_Metadata& m = *reinterpret_cast<XLA_FFI_Metadata_Extension*>(frame.extension_start)->metadata;
  m.api_version = {XLA_FFI_Api_Version_STRUCT_SIZE, nullptr, XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR};
  m.traits = 0;
  return nullptr;
}
[[gnu::cold, gnu::noinline]] inline XLA_FFI_Error* error_of(const XLA_FFI_CallFrame& frame, const char* what) {
  XLA_FFI_Error_Create_Args error{XLA_FFI_Error_Create_Args_STRUCT_SIZE, nullptr, what, XLA_FFI_Error_Code_INVALID_ARGUMENT};
  return frame.api->XLA_FFI_Error_Create(&error);
}

inline bool read_frame(const XLA_FFI_CallFrame& frame, buffer_list& list, int arguments, int results) {
  if (frame.args.size != arguments || frame.rets.size != results) return list.fails(-1, "another number of buffers");
  for (int i = 0; i < arguments + results; ++i) {
    const auto& b = *static_cast<const XLA_FFI_Buffer*>(i < arguments ? frame.args.args[i] : frame.rets.rets[i - arguments]);
    if (!list.read(i, static_cast<dtype>(element_type_of(b.dtype)), b.data, b.rank, b.dims)) return false;
  }
  return list.find_batch(arguments + results);
}

/// The handler of a call.
template <class Call>
struct xla_handler {
  static XLA_FFI_Error* run(XLA_FFI_CallFrame* frame) {
    if (asks_for_version(*frame)) [[unlikely]] return tell_version(*frame);
    buffer buffers[Call::arguments + Call::results];
    buffer_list list(buffers, Call::leaves.at, Call::arguments, Call::results, Call::has_directions);
    if (!read_frame(*frame, list, Call::arguments, Call::results)) return error_of(*frame, list.refusal());
    try {
      Call::run(list, buffers);
      return nullptr;
    } catch (const std::exception& e) {
      return error_of(*frame, e.what());
    }
  }
};

template <class Tag, class... X, class F>
exported<xla_handler, XLA_FFI_Handler, of_library<decltype(traced_function(std::declval<F>())), Tag>, X...> exported_to_xla(const F&);

}  // namespace tenure::detail::exports

/// The first exported function of this library, for tenure_xla.py.
extern "C" __attribute__((weak, visibility("default"))) const tenure::detail::exports::record<XLA_FFI_Handler>* tenure_xla_first_record() {
  return tenure::detail::exports::first_record<XLA_FFI_Handler>;
}

/// Exports a traced function without captures to JAX, with its derivatives. After it come the types of its arguments: tensors, numbers, tuples, models and
/// tn::constant_argument of these.
#define TENURE_XLA_FFI(function, ...) \
  TENURE_EXPORTED(exported_to_xla, function, __COUNTER__, __VA_ARGS__)

#include <tenure/core/letters/restore.hpp>
