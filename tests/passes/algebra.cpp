// SPDX-License-Identifier: BSL-1.0
// Each rule of passes/rules: what it rewrites, and beside it what it must leave alone.
#include "../catch.hpp"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <tenure/backend/reference/run.hpp>
#include <tenure/ops/derivative.hpp>
#include <tenure/passes/algebra.hpp>
#include <tenure/passes/print.hpp>
#include <tenure/passes/verify.hpp>

using namespace tenure;
using ops::value;

namespace {

/// The graph of some values after the algebra. Braces make the values in the order in which they are written.
std::string simple(ir::builder& g, std::initializer_list<value> values) {
  for (const value& v : values) g.output(v.id);
  REQUIRE(passes::verify(g.view()).ok());
  const ir::builder all = passes::algebra(g.view());
  REQUIRE(passes::verify(all.view()).ok());
  return passes::text_of(passes::dead_code(all.view()).view());
}

struct vectors {
  ir::builder g;
  value x{g, g.input(dtype::float64, {1, {8}})}, y{g, g.input(dtype::float64, {1, {8}})};
};
const std::string vector_inputs = "%0 = input 0 : float64[8]\n%1 = input 1 : float64[8]\n";

}  // namespace

TEST_CASE("a trace records what was written") {
  vectors v;
  CHECK((v.x + 0.0).node().op == ir::opcode::add);
  CHECK((v.x * 1.0).node().op == ir::opcode::mul);
  CHECK((-(-v.x)).node().op == ir::opcode::neg);
  CHECK(ops::transposed(ops::transposed(value{v.g, v.g.input(dtype::float64, {2, {2, 3}})})).node().op == ir::opcode::permute);
  CHECK((v.x.like(2) + v.x.like(3)).node().op == ir::opcode::add);
}

TEST_CASE("a slice of an array between zeros is a slice of the array, or zeros; one of both stays") {
  vectors v;
  const value wide = ops::padded(v.x, 0, 2, 12, 1);
  CHECK(simple(v.g, {ops::sliced(wide, 0, 2, 8, 1), ops::sliced(wide, 0, 4, 3, 1), ops::sliced(wide, 0, 10, 2, 1), ops::sliced(wide, 0, 0, 2, 1),
                     ops::sliced(wide, 0, 1, 3, 1)}) == vector_inputs + R"(%2 = pad %0 axis=0 start=2 step=1 : float64[12]
%3 = slice %0 axis=0 start=2 step=1 : float64[3]
%4 = constant 0 : float64[2]
%5 = constant 0 : float64[2]
%6 = slice %2 axis=0 start=1 step=1 : float64[3]
return %0, %3, %4, %5, %6
)");
}
TEST_CASE("a slice of joined arrays is a slice of the one that has it; one across two, in steps or along another axis stays") {
  vectors v;
  const value z{v.g, v.g.input(dtype::float64, {1, {4}})}, table{v.g, v.g.input(dtype::float64, {2, {2, 8}})};
  const value row = ops::concatenated(ops::concatenated(v.x, z, 0), v.y, 0), tables = ops::concatenated(table, table, 1);
  CHECK(simple(v.g, {ops::sliced(row, 0, 0, 8, 1), ops::sliced(row, 0, 9, 2, 1), ops::sliced(row, 0, 12, 8, 1), ops::sliced(row, 0, 17, 3, 1),
                     ops::sliced(row, 0, 10, 4, 1), ops::sliced(row, 0, 0, 2, 3), ops::sliced(tables, 0, 1, 1, 1), ops::sliced(tables, 1, 8, 8, 1)}) == vector_inputs + R"(%2 = input 2 : float64[4]
%3 = input 3 : float64[2,8]
%4 = concat %0, %2 axis=0 : float64[12]
%5 = concat %4, %1 axis=0 : float64[20]
%6 = concat %3, %3 axis=1 : float64[2,16]
%7 = slice %2 axis=0 start=1 step=1 : float64[2]
%8 = slice %1 axis=0 start=5 step=1 : float64[3]
%9 = slice %5 axis=0 start=10 step=1 : float64[4]
%10 = slice %5 axis=0 start=0 step=3 : float64[2]
%11 = slice %6 axis=0 start=1 step=1 : float64[1,16]
return %0, %7, %1, %8, %9, %10, %11, %3
)");
}

TEST_CASE("neutral operands leave arithmetic") {
  vectors v;
  CHECK(simple(v.g, {v.x + 0.0, v.x.like(0) + v.x, v.x - 0.0, v.x * 1.0, 1.0 * v.x, v.x / 1.0, -(-v.x), v.x + -0.0, v.x.like(-0.0) + v.x}) == vector_inputs + "return %0, %0, %0, %0, %0, %0, %0, %0, %0\n");
  // -0 - (-0) is 0.
  vectors w;
  CHECK(simple(w.g, {w.x - -0.0}) == vector_inputs + "%2 = constant -0 : float64[8]\n%3 = sub %0, %2 : float64[8]\nreturn %3\n");
}
TEST_CASE("the first operand of sub and div is not neutral") {
  vectors v;
  // 0 - 0 is 0, and the negative of 0 is -0. So only -0 may be left out.
  CHECK(simple(v.g, {0.0 - v.x}) == vector_inputs + "%2 = constant 0 : float64[8]\n%3 = sub %2, %0 : float64[8]\nreturn %3\n");
  vectors negative;
  CHECK(simple(negative.g, {-0.0 - negative.x}) == vector_inputs + "%2 = neg %0 : float64[8]\nreturn %2\n");
  vectors w;
  CHECK(simple(w.g, {1.0 / w.x}) == vector_inputs + "%2 = constant 1 : float64[8]\n%3 = div %2, %0 : float64[8]\nreturn %3\n");
}
TEST_CASE("what has the factor 1 / y is multiplied by it where it is divided by y") {
  vectors v;
  const value r = 1.0 / v.y;
  CHECK(simple(v.g, {r / v.y, v.x * r / v.y, -(r * v.x) / v.y, v.x * -r / v.y}) == vector_inputs + R"(%2 = constant 1 : float64[8]
%3 = div %2, %1 : float64[8]
%4 = mul %3, %3 : float64[8]
%5 = mul %0, %3 : float64[8]
%6 = mul %5, %3 : float64[8]
%7 = mul %3, %0 : float64[8]
%8 = neg %7 : float64[8]
%9 = mul %8, %3 : float64[8]
%10 = neg %3 : float64[8]
%11 = mul %0, %10 : float64[8]
%12 = mul %11, %3 : float64[8]
return %4, %6, %9, %12
)");
  // A batch stretches both.
  ir::builder batch;
  const value distance{batch, batch.input(dtype::float64, {})}, directions{batch, batch.input(dtype::float64, {1, {8}})};
  const auto stretched = [&](const value& x) { return ops::broadcast_along(x, directions.node().shape, 0); };
  CHECK(simple(batch, {directions * stretched(1.0 / distance) / stretched(distance)}) == R"(%0 = input 0 : float64[]
%1 = input 1 : float64[8]
%2 = constant 1 : float64[]
%3 = div %2, %0 : float64[]
%4 = broadcast %3 axes=() : float64[8]
%5 = mul %1, %4 : float64[8]
%6 = mul %5, %4 : float64[8]
return %6
)");
  // Another numerator may have no reciprocal in range, and 1 / x is another number.
  vectors w;
  CHECK(simple(w.g, {2.0 / w.y / w.y, w.x * (1.0 / w.x) / w.y, (w.x + 1.0 / w.y) / w.y}) == vector_inputs + R"(%2 = constant 2 : float64[8]
%3 = div %2, %1 : float64[8]
%4 = div %3, %1 : float64[8]
%5 = constant 1 : float64[8]
%6 = div %5, %0 : float64[8]
%7 = mul %0, %6 : float64[8]
%8 = div %7, %1 : float64[8]
%9 = constant 1 : float64[8]
%10 = div %9, %1 : float64[8]
%11 = add %0, %10 : float64[8]
%12 = div %11, %1 : float64[8]
return %4, %8, %12
)");
}
TEST_CASE("1 / y as a second factor leaves infinities and NaN in their places") {
  using limits = std::numeric_limits<double>;
  const double largest = limits::max(), least = limits::denorm_min();
  const double special[] = {0, -0.0, 1, -3, 1e-20, 1e20, limits::infinity(), -limits::infinity(), limits::quiet_NaN(), largest, -largest,
                            largest / 2, largest / 3, limits::min(), limits::min() / 4, least, -least, 1.5 / largest};
  std::vector<double> x, y;
  for (const double a : special)
    for (const double b : special) x.push_back(a), y.push_back(b);
  const extents all{1, {static_cast<std::int64_t>(x.size())}};
  ir::builder g;
  const value a{g, g.input(dtype::float64, all)}, b{g, g.input(dtype::float64, all)};
  g.output((a * (1.0 / b) / b).id);
  g.output((1.0 / b / b).id);
  const ir::builder simplified = passes::algebra(g.view());
  const std::vector<reference::array> arguments = {{all, x.data()}, {all, y.data()}};
  const auto divided = reference::run(g.view(), arguments), multiplied = reference::run(simplified.view(), arguments);
  for (std::size_t r = 0; r < divided.size(); ++r)
    for (std::int64_t i = 0; i < all[0]; ++i) {
      INFO("result " << r << " of " << x[static_cast<std::size_t>(i)] << " and " << y[static_cast<std::size_t>(i)]);
      const auto wanted = static_cast<double>(divided[r][i]), found = static_cast<double>(multiplied[r][i]);
      CHECK(std::isnan(found) == std::isnan(wanted));
      if (std::isinf(wanted)) CHECK(found == wanted);
      else if (!std::isnan(wanted)) CHECK(std::abs(found - wanted) <= 4 * limits::epsilon() * std::abs(wanted) + limits::min());
    }
}
TEST_CASE("a factor of -1 and a negated term become neg and sub") {
  vectors v;
  CHECK(simple(v.g, {v.x * -1.0, -1.0 * v.y, v.x + -v.y, -v.x + v.y, v.x - -v.y}) == vector_inputs + R"(%2 = neg %0 : float64[8]
%3 = neg %1 : float64[8]
%4 = sub %0, %1 : float64[8]
%5 = sub %1, %0 : float64[8]
%6 = add %0, %1 : float64[8]
return %2, %3, %4, %5, %6
)");
}
namespace {

struct table_of_rows {
  std::int64_t height = 3;
  ir::builder g = {};
  value x{g, g.input(dtype::float64, {2, {height, 4}})}, rows{g, g.input(dtype::float64, {1, {height}})}, columns{g, g.input(dtype::float64, {1, {4}})};
  value mask = ops::pointwise_value<ops::less>(x, x.like(0.5));
  value choice = ops::pointwise_value<ops::where>(mask, x.like(1), x.like(0));
  value of_rows = ops::broadcast_along(rows, x.node().shape, ir::pack_axis(0, 0, 0)), of_columns = ops::broadcast_along(columns, x.node().shape, ir::pack_axis(0, 0, 1));
};
std::string inputs_of(const table_of_rows& t) {
  const std::string rows = std::to_string(t.height), table = "[" + rows + ",4]\n";
  return "%0 = input 0 : float64" + table + "%1 = input 1 : float64[" + rows + "]\n%2 = input 2 : float64[4]\n%3 = constant 0.5 : float64" + table + "%4 = less %0, %3 : bool" + table;
}

}  // namespace

TEST_CASE("arithmetic with a choice of numbers for a row is a choice of results") {
  table_of_rows t;
  CHECK(simple(t.g, {t.choice / t.of_rows}) == inputs_of({}) + R"(%5 = constant 1 : float64[3]
%6 = div %5, %1 : float64[3]
%7 = broadcast %6 axes=(0) : float64[3,4]
%8 = constant 0 : float64[3]
%9 = div %8, %1 : float64[3]
%10 = broadcast %9 axes=(0) : float64[3,4]
%11 = where %4, %7, %10 : float64[3,4]
return %11
)");
  table_of_rows in_iteration;  // what follows is a choice too
  CHECK(simple(in_iteration.g, {-(in_iteration.choice / in_iteration.of_rows) * 2.0 - in_iteration.of_rows}) == inputs_of({}) + R"(%5 = constant 1 : float64[3]
%6 = div %5, %1 : float64[3]
%7 = constant 0 : float64[3]
%8 = div %7, %1 : float64[3]
%9 = neg %6 : float64[3]
%10 = neg %8 : float64[3]
%11 = constant 2 : float64[3]
%12 = mul %9, %11 : float64[3]
%13 = constant 2 : float64[3]
%14 = mul %10, %13 : float64[3]
%15 = sub %12, %1 : float64[3]
%16 = broadcast %15 axes=(0) : float64[3,4]
%17 = sub %14, %1 : float64[3]
%18 = broadcast %17 axes=(0) : float64[3,4]
%19 = where %4, %16, %18 : float64[3,4]
return %19
)");
  table_of_rows constants;
  CHECK(simple(constants.g, {6.0 / (constants.choice + 2.0), -constants.choice}) == inputs_of({}) + R"(%5 = constant 2 : float64[3,4]
%6 = constant 3 : float64[3,4]
%7 = where %4, %5, %6 : float64[3,4]
%8 = constant -1 : float64[3,4]
%9 = constant -0 : float64[3,4]
%10 = where %4, %8, %9 : float64[3,4]
return %7, %10
)");
}
TEST_CASE("a quotient of a choice of constants and numbers for each column is a choice of quotients, from four rows on") {
  table_of_rows four{4};
  CHECK(simple(four.g, {four.choice / four.of_columns}) == inputs_of(four) + R"(%5 = constant 1 : float64[4]
%6 = div %5, %2 : float64[4]
%7 = broadcast %6 axes=(1) : float64[4,4]
%8 = constant 0 : float64[4]
%9 = div %8, %2 : float64[4]
%10 = broadcast %9 axes=(1) : float64[4,4]
%11 = where %4, %7, %10 : float64[4,4]
return %11
)");
  for (const value& kept : {four.choice * four.of_columns, four.of_columns / four.choice, ops::pointwise_value<ops::where>(four.mask, four.of_rows, four.x.like(0)) / four.of_columns}) {
    ir::builder copy = four.g;
    const std::string text = simple(copy, {{copy, kept.id}});
    INFO(text);
    CHECK(text.find(kept.node().op == ir::opcode::div ? " div " : " mul ", text.find("where")) != std::string::npos);
  }
}
TEST_CASE("a choice of arrays, or with numbers for each column, stays in arithmetic") {
  table_of_rows t;
  const value of_arrays = ops::pointwise_value<ops::where>(t.mask, t.x, t.x.like(0));
  for (const value& kept : {t.choice / t.of_columns, of_arrays / t.of_rows, t.choice * t.x, -of_arrays, of_arrays * 2.0}) {
    ir::builder copy = t.g;
    const std::string text = simple(copy, {{copy, kept.id}});
    INFO(text);
    const std::string last = kept.node().op == ir::opcode::neg ? "neg" : kept.node().op == ir::opcode::div ? "div" : "mul";
    CHECK(text.find(" " + last + " ", text.find("where")) != std::string::npos);
  }
}
TEST_CASE("arithmetic with a choice has the same bits, where the numbers are zero, infinite or NaN too") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const double row : {0.0, -0.0, 3.0, -1e300, inf, -inf, nan, 5e-324}) {
    table_of_rows t{4};
    for (const value& v : {t.choice / t.of_rows, t.choice / t.of_columns, t.of_rows / t.choice, t.choice * t.of_rows, -t.choice - t.of_rows, -(t.choice / t.of_rows) * 2.0}) t.g.output(v.id);
    const ir::builder simplified = passes::algebra(t.g.view());
    const auto array = [](extents shape, std::initializer_list<double> values) {
      reference::array a(dtype::float64, shape);
      int i = 0;
      for (const double v : values) a.as<double>()[i++] = v;
      return a;
    };
    const std::vector<reference::array> arguments = {array({2, {4, 4}}, {0, 1, nan, 0.25, 2, -inf, 0.5, 0.75, 1, 0, inf, -1, 3, 0, -2, 1}), array({1, {4}}, {row, 1, 7, -3}),
                                                     array({1, {4}}, {1, 2, row, 4})};
    const auto wanted = reference::run(t.g.view(), arguments), found = reference::run(simplified.view(), arguments);
    REQUIRE(found.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      for (std::int64_t e = 0; e < wanted[i].size(); ++e) {
        INFO("output " << i << ", element " << e << ", for the row " << row);
        const double a = wanted[i][e], b = found[i][e];
        CHECK(((std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b))));
      }
  }
}
TEST_CASE("x * 0 stays: x may be NaN") {
  vectors v;
  CHECK(simple(v.g, {v.x * 0.0}) == vector_inputs + "%2 = constant 0 : float64[8]\n%3 = mul %0, %2 : float64[8]\nreturn %3\n");
}

TEST_CASE("two constant factors become one, except where the first product alone could be infinite") {
  {
    vectors v;
    const value once = v.x * -0.5, again = v.x * -0.5;
    CHECK(simple(v.g, {once * 4.0, 2.0 * (0.25 * v.y), once + again}) == vector_inputs + R"(%2 = constant -2 : float64[8]
%3 = mul %0, %2 : float64[8]
%4 = constant 0.5 : float64[8]
%5 = mul %1, %4 : float64[8]
%6 = neg %0 : float64[8]
return %3, %5, %6
)");
  }
  for (const auto& [first, second] : {std::pair(4.0, 0.5), std::pair(1e-200, 1e-200), std::pair(1e300, 1e300), std::pair(0.0, 3.0)}) {
    vectors v;
    const std::string text = simple(v.g, {v.x * first * second});
    CAPTURE(first, second, text);
    CHECK(text.find("%5 = mul") != std::string::npos);
  }
  ir::builder g;
  const value i{g, g.input(dtype::int32, {1, {8}})};
  CHECK(simple(g, {i * 3.0 * 5.0}).find("15") == std::string::npos);
}
TEST_CASE("a quotient by a power of two is a product with the same bits") {
  vectors v;
  const double least = std::numeric_limits<double>::min(), tiny = std::numeric_limits<double>::denorm_min();
  CHECK(simple(v.g, {v.x / 8.0, v.y / -0.25}) == vector_inputs + R"(%2 = constant 0.125 : float64[8]
%3 = mul %0, %2 : float64[8]
%4 = constant -4 : float64[8]
%5 = mul %1, %4 : float64[8]
return %3, %5
)");
  for (const double by : {3.0, 0.0, tiny, 1 / least, 2 / least, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    vectors w;
    CHECK(simple(w.g, {w.x / by}).find("div") != std::string::npos);
  }
}
TEST_CASE("constants fold in their own type") {
  using enum ir::opcode;
  const auto folds_to = [](ir::opcode op, dtype type, double a, double b) {
    ir::builder one;
    const std::int16_t scalar = one.intern({});
    one.output(ops::arithmetic(op, {one, one.constant(type, scalar, a)}, {one, one.constant(type, scalar, b)}).id);
    const ir::builder all = passes::algebra(one.view());
    const ir::node& n = all.view()[all.view().outputs[0]];
    return n.op == ir::opcode::constant ? ir::value_of(n) : -12345;
  };
  CHECK(folds_to(add, dtype::float64, 2, 3) == 5);
  CHECK(folds_to(sub, dtype::float64, 2, 3) == -1);
  CHECK(folds_to(mul, dtype::float64, 2, 3) == 6);
  CHECK(folds_to(div, dtype::float64, 3, 2) == 1.5);
  CHECK(folds_to(add, dtype::float32, 1, 0x1p-30) == 1);  // rounds as float32 does
  CHECK(folds_to(mul, dtype::float32, 0.1, 1) != 0.1);
  // Left to the run: they overflow, or divide by zero.
  for (const dtype type : {dtype::float32, dtype::float64}) {
    const double large = type == dtype::float32 ? 3e38 : 1.5e308;
    INFO(name_of(type));
    CHECK(folds_to(add, type, large, large) == -12345);
    CHECK(folds_to(sub, type, large, -large) == -12345);
    CHECK(folds_to(mul, type, large, 2) == -12345);
    CHECK(folds_to(div, type, large, 0.5) == -12345);
    CHECK(folds_to(div, type, 1, 0) == -12345);
    CHECK(folds_to(mul, type, large, 0.5) == (type == dtype::float32 ? static_cast<double>(3e38f * 0.5f) : large * 0.5));
  }
  CHECK(folds_to(mul, dtype::float32, 1e60, 1e-60) == -12345);  // the first is infinite in float32
}

TEST_CASE("a constant is cast by its value") {
  const auto cast = [](dtype from, double c, dtype to) {
    ir::builder g;
    g.output(ops::cast_to({g, g.constant(from, g.intern({1, {3}}), c)}, to).id);
    const ir::builder all = passes::algebra(g.view());
    const ir::node& n = all.view()[all.view().outputs[0]];
    return n.op == ir::opcode::constant ? ir::value_of(n) : -12345;
  };
  CHECK(cast(dtype::float64, 2.5, dtype::int32) == 2);
  CHECK(cast(dtype::float64, -2.5, dtype::int64) == -2);
  CHECK(cast(dtype::float64, 0.5, dtype::boolean) == 1);
  CHECK(cast(dtype::int32, 2, dtype::boolean) == 1);
  CHECK(cast(dtype::float64, 0.1, dtype::float32) == static_cast<double>(0.1f));
  CHECK(cast(dtype::float32, 0.1, dtype::float64) == static_cast<double>(0.1f));
  CHECK(cast(dtype::float64, 1e60, dtype::float32) == -12345);
  CHECK(cast(dtype::float64, 1e10, dtype::int32) == -12345);
  CHECK(cast(dtype::float64, 0x1p31, dtype::int32) == -12345);
  CHECK(cast(dtype::float64, 0x1p31 - 1, dtype::int32) == 0x1p31 - 1);
}

TEST_CASE("no factor leaves a sum") {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {2, {4, 8}})}, rows{g, g.input(dtype::float32, {1, {4}})};
  const value a = ops::reduced(x * 0.001, 2, ir::reduction::sum), b = ops::reduced(x * ops::broadcast_along(rows, x.node().shape, ir::pack_axis(0, 0, 0)), 2, ir::reduction::sum);
  CHECK(simple(g, {a, b}) == R"(%0 = input 0 : float32[4,8]
%1 = input 1 : float32[4]
%2 = constant 0.001 : float32[4,8]
%3 = mul %0, %2 : float32[4,8]
%4 = sum %3 axes=(1) : float32[4]
%5 = broadcast %1 axes=(0) : float32[4,8]
%6 = mul %0, %5 : float32[4,8]
%7 = sum %6 axes=(1) : float32[4]
return %4, %7
)");
}
TEST_CASE("a sum of a product stays one") {
  ir::builder g;
  const value a{g, g.input(dtype::float32, {2, {4, 3}})}, b{g, g.input(dtype::float32, {2, {3, 5}})};
  CHECK(simple(g, {ops::reduced(ops::matrix_product(a, b), 3, ir::reduction::sum)}) == R"(%0 = input 0 : float32[4,3]
%1 = input 1 : float32[3,5]
%2 = matmul %0, %1 : float32[4,5]
%3 = sum %2 axes=(0,1) : float32[]
return %3
)");
}
TEST_CASE("a sign leaves a sum, and no other reduction") {
  vectors v;
  CHECK(simple(v.g, {ops::reduced(-v.x, 1, ir::reduction::sum), ops::reduced(-v.x, 1, ir::reduction::max)}) == vector_inputs + R"(%2 = sum %0 axes=(0) : float64[]
%3 = neg %2 : float64[]
%4 = neg %0 : float64[8]
%5 = amax %4 axes=(0) : float64[]
return %3, %5
)");
}

TEST_CASE("a reduction along stretched axes reads what was stretched") {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {1, {2}})};
  const value one = ops::sliced(x, 0, 0, 1, 1), wide = ops::broadcast_along(one, g.intern({2, {1, 2}}), ir::pack_axis(0, 0, 0));
  CHECK(simple(g, {ops::reduced(wide, 3, ir::reduction::max), ops::reduced(wide, 3, ir::reduction::sum)}) == R"(%0 = input 0 : float32[2]
%1 = slice %0 axis=0 start=0 step=1 : float32[1]
%2 = reshape %1 : float32[]
%3 = reshape %1 : float32[]
%4 = constant 2 : float32[]
%5 = mul %3, %4 : float32[]
return %2, %5
)");
}

TEST_CASE("a reduction along permuted axes is one of the operand where the other axes keep their order") {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {3, {2, 3, 4}})};
  const std::int64_t reversed = ir::pack_axis(ir::pack_axis(ir::pack_axis(0, 0, 2), 1, 1), 2, 0), turned = ir::pack_axis(ir::pack_axis(ir::pack_axis(0, 0, 2), 1, 0), 2, 1);
  const value kept = ops::reduced(ops::permuted(x, turned), 1, ir::reduction::sum), swapped = ops::reduced(ops::permuted(x, reversed), 4, ir::reduction::sum);
  CHECK(simple(g, {kept, swapped}) == R"(%0 = input 0 : float32[2,3,4]
%1 = sum %0 axes=(2) : float32[2,3]
%2 = permute %0 axes=(2,1,0) : float32[4,3,2]
%3 = sum %2 axes=(2) : float32[4,3]
return %1, %3
)");
}

TEST_CASE("a one-hot mask chooses from what varies along the row") {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {2, {4, 8}})}, labels{g, g.input(dtype::int64, {1, {4}})}, shift{g, g.input(dtype::float32, {1, {4}})};
  const auto stretched = [&](const value& r) { return ops::stretched_like(r, x, 2); };
  const value positions = ops::counting(g, dtype::float32, x.node().shape, 1);
  const value mask = ops::pointwise_value<ops::equal>(positions, stretched(ops::cast_to(labels, dtype::float32)));
  const auto chosen = [&](const value& from) { return ops::reduced(ops::pointwise_value<ops::where>(mask, from, from.like(0)), 2, ir::reduction::sum); };
  const value picked = chosen(x - stretched(shift)), constant = chosen(x.like(3));

  SECTION("the labels were checked to lie in the row") {
    g.check_bound({labels.id, 8, "pick"});
    CHECK(simple(g, {picked, constant}) == R"(%0 = input 0 : float32[4,8]
%1 = input 1 : int64[4]
%2 = input 2 : float32[4]
%3 = iota axis=1 : float32[4,8]
%4 = cast %1 : float32[4]
%5 = broadcast %4 axes=(0) : float32[4,8]
%6 = equal %3, %5 : bool[4,8]
%7 = constant 0 : float32[4,8]
%8 = where %6, %0, %7 : float32[4,8]
%9 = sum %8 axes=(1) : float32[4]
%10 = sub %9, %2 : float32[4]
%11 = constant 3 : float32[4]
return %10, %11
)");
  }
  SECTION("nothing is known of the labels, or another axis was meant: a row may hold none") {
    if (GENERATE(false, true)) g.check_bound({labels.id, 9, "pick"});
    const std::string text = simple(g, {picked, constant});
    INFO(text);
    CHECK(text.find("sub %0") != std::string::npos);
    CHECK(text.find("constant 3 : float32[4]\n") == std::string::npos);
  }
}

TEST_CASE("a mask of positions is computed in the type of the values that it selects") {
  const auto of = [](std::int64_t rows, std::int64_t columns, dtype type, double shift) {
    ir::builder g;
    const std::int64_t n = columns < 0 ? g.new_symbol({ir::symbol::kind::argument, 0, 1, 0}) : columns;
    const value x{g, g.input(type, {2, {rows, n}})};
    const std::int16_t shape = x.node().shape;
    const value column = ops::counting(g, dtype::int64, shape, 1), row = ops::counting(g, dtype::int64, shape, 0);
    const value seen = ops::pointwise_value<ops::less_equal>(column, row + row.like(shift));
    g.output(ops::pointwise_value<ops::where>(ops::pointwise_value<ops::logical_and>(seen, ops::pointwise_value<ops::logical_not>(ops::pointwise_value<ops::less>(row, column))), x, x.like(0)).id);
    g.output(ops::cast_to(seen, type).id);
    REQUIRE(passes::verify(g.view()).ok());
    const ir::builder all = passes::algebra(g.view());
    REQUIRE(passes::verify(all.view()).ok());
    const ir::builder live = passes::dead_code(all.view());
    int integers = 0;
    for (int i = 0; i < live.count(); ++i) integers += live[i].type == dtype::int64;
    return integers;
  };
  CHECK(of(4, 6, dtype::float32, 1) == 0);
  CHECK(of(4, 6, dtype::float64, 1) == 0);
  CHECK(of(4, 6, dtype::int64, 1) > 0);                 // x itself
  CHECK(of(1, 1 << 24, dtype::float32, 0x1p23) == 0);   // up to here float represents every position
  CHECK(of(1, 1 << 24, dtype::float32, 0x1p23 + 1) > 0);
  CHECK(of(1, (1 << 24) + 1, dtype::float32, 1) > 0);
  CHECK(of((1 << 23) + 1, 1, dtype::float32, 1) > 0);   // a sum may be twice as large
  CHECK(of(4, -1, dtype::float32, 1) > 0);

  // A mask with shared parts has 2^40 paths from its end to its begin. The rule looks at a few nodes.
  ir::builder g;
  const value x{g, g.input(dtype::float32, {2, {4, 6}})}, a{g, g.input(dtype::boolean, {2, {4, 6}})};
  value mask = a;
  for (int i = 0; i < 40; ++i) mask = ops::pointwise_value<ops::logical_or>(ops::pointwise_value<ops::logical_and>(mask, a), ops::pointwise_value<ops::logical_not>(mask));
  g.output(ops::pointwise_value<ops::where>(mask, x, x.like(0)).id);
  CHECK(passes::algebra(g.view()).count() == g.count());
}

TEST_CASE("a product with one number, or with equal rows, is none") {
  ir::builder g;
  const value a{g, g.input(dtype::float32, {2, {4, 3}})}, c{g, g.input(dtype::float32, {})}, row{g, g.input(dtype::float32, {1, {3}})}, weights{g, g.input(dtype::float32, {1, {5}})};
  const std::int16_t left = g.intern({2, {5, 4}});
  const value number = ops::broadcast_along(c, left, 0), rows = ops::broadcast_along(weights, left, ir::pack_axis(0, 0, 0));
  static_cast<void>(row);
  CHECK(simple(g, {ops::matrix_product(number, a), ops::matrix_product(rows, a)}) == R"(%0 = input 0 : float32[4,3]
%1 = input 1 : float32[]
%2 = input 2 : float32[3]
%3 = input 3 : float32[5]
%4 = broadcast %3 axes=(0) : float32[5,4]
%5 = broadcast %1 axes=() : float32[4,3]
%6 = mul %5, %0 : float32[4,3]
%7 = sum %6 axes=(0) : float32[3]
%8 = broadcast %7 axes=(1) : float32[5,3]
%9 = matmul %4, %0 : float32[5,3]
return %8, %9
)");
}
TEST_CASE("a product with an inner extent of 1 is an outer product, and one with equal rows is one row") {
  ir::builder g;
  const value column{g, g.input(dtype::float32, {2, {4, 1}})}, line{g, g.input(dtype::float32, {2, {1, 5}})}, b{g, g.input(dtype::float32, {2, {5, 3}})};
  const value equal_rows = ops::broadcast_to(line, g.intern({2, {4, 5}}));
  CHECK(simple(g, {ops::matrix_product(column, line), ops::matrix_product(equal_rows, b)}) == R"(%0 = input 0 : float32[4,1]
%1 = input 1 : float32[1,5]
%2 = input 2 : float32[5,3]
%3 = broadcast %0 axes=(0,1) : float32[4,5]
%4 = broadcast %1 axes=(0,1) : float32[4,5]
%5 = mul %3, %4 : float32[4,5]
%6 = matmul %1, %2 : float32[1,3]
%7 = broadcast %6 axes=(0,1) : float32[4,3]
return %5, %7
)");
}

TEST_CASE("a transposed product is the product of the transposed operands, where nothing else reads it") {
  ir::builder g;
  const value a{g, g.input(dtype::float32, {2, {4, 6}})}, b{g, g.input(dtype::float32, {2, {6, 3}})};
  CHECK(simple(g, {ops::transposed(ops::matrix_product(a, b))}) == R"(%0 = input 0 : float32[4,6]
%1 = input 1 : float32[6,3]
%2 = permute %1 axes=(1,0) : float32[3,6]
%3 = permute %0 axes=(1,0) : float32[6,4]
%4 = matmul %2, %3 : float32[3,4]
return %4
)");
  ir::builder read_twice;
  const value c{read_twice, read_twice.input(dtype::float32, {2, {4, 6}})}, d{read_twice, read_twice.input(dtype::float32, {2, {6, 3}})};
  const value product = ops::matrix_product(c, d);
  CHECK(simple(read_twice, {product, ops::transposed(product)}) == R"(%0 = input 0 : float32[4,6]
%1 = input 1 : float32[6,3]
%2 = matmul %0, %1 : float32[4,3]
%3 = permute %2 axes=(1,0) : float32[3,4]
return %2, %3
)");
  ir::builder batched;
  const value left{batched, batched.input(dtype::float32, {3, {2, 4, 6}})}, right{batched, batched.input(dtype::float32, {3, {2, 6, 3}})};
  const std::int64_t all_turned = ir::pack_axis(ir::pack_axis(ir::pack_axis(0, 0, 2), 1, 0), 2, 1);
  CHECK(simple(batched, {ops::transposed(ops::matrix_product(left, right)), ops::permuted(ops::matrix_product(left, right), all_turned)}) == R"(%0 = input 0 : float32[2,4,6]
%1 = input 1 : float32[2,6,3]
%2 = permute %1 axes=(0,2,1) : float32[2,3,6]
%3 = permute %0 axes=(0,2,1) : float32[2,6,4]
%4 = matmul %2, %3 : float32[2,3,4]
%5 = matmul %0, %1 : float32[2,4,3]
%6 = permute %5 axes=(2,0,1) : float32[3,2,4]
return %4, %6
)");
}

TEST_CASE("movements compose") {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {2, {6, 4}})}, v{g, g.input(dtype::float32, {1, {4}})};
  const value wide = ops::broadcast_along(v, g.intern({2, {3, 4}}), ir::pack_axis(0, 0, 1));
  const std::int64_t turned = ir::pack_axis(ir::pack_axis(ir::pack_axis(0, 0, 2), 1, 0), 2, 1);
  const value cube{g, g.input(dtype::float32, {3, {2, 3, 4}})};
  CHECK(simple(g, {ops::transposed(ops::transposed(x)), ops::reshape_to(ops::reshape_to(x, {1, {24}}), {2, {6, 4}}), ops::sliced(x, 1, 0, 4, 1), ops::cast_to(x, dtype::float32),
               ops::sliced(ops::sliced(x, 0, 1, 2, 2), 0, 1, 1, 1), ops::sliced(ops::sliced(x, 0, 1, 2, 2), 1, 1, 2, 1), ops::transposed(wide),
               ops::permuted(ops::permuted(cube, turned), turned)}) == R"(%0 = input 0 : float32[6,4]
%1 = input 1 : float32[4]
%2 = input 2 : float32[2,3,4]
%3 = slice %0 axis=0 start=3 step=2 : float32[1,4]
%4 = slice %0 axis=0 start=1 step=2 : float32[2,4]
%5 = slice %4 axis=1 start=1 step=1 : float32[2,2]
%6 = broadcast %1 axes=(0) : float32[4,3]
%7 = permute %2 axes=(1,2,0) : float32[3,4,2]
return %0, %0, %0, %0, %3, %5, %6, %7
)");
  ir::builder h;
  const value row{h, h.input(dtype::float32, {1, {4}})}, rows = ops::broadcast_along(row, h.intern({2, {3, 4}}), ir::pack_axis(0, 0, 1));
  CHECK(simple(h, {ops::broadcast_along(rows, h.intern({3, {3, 2, 4}}), ir::pack_axis(ir::pack_axis(0, 0, 0), 1, 2))}) == R"(%0 = input 0 : float32[4]
%1 = broadcast %0 axes=(2) : float32[3,2,4]
return %1
)");
}
TEST_CASE("a pad of the same shape and start is none, and others stay") {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {1, {1}})};
  CHECK(simple(g, {ops::padded(x, 0, 0, 1, 1), ops::padded(x, 0, 0, 3, 1)}) == "%0 = input 0 : float32[1]\n%1 = pad %0 axis=0 start=0 step=1 : float32[3]\nreturn %0, %1\n");
}
TEST_CASE("rows that follow each other in an array are joined without a concat") {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {3, {5, 2, 3}})};
  const auto step = [&](int t) { return ops::reshape_to(ops::sliced(x, 0, t, 1, 1), {2, {2, 3}}); };
  const value first = step(1), second = step(2), third = step(3);
  CHECK(simple(g, {ops::concatenated(ops::concatenated(first, second, 0), third, 0), ops::concatenated(second, first, 0), ops::concatenated(first, third, 0),
               ops::concatenated(first, second, 1)}) == R"(%0 = input 0 : float32[5,2,3]
%1 = slice %0 axis=0 start=1 step=1 : float32[1,2,3]
%2 = reshape %1 : float32[2,3]
%3 = slice %0 axis=0 start=2 step=1 : float32[1,2,3]
%4 = reshape %3 : float32[2,3]
%5 = slice %0 axis=0 start=3 step=1 : float32[1,2,3]
%6 = reshape %5 : float32[2,3]
%7 = slice %0 axis=0 start=1 step=1 : float32[3,2,3]
%8 = reshape %7 : float32[6,3]
%9 = concat %4, %2 axis=0 : float32[4,3]
%10 = concat %2, %6 axis=0 : float32[4,3]
%11 = concat %2, %4 axis=1 : float32[2,6]
return %8, %9, %10, %11
)");
}
TEST_CASE("rows and columns of a convolution are those of the elements that they read, between fewer zeros; where all are read too, they stay") {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {4, {1, 6, 7, 2}})}, w{g, g.input(dtype::float32, {4, {3, 3, 2, 4}})};
  const value wide = ops::padded(ops::padded(x, 1, 2, 10, 1), 2, 2, 11, 1), in_steps = ops::convolved(wide, w, {{2, 1}, {1, 2}}), all = ops::convolved(wide, w, {{1, 1}, {2, 1}});
  CHECK(simple(g, {ops::sliced(ops::sliced(ops::convolved(wide, w, {}), 1, 1, 6, 1), 2, 3, 2, 1), ops::sliced(in_steps, 1, 2, 1, 1), ops::sliced(all, 1, 1, 2, 1), all}) ==
        R"(%0 = input 0 : float32[1,6,7,2]
%1 = input 1 : float32[3,3,2,4]
%2 = pad %0 axis=1 start=2 step=1 : float32[1,10,7,2]
%3 = pad %2 axis=2 start=2 step=1 : float32[1,10,11,2]
%4 = convolution %3, %1 : float32[1,6,9,4]
%5 = pad %0 axis=1 start=1 step=1 : float32[1,8,7,2]
%6 = slice %5 axis=2 start=1 step=1 : float32[1,8,4,2]
%7 = convolution %6, %1 : float32[1,6,2,4]
%8 = slice %0 axis=1 start=2 step=1 : float32[1,3,7,2]
%9 = pad %8 axis=2 start=2 step=1 : float32[1,3,11,2]
%10 = convolution %9, %1 : float32[1,1,7,4]
%11 = slice %4 axis=1 start=1 step=1 : float32[1,2,9,4]
return %7, %10, %11, %4
)");
}
TEST_CASE("few windows that overlap are added as slices between zeros, and many along an axis of a view") {
  ir::builder g;
  const value x{g, g.input(dtype::float32, {2, {5, 6}})}, many{g, g.input(dtype::float32, {2, {7, 17}})};
  CHECK(simple(g, {ops::overlap_added(x, 0, 15, 2), ops::overlap_added(many, 0, 23, 1), ops::overlap_added(x, 0, 40, 8)}) == R"(%0 = input 0 : float32[5,6]
%1 = input 1 : float32[7,17]
%2 = pad %0 axis=0 start=2 step=1 : float32[9,6]
%3 = slice %2 axis=1 start=0 step=1 : float32[9,2]
%4 = slice %3 axis=0 start=2 step=1 : float32[7,2]
%5 = slice %2 axis=1 start=2 step=1 : float32[9,2]
%6 = slice %5 axis=0 start=1 step=1 : float32[7,2]
%7 = add %4, %6 : float32[7,2]
%8 = slice %2 axis=1 start=4 step=1 : float32[9,2]
%9 = slice %8 axis=0 start=0 step=1 : float32[7,2]
%10 = add %7, %9 : float32[7,2]
%11 = reshape %10 : float32[14]
%12 = pad %11 axis=0 start=0 step=1 : float32[15]
%13 = pad %1 axis=0 start=16 step=1 : float32[39,17]
%14 = reshape %13 : float32[663,1]
%15 = slice %14 axis=0 start=16 step=1 : float32[647,1]
%16 = windows %15 axis=0 step=17 : float32[23,1,257]
%17 = slice %16 axis=2 start=0 step=16 : float32[23,1,17]
%18 = sum %17 axes=(2) : float32[23,1]
%19 = reshape %18 : float32[23]
%20 = pad %0 axis=1 start=0 step=1 : float32[5,8]
%21 = reshape %20 : float32[40]
return %12, %19, %21
)");
}
