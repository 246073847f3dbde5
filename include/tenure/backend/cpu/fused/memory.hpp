// SPDX-License-Identifier: BSL-1.0
// Loads and stores of packets, for each kind of access: contiguous, strided, broadcast, counting, converted, masks.
#pragma once

#include <tenure/backend/cpu/fused/non_temporal.hpp>
#include <tenure/core/number.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Code>
struct packet_memory : non_temporal<Code> {
  using base = non_temporal<Code>;
  using typename base::local_arguments, typename base::M, typename base::P, typename base::position, typename base::T;
  using base::k, base::lanes, base::last, base::may_bypass_caches, base::writes_non_temporal;

  /// A partial packet repeats its first element in the unused lanes. So only real data can set the flags of floating-point exceptions, such as division
  /// by zero.
  template <int A, bool Partial, int Way>
  static TENURE_LAYER auto load(const local_arguments& args, const position& p, std::int64_t i, int n) -> P {
    constexpr auto x = k.access[A];
    const std::int64_t step = number_of(args, base::stride(A, last));
    if constexpr (x.counting) {
      // `base` is the same for all packets of an interleaved step.
      const T base = static_cast<T>(position_of<Code, A>(args, p.offset) + (i - Way * lanes) * step);
      P lane = base::template lane_index<Way>();
      if constexpr (Partial && lanes > 1) lane = math::select(math::lt(lane, math::set1<P>(static_cast<T>(n))), lane, math::set1<P>(T(0)));
      return math::add(math::set1<P>(base), math::mul(lane, math::set1<P>(static_cast<T>(step))));
    } else {
      using from = element_of_t<x.type>;
      const from* source = static_cast<const from*>(args.pointer[A]) + p.offset[A] + i * step;
      if constexpr (x.stride[last] == 0) {
        return math::set1<P>(number::convert<T>(*source));
      } else if constexpr (widens_to(x.type, dtype_v<T>)) {
        return math::load_narrow<P>(source, step, Partial ? n : lanes);
      } else if constexpr (!std::is_same_v<from, T>) {
        T lane[lanes];
        for (int l = 0; l < lanes; ++l) lane[l] = number::convert<T>(source[!Partial || l < n ? l * step : 0]);
        return math::load<P>(lane);
      } else {
        if constexpr (is_dynamic(x.stride[last]) || x.stride[last] != 1)
          if (step != 1) {
            if constexpr (!Partial) {
              return math::gather<P>(source, step);
            } else {
              T lane[lanes];
              for (int l = 0; l < lanes; ++l) lane[l] = source[l < n ? l * step : 0];
              return math::load<P>(lane);
            }
          }
        if constexpr (Partial) return math::load_first<P>(source, n, *source);
        else return math::load<P>(source);
      }
    }
  }

  template <int A, bool Partial>
  static TENURE_LAYER auto load_mask(const local_arguments& args, const position& p, std::int64_t i, int n) -> M {
    const std::int64_t step = number_of(args, base::stride(A, last));
    const bool* source = static_cast<const bool*>(args.pointer[A]) + p.offset[A] + i * step;
    if constexpr (lanes == 1) return *source;
    else {
      if constexpr (!Partial && math::loads_bools<P>)
        if (step == 1) return math::load_bools<P>(source);
      T lane[lanes];
      for (int l = 0; l < lanes; ++l) lane[l] = source[!Partial || l < n ? l * step : 0] ? T(1) : T(0);
      return math::ne(math::load<P>(lane), math::set1<P>(T(0)));
    }
  }

  template <int A, bool Partial>
  static TENURE_LAYER void store(const local_arguments& args, const position& p, P v, std::int64_t i, int n) {
    const std::int64_t step = number_of(args, base::stride(A, last));
    using to = element_of_t<k.access[A].type>;
    to* target = static_cast<to*>(args.pointer[A]) + p.offset[A] + i * step;
    if constexpr (!std::is_same_v<to, T>) math::store_narrow<P>(target, v, step, n);
    else if constexpr (is_dynamic(k.access[A].stride[last]) || k.access[A].stride[last] != 1) {  // a narrow operand of a concat
      T lane[lanes];
      math::store<P>(lane, v);
      for (int l = 0; l < n; ++l) target[l * step] = lane[l];
    } else if constexpr (Partial) math::store_first<P>(target, v, n);
    else if constexpr (may_bypass_caches && writes_non_temporal(A)) {
      if (args.bypasses_caches) math::stream<P>(target, v);
      else math::store<P>(target, v);
    } else math::store<P>(target, v);
  }

  template <int A>
  static TENURE_LAYER void store_mask(const local_arguments& args, const position& p, M m, std::int64_t i, int n) {
    const std::int64_t step = number_of(args, base::stride(A, last));
    bool* target = static_cast<bool*>(args.pointer[A]) + p.offset[A] + i * step;
    if (step == 1 && n == lanes) return math::store_bools<P>(target, m);
    const unsigned bits = math::lane_bits<P>(m);
    for (int l = 0; l < n; ++l) target[l * step] = (bits >> l & 1) != 0;
  }
};

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
