// SPDX-License-Identifier: BSL-1.0
// The instructions of a pass, for one packet: all loads, then its lanes one after the other, then all stores.
#pragma once

#include <tenure/kernels/fused/rows.hpp>

namespace TENURE_NAMESPACE::kernels {

template <class Code>
struct elements_of_thread : rows_of_thread<Code> {
  using base = rows_of_thread<Code>;
  using typename base::arguments, typename base::kind, typename base::packet_state, typename base::place, typename base::record;
  using typename base::run_of_lanes, typename base::T, typename base::thread_state;
  using base::at, base::is_whole, base::k, base::kept_before, base::kept_rows, base::lanes, base::last, base::rank_of, base::run_at;
  template <part Part, int Pass>
  using those = typename base::template those<Part, Pass>;
  template <int I>
  using operands_of = typename base::template operands_of<I>;
  template <class Element>
  using run_of = typename base::template run_of<Element>;

  template <int First, int... I, int... J>
  static constexpr auto some(std::integer_sequence<int, J...>) {
    constexpr int all[] = {I...};
    return std::integer_sequence<int, all[First + J]...>{};
  }

  template <int Pass>
  static TENURE_KERNEL_INLINE void elements(const arguments& args, thread_state& t, const place& p) {
    packet_state e;
    [&]<int... I>(std::integer_sequence<int, I...>) { (read<I>(args, t, p, e), ...); }(those<part::loads, Pass>{});
    [&]<int... L>(std::integer_sequence<int, L...>) { (lane(t, p, e, L, those<part::computes, Pass>{}), ...); }(std::make_integer_sequence<int, lanes>{});
    [&]<int... I>(std::integer_sequence<int, I...>) { (write<I>(args, t, p, e), ...); }(those<part::stores, Pass>{});
  }

  template <int... I>
  static TENURE_KERNEL_INLINE void lane(thread_state& t, const place& p, packet_state& e, [[maybe_unused]] int l, std::integer_sequence<int, I...>) {
    if constexpr (sizeof...(I) <= 128) {
      (element<I>(t, p, e, l), ...);
    } else {  // clang refuses folds of more than 256 operands
      constexpr int half = static_cast<int>(sizeof...(I)) / 2, rest = static_cast<int>(sizeof...(I)) - half;
      lane(t, p, e, l, some<0, I...>(std::make_integer_sequence<int, half>{}));
      lane(t, p, e, l, some<half, I...>(std::make_integer_sequence<int, rest>{}));
    }
  }

  template <int I, class From>
  static TENURE_KERNEL_INLINE void enter(packet_state& e, int l, From v) {
    if constexpr (at(I).is_mask) e.mask[I][l] = v != From(0);
    else e.value[I][l] = number::convert<T>(v);
  }

  template <int I>
  static TENURE_KERNEL_INLINE void read(const arguments& args, [[maybe_unused]] const thread_state& t, const place& p, packet_state& e) {
    constexpr auto x = at(I);
    if constexpr (at(I).is_kept()) {
      const run_of_lanes kept = run_at(args, p.scratch, kept_before(I));
      for (int l = 0; l < lanes; ++l) e.value[I][l] = kept.at[l];
    } else {
      constexpr auto a = k.access[x.access];
      const std::int64_t step = number_of(args, base::stride(x.access, last));
      if constexpr (a.counting) {
        const std::int64_t first = position_of<Code, x.access>(args, p.offset);
        for (int l = 0; l < lanes; ++l) e.value[I][l] = static_cast<T>(first + l * step);
      } else {
        using from = element_of_t<a.type>;
        const from* const first = static_cast<const from*>(args.pointer[x.access]) + p.offset[x.access];
        if constexpr (arguments::of(x.access) >= 0)
          if (const auto& rows = args.source[arguments::of(x.access)]; rows.is_given()) {
            const std::int64_t i = (record::outer > 0 ? t.row * args.shape.columns : 0) + p.column;
            const from* const table = static_cast<const from*>(args.pointer[x.access]);
            for (int l = 0; l < lanes; ++l) enter<I>(e, l, lanes == 1 || l < p.count ? rows.at(table, i + l) : from(0));
            return;
          }
        if constexpr (!x.is_mask && base::template is_run<x.access>)
          if (step == 1 && is_whole(first, p.count)) {
            const run_of<from> run = *reinterpret_cast<const run_of<from>*>(first);
            for (int l = 0; l < lanes; ++l) e.value[I][l] = number::convert<T>(run.at[l]);
            return;
          }
        for (int l = 0; l < lanes; ++l) enter<I>(e, l, lanes == 1 || l < p.count ? first[l * step] : from(0));
      }
    }
  }

  template <int Slot>
  static TENURE_KERNEL_INLINE auto operand(const thread_state& t, const packet_state& e, int l) {
    if constexpr (at(Slot).row) return program_detail::slot_of<at(Slot).is_mask>(t, Slot);
    else if constexpr (at(Slot).is_mask) return e.mask[Slot][l];
    else return e.value[Slot][l];
  }

  template <int I, int... K>
  static TENURE_KERNEL_INLINE auto compute(const thread_state& t, const packet_state& e, int l, places<K...>) {
    constexpr auto x = at(I);
    if constexpr (ops::is_pointwise(x.op)) return ops::operation_of<x.op>::evaluate(operand<x.in[K]>(t, e, l)...);
    else return program_detail::copied<T, x.is_mask, at(x.in[0]).is_mask, base::rounds_to(I)>(operand<x.in[0]>(t, e, l));
  }

  template <int I>
  static TENURE_KERNEL_INLINE void element(thread_state& t, const place& p, packet_state& e, int l) {
    constexpr auto x = at(I);
    if constexpr (x.what == kind::compute) {
      if constexpr (x.is_mask) e.mask[I][l] = compute<I>(t, e, l, operands_of<I>{});
      else e.value[I][l] = compute<I>(t, e, l, operands_of<I>{});
    } else if constexpr (x.what == kind::reduce_row) {
      if (lanes == 1 || l < p.count) t.sum[I] = ops::combine<at(I).reduction()>(t.sum[I], operand<x.in[0]>(t, e, l));
    } else if constexpr (x.what == kind::reduce_all) {
      if (lanes == 1 || l < p.count) t.total[I] = ops::combine<at(I).reduction()>(t.total[I], operand<x.in[0]>(t, e, l));
    }
  }

  template <int I>
  static TENURE_KERNEL_INLINE void write(const arguments& args, const thread_state& t, const place& p, const packet_state& e) {
    constexpr auto x = at(I);
    if constexpr (at(I).is_kept()) {
      run_of_lanes kept;
      for (int l = 0; l < lanes; ++l) kept.at[l] = e.value[I][l];
      run_at(args, p.scratch, kept_before(I)) = kept;
    } else if constexpr (x.what == kind::reduce_columns) {
      run_of_lanes mine;
      for (int l = 0; l < lanes; ++l) mine.at[l] = operand<x.in[0]>(t, e, l);
      base::template add_run<at(I).reduction()>(run_at(args, p.scratch, kept_rows + rank_of(I)), mine);
    } else {
      const std::int64_t step = number_of(args, base::stride(x.access, last));
      using to = element_of_t<k.access[x.access].type>;
      to* const target = static_cast<to*>(args.pointer[x.access]) + p.offset[x.access];
      if constexpr (!x.is_mask && base::template is_run<x.access>)
        if (step == 1 && is_whole(target, p.count)) {
          run_of<to> run;
          for (int l = 0; l < lanes; ++l) run.at[l] = number::convert<to>(operand<x.in[0]>(t, e, l));
          *reinterpret_cast<run_of<to>*>(target) = run;
          return;
        }
      for (int l = 0; l < lanes; ++l)
        if (lanes == 1 || l < p.count) target[l * step] = number::convert<to>(operand<x.in[0]>(t, e, l));
    }
  }
};

}  // namespace tenure::kernels
