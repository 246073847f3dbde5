// SPDX-License-Identifier: BSL-1.0
// Into which blocks of rows a group is cut, computed by hand from the numbers in costs.hpp, and which loops may refuse an index.
#include "../catch.hpp"

#include <cstdint>

#include <tenure/ir/graph.hpp>
#include <tenure/ops/derivative.hpp>
#include <tenure/passes/groups.hpp>

using namespace tenure;
using passes::row_cut;

namespace {

/// A group of doubles with products over its rows. Each product reads two rows of 64 elements.
passes::row_group group(int products, bool shares_factor = false) {
  passes::row_group e;
  e.consumer_count = products;
  for (int i = 0; i < products; ++i) e.consumers[i] = {.shares_factor = shares_factor, .row = {64, 0}, .other_row = {64, 0}};
  return e;
}
void check(const row_cut& found, std::int64_t rows_of_block, std::int64_t rows_at_once, bool has_consumers) {
  CHECK(found.rows_of_block == rows_of_block);
  CHECK(found.rows_at_once == rows_at_once);
  CHECK(found.has_consumers == has_consumers);
}
row_cut cut(const passes::row_group& e, std::int64_t m, std::int64_t n, std::int64_t k) { return passes::cut_of_rows(e, m, n, k, 8, 3, nullptr); }

/// Appends a loop that adds indices to a carry. The indices are an argument, which is checked before the loop, or the body computes them.
ir::node_id loop_over(ir::builder& g, ir::node_id argument, bool body_computes_indices) {
  const ir::node_id first = g.count();
  const ops::value carry{g, g.body_input(dtype::int64, g.intern({}))}, given{g, argument};
  const ops::value indices = body_computes_indices ? given + given : given;
  if (body_computes_indices) g.check_bound({indices.id, 9, "pick"});
  ir::array<ir::node_id> inputs, outputs, operands;
  inputs.push_back(carry.id);
  outputs.push_back((carry + ops::reduced(indices, 1, ir::reduction::sum)).id);
  operands.push_back(g.constant(dtype::int64, g.intern({}), 0));
  ir::control_flow loop{.what = ir::control_flow::kind::scan, .carries = 1, .length = 3};
  loop.bodies[0] = g.outline(first, inputs, outputs, operands);
  loop.captures[0] = operands.size() - 1;
  return g.add_control_flow(loop, operands);
}

}  // namespace

TEST_CASE("a block has the rows that stay in the cache: of the product, and of the matrices that products over the rows read") {
  check(cut(group(0), 4096, 64, 64), 512, 512, false);       // a quarter of a megabyte of rows of the product
  check(cut(group(1), 4096, 64, 64), 128, 128, true);        // rows of 64 + 64 + 64 + 64 elements are read twice
  check(cut(group(1, true), 4096, 64, 64), 160, 160, true);  // 64 + 64 + 64: 170 rows, in whole units of 32
  check(cut(group(2), 4096, 64, 64), 64, 64, true);          // 85 rows
  auto sums = group(1);
  sums.reduces = true;
  check(cut(sums, 65536, 64, 64), 512, 128, true);  // at most 128 blocks, each of four rounds
}

TEST_CASE("no blocks for few rows, few bytes or an empty product") {
  check(cut(group(1), 63, 4096, 64), 0, 0, false);
  check(cut(group(0), 2047, 64, 64), 0, 0, false);
  check(cut(group(1), 65536, 0, 64), 0, 0, false);
  check(cut(group(1), 65536, 64, 0), 0, 0, false);
}

TEST_CASE("a piece of a convolution has whole images if it has room for one, and otherwise equal parts of one") {
  const auto pieces = [](std::int64_t images, std::int64_t rows, std::int64_t row, const passes::row_group& e = {}) {
    return passes::cut_of_pieces(e, images * rows * row, rows * row, row, 4, 3);
  };
  check(pieces(8, 32, 32 * 16), 64, 64, false);  // 128 KiB are 64 rows of 2 KiB: two images
  check(pieces(1, 56, 56 * 64), 8, 8, false);    // 9 rows of 14 KiB, so seven parts
  check(pieces(1, 57, 57 * 64), 8, 8, false);    // eight parts, of which the last has one row
  check(pieces(2048, 1, 4096), 8, 8, false);     // images that are rows
  check(passes::cut_of_pieces({}, 64 * 4096, 1024, 4096, 4, 3), 8, 8, false);  // rows of four images
  auto sums = passes::row_group{};
  sums.reduces = true;
  check(pieces(128 * 1024, 1, 256, sums), 1024, 1024, false);  // at most 128 blocks
  check(pieces(1, 28, 28 * 64), 0, 0, false);                  // 200 KB
  check(pieces(4, 1, 1 << 19), 0, 0, false);                   // rows of 2 MiB
  check(pieces(1, 1, 1 << 17), 0, 0, false);
}

TEST_CASE("a loop may refuse indices that its body computes, and not those that are checked before it") {
  ir::builder g;
  const ir::node_id argument = g.input(dtype::int64, {1, {4}});
  g.check_bound({argument, 9, "pick"});
  const ir::node_id computed = loop_over(g, argument, true), checked = loop_over(g, argument, false);
  const ir::graph_view view = g.view();
  CHECK(passes::may_refuse(view, view.control_flow_of(view[computed])));
  CHECK_FALSE(passes::may_refuse(view, view.control_flow_of(view[checked])));
}
