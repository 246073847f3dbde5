// SPDX-License-Identifier: BSL-1.0
// The steps of a program that are not fused kernels. They use four operations of a device: for_each (a function for each
// element), zero, multiply (a batch of products) and refused_by (a check); with TENURE_CUSOLVER those of decompositions.hpp too. The GPU (gpu.cuh) and the device of the tests on the
// host implement them. A step allocates nothing: `scratch` points to the memory that it needs in addition to its operands.
#pragma once

#include <cmath>
#include <utility>

#include <tenure/backend/cuda/products.hpp>
#include <tenure/backend/cuda/samples_memory.hpp>
#include <tenure/ir/refuse.hpp>
#include <tenure/kernels/attention.hpp>
#include <tenure/kernels/convolution.hpp>
#include <tenure/kernels/depthwise.hpp>
#include <tenure/kernels/planes.hpp>
#include <tenure/kernels/order.hpp>
#include <tenure/kernels/rearrange.hpp>
#include <tenure/kernels/samples.hpp>
#include <tenure/program/bind.hpp>

namespace TENURE_NAMESPACE::cuda_backend {

namespace detail {

inline kernels::index_source indices_of(dtype type, const void* first) { return {first, type == dtype::int32}; }

template <class T, class Device>
void copy(Device& device, const operand_view& shape, const T* from, const std::int64_t* from_stride, T* to, const std::int64_t* to_stride) {
  kernels::copy_element<T> f{{}, from, to};
  for (int d = 0; d < shape.rank; ++d) f.space.add(shape.extent[d], from_stride[d], to_stride[d]);
  device.for_each(f.space.size(), f);
}

}  // namespace detail

/// gather: copies the rows of the source that the indices name. The indices have been checked.
template <class T, class Device>
struct step<ir::opcode::gather, T, Device> : step_without_memory {
  static void run(Device& device, void* const* p, const opaque_operation& n, const ir::bound*, void*) {
    const int axis = n.axis;
    const operand_view &table = n.in[0], &indices = n.in[1], &result = n.out;
    kernels::gather_element<T> f{{}, table.stride[axis], detail::indices_of(n.in[1].type, p[1]), static_cast<const T*>(p[0]), static_cast<T*>(p[2])};
    for (int d = 0; d < result.rank; ++d) {
      const bool is_index = d >= axis && d < axis + indices.rank;
      const std::int64_t table_stride = is_index ? 0 : table.stride[d < axis ? d : d - indices.rank + 1];
      f.space.add(result.extent[d], is_index ? indices.stride[d - axis] : 0, table_stride, result.stride[d]);
    }
    device.for_each(f.space.size(), f);
  }
};

/// Sorts rows; equal rows are in the order of their positions. Returns the buffer with the result: `rows` or `spare`. Cost: one
/// launch each time the length of the sorted runs doubles.
template <class Device>
kernels::named_rows merge_sorted(Device& device, kernels::named_rows rows, kernels::named_rows spare, std::int64_t count) {
  device.for_each(count, kernels::sort_run{rows, spare, count});
  std::swap(rows, spare);
  for (std::int64_t length = kernels::sort_run::length; length < count; length *= 2) {
    device.for_each(count, kernels::merge_runs{rows, spare, count, length});
    std::swap(rows, spare);
  }
  return rows;
}

/// Sorts rows on a device. This is the default; thrust.cuh specialises it for the GPU.
template <class Device>
struct row_sort {
  /// The memory that the sort needs in addition to the spare rows.
  static constexpr std::int64_t bytes(std::int64_t) { return 0; }
  static kernels::named_rows sorted(Device& device, const kernels::named_rows& rows, const kernels::named_rows& spare, std::int64_t count, void*) {
    return merge_sorted(device, rows, spare, count);
  }
};

/// The number of pieces in which each row of index_add is summed. It is more than one if the elements are too few to fill a GPU
/// and the indices are many. It depends only on extents, so every GPU adds in the same order.
constexpr std::int64_t pieces_of_rows(std::int64_t elements, std::int64_t rows, std::int64_t indices) {
  constexpr std::int64_t threads = 1 << 17, each = 64;
  const std::int64_t room = elements > 0 ? threads / elements : 1, wanted = rows > 0 ? indices / rows / each : 1;
  const std::int64_t pieces = room < wanted ? room : wanted;
  return pieces < 1 ? 1 : pieces > 256 ? 256 : pieces;
}

/// The scratch memory of index_add: the rows that indices name and their positions, twice; the memory of the sort; a table with the sum of
/// each piece. All members except the first are offsets in bytes.
template <class T, class Device>
struct index_add_memory {
  std::int64_t count, elements, pieces;
  std::int64_t sort, table, end;

  constexpr index_add_memory(const opaque_operation& n, int of_indices)
      : count(elements_of(n.in[of_indices])), elements(elements_of(n.out)), pieces(pieces_of_rows(elements, n.out.extent[n.axis], count)),
        sort(padded(4 * count * static_cast<std::int64_t>(sizeof(std::int64_t)))), table(sort + padded(row_sort<Device>::bytes(count))),
        end(table + (pieces > 1 ? pieces * elements * static_cast<std::int64_t>(sizeof(T)) : 0)) {}

 private:
  static constexpr std::int64_t padded(std::int64_t bytes) { return (bytes + passes::costs::buffer_alignment - 1) / passes::costs::buffer_alignment * passes::costs::buffer_alignment; }
};

/// Copies the operand that a step changes, unless the result is written over it.
template <class T, class Device>
void copy_changed(Device& device, const operand_view& x, const T* from, const operand_view& to, T* out) {
  if (from != out) detail::copy(device, x, from, x.stride, out, to.stride);
}

/// Adds rows of updates at checked indices: scatter adds them to zeros, index_add to an operand. The indices are sorted, then each
/// element of the result is the sum of its updates, in order.
template <ir::opcode Op, class T, class Device>
  requires(Op == ir::opcode::scatter || Op == ir::opcode::index_add)
struct step<Op, T, Device> {
  static constexpr bool has_operand = Op == ir::opcode::index_add;
  static constexpr int of_indices = ops::adding_operands_of(Op).indices, of_updates = ops::adding_operands_of(Op).updates, of_result = ops::structural_record_of(Op).arity;

  static constexpr std::int64_t bytes(const opaque_operation& n) { return index_add_memory<T, Device>(n, of_indices).end; }
  static void run(Device& device, void* const* p, const opaque_operation& n, const ir::bound*, void* scratch) {
    const int axis = n.axis;
    const opaque_operation::operand& indices = n.in[of_indices];
    const operand_view &updates = n.in[of_updates], &result = n.out;
    const index_add_memory<T, Device> memory(n, of_indices);
    const std::int64_t count = memory.count, elements = memory.elements, pieces = memory.pieces;
    const auto at = [&](std::int64_t offset) { return static_cast<void*>(static_cast<char*>(scratch) + offset); };
    auto* const words = static_cast<std::int64_t*>(scratch);
    const kernels::named_rows rows{words, words + count}, spare{words + 2 * count, words + 3 * count};

    kernels::list_index list{{}, detail::indices_of(indices.type, p[of_indices]), rows};
    for (int d = 0; d < indices.rank; ++d) list.space.add(indices.extent[d], indices.stride[d]);
    device.for_each(count, list);

    T* const to = static_cast<T*>(p[of_result]);
    if constexpr (has_operand) copy_changed(device, n.in[1], static_cast<const T*>(p[1]), result, to);
    T* const table = static_cast<T*>(at(memory.table));
    kernels::add_rows<T> f{{}, {}, row_sort<Device>::sorted(device, rows, spare, count, at(memory.sort)), count, elements, pieces, static_cast<const T*>(p[of_updates]), pieces > 1 ? table : to, has_operand};
    kernels::fold_pieces<T> fold{{}, elements, pieces, table, to, has_operand};
    for (int d = 0; d < result.rank; ++d) {
      const std::int64_t update_stride = d == axis ? 0 : updates.stride[d < axis ? d : d + indices.rank - 1];
      f.space.add(result.extent[d], std::int64_t{d == axis}, update_stride, result.stride[d]);
      fold.space.add(result.extent[d], result.stride[d]);
    }
    for (int d = 0; d < indices.rank; ++d) f.of_position.add(indices.extent[d], updates.stride[axis + d]);
    device.for_each(pieces * elements, f);
    if (pieces > 1) device.for_each(elements, fold);
  }
};

/// Copies the operand, and then the block, or the block of each sample.
template <class T, class Device>
struct step<ir::opcode::update, T, Device> : step_without_memory {
  static void run(Device& device, void* const* p, const opaque_operation& n, const ir::bound*, void*) {
    const operand_view &block = n.in[0], &x = n.in[1], &starts = n.in[2], &to = n.out;
    T* const out = static_cast<T*>(p[3]);
    copy_changed(device, x, static_cast<const T*>(p[1]), to, out);
    kernels::place_element<T> f{{}, to.stride[n.axis], detail::indices_of(n.in[2].type, p[2]), static_cast<const T*>(p[0]), out};
    for (int d = 0; d < block.rank; ++d) f.space.add(block.extent[d], block.stride[d], to.stride[d], d < starts.rank ? starts.stride[d] : 0);
    device.for_each(f.space.size(), f);
  }
};

template <class T, class Device>
struct step<ir::opcode::pad, T, Device> : step_without_memory {
  static void run(Device& device, void* const* p, const opaque_operation& n, const ir::bound*, void*) {
    const operand_view& from = n.in[0];
    operand_view to = n.out;
    T* const out = static_cast<T*>(p[1]);
    device.zero(out, elements_of(to) * static_cast<std::int64_t>(sizeof(T)));
    const std::int64_t along = to.stride[n.axis];
    to.stride[n.axis] = along * n.step;
    detail::copy(device, from, static_cast<const T*>(p[0]), from.stride, out + n.start * along, to.stride);
  }
};

/// Finds the place of one element on each thread.
template <class Device>
struct step<ops::nodes::order::code, std::int64_t, Device> : step_without_memory {
  static void run(Device& device, void* const* p, const opaque_operation& n, const ir::bound*, void*) {
    const operand_view& from = n.in[0];
    const int last = from.rank - 1;
    visit_computed(n.in[0].type, [&]<class T>(element_tag<T>) {
      kernels::place_in_order<T> f{{}, from.extent[last], n.out.extent[last], from.stride[last], n.axis != 0, static_cast<const T*>(p[0]), static_cast<std::int64_t*>(p[1])};
      for (int d = 0; d < last; ++d) f.rows.add(from.extent[d], from.stride[d]);
      device.for_each(elements_of(from), f);
    });
  }
};

/// Computes one sample on each thread, or large ones by LAPACK.
template <ir::opcode Op, class T, class Device>
  requires(ops::is_opaque(Op))
struct step<Op, T, Device> {
  using Record = ops::opaque_record_of<Op>;
  using large = step_by_decomposition<Record, T>;

  static constexpr std::int64_t bytes(const opaque_operation& n) {
    const samples_memory<Record> memory(n);
    std::int64_t elements = memory.end;
    if constexpr (has_decomposition<Record, T>)
      if (large::is_taken(n, memory)) elements += large::extra(memory);
    return elements * static_cast<std::int64_t>(sizeof(T));
  }
  static constexpr decomposition_needs needs([[maybe_unused]] const opaque_operation& n) {
    if constexpr (has_decomposition<Record, T>) return large::needs(n);
    else return {};
  }
  static void run(Device& device, void* const* p, const opaque_operation& n, const ir::bound*, void* scratch) {
    const samples_memory<Record> memory(n);
    T* const all = static_cast<T*>(scratch);
    kernels::run_sample<Record, T> f{memory.sizes, Record::options_of(n.attr), {}, {}, {}, {}, all + memory.scratch, Record::scratch(memory.sizes)};
    bool is_read[Record::results];
    std::int64_t elements = 0;
    for (int r = 0; r < Record::results; ++r) {
      T* const to = static_cast<T*>(p[Record::arity + r]);
      is_read[r] = to != nullptr;
      f.result[r] = Record::results > 1 && to == nullptr ? all + memory.result[r] : to;
      elements += memory.samples * (f.result_size[r] = Record::elements_of_result(memory.sizes, r));
    }
    if (elements == 0) return;
    for (int k = 0; k < Record::arity; ++k) {
      const bool is_result = k == Record::result_begins_as;
      f.operand[k] = is_result ? nullptr : all + memory.operand[k];
      f.size[k] = Record::elements_of_operand(k, memory.sizes);
      detail::copy(device, n.in[k], static_cast<const T*>(p[k]), n.in[k].stride, is_result ? f.result[0] : f.operand[k], row_major(n.in[k]).stride);
    }
    if constexpr (has_decomposition<Record, T>)
      if (large::is_taken(n, memory)) return large::run(device, n, memory, f.operand, f.result, is_read, all + memory.end);
    device.for_each(memory.samples, f);
  }
};

namespace detail {
template <class Record, class T>
kernels::attention_operands<T> attention_operands_of(void* const* p, const opaque_operation& n) {
  const operand_view &q = n.in[0], &k = n.in[1], &v = n.in[2];
  const int batch = q.rank - 2;
  const auto matrix = [&](int i) {
    return kernels::strided_matrix<T>{static_cast<const T*>(p[i]), n.in[i].stride[batch], n.in[i].stride[batch + 1]};
  };
  const T scale = T(1) / std::sqrt(static_cast<T>(k.extent[batch + 1]));
  const auto options = Record::options_of(n.attr);
  ops::sight sees{k.extent[batch]};
  if constexpr (Record::arity == 3) sees.causal = options.causal;
  else sees.width = options.width, sees.ends = static_cast<const std::int64_t*>(p[3]), sees.stride = n.in[3].stride[batch];
  return {q.extent[batch], k.extent[batch], k.extent[batch + 1], v.extent[batch + 1], sees, scale, matrix(0), matrix(1), matrix(2)};
}
template <class Record>
kernels::walk<4> batches_of(const opaque_operation& n) {
  kernels::walk<4> batches;
  for (int a = 0; a < n.in[0].rank - 2; ++a)
    batches.add(n.in[0].extent[a], n.in[0].stride[a], n.in[1].stride[a], n.in[2].stride[a], Record::arity == 3 ? 0 : n.in[3].stride[a]);
  return batches;
}

/// Attention, whose results follow its operands.
template <class Record, class T, class Device>
struct attention_step : step_without_memory {
  static void run(Device& device, void* const* p, const opaque_operation& n, const ir::bound*, void*) {
    const auto x = attention_operands_of<Record, T>(p, n);
    const kernels::walk<4> batches = batches_of<Record>(n);
    void* const* const to = p + Record::arity;
    device.for_each(batches.size() * x.m, kernels::attend_row<T>{batches, x, static_cast<T*>(to[0]), static_cast<T*>(to[1]), static_cast<T*>(to[2])});
  }
};
template <class Record, class T, class Device>
struct attention_gradient_step : step_without_memory {
  static void run(Device& device, void* const* p, const opaque_operation& n, const ir::bound*, void*) {
    const auto x = attention_operands_of<Record, T>(p, n);
    const kernels::walk<4> batches = batches_of<Record>(n);
    void* const* const to = p + Record::arity;
    T *const of_q = static_cast<T*>(to[0]), *const of_k = static_cast<T*>(to[1]), *const of_v = static_cast<T*>(to[2]);
    if (of_q != nullptr) device.for_each(batches.size() * x.m, kernels::pull_query<T>{batches, x, of_q});
    if (of_k != nullptr || of_v != nullptr) device.for_each(batches.size() * x.n, kernels::pull_key<T>{batches, x, of_k, of_v});
  }
};
}  // namespace detail

template <class T, class Device>
struct step<ops::nodes::attention::code, T, Device> : detail::attention_step<ops::nodes::attention, T, Device> {};
template <class T, class Device>
struct step<ops::nodes::attention_gradient::code, T, Device> : detail::attention_gradient_step<ops::nodes::attention_gradient, T, Device> {};
template <class T, class Device>
struct step<ops::nodes::attention_until::code, T, Device> : detail::attention_step<ops::nodes::attention_until, T, Device> {};
template <class T, class Device>
struct step<ops::nodes::attention_until_gradient::code, T, Device> : detail::attention_gradient_step<ops::nodes::attention_until_gradient, T, Device> {};

template <class T, class Device>
struct step<ops::nodes::convolution::code, T, Device> : step_without_memory {
  static void run(Device& device, void* const* p, const opaque_operation& n, const ir::bound*, void*) {
    const operand_view &x = n.in[0], &w = n.in[1], &y = n.out;
    const int batch = y.rank - 4;
    const auto o = ops::convolution_options::unpacked(n.attr);
    kernels::convolve_element<T> f{{}, y.extent[batch + 1], y.extent[batch + 2], y.extent[batch + 3], x.extent[batch + 3], {w.extent[batch], w.extent[batch + 1]},
                                   {}, {}, {o.stride[0], o.stride[1]}, {o.dilation[0], o.dilation[1]}, elements_along(y, batch, y.rank),
                                   static_cast<const T*>(p[0]), static_cast<const T*>(p[1]), static_cast<T*>(p[2])};
    for (int a = 0; a < batch; ++a) f.batches.add(x.extent[a], x.stride[a], w.stride[a]);
    for (int a = 0; a < 4; ++a) f.of_image[a] = x.stride[batch + a], f.of_taps[a] = w.stride[batch + a];
    if (const std::int64_t all = elements_of(y); all > 0) device.for_each(all, f);
  }
};

namespace detail {
template <class Record, class T, class Device>
struct depthwise_step : step_without_memory {
  static void run(Device& device, void* const* p, const opaque_operation& n, const ir::bound*, void*) {
    const int batch = n.out.rank - 3;
    const auto o = ops::padded_options::unpacked(n.attr);
    const auto sizes = Record::sizes_of(n);
    kernels::depthwise_element<T, Record::of> f{{}, {}, {}, {}, sizes[Record::channels], {}, {}, {}, {}, {}, static_cast<const T*>(p[0]), static_cast<const T*>(p[1]), static_cast<T*>(p[2])};
    for (int a = 0; a < 2; ++a) {
      f.image[a] = sizes[Record::image + a], f.taps[a] = sizes[Record::taps + a], f.positions[a] = sizes[Record::result + a];
      f.stride[a] = o.stride[a], f.dilation[a] = o.dilation[a], f.zeros[a] = o.zeros[a];
    }
    for (int a = 0; a < batch; ++a) f.batches.add(n.in[0].extent[a], n.in[0].stride[a], n.in[1].stride[a]);
    for (int a = 0; a < 3; ++a) f.of_first[a] = n.in[0].stride[batch + a], f.of_second[a] = n.in[1].stride[batch + a];
    if (const std::int64_t all = elements_of(n.out); all > 0) device.for_each(all, f);
  }
};
}  // namespace detail
template <class T, class Device>
struct step<ops::nodes::depthwise::code, T, Device> : detail::depthwise_step<ops::nodes::depthwise, T, Device> {};
template <class T, class Device>
struct step<ops::nodes::depthwise_of_image::code, T, Device> : detail::depthwise_step<ops::nodes::depthwise_of_image, T, Device> {};
template <class T, class Device>
struct step<ops::nodes::depthwise_of_taps::code, T, Device> : detail::depthwise_step<ops::nodes::depthwise_of_taps, T, Device> {};

template <class T, class Device>
struct step<ops::nodes::convolution_of_planes::code, T, Device> : step_without_memory {
  static void run(Device& device, void* const* p, const opaque_operation& n, const ir::bound*, void*) {
    const operand_view &x = n.in[0], &w = n.in[1], &y = n.out;
    const int batch = y.rank - 4;
    const auto o = ops::padded_options::unpacked(n.attr);
    kernels::convolve_planes<T> f{{}, y.extent[batch + 1], y.extent[batch + 2], y.extent[batch + 3], x.extent[batch + 1], {x.extent[batch + 2], x.extent[batch + 3]},
                                  {w.extent[batch + 2], w.extent[batch + 3]}, {}, {}, {o.stride[0], o.stride[1]}, {o.dilation[0], o.dilation[1]}, {o.zeros[0], o.zeros[1]},
                                  elements_along(y, batch, y.rank), static_cast<const T*>(p[0]), static_cast<const T*>(p[1]), static_cast<T*>(p[2])};
    for (int a = 0; a < batch; ++a) f.batches.add(x.extent[a], x.stride[a], w.stride[a]);
    for (int a = 0; a < 4; ++a) f.of_image[a] = x.stride[batch + a], f.of_taps[a] = w.stride[batch + a];
    if (const std::int64_t all = elements_of(y); all > 0) device.for_each(all, f);
  }
};

template <class T, class Device>
struct step<ops::nodes::planes_of_taps::code, T, Device> : step_without_memory {
  static void run(Device& device, void* const* p, const opaque_operation& n, const ir::bound*, void*) {
    const operand_view &x = n.in[0], &g = n.in[1], &y = n.out;
    const int batch = y.rank - 4;
    const auto o = ops::padded_options::unpacked(n.attr);
    kernels::taps_of_planes<T> f{{}, x.extent[batch], x.extent[batch + 1], {y.extent[batch + 2], y.extent[batch + 3]}, {x.extent[batch + 2], x.extent[batch + 3]}, {g.extent[batch + 2], g.extent[batch + 3]},
                                 {}, {}, {o.stride[0], o.stride[1]}, {o.dilation[0], o.dilation[1]}, {o.zeros[0], o.zeros[1]},
                                 elements_along(y, batch, y.rank), static_cast<const T*>(p[0]), static_cast<const T*>(p[1]), static_cast<T*>(p[2])};
    for (int a = 0; a < batch; ++a) f.batches.add(x.extent[a], x.stride[a], g.stride[a]);
    for (int a = 0; a < 4; ++a) f.of_image[a] = x.stride[batch + a], f.of_result[a] = g.stride[batch + a];
    if (const std::int64_t all = elements_of(y); all > 0) device.for_each(all, f);
  }
};

/// Throws unless all indices lie in [0, extent). It waits for the device. `scratch` has room for an index fault.
template <class Device>
void check_indices(Device& device, const ir::bound& b, dtype type, const void* indices, const operand_view& v, std::int64_t extent, void* scratch) {
  kernels::check_element f{{}, detail::indices_of(type, indices), extent, nullptr};
  for (int d = 0; d < v.rank; ++d) f.space.add(v.extent[d], v.stride[d]);
  const kernels::index_fault refused = device.refused_by(f, scratch);
  if (refused.any) ir::refuse(b, refused.index, extent, v.rank == 0 ? -1 : refused.position);
}

/// Checks computed indices against all their bounds, and copies them if all bounds hold. Otherwise throws.
template <class T, class Device>
struct step<ir::opcode::check, T, Device> {
  static constexpr std::int64_t bytes(const opaque_operation&) { return sizeof(kernels::index_fault); }
  static void run(Device& device, void* const* p, const opaque_operation& n, const ir::bound* bounds, void* scratch) {
    const operand_view& from = n.in[0];
    for (int i = 0; i < n.bound_count(); ++i) check_indices(device, bounds[n.bound(i).position], dtype_v<T>, p[0], from, n.bound(i).extent, scratch);
    detail::copy(device, from, static_cast<const T*>(p[0]), from.stride, static_cast<T*>(p[1]), n.out.stride);
  }
};

}  // namespace tenure::cuda_backend
