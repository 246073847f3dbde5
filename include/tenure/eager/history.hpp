// SPDX-License-Identifier: BSL-1.0
// The history of a result. An expression or a call of a compiled function made the result; a call is an expression with several results. The history
// holds the values that the derivative reads, and the accumulators of the operands. The derivative of exp reads the result, that of mul reads the other
// operand, and that of add reads nothing.
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
          const std::int64_t bytes = count(x.shape()) == 0 ? 0 : reach_in_bytes({0, x.shape(), x.strides()}, sizeof(T));
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

/// The history of an expression or a call. If it has one tracked result, it is the accumulator of this result. Several results have an accumulator
/// each, which hands its cotangent over by take().
template <class E, class Results = one_result>
class expression_history final : public gradient_accumulator {
  using program_type = program<cotangent_source<E, Results>>;
  using device_type = typename E::device_type;
  static constexpr int operands = operand_count<E>, results = Results::found.number, inputs = operands + 2 * results;
  using reads_type = inputs_read<program_type, inputs>;
  static constexpr reads_type reads{};
  static constexpr bool reads_result(int i) { return reads.at[operands + results + i]; }

 public:
  static constexpr bool is_accumulator = results == 1;

  /// `overwritten` is the storage into which the result will be written. Operands in this storage that the derivative reads are copied first.
  explicit expression_history(const E& e, const block* overwritten = nullptr)
      : gradient_accumulator(dtype::float32, {}, device_operations_of<device_type>()), operands_(e, overwritten) {}

  /// Allocates the memory that save_result() needs for the only result, which will be in the memory of x. Call it before the result is written,
  /// because it may throw.
  template <class X>
  void prepare_result(const X& x) {
    if constexpr (reads_result(0))
      if (tensor_access::storage(x).is_exported()) results_[0].copy = device_memory<device_type>::allocate(checked_bytes(x.extents(), sizeof(element_t<X>)));
  }

  /// Adds tracked result i. Saves its memory if the derivative reads it, and copies it if prepare_result() made room. Call it once for each result,
  /// after the result was written.
  template <class X>
  void save_result(int i, const X& x) {
    const extents s = x.extents();
    if constexpr (is_accumulator) type = dtype_v<element_t<X>>, shape = s;
    else results_[i].type = dtype_v<element_t<X>>, results_[i].shape = s;
    result& r = results_[i];
    if (!reads_result(i)) return;
    const auto* const data = tensor_access::fresh(x);
    r.saved = saved_storage(tensor_access::storage(x));
    r.data = data;
    if (!r.copy) return;
    auto* const copy = static_cast<element_t<X>*>(r.copy.data());
    device_memory<device_type>::copy(copy, row_major(s), data, row_major(s), s);
    r.data = copy;
  }
  /// Takes the cotangent of result i. A result that gets none has the cotangent zero.
  void take(int i, storage_handle cotangent) { results_[i].cotangent = std::move(cotangent); }

  bool is_node() const override { return true; }

  /// Whether the value of a tensor is saved. Then backward() frees it.
  bool saves() const {
    bool any = operands_.saves();
    for (const result& r : results_) any = any || r.saved;
    return any;
  }

  void check(backward_queue& queue) const override {
    if (is_freed_) throw_freed();
    operands_.check();
    for (const auto& r : results_) {
      if (r.saved && !r.saved.intact()) throw_overwritten(r.saved);
      if constexpr (!is_accumulator) r.cotangent = {};  // left by a backward() that threw
    }
    reach_operands(operands_.expression(), queue);
  }

  void propagate(backward_queue& queue) override {
    leaf_argument arguments[inputs];
    const void* pointers[inputs];
    leaf_argument* at = arguments;
    copies_of_views<bytes_of_operands<E>> copies;
    collect_operands(operands_.expression(), at, copies);
    storage_handle cotangents[results];
    for (int i = 0; i < results; ++i) {
      if constexpr (is_accumulator) {
        *at++ = {arriving.data(), shape, row_major(shape)};
      } else {
        cotangents[i] = std::exchange(results_[i].cotangent, {});
        if (!cotangents[i]) cotangents[i] = zeros_like(results_[i]);
        *at++ = {cotangents[i].data(), results_[i].shape, row_major(results_[i].shape)};
      }
    }
    for (const auto& r : results_) {
      if constexpr (!std::is_same_v<device_type, cpu_device>) r.saved.storage().note_use();
      if constexpr (is_accumulator) *at++ = {r.data, shape, row_major(shape)};
      else *at++ = {r.data, r.shape, row_major(r.shape)};
    }
    constexpr int tracked = tracked_count<E>;
    accumulation accumulations[tracked];
    accumulation* to = accumulations;
    add_accumulations(operands_.expression(), to);
    [[maybe_unused]] const auto numbers = place_operand_numbers<device_type>(operands_.expression(), arguments);
    call_bound<program_type, device_type>(arguments, inputs, pointers, [&](void** gradients, const std::int64_t*) {
      for (int i = 0; i < tracked; ++i) gradients[i] = accumulations[i].begin(queue);
      return 0;
    });
    for (accumulation& d : accumulations) d.finish(queue);
  }

  void release() noexcept override {
    is_freed_ = saves();  // backward() can run again over a graph that saved nothing, as in PyTorch
    operands_.release();
    for (result& r : results_) r.saved = saved_storage(), r.copy = {};
  }

 private:
  struct result {
    const void* data = nullptr;
    saved_storage saved{};
    storage_handle copy{};
  };
  struct one_of_several : result {
    dtype type = dtype::float32;
    extents shape{};
    mutable storage_handle cotangent{};
  };

  static storage_handle zeros_like(const one_of_several& r) {
    const std::size_t bytes = checked_bytes(r.shape, static_cast<std::size_t>(size_of(r.type)));
    storage_handle zero = device_memory<device_type>::allocate(bytes);
    device_memory<device_type>::clear(zero.data(), bytes);
    return zero;
  }

  saved_operands<E, reads_type, device_type> operands_;
  std::conditional_t<is_accumulator, result, one_of_several> results_[results];
  bool is_freed_ = false;
};

/// The accumulator of one of several results.
template <class History>
class result_accumulator final : public gradient_accumulator {
 public:
  result_accumulator(dtype of, const extents& s, int position, const accumulator_handle& history)
      : gradient_accumulator(of, s, history->device), position_(position), history_(history) {}

  bool is_node() const override { return true; }
  void check(backward_queue& queue) const override { queue.reach(history_); }
  void propagate(backward_queue& queue) override {
    queue.push(history_);
    static_cast<History&>(*history_).take(position_, arriving);
  }

 private:
  int position_;
  accumulator_handle history_;
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
      copies_of_views<bytes_of_operands<E>> copies;
      collect_operands(e, at, copies);
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
