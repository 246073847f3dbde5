// SPDX-License-Identifier: BSL-1.0
// The steps that are not fused loops. Operands can have any strides. Products are in products.hpp, steps with computed indices in indexing.hpp, and
// operations on samples in samples.hpp, attention.hpp, convolution.hpp, depthwise.hpp, planes.hpp and planes_of_taps.hpp.
#pragma once

#include <algorithm>
#include <cstring>

#include <tenure/backend/cpu/attention.hpp>
#include <tenure/backend/cpu/convolution.hpp>
#include <tenure/backend/cpu/depthwise.hpp>
#include <tenure/backend/cpu/indexing.hpp>
#include <tenure/backend/cpu/planes.hpp>
#include <tenure/backend/cpu/planes_of_taps.hpp>
#include <tenure/backend/cpu/products.hpp>
#include <tenure/backend/cpu/samples.hpp>
#include <tenure/math/ordering.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class T>
struct step<ir::opcode::pad, T> : step_without_memory {
  static void run(const step_call& s) {
    const operand_view& from = s.operation.in[0];
    operand_view to = s.operation.out;
    T* out = static_cast<T*>(s.pointer[1]);
    std::memset(static_cast<void*>(out), 0, static_cast<std::size_t>(elements_of(to)) * sizeof(T));
    const std::int64_t along = to.stride[s.operation.axis];
    to.stride[s.operation.axis] = along * s.operation.step;
    detail::copy_strided(from, static_cast<const T*>(s.pointer[0]), from.stride, out + s.operation.start * along, to.stride);
  }
};

/// Writes the first `count` of the items 0 ... length - 1, sorted. If `count` is less than `length`, a heap holds the `count` least items so far.
template <class Item, class Less>
void first_in_order(Item* to, std::int64_t count, std::int64_t length, const auto& item, Less less) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = item(i);
  if (count == length || count == 0) return std::sort(to, to + count, less);
  std::make_heap(to, to + count, less);
  for (std::int64_t i = count; i < length; ++i) {
    const Item next = item(i);
    if (!less(next, to[0])) continue;
    std::pop_heap(to, to + count, less);
    to[count - 1] = next;
    std::push_heap(to, to + count, less);
  }
  std::sort_heap(to, to + count, less);
}

/// Sorts the positions of each row in the memory of the result. No two items compare equal, so the order is stable. If an element has at most
/// 32 bits, element and position are sorted as one integer, which takes half of the time. The comparison is a type of this file: the linker would share
/// std::sort<std::uint64_t*> between parts of a program for several instruction sets.
template <class T>
void order_rows(const T* x, std::int64_t* to, const opaque_operation& n) {
  const operand_view& from = n.in[0];
  const int last = from.rank - 1;
  const std::int64_t length = from.extent[last], stride = from.stride[last], count = n.out.extent[last];
  const bool descending = n.axis != 0;
  detail::for_each_index(last, from.extent, from.stride, from.stride, [&](std::int64_t at, std::int64_t) {
    const T* const row = x + at;
    const auto position = [](std::int64_t i) { return i; };
    const auto stands_before = [=](std::int64_t i, std::int64_t j) { return math::stands_before(row, stride, descending, i, j); };
    if constexpr (sizeof(T) <= 4) {
      const auto both = [=](std::int64_t i) {
        const std::uint32_t key = math::sort_key(row[i * stride]);
        return std::uint64_t{descending ? ~key : key} << 32 | static_cast<std::uint64_t>(i);
      };
      const bool has_room = length <= 0x7fffffff;
      if (has_room) {
        auto* const items = reinterpret_cast<std::uint64_t*>(to);
        first_in_order(items, count, length, both, [](std::uint64_t a, std::uint64_t b) { return a < b; });
        for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<std::int64_t>(items[i] & 0xffffffffu);
      } else {
        first_in_order(to, count, length, position, stands_before);
      }
    } else {
      first_in_order(to, count, length, position, stands_before);
    }
    to += count;
  });
}
template <class Position>  // std::int64_t. As a full specialization, every file would compile it
struct step<ops::nodes::order::code, Position> : step_without_memory {
  static void run(const step_call& s) {
    visit_computed(s.operation.in[0].type, [&]<class T>(element_tag<T>) {
      order_rows(static_cast<const T*>(s.pointer[0]), static_cast<Position*>(s.pointer[1]), s.operation);
    });
  }
};

/// The row of an operation in the table of steps, decoded from the numbers of the step.
struct step_row {
  opaque_operation operation;
  single_position position;

  constexpr step_row() = default;
  constexpr step_row(ir::opcode op, const std::int64_t* numbers) : operation(numbers), position(single_position_of(op, operation)) {}
};

}  // namespace tenure::cpu_backend
