// SPDX-License-Identifier: BSL-1.0
// Systems with one matrix share its factors: solve(a, b), and solve(a^T, g) of its gradient, become one lu_factor of a and two substitutions.
// Law: sharing factors keeps the meaning. The rounding of solve(a^T, g) may change, because its pivots are those of a.
// Cost: one sweep. The pass is skipped for graphs in which no two systems have one matrix.
#pragma once

#include <tenure/passes/costs.hpp>
#include <tenure/passes/simplify.hpp>

namespace TENURE_NAMESPACE::passes {

/// The rows from which on systems share factors.
struct rows_that_share {
  std::int64_t of_one = costs::shared_factor_rows, of_batch = costs::shared_factor_rows_of_batch;
};

/// The matrix of a system, which may be the transpose of another node.
struct system_matrix {
  node_id id = none;
  bool is_transposed = false;
};

/// The matrix of a node, if it is a system that is worth shared factors.
constexpr system_matrix matrix_of_system(const ir::graph_view& g, node_id id, rows_that_share least) {
  if (g[id].op != ops::nodes::solve::code) return {};
  system_matrix a{g[id].in[0], false};
  const extents& shape = g.shape_of(a.id);
  const std::int64_t rows = shape[shape.rank - 1];
  if (is_static(rows) && rows < (shape.rank == 2 ? least.of_one : least.of_batch)) return {};
  if (const ir::node& view = g[a.id]; view.op == ir::opcode::permute && view.attr == ops::swapped_last_axes(shape.rank)) a = {view.in[0], true};
  return a;
}

/// How many systems each node is the matrix of.
constexpr ir::array<int> systems_of_matrices(const ir::graph_view& g, rows_that_share least) {
  ir::array<int> count(g.count, 0);
  for (node_id id = 0; id < g.count; ++id)
    if (const node_id a = matrix_of_system(g, id, least).id; a != none) ++count[a];
  return count;
}

constexpr bool needs_shared_factors(const ir::graph_view& g, rows_that_share least = {}) {
  int systems = 0;
  for (node_id id = 0; id < g.count; ++id) systems += g[id].op == ops::nodes::solve::code;
  if (systems < 2) return false;
  const ir::array<int> count = systems_of_matrices(g, least);
  for (node_id id = 0; id < g.count; ++id)
    if (count[id] > 1) return true;
  return false;
}

constexpr ir::builder share_factors(const ir::graph_view& g, rows_that_share least = {}) {
  using ops::value, ops::nodes::lu_factor, ops::nodes::lu_solve;
  const ir::array<int> count = systems_of_matrices(g, least);
  ir::builder out(g);
  ir::array<node_id> renamed(g.count, none);
  for (node_id id = 0; id < g.count; ++id) {
    const system_matrix a = matrix_of_system(g, id, least);
    if (a.id == none || count[a.id] < 2) {
      renamed[id] = out.emit(with_renamed_operands(g[id], renamed.data()));
      continue;
    }
    const value matrix{out, renamed[a.id]}, right{out, renamed[g[id].in[1]]};
    renamed[id] = lu_solve::of({a.is_transposed}, lu_factor::of<0>({}, matrix), lu_factor::of<1>({}, matrix), right).id;
  }
  finish(g, renamed, out);
  const ir::builder unique = cse(out.view());
  return dead_code(unique.view());
}

}  // namespace tenure::passes
