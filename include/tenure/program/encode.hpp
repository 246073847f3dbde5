// SPDX-License-Identifier: BSL-1.0
// A plan as plain integers: the code of each kernel (its template argument, on the CPU and on a GPU) and the tables that
// bind its accesses to memory when it runs. Equal kernels have equal codes, so a loop of 200 turns compiles its body once.
#pragma once

#include <tenure/passes/schedule.hpp>

namespace tenure {

/// A kernel's code: what a kernel template is specialised on.
template <std::int64_t... Words>
struct code {
  static constexpr int size = sizeof...(Words);
  static constexpr std::int64_t word[sizeof...(Words)] = {Words...};
};

namespace program_detail {

/// A number that only the run knows is spelled as its position among the step's run-time numbers.
inline constexpr std::int64_t first_dynamic = INT64_MIN;
constexpr bool is_dynamic(std::int64_t word) { return word < INT64_MIN / 2; }

struct binding {
  std::int16_t buffer = 0;
  passes::number offset{};
};

/// A step at run time: which kernel, which buffers, which numbers.
struct bound_step {
  passes::step::kind what = passes::step::kind::fused;
  dtype type = dtype::float32;
  int kernel = -1;
  int first_binding = 0, binding_count = 0;
  int first_number = 0, number_count = 0;
};

struct encoder {
  ir::array<std::int64_t> words;
  ir::array<int> first_word;  // of each kernel, and one past the last
  ir::array<binding> bindings;
  ir::array<passes::number> numbers;
  ir::array<bound_step> steps;

  constexpr explicit encoder(const passes::plan_view& p) {
    for (int i = 0; i < p.step_count; ++i) {
      const passes::step& s = p.steps[i];
      bound_step b{.what = s.what, .kernel = s.kernel, .first_binding = bindings.size(), .first_number = numbers.size()};
      if (s.what == passes::step::kind::fused) b.kernel = encode_kernel(p, p.kernels[s.kernel]);
      else encode_opaque(p, s, b);
      b.binding_count = bindings.size() - b.first_binding;
      b.number_count = numbers.size() - b.first_number;
      steps.push_back(b);
    }
    first_word.push_back(words.size());
  }

 private:
  constexpr void add_number(const passes::number& n, int first) {
    if (n.is_static()) {
      words.push_back(n.factor);
    } else {
      words.push_back(first_dynamic + (numbers.size() - first));
      numbers.push_back(n);
    }
  }

  /// Gives the kernel's number: equal codes are one kernel, so that a loop of many turns compiles its body once.
  constexpr int encode_kernel(const passes::plan_view& p, const passes::kernel& k) {
    const int first = numbers.size(), rank = k.outer + k.inner, begin = words.size();
    words.push_back(static_cast<std::int64_t>(k.lane) | std::int64_t{k.outer} << 4 | std::int64_t{k.inner} << 8 | std::int64_t{k.passes} << 12 |
                    std::int64_t{k.instruction_count} << 24 | std::int64_t{k.access_count} << 40);
    for (int d = 0; d < rank; ++d) add_number(k.extent[d], first);
    for (int a = 0; a < k.access_count; ++a) {
      const passes::access& x = p.accesses[k.first_access + a];
      words.push_back(static_cast<std::int64_t>(x.type) | (x.buffer < 0 ? 16 : 0));
      for (int d = 0; d < rank; ++d) add_number(x.stride[d], first);
      bindings.push_back({x.buffer, x.offset});
    }
    for (int i = 0; i < k.instruction_count; ++i) {
      const passes::instruction& x = p.instructions[k.first_instruction + i];
      const auto operand = [&](int n) { return static_cast<std::int64_t>(x.in[n] + 1); };
      words.push_back(static_cast<std::int64_t>(x.what) | std::int64_t{x.is_mask} << 3 | std::int64_t{x.row} << 4 |
                      static_cast<std::int64_t>(x.op) << 5 | std::int64_t{x.phase} << 13 | std::int64_t{x.passes} << 18 |
                      operand(0) << 34 | operand(1) << 44 | operand(2) << 54);
      words.push_back(x.what == passes::instruction::kind::constant ? x.bits : (x.bits << 16 | static_cast<std::int64_t>(x.access + 1)));
    }
    return unique_kernel(begin);
  }

  constexpr int unique_kernel(int begin) {
    const int size = words.size() - begin;
    std::uint64_t hash = static_cast<std::uint64_t>(size);
    for (int i = begin; i < words.size(); ++i) hash = (hash ^ static_cast<std::uint64_t>(words[i])) * 0x9E3779B97F4A7C15u;
    for (int k = 0; k < first_word.size(); ++k) {
      const int from = first_word[k], to = k + 1 < first_word.size() ? first_word[k + 1] : begin;
      bool same = hashes_[k] == hash && to - from == size;
      for (int i = 0; same && i < size; ++i) same = words[from + i] == words[begin + i];
      if (!same) continue;
      words.resize(begin);
      return k;
    }
    hashes_.push_back(hash);
    return first_word.push_back(begin);
  }

  ir::array<std::uint64_t> hashes_;

  /// Opaque steps read their shapes as numbers; backend/eigen/opaque.hpp reads them in this order.
  constexpr void encode_opaque(const passes::plan_view& p, const passes::step& s, bound_step& b) {
    const ir::node& n = p.graph[s.node];
    b.type = n.type;
    for (int a = 0; a < s.access_count; ++a) bindings.push_back({p.accesses[s.first_access + a].buffer, p.accesses[s.first_access + a].offset});
    const auto put = [&](std::int64_t v) { numbers.push_back({v, 0}); };
    const auto put_access = [&](int a, const extents& shape) {
      put(shape.rank);
      for (int d = 0; d < shape.rank; ++d) numbers.push_back(passes::number_of(shape[d]));
      for (int d = 0; d < shape.rank; ++d) numbers.push_back(p.accesses[s.first_access + a].stride[d]);
    };
    put(n.attr);
    put(n.start);
    put(n.step);
    for (int k = 0; k < n.arity; ++k) {
      put(static_cast<std::int64_t>(p.graph[n.in[k]].type));
      put_access(k, p.graph.shape_of(n.in[k]));
    }
    put_access(n.arity, p.graph.shape_of(s.node));
    if (n.op == ir::opcode::check) put_bounds(p.graph, s.node);
  }

  /// How many bounds the node has; the position and the extent of each.
  constexpr void put_bounds(const ir::graph_view& g, ir::node_id indices) {
    const int count = numbers.push_back({0, 0});
    for (int i = 0; i < g.bound_count; ++i)
      if (g.bounds[i].indices == indices) {
        ++numbers[count].factor;
        numbers.push_back({i, 0});
        numbers.push_back(passes::number_of(g.bounds[i].extent));
      }
  }
};

}  // namespace program_detail
}  // namespace tenure
