// SPDX-License-Identifier: BSL-1.0
// The history of a tensor that was made from an expression: the values that the derivative reads, and the accumulators of the operands. The
// derivative of exp reads the result, that of mul reads the other operand, and that of add reads nothing.
// Law: if a saved value was overwritten, through any alias, backward() throws. Memory that the derivative does not read is not kept
// alive. A span or map outside may write memory without raising its version. Of such memory a copy is kept, and the copy is read.
#pragma once

#include <tenure/tensor/later.hpp>
#include <tenure/eager/backward.hpp>
#include <tenure/eager/expression_program.hpp>
#include <tenure/eager/view_history.hpp>

namespace TENURE_NAMESPACE::detail {

template <class Device>
storage_handle copy_of_memory(const void* from, std::int64_t bytes) {
  storage_handle made = device_memory<Device>::allocate(static_cast<std::size_t>(bytes));
  const extents line{1, {bytes}}, step{1, {1}};
  device_memory<Device>::copy(static_cast<unsigned char*>(made.data()), step, static_cast<const unsigned char*>(from), step, line);
  return made;
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_overwritten(const saved_storage& s) {
  throw ownership_error(message("backward") << "a value that the gradient reads was overwritten after it was used (version "
                                            << static_cast<std::int64_t>(s.storage().version()) << ", saved at "
                                            << static_cast<std::int64_t>(s.version()) << ")");
}

/// The operands of an expression or a call until backward(): the memory of the operands that the derivative reads, and the accumulators of the
/// tracked operands. Reads.at[i] says whether the derivative reads operand i.
template <class E, class Reads, class Device>
class saved_operands {
  static constexpr int operands = operand_count<E>;
  static constexpr Reads reads{};

 public:
  /// `overwritten` is the storage into which the result will be written. Operands in this storage that the derivative reads are copied first.
  explicit saved_operands(const E& e, const block* overwritten = nullptr) : expression_(e) {
    bool copies = false;
    int i = 0;
    for_each_operand(expression_, [&](auto& x) {
      if constexpr (is_captured<std::remove_cvref_t<decltype(x)>>) {
        if (!reads.at[i]) {
          x.storage = {};
        } else {
          if (x.storage.is_exported() || x.storage.get() == overwritten) copies = true;
          saved_[i] = saved_storage(x.storage);
        }
      }
      ++i;
    });
    if (copies) [[unlikely]] copy_operands(overwritten);
  }

  const E& expression() const { return expression_; }

  /// Whether the value of a tensor is saved. Then backward() frees it.
  bool saves() const {
    bool any = false;
    for (const saved_storage& s : saved_) any = any || s;
    return any;
  }
  void check() const {
    for (const saved_storage& s : saved_)
      if (s && !s.intact()) throw_overwritten(s);
  }
  void release() noexcept {
    for (saved_storage& s : saved_) s = saved_storage();  // with `s = {}` clang 14 leaks the old value
    for_each_operand(expression_, [](auto& x) {
      if constexpr (is_captured<std::remove_cvref_t<decltype(x)>>) x.storage = {};
    });
  }

 private:
  /// Replaces operands by copies if their memory will change or may change. A copy holds all memory from the first element to the last, so the
  /// strides stay the same. Operands with the same first and last element share a copy.
  [[gnu::noinline, gnu::cold]] void copy_operands(const block* overwritten) {
    struct {
      const void* from;
      std::int64_t bytes;
      storage_handle memory;
    } made[operands == 0 ? 1 : operands];
    int count_made = 0, i = 0;
    for_each_operand(expression_, [&](auto& x) {
      if constexpr (is_captured<std::remove_cvref_t<decltype(x)>>) {
        const bool is_about_to_change = x.storage.get() == overwritten;
        if (reads.at[i] && (is_about_to_change || x.storage.is_exported())) {
          using T = typename std::remove_cvref_t<decltype(x)>::element_type;
          const std::int64_t bytes = count(x.shape) == 0 ? 0 : reach_in_bytes({0, x.shape, x.strides}, sizeof(T));
          int k = 0;
          while (k < count_made && !(made[k].from == x.data && made[k].bytes == bytes)) ++k;
          if (k == count_made) made[count_made++] = {x.data, bytes, copy_of_memory<Device>(x.data, bytes)};
          x.storage = made[k].memory;
          x.data = static_cast<const T*>(x.storage.data());
          if (is_about_to_change) saved_[i] = saved_storage(x.storage);  // if not, check() must still find counted writes to the original
        }
      }
      ++i;
    });
  }

  E expression_;
  saved_storage saved_[operands == 0 ? 1 : operands];
};

template <class E>
class expression_history final : public gradient_accumulator {
  using program_type = program<cotangent_source<E>>;
  using device_type = device_of_t<E>;
  static constexpr int operands = operand_count<E>;
  using reads_type = inputs_read<program_type, operands + 2>;
  static constexpr reads_type reads{};

 public:
  /// `overwritten` is the storage into which the result will be written. Operands in this storage that the derivative reads are copied first.
  expression_history(const E& e, const extents& s, const block* overwritten = nullptr)
      : gradient_accumulator(dtype_v<typename E::element_type>, s, device_operations_of<device_type>()), operands_(e, overwritten) {}

  /// Allocates the memory that save_result() needs for a result in `memory`. Call it before the result is written, because it may throw.
  void prepare_result([[maybe_unused]] const storage_handle& memory) {
    if constexpr (reads.at[operands + 1])
      if (memory.is_exported()) saved_[1] = saved_storage(device_memory<device_type>::allocate(checked_bytes(shape, sizeof(typename E::element_type))));
  }

  /// Saves the memory of the result if the derivative reads it, and copies it if prepare_result() made room. Call it once, after the result
  /// was written.
  void save_result(const storage_handle& memory, const void* data) {
    if constexpr (reads.at[operands + 1]) {
      saved_[0] = saved_storage(memory);
      result_ = data;
      if (saved_[1]) {
        using T = typename E::element_type;
        T* const copy = static_cast<T*>(saved_[1].storage().data());
        device_memory<device_type>::copy(copy, row_major(shape), static_cast<const T*>(data), row_major(shape), shape);
        result_ = copy;
      }
    }
  }

  bool is_node() const override { return true; }

  /// Whether the value of a tensor is saved. Then backward() frees it.
  bool saves() const { return operands_.saves() || saved_[0]; }

  void check(backward_queue& queue) const override {
    if (is_freed_) throw_freed();
    operands_.check();
    for (const saved_storage& s : saved_)
      if (s && !s.intact()) throw_overwritten(s);
    reach_operands(operands_.expression(), queue);
  }

  void propagate(backward_queue& queue) override {
    leaf_argument arguments[operands + 2];
    const void* pointers[operands + 2];
    leaf_argument* at = arguments;
    collect_operands(operands_.expression(), at);
    *at++ = {arriving.data(), shape, row_major(shape)};
    if constexpr (!std::is_same_v<device_type, cpu_device>) saved_[0].storage().note_use();
    *at++ = {result_, shape, row_major(shape)};
    constexpr int tracked = tracked_count<E>;
    accumulation accumulations[tracked];
    accumulation* to = accumulations;
    add_accumulations(operands_.expression(), to);
    [[maybe_unused]] const auto numbers = place_operand_numbers<device_type>(operands_.expression(), arguments);
    call_bound<program_type, device_type>(arguments, operands + 2, pointers, [&](void** results, const std::int64_t*) {
      for (int i = 0; i < tracked; ++i) results[i] = accumulations[i].begin(queue);
      return 0;
    });
    for (accumulation& d : accumulations) d.finish(queue);
  }

  void release() noexcept override {
    is_freed_ = saves();  // backward() can run again over a graph that saved nothing, as in PyTorch
    operands_.release();
    for (saved_storage& s : saved_) s = saved_storage();
  }

 private:
  saved_operands<E, reads_type, device_type> operands_;
  saved_storage saved_[1 + reads.at[operands + 1]];
  const void* result_ = nullptr;
  bool is_freed_ = false;
};

/// Computes value and gradients of an expression with a single element, and delivers the gradients to the accumulators of the operands.
template <class E>
kept_element<typename E::element_type, device_of_t<E>> backward_scalar(later_phase, const E& e, bool retain) {
  kept_element<typename E::element_type, device_of_t<E>> value;
  if constexpr (is_evaluable<E>()) {
    using program_type = program<backward_source<E>>;
    require_recording();
    check_versions(e, "backward");
    run_backward(retain, [&](backward_queue& queue) { reach_operands(e, queue); }, [&](backward_queue& queue) {
      constexpr int n = operand_count<E>, tracked = tracked_count<E>;
      leaf_argument arguments[n];
      const void* pointers[n];
      leaf_argument* at = arguments;
      collect_operands(e, at);
      accumulation accumulations[tracked];
      accumulation* to = accumulations;
      add_accumulations(e, to);
      [[maybe_unused]] const auto numbers = place_operand_numbers<device_of_t<E>>(e, arguments);
      call_bound<program_type, device_of_t<E>>(arguments, n, pointers, [&](void** results, const std::int64_t* symbols) {
        const extents shape = output_extents<program_type>(0, symbols);
        if (count(shape) != 1) throw shape_error(message("backward") << "an expression of shape " << shape << " needs a cotangent of the same shape");
        results[0] = value.begin();
        for (int i = 0; i < tracked; ++i) results[i + 1] = accumulations[i].begin(queue);
        return 0;
      });
      for (accumulation& d : accumulations) d.finish(queue);
    });
  }
  return value;
}

/// Whether the gradient of e reads the value of a tensor. Then backward() frees the expression.
template <class E>
bool backward_reads(later_phase, const E& e) {
  constexpr inputs_read<program<backward_source<E>>, operand_count<E>> reads(1);
  bool any = false;
  int i = 0;
  for_each_operand(e, [&](const auto& x) { any = any | (reads.at[i++] && is_captured<std::remove_cvref_t<decltype(x)>>); });
  return any;
}

/// backward() from a node, given its cotangent.
template <class X, class C>
void backward_from(const X& y, const C& cotangent, bool retain) {
  tensor_access::check_alive(y, "backward");
  check_current(y, "backward");
  if (!(y.extents() == cotangent.extents()))
    throw shape_error(message("backward") << "a cotangent of shape " << cotangent.extents() << " for a value of shape " << y.extents());
  const accumulator_handle& accumulator = tensor_access::accumulator(y);
  const element_t<C>* const from = tensor_access::read(cotangent, "backward");
  run_backward(retain, [&](backward_queue& queue) { queue.reach(accumulator); }, [&](backward_queue& queue) {
    accumulation d{accumulator};
    device_memory<device_of_t<X>>::copy(static_cast<element_t<X>*>(d.begin(queue)), row_major(cotangent.extents()), from, cotangent.strides(), cotangent.extents());
    d.finish(queue);
  });
}

/// backward() from a node with a single element.
template <class X>
void backward_node(later_phase, const X& y, bool retain) {
  tensor_access::check_alive(y, "backward");
  check_current(y, "backward");
  if (count(y.extents()) != 1) throw shape_error(message("backward") << "a value of shape " << y.extents() << " needs a cotangent of the same shape");
  const accumulator_handle& accumulator = tensor_access::accumulator(y);
  run_backward(retain, [&](backward_queue& queue) { queue.reach(accumulator); }, [&](backward_queue& queue) {
    accumulation d{accumulator};
    auto* const to = static_cast<element_t<X>*>(d.begin(queue));
    if constexpr (is_on_host_v<X>) *to = 1;
    else device_memory<device_of_t<X>>::fill(to, extents{}, extents{}, element_t<X>(1));
    d.finish(queue);
  });
}

}  // namespace tenure::detail
