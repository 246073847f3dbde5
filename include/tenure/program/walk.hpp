// SPDX-License-Identifier: BSL-1.0
// The walk of a kernel: what each instruction does at each point of the loop nest. The loops of the CPU, the kernels of a GPU, and the
// reference's run of a plan use this header. They define how a lane is loaded, stored, computed and combined, and each has its own nest:
//   for each row: the instructions of phase 0; then in each pass
//     start the sums of the row; for each element the instructions of the pass; finish the sums; the instructions of phase pass + 1
// The nest is not a function here: on a GPU the threads of a block wait for each other inside the nest, and a row may end in another block.
// A function with a callback for each part of the nest costs more compile time than the nest.
#pragma once

#include <bit>

#include <tenure/passes/plan.hpp>

namespace TENURE_NAMESPACE::program_detail {

using passes::instruction;

/// What an instruction does at a point of the nest. `keep`: it computes a value and keeps it in memory, from which later passes load it.
enum class action { nothing, constant, load, compute, keep, store, reduce_row, reduce_columns, reduce_all };

/// What an instruction does when it runs for the first time.
constexpr action first_action(const instruction& x) {
  switch (x.what) {
    case instruction::kind::constant: return action::constant;
    case instruction::kind::load: return action::load;
    case instruction::kind::compute: return x.is_kept() ? action::keep : action::compute;
    case instruction::kind::store: return action::store;
    case instruction::kind::reduce_row: return action::reduce_row;
    case instruction::kind::reduce_columns: return action::reduce_columns;
    case instruction::kind::reduce_all: return action::reduce_all;
  }
  return action::nothing;
}

/// What an instruction does for each element in a pass over the row.
constexpr action in_pass(const instruction& x, int pass) {
  if (!x.runs_in(pass)) return action::nothing;
  return x.is_kept() && x.ran_before(pass) ? action::load : first_action(x);
}

/// What an instruction does once for each row, after `phase` passes over the row. The sums of these passes are finished then.
constexpr action in_phase(const instruction& x, int phase) {
  const bool runs = x.row && x.phase == phase && x.what != instruction::kind::reduce_row;
  return runs ? first_action(x) : action::nothing;
}

/// The groups of instructions that run together.
enum class part {
  elements,                 // of a pass
  loads, computes, stores,  // `elements` in three groups; a value that is kept is in computes and in stores
  row,                      // of a phase
  row_values,               // `row` without stores
  row_stores,               // of all phases
  row_sums,                 // that a pass reduces
  sums,                     // of the elements that a pass adds up
  column_sums, totals, totals_and_columns,
};

constexpr bool is_in(part group, int pass, const instruction& x) {
  using kind = instruction::kind;
  const auto does = [&](auto... wanted) {
    const action what = in_pass(x, pass);
    return ((what == wanted) || ...);
  };
  switch (group) {
    case part::elements: return x.runs_in(pass);
    case part::loads: return does(action::load);
    case part::computes: return does(action::compute, action::keep, action::reduce_row, action::reduce_all);
    case part::stores: return does(action::store, action::keep, action::reduce_columns);
    case part::row: return in_phase(x, pass) != action::nothing;
    case part::row_values: return x.what != kind::store && in_phase(x, pass) != action::nothing;
    case part::row_stores: return x.row && x.what == kind::store;
    case part::row_sums: return x.what == kind::reduce_row && x.runs_in(pass);
    case part::sums: return (x.what == kind::reduce_row || (x.what == kind::reduce_all && !x.row)) && x.runs_in(pass) && x.reduction() == ir::reduction::sum;
    case part::column_sums: return x.what == kind::reduce_columns;
    case part::totals: return x.what == kind::reduce_all;
    case part::totals_and_columns: return x.what == kind::reduce_all || x.what == kind::reduce_columns;
  }
  return false;  // for nvcc
}

/// The number of a constant, in the type in which the kernel computes.
template <class T>
constexpr T constant_of(const instruction& x) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(std::bit_cast<double>(x.bits));
  else return static_cast<T>(x.bits);
}

}  // namespace tenure::program_detail
