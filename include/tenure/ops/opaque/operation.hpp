// SPDX-License-Identifier: BSL-1.0
// The record of an opaque operation that computes each sample of a batch by itself:
//   struct cholesky : sample_operation<cholesky, 1> {
//     name; takes = "(n,n)->(n,n)";
//     run(sizes, operands, result, options)        // one sample, or as many as a packet has lanes: it is a template over math::lanes
//     reference(sizes, operands, result, options)  // the same by another way, for the backend that judges the others
//     pull(result, operand, cotangent); push(result, tangents); flops_of_sample(sizes) };
// Axes before those of a sample are batches, so a batch of samples is the same node. A backend calls run() for one sample or for a packet of
// them, on a CPU or a GPU. run() gets each operand row-major, in memory that it may write only if overwrites(k) says so, and the result row-major in
// memory of its own. The result and all operands have one element type, which is floating. An operand and the result may have no axes: "(n,n)->()".
#pragma once

#include <array>
#include <bit>

#include <tenure/ops/opaque/list.hpp>
#include <tenure/ops/opaque/signature.hpp>
#include <tenure/ops/structural/rule.hpp>

namespace TENURE_NAMESPACE::ops {

/// The options of an operation that has none.
struct no_options {};

template <class Record, int Operands, class Options = no_options>
struct sample_operation : structural<ir::opcode::opaque, Operands, lowering::step, std::is_empty_v<Options> ? attributes::none : attributes::options> {
  using options = Options;  // an aggregate of bools; each has its name in Record::option_names
  static constexpr ir::opcode code = opaque_code<Record>();
  /// The operand with which the result begins: run() finds it in the memory of the result, and gets a null pointer for the operand. -1: none.
  static constexpr int result_begins_as = -1;
  /// Whether run() writes to operand k.
  static constexpr bool overwrites(int) { return false; }
  /// The numbers of memory that run() needs in addition. It finds them at operand[arity], with any values.
  static constexpr std::int64_t scratch(const sample_sizes&) { return 0; }

  // ---- the node ----

  /// The options in the attr of a node, and back: one bit for each bool.
  static constexpr std::int64_t attr_of(const Options& o) {
    std::int64_t attr = 0;
    if constexpr (!std::is_empty_v<Options>) {
      const auto bits = std::bit_cast<std::array<bool, sizeof(Options)>>(o);
      for (std::size_t i = 0; i < bits.size(); ++i) attr |= std::int64_t{bits[i]} << i;
    }
    return attr;
  }
  static constexpr TENURE_KERNEL Options options_of([[maybe_unused]] std::int64_t attr) {
    if constexpr (std::is_empty_v<Options>) {
      return {};
    } else {
      std::array<bool, sizeof(Options)> bits{};
      for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = (attr >> i & 1) != 0;
      return std::bit_cast<Options>(bits);
    }
  }
  /// The result for operands that fit. Run-time extents are taken as equal: a call has checked them, and so has the operation of a derivative.
  template <class... X>
  static constexpr value of(const Options& o, const X&... x) {
    static_assert(Record::takes.operands() == Operands && sizeof...(X) == Operands, "the signature, the record and this call have different numbers of operands");
    const value operands[] = {x...};
    const extents* shapes[Operands];
    for (int k = 0; k < Operands; ++k) shapes[k] = &operands[k].shape();
    ir::builder& g = *operands[0].graph;
    const auto found = Record::takes.infer(shapes, [](std::int64_t, std::int64_t) { return true; });
    ir::node n{.op = code, .type = operands[0].type(), .arity = Operands, .shape = g.intern(found.result), .attr = attr_of(o)};
    for (int k = 0; k < Operands; ++k) n.in[k] = operands[k].id;
    return {g, g.emit(n)};
  }
  static constexpr Options options_of(const value& y) { return options_of(y.node().attr); }

  // ---- rules with a default ----

  template <class B>
  static constexpr value batch(const B& b) { return b.same_node(); }
  static constexpr std::int64_t flops(const ir::graph_view& g, ir::node_id id) {
    const sample_sizes sizes = sizes_of([&](int k) -> const extents& { return g.shape_of(g[id].in[k]); });
    const extents& first = g.shape_of(g[id].in[0]);
    std::int64_t samples = 1;
    for (int a = 0; a < Record::takes.batch_rank(first); ++a) samples *= first[a];
    return samples * Record::flops_of_sample(sizes);
  }
  static constexpr void verify(rule_check& c) {
    const extents* shapes[Operands];
    for (int k = 0; k < Operands; ++k) c.same_type(k), shapes[k] = &c.shape_of(k);
    c.expect(is_floating(c.self().type), "an operation on samples of integers or bool");
    const auto found = Record::takes.infer(shapes, [](std::int64_t a, std::int64_t b) { return a == b; });
    c.expect(found.what == signature::fault::none, "a sample of another shape", found.given, found.wanted);
    if (c.found.ok()) c.extents_are(c.shape(), found.result);
  }

  // ---- for backends ----

  /// The extents of one sample. shape_of(k) gives the extents of operand k.
  template <class Shape>
  static constexpr sample_sizes sizes_of(const Shape& shape_of) {
    sample_sizes n;
    for (int k = 0; k < Operands; ++k) {
      const signature::axes& of = Record::takes.operand(k);
      const auto& x = shape_of(k);
      for (int a = 0; a < of.rank; ++a) n[of.letter[a]] = x.extent[x.rank - of.rank + a];
    }
    return n;
  }
  static constexpr std::int64_t elements(const signature::axes& of, const sample_sizes& n) {
    std::int64_t count = 1;
    for (int a = 0; a < of.rank; ++a) count *= n[of.letter[a]];
    return count;
  }
  static constexpr std::int64_t elements_of_operand(int k, const sample_sizes& n) { return elements(Record::takes.operand(k), n); }
  static constexpr std::int64_t elements_of_result(const sample_sizes& n) { return elements(Record::takes.result(), n); }
};

}  // namespace tenure::ops
