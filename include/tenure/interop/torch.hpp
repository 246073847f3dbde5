// SPDX-License-Identifier: BSL-1.0
// A traced function as an operator of PyTorch: TENURE_TORCH(f, tn::tensor<float, tn::shape<3>>, float); at namespace scope of a shared library. In Python
// tenure_torch.load("./library.so").f(x, y) calls it, with autograd, torch.func.vmap and torch.compile. It reads and writes the memory of PyTorch's tensors
// (foreign_call.hpp) by PyTorch's stable C interface, so a library works with PyTorch 2.10 and newer. Not part of <tenure/tenure.hpp>.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#if !__has_include(<torch/csrc/inductor/aoti_torch/c/shim.h>)
#error "tenure: torch: <torch/csrc/inductor/aoti_torch/c/shim.h> is not found: it comes with PyTorch: add the folder that python -c 'import torch; print(torch.utils.cpp_extension.include_paths()[0])' prints"
#endif
#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#include <tenure/interop/exported.hpp>

namespace TENURE_NAMESPACE::detail::exports {

inline void check_torch(AOTITorchError error) {
  if (error != AOTI_TORCH_SUCCESS) throw std::runtime_error("tenure: call: PyTorch refused a tensor");
}

/// The number of an element type in PyTorch.
inline std::int32_t torch_type(dtype type) {
  switch (type) {
    case dtype::boolean: return aoti_torch_dtype_bool();
    case dtype::uint8: return aoti_torch_dtype_uint8();
    case dtype::int8: return aoti_torch_dtype_int8();
    case dtype::int32: return aoti_torch_dtype_int32();
    case dtype::int64: return aoti_torch_dtype_int64();
    case dtype::bfloat16: return aoti_torch_dtype_bfloat16();
    case dtype::float16: return aoti_torch_dtype_float16();
    case dtype::float32: return aoti_torch_dtype_float32();
    case dtype::float64: return aoti_torch_dtype_float64();
  }
  return -1;
}

/// A tensor of PyTorch.
class torch_tensor {
 public:
  torch_tensor() = default;
  explicit torch_tensor(AtenTensorHandle handle) : handle_(handle) {}
  torch_tensor(torch_tensor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  torch_tensor& operator=(torch_tensor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~torch_tensor() {
    if (handle_ != nullptr) aoti_torch_delete_tensor_object(handle_);
  }
  /// A new tensor.
  torch_tensor(dtype type, const extents& shape) {
    const extents strides = row_major(shape);
    std::int64_t sizes[max_rank + 1], steps[max_rank + 1];
    for (int a = 0; a < shape.rank; ++a) sizes[a] = shape[a], steps[a] = strides[a];
    check_torch(aoti_torch_empty_strided(shape.rank, sizes, steps, torch_type(type), aoti_torch_device_type_cpu(), 0, &handle_));
  }

  AtenTensorHandle release() { return std::exchange(handle_, nullptr); }

  /// Reads the tensor as buffer i. A tensor with other strides is copied.
  bool read_as(int i, buffer_list& list, const leaf* leaves) {
    bool is_contiguous = false;
    check_torch(aoti_torch_is_contiguous(handle_, &is_contiguous));
    std::int64_t rank = 0, *dims = nullptr;
    check_torch(aoti_torch_get_dim(handle_, &rank));
    check_torch(aoti_torch_get_sizes(handle_, &dims));
    std::int32_t type = 0;
    check_torch(aoti_torch_get_dtype(handle_, &type));
    const bool is_same = type == torch_type(leaves[i].type) && rank <= max_rank;
    if (!is_contiguous && is_same) {
      extents shape;
      for (int a = 0; a < rank; ++a) shape.push_back(dims[a]);
      torch_tensor copy(leaves[i].type, shape);
      check_torch(aoti_torch_copy_(copy.handle_, handle_, 0));
      *this = std::move(copy);
      check_torch(aoti_torch_get_sizes(handle_, &dims));
    }
    void* data = nullptr;
    check_torch(aoti_torch_get_data_ptr(handle_, &data));
    return list.read(i, is_same ? leaves[i].type : static_cast<dtype>(-1), data, rank, dims);
  }

 private:
  AtenTensorHandle handle_ = nullptr;
};

using torch_entry = void(StableIValue* stack, std::uint64_t inputs, std::uint64_t outputs);

/// The operator of a call, on PyTorch's stack. After the arguments come two numbers: bit k of the first says that result k is a sum over the batch, except
/// over as many first axes as the second.
template <class Call>
struct torch_operator {
  static void run(StableIValue* stack, std::uint64_t inputs, std::uint64_t outputs) {
    constexpr int arguments = Call::arguments, results = Call::results;
    torch_tensor tensors[arguments + results];
    for (int i = 0; i < arguments; ++i) tensors[i] = torch_tensor(handle_in(stack[i]));
    if (inputs != arguments + 2 || outputs != results) throw std::runtime_error("tenure: call: another number of tensors");
    const std::uint64_t sums = stack[arguments], free_axes = stack[arguments + 1];
    buffer buffers[arguments + results];
    buffer_list list(buffers, Call::leaves.at, arguments, results, Call::has_directions);
    bool fits = true;
    for (int i = 0; i < arguments && fits; ++i) fits = tensors[i].read_as(i, list, Call::leaves.at);
    if (!fits || !list.find_batch(arguments)) throw std::runtime_error(list.refusal().c_str());
    extents of_sample[results];
    Call::find_extents(buffers, of_sample);
    for (int k = 0; k < results; ++k) {
      extents shape;
      for (int a = 0; a < list.batch().rank; ++a) shape.push_back((sums >> k & 1) != 0 && static_cast<std::uint64_t>(a) >= free_axes ? 1 : list.batch()[a]);
      if (shape.rank + of_sample[k].rank > max_rank) throw std::runtime_error("tenure: call: a result has more axes than a tensor can have");
      for (int a = 0; a < of_sample[k].rank; ++a) shape.push_back(of_sample[k][a]);
      tensors[arguments + k] = torch_tensor(Call::leaves.at[arguments + k].type, shape);
      tensors[arguments + k].read_as(arguments + k, list, Call::leaves.at);
    }
    if (!list.find_batch(arguments + results)) throw std::runtime_error(list.refusal().c_str());
    Call::run(list, buffers);
    for (int k = 0; k < results; ++k) {
      AtenTensorHandle handle = tensors[arguments + k].release();
      stack[k] = 0;
      std::memcpy(&stack[k], &handle, sizeof handle);
    }
  }

 private:
  static AtenTensorHandle handle_in(const StableIValue& at) {
    AtenTensorHandle handle;
    std::memcpy(&handle, &at, sizeof handle);
    return handle;
  }
};

template <class Tag, class... X, class F>
exported<torch_operator, torch_entry, of_library<decltype(traced_function(std::declval<F>())), Tag>, X...> exported_to_torch(const F&);

}  // namespace tenure::detail::exports

/// The first exported function of this library, for tenure_torch.py.
extern "C" __attribute__((weak, visibility("default"))) const tenure::detail::exports::record<tenure::detail::exports::torch_entry>* tenure_torch_first_record() {
  return tenure::detail::exports::first_record<tenure::detail::exports::torch_entry>;
}
/// Defines the operator `space::name` of PyTorch, which `entry` computes. `schema` has its types in PyTorch's notation. Returns whether PyTorch took it.
extern "C" __attribute__((weak, visibility("default"))) bool tenure_torch_define(const char* space, const char* name, const char* schema, tenure::detail::exports::torch_entry* entry) {
  TorchLibraryHandle definitions = nullptr, implementations = nullptr;  // they live as long as the process
  return aoti_torch_library_init_fragment(space, __FILE__, __LINE__, &definitions) == AOTI_TORCH_SUCCESS && aoti_torch_library_def(definitions, schema) == AOTI_TORCH_SUCCESS &&
         aoti_torch_library_init_impl(space, "CPU", __FILE__, __LINE__, &implementations) == AOTI_TORCH_SUCCESS &&
         aoti_torch_library_impl(implementations, name, entry) == AOTI_TORCH_SUCCESS;
}

/// Exports a traced function without captures to PyTorch, with its vjp. After it come the types of its arguments, as in TENURE_XLA_FFI.
#define TENURE_TORCH(function, ...) \
  TENURE_EXPORTED(exported_to_torch, function, __COUNTER__, __VA_ARGS__)

#include <tenure/core/letters/restore.hpp>
