// SPDX-License-Identifier: BSL-1.0
// The record of an opaque operation that computes each sample of a batch by itself:
//   struct cholesky : sample_operation<cholesky, 1> {
//     name; takes = "(n,n)->(n,n)";
//     run(sizes, operands, result, options)        // one sample, or as many as a packet has lanes: it is a template over math::lanes
//     reference(sizes, operands, result, options)  // the same by another way, for the backend that judges the others
//     pull(result, operand, cotangent); push(result, tangents); flops_of_sample(sizes);
//     accepts<is_matrix, floats>() };               // of one matrix: the messages of of_matrix.hpp, which makes the operation that users call
// Axes before those of a sample are batches, so a batch of samples is the same node. A backend calls run() for one sample or for a packet of
// them, on a CPU or a GPU. run() gets each operand row-major, in memory that it may write only if overwrites(k, sizes) says so, and the result row-major in
// memory of its own. The results and all operands have one element type, which is floating. They may have no axes: "(n,n)->()". An operation that sets
// takes_type() or result_type() (order.hpp) has a step of its own in each backend, and no run().
//
// With several results (qr.hpp), run() and reference() get an array of results, and pull() an array of cotangents, where a result that nobody reads has
// the id none. In a graph each result that is read is a node, and all nodes of one operation become one step. So push() is asked for the tangent of
// one result, number number_of(y), and finds the others by result_of(y, r).
#pragma once

#include <array>
#include <bit>

#include <tenure/ops/opaque/list.hpp>
#include <tenure/ops/opaque/signature.hpp>
#include <tenure/ops/structural/rule.hpp>

namespace TENURE_NAMESPACE::ops {

/// The options of an operation that has none.
struct no_options {};

template <class Record, int Operands, int Results = 1, class Options = no_options>
struct sample_operation : structural<ir::opcode::opaque, Operands, lowering::step, attributes::options> {
  using options = Options;  // an aggregate of bools, each with its name in Record::option_names, or a type with packed() and unpacked()
  static constexpr ir::opcode code = opaque_code<Record>();
  static constexpr int results = Results;
  static constexpr bool computes = true;
  static constexpr bool takes_type(dtype operands) { return is_floating(operands); }
  static constexpr dtype result_type(dtype operands) { return operands; }
  /// The element type of an operand, where operand 0 has this one. A record in which they differ has a step of its own in each backend too.
  static constexpr dtype operand_type(int, dtype of_first) { return of_first; }
  /// The operand with which result 0 begins: run() finds it in the memory of the result, and gets a null pointer for the operand. -1: none.
  static constexpr int result_begins_as = -1;
  /// The letter of the columns of the result, where the result begins as an operand with this letter, no other operand has it, and each column is computed by
  /// itself: a backend may compute a column in each lane. -1: none.
  static constexpr int letter_of_columns = -1;
  /// Whether run() writes to operand k.
  static constexpr bool overwrites(int, const sample_sizes&) { return false; }
  /// The numbers of memory that run() needs in addition. It finds them at operand[arity], with any values.
  static constexpr std::int64_t scratch(const sample_sizes&) { return 0; }

  // ---- the node ----

  /// The options in the attr of a node, and back: one bit for each bool, or as packed() and unpacked() of the options say.
  static constexpr std::int64_t attr_of(const Options& o) {
    std::int64_t attr = 0;
    if constexpr (requires { o.packed(); }) {
      attr = o.packed();
    } else if constexpr (!std::is_empty_v<Options>) {
      const auto bits = std::bit_cast<std::array<bool, sizeof(Options)>>(o);
      for (std::size_t i = 0; i < bits.size(); ++i) attr |= std::int64_t{bits[i]} << i;
    }
    return attr;
  }
  static constexpr TENURE_KERNEL Options options_of([[maybe_unused]] std::int64_t attr) {
    if constexpr (std::is_empty_v<Options>) {
      return {};
    } else if constexpr (requires { Options::unpacked(attr); }) {
      return Options::unpacked(attr);
    } else {
      std::array<bool, sizeof(Options)> bits{};
      for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = (attr >> i & 1) != 0;
      return std::bit_cast<Options>(bits);
    }
  }
  /// Result R for operands that fit. Run-time extents are taken as equal: a call has checked them, and so has the operation of a derivative.
  template <int R = 0, class... X>
  static constexpr value of(const Options& o, const X&... x) { return with_shape<R>(o, nullptr, x...); }
  /// The same, where the signature leaves an extent of the result open. `to` is the shape of the result.
  template <int R = 0, class... X>
  static constexpr value with_shape(const Options& o, const extents* to, const X&... x) {
    static_assert(Record::takes.fits(), "the signature has more operands, results, letters or axes than the limits of ops/opaque/signature.hpp");
    static_assert(Record::takes.operands() == Operands && sizeof...(X) == Operands && Record::takes.results() == Results,
                  "the signature, the record and this call have different numbers of operands or results");
    const value operands[] = {x...};
    ir::node n{.op = code, .type = Record::result_type(operands[0].type()), .arity = Operands, .attr = attr_of(o)};
    for (int k = 0; k < Operands; ++k) n.in[k] = operands[k].id;
    return emit(*operands[0].graph, n, R, to);
  }
  static constexpr Options options_of(const value& y) { return options_of(y.node().attr); }
  /// Result r of the operation of which y is a result.
  static constexpr value result_of(const value& y, int r) { return y.node().start == r ? y : emit(*y.graph, y.node(), r); }
  static constexpr int number_of(const value& y) { return static_cast<int>(y.node().start); }

  // ---- rules with a default ----

  template <class B>
  static constexpr value batch(const B& b) { return b.same_node(); }
  /// Of several nodes of one operation the first counts.
  static constexpr std::int64_t flops(const ir::graph_view& g, ir::node_id id) {
    if (Results > 1 && first_of_step(g, id) != id) return 0;
    const sample_sizes sizes = sizes_of([&](int k) -> const extents& { return g.shape_of(k < Operands ? g[id].in[k] : id); });
    const extents& first = g.shape_of(g[id].in[0]);
    std::int64_t samples = 1;
    for (int a = 0; a < Record::takes.batch_rank(first); ++a) samples *= first[a];
    return samples * Record::flops_of_sample(sizes);
  }
  static constexpr void verify(rule_check& c) {
    const extents* shapes[Operands];
    for (int k = 0; k < Operands; ++k) {
      const dtype first = c.operand(0).type, type = c.operand(k).type, wanted = Record::operand_type(k, first);
      c.expect(Record::takes_type(first), "an operation on samples of integers or bool");
      c.expect(type == wanted, "element types differ", static_cast<int>(type), static_cast<int>(wanted));
      c.expect(Record::result_type(first) == c.self().type, "element types differ", static_cast<int>(first), static_cast<int>(c.self().type));
      shapes[k] = &c.shape_of(k);
    }
    c.expect(c.self().start >= 0 && c.self().start < Results, "no such result", c.self().start, Results);
    if (!c.found.ok()) return;
    const int r = static_cast<int>(c.self().start);
    // A symbol for the smaller of two extents stays as it is where other calls say that the two are equal, or numbers.
    const auto smaller_of = [&](std::int64_t a, std::int64_t b) {
      const extents& s = c.shape();
      for (int i = 0; i < s.rank; ++i)
        if (Record::takes.is_smaller(r, i - Record::takes.batch_rank(*shapes[0])) && !is_static(s[i]) && c.is_extent(s[i]))
          if (c.graph.symbols[ir::symbol_of_extent(s[i])].what == ir::symbol::kind::smaller) return s[i];
      return a < b ? a : b;
    };
    const auto found = Record::takes.infer(shapes, r, [](std::int64_t a, std::int64_t b) { return a == b; }, smaller_of, &c.shape());
    c.expect(found.what == signature::fault::none, "a sample of another shape", found.given, found.wanted);
    if (c.found.ok()) c.extents_are(c.shape(), found.result);
  }

  // ---- for backends ----

  /// The extents of one sample. shape_of(k) gives the extents of operand k, and of the result for k = arity.
  template <class Shape>
  static constexpr sample_sizes sizes_of(const Shape& shape_of) {
    sample_sizes n;
    for (int k = 0; k < Operands; ++k) {
      const signature::axes& of = Record::takes.operand(k);
      const auto& x = shape_of(k);
      for (int a = 0; a < of.rank; ++a) n[of.letter[a]] = x.extent[x.rank - of.rank + a];
    }
    Record::takes.complete(n.at, [](std::int64_t a, std::int64_t b) { return a < b ? a : b; },
                           [&](int a) { return shape_of(Operands).extent[shape_of(Operands).rank - Record::takes.result().rank + a]; });
    return n;
  }
  /// The same, of the operation of a step.
  template <class Operation>
    requires requires(const Operation& o) { o.out; }
  static constexpr sample_sizes sizes_of(const Operation& o) {
    return sizes_of([&](int k) -> const auto& { return k < Operands ? o.in[k] : o.out; });
  }
  static constexpr std::int64_t elements(const signature::axes& of, const sample_sizes& n) {
    std::int64_t count = 1;
    for (int a = 0; a < of.rank; ++a) count *= n[of.letter[a]];
    return count;
  }
  static constexpr std::int64_t elements_of_operand(int k, const sample_sizes& n) { return elements(Record::takes.operand(k), n); }
  static constexpr std::int64_t elements_of_result(const sample_sizes& n, int r = 0) { return elements(Record::takes.result(r), n); }
  /// Calls run(): a record with one result gets a pointer to it, and one with several gets an array of pointers.
  template <class V, class Sizes>
  static TENURE_KERNEL_INLINE void run_sample(const Sizes& sizes, V* const* operands, V* const* to, const Options& o) {
    if constexpr (Results == 1) Record::run(sizes, operands, to[0], o);
    else Record::run(sizes, operands, to, o);
  }
  /// Whether a sample is computed by run_in_range(), which says where it may be wrong, and there again by run_out_of_range().
  static constexpr bool has_range(const sample_sizes&) { return false; }

 private:
  static constexpr value emit(ir::builder& g, ir::node n, int r, const extents* to = nullptr) {
    const extents* shapes[Operands];
    for (int k = 0; k < Operands; ++k) shapes[k] = &g.shape_of(n.in[k]);
    const auto found = Record::takes.infer(shapes, r, [](std::int64_t, std::int64_t) { return true; },
                                           [&](std::int64_t a, std::int64_t b) { return g.derived(ir::symbol::kind::smaller, a, b); }, to);
    n.shape = g.intern(found.result);
    n.start = r;
    return {g, g.emit(n)};
  }
};

/// Whether the last two axes of a shape may be a square matrix.
template <class S>
inline constexpr bool is_square = S::rank >= 2 && extents_may_agree(S::value[S::rank >= 2 ? S::rank - 1 : 0], S::value[S::rank >= 2 ? S::rank - 2 : 0]);

/// The shape of result `Result` of an operation on operands of these shapes, with the run-time extents of the types: a rule for shape_from.
template <class Record, int Result, class... Shape>
struct sample_shape {
  static constexpr extents value = [] {
    const extents* shapes[] = {&Shape::value...};
    return Record::takes.infer(shapes, Result, [](std::int64_t a, std::int64_t b) { return extents_may_agree(a, b); },
                               [](std::int64_t a, std::int64_t b) { return is_static(a) && is_static(b) ? a < b ? a : b : a == b ? a : dyn; }).result;
  }();
};

}  // namespace tenure::ops
