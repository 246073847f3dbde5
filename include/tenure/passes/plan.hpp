// SPDX-License-Identifier: BSL-1.0
// A plan describes a program as records: buffers, and steps that read and write them. A step is a fused kernel (one loop nest that keeps
// intermediate values in registers) or one operation whose record states lowering::step, as matmul does.
//
// A kernel walks an iteration space that is split into outer and inner dimensions. The inner dimensions are the row. An instruction runs once for
// each element or once for each row. The result of a row reduction is known after a pass over the row. Instructions that depend on this result
// run in the next pass. softmax has three passes over a row, and the row stays in cache.
#pragma once

#include <tenure/ir/graph.hpp>
#include <tenure/ops/registry.hpp>

namespace TENURE_NAMESPACE::passes {

/// A product of a number and run-time extents. Sizes, strides and offsets have this form. `symbols` has the symbols of the extents in ascending
/// order, eight bits each. Symbol k is stored as k + 1, so that 0 means no symbol.
struct symbolic_size {
  std::int64_t factor = 0;
  std::uint64_t symbols = 0;

  friend constexpr bool operator==(const symbolic_size& a, const symbolic_size& b) {
    return a.factor == b.factor && (a.symbols == b.symbols || a.factor == 0);
  }
  constexpr bool is_static() const { return symbols == 0 || factor == 0; }
};

constexpr symbolic_size symbolic_size_of(std::int64_t extent) {
  return is_static(extent) ? symbolic_size{extent, 0} : symbolic_size{1, static_cast<std::uint64_t>(ir::symbol_of_extent(extent)) + 1};
}
constexpr symbolic_size operator*(const symbolic_size& a, const symbolic_size& b) {
  symbolic_size r{a.factor * b.factor, a.symbols | b.symbols};
  if (r.factor == 0) return {};  // without symbols, because the bitwise or above is not a valid list of symbols
  if (a.symbols == 0 || b.symbols == 0) return r;
  r.symbols = 0;
  std::uint64_t x = a.symbols, y = b.symbols;
  int at = 0;
  while (x != 0 || y != 0) {
    const bool take_x = y == 0 || (x != 0 && (x & 255) <= (y & 255));
    r.symbols |= ((take_x ? x : y) & 255) << at;
    if (take_x) x >>= 8;
    else y >>= 8;
    at += 8;
  }
  return r;
}
/// The value of the product, given the values of all symbols.
constexpr std::int64_t value_of(const symbolic_size& n, const std::int64_t* symbols) {
  std::int64_t v = n.factor;
  for (std::uint64_t s = n.symbols; s != 0; s >>= 8) v *= symbols[(s & 255) - 1];
  return v;
}

struct buffer {
  enum class place : std::uint8_t { argument, result, workspace } where = place::workspace;
  dtype type = dtype::float32;
  int index = 0;  // argument or result number
  symbolic_size elements{};
  int first = 0, last = 0;    // the first and the last step that use the buffer
  int in_place_of = -1;       // for a temporary: the temporary whose memory it takes over in step `first`; -1: none
  bool is_passed_on = false;  // another temporary takes over the memory in step `last`
  int held_until = -1;        // the kernel of a group whose other steps read the buffer: a backend may run them inside this kernel (groups.hpp)

  /// The last step before which nothing is written over the buffer, except element by element in step `last`.
  constexpr int until() const { return held_until > last ? held_until : last; }
};

/// The distance in memory between neighbours along each axis, in elements. A plan stores equal strides once: equal strides have equal ids.
struct strides {
  symbolic_size along[max_rank] = {};

  constexpr symbolic_size& operator[](int d) { return along[d]; }
  constexpr const symbolic_size& operator[](int d) const { return along[d]; }

  friend constexpr bool operator==(const strides& a, const strides& b) {
    for (int d = 0; d < max_rank; ++d)
      if (a.along[d].factor != b.along[d].factor || (a.along[d].symbols != b.along[d].symbols && a.along[d].factor != 0)) return false;
    return true;
  }
};

/// A buffer and the strides to read or write it: one for each dimension of a kernel, or for each axis of the operand of another step.
struct access {
  static constexpr int counting = -1;  // no buffer: the value of an element is the sum of the offset and of index times stride
  static constexpr int nowhere = -2;   // no buffer: nothing reads this result of a step
  int buffer = counting;
  dtype type = dtype::float32;
  std::int8_t rank = 0;
  int strides = 0;  // index of the strides in the plan
  symbolic_size offset{};

  constexpr bool counts() const { return buffer == counting; }
};

struct instruction {
  enum class kind : std::uint8_t { load, constant, compute, reduce_row, reduce_columns, reduce_all, store };
  kind what = kind::compute;
  ir::opcode op = ir::opcode::copy;  // for a compute instruction: the operation
  bool is_mask = false;              // the value is a mask (bool)
  bool row = false;                  // one value for each row, not for each element
  int phase = 0;                     // the first pass over the row in which the value is known
  unsigned passes = 0;               // bit mask of the passes that compute the value
  int in[3] = {-1, -1, -1};
  std::int64_t bits = 0;  // constant: the value as in a node; reduction: its kind; cast to a narrow type: this type, to whose numbers the lanes are rounded; else 0
  int access = -1;  // load, store, reduction: the access in the step; compute: the access to memory that keeps the value for later passes

  constexpr bool runs_in(int pass) const { return (passes >> pass & 1) != 0; }
  constexpr bool ran_before(int pass) const { return (passes & ((1u << pass) - 1)) != 0; }
  constexpr bool is_kept() const { return what == kind::compute && access >= 0; }
  constexpr int operands() const {
    int n = 0;
    while (n < 3 && in[n] >= 0) ++n;
    return n;
  }
  constexpr bool stores_row() const { return what == kind::store && row; }
  constexpr bool reduces() const { return what == kind::reduce_row || what == kind::reduce_columns || what == kind::reduce_all; }
  constexpr ir::reduction reduction() const { return static_cast<ir::reduction>(bits); }

  /// Whether two instructions are equal. `passes` and the memory of a compute instruction are not compared, because they follow from the other
  /// instructions of the kernel.
  constexpr bool does_as(const instruction& x) const {
    return what == x.what && op == x.op && is_mask == x.is_mask && row == x.row && phase == x.phase && in[0] == x.in[0] && in[1] == x.in[1] &&
           in[2] == x.in[2] && bits == x.bits && (access == x.access || what == kind::compute);
  }
};

/// A loop nest. Several steps can share a kernel. These steps differ only in the buffers and offsets of their accesses.
struct kernel {
  dtype lane = dtype::float32;
  std::int8_t outer = 0, inner = 0;
  std::uint8_t passes = 1;
  symbolic_size extent[max_rank] = {};
  int first_instruction = 0, instruction_count = 0;
  int first_access = 0, access_count = 0;  // the accesses of the first step that runs the kernel
};

/// A fused step has a kernel. Another step has a node and the operation of this node instead.
struct step {
  int kernel = -1;
  ir::node_id node = ir::none;
  ir::opcode op = ir::opcode::copy;
  int first_access = 0, access_count = 0;  // without a kernel: the operands, then the results

  constexpr bool is_fused() const { return kernel >= 0; }
};

/// A product that reads rows that a kernel writes, and whose sums run over these rows.
struct product_over_rows {
  int factor = 0;              // which factor is the transpose of the rows (0), or the rows (1)
  bool stays = true;           // another step reads the rows too, or they are a result
  bool shares_factor = false;  // the other factor is the left factor of the product before the kernel
  int buffer = -1;             // of the rows
  std::uint64_t accesses = 0;  // a bit for each access of the kernel that writes the rows
  symbolic_size row{}, other_row{};  // the elements of a row, and of a row of the other factor
};
/// The most products that read the rows of a kernel: one of a gradient, and one of a derivative of this gradient.
inline constexpr int max_products_over_rows = 2;

/// Steps that run together, a few rows at a time: a product or a gather computes rows, and a kernel reads them directly afterwards. A product is a matmul, or an
/// operation whose result may be cut into pieces (axes_of_piece): a convolution. The kernel of a product is the next step. Products over the rows of this kernel may follow. groups.hpp finds them; a backend may run the steps one after the other instead.
struct row_group {
  enum class kind : std::uint8_t { alone, product, gather } what = kind::alone;
  int kernel = -1;             // the step that reads the rows
  std::uint64_t accesses = 0;  // a bit for each access of the kernel that reads the rows
  std::int64_t rows_at_once = 0, row_bytes = 0;  // 0: the call decides, by its extents. row_bytes: of a gather
  // Of a product:
  std::uint64_t writes = 0;                       // a bit for each access that writes
  bool reduces = false, reduces_columns = false;  // the kernel reduces over rows: the number of blocks is limited, or blocks need memory
  symbolic_size row{1};                           // the elements of a row
  symbolic_size per_row{1};                       // the steps of the leading dimension of the kernel in one row
  bool is_read_later = true;                      // a later step reads the product, or it is a result
  bool is_passed_on = false;                      // the kernel writes a temporary over the product, so all rows of the product need memory
  int passed_to = -1;                             // the product over rows whose rows the kernel writes over the product
  int overwritten_by = -1;                        // the access that stores each element after the product's element was read; it may write to the same place
  int consumer_count = 0;                         // the products after the kernel that read its rows
  product_over_rows consumers[max_products_over_rows] = {};

  constexpr bool is_of_product() const { return what == kind::product; }
  constexpr bool is_of_gather() const { return what == kind::gather; }
  /// Whether nothing but the kernel reads the product or writes over it. So a few rows at a time need memory.
  constexpr bool needs_only_blocks(bool in_body) const { return !in_body && !is_read_later && !is_passed_on; }
};

struct plan_view {
  ir::graph_view graph;
  const buffer* buffers = nullptr;
  int buffer_count = 0;
  const passes::strides* strides = nullptr;
  int strides_count = 0;
  const access* accesses = nullptr;
  int access_count = 0;
  const instruction* instructions = nullptr;
  int instruction_count = 0;
  const kernel* kernels = nullptr;
  int kernel_count = 0;
  const step* steps = nullptr;
  int step_count = 0;

  constexpr const symbolic_size& stride(const access& a, int dimension) const { return strides[a.strides][dimension]; }
};

struct plan_sizes {
  int buffers = 0, strides = 0, accesses = 0, instructions = 0, kernels = 0, steps = 0;

  friend constexpr bool operator<=(const plan_sizes& a, const plan_sizes& b) {
    return a.buffers <= b.buffers && a.strides <= b.strides && a.accesses <= b.accesses && a.instructions <= b.instructions &&
           a.kernels <= b.kernels && a.steps <= b.steps;
  }
};
constexpr plan_sizes sizes_of(const plan_view& p) {
  return {p.buffer_count, p.strides_count, p.access_count, p.instruction_count, p.kernel_count, p.step_count};
}

/// A plan as a constexpr value. Sizes::value gives the sizes of its arrays.
template <class Sizes>
struct frozen_plan {
  static constexpr plan_sizes room = Sizes::value;

  ir::frozen<buffer, room.buffers> buffers;
  ir::frozen<passes::strides, room.strides> strides;
  ir::frozen<access, room.accesses> accesses;
  ir::frozen<instruction, room.instructions> instructions;
  ir::frozen<kernel, room.kernels> kernels;
  ir::frozen<step, room.steps> steps;
  plan_sizes sizes;

  constexpr explicit frozen_plan(const plan_view& p)
      : buffers(p.buffers, p.buffer_count), strides(p.strides, p.strides_count), accesses(p.accesses, p.access_count),
        instructions(p.instructions, p.instruction_count), kernels(p.kernels, p.kernel_count), steps(p.steps, p.step_count), sizes(sizes_of(p)) {}

  constexpr plan_view view(const ir::graph_view& g = {}) const {
    return {g, buffers, sizes.buffers, strides, sizes.strides, accesses, sizes.accesses, instructions, sizes.instructions, kernels, sizes.kernels, steps, sizes.steps};
  }
};

struct plan_builder {
  ir::array<buffer> buffers;
  ir::array<passes::strides> strides;
  ir::array<access> accesses;
  ir::array<instruction> instructions;
  ir::array<kernel> kernels;
  ir::array<step> steps;

  constexpr plan_view view(const ir::graph_view& g = {}) const {
    return {g, buffers.data(), buffers.size(), strides.data(), strides.size(), accesses.data(), accesses.size(),
            instructions.data(), instructions.size(), kernels.data(), kernels.size(), steps.data(), steps.size()};
  }
};

}  // namespace tenure::passes
