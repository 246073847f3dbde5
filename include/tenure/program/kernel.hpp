// SPDX-License-Identifier: BSL-1.0
// What the kernels of the CPU and of a GPU share: the facts that follow from a code, its run-time numbers and positions, the instructions with
// one value for each row, and the places of operands. A backend's kernel derives from it.
#pragma once

#include <type_traits>
#include <utility>

#include <tenure/core/number.hpp>
#include <tenure/math/packet.hpp>
#include <tenure/ops/combine.hpp>
#include <tenure/program/decode.hpp>
#include <tenure/program/walk.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::program_detail {

/// The places K of the operands of an instruction, as a null pointer: for a temporary object g++ would generate code that destroys it.
template <int... K>
using places = const std::integer_sequence<int, K...>*;

/// The result of a cast or a copy, for the packet or scalar type P. The load has already converted numbers, so masks and rounding to the narrow type
/// Narrow remain. dtype::boolean: the numbers are not rounded.
template <class P, bool ToMask, bool FromMask, dtype Narrow, class V>
TENURE_KERNEL_LAYER auto copied(V v) {
  if constexpr (Narrow != dtype::boolean) return math::rounded_to<element_of_t<Narrow>>(v);
  else if constexpr (ToMask == FromMask) return v;
  else if constexpr (ToMask) return math::ne(v, math::set1<P>(0));
  else return math::select(v, math::set1<P>(1), math::set1<P>(0));
}

template <class Code>
struct coded_kernel {
  using record = decoded<Code>;
  using kind = instruction::kind;
  static constexpr record k{};
  using T = element_of_t<record::lane>;
  static constexpr int last = record::rank - 1;
  static constexpr int slots = record::instructions > 0 ? record::instructions : 1;
  static constexpr int streams = record::accesses > 0 ? record::accesses : 1;
  using stream_indices = std::make_integer_sequence<int, record::accesses>;

  // The words of the extents, and of the strides and starts of the accesses.
  static consteval std::int64_t extent(int d) { return k.extent[d]; }
  static consteval std::int64_t stride(int a, int d) { return k.access[a].stride[d]; }
  static consteval std::int64_t start(int a) { return k.access[a].start; }

  /// Instruction i. Do not pass a local constexpr copy of it to a function: g++ would write the copy to memory, member by member.
  static constexpr const instruction& at(int i) { return k.instruction[i]; }
  static constexpr int count_of(kind what) {
    int n = 0;
    for (int i = 0; i < record::instructions; ++i) n += at(i).what == what;
    return n;
  }
  /// The number of earlier instructions of the same kind, which is the position of the memory of this instruction.
  static constexpr int rank_of(int slot) {
    int n = 0;
    for (int i = 0; i < slot; ++i) n += at(i).what == at(slot).what;
    return n;
  }
  /// The narrow type to which cast i rounds its lanes, or dtype::boolean. If only stores read the cast, they round.
  static constexpr dtype rounds_to(int i) {
    bool is_read = false;
    for (int j = i + 1; j < record::instructions; ++j)
      for (int n = 0; n < 3; ++n) is_read = is_read || (at(j).in[n] == i && at(j).what != kind::store);
    return is_read ? static_cast<dtype>(at(i).bits) : dtype::boolean;
  }
  static constexpr int kept_before(int slot) {
    int n = 0;
    for (int i = 0; i < slot; ++i) n += at(i).is_kept();
    return n;
  }
  static constexpr int kept_rows = kept_before(record::instructions);

  /// The numbers of the instructions of a group, as a sequence. A loop over all instructions with a test would instantiate a function for
  /// instructions outside the group too, which took compilers seconds.
  template <part Part, int Pass = 0>
  struct selection {
    struct numbers {
      int count = 0, at[slots] = {};
    };
    static constexpr numbers list = [] {
      numbers n;
      for (int i = 0; i < record::instructions; ++i)
        if (is_in(Part, Pass, coded_kernel::at(i))) n.at[n.count++] = i;
      return n;
    }();
    template <int... J>
    static std::integer_sequence<int, list.at[J]...> sequence(std::integer_sequence<int, J...>);
    using type = decltype(sequence(std::make_integer_sequence<int, list.count>{}));
  };
  template <part Part, int Pass = 0>
  using those = typename selection<Part, Pass>::type;

  // The run-time numbers are in the order in which the code mentions them.
  static constexpr int number_count = [] {
    std::int64_t n = 0;
    const auto see = [&](std::int64_t word) {
      if (is_dynamic(word) && word - first_dynamic >= n) n = word - first_dynamic + 1;
    };
    for (int a = 0; a < record::accesses; ++a) see(k.access[a].start);
    for (int d = 0; d < record::rank; ++d) {
      see(k.extent[d]);
      for (int a = 0; a < record::accesses; ++a) see(k.access[a].stride[d]);
    }
    return static_cast<int>(n);
  }();
  static constexpr int numbers = number_count > 0 ? number_count : 1;

  template <int I>
  using operands_of = const std::make_integer_sequence<int, at(I).operands()>*;

  /// The values that have one number for each row.
  struct row_state {
    T value[slots];
    bool mask[slots];
  };
};

// ---- numbers and positions. Args has `pointer`, one for each access, and `number`, the run-time numbers ----

/// The number that a word stands for: a constant, or a run-time number. The word is no template argument, so that there are few functions to compile.
template <class Args>
TENURE_KERNEL_LAYER std::int64_t number_of(const Args& args, std::int64_t word) {
  return is_dynamic(word) ? args.number[word - first_dynamic] : word;
}
/// The position that a counting access has at an offset.
template <class Code, int A, class Args>
TENURE_KERNEL_LAYER std::int64_t position_of(const Args& args, const std::int64_t* offset) {
  return number_of(args, coded_kernel<Code>::start(A)) + offset[A];
}
/// Moves the offsets of all accesses by `steps` steps along dimension D.
template <class Code, int D, class Args, int... A>
TENURE_KERNEL_LAYER void move_along(const Args& args, std::int64_t* offset, std::int64_t steps, std::integer_sequence<int, A...>) {
  ((offset[A] += steps * number_of(args, coded_kernel<Code>::stride(A, D))), ...);
}

// ---- the instructions with one value for each row ----

/// The value or the mask of a slot.
template <bool IsMask, class State>
TENURE_KERNEL_LAYER auto slot_of(const State& r, int slot) {
  if constexpr (IsMask) return r.mask[slot];
  else return r.value[slot];
}

template <class Code, int I, int... K>
TENURE_KERNEL_LAYER auto computed_for_row(const typename coded_kernel<Code>::row_state& r, places<K...>) {
  using kernel = coded_kernel<Code>;
  constexpr instruction x = kernel::at(I);
  if constexpr (ops::is_pointwise(x.op)) return ops::operation_of<x.op>::evaluate(slot_of<kernel::at(x.in[K]).is_mask>(r, x.in[K])...);
  else return copied<typename kernel::T, x.is_mask, kernel::at(x.in[0]).is_mask, kernel::rounds_to(I)>(slot_of<kernel::at(x.in[0]).is_mask>(r, x.in[0]));
}

/// Runs an instruction for a row. totals[slot] is the sum over all rows. Only a thread whose `adds` is true adds to it.
template <class Code, int I, class Args>
TENURE_KERNEL_LAYER void row_instruction(const Args& args, const std::int64_t* offset, typename coded_kernel<Code>::row_state& r,
                                         [[maybe_unused]] typename coded_kernel<Code>::T* totals, [[maybe_unused]] bool adds) {
  using kernel = coded_kernel<Code>;
  using T = typename kernel::T;
  constexpr instruction x = kernel::at(I);
  constexpr action does = first_action(kernel::at(I));
  if constexpr (does == action::constant) {
    if constexpr (x.is_mask) r.mask[I] = x.bits != 0;
    else r.value[I] = constant_of<T>(kernel::at(I));
  } else if constexpr (does == action::load) {
    constexpr decoded_access a = kernel::k.access[x.access];
    using from = element_of_t<a.type>;
    if constexpr (a.counting) r.value[I] = static_cast<T>(position_of<Code, x.access>(args, offset));
    else if constexpr (x.is_mask) r.mask[I] = static_cast<const from*>(args.pointer[x.access])[offset[x.access]] != from(0);
    else r.value[I] = number::convert<T>(static_cast<const from*>(args.pointer[x.access])[offset[x.access]]);
  } else if constexpr (does == action::store) {
    using to = element_of_t<kernel::k.access[x.access].type>;
    static_cast<to*>(args.pointer[x.access])[offset[x.access]] = number::convert<to>(slot_of<kernel::at(x.in[0]).is_mask>(r, x.in[0]));
  } else if constexpr (does == action::reduce_all) {
    if (adds) totals[I] = ops::combine<kernel::at(I).reduction()>(totals[I], r.value[x.in[0]]);
  } else if constexpr (x.is_mask) {
    r.mask[I] = computed_for_row<Code, I>(r, typename kernel::template operands_of<I>{});
  } else {
    r.value[I] = computed_for_row<Code, I>(r, typename kernel::template operands_of<I>{});
  }
}

}  // namespace tenure::program_detail
TENURE_WARNINGS_ON
