// SPDX-License-Identifier: BSL-1.0
// What a program does, as records: buffers, and steps that read and write them. A step is a fused kernel (one loop nest
// with every intermediate in a register) or one opaque operation (matmul, gather, scatter, pad, concat, check).
//
// A kernel walks an iteration space split into outer and inner dimensions. Instructions live per element (inner) or per
// row of inner elements (row). A reduction of a row is known when the row has been walked, so what depends on it waits
// for the next pass over the row: softmax is three passes over a row that stays in cache.
#pragma once

#include <tenure/ir/array.hpp>
#include <tenure/ir/node.hpp>
#include <tenure/ops/registry.hpp>

namespace tenure::passes {

/// A product of a number and run-time extents: what sizes, strides and offsets are. Symbols are packed eight bits each,
/// each plus one, ascending.
struct number {
  std::int64_t factor = 0;
  std::uint64_t symbols = 0;

  friend constexpr bool operator==(const number& a, const number& b) {
    return a.factor == b.factor && (a.symbols == b.symbols || a.factor == 0);
  }
  constexpr bool is_static() const { return symbols == 0 || factor == 0; }
};

constexpr number number_of(std::int64_t extent) {
  return is_static(extent) ? number{extent, 0} : number{1, static_cast<std::uint64_t>(ir::symbol_of_extent(extent)) + 1};
}
constexpr number operator*(const number& a, const number& b) {
  number r{a.factor * b.factor, a.symbols | b.symbols};
  if (r.factor == 0) return {};  // not with both factors' symbols, which joined bit by bit name others
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
/// The number, once the run-time extents are known.
constexpr std::int64_t value_of(const number& n, const std::int64_t* symbols) {
  std::int64_t v = n.factor;
  for (std::uint64_t s = n.symbols; s != 0; s >>= 8) v *= symbols[(s & 255) - 1];
  return v;
}

struct buffer {
  enum class place : std::uint8_t { argument, result, workspace } where = place::workspace;
  dtype type = dtype::float32;
  int index = 0;  // argument or result number
  number elements{};
  int first = 0, last = 0;  // the steps that write it first and read it last
};

/// A buffer seen through strides; in a kernel along its dimensions, in an opaque step along the operand's axes.
struct access {
  static constexpr int counting = -1;  // no buffer: the value is the position itself
  std::int16_t buffer = counting;
  dtype type = dtype::float32;
  std::int8_t rank = 0;
  ir::node_id root = ir::none;  // the node whose memory it is
  number offset{};
  number stride[max_rank] = {};
};

struct instruction {
  enum class kind : std::uint8_t { load, constant, compute, reduce_row, reduce_columns, reduce_all, store };
  kind what = kind::compute;
  ir::opcode op = ir::opcode::copy;  // compute: the operation
  bool is_mask = false;              // the value is a mask (bool)
  bool row = false;                  // the value lives per row, not per element
  std::uint8_t phase = 0;            // the first pass over the row in which the value is known
  std::uint16_t passes = 0;          // the passes that compute it
  std::int16_t in[3] = {-1, -1, -1};
  std::int64_t bits = 0;  // constant: as in a node; reductions: which
  std::int16_t access = -1;
};

struct kernel {
  dtype lane = dtype::float32;
  std::int8_t outer = 0, inner = 0;
  std::uint8_t passes = 1;
  number extent[max_rank] = {};
  int first_instruction = 0, instruction_count = 0;
  int first_access = 0, access_count = 0;
};

struct step {
  enum class kind : std::uint8_t { fused, matmul, gather, scatter, pad, concat, check } what = kind::fused;
  int kernel = -1;
  ir::node_id node = ir::none;
  int first_access = 0, access_count = 0;  // opaque: operands, then the result
};

/// A plan by reference, for who reads it.
struct plan_view {
  ir::graph_view graph;
  const buffer* buffers = nullptr;
  int buffer_count = 0;
  const access* accesses = nullptr;
  int access_count = 0;
  const instruction* instructions = nullptr;
  int instruction_count = 0;
  const kernel* kernels = nullptr;
  int kernel_count = 0;
  const step* steps = nullptr;
  int step_count = 0;
};

/// A plan as a constexpr value.
template <int Buffers, int Accesses, int Instructions, int Kernels, int Steps>
struct frozen_plan {
  // No `= {}`: see ir::graph.
  buffer buffers[Buffers + 1];
  access accesses[Accesses + 1];
  instruction instructions[Instructions + 1];
  kernel kernels[Kernels + 1];
  step steps[Steps + 1];

  constexpr explicit frozen_plan(const plan_view& p) {
    for (int i = 0; i < p.buffer_count; ++i) buffers[i] = p.buffers[i];
    for (int i = 0; i < p.access_count; ++i) accesses[i] = p.accesses[i];
    for (int i = 0; i < p.instruction_count; ++i) instructions[i] = p.instructions[i];
    for (int i = 0; i < p.kernel_count; ++i) kernels[i] = p.kernels[i];
    for (int i = 0; i < p.step_count; ++i) steps[i] = p.steps[i];
  }
  constexpr plan_view view(const ir::graph_view& g) const {
    return {g, buffers, Buffers, accesses, Accesses, instructions, Instructions, kernels, Kernels, steps, Steps};
  }
};

/// A plan that grows.
struct plan_builder {
  ir::array<buffer> buffers;
  ir::array<access> accesses;
  ir::array<instruction> instructions;
  ir::array<kernel> kernels;
  ir::array<step> steps;

  constexpr plan_view view(const ir::graph_view& g) const {
    return {g, buffers.data(), buffers.size(), accesses.data(), accesses.size(), instructions.data(), instructions.size(),
            kernels.data(), kernels.size(), steps.data(), steps.size()};
  }
};

}  // namespace tenure::passes
