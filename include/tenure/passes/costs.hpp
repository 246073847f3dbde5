// SPDX-License-Identifier: BSL-1.0
// The numbers by which passes decide, the same for every backend: which values to compute again, how much one kernel may do, which sizes are small. They
// were measured on CPUs with AVX2 (Zen 3) and AVX-512 (Zen 4, Zen 5). A number without a machine in its comment was measured on both.
// What a backend knows about its machine is in a table of its own (backend/cpu/costs.hpp). Latencies of operations are in ops/registry.hpp.
// A number here changes how long a call takes, and the rounding of sums, but not the meaning.
#pragma once

#include <cstdint>

#include <tenure/ops/registry.hpp>
#include <tenure/ops/structural/registry.hpp>

namespace TENURE_NAMESPACE::passes {

/// Whether an operation is more than pointwise work. Then it is better to store the result in an array than to compute it again.
constexpr bool is_worth_an_array(ir::opcode op) {
  const bool moves = op == ir::opcode::gather || op == ir::opcode::scatter || op == ir::opcode::index_add;
  return op == ir::opcode::matmul || ops::is_opaque(op) || op == ir::opcode::reduce || moves;
}

/// What it costs a kernel to compute an element again, from the least to the most.
enum class recomputing : std::uint8_t {
  arithmetic,   // less than a read of memory
  random_bits,  // more than a load from the row in cache; but a mask of dropout that is computed again needs no memory between the two halves
  function,     // a division, a square root or a function: more than a read of memory
};
constexpr recomputing cost_of_recomputing(ir::opcode op) {
  if (op == ops::code_of<ops::random_unit>()) return recomputing::random_bits;
  return !ops::is_pointwise(op) || ops::effort_of(op) == ops::effort::arithmetic ? recomputing::arithmetic : recomputing::function;
}

namespace costs {

// ---- kernels: fuse.hpp ----

/// The maximum number of nodes in a kernel. A kernel has at most 256 instructions, which limits registers and compile time. Loads and stores
/// need the rest of them.
inline constexpr int nodes_per_kernel = 160;
/// The limits for kernels whose nodes are numbers of samples (scalarize.hpp). They are higher: if such a kernel is split, its parts store
/// and load the numbers between them, which takes longer than spilled registers. Each node has an instruction, and possibly a store.
inline constexpr int numbers_per_kernel = 380, loads_per_kernel = 180;
/// Such a kernel may read so many times as many arrays. The sweep counts a value as an array until it finds the node that computes the value, so
/// this limits the values that are alive at a time. The Jacobian of bundle adjustment has 50: as two kernels it takes 1.3 times as long.
inline constexpr int more_reads_of_numbers = 3;
/// The maximum number of arrays that one loop reads. A sum of hundreds of arrays becomes several loops.
inline constexpr int reads_per_kernel = 24;
/// The maximum number of row reductions in a kernel. Each may need a pass over the row, and an instruction has 16 bits for its passes.
inline constexpr int row_reductions_per_kernel = 8;
/// A product of at least this many bytes is added to an argument directly after it is computed, while it is in the cache. Then only one such
/// product is alive at a time. Sums of smaller products share a loop.
inline constexpr std::int64_t added_product_bytes = 1 << 16;
/// The most kernels that a product of arguments may move past, to the place directly before the kernel that reads it.
inline constexpr int passed_by_product = 4;
/// The most elements of a kernel that a product of computed values moves past.
inline constexpr std::int64_t passed_elements = 4096;

// ---- factors of a narrow type: narrow_factors.hpp ----

/// A product of at most so many multiplications reads factors of a narrow type as lanes, which a kernel writes before it: it may be code in registers.
inline constexpr std::int64_t product_of_lanes = 4096;

// ---- systems with one matrix: shared_factors.hpp ----

/// The rows from which on such systems share its factors: of one matrix, and of a batch, whose samples also take the way through memory between the steps. A solve
/// and that of its gradient, in times of one solve, before and now: 2.1 and 1.4 for one 4 x 4; 2.2 and 2.8, 2.2 and 1.9 for 1000 of 4 x 4 and 8 x 8 (AVX2).
inline constexpr std::int64_t shared_factor_rows = 4, shared_factor_rows_of_batch = 8;

// ---- values that a kernel computes again: recompute.hpp ----

/// So many operations may replace one read. A read from the second-level cache takes about as long as 16 additions.
inline constexpr int work_for_a_read = 16;

// ---- numbers of samples: scalarize.hpp, order_of_scalars.hpp ----

/// The maximum number of elements of an array of a region for each sample: a 6 x 6 matrix.
inline constexpr std::int64_t max_scalars = 36;
/// The maximum number of elements of an array of a function without vmap that becomes numbers, and of the operations of a product.
inline constexpr std::int64_t max_numbers_of_one = 8, max_product_of_one = 64;
/// The most elements of such an array that is only put together from numbers and constants, as the Jacobian of few results: 6 x 8.
inline constexpr std::int64_t max_assembled_of_one = 48;
/// The most quotients or roots of an array that becomes numbers. The divider takes a packet of four hardly faster than four numbers.
inline constexpr std::int64_t max_divisions_of_one = 4;
/// The maximum number of arithmetic operations of a region for each sample. More operations take long to compile, and need many kernels.
inline constexpr std::int64_t max_scalar_operations = 768;
/// The maximum for a product with a matrix that all samples share. A larger product stays one product for all samples, which is fast.
inline constexpr std::int64_t max_shared_operations = 128;
/// A row of so many numbers fills a register, so a kernel over arrays is fast: it reads slices of such rows in place, adds them and sums them up.
inline constexpr std::int64_t wide_row = 8;
/// The limits of a function that runs for one sample after the other (loops/samples_in_turn.hpp): the elements of an array, and the operations of a product.
/// Larger arrays and products fill registers by themselves.
inline constexpr std::int64_t max_elements_in_turn = 512, max_operations_in_turn = 2048;
/// The cost of a node that splits or combines short rows in a kernel over arrays, in operations on numbers: about a separate step.
inline constexpr std::int64_t short_rows = 16;
/// The number of doubles in a register. With 8 samples a maximum over 6 x 6 takes an eighth of the time of a kernel over arrays, with 32 a tenth.
inline constexpr std::int64_t min_samples = 8;
/// in_order_of_latency() chooses the next number among so many numbers. A processor looks ahead 200 to 500 instructions. This is not enough for a
/// function with two rows of results, because the second row begins too late. Measured on a 2 x 15 Jacobian: a window of 32 saves a tenth of the
/// time, and 250 saves another tenth but takes longer to compile. 96 is a compromise.
inline constexpr int looked_ahead = 96;

// ---- short last axes: components.hpp ----

/// The longest last axis that becomes components. 65,536 rows of 2 to 8 numbers, time with components / without, float64 and float32, AVX-512: sums 0.4 to 0.8 and
/// 0.2 to 0.4, rows divided by their norms 0.2 to 0.8 and 0.1 to 0.7, softmax 0.15 to 0.7 and 0.1 to 0.25.
inline constexpr std::int64_t max_components = 8;
/// The same where the rows only meet one row that all share, as in a sum with a bias: 0.4 to 0.7; with rows of 7, 1.4 and 0.75.
inline constexpr std::int64_t max_components_of_shared_row = 4;
/// The most operations on components that a region may have. More would not fit into one kernel.
inline constexpr std::int64_t max_component_operations = nodes_per_kernel;
/// The fewest rows for each component. softmax of 16 rows of 3 takes 0.13 of the time, gravity between 4 bodies 0.3; a layer of 4 samples and 8 features
/// would take twice as long.
inline constexpr std::int64_t min_rows_of_component = 2;

// ---- windows that overlap: rules/overlaps.hpp ----

/// At most so many windows that overlap are added as terms of one kernel. More are a sum along an axis, in strides: with 16 it takes four times as long (512 elements, steps of 32, AVX2).
inline constexpr std::int64_t overlapping_terms = 16;

// ---- pads, gaps and slices: assemble.hpp, padded_sums.hpp, sliced_operations.hpp ----

/// The zeros of an array of at most so many elements are constants: a constant costs less than a separate step.
inline constexpr std::int64_t small_array = 64;
/// A gap is short if it has at most so many units: slots if all slots have one extent, else elements along the axis.
inline constexpr std::int64_t units_of_gap = 16;
/// Short gaps are filled with one constant for each unit, if they have at most so many units, plus two for each part.
inline constexpr std::int64_t units_of_constants = 8;
/// The maximum number of different extents of longer gaps. Each needs a separate kernel.
inline constexpr int different_gaps = 4;
/// An array is thin if its gaps have at most one element of so many.
inline constexpr std::int64_t elements_of_thin = 8;
/// A thin array around an argument has at least so many elements: 8 x 32 x 32 x 16 between zeros and its convolution take 0.97 of the time with pads, less than
/// what two more kernels cost a small one.
inline constexpr std::int64_t filled_argument = 16384;
/// The elements of padded parts that a loop adds up together. Smaller parts may be scalars in registers anyway (scalarize.hpp). Larger parts are in
/// memory in each iteration, and then one sum is better than several sums.
inline constexpr std::int64_t min_padded_elements = 8, max_padded_elements = 32768;
/// The most such parts of a loop. Each part is compared with all others.
inline constexpr int padded_parts = 64;
/// The most operations of which a slice is computed from slices of their operands.
inline constexpr int sliced_operations = 16;

// ---- rewrites: rules/, liveness.hpp ----

/// A division for each repetition of a number takes longer than a separate kernel that divides each number once, from so many repetitions on.
inline constexpr std::int64_t repetitions_of_division = 4;
/// The most nodes of a mask of positions that is computed in the type of its reader.
inline constexpr int mask_operations = 32;
/// After so many rounds all carries of a loop count as needed. In a delay line of n carries each round finds only one more carry.
inline constexpr int rounds_of_liveness = 8;

// ---- steps that run together, a few rows at a time: groups.hpp ----

/// Products of at least this many bytes are cut into blocks of rows. This is about the size of the L2 cache of a core. A block has a quarter of it.
inline constexpr std::int64_t group_bytes = 1 << 20;
/// The bytes of the rows of a block, if a product over the rows follows the kernel and reads them again. They stay in the L2 cache. If so few rows as
/// row_unit need more than four times these bytes, there is no such block.
inline constexpr std::int64_t twice_read_bytes = 1 << 18;
/// A product is not cut if it has fewer rows, or if its sums are so many times as long as a block has rows: each block packs the right factor again.
inline constexpr std::int64_t min_rows_of_group = 64, steps_of_group_row = 4;
/// The rows of a block are a multiple of this.
inline constexpr std::int64_t row_unit = 32;
/// The result of a convolution is cut from so many bytes on, into pieces of about so many bytes. Its tasks are as fast for 200 positions as for 1,000, so a
/// piece is smaller than a block of a product.
inline constexpr std::int64_t cut_result_bytes = 1 << 18, piece_bytes = 1 << 17;
/// What a backend must be able to do with a group: it cuts a kernel of so much work (elements times instructions) into blocks, has memory for the sums of
/// columns of several blocks from so much work on, and for other sums of so many blocks. Its product of a column with at most so many multiplications,
/// and its product of one row, may have other bits than a larger product.
inline constexpr std::int64_t min_group_work = 1 << 15, column_blocks_work = 1 << 17, blocks_of_group = 128, short_column = 16;
/// A gather of at least this many bytes waits for the kernel that reads its rows. This is a part of the L2 cache of a core.
inline constexpr std::int64_t waiting_gather_bytes = 1 << 18;
/// The bytes of the rows that are gathered before a block, and the unit of their number. They stay in the L2 cache. With blocks of a quarter of this
/// size the time is 1.06 times as long.
inline constexpr std::int64_t gathered_block_bytes = 1 << 16, gathered_row_unit = 64;

// ---- memory: derived_body.hpp, memory.hpp ----

/// A run-time extent, in a comparison of the residuals of a loop.
inline constexpr double assumed_extent = 64;
/// The alignment of temporaries: a cache line, so that two threads never write one line.
inline constexpr std::int64_t buffer_alignment = 64;

}  // namespace costs
}  // namespace tenure::passes
