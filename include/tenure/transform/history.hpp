// SPDX-License-Identifier: BSL-1.0
// backward(): cotangents arrive in sinks, and sinks pass them on, the newest first. The history of a tensor made from an
// expression holds what its derivative reads (and no more: exp reads its result, mul the other operand, add nothing) and
// the sinks of its operands. Law: a value that was overwritten since throws before any gradient is written.
#pragma once

#include <tenure/expr/lazy.hpp>
#include <tenure/storage/saved.hpp>
#include <tenure/transform/compile.hpp>
#include <tenure/transform/gradient.hpp>

namespace tenure::detail {

// ---- delivering cotangents -----------------------------------------------------------------------------------------

template <class T>
void add_into(T* to, const T* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
}

/// The nodes that have a cotangent to pass on, newest first. Sinks are linked through `next`, so nothing is allocated.
class backward_queue {
 public:
  void push(const sink_handle& sink) {
    gradient_sink** at = &first_;
    while (*at != nullptr && (*at)->sequence > sink->sequence) at = &(*at)->next;
    if (*at == sink.get()) return;
    sink->next = *at;
    *at = sink.get();
    sink_handle(sink).release();  // the queue holds a reference
  }
  bool empty() const { return first_ == nullptr; }
  sink_handle pop() {
    gradient_sink* s = first_;
    first_ = s->next;
    s->next = nullptr;
    return sink_handle::adopt(s);
  }
  ~backward_queue() {
    while (!empty()) pop();
  }

  static backward_queue*& current() {
    static thread_local backward_queue* queue = nullptr;
    return queue;
  }

 private:
  gradient_sink* first_ = nullptr;
};

/// The memory into which a cotangent of a sink is computed: the sink's own gradient where that may be overwritten, else a
/// temporary that finish() adds.
struct delivery {
  sink_handle sink;
  storage_handle temporary{};

  void* begin() {
    const std::size_t bytes = static_cast<std::size_t>(count(sink->shape)) * static_cast<std::size_t>(size_of(sink->type));
    const bool overwrites = sink->grad && sink->grad_is_zero() && !sink->grad.is_shared();
    if (overwrites) {
      sink->is_zeroed = false;
      sink->grad.bump();
      return sink->grad.data();
    }
    temporary = allocate_storage(bytes);
    return temporary.data();
  }
  void finish() {
    if (temporary) {
      if (!sink->grad) {
        sink->grad = temporary;
      } else {
        sink->grad.bump();
        sink->is_zeroed = false;
        const std::int64_t n = count(sink->shape);
        if (sink->type == dtype::float32) add_into(static_cast<float*>(sink->grad.data()), static_cast<const float*>(temporary.data()), n);
        else add_into(static_cast<double*>(sink->grad.data()), static_cast<const double*>(temporary.data()), n);
      }
      temporary = {};
    }
    if (sink->is_node()) backward_queue::current()->push(sink);
  }
};

/// Runs start() and then every node it reaches, newest first.
template <class Start>
void run_backward(bool retain_graph, Start start) {
  backward_queue queue;
  backward_queue* const outer = backward_queue::current();
  backward_queue::current() = &queue;
  struct restore {
    backward_queue* to;
    ~restore() { backward_queue::current() = to; }
  } at_exit{outer};
  start();
  while (!queue.empty()) {
    const sink_handle node = queue.pop();
    node->propagate(retain_graph);
    if (!node->retains) node->grad = {};
  }
}

// ---- the programs of an expression ---------------------------------------------------------------------------------

template <class X>
struct lowering {
  static constexpr auto lower(ir::builder& g, ir::array<ir::node_id>& tracked) {
    if constexpr (requires { X::is_tracked; }) {
      const auto x = new_input<typename X::element_type, typename X::shape_type>(g, X::is_strided);
      if constexpr (X::is_tracked) tracked.push_back(x.id);
      return x;
    } else {
      return new_input<typename X::element_type, typename X::shape_type>(g, false);
    }
  }
};
template <class Operation, class... Operand>
struct lowering<lazy<Operation, Operand...>> {
  static constexpr auto lower(ir::builder& g, ir::array<ir::node_id>& tracked) {
    const std::tuple<traced_operand<Operand>...> x{lowering<Operand>::lower(g, tracked)...};
    return std::apply([](const auto&... part) { return Operation::trace(part...); }, x);
  }
};

/// The value.
template <class E>
struct value_source {
  static constexpr ir::builder trace() {
    ir::builder g;
    ir::array<ir::node_id> tracked;
    g.output(lowering<E>::lower(g, tracked).id);
    g.canonicalize();
    return g;
  }
};

/// Value and gradients of a single element, in one graph.
template <class E>
struct backward_source {
  static constexpr ir::builder trace() {
    ir::builder g;
    ir::array<ir::node_id> tracked;
    const auto y = lowering<E>::lower(g, tracked);
    const ir::node_id output = y.id, one = ops::value(y).like(1).id;
    ir::array<ir::node_id> gradients(tracked.size(), ir::none);
    passes::reverse(g, &output, &one, 1, tracked.data(), tracked.size(), gradients.data());
    g.output(y.id);
    for (int i = 0; i < tracked.size(); ++i) g.output(gradients[i] != ir::none ? gradients[i] : ops::value(g, tracked[i]).like(0).id);
    g.canonicalize();
    return g;
  }
};

/// Gradients given the cotangent and the result, two more inputs. Reading the result where the derivative would read the
/// node means that neither it nor what only it needs is computed again.
template <class E>
struct cotangent_source {
  static constexpr ir::builder trace() {
    ir::builder g;
    ir::array<ir::node_id> tracked;
    const auto y = lowering<E>::lower(g, tracked);
    const ir::node_id cotangent = g.input((g)[y.id].type, extents(g.shape_of(y.id))), result = g.input(g[y.id].type, extents(g.shape_of(y.id)));
    ir::array<ir::node_id> gradients(tracked.size(), ir::none);
    const ir::node_id output = y.id;
    const int forward_end = g.count();
    passes::reverse(g, &output, &cotangent, 1, tracked.data(), tracked.size(), gradients.data());
    for (int i = 0; i < tracked.size(); ++i) g.output(gradients[i] != ir::none ? gradients[i] : ops::value(g, tracked[i]).like(0).id);
    if (g[output].op != ir::opcode::input) g.redirect(forward_end, output, result);
    g.canonicalize();
    return g;
  }
};

/// Which inputs a program's graph reads at all.
template <class Program>
constexpr bool reads_input(int index) {
  const ir::graph_view g = Program::value.view();
  for (int i = 0; i < g.count; ++i)
    for (int k = 0; k < g[i].arity; ++k)
      if (g[g[i].in[k]].op == ir::opcode::input && g[g[i].in[k]].attr == index) return true;
  return false;
}

template <class E>
void collect_operands(const E& e, leaf_argument*& at) {
  for_each_operand(e, [&](const auto& x) {
    if constexpr (requires { x.storage; }) *at++ = {x.data, x.shape, x.strides};
    else *at++ = {&x.value, {}, {}};
  });
}

/// Throws when an operand was written since the expression was made.
template <class E>
void check_versions(const E& e, const char* call) {
  for_each_operand(e, [&](const auto& x) {
    if constexpr (requires { x.storage; })
      if (x.storage.version() != x.version) [[unlikely]]
        throw ownership_error(std::string("tenure: ") + call + ": an operand was written after the expression was made: take tn::eval() of it before the write");
  });
}

template <class E>
void add_deliveries(const E& e, delivery*& at) {
  for_each_operand(e, [&](const auto& x) {
    if constexpr (is_tracked_operand<std::remove_cvref_t<decltype(x)>>) (at++)->sink = x.sink.handle;
  });
}
template <class X>
inline constexpr int tracked_count = is_tracked_operand<X>;
template <class Operation, class... Operand>
inline constexpr int tracked_count<lazy<Operation, Operand...>> = (0 + ... + tracked_count<Operand>);

/// Computes value and gradients of a single element and lets the gradients flow.
template <class E>
typename E::element_type backward_scalar(hook, const E& e, bool retain_graph) {
  using program_type = program<backward_source<E>>;
  check_versions(e, "backward");
  typename E::element_type value{};
  run_backward(retain_graph, [&] {
    constexpr int n = operand_count<E>, tracked = tracked_count<E>;
    leaf_argument arguments[n];
    const void* pointers[n];
    leaf_argument* at = arguments;
    collect_operands(e, at);
    delivery deliveries[tracked];
    delivery* to = deliveries;
    add_deliveries(e, to);
    call_bound<program_type>(arguments, n, pointers, [&](void** results, const std::int64_t*) {
      results[0] = &value;
      for (int i = 0; i < tracked; ++i) results[i + 1] = deliveries[i].begin();
      return 0;
    });
    for (delivery& d : deliveries) d.finish();
  });
  return value;
}

/// The history of a tensor that was made from an expression of type E.
template <class E>
class expression_history final : public gradient_sink {
  using program_type = program<cotangent_source<E>>;
  static constexpr int operands = operand_count<E>;
  static constexpr bool reads_result = reads_input<program_type>(operands + 1);

 public:
  expression_history(const E& e, const extents& shape) : gradient_sink(dtype_v<typename E::element_type>, shape), expression_(e) {
    int i = 0;
    for_each_operand(e, [&](const auto& x) {
      if constexpr (requires { x.storage; })
        if (reads(i)) saved_[i] = saved_storage(x.storage);
      ++i;
    });
    forget_unread(i);
  }

  /// The result's memory, where the derivative reads it. Called once, when it is filled.
  void save_result(const storage_handle& memory, const void* data) {
    if constexpr (reads_result) {
      saved_[operands] = saved_storage(memory);
      result_ = data;
    }
  }

  bool is_node() const override { return true; }

  void propagate(bool retain_graph) override {
    if (is_freed_) throw ownership_error("tenure: backward: the graph was freed by an earlier backward(): pass retain_graph = true there");
    for (int i = 0; i <= operands; ++i)
      if (saved_[i] && !saved_[i].intact())
        throw ownership_error("tenure: backward: a value that the gradient reads was overwritten after it was used");
    leaf_argument arguments[operands + 2];
    const void* pointers[operands + 2];
    leaf_argument* at = arguments;
    collect_operands(expression_, at);
    *at++ = {grad.data(), shape, row_major(shape)};
    *at++ = {result_, shape, row_major(shape)};
    constexpr int tracked = tracked_count<E>;
    delivery deliveries[tracked];
    delivery* to = deliveries;
    add_deliveries(expression_, to);
    call_bound<program_type>(arguments, operands + 2, pointers, [&](void** results, const std::int64_t*) {
      for (int i = 0; i < tracked; ++i) results[i] = deliveries[i].begin();
      return 0;
    });
    for (delivery& d : deliveries) d.finish();
    if (!retain_graph) {
      is_freed_ = true;
      for (saved_storage& s : saved_) s = {};
    }
  }

 private:
  static constexpr bool reads(int i) {
    constexpr auto read = [] {
      struct { bool at[operands + 2] = {}; } r;
      for (int j = 0; j < operands + 2; ++j) r.at[j] = reads_input<program_type>(j);
      return r;
    }();
    return read.at[i];
  }
  /// Memory that the derivative does not read is not kept alive by the history.
  void forget_unread(int) {
    int i = 0;
    for_each_operand(expression_, [&](auto& x) {
      if constexpr (requires { x.storage; })
        if (!reads(i)) const_cast<storage_handle&>(x.storage) = {};
      ++i;
    });
  }

  E expression_;
  saved_storage saved_[operands + 1];
  const void* result_ = nullptr;
  bool is_freed_ = false;
};

/// The history of a view: adds what arrives into its place in the base's gradient.
class view_sink final : public gradient_sink {
 public:
  view_sink(dtype type, const layout& where, sink_handle base) : gradient_sink(type, where.shape), where_(where), base_(std::move(base)) {}

  bool is_node() const override { return true; }
  void propagate(bool) override {
    if (type == dtype::float32) add<float>();
    else add<double>();
    delivery{base_}.finish();
  }

 private:
  template <class T>
  void add() {
    if (!base_->grad) {
      base_->grad = allocate_storage(static_cast<std::size_t>(count(base_->shape)) * sizeof(T));
      std::memset(base_->grad.data(), 0, base_->grad.bytes());
    }
    base_->grad.bump();
    base_->is_zeroed = false;
    T* const to = static_cast<T*>(base_->grad.data()) + where_.offset;
    const T* const from = static_cast<const T*>(grad.data());
    for_each_run(shape, where_.strides, row_major(shape), [=](std::int64_t t, std::int64_t f, std::int64_t n, std::int64_t step_t, std::int64_t step_f) {
      for (std::int64_t i = 0; i < n; ++i) to[t + i * step_t] += from[f + i * step_f];
    });
  }

  layout where_;
  sink_handle base_;
};

template <class X>
sink_handle view_history(hook, const X& base, const layout& where) {
  return sink_handle(new view_sink(dtype_v<element_t<X>>, where, tensor_access::sink(base)));
}

}  // namespace tenure::detail
