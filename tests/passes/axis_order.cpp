// SPDX-License-Identifier: BSL-1.0
// In which order of axes a chain of convolutions is computed, and where permutes are left.
#include "../catch.hpp"

#include <string>

#include <tenure/passes/axis_order.hpp>
#include <tenure/passes/print.hpp>
#include <tenure/passes/verify.hpp>

using namespace tenure;
using ops::value;

namespace {

constexpr std::int64_t in_order(int a, int b, int c, int d) { return ir::pack_axis(ir::pack_axis(ir::pack_axis(ir::pack_axis(0, 0, a), 1, b), 2, c), 3, d); }
constexpr value channels_last(value x) { return ops::permuted(x, in_order(0, 2, 3, 1)); }
constexpr value channels_first(value x) { return ops::permuted(x, in_order(0, 3, 1, 2)); }
constexpr value relu(value x) { return ops::pointwise_value<ops::relu>(x); }
/// A convolution of an image [2, 8, 12, 12] whose channels come first, by 3 x 3 taps between zeros.
constexpr value convolution(value x, value w) {
  x = channels_last(x);
  for (int a = 1; a < 3; ++a) x = ops::padded(x, a, 1, 14, 1);
  return channels_first(ops::convolved(x, w, {}));
}
struct inputs {
  ir::builder g;
  value x{g, g.input(dtype::float32, {4, {2, 8, 12, 12}})}, w{g, g.input(dtype::float32, {4, {3, 3, 8, 8}})};
};
struct permutes {
  int count = 0;
  std::int64_t elements = 0;
};
constexpr permutes in(const ir::graph_view& g) {
  permutes found;
  for (ir::node_id i = 0; i < g.count; ++i)
    if (g[i].op == ir::opcode::permute) ++found.count, found.elements += count(g.shape_of(i));
  return found;
}
constexpr ir::builder ordered(const ir::builder& g) { return passes::cse(passes::order_axes(g.view()).view()); }

constexpr std::int64_t image = 2 * 8 * 12 * 12;

constexpr ir::builder chain() {
  inputs i;
  value y = i.x;
  for (int k = 0; k < 3; ++k) y = relu(convolution(y, i.w));
  i.g.output(y.id);
  return static_cast<ir::builder&&>(i.g);
}
static_assert(in(chain().view()).count == 6);
static_assert(in(ordered(chain()).view()).count == 2);  // also in a constant
static_assert(passes::verify(ordered(chain()).view()).ok());

}  // namespace

TEST_CASE("a chain of convolutions is permuted once at each end") {
  const ir::builder found = ordered(chain());
  const ir::graph_view g = found.view();
  const permutes p = in(g);
  CHECK(p.count == 2);
  CHECK(p.elements == 2 * image);
  // The last activation reads through the permute, so the result is written as it is.
  CHECK(g[g.outputs[0]].op == ops::code_of<ops::relu>());
  CHECK(g[g[g.outputs[0]].in[0]].op == ir::opcode::permute);
}

TEST_CASE("a residual and slices take the order of the convolutions, and a small result is permuted instead of a large one") {
  inputs i;
  const value first = relu(convolution(i.x, i.w));
  const value second = relu(convolution(first, i.w) + first);
  const value pooled = ops::pointwise_value<ops::maximum>(ops::sliced(ops::sliced(second, 2, 0, 6, 2), 3, 0, 6, 2), ops::sliced(ops::sliced(second, 2, 1, 6, 2), 3, 1, 6, 2), {});
  i.g.output(pooled.id);
  const ir::builder found = ordered(i.g);
  const ir::graph_view g = found.view();
  CHECK(passes::verify(g).ok());
  const permutes p = in(g);
  CHECK(p.count == 2);
  CHECK(p.elements == image + image / 4);
  CHECK(g[g.outputs[0]].op == ir::opcode::permute);
}

TEST_CASE("a bias is stretched along another axis, and a sum over rows and columns reads no permute") {
  inputs i;
  const value b{i.g, i.g.input(dtype::float32, {1, {8}})};
  const value y = convolution(i.x, i.w), shifted = y + ops::broadcast_along(b, y.node().shape, ir::pack_axis(0, 0, 1));
  i.g.output(ops::reduced(relu(shifted), 0b1100, ir::reduction::sum).id);
  const ir::builder found = ordered(i.g);
  CHECK(passes::verify(found.view()).ok());
  CHECK(in(found.view()).count == 1);  // of x
}

TEST_CASE("an image that a convolution and its gradient read has the channels last, though the gradient could read the images last") {
  inputs i;
  value x = channels_last(i.x);
  for (int a = 1; a < 3; ++a) x = ops::padded(x, a, 1, 14, 1);
  const value y = ops::convolved(x, i.w, {}), g{i.g, i.g.input(dtype::float32, y.shape())};
  i.g.output(ops::cotangent_of_taps(x, i.w, g, {}).id);
  i.g.output(y.id);
  const ir::builder found = ordered(i.g);
  int of_image = 0;
  for (ir::node_id id = 0; id < found.count(); ++id) {
    if (found[id].op != ir::opcode::permute || found[id].in[0] != i.x.id) continue;
    ++of_image;
    CHECK(found[id].attr == in_order(0, 2, 3, 1));
  }
  CHECK(of_image == 1);
}

TEST_CASE("what is read in two orders keeps a permute between them") {
  inputs i;
  const value y = relu(convolution(i.x, i.w));
  i.g.output((y + ops::permuted(y, in_order(0, 1, 3, 2))).id);
  const ir::builder found = ordered(i.g);
  CHECK(passes::verify(found.view()).ok());
  CHECK(in(found.view()).count >= 2);
}

TEST_CASE("a graph without a convolution, or without a permute, is left as it is") {
  inputs i;
  i.g.output(relu(channels_last(i.x)).id);
  CHECK_FALSE(passes::may_order_axes(i.g.view()));
  inputs last;
  last.g.output(ops::convolved(ops::reshape_to(last.x, {4, {2, 12, 12, 8}}), last.w, {}).id);
  CHECK_FALSE(passes::may_order_axes(last.g.view()));
  CHECK(passes::may_order_axes(chain().view()));
}
