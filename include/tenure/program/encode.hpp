// SPDX-License-Identifier: BSL-1.0
// Encodes a plan as integers. Each kernel becomes a code: the template argument of the kernel on the CPU and on a GPU. Tables bind the
// accesses of a code to memory at run time. Equal kernels have equal codes, so the body of a traced loop of 200 iterations is compiled once.
#pragma once

#include <tenure/ir/index.hpp>
#include <tenure/passes/schedule.hpp>

namespace TENURE_NAMESPACE {

/// The code of a kernel, the template argument of kernel templates.
template <std::int64_t... Words>
struct code {
  static constexpr int size = sizeof...(Words);
  static constexpr std::int64_t word[sizeof...(Words)] = {Words...};
};

namespace program_detail {

/// A run-time number is encoded as first_dynamic plus its position among the run-time numbers of the step.
inline constexpr std::int64_t first_dynamic = INT64_MIN;
constexpr bool is_dynamic(std::int64_t word) { return word < INT64_MIN / 2; }

// The bit fields of an instruction word are wide enough: a node becomes at most one compute, one store and three loads or constants.
static_assert(5 * passes::costs::nodes_per_kernel < 1023 && passes::costs::row_reductions_per_kernel < 16);
// The same with `numbers_per_kernel` numbers of samples: here the loads are counted one by one.
static_assert(2 * passes::costs::numbers_per_kernel + passes::costs::loads_per_kernel + passes::costs::more_reads_of_numbers * passes::costs::reads_per_kernel < 1020);

struct binding {
  int buffer = 0;
  passes::symbolic_size offset{};
};

/// A step at run time: its kernel, or its operation and the element type of its result; its buffers and its numbers.
struct bound_step {
  int kernel = -1;
  ir::opcode op = ir::opcode::copy;
  dtype type = dtype::float32;
  int first_binding = 0, binding_count = 0;
  int first_number = 0, number_count = 0;
  int control_flow = -1;  // the position of its record, if the step is a loop or a branch

  constexpr bool is_fused() const { return kernel >= 0; }
  constexpr bool is_operation() const { return kernel < 0 && control_flow < 0; }
};

struct table_sizes {
  int words = 0, codes = 0, numbers = 0, bindings = 0, steps = 0, buffers = 0;

  friend constexpr bool operator<=(const table_sizes& a, const table_sizes& b) {
    return a.words <= b.words && a.codes <= b.codes && a.numbers <= b.numbers && a.bindings <= b.bindings && a.steps <= b.steps && a.buffers <= b.buffers;
  }
};

/// The tables by reference.
struct tables_view {
  table_sizes sizes;
  const std::int64_t* words = nullptr;
  const int* first_word = nullptr;           // the first word of each code, and the end of the last one
  const passes::kernel* kernels = nullptr;   // the kernel of each code
  const passes::symbolic_size* numbers = nullptr;
  const binding* bindings = nullptr;
  const bound_step* steps = nullptr;
  const passes::buffer* buffers = nullptr;
};

/// The tables as a constexpr value. Sizes::value gives the sizes of its arrays.
template <class Sizes>
struct frozen_tables {
  static constexpr table_sizes room = Sizes::value;

  ir::frozen<std::int64_t, room.words> words;
  ir::frozen<int, room.codes + 1> first_word;
  ir::frozen<passes::kernel, room.codes> kernels;
  ir::frozen<passes::symbolic_size, room.numbers> numbers;
  ir::frozen<binding, room.bindings> bindings;
  ir::frozen<bound_step, room.steps> steps;
  ir::frozen<passes::buffer, room.buffers> buffers;
  table_sizes sizes;

  // Empty tables have no first word. The code does not compare their pointer with nullptr, because under UBSan g++ does not accept this
  // comparison as a constant expression.
  constexpr explicit frozen_tables(const tables_view& v)
      : words(v.words, v.sizes.words), first_word(v.first_word, v.sizes.codes == 0 ? 0 : v.sizes.codes + 1), kernels(v.kernels, v.sizes.codes), numbers(v.numbers, v.sizes.numbers),
        bindings(v.bindings, v.sizes.bindings), steps(v.steps, v.sizes.steps), buffers(v.buffers, v.sizes.buffers), sizes(v.sizes) {}

  constexpr tables_view view() const { return {sizes, words, first_word, kernels, numbers, bindings, steps, buffers}; }
};

class encoder {
 public:
  constexpr explicit encoder(const passes::plan_view& plan) : p_(plan) {
    ir::array<int> code_of(p_.kernel_count), first_step(p_.kernel_count, -1);
    find_neighbours();
    for (int k = 0; k < p_.kernel_count; ++k) code_of[k] = encode_kernel(p_.kernels[k]);
    first_word_.push_back(words_.size());
    bindings_.reserve(p_.access_count);
    for (int a = 0; a < p_.access_count; ++a) bindings_.push_back({p_.accesses[a].buffer, p_.accesses[a].offset});
    steps_.reserve(p_.step_count);
    for (int i = 0; i < p_.step_count; ++i) {
      const passes::step& s = p_.steps[i];
      bound_step b{.op = s.op, .first_binding = s.first_access, .binding_count = s.access_count};
      if (s.is_fused()) {
        b.kernel = code_of[s.kernel];
        bind_kernel(s, b, first_step[s.kernel] < 0 ? nullptr : &steps_[first_step[s.kernel]]);
        if (first_step[s.kernel] < 0) first_step[s.kernel] = i;
      } else {
        b.type = p_.graph[s.node].type;
        bind_opaque(i, b);
      }
      steps_.push_back(b);
    }
  }

  constexpr tables_view view() const {
    return {{words_.size(), kernels_.size(), numbers_.size(), bindings_.size(), steps_.size(), p_.buffer_count},
            words_.data(), first_word_.data(), kernels_.data(), numbers_.data(), bindings_.data(), steps_.data(), p_.buffers};
  }

 private:
  /// Returns the number of the kernel. Kernels with equal codes have one number, so the body of a traced loop is compiled once.
  constexpr int encode_kernel(const passes::kernel& k) {
    const int rank = k.outer + k.inner, begin = words_.size();
    int numbers = 0;
    const auto add_number = [&](const passes::symbolic_size& n) { words_.push_back(n.is_static() ? n.factor : first_dynamic + numbers++); };
    words_.push_back(static_cast<std::int64_t>(k.lane) | std::int64_t{k.outer} << 4 | std::int64_t{k.inner} << 8 | std::int64_t{k.passes} << 12 |
                    std::int64_t{k.instruction_count} << 24 | std::int64_t{k.access_count} << 40);
    for (int d = 0; d < rank; ++d) add_number(k.extent[d]);
    for (int a = 0; a < k.access_count; ++a) {
      const passes::access& x = p_.accesses[k.first_access + a];
      const int neighbour = neighbours_.size() > 0 ? neighbours_[k.first_access + a] : -1;
      words_.push_back(static_cast<std::int64_t>(x.type) | (x.counts() ? 16 : 0) | std::int64_t{neighbour + 1} << 8);
      if (x.counts()) words_.push_back(first_dynamic + numbers++);  // its start, which may differ between the steps of a kernel
      for (int d = 0; d < rank; ++d) add_number(p_.stride(x, d));
    }
    for (int i = 0; i < k.instruction_count; ++i) {
      const passes::instruction& x = p_.instructions[k.first_instruction + i];
      const auto operand = [&](int n) { return static_cast<std::int64_t>(x.in[n] + 1); };
      words_.push_back(static_cast<std::int64_t>(x.what) | std::int64_t{x.is_mask} << 3 | std::int64_t{x.row} << 4 |
                      static_cast<std::int64_t>(x.op) << 5 | std::int64_t{x.phase} << 13 | std::int64_t{x.passes} << 18 |
                      operand(0) << 34 | operand(1) << 44 | operand(2) << 54);
      words_.push_back(x.what == passes::instruction::kind::constant ? x.bits : (x.bits << 16 | static_cast<std::int64_t>(x.access + 1)));
    }
    return unique_code(begin, k);
  }

  /// Finds neighbours among the accesses of kernels whose lanes are rows in memory, such as samples: access b is the neighbour of access a if
  /// the memory of b begins one element behind the memory of a, in all steps of the kernel. A kernel loads or stores neighbours together and
  /// transposes them in registers.
  constexpr void find_neighbours() {
    bool any = false;
    for (int i = 0; i < p_.step_count && !any; ++i) {
      const passes::step& s = p_.steps[i];
      if (!s.is_fused()) continue;
      const int last = p_.kernels[s.kernel].outer + p_.kernels[s.kernel].inner - 1;
      for (int a = 0; last >= 0 && a < s.access_count && !any; ++a) {
        const passes::access& x = p_.accesses[s.first_access + a];
        any = x.buffer >= 0 && x.offset.factor != 0 && p_.stride(x, last).factor != 0 && !(p_.stride(x, last) == passes::symbolic_size{1, 0});
      }
    }
    if (!any) return;
    neighbours_.resize(p_.access_count, -1);
    ir::array<char> known(p_.kernel_count, 0);
    for (int i = 0; i < p_.step_count; ++i) {
      const passes::step& s = p_.steps[i];
      if (!s.is_fused()) continue;
      const passes::kernel& k = p_.kernels[s.kernel];
      const int rank = k.outer + k.inner;
      for (int a = 0; a < k.access_count; ++a) {
        const passes::access& x = p_.accesses[s.first_access + a];
        int& found = neighbours_[k.first_access + a];
        if (x.buffer < 0 || rank == 0 || p_.stride(x, rank - 1) == passes::symbolic_size{1, 0}) continue;
        const auto is_next = [&](int b) {
          const passes::access& y = p_.accesses[s.first_access + b];
          return y.buffer == x.buffer && y.strides == x.strides && x.offset.is_static() && y.offset.is_static() && y.offset.factor == x.offset.factor + 1;
        };
        if (!known[s.kernel]) {
          for (int b = 0; b < k.access_count && found < 0; ++b)
            if (is_next(b)) found = b;
        } else if (found >= 0 && !is_next(found)) {
          found = -1;
        }
      }
      known[s.kernel] = 1;
    }
  }

  constexpr bool counts_positions(const passes::step& s) const {
    for (int a = 0; a < s.access_count; ++a)
      if (p_.accesses[s.first_access + a].counts()) return true;
    return false;
  }

  /// Writes the run-time numbers of a fused step, in the order in which the code of its kernel mentions them.
  constexpr void add_numbers(const passes::step& s) {
    const passes::kernel& k = p_.kernels[s.kernel];
    const auto add = [&](const passes::symbolic_size& n) {
      if (!n.is_static()) numbers_.push_back(n);
    };
    for (int d = 0; d < k.outer + k.inner; ++d) add(k.extent[d]);
    for (int a = 0; a < k.access_count; ++a) {
      const passes::access& x = p_.accesses[s.first_access + a];
      if (x.counts()) numbers_.push_back(x.offset);
      for (int d = 0; d < k.outer + k.inner; ++d) add(p_.stride(x, d));
    }
  }

  /// Steps of one kernel share their numbers, unless they count positions from different starts. `first` is the first step of the kernel, or
  /// null if `s` is this step.
  constexpr void bind_kernel(const passes::step& s, bound_step& b, const bound_step* first) {
    const int begin = numbers_.size();
    if (first == nullptr || counts_positions(s)) add_numbers(s);
    bool is_equal = first != nullptr;
    for (int i = begin; i < numbers_.size(); ++i) is_equal = is_equal && numbers_[first->first_number + i - begin] == numbers_[i];
    if (is_equal) numbers_.resize(begin);
    b.first_number = is_equal ? first->first_number : begin;
    b.number_count = is_equal ? first->number_count : numbers_.size() - begin;
  }

  constexpr int unique_code(int begin, const passes::kernel& k) {
    const int size = words_.size() - begin;
    std::uint64_t hash = static_cast<std::uint64_t>(size);
    for (int i = begin; i < words_.size(); ++i) hash = (hash ^ static_cast<std::uint64_t>(words_[i])) * 0x9E3779B97F4A7C15u;
    const int known = codes_.find(hash, [&](int code) {
      const int from = first_word_[code], to = code + 1 < first_word_.size() ? first_word_[code + 1] : begin;
      bool same = to - from == size;
      for (int i = 0; same && i < size; ++i) same = words_[from + i] == words_[begin + i];
      return same;
    });
    if (known >= 0) {
      words_.resize(begin);
      return known;
    }
    codes_.enter(hash, kernels_.size());
    kernels_.push_back(k);
    return first_word_.push_back(begin);
  }

  /// Equal opaque operations whose operands have equal shapes and strides share their entries of numbers_.
  constexpr void bind_opaque(int at, bound_step& b) {
    const passes::step& s = p_.steps[at];
    const ir::node& n = p_.graph[s.node];
    if (const ir::found_control_flow c = p_.graph.find_control_flow(s.node); c != nullptr) {
      b.control_flow = static_cast<int>(n.attr);
      b.number_count = 1;
      b.first_number = numbers_.push_back(passes::symbolic_size_of(c->length));
      return;
    }
    std::uint64_t hash = static_cast<std::uint64_t>(n.op) << 16 ^ static_cast<std::uint64_t>(n.shape);
    for (int a = 0; a < s.access_count; ++a) hash = (hash ^ static_cast<std::uint64_t>(p_.accesses[s.first_access + a].strides)) * 0x9E3779B97F4A7C15u;
    const int known = n.op == ir::opcode::check ? -1 : opaque_.find(hash, [&](int i) { return is_like(s, p_.steps[i]); });
    if (known >= 0) {
      b.first_number = steps_[known].first_number;
      b.number_count = steps_[known].number_count;
      return;
    }
    opaque_.enter(hash, at);
    b.first_number = numbers_.size();
    encode_opaque(s);
    b.number_count = numbers_.size() - b.first_number;
  }

  constexpr bool is_like(const passes::step& s, const passes::step& t) const {
    const ir::node &n = p_.graph[s.node], &m = p_.graph[t.node];
    if (n.op != m.op || n.type != m.type || n.shape != m.shape || n.attr != m.attr || n.start != m.start || n.step != m.step) return false;
    for (int k = 0; k < n.arity; ++k)
      if (p_.graph[n.in[k]].type != p_.graph[m.in[k]].type || p_.graph[n.in[k]].shape != p_.graph[m.in[k]].shape) return false;
    for (int a = 0; a < s.access_count; ++a)
      if (p_.accesses[s.first_access + a].strides != p_.accesses[t.first_access + a].strides) return false;
    return true;
  }

  /// Writes the numbers of an opaque step. opaque_operation (program/bind.hpp) reads them in the same order.
  constexpr void encode_opaque(const passes::step& s) {
    const ir::node& n = p_.graph[s.node];
    const auto put = [&](std::int64_t v) { numbers_.push_back({v, 0}); };
    const auto put_access = [&](int a, const extents& shape) {
      put(shape.rank);
      for (int d = 0; d < shape.rank; ++d) numbers_.push_back(passes::symbolic_size_of(shape[d]));
      for (int d = 0; d < shape.rank; ++d) numbers_.push_back(p_.stride(p_.accesses[s.first_access + a], d));
    };
    put(n.arity);
    put(n.attr);
    put(n.start);
    put(n.step);
    for (int k = 0; k < n.arity; ++k) {
      put(static_cast<std::int64_t>(p_.graph[n.in[k]].type));
      put_access(k, p_.graph.shape_of(n.in[k]));
    }
    if (ops::result_count(n.op) == 1) put_access(n.arity, p_.graph.shape_of(s.node));
    else put(0);  // each result is row-major, and the operands say its extents
    put_bounds(p_.graph, n.op == ir::opcode::check ? s.node : ir::none);
  }

  /// Writes the number of bounds of the node, then the position and the extent of each.
  constexpr void put_bounds(const ir::graph_view& g, ir::node_id indices) {
    const int count = numbers_.push_back({0, 0});
    for (int i = 0; i < g.bound_count; ++i)
      if (g.bounds[i].indices == indices) {
        ++numbers_[count].factor;
        numbers_.push_back({i, 0});
        numbers_.push_back(passes::symbolic_size_of(g.bounds[i].extent));
      }
  }

  passes::plan_view p_;
  ir::array<std::int64_t> words_;
  ir::array<int> first_word_;
  ir::array<passes::kernel> kernels_;
  ir::array<int> neighbours_;  // of each access, or -1; empty if the lanes of every kernel are contiguous in memory
  ir::array<passes::symbolic_size> numbers_;
  ir::array<binding> bindings_;
  ir::array<bound_step> steps_;
  ir::index codes_, opaque_;  // first_word_, steps_
};

}  // namespace program_detail
}  // namespace tenure
