// SPDX-License-Identifier: BSL-1.0
// The costs of the CPU engine: how work is cut into blocks, which product kernel runs, what stays in registers and caches. The sizes of caches are
// constants, because a virtual machine may report ten times the cache that it has. Measured on Zen 3 (AVX2) and Zen 4 and 5 (AVX-512), g++ 12 and
// clang++ 14; a comment names the machine where its number is from one of them. choose.hpp says which product kernel runs, from these numbers.
// The speeds that a plan is compared with are measured when they are asked for: limits.hpp.
// A number here changes how long a call takes, and the rounding of sums, but not the meaning. It does not depend on the number of threads.
#pragma once

#include <cstdint>

#include <tenure/passes/costs.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend)::costs {

// ---- blocks and threads: blocks.hpp, fused/blocks.hpp, samples.hpp ----

/// The work of a block, in elements times instructions, or in multiplications for a product. It takes about two microseconds.
inline constexpr std::int64_t block_work = 1 << 16;
inline constexpr int max_blocks = 64;
/// A kernel with static extents and less work than this has no code for blocks.
inline constexpr std::int64_t min_cut_work = block_work / 2;
/// A kernel with less work than this is one block.
inline constexpr std::int64_t two_blocks_work = 2 * block_work;
/// The work of a block of samples of an opaque operation, in elements of the first operand and the result times rows.
inline constexpr std::int64_t samples_work = 16384;
/// The number of multiplications of a product that count as one element of one instruction, in the decision to wake threads. Multiplications of a
/// product are faster, and each thread must read and pack the right factor.
inline constexpr std::int64_t multiplications_of_work = 2;
/// A bound for the number of blocks: a kernel is cut into less than twice max_blocks. With a row_producer there may be more blocks, unless
/// the kernel reduces.
inline constexpr int max_grid_blocks = 2 * max_blocks;
/// The least rows of a block of a kernel that adds up rows. At the end of a block its column sums are added to the result. With so many rows this costs little.
inline constexpr std::int64_t rows_of_column_block = 16;
/// The rows of one running sum. A sum of more rows is the sum of such parts: a running sum of 78,000 float32 numbers around 1000 is off by 4e-4.
inline constexpr std::int64_t rows_of_part = 512;
/// The elements of one running sum along a row, and of a dot product.
inline constexpr std::int64_t elements_of_part = 1 << 14;

// ---- memory ----

/// A kernel that reads and writes more bytes than this uses non-temporal stores. The value is the size of the largest shared cache of most
/// machines. A non-temporal store does not read the line first, which saves a third of the traffic of one load and one store. The next step
/// finds less in the cache, but loses less than this saves (a kernel over 33 MB and then a sum of its result: 1.2 ms instead of 1.5 ms).
inline constexpr std::int64_t cached_bytes = std::int64_t{32} << 20;
/// The same for a step that computes samples in packets. It takes ten times as long as one that only moves its numbers, and until its end others have
/// taken a part of the cache: 10,000 lu of 8 x 8, which move 20 MB, and then the sums of the factors take 0.8 of the time with non-temporal stores, 8,000 of
/// them 0.9 to 1.05, 6,000 (12 MB) 1.1 (Zen 4, 32 MB, other programs on the other cores).
inline constexpr std::int64_t cached_samples_bytes = std::int64_t{16} << 20;
/// A core moves six to eight bytes a cycle from and to memory. The code counts instructions as cycles: fused/non_temporal.hpp.
inline constexpr int bytes_in_cycle = 4;
/// A row of more bytes is copied by memcpy, a shorter row in registers.
inline constexpr std::int64_t copied_in_registers = 512;
/// The least extent of a matrix that is copied in transposed squares.
inline constexpr std::int64_t transposed_extent = 8;
/// The most bytes of a packet of samples: `lu` of 32 x 32 has 258 KB with AVX-512. A packet of larger samples would leave the cache of level 2 (Zen 3: 512 KB) between two uses of an element.
inline constexpr std::int64_t sample_packet_bytes = 288 << 10;
/// With TENURE_EIGEN_DECOMPOSITIONS: the least extents for which Eigen is faster, of a matrix alone and of one in a batch, whose small matrices stand in
/// packets (g++ 12). One matrix takes as long as by Eigen at 48 x 48 for eigh, and at 160 x 160 for qr; svd at 22 x 22 with AVX2, and at 54 x 54 with AVX-512 (Zen 4).
inline constexpr std::int64_t eigen_eigh = 48, eigen_svd[] = {24, 60}, eigen_qr = 160, eigen_lu = 64, eigen_solve = 64, eigen_inverse = 40, eigen_cholesky = 320, eigen_triangular = 160;
inline constexpr std::int64_t eigen_least_extent = eigen_svd[0];
/// The most numbers of a sample whose rows are collected for non-temporal stores: 8 KB with AVX-512.
inline constexpr int collected_numbers = 128;

// ---- products: choose.hpp, tiles.hpp, matvec.hpp, matmul.hpp ----

/// A static product of at most these extents and multiplications is written out in registers. For larger shapes `matmul` is as fast. A single row may be
/// longer, unless it needs many steps with strided loads.
inline constexpr std::int64_t written_rows = 64, written_columns = 64, written_steps = 64, written_multiplications = 4096;
inline constexpr std::int64_t written_columns_of_row = 256, written_multiplications_of_row = 16384, written_steps_of_strided_row = 24;
/// The packet operations of a column block that are unrolled completely. For more a loop costs almost nothing, and unrolled code would be large.
inline constexpr std::int64_t unrolled_packets = 128;
/// A product with at most this many multiplications uses neither threads nor a BLAS.
inline constexpr std::int64_t small_product = 4096;
/// A product with at most this many multiplications uses scalar loops, unless it is narrow. For 3 x 3 by a transposed 3 x 3, packets take twice as long.
/// A product with a vector has a lower limit, because its packets need no copy: by a column, packets take 2 times as long for 3 x 3, and 0.7 for 8 x 8.
inline constexpr std::int64_t scalar_product = 64, scalar_product_of_vector = 16;
/// The steps of one running sum of a product in scalar loops.
inline constexpr std::int64_t scalar_part = 256;
/// A narrow product has at most so many tiles. Then B is read in place: a packed copy would take longer than the product.
inline constexpr std::int64_t tiles_of_narrow = 3;
/// The rows and packets of a register tile, with 16 registers and with 32.
inline constexpr std::int64_t tile_rows[] = {4, 8}, tile_packets = 3;
/// The bytes of a packed panel of B, which stays in the L1 or L2 cache; of the rows of A for all panels, which stay in the L2 cache; and of a panel on
/// the stack. A larger panel needs workspace.
/// In the freestanding profile, whose stack may have some KB, there is no larger panel.
inline constexpr std::int64_t panel_bytes = TENURE_FREESTANDING ? 2048 : 49152, rows_bytes = 524288, stack_panel_bytes = TENURE_FREESTANDING ? panel_bytes : 8192;
/// Rows of B that are many cache lines apart compete for a few sets of the cache. If A has many rows, a packed copy is faster: with AVX2
/// 512x512x512 and 512x512x128 take 0.78 of the time. With 64 rows there is no difference.
inline constexpr std::int64_t packing_rows = 128, packing_stride_bytes = 512;
/// A is tall if it is transposed and larger than the caches, and the rows of C are short. A tile reads one line of each row of memory. With 256 rows,
/// each on a different page, the processor prefetches no line. Such a product reads few rows of the memory of A at a time, for sums of so many bytes and
/// at most so many rows. For k = 10000, m = 1000 and n = 16 in double, it takes half of the time.
inline constexpr std::int64_t tall_row_bytes = 2048, tall_matrix_bytes = 8 << 20, tall_result_row_bytes = 4096;
inline constexpr std::int64_t tall_sums_bytes = TENURE_FREESTANDING ? panel_bytes : 65536, tall_steps = 16, tall_rows = 2048;
/// A matrix times a vector is read once, a few rows at a time, if it is larger than this, and not in columns of packets. From memory columns would have a
/// third of the speed. For long rows in the last-level cache columns are faster.
inline constexpr std::int64_t short_row_bytes = 2048, matrix_of_short_rows_bytes = 1 << 20, matrix_of_long_rows_bytes = 16 << 20;
/// The bytes of the sums of such a product on the stack, and the rows at a time.
inline constexpr std::int64_t sums_of_rows_bytes = 4096, rows_at_once = 4;
/// A matrix that is larger than this, with rows between these sizes, is read faster one row after the other than four at a time. The processor prefetches
/// in the order of memory. With four rows at a time it stops at the end of each short row: rows of 1 KiB come from memory at 28 GB/s one by one, and at
/// 11 GB/s four at a time. Rows of several pages and very short rows are faster four at a time. In a call whose arguments together are larger than this each
/// matrix comes from memory: a step of a llama of 15 million weights takes 0.7 of the time.
inline constexpr std::int64_t one_by_one_bytes = 16 << 20, one_by_one_min_row_bytes = 512, one_by_one_end_row_bytes = 8192;
/// A result of fewer elements, from so many steps on, has several partial sums for each element: a single sum would wait four cycles for each row of the
/// matrix. If threads divide a result, no part is that narrow.
inline constexpr std::int64_t narrow_result = 32, steps_of_narrow_result = 32;
/// How far ahead a row that only masked loads read is prefetched.
inline constexpr std::int64_t prefetched_bytes = 1024;
/// A product of at most so many rows, and of so many for each packet of k, is dot products if the columns of B are contiguous. A packed copy of B would take
/// longer: for 2 rows by 256 x 256, 4 times as long.
inline constexpr std::int64_t few_rows = 64, rows_in_packets_of_k = 4;
/// The rows of a tile of dot products, with 16 registers and with 32, the bytes of a part of k, and of such parts of columns that stay in the L1 cache.
inline constexpr std::int64_t rows_of_dots[] = {2, 4}, dots_part_bytes = 2048, dots_columns_bytes = 16384;
/// A static row is dot products in registers if the columns of B are contiguous, and have so many bytes. Shorter columns are transposed in registers: 4 x 4
/// takes 0.8 of the time, 6 x 6 in double 1.5 times as long.
inline constexpr std::int64_t column_of_small_dots = 40;
/// The elements of a strided vector that are copied at a time.
inline constexpr std::int64_t copied_vector = 512;
/// A product of fewer multiplications is not worth the overhead of a BLAS.
inline constexpr std::int64_t blas_product = 32 * 32 * 32;

/// Threads divide a product from so many multiplications on: its rows into the same number of pieces for each worker. If rows of B are long, a piece has
/// 128 rows or more, because only such a product packs B. On two threads (Zen 3) 512x512x512 took 0.70 of one thread's time in pieces of 32 rows, and
/// takes 0.51. 256x128x784 takes 0.69 in pieces of 32, 0.62 of 128, and 0.55 of 64, because the second thread starts late. If there are few pieces of
/// rows, the columns are divided too.
inline constexpr std::int64_t divided_product = 4 * block_work, divided_long_row_bytes = 1024, rows_of_long_piece = 128, rows_of_piece = 64, min_rows_of_piece = 32;
inline constexpr std::int64_t columns_of_piece = 192, pieces_of_product = 16;
/// A product with a vector is limited by memory. Two threads took three times the processor time of one thread: they read the matrix twice, in half rows.
inline constexpr std::int64_t threads_of_vector = 4;

// ---- attention: attention.hpp ----

/// The rows of a block, for few queries and from so many on. With fewer rows less work is wasted above the diagonal. With more, k and v are read less often.
inline constexpr std::int64_t attention_rows[] = {16, 32}, attention_many_queries = 256;
/// The least columns of a block of scores. Not a power of two, because then all rows of a block would compete for the same sets of the cache.
inline constexpr std::int64_t attention_columns = 120;
/// The most rows of q whose scores are dot products with k where it is. For one row, as when a text is written, packing k would take longer than the products.
inline constexpr std::int64_t few_queries = 4;

// ---- convolution: convolution.hpp ----

/// The most positions of all images for which windows are copied and multiplied by the taps in place: 4 positions of 129 channels with 3 taps and 128 results take
/// 7.5 us and not 21. With 512 positions it takes three times as long.
inline constexpr std::int64_t few_positions = 16;
/// The rows of products in a task: so many use the packed taps.
inline constexpr std::int64_t rows_of_convolution = 1024;
/// Of convolutions of each channel by itself (depthwise.hpp): the rows of a task; and, where positions are the lanes, the bytes of rows that are copied at a time,
/// which stay in the L1 cache, and the columns.
inline constexpr std::int64_t rows_of_depthwise = 8, depthwise_bytes = 24576, columns_of_depthwise = 1024;
/// Of images with few channels (planes.hpp): the bytes of the rows of all channels that are copied at a time.
inline constexpr std::int64_t planes_bytes = 65536;
/// The results of a task of the gradient of their taps: images are copied again for each task.
inline constexpr std::int64_t results_of_taps = 32;

// ---- programs, loops and samples in registers: execute.hpp, control_flow.hpp ----

/// A program with at most this work (elements times instructions) is expanded in a straight line, in functions of so many steps.
/// So is a longer one with few work a step, up to a number of steps: a walk through the table costs some 35 ns a step, as much as 1,000 multiplications. A WaveNet of
/// 16 channels and eight layers, one sample, has 76 steps and 14,000 multiplications: 1.9 us by the table, and 1.0 us in a line (AVX-512).
inline constexpr std::int64_t expanded_work = 16384, expanded_work_of_step = 512;
inline constexpr int expanded_steps = 48, longest_line = 192;
/// One sample of an opaque operation stays in registers if its extents and all its numbers are at most these, and its rows or its operations. 6 x 6, time of the
/// same with extents of run time: cholesky 0.36, det 0.6, solve 0.6, solve with a Cholesky factor 0.35; lu, of 150 numbers, 0.4.
inline constexpr std::int64_t sample_extent = 8, sample_numbers = 160, sample_rows = 4, sample_flops = 256;
/// Its columns stand in the lanes of packets, if there are so many: solve of 3 x 3 with 6 columns takes 0.6 of the time.
inline constexpr std::int64_t columns_in_lanes = 3;
/// The most bytes of temporaries of a body whose loop keeps its carries in registers.
inline constexpr std::int64_t temporaries_in_registers = 1024;
/// A static program with at most this workspace, in bytes, uses the stack.
inline constexpr std::int64_t stack_workspace = 4096;
/// A loop without carries is divided among threads, if its body needs at most this workspace, in bytes: it is on the stack of each thread.
inline constexpr std::int64_t workspace_of_divided_loop = 65536;
/// The blocks of iterations for each thread. With more than one a slow thread does not keep the others waiting.
inline constexpr std::int64_t blocks_of_loop_per_worker = 4;
/// The most bytes of a carry for which all iterations run as one kernel. For larger carries the iterations run one by one, each in blocks on the threads.
inline constexpr std::int64_t carry_of_kernel_bytes = 262144;
/// The most instructions for a row of such a kernel: values that all elements share are computed again for each group of packets.
inline constexpr int row_work_of_iterations = 4;

// ---- packets of a kernel: fused/ ----

/// The bytes of each row that a transpose computes before it goes on with the next part of all rows: one line of the cache, whose lines in the other matrix
/// are then used as a whole, even if they lie a power of two apart and compete for the same places. 1024 x 1024 float32 take 0.8 ms with a line, 1.8 ms with
/// two, and 3 to 7 ms row by row; 784 x 32 take 4 us instead of 14.
inline constexpr std::int64_t strip_of_transpose_bytes = 64;

/// The most packets that a pass computes at a time, each with its own accumulator, and the most instructions of such a pass: fused/interleaved.hpp.
inline constexpr int max_ways = 4, work_of_ways = 6;
/// The most packets of a group. A group begins at a chain of so many cycles. Its code has at most so many instructions (4,000 have 25 KB), and its packets
/// so many values in registers. fused/interleaved.hpp has the measurements.
inline constexpr int max_in_group = 8, min_cycles_of_group = 80, max_code_of_group = 4000, max_values_of_group = 48;
/// A chain of so many cycles is long: then the instructions of a group stay in their order.
inline constexpr int long_chain = 200;
/// The most packets of an iteration of a loop that runs as one kernel.
inline constexpr int packets_of_iteration = 4;
/// The same for a while_loop that iterates until each element is done.
inline constexpr int packets_until_done = 2;
/// The fewest elements of such a loop for each thread.
inline constexpr std::int64_t elements_of_iterations = 1024;
/// The rows that a kernel adds to the columns at a time, if it does nothing else and computes so little. Each packet of columns is then loaded and stored
/// once for these rows, which takes as long as a few computations.
inline constexpr int rows_added_at_once = 4, work_of_added_rows = 32;
/// More rows at a time if they have few packets and almost nothing is computed: the load of a column must wait for the store before it, if one of them has a
/// mask. 4,096 rows of 9 numbers take 0.5 of the time.
inline constexpr int short_rows_added_at_once = 16, packets_of_short_row = 4, work_of_short_rows = 4;
/// A row of fewer packets is computed as a whole, even if only one element of it is chosen: fused/one_hot_select.hpp.
inline constexpr std::int64_t packets_of_choice = 8;

// What groups of steps ask of a backend.
static_assert(min_cut_work <= passes::costs::min_group_work && two_blocks_work <= passes::costs::column_blocks_work && max_grid_blocks >= passes::costs::blocks_of_group);
static_assert(scalar_product_of_vector <= passes::costs::short_column);

}  // namespace tenure::cpu_backend::costs
