// SPDX-License-Identifier: BSL-1.0
// csr: a sparse matrix in the form of compressed sparse rows, from dense blocks whose columns are known. An example is the Jacobian of
// errors that each depend on a few rows of large arrays.
#pragma once

#include <array>
#include <tuple>

#include <tenure/ops/movement.hpp>
#include <tenure/ops/structural/source.hpp>

namespace TENURE_NAMESPACE {
namespace ops {

inline constexpr std::int64_t max_of_int32 = 0x7fffffff;

/// The place of a block in the list of operands. The list begins with the variables. A block is its values, and then its index if it has one.
struct csr_place {
  int variable, at;
  bool has_index;
};

/// The properties that follow from the types of the operands.
struct csr_facts {
  enum class mistake : std::uint8_t { none, variable, axes, width, rank, columns, rows, index, type, samples } wrong = mistake::none;
  std::int64_t samples = 0, rows = 1, width = 0;  // the samples, the rows of a sample, and the elements of a row
  dtype element = dtype::boolean, position = dtype::int32;
  bool has_block = false;

  /// Adds a block. Returns what is wrong with it.
  constexpr mistake add(csr_place block, const extents* shapes, const dtype* types, int variables) {
    if (block.variable < 0 || block.variable >= variables) return mistake::variable;
    const extents &variable = shapes[block.variable], &values = shapes[block.at];
    const int axes = variable.rank;
    if (axes != 1 && axes != 2) return mistake::axes;
    if (values.rank != axes && values.rank != axes + 1) return mistake::rank;
    const std::int64_t own_width = axes == 2 ? variable[1] : 1, own_rows = values.rank > axes ? values[1] : 1;
    if (!is_static(own_width) || !is_static(own_rows)) return mistake::width;
    if (axes == 2 && !extents_may_agree(values[values.rank - 1], own_width)) return mistake::columns;
    if (has_block && own_rows != rows) return mistake::rows;
    if (has_block && types[block.at] != element) return mistake::type;
    if (has_block && !extents_may_agree(values[0], samples)) return mistake::samples;
    const int along = block.has_index ? block.at + 1 : block.variable;
    const bool is_integer = types[along] == dtype::int32 || types[along] == dtype::int64;
    if (block.has_index && (shapes[along].rank != 1 || !is_integer)) return mistake::index;
    if (!extents_may_agree(values[0], shapes[along][0])) return mistake::samples;
    if (block.has_index && types[along] == dtype::int64) position = dtype::int64;
    samples = !has_block || !is_static(samples) ? values[0] : samples;
    has_block = true;
    rows = own_rows;
    width += own_width;
    element = types[block.at];
    return mistake::none;
  }
};

enum class csr_part : std::uint8_t { rows, columns, values };

/// One of the three arrays of the result. The operands are the variables, and then the operands of the blocks.
template <csr_part Part, class Blocks>
struct csr {
  static constexpr const char* name = "csr";
  /// Only the shapes of variables are read, so no gradient reaches them.
  static constexpr bool reaches(int i) {
    for (const csr_place& p : Blocks::places)
      if (p.at == i) return true;
    return false;
  }

  template <class... X>
  static constexpr auto trace(const X&... x) {
    constexpr csr_facts found = Blocks::template facts<typename X::shape_type...>({dtype_v<typename X::element_type>...});
    constexpr std::int64_t rows = is_static(found.samples) ? found.samples * found.rows : dyn;
    constexpr std::int64_t count = !is_static(rows) ? dyn : Part == csr_part::rows ? rows + 1 : rows * found.width;
    const value all[] = {value(x)...};
    return traced<element_of_t<Part == csr_part::values ? found.element : found.position>, shape<count>>{all[0].graph, made(all, found).id};
  }

 private:
  static constexpr value made(const value* x, const csr_facts& found) {
    ir::builder& g = *x[0].graph;
    const value first = x[Blocks::places[0].at];
    const std::int64_t samples = first.shape()[0], rows = g.derived(ir::symbol::kind::product, samples, found.rows);
    for (const csr_place& p : Blocks::places) {
      const value along = x[p.has_index ? p.at + 1 : p.variable];
      g.unify(samples, x[p.at].shape()[0], name, first.node().shape, x[p.at].node().shape);
      g.unify(samples, along.shape()[0], name, first.node().shape, along.node().shape);
    }
    const std::int64_t elements = g.derived(ir::symbol::kind::product, rows, found.width);
    if (found.position == dtype::int32) {
      std::int64_t columns = 0;
      for (int v = 0; v < Blocks::variables; ++v) columns = g.derived(ir::symbol::kind::sum, columns, elements_of(x[v]));
      for (const std::int64_t n : {elements, columns})
        if (!is_static(n)) g.require_at_least(max_of_int32, n, name);
    }
    if constexpr (Part == csr_part::rows) {
      const value before = counting(g, found.position, g.intern({1, {rows}}), 0);
      const value zero{g, g.constant(found.position, g.intern({1, {1}}), 0)};
      return concatenated(zero, (before + 1.0) * static_cast<double>(found.width), 0);
    } else {
      value all{};
      for (const csr_place& p : Blocks::places) {
        const extents& variable = x[p.variable].shape();
        const extents block{3, {samples, found.rows, variable.rank == 2 ? variable[1] : 1}};
        const value own = Part == csr_part::values ? reshape_to(x[p.at], block) : columns(x, p, block, found.position);
        all = all.graph == nullptr ? own : concatenated(all, own, 2);
      }
      return reshape_to(all, {1, {elements}});
    }
  }

  static constexpr std::int64_t elements_of(const value& x) { return elements_along(*x.graph, x.shape(), all_axes(x.shape().rank)); }

  /// The columns of a block. They follow the columns of the variables before its own, and of the earlier rows of its own variable.
  static constexpr value columns(const value* x, csr_place p, const extents& block, dtype position) {
    ir::builder& g = *x[0].graph;
    const std::int16_t samples = g.intern({1, {block[0]}}), shape = g.intern(block);
    if (p.has_index) {
      const ir::bound inside{x[p.at + 1].id, x[p.variable].shape()[0], name, false};  // nvcc 13 garbles g.check_bound({...})
      g.check_bound(inside);
    }
    value start = (p.has_index ? cast_to(x[p.at + 1], position) : counting(g, position, samples, 0)) * static_cast<double>(block[2]);
    for (int v = 0; v < p.variable; ++v) start = start + broadcast_along(number_of_extent(g, position, elements_of(x[v])), samples, 0);
    return broadcast_along(start, shape, ir::pack_axis(0, 0, 0)) + counting(g, position, shape, 2);
  }
};

}  // namespace ops

namespace detail {

/// The operands of a block: its values, and its index. An operand that is a temporary moves into the block.
template <int Variable, class... Operand>
struct csr_operands {
  static constexpr int variable = Variable, count = sizeof...(Operand);
  std::tuple<Operand...> operands;
};

/// The places of the blocks in a list of operands that begins with this many variables.
template <int Variables, class... Block>
struct csr_blocks {
  static constexpr int variables = Variables;
  static constexpr auto places = [] {
    std::array<ops::csr_place, sizeof...(Block)> all{};
    std::size_t i = 0;
    int at = Variables;
    ((all[i++] = {Block::variable, at, Block::count == 2}, at += Block::count), ...);
    return all;
  }();

  template <class... Shape>
  static constexpr ops::csr_facts facts(const dtype (&types)[sizeof...(Shape)]) {
    const extents shapes[] = {Shape::value...};
    ops::csr_facts found;
    for (const ops::csr_place& p : places)
      if (found.wrong == ops::csr_facts::mistake::none) found.wrong = found.add(p, shapes, types, Variables);
    bool has_index = false;
    for (const ops::csr_place& p : places) has_index = has_index || p.has_index;
    // Known extents decide whether int32 is enough. csr::trace makes the call check the other extents.
    std::int64_t columns = 0;
    for (int v = 0; v < Variables; ++v)
      if (all_static(shapes[v])) columns += count(shapes[v]);
    const std::int64_t elements = is_static(found.samples) ? found.samples * found.rows * found.width : 0;
    if (!has_index || columns > ops::max_of_int32 || elements > ops::max_of_int32) found.position = dtype::int64;
    return found;
  }

  /// Whether the operands, in a std::tuple, fit. If not, a static_assert gives the reason.
  template <class... X>
  static constexpr bool fit(const std::tuple<X...>*) {
    using mistake = ops::csr_facts::mistake;
    constexpr ops::csr_facts found = facts<shape_of_t<X>...>({dtype_v<element_t<X>>...});
    constexpr mistake wrong = found.wrong;
    static_assert(wrong != mistake::variable, "tenure: csr: csr_block<I>: there is no variable I");
    static_assert(wrong != mistake::axes, "tenure: csr: a variable has neither one axis nor two: reshape what stands after its first axis");
    static_assert(wrong != mistake::width, "tenure: csr: the rows of a variable, and the rows of a sample, need static extents");
    static_assert(wrong != mistake::rank, "tenure: csr: the values of a block have neither the axes (samples, columns) nor (samples, rows, columns)");
    static_assert(wrong != mistake::columns,
                  "tenure: csr: the values of a block have another number of columns than the rows of its variable");
    static_assert(wrong != mistake::rows, "tenure: csr: the blocks have different numbers of rows for a sample");
    static_assert(wrong != mistake::index, "tenure: csr: the index of a block is no vector of int32 or int64");
    static_assert(wrong != mistake::type, "tenure: csr: the blocks have different element types");
    static_assert(wrong != mistake::samples, "tenure: csr: the blocks, or a block and its index, have different numbers of samples");
    return wrong == mistake::none;
  }
};

}  // namespace detail

/// A block of csr: the values of variable I, and for each sample the row of the variable to which they belong. Without an index, sample s belongs to
/// row s.
template <int I, operand Values, operand... Index>
  requires(sizeof...(Index) <= 1)
constexpr auto csr_block(Values&& values, Index&&... index) {
  return detail::csr_operands<I, Values, Index...>{{std::forward<Values>(values), std::forward<Index>(index)...}};
}

/// A matrix with few elements in each row, as compressed sparse rows:
/// auto [rows, columns, values] = csr(std::tie(x, y), csr_block<0>(dx, i), csr_block<1>(dy)).
/// The columns of the matrix are the elements of the variables x, y, one variable after the other, in row-major order. A variable has the shape (n,
/// width), or (n) for a width of 1. A sample has k rows, and each row has the rows of the blocks side by side. The values of a block have the shape
/// (samples, k, width). There is no axis of k if k is 1, and no axis of the width if the variable has one axis. Row r has the elements rows[r] to
/// rows[r + 1] of `values`; `columns` has their columns. One block for each variable, in the order of the variables, gives ascending columns in each
/// row. With two blocks of one variable, a column can occur twice in a row; SciPy adds such elements. `rows` and `columns` are int32 if there are
/// indices, all indices are int32, and no known extent is too large for int32. Otherwise they are int64. Gradients flow to `values`; of the variables
/// only the shapes are read.
/// Errors: an index outside its variable throws index_error. Different numbers of samples throw shape_error, and so do run-time extents that
/// are too large for int32.
/// Source: scipy.sparse.csr_array, whose indptr, indices and data are rows, columns and values.
template <class... Variable, class... Block>
  requires(sizeof...(Variable) > 0 && sizeof...(Block) > 0)
constexpr auto csr(const std::tuple<Variable...>& variables, const Block&... blocks) {
  using places = detail::csr_blocks<static_cast<int>(sizeof...(Variable)), Block...>;
  using operands = decltype(std::tuple_cat(variables, blocks.operands...));
  using ops::csr_part;
  if constexpr (!places::fit(static_cast<const operands*>(nullptr))) {
    return std::tuple{after_error{}, after_error{}, after_error{}};
  } else {
    const auto references = [](const auto& from) { return std::apply([](const auto&... x) { return std::tie(x...); }, from); };
    return std::apply(
        [](const auto&... x) {
          return std::tuple{apply<ops::csr<csr_part::rows, places>>(x...), apply<ops::csr<csr_part::columns, places>>(x...),
                            apply<ops::csr<csr_part::values, places>>(x...)};
        },
        std::tuple_cat(references(variables), references(blocks.operands)...));
  }
}

}  // namespace tenure
