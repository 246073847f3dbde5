// SPDX-License-Identifier: BSL-1.0
// What each pass does to small graphs, in constant evaluation and when it runs; each is the same function.
#include "../catch.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <tenure/ops/derivative.hpp>
#include <tenure/passes/differentiate.hpp>
#include <tenure/passes/join.hpp>
#include <tenure/passes/legalize.hpp>
#include <tenure/passes/materialize.hpp>
#include <tenure/passes/memory.hpp>
#include <tenure/passes/print.hpp>
#include <tenure/passes/schedule.hpp>
#include <tenure/passes/verify.hpp>

using namespace tenure;
using ops::value;

namespace {

std::string text_of(const ir::builder& g) { return passes::text_of(g.view()); }

/// Of each output whether it is a pad or a concat.
std::string kinds_of_outputs(const ir::builder& g) {
  std::string kinds;
  for (int i = 0; i < g.view().output_count; ++i) kinds += g[g.view().outputs[i]].op == ir::opcode::pad ? "pad " : "concat ";
  return kinds;
}

/// (x + 0) * 1 + (x + 0) * 1, and something that nobody asked for.
constexpr ir::builder wasteful() {
  ir::builder g;
  const value x{g, g.input(dtype::float64, {1, {8}})};
  const value unused = ops::pointwise_value<ops::exp>(x);
  const value a = ops::pointwise_value<ops::sin>(x), b = ops::pointwise_value<ops::sin>(x);
  g.output((a * b).id);
  static_cast<void>(unused);
  return g;
}
static_assert(wasteful().count() == 5);
static_assert(passes::dead_code(wasteful().view()).count() == 4);
static_assert(passes::cse(passes::dead_code(wasteful().view()).view()).count() == 3);
static_assert(passes::schedule(passes::cse(passes::dead_code(wasteful().view()).view()).view()).kernels.size() == 1);

constexpr ir::builder gradient() {
  ir::builder g = wasteful();
  const ir::node_id output = g.view().outputs[0], wrt = 0;
  const ir::node_id one = value(g, output).like(1).id;
  ir::node_id found = ir::none;
  passes::reverse(g, &output, &one, 1, &wrt, 1, &found);
  g.output(found);
  return g;
}
static_assert(passes::verify(gradient().view()).ok());
static_assert(passes::schedule(passes::cse(passes::dead_code(gradient().view()).view()).view()).kernels.size() == 1);

// All axes that there may be, which one loop walks; a constant, so that what a pass writes past an array does not compile.
constexpr int axes_of_kernel(bool is_transposed) {
  ir::builder g;
  extents s;
  while (s.rank < max_rank) s.push_back(2 + s.rank % 2);
  value x{g, g.input(dtype::float32, s)};
  if (is_transposed) x = ops::transposed(x);
  g.output(ops::pointwise_value<ops::exp>(x).id);
  const passes::plan_builder p = passes::schedule(g.view());
  return p.kernels[0].outer + p.kernels[0].inner;
}
static_assert(axes_of_kernel(false) == 1);
static_assert(axes_of_kernel(true) == 3);

}  // namespace

TEST_CASE("Law: after legalize only casts between a narrow type and its lane compute with a narrow type") {
  ir::builder g;
  const value x{g, g.input(dtype::bfloat16, {2, {4, 8}})}, y{g, g.input(dtype::float64, {2, {4, 8}})};
  const value z = ops::pointwise_value<ops::exp>(x) * x;
  g.output(ops::reduced(ops::sliced(ops::transposed(z), 0, 1, 4, 1), 1, ir::reduction::sum).id);
  g.output((ops::cast_to(z, dtype::float64) + y).id);
  g.output(ops::cast_to(y, dtype::bfloat16).id);
  REQUIRE(passes::needs_legalize(g.view()));
  const ir::builder after = passes::legalize(g.view());
  REQUIRE(passes::verify(after.view()).ok());
  for (ir::node_id id = 0; id < after.count(); ++id) {
    const ir::node& n = after[id];
    bool is_narrow = passes::is_narrow(n.type), is_legal_cast = false;
    for (int k = 0; k < n.arity; ++k) {
      const dtype from = after[n.in[k]].type;
      is_narrow = is_narrow || passes::is_narrow(from);
      is_legal_cast = n.op == ir::opcode::cast && (lane_of(n.type) == n.type || lane_of(n.type) == from);
    }
    CAPTURE(text_of(after), id);
    if (is_narrow) CHECK((is_legal_cast || passes::is_view(n.op) || passes::is_source(n.op)));
  }
}

TEST_CASE("a graph without narrow types needs no legalize, which would copy it") {
  ir::builder g;
  g.output((-value{g, g.input(dtype::float64, {1, {8}})}).id);
  CHECK_FALSE(passes::needs_legalize(g.view()));
}

TEST_CASE("legalize rounds no result that is a number of the narrow type already") {
  ir::builder g;
  const value x{g, g.input(dtype::bfloat16, {1, {8}})};
  const value below = ops::pointwise_value<ops::floor>(x), negative = -x;  // named, because compilers differ in the order of arguments
  g.output((ops::pointwise_value<ops::maximum>(negative, below) * x).id);
  CHECK(text_of(passes::dead_code(passes::cse(passes::legalize(g.view()).view()).view())) == R"(%0 = input 0 : bfloat16[8]
%1 = cast %0 : float32[8]
%2 = floor %1 : float32[8]
%3 = neg %1 : float32[8]
%4 = maximum %3, %2 : float32[8]
%5 = mul %4, %1 : float32[8]
%6 = cast %5 : bfloat16[8]
return %6
)");
}

TEST_CASE("the slice of a stack that repeats a matrix is the matrix, and of a transposed one the transposed matrix") {
  ir::builder g;
  const value w{g, g.input(dtype::float64, {2, {2, 2}})};
  const std::int16_t slice = w.node().shape;
  const auto stack = [&](int of_row, int of_column) { return ops::broadcast_along(w, g.intern({3, {5, 2, 2}}), ir::pack_axis(ir::pack_axis(0, 0, of_row), 1, of_column)).id; };
  CHECK(passes::same_in_each_iteration(g, stack(1, 2), slice) == w.id);
  const ir::node_id transposed = passes::same_in_each_iteration(g, stack(2, 1), slice);
  REQUIRE(transposed != w.id);
  CHECK(ir::unpack_axis(g[transposed].attr, 0) == 1);
  CHECK(ir::unpack_axis(g[transposed].attr, 1) == 0);
  CHECK(passes::same_in_each_iteration(g, w.id, slice) == ir::none);
}

TEST_CASE("dead_code keeps arguments, which are the signature") {
  ir::builder g;
  g.input(dtype::float64, {1, {8}});
  const value y{g, g.input(dtype::float64, {1, {8}})};
  g.output((-y).id);
  CHECK(text_of(passes::dead_code(g.view())) == R"(%0 = input 0 : float64[8]
%1 = input 1 : float64[8]
%2 = neg %1 : float64[8]
return %2
)");
}

TEST_CASE("cse takes x * y and y * x for one, but not x - y and y - x") {
  ir::builder g;
  const value x{g, g.input(dtype::float64, {1, {8}})}, y{g, g.input(dtype::float64, {1, {8}})};
  const value xy = x * y, yx = y * x, sum = x + y, mus = y + x, difference = x - y, reverse = y - x;
  for (const value& each : {xy / yx, sum / mus, difference / reverse}) g.output(each.id);
  CHECK(text_of(passes::cse(g.view())) == R"(%0 = input 0 : float64[8]
%1 = input 1 : float64[8]
%2 = mul %0, %1 : float64[8]
%3 = add %0, %1 : float64[8]
%4 = sub %0, %1 : float64[8]
%5 = sub %1, %0 : float64[8]
%6 = div %2, %2 : float64[8]
%7 = div %3, %3 : float64[8]
%8 = div %4, %5 : float64[8]
return %6, %7, %8
)");
}

TEST_CASE("join puts slices back together and adds products in one") {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {2, {3, 64}})}, w{g, g.input(dtype::float32, {3, {3, 1, 32}})};
  value products, wide;
  for (int t = 2; t >= 0; --t) {
    const value row = ops::sliced(x, 0, t, 1, 1), left = ops::reshape_to(ops::sliced(w, 0, t, 1, 1), {2, {1, 32}});
    const value part = ops::padded(ops::pointwise_value<ops::exp>(ops::sliced(row, 1, 16 * t, 16, 1)), 1, 16 * t, 64, 1);
    const value product = ops::matrix_product(ops::transposed(ops::concatenated(left, left, 0)), ops::pointwise_value<ops::exp>(ops::concatenated(row, row, 0)));
    products = t == 2 ? product : products + product;
    wide = t == 2 ? part : wide + part;
  }
  g.output(products.id);
  g.output(wide.id);
  REQUIRE(passes::may_join(g.view()));
  const ir::builder live = passes::dead_code(g.view()), after = passes::join(live.view());
  REQUIRE(passes::verify(after.view()).ok());
  const auto count = [](const ir::graph_view& v, ir::opcode op) {
    return std::count_if(v.nodes, v.nodes + v.count, [&](const ir::node& n) { return n.op == op; });
  };
  CHECK(count(live.view(), ir::opcode::matmul) == 3);
  CHECK(count(after.view(), ir::opcode::matmul) == 1);
  CHECK(count(live.view(), ir::opcode::pad) == 3);
  CHECK(count(after.view(), ir::opcode::pad) == 0);
  CHECK(count(after.view(), ir::opcode::add) == 0);
  const ir::node& product = after.view()[after.view().outputs[0]];
  CHECK(after.view().shape_of(product.in[1]) == extents{2, {6, 64}});
}

// Elements of a vector, every other one: a concat with zeros between them. Within clang's budget for one evaluation.
constexpr ir::builder scattered_elements() {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {1, {1}})};
  value sum;
  for (int i = 0; i < 300; ++i) {
    const value one = ops::padded(x, 0, 2 * i, 600, 1);
    sum = i == 0 ? one : sum + one;
  }
  g.output(sum.id);
  return g;
}
static_assert(passes::join(scattered_elements().view()).count() == 2 + 599, "the input, a zero and a concat of 600 parts");

// Two elements of a row, in a graph with so many other shapes: at some number the sum is the node whose shape makes the table grow.
constexpr bool joins_elements_of_row(int other_shapes) {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {})};
  for (int i = 0; i < other_shapes; ++i) g.intern({1, {100 + i}});
  const auto element = [&](int column) {
    const value row = ops::padded(ops::reshape_to(x, {1, {1}}), 0, column, 3, 1);
    return ops::padded(ops::reshape_to(row, {2, {1, 3}}), 0, 1, 2, 1);
  };
  g.output((element(0) + element(2)).id);
  return passes::verify(passes::join(g.view()).view()).ok();
}
static_assert(joins_elements_of_row(16));

TEST_CASE("join reads no shape in a table that has grown since") {  // AddressSanitizer sees it
  for (int i = 0; i < 32; ++i) CHECK(joins_elements_of_row(i));
}

TEST_CASE("join leaves slices of other axes, and those that overlap") {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {2, {2, 4}})}, y{g, g.input(dtype::float32, {2, {4, 2}})};
  g.output((ops::padded(x, 0, 0, 4, 1) + ops::padded(y, 1, 2, 4, 1)).id);
  g.output((ops::padded(x, 0, 0, 4, 1) + ops::padded(x, 0, 1, 4, 1)).id);
  CHECK(text_of(passes::join(g.view())) == text_of(passes::dead_code(g.view())));
}

TEST_CASE("join adds slices of one place before they are padded, and fills gaps with zeros") {
  const auto joined = [](auto terms) {
    ir::builder g;
    const value x{g, g.input(dtype::float32, {2, {2, 4}})}, z{g, g.input(dtype::float32, {2, {1, 4}})};
    g.output(terms(x, z).id);
    const ir::builder after = passes::join(g.view());
    CHECK(passes::verify(after.view()).ok());
    return text_of(after);
  };
  CHECK(joined([](value x, value z) { return ops::padded(x, 0, 0, 4, 1) + ops::padded(z, 0, 3, 4, 1); }) == R"(%0 = input 0 : float32[2,4]
%1 = input 1 : float32[1,4]
%2 = constant 0 : float32[1,4]
%3 = concat %0, %2 axis=0 : float32[3,4]
%4 = concat %3, %1 axis=0 : float32[4,4]
return %4
)");
  CHECK(joined([](value x, value z) {
          return ops::padded(z, 0, 6, 40, 1) + ops::padded(x, 0, 0, 40, 1) + ops::padded(-z, 0, 6, 40, 1);
        }) == R"(%0 = input 0 : float32[2,4]
%1 = input 1 : float32[1,4]
%2 = sub %1, %1 : float32[1,4]
%3 = constant 0 : float32[1,4]
%4 = concat %0, %3 axis=0 : float32[3,4]
%5 = concat %4, %3 axis=0 : float32[4,4]
%6 = concat %5, %3 axis=0 : float32[5,4]
%7 = concat %6, %3 axis=0 : float32[6,4]
%8 = concat %7, %2 axis=0 : float32[7,4]
%9 = constant 0 : float32[33,4]
%10 = concat %8, %9 axis=0 : float32[40,4]
return %10
)");
  CHECK(joined([](value x, value) { return ops::padded(x, 1, 1, 8, 2) + ops::padded(x, 1, 0, 8, 2); }) == R"(%0 = input 0 : float32[2,4]
%1 = input 1 : float32[1,4]
%2 = reshape %0 : float32[2,4,1]
%3 = reshape %0 : float32[2,4,1]
%4 = concat %2, %3 axis=2 : float32[2,4,2]
%5 = reshape %4 : float32[2,8]
return %5
)");
}

// Elements in no order, of which some come twice: within clang's budget for one evaluation.
constexpr int concats_of_shuffled_elements() {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {1, {1}})};
  value sum;
  for (int i = 0; i < 400; ++i) {
    const value one = ops::padded(x, 0, i * 77 % 300, 300, 1);
    sum = i == 0 ? one : sum + one;
  }
  g.output(sum.id);
  const ir::builder after = passes::join(g.view());
  int concats = 0;
  for (int i = 0; i < after.count(); ++i) concats += after[i].op == ir::opcode::concat;
  return concats;
}
static_assert(concats_of_shuffled_elements() == 299);

TEST_CASE("join fills gaps with few constants and few kernels, where there are many more zeros than parts") {
  const auto parts_and_kernels = [](value x, auto pick, int picks) {
    ir::builder& g = *x.graph;
    value sum = pick(0);
    for (int i = 1; i < picks; ++i) sum = sum + pick(i);
    g.output(sum.id);
    const ir::builder joined = passes::join(g.view()), after = passes::materialize(passes::cse(joined.view()).view());
    CHECK(passes::verify(after.view()).ok());
    const ir::graph_view v = after.view();
    CHECK(std::none_of(v.nodes, v.nodes + v.count, [](const ir::node& n) { return n.op == ir::opcode::pad; }));
    const auto concats = std::count_if(v.nodes, v.nodes + v.count, [](const ir::node& n) { return n.op == ir::opcode::concat; });
    return std::vector{static_cast<int>(concats) + 1, passes::schedule(v).kernels.size()};
  };
  ir::builder vector, matrix, many;
  const value x{vector, vector.input(dtype::float32, {1, {1700}})}, y{matrix, matrix.input(dtype::float32, {2, {16, 16}})};
  const auto element = [](const value& of, int at, int length) { return ops::padded(ops::pointwise_value<ops::exp>(ops::sliced(of, 0, at, 1, 1)), 0, at, length, 1); };
  // 100 elements, and a constant for each gap of 16.
  CHECK(parts_and_kernels(x, [&](int i) { return element(x, 17 * i, 1700); }, 100) == std::vector{200, 2});
  // The diagonal.
  const auto of_diagonal = [&](int i) {
    const value row = ops::sliced(y, 0, i, 1, 1);
    const value one = ops::pointwise_value<ops::exp>(ops::sliced(row, 1, i, 1, 1));
    return ops::padded(ops::padded(one, 1, i, 16, 1), 0, i, 16, 1);
  };
  CHECK(parts_and_kernels(y, of_diagonal, 16) == std::vector{80, 4});
  // The table of shapes has room for 2000 such elements.
  const value z{many, many.input(dtype::float32, {1, {34000}})};
  CHECK(parts_and_kernels(z, [&](int i) { return element(z, 17 * i, 34000); }, 2000)[0] == 4000);
}

TEST_CASE("join does not take a run-time extent for a number") {
  ir::builder g;
  const std::int64_t n = g.new_symbol({ir::symbol::kind::argument, 0, 0, 0}), wider = g.derived(ir::symbol::kind::sum, n, 1);
  const value x{g, g.input(dtype::float32, {1, {n}})}, y{g, g.input(dtype::float32, {1, {n}})};
  g.output((ops::padded(x, 0, 1, wider, 1) + ops::padded(y, 0, 0, wider, 1)).id);
  const ir::builder after = passes::join(g.view());
  CHECK(text_of(after) == text_of(g));
}

TEST_CASE("join computes a slice of cheap operations on what is in memory in its part of a concat, and no other slice") {
  ir::builder g;
  const std::int64_t n = g.new_symbol({ir::symbol::kind::argument, 0, 0, 0}), shorter = g.derived(ir::symbol::kind::difference, n, 1);
  const value x{g, g.input(dtype::float32, {1, {n}})}, h{g, g.input(dtype::float32, {})}, one{g, g.constant(dtype::float32, g.intern({1, {1}}), 1)};
  const auto delayed = [&](const value& y) { return ops::concatenated(one, ops::sliced(y, 0, 0, shorter, 1), 0).id; };
  g.output(delayed(ops::broadcast_to(h, x.node().shape) * x + x));
  g.output(delayed(x + ops::pointwise_value<ops::exp>(x)));
  REQUIRE(passes::may_join(g.view()));
  const ir::builder after = passes::join(g.view());
  CHECK(passes::verify(after.view()).ok());
  CHECK(text_of(after) == R"(%0 = input 0 : float32[d0]
%1 = input 1 : float32[]
%2 = constant 1 : float32[1]
%3 = broadcast %1 axes=() : float32[d1]
%4 = slice %0 axis=0 start=0 step=1 : float32[d1]
%5 = mul %3, %4 : float32[d1]
%6 = slice %0 axis=0 start=0 step=1 : float32[d1]
%7 = add %5, %6 : float32[d1]
%8 = concat %2, %7 axis=0 : float32[d0]
%9 = exp %0 : float32[d0]
%10 = add %0, %9 : float32[d0]
%11 = slice %10 axis=0 start=0 step=1 : float32[d1]
%12 = concat %2, %11 axis=0 : float32[d0]
return %8, %12
)");
}

TEST_CASE("join puts what is shifted along a run-time axis between its zeros, where their number is known") {
  ir::builder g;
  const std::int64_t n = g.new_symbol({ir::symbol::kind::argument, 0, 0, 0}), m = g.new_symbol({ir::symbol::kind::argument, 1, 0, 0});
  const std::int64_t shorter = g.derived(ir::symbol::kind::difference, n, 2);
  const value x = ops::pointwise_value<ops::exp>({g, g.input(dtype::float32, {1, {shorter}})});
  const value y = ops::pointwise_value<ops::exp>({g, g.input(dtype::float32, {1, {m}})});
  for (const int start : {0, 1, 2}) g.output(ops::padded(x, 0, start, n, 1).id);
  g.output(ops::padded(y, 0, 0, n, 1).id);
  const ir::builder after = passes::join(g.view());
  CHECK(passes::verify(after.view()).ok());
  CHECK(text_of(after) == R"(%0 = input 0 : float32[d2]
%1 = exp %0 : float32[d2]
%2 = input 1 : float32[d1]
%3 = exp %2 : float32[d1]
%4 = constant 0 : float32[2]
%5 = concat %1, %4 axis=0 : float32[d0]
%6 = pad %1 axis=0 start=1 step=1 : float32[d0]
%7 = constant 0 : float32[2]
%8 = concat %7, %1 axis=0 : float32[d0]
%9 = pad %3 axis=0 start=0 step=1 : float32[d0]
return %5, %6, %8, %9
)");
}

TEST_CASE("join keeps the pad along a run-time axis where its zeros are many, or its operand is computed elsewhere") {
  ir::builder g;
  const std::int64_t n = g.new_symbol({ir::symbol::kind::argument, 0, 0, 0});
  const auto input = [&](dtype type, int fewer) { return value{g, g.input(type, {1, {g.derived(ir::symbol::kind::difference, n, fewer)}})}; };
  const auto computed = [&](int fewer) { return ops::pointwise_value<ops::exp>(input(dtype::float32, fewer)); };
  const value fewest = computed(1), last = computed(16), first = computed(17), bits = ops::pointwise_value<ops::less>(input(dtype::float32, 2), input(dtype::float32, 2));
  const value read = input(dtype::float32, 2);
  for (const auto& [x, start] : {std::pair{fewest, 0}, {fewest, 1}, {last, 0}, {last, 16}, {first, 0}, {first, 17}, {bits, 0}, {read, 0}}) g.output(ops::padded(x, 0, start, n, 1).id);
  const ir::builder after = passes::join(g.view());
  CHECK(passes::verify(after.view()).ok());
  CHECK(kinds_of_outputs(after) == "concat concat concat concat pad pad pad pad ");
}

TEST_CASE("join fills the rest of a small axis, or a thin rest, with constants") {
  ir::builder g;
  struct part { std::int64_t extent, start, length; };
  // 64 elements in all, and one more; an eighth of the axis, and one element more.
  for (const part& p : {part{5, 3, 64}, {7, 3, 65}, {70, 0, 80}, {70, 3, 80}, {69, 0, 80}, {69, 11, 80}}) {
    const value x = ops::pointwise_value<ops::exp>({g, g.input(dtype::float32, {1, {p.extent}})});
    g.output(ops::padded(x, 0, p.start, p.length, 1).id);
  }
  CHECK(kinds_of_outputs(passes::join(g.view())) == "concat pad concat concat pad pad ");
}

TEST_CASE("materialize copies what strides or offsets cannot express") {
  ir::builder g;
  const std::int64_t rows = g.new_symbol({ir::symbol::kind::argument, 0, 0, 0}), columns = g.new_symbol({ir::symbol::kind::argument, 0, 1, 0});
  const value x{g, g.input(dtype::float32, {2, {rows, columns}})};
  // 2 * columns + 3 is no product, so the second slice starts from a copy.
  const value corner = ops::sliced(ops::sliced(x, 0, 2, 4, 1), 1, 3, 5, 1);
  g.output((-corner).id);
  g.output(ops::reshape_to(ops::transposed(corner), {1, {20}}).id);
  CHECK(text_of(passes::materialize(g.view())) == R"(%0 = input 0 : float32[d0,d1]
%1 = slice %0 axis=0 start=2 step=1 : float32[4,d1]
%2 = copy %1 : float32[4,d1]
%3 = slice %2 axis=1 start=3 step=1 : float32[4,5]
%4 = neg %3 : float32[4,5]
%5 = permute %3 axes=(1,0) : float32[5,4]
%6 = copy %5 : float32[5,4]
%7 = reshape %6 : float32[20]
return %4, %7
)");
}

TEST_CASE("materialize reads a slice along the first axis as another shape in its place, and copies a slice of columns") {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {3, {4, 3, 2}})};
  const value layer = ops::sliced(x, 0, 2, 1, 1);
  g.output((-ops::reshape_to(layer, {1, {6}})).id);
  g.output((-ops::reshape_to(ops::sliced(layer, 1, 1, 2, 1), {1, {4}})).id);
  g.output((-ops::reshape_to(ops::sliced(x, 1, 0, 2, 1), {1, {16}})).id);
  g.output((-ops::reshape_to(ops::sliced(x, 0, 0, 2, 2), {1, {12}})).id);
  CHECK(text_of(passes::materialize(g.view())) == R"(%0 = input 0 : float32[4,3,2]
%1 = slice %0 axis=0 start=2 step=1 : float32[1,3,2]
%2 = reshape %1 : float32[6]
%3 = neg %2 : float32[6]
%4 = slice %1 axis=1 start=1 step=1 : float32[1,2,2]
%5 = reshape %4 : float32[4]
%6 = neg %5 : float32[4]
%7 = slice %0 axis=1 start=0 step=1 : float32[4,2,2]
%8 = copy %7 : float32[4,2,2]
%9 = reshape %8 : float32[16]
%10 = neg %9 : float32[16]
%11 = slice %0 axis=0 start=0 step=2 : float32[2,3,2]
%12 = copy %11 : float32[2,3,2]
%13 = reshape %12 : float32[12]
%14 = neg %13 : float32[12]
return %3, %6, %10, %14
)");
}

TEST_CASE("materialize computes a part of a concat in its place, also below axes of extent 1, and a constant beside it in its shape") {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {1, {3}})}, part = ops::reshape_to(ops::pointwise_value<ops::exp>(x), {2, {3, 1}});
  const ir::node_id numbers = x.like(0).id;
  const value zero{g, g.append({.op = ir::opcode::reshape, .arity = 1, .shape = part.node().shape, .in = {numbers, ir::none, ir::none}})};
  g.output(ops::concatenated(zero, part, 1).id);
  CHECK(text_of(passes::materialize(g.view())) == R"(%0 = input 0 : float32[3]
%1 = exp %0 : float32[3]
%2 = reshape %1 : float32[3,1]
%3 = constant 0 : float32[3]
%4 = reshape %3 : float32[3,1]
%5 = copy %3 : float32[3]
%6 = reshape %5 : float32[3,1]
%7 = concat %6, %2 axis=1 : float32[3,2]
return %7
)");
}

TEST_CASE("materialize computes a part of a concat in its place, unless a reshape needs it in one piece") {
  const auto concats = [](bool is_reshaped, int axis) {
    ir::builder g;
    const value c = ops::pointwise_value<ops::exp>(value{g, g.input(dtype::float32, {2, {2, 3}})});
    g.output(ops::concatenated(c, ops::pointwise_value<ops::sin>(c), axis).id);
    if (is_reshaped) g.output((-ops::reshape_to(c, {2, {3, 2}})).id);
    return text_of(passes::materialize(g.view()));
  };
  CHECK(concats(false, 1) == R"(%0 = input 0 : float32[2,3]
%1 = exp %0 : float32[2,3]
%2 = sin %1 : float32[2,3]
%3 = concat %1, %2 axis=1 : float32[2,6]
return %3
)");
  CHECK(concats(true, 0) == R"(%0 = input 0 : float32[2,3]
%1 = exp %0 : float32[2,3]
%2 = sin %1 : float32[2,3]
%3 = concat %1, %2 axis=0 : float32[4,3]
%4 = reshape %1 : float32[3,2]
%5 = neg %4 : float32[3,2]
return %3, %5
)");
  CHECK(concats(true, 1) == R"(%0 = input 0 : float32[2,3]
%1 = exp %0 : float32[2,3]
%2 = sin %1 : float32[2,3]
%3 = copy %1 : float32[2,3]
%4 = concat %3, %2 axis=1 : float32[2,6]
%5 = reshape %1 : float32[3,2]
%6 = neg %5 : float32[3,2]
return %4, %6
)");
}

TEST_CASE("reverse sums over the uses of a value") {
  CHECK(text_of(passes::dead_code(passes::algebra(gradient().view()).view())) == R"(%0 = input 0 : float64[8]
%1 = sin %0 : float64[8]
%2 = sin %0 : float64[8]
%3 = mul %1, %2 : float64[8]
%4 = cos %0 : float64[8]
%5 = mul %1, %4 : float64[8]
%6 = cos %0 : float64[8]
%7 = mul %2, %6 : float64[8]
%8 = add %5, %7 : float64[8]
return %3, %8
)");
}

TEST_CASE("reverse doubles the cotangent of a square that adds to another") {
  ir::builder g;
  const value x{g, g.input(dtype::float64, {1, {8}})}, weight{g, g.input(dtype::float64, {1, {8}})};
  const value square = x * x, y = square * weight + x;
  g.output(y.id);
  const ir::node_id output = y.id, one = y.like(1).id, wrt[] = {x.id, square.id};
  ir::node_id found[] = {ir::none, ir::none};
  passes::reverse(g, &output, &one, 1, wrt, 2, found);
  g.output(found[0]);
  g.output(found[1]);
  CHECK(text_of(passes::cse(passes::dead_code(passes::algebra(g.view()).view()).view())) == R"(%0 = input 0 : float64[8]
%1 = input 1 : float64[8]
%2 = mul %0, %0 : float64[8]
%3 = mul %2, %1 : float64[8]
%4 = add %3, %0 : float64[8]
%5 = constant 1 : float64[8]
%6 = mul %1, %0 : float64[8]
%7 = constant 2 : float64[8]
%8 = mul %6, %7 : float64[8]
%9 = add %5, %8 : float64[8]
return %4, %9, %1
)");
}

TEST_CASE("buffers of one chain share two places") {
  ir::builder g;
  value x{g, g.input(dtype::float32, {2, {64, 64}})};
  for (int i = 0; i < 6; ++i) x = ops::matrix_product(x, x);
  g.output(x.id);
  const passes::plan_builder p = passes::schedule(g.view());
  std::int64_t offsets[32] = {};
  passes::placement_scratch<32, 32> scratch;
  REQUIRE(p.buffers.size() <= 32);
  CHECK(passes::place_buffers(p.buffers.data(), p.buffers.size(), p.steps.size(), nullptr, offsets, scratch) == 2 * 64 * 64 * 4);
}

TEST_CASE("a temporary is written over one that its kernel reads for the last time") {
  const auto bytes = [](auto f) {
    ir::builder g;
    const value x{g, g.input(dtype::float32, {2, {64, 64}})};
    g.output(f(x).id);
    const passes::plan_builder p = passes::schedule(g.view());
    std::int64_t offsets[32] = {};
    passes::placement_scratch<32, 32> scratch;
    REQUIRE(p.buffers.size() <= 32);
    return passes::place_buffers(p.buffers.data(), p.buffers.size(), p.steps.size(), nullptr, offsets, scratch) / (64 * 64 * 4);
  };
  const auto product = [](value a, value b) { return ops::matrix_product(a, b); };
  const auto tanh = [](value a) { return ops::pointwise_value<ops::tanh>(a); };
  CHECK(bytes([&](value x) { return product(tanh(product(x, x)), x); }) == 1);
  CHECK(bytes([&](value x) { return product(tanh(product(tanh(product(x, x)), x)), x); }) == 2);
  CHECK(bytes([&](value x) { const value y = product(x, x); return product(tanh(y), y); }) == 2);  // the product is read later
  CHECK(bytes([&](value x) { return product(tanh(ops::transposed(product(x, x))), x); }) == 2);  // at other elements
}

TEST_CASE("buffers are placed forwards or backwards") {
  using passes::buffer;
  const auto temporary = [](std::int64_t pieces, int first, int last) { return buffer{.elements = {pieces * 64 / 4, 0}, .first = first, .last = last}; };
  const auto place = [&](std::initializer_list<buffer> of, std::initializer_list<std::int64_t> wanted, bool backwards) {
    std::int64_t offsets[8] = {};
    passes::placement_scratch<8, 8> scratch;
    const std::int64_t peak = passes::place_buffers(of.begin(), static_cast<int>(of.size()), 4, nullptr, offsets, scratch, backwards);
    for (std::size_t i = 0; i < of.size(); ++i) CHECK(offsets[i] == wanted.begin()[i] * 64);
    return peak / 64;
  };
  // Forwards the first buffer leaves a gap of 1, too small for the last one.
  CHECK(place({temporary(1, 0, 1), temporary(2, 1, 2), temporary(2, 2, 3)}, {0, 1, 3}, false) == 5);
  CHECK(place({temporary(1, 0, 1), temporary(2, 1, 2), temporary(2, 2, 3)}, {0, 2, 0}, true) == 4);
  // The second is written over the first one, and the third begins where the second one ends.
  buffer over = temporary(2, 1, 2), under = temporary(2, 0, 1);
  over.in_place_of = 0, under.is_passed_on = true;
  for (const bool backwards : {false, true}) CHECK(place({under, over, temporary(2, 3, 3)}, {0, 0, 0}, backwards) == 2);
}

TEST_CASE("a plan fits into memory of its sizes, and not where one of them is smaller") {
  using passes::plan_sizes;
  const plan_sizes all{1, 2, 3, 4, 5, 6};
  CHECK(all <= all);
  const struct {
    const char* name;
    int plan_sizes::*size;
  } sizes[] = {{"buffers", &plan_sizes::buffers},           {"strides", &plan_sizes::strides}, {"accesses", &plan_sizes::accesses},
               {"instructions", &plan_sizes::instructions}, {"kernels", &plan_sizes::kernels}, {"steps", &plan_sizes::steps}};
  for (const auto& each : sizes) {
    CAPTURE(each.name);
    plan_sizes larger = all;
    ++(larger.*each.size);
    CHECK(all <= larger);
    CHECK_FALSE(larger <= all);
  }
}
