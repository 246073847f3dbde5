// SPDX-License-Identifier: BSL-1.0
// The histories of views and of writes through views. Law: the gradient of a view is added to the elements of the gradient of its base
// that the view shows. A write through a view of a node gives the base a new history. It separates the gradient of the written region
// from the gradient of the other elements.
#pragma once

#include <tenure/tensor/copy.hpp>
#include <tenure/tensor/later.hpp>
#include <tenure/tensor/recording.hpp>
#include <tenure/eager/backward.hpp>

namespace TENURE_NAMESPACE::detail {

inline const device_operations& operations(const gradient_accumulator& accumulator) {
  return accumulator.device == nullptr ? operations_of<cpu_device>::table : *accumulator.device;
}
/// The address of element number `elements` of a gradient that starts at `first`.
inline void* at_element(const gradient_accumulator& accumulator, void* first, std::int64_t elements) { return static_cast<char*>(first) + elements * size_of(accumulator.type); }

class view_accumulator final : public gradient_accumulator {
 public:
  view_accumulator(dtype of, const layout& where, accumulator_handle base) : gradient_accumulator(of, where.shape, base->device), where_(where), base_(std::move(base)) {}

  bool is_node() const override { return true; }
  const gradient_accumulator* base() const override { return base_.get(); }
  void check(backward_queue& queue) const override { queue.reach(base_); }
  void propagate(backward_queue& queue) override {
    accumulation d{base_};
    operations(*this).add(type, at_element(*this, d.so_far(queue), where_.offset), where_.strides, arriving.data(), row_major(shape), shape);
    d.finish(queue);
  }

 private:
  layout where_;
  accumulator_handle base_;
};

/// The history of a base after a write to the elements `where`. The gradient of these elements goes to `region`, if the written value is tracked.
/// The gradient of the other elements goes to the base before the write, if it was tracked.
class region_history final : public gradient_accumulator {
 public:
  region_history(dtype of, const extents& all, const layout& where, accumulator_handle base, accumulator_handle region)
      : gradient_accumulator(of, all, base->device), where_(where), base_(std::move(base)), region_(std::move(region)) {}

  bool is_node() const override { return true; }
  void check(backward_queue& queue) const override {
    if (base_) queue.reach(base_);
    if (region_) queue.reach(region_);
  }
  void propagate(backward_queue& queue) override {
    const device_operations& on = operations(*this);
    if (region_) {
      accumulation d{region_};
      on.copy(type, d.begin(queue), row_major(where_.shape), at_element(*this, arriving.data(), where_.offset), where_.strides, where_.shape);
      d.finish(queue);
    }
    if (base_) {
      accumulation d{base_};
      void* const to = d.begin(queue);
      on.copy(type, to, row_major(shape), arriving.data(), row_major(shape), shape);
      on.fill_zero(type, at_element(*this, to, where_.offset), where_.strides, where_.shape);
      d.finish(queue);
    }
  }

 private:
  layout where_;
  accumulator_handle base_;
  accumulator_handle region_;
};

/// The history of a copy. It passes the gradient on unchanged.
class clone_history final : public gradient_accumulator {
 public:
  explicit clone_history(accumulator_handle base) : gradient_accumulator(base->type, base->shape, base->device), base_(std::move(base)) {}

  bool is_node() const override { return true; }
  void check(backward_queue& queue) const override { queue.reach(base_); }
  void propagate(backward_queue& queue) override {
    accumulation d{base_};
    if (retains) operations(*this).copy(type, d.begin(queue), row_major(shape), arriving.data(), row_major(shape), shape);
    else d.temporary = std::move(arriving);
    d.finish(queue);
  }

 private:
  accumulator_handle base_;
};

/// The history of a node that was overwritten by constants. It passes no gradient on.
class ended_history final : public gradient_accumulator {
 public:
  using gradient_accumulator::gradient_accumulator;
  bool is_node() const override { return true; }
};

/// The history of a tensor that was computed inside no_grad. A backward() that reaches it throws.
class unrecorded_history final : public gradient_accumulator {
 public:
  using gradient_accumulator::gradient_accumulator;
  bool is_node() const override { return true; }
  void check(backward_queue&) const override {
    throw ownership_error("tenure: backward: a value was computed inside no_grad, which records nothing: compute it outside, or detach() it");
  }
};
template <class X>
accumulator_handle unrecorded(const extents& s) {
  return accumulator_handle(new unrecorded_history(dtype_v<element_t<X>>, s, nullptr));  // no gradient ever arrives, so it needs no device
}
inline void require_recording() {
  if (!is_recording()) throw ownership_error("tenure: backward: inside no_grad an expression records nothing: call backward() outside");
}

template <class X>
accumulator_handle view_history(later_phase, const X& base, const layout& where) {
  if (!is_recording()) return unrecorded<X>(where.shape);
  return accumulator_handle(new view_accumulator(dtype_v<element_t<X>>, where, tensor_access::accumulator(base)));
}

}  // namespace tenure::detail
