// SPDX-License-Identifier: BSL-1.0
// What passes assume of each operation: whether its result is worth an array, and what a kernel pays to compute an element again.
#include "../catch.hpp"

#include <tenure/passes/costs.hpp>

using namespace tenure;
using ir::opcode;
using passes::recomputing;

TEST_CASE("products, sums and looked-up elements are worth an array") {
  for (const opcode op : {opcode::matmul, opcode::reduce, opcode::gather, opcode::scatter, opcode::index_add, ops::nodes::order::code, ops::nodes::qr::code}) {
    CAPTURE(static_cast<int>(op));
    CHECK(passes::is_worth_an_array(op));
  }
}

TEST_CASE("arithmetic and views cost less than a read of memory, random bits and functions more") {
  for (const opcode op : {opcode::constant, opcode::input, opcode::broadcast, opcode::reshape, opcode::permute, opcode::pad, opcode::cast}) {
    CAPTURE(static_cast<int>(op));
    CHECK_FALSE(passes::is_worth_an_array(op));
    CHECK(passes::cost_of_recomputing(op) == recomputing::arithmetic);
  }
  CHECK(passes::cost_of_recomputing(ops::code_of<ops::random_unit>()) == recomputing::random_bits);
  CHECK(passes::cost_of_recomputing(ops::code_of<ops::exp>()) == recomputing::function);
}
