// SPDX-License-Identifier: BSL-1.0
// Runs a plan record by record: the loops, passes and phases of each kernel, one scalar at a time, with all temporaries in one
// workspace at the offsets that the memory pass chose. Unlike a backend, it checks that every access lies inside its buffer. Tests
// compare its results with the reference to find errors in fusion, schedule and memory plan of any graph.
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>

#include <tenure/backend/reference/run.hpp>
#include <tenure/passes/memory.hpp>
#include <tenure/passes/schedule.hpp>
#include <tenure/program/walk.hpp>

namespace TENURE_NAMESPACE::reference {

/// Thrown for a record that no backend can run.
struct plan_error : std::logic_error { using std::logic_error::logic_error; };

namespace detail {

inline void require(bool holds, const char* what) {
  if (!holds) throw plan_error(what);
}

/// place_buffers with enough scratch memory for every plan in the tests.
inline std::int64_t placed(const passes::plan_view& p, const std::vector<std::int64_t>& symbols, std::int64_t* offsets, bool backwards = false) {
  constexpr int most = 2048;
  require(p.buffer_count <= most && p.step_count <= most, "a plan of more than 2048 buffers or steps");
  const auto scratch = std::make_unique<passes::placement_scratch<most, most>>();
  return passes::place_buffers(p.buffers, p.buffer_count, p.step_count, symbols.data(), offsets, *scratch, backwards);
}

struct memory {
  std::byte* base = nullptr;
  std::int64_t elements = -1;  // -1: an argument; only the caller knows the size of its memory
};

class plan_memory {
 public:
  plan_memory(const passes::plan_view& p, std::span<const argument> arguments, std::span<const int> overwritten)
      : p_(p), symbols_(bind_symbols(p.graph, arguments)) {
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(p.buffer_count) + 1);
    const std::int64_t bytes = placed(p, symbols_, offsets.data());
    workspace_.resize(static_cast<std::size_t>(bytes), std::byte{0xa5});
    for (int i = 0; i < p.graph.output_count; ++i) {
      const ir::node_id id = p.graph.outputs[i];
      results_.emplace_back(p.graph[id].type, known(p.graph.shape_of(id), symbols_));
      results_.back().data.assign(results_.back().data.size(), std::byte{0xa5});
    }
    for (std::size_t r = 0; r < overwritten.size(); ++r)
      if (overwritten[r] >= 0 && !results_[r].data.empty())
        std::memcpy(results_[r].data.data(), arguments[static_cast<std::size_t>(overwritten[r])].data, results_[r].data.size());
    for (int b = 0; b < p.buffer_count; ++b) {
      const passes::buffer& x = p.buffers[b];
      const auto index = static_cast<std::size_t>(x.index);
      if (x.where == passes::buffer::place::argument) {
        const auto shared = std::find(overwritten.begin(), overwritten.end(), x.index);
        if (shared == overwritten.end()) at_.push_back({static_cast<std::byte*>(const_cast<void*>(arguments[index].data)), -1});
        else at_.push_back({results_[static_cast<std::size_t>(shared - overwritten.begin())].data.data(), number(x.elements)});
      } else {
        std::byte* base = x.where == passes::buffer::place::result ? results_[index].data.data() : workspace_.data() + offsets[static_cast<std::size_t>(b)];
        at_.push_back({base, number(x.elements)});
      }
    }
  }

  std::int64_t number(const passes::symbolic_size& n) const { return passes::value_of(n, symbols_.data()); }
  const std::vector<std::int64_t>& symbols() const { return symbols_; }

  /// The address of element `position` in the buffer of an access. Throws plan_error if it is outside.
  std::byte* element(const passes::access& a, std::int64_t position) const {
    require(a.buffer >= 0 && a.buffer < p_.buffer_count, "an access of no buffer");
    const memory& m = at_[static_cast<std::size_t>(a.buffer)];
    require(m.elements < 0 || (position >= 0 && position < m.elements), "an access outside its buffer");
    return m.base + position * size_of(p_.buffers[a.buffer].type);
  }

  std::vector<array> take_results() { return static_cast<std::vector<array>&&>(results_); }

 private:
  passes::plan_view p_;
  std::vector<std::int64_t> symbols_;
  std::vector<std::byte> workspace_;
  std::vector<array> results_;
  std::vector<memory> at_;
};

using program_detail::action;
using program_detail::in_pass;
using program_detail::in_phase;
using program_detail::part;

/// One fused kernel. It follows the same walk as the kernels of the backends, but computes like the reference: with the functions of libm,
/// and with sums in the next wider type.
template <class T>
class kernel_run {
  using positions = std::vector<std::int64_t>;

 public:
  kernel_run(const passes::plan_view& p, const passes::step& s, const plan_memory& m)
      : p_(p), k_(p.kernels[s.kernel]), first_access_(s.first_access), m_(m), slots_(static_cast<std::size_t>(k_.instruction_count)), row_(slots_), element_(slots_), sum_(slots_), best_(slots_) {
    positions start;
    require(s.access_count == k_.access_count, "a step with another number of accesses than its kernel");
    for (int d = 0; d < k_.outer + k_.inner; ++d) extent_.push_back(m.number(k_.extent[d]));
    for (int a = 0; a < k_.access_count; ++a) start.push_back(m.number(access(a).offset));
    require(k_.inner > 0, "a kernel without inner dimensions");
    each(part::totals, 0, [&](int i) { begin(i); });
    walk(0, start);
    if (first_) fill_empty_columns(start);
    each(part::totals, 0, [&](int i) { write(at(i).access, start[static_cast<std::size_t>(at(i).access)], finished(i)); });
  }

 private:
  struct slot {
    T value{};
    bool mask = false;
  };

  const passes::instruction& at(int i) const { return p_.instructions[k_.first_instruction + i]; }
  const passes::access& access(int a) const { return p_.accesses[first_access_ + a]; }
  template <class F>
  void each(part group, int pass, F f) {
    for (int i = 0; i < k_.instruction_count; ++i)
      if (is_in(group, pass, at(i))) f(i);
  }
  void advance(positions& p, int d) const {
    for (int a = 0; a < k_.access_count; ++a) p[static_cast<std::size_t>(a)] += m_.number(p_.stride(access(a), d));
  }

  void walk(int d, positions p) {
    if (d == k_.outer) {
      row(p);
      first_ = false;
      return;
    }
    for (std::int64_t i = 0; i < extent_[static_cast<std::size_t>(d)]; ++i) {
      walk(d + 1, p);
      advance(p, d);
    }
  }

  void row(const positions& p) {
    row_phase(0, p);
    for (int pass = 0; pass < k_.passes; ++pass) {
      each(part::row_sums, pass, [&](int i) { begin(i); });
      walk_row(pass, k_.outer, p);
      each(part::row_sums, pass, [&](int i) { row_[static_cast<std::size_t>(i)].value = finished(i); });
      row_phase(pass + 1, p);
    }
  }

  void walk_row(int pass, int d, positions p) {
    for (std::int64_t i = 0; i < extent_[static_cast<std::size_t>(d)]; ++i) {
      if (d + 1 < k_.outer + k_.inner) {
        walk_row(pass, d + 1, p);
      } else {
        each(part::elements, pass, [&](int i) { run(i, in_pass(at(i), pass), element_, p); });
      }
      advance(p, d);
    }
  }

  slot& in(int i, int k) {
    const int from = at(i).in[k];
    require(from >= 0 && from < i, "an instruction before its operand");
    const auto s = static_cast<std::size_t>(from);
    return at(from).row ? row_[s] : element_[s];
  }

  void load(int i, slot& to, std::int64_t position) {
    const passes::access& a = access(at(i).access);
    if (a.buffer == passes::access::counting) {
      to.value = static_cast<T>(position);
      return;
    }
    const std::byte* from = m_.element(a, position);
    visit_dtype(a.type, [&]<class From>(element_tag<From>) {
      const From v = *reinterpret_cast<const From*>(from);
      if constexpr (number::is_narrow<From>) to.value = static_cast<T>(narrow_format<From>::value(v));
      else if (at(i).is_mask) to.mask = static_cast<bool>(v);
      else to.value = number::convert<T>(v);
    });
  }

  void write(int a, std::int64_t position, T v) { *reinterpret_cast<T*>(typed(a, position)) = v; }
  std::byte* typed(int a, std::int64_t position) {
    require(access(a).type == dtype_v<T>, "a store of another type than the kernel computes in");
    return m_.element(access(a), position);
  }
  void store(int i, const slot& from, std::int64_t position) {
    if (at(i).is_mask) {
      require(access(at(i).access).type == dtype::boolean, "a mask stored as numbers");
      *reinterpret_cast<bool*>(m_.element(access(at(i).access), position)) = from.mask;
    } else {
      const passes::access& a = access(at(i).access);
      if (a.type == dtype_v<T>) return write(at(i).access, position, from.value);
      require(lane_of(a.type) == dtype_v<T>, "a store of another type than the kernel computes in");
      visit_dtype(a.type, [&]<class To>(element_tag<To>) {
        if constexpr (number::is_narrow<To>) *reinterpret_cast<To*>(m_.element(a, position)) = narrow_format<To>::nearest(static_cast<double>(from.value));
      });
    }
  }

  void compute(int i, slot& to) {
    const passes::instruction& x = at(i);
    if (!ops::is_pointwise(x.op)) {  // cast and copy: the load has already converted numbers
      const slot& from = in(i, 0);
      const bool from_mask = at(x.in[0]).is_mask;
      if (x.is_mask) to.mask = from_mask ? from.mask : from.value != T(0);
      else to.value = from_mask ? T(from.mask) : from.value;
      visit_dtype(static_cast<dtype>(x.bits), [&]<class To>(element_tag<To>) {  // a cast to a narrow type
        if constexpr (number::is_narrow<To>) to.value = static_cast<T>(narrow_format<To>::value(narrow_format<To>::nearest(static_cast<double>(to.value))));
      });
      return;
    }
    const ops::operation_record& op = ops::record_of(x.op);
    const void* operands[3] = {};
    for (int k = 0; k < op.arity; ++k) {
      const bool wants_mask = op.types == ops::typing::logical || (op.types == ops::typing::selection && k == 0);
      require(at(x.in[k]).is_mask == wants_mask, "a mask in the place of a number, or the other way round");
      operands[k] = wants_mask ? static_cast<const void*>(&in(i, k).mask) : &in(i, k).value;
    }
    const dtype type = op.types == ops::typing::logical ? dtype::boolean : dtype_v<T>;
    const scalar_function f = function_of(x.op, type);
    require(f != nullptr, "an operation on a type that it has no meaning for");
    f(operands, x.is_mask ? static_cast<void*>(&to.mask) : &to.value);
  }

  /// Runs an instruction for an element or for a row.
  void run(int i, action does, std::vector<slot>& slots, const positions& p) {
    const passes::instruction& x = at(i);
    slot& to = slots[static_cast<std::size_t>(i)];
    const std::int64_t position = x.access >= 0 ? p[static_cast<std::size_t>(x.access)] : 0;
    const auto along_memory = [&] {
      const passes::symbolic_size& step = p_.stride(access(x.access), k_.outer + k_.inner - 1);
      require(step.is_static() && step.factor == 1, "a result that is not row-major");
    };
    switch (does) {
      case action::nothing: return;
      case action::constant:
        require(x.row, "a constant per element");
        if (x.is_mask) to.mask = x.bits != 0;
        else to.value = program_detail::constant_of<T>(x);
        return;
      case action::load: return load(i, to, position);
      case action::compute: return compute(i, to);
      case action::keep:
        compute(i, to);
        along_memory();
        return store(i, to, position);
      case action::store: return store(i, in(i, 0), position);
      case action::reduce_columns: {
        along_memory();
        require(!at(x.in[0]).is_mask, "a reduction of masks");
        T* column = reinterpret_cast<T*>(typed(x.access, position));
        *column = first_ ? in(i, 0).value : combined(x, *column, in(i, 0).value);
        return;
      }
      case action::reduce_row:
      case action::reduce_all: return accumulate(i);
    }
  }

  void row_phase(int phase, const positions& p) {
    each(part::row, phase, [&](int i) { run(i, in_phase(at(i), phase), row_, p); });
  }

  // ---- reductions ----

  static T combined(const passes::instruction& x, T a, T b) {
    if (x.reduction() != ir::reduction::sum) return extremum(x.reduction(), a, b);
    return static_cast<T>(static_cast<accumulator_t<T>>(a) + static_cast<accumulator_t<T>>(b));
  }
  void begin(int i) {
    sum_[static_cast<std::size_t>(i)] = 0;
    best_[static_cast<std::size_t>(i)].value = identity_of<T>(at(i).reduction());
  }
  void accumulate(int i) {
    require(!at(at(i).in[0]).is_mask, "a reduction of masks");
    const T v = in(i, 0).value;
    sum_[static_cast<std::size_t>(i)] += static_cast<accumulator_t<T>>(v);
    T& best = best_[static_cast<std::size_t>(i)].value;
    if (at(i).reduction() != ir::reduction::sum) best = extremum(at(i).reduction(), best, v);
  }
  T finished(int i) const {
    const auto s = static_cast<std::size_t>(i);
    return at(i).reduction() == ir::reduction::sum ? static_cast<T>(sum_[s]) : best_[s].value;
  }
  void fill_empty_columns(const positions& start) {
    each(part::column_sums, 0, [&](int i) {
      std::int64_t n = 1;
      for (int d = k_.outer; d < k_.outer + k_.inner; ++d) n *= extent_[static_cast<std::size_t>(d)];
      for (std::int64_t j = 0; j < n; ++j) write(at(i).access, start[static_cast<std::size_t>(at(i).access)] + j, identity_of<T>(at(i).reduction()));
    });
  }

  const passes::plan_view& p_;
  const passes::kernel& k_;
  int first_access_;
  const plan_memory& m_;
  std::size_t slots_;
  std::vector<std::int64_t> extent_;
  std::vector<slot> row_, element_;
  std::vector<accumulator_t<T>> sum_;
  std::vector<slot> best_;  // not vector<T>: T may be bool, and vector<bool> gives no references
  bool first_ = true;
};

/// Runs a step that is not fused: it copies the operands to arrays, computes the node with the reference, and copies the result.
inline void run_opaque(const passes::plan_view& p, const passes::step& s, const plan_memory& m) {
  const ir::node& n = p.graph[s.node];
  ir::builder one;
  std::vector<array> operands;
  ir::node alone = n;
  alone.shape = one.intern(known(p.graph.shape_of(s.node), m.symbols()));
  for (int k = 0; k <= n.arity; ++k) {
    const ir::node_id id = k < n.arity ? n.in[k] : s.node;
    const passes::access& a = p.accesses[s.first_access + k];
    array x(p.graph[id].type, known(p.graph.shape_of(id), m.symbols()));
    require(a.rank == x.shape.rank, "an access of another rank than its operand");
    if (k < n.arity) alone.in[k] = one.input(x.type, x.shape);
    else {
      one.output(one.emit(alone));
      for (int i = 0; i < p.graph.bound_count; ++i)
        if (const ir::bound& b = p.graph.bounds[i]; b.indices == s.node && n.op == ir::opcode::check)
          one.check_bound({one.view().outputs[0], known(b.extent, m.symbols()), b.call, false, false, b.block, b.refusal});
      x = run(one.view(), operands)[0];
    }
    const auto bytes = static_cast<std::size_t>(size_of(x.type));
    std::size_t at = 0;
    for_each_index(x.shape, [&](const extents& i) {
      std::int64_t position = m.number(a.offset);
      for (int d = 0; d < a.rank; ++d) position += i[d] * m.number(p.stride(a, d));
      std::byte* element = m.element(a, position);
      if (k < n.arity) std::memcpy(x.data.data() + at, element, bytes);
      else std::memcpy(element, x.data.data() + at, bytes);
      at += bytes;
    });
    operands.push_back(x);
  }
}

}  // namespace detail

/// Runs a plan and returns its results. Throws plan_error for a plan that no backend can run. overwritten[r]: the argument in whose memory result r
/// is computed, or -1. This argument is row-major and has the type and size of the result. The run uses a copy, so the caller's memory is unchanged.
inline std::vector<array> run(const passes::plan_view& p, std::span<const argument> arguments, std::span<const int> overwritten = {}) {
  detail::plan_memory m(p, arguments, overwritten);
  for (int i = 0; i < p.step_count; ++i) {
    const passes::step& s = p.steps[i];
    if (!s.is_fused()) {
      detail::run_opaque(p, s, m);
    } else {
      visit_computed(p.kernels[s.kernel].lane, [&]<class T>(element_tag<T>) { detail::kernel_run<T>(p, s, m); });
    }
  }
  return m.take_results();
}

}  // namespace tenure::reference
