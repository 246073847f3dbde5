// SPDX-License-Identifier: BSL-1.0
// The operations of the steps that are not fused kernels: the one place that decodes the numbers which the encoder wrote.
#pragma once

#include <type_traits>

#include <tenure/program/program.hpp>

namespace TENURE_NAMESPACE::program_detail {

/// Shape and strides of one operand of an opaque step.
struct operand_view {
  int rank = 0;
  std::int64_t extent[max_rank] = {};
  std::int64_t stride[max_rank] = {};
};

/// The view of a row-major array with the extents of v.
constexpr operand_view row_major(operand_view v) {
  std::int64_t size = 1;
  for (int d = v.rank - 1; d >= 0; size *= v.extent[d--]) v.stride[d] = size;
  return v;
}
constexpr std::int64_t elements_along(const operand_view& v, int first, int last) {
  std::int64_t n = 1;
  for (int d = first; d < last; ++d) n *= v.extent[d];
  return n;
}
constexpr std::int64_t elements_of(const operand_view& v) { return elements_along(v, 0, v.rank); }
/// Whether the elements along the axes first ... last - 1 are contiguous, in row-major order.
constexpr bool is_dense(const operand_view& v, int first, int last) {
  std::int64_t step = 1;
  for (int d = last - 1; d >= first; step *= v.extent[d--])
    if (v.extent[d] != 1 && v.stride[d] != step) return false;
  return true;
}

/// A step that is not a fused kernel, with all fields of its node. The encoder writes these fields as numbers (encode_opaque). Only this
/// struct reads the numbers.
struct opaque_operation {
  struct operand : operand_view {
    dtype type = dtype::float32;
  };
  /// A bound on computed indices: its position among the program's bounds, and its extent.
  struct index_bound {
    std::int64_t position, extent;
  };

  int axis = 0;
  std::int64_t attr = 0, start = 0, step = 1;  // attr: all of it; for most operations it is the axis
  operand in[ir::max_operands];
  operand_view out;

  constexpr opaque_operation() = default;
  constexpr opaque_operation(ir::opcode, const std::int64_t* numbers) : opaque_operation(numbers) {}
  constexpr explicit opaque_operation(const std::int64_t* numbers) : next_(numbers) {
    const auto operands = static_cast<int>(next());
    axis = static_cast<int>(attr = next());
    start = next();
    step = next();
    for (int k = 0; k < operands; ++k) {
      in[k].type = static_cast<dtype>(next());
      read(in[k]);
    }
    read(out);
  }
  constexpr int bound_count() const { return static_cast<int>(*next_); }
  constexpr index_bound bound(int i) const { return {next_[1 + 2 * i], next_[2 + 2 * i]}; }

 private:
  constexpr std::int64_t next() { return *next_++; }
  constexpr void read(operand_view& v) {
    v.rank = static_cast<int>(next());
    for (int d = 0; d < v.rank; ++d) v.extent[d] = next();
    for (int d = 0; d < v.rank; ++d) v.stride[d] = next();
  }

  const std::int64_t* next_ = nullptr;  // the next number to read; after the constructor, the first number of the bounds
};

/// The different operations of the opaque steps of a program. Equal operations share their numbers (encode.hpp).
template <class Program>
struct different_operations {
  int first_number[Program::step_count + 1] = {}, of[Program::step_count + 1] = {}, count = 0;

  constexpr different_operations() {
    for (int i = 0; i < Program::step_count; ++i) {
      const bound_step& s = Program::tables.steps[i];
      if (!s.is_operation()) continue;
      while (of[i] < count && first_number[of[i]] != s.first_number) ++of[i];
      if (of[i] == count) first_number[count++] = s.first_number;
    }
  }
};
template <class Program>
inline constexpr different_operations<Program> operations{};

/// The numbers of all steps for given run-time extents, and the operations that the numbers describe. This is the only place that decodes operations: once
/// for a static program, otherwise once for a call or for all iterations of a loop. In a loop that updates a row in each iteration, decoding took half
/// of the time. An Operation is made of an opcode and its numbers.
template <class Program, class Operation>
class decoded_steps {
 public:
  decoded_steps(const decoded_steps&) = delete;  // the operations point to the numbers
  constexpr explicit decoded_steps(const std::int64_t* symbols) {
    for (int i = 0; i < Program::number_count; ++i) number_[i] = passes::value_of(Program::tables.numbers[i], symbols);
    if constexpr (count > 0) {  // nvcc does not read the braces of a for without these
      for (int i = 0, next = 0; i < Program::step_count; ++i) {
        const bound_step& s = Program::tables.steps[i];
        if (s.is_operation() && operations<Program>.of[i] == next) operation_.at[next++] = Operation(s.op, numbers_of(s));
      }
    }
  }
  constexpr const std::int64_t* numbers_of(const bound_step& s) const { return number_ + s.first_number; }
  /// The operation of step i.
  constexpr const Operation& operation(int i) const { return operation_.at[operations<Program>.of[i]]; }

 private:
  static constexpr int count = operations<Program>.count;
  struct list {
    Operation at[count > 0 ? count : 1] = {};
  };
  struct none {
    static constexpr Operation at[1] = {};
  };

  std::int64_t number_[Program::number_count + 1] = {};
  std::conditional_t<(count > 0), list, none> operation_;
};

}  // namespace tenure::program_detail
