// SPDX-License-Identifier: BSL-1.0
// The histories of views, and of writes through views. Law: the gradient of a view is added into its place in the base's
// gradient; a write through a view of a node gives the base a new history, which splits its gradient at the region.
#pragma once

#include <tenure/tensor/copy.hpp>
#include <tenure/transform/backward.hpp>

namespace tenure::detail {

class view_sink final : public gradient_sink {
 public:
  view_sink(dtype of, const layout& where, sink_handle base) : gradient_sink(of, where.shape), where_(where), base_(std::move(base)) {}

  bool is_node() const override { return true; }
  bool is_stale() const override { return is_superseded || base_->is_stale(); }
  void check() const override { backward_queue::reach(base_); }
  void propagate() override {
    if (type == dtype::float32) add<float>();
    else add<double>();
  }

 private:
  template <class T>
  void add() {
    delivery d{base_};
    T* const to = static_cast<T*>(d.so_far()) + where_.offset;
    const T* const from = static_cast<const T*>(arriving.data());
    for_each_run(shape, where_.strides, row_major(shape), [=](std::int64_t t, std::int64_t f, std::int64_t n, std::int64_t step_t, std::int64_t step_f) {
      for (std::int64_t i = 0; i < n; ++i) to[t + i * step_t] += from[f + i * step_f];
    });
    d.finish();
  }

  layout where_;
  sink_handle base_;
};

/// The history of a base after a write to the elements `where`: their gradient goes to `region` (if it is tracked), that of
/// the others to the base as it was before (if it was tracked).
class region_history final : public gradient_sink {
 public:
  region_history(dtype of, const extents& all, const layout& where, sink_handle base, sink_handle region)
      : gradient_sink(of, all), where_(where), base_(std::move(base)), region_(std::move(region)) {}

  bool is_node() const override { return true; }
  void check() const override {
    if (base_) backward_queue::reach(base_);
    if (region_) backward_queue::reach(region_);
  }
  void propagate() override {
    if (type == dtype::float32) split<float>();
    else split<double>();
  }

 private:
  template <class T>
  void split() {
    const T* const from = static_cast<const T*>(arriving.data());
    if (region_) {
      delivery d{region_};
      copy_elements(static_cast<T*>(d.begin()), row_major(where_.shape), from + where_.offset, where_.strides, where_.shape);
      d.finish();
    }
    if (base_) {
      delivery d{base_};
      T* const to = static_cast<T*>(d.begin());
      std::memcpy(to, from, static_cast<std::size_t>(count(shape)) * sizeof(T));
      fill_elements(to + where_.offset, where_.strides, where_.shape, T(0));
      d.finish();
    }
  }

  layout where_;
  sink_handle base_;
  sink_handle region_;
};

/// The history of a copy: the gradient goes back unchanged.
class clone_history final : public gradient_sink {
 public:
  explicit clone_history(sink_handle base) : gradient_sink(base->type, base->shape), base_(std::move(base)) {}

  bool is_node() const override { return true; }
  void check() const override { backward_queue::reach(base_); }
  void propagate() override {
    delivery d{base_};
    if (retains) std::memcpy(d.begin(), arriving.data(), gradient_bytes(*this));
    else d.temporary = std::move(arriving);
    d.finish();
  }

 private:
  sink_handle base_;
};

/// The history of a node that was overwritten by constants: nothing flows further.
class ended_history final : public gradient_sink {
 public:
  using gradient_sink::gradient_sink;
  bool is_node() const override { return true; }
};

template <class X>
sink_handle view_history(hook, const X& base, const layout& where) {
  return sink_handle(new view_sink(dtype_v<element_t<X>>, where, tensor_access::sink(base)));
}

}  // namespace tenure::detail
