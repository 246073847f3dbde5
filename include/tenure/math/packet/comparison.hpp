// SPDX-License-Identifier: BSL-1.0
// Comparisons, masks, and the selection of lanes by a mask.
#pragma once

#include <cstring>

#include <tenure/math/packet/bits.hpp>
#include <tenure/math/packet/memory.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math) {

template <class P>
TENURE_KERNEL_INLINE mask_of<P> lt(P a, P b) {
#if TENURE_AVX512
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return {_mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)};
  else if constexpr (is_512<P>) return {_mm512_cmp_pd_mask(a, b, _CMP_LT_OQ)};
  else
#endif
  if constexpr (is_one_lane<P>) return a < b;
  else return detail::simd::pcmp_lt(a, b);
}
template <class P>
TENURE_KERNEL_INLINE mask_of<P> le(P a, P b) {
#if TENURE_AVX512
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return {_mm512_cmp_ps_mask(a, b, _CMP_LE_OQ)};
  else if constexpr (is_512<P>) return {_mm512_cmp_pd_mask(a, b, _CMP_LE_OQ)};
  else
#endif
  if constexpr (is_one_lane<P>) return a <= b;
  else return detail::simd::pcmp_le(a, b);
}
template <class P>
TENURE_KERNEL_INLINE mask_of<P> eq(P a, P b) {
#if TENURE_AVX512
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return {_mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ)};
  else if constexpr (is_512<P>) return {_mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ)};
  else
#endif
  if constexpr (is_one_lane<P>) return a == b;
  else return detail::simd::pcmp_eq(a, b);
}
template <class P>
TENURE_KERNEL_INLINE mask_of<P> gt(P a, P b) {
  return lt(b, a);
}
template <class P>
TENURE_KERNEL_INLINE mask_of<P> ge(P a, P b) {
  return le(b, a);
}

template <class M>
TENURE_KERNEL_INLINE M mask_and(M a, M b) {
  if constexpr (std::is_same_v<M, bool>) return a && b;
  else if constexpr (requires { a.bits; }) return {static_cast<decltype(a.bits)>(a.bits & b.bits)};
  else return and_bits(a, b);
}
template <class M>
TENURE_KERNEL_INLINE M mask_or(M a, M b) {
  if constexpr (std::is_same_v<M, bool>) return a || b;
  else if constexpr (requires { a.bits; }) return {static_cast<decltype(a.bits)>(a.bits | b.bits)};
  else return or_bits(a, b);
}
template <class M>
TENURE_KERNEL_INLINE M mask_xor(M a, M b) {
  if constexpr (std::is_same_v<M, bool>) return a != b;
  else if constexpr (requires { a.bits; }) return {static_cast<decltype(a.bits)>(a.bits ^ b.bits)};
  else return xor_bits(a, b);
}
template <class M>
TENURE_KERNEL_INLINE M mask_not(M a) {
  if constexpr (std::is_same_v<M, bool>) return !a;
  else if constexpr (requires { a.bits; }) return {static_cast<decltype(a.bits)>(~a.bits)};
  else return xor_bits(a, set1_bits<M>(static_cast<bits_of<M>>(~bits_of<M>(0))));
}

/// A mask with `value` in every lane.
template <class P>
TENURE_KERNEL_INLINE mask_of<P> mask_set(bool value) {
  using word = bits_of<P>;
  if constexpr (is_one_lane<P>) return value;
  else if constexpr (is_512<P>) return {static_cast<decltype(mask_of<P>::bits)>(value ? ~0u : 0u)};
  else return set1_bits<P>(value ? static_cast<word>(~word(0)) : word(0));
}

template <class P>
TENURE_KERNEL_INLINE mask_of<P> ne(P a, P b) {
  return mask_not(eq(a, b));
}
template <class P>
TENURE_KERNEL_INLINE mask_of<P> is_nan(P a) {
#if TENURE_AVX512
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return {_mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q)};
  else if constexpr (is_512<P>) return {_mm512_cmp_pd_mask(a, a, _CMP_UNORD_Q)};
  else
#endif
  return mask_not(eq(a, a));
}

/// mask ? a : b for each lane, of packets or of masks. Both are computed before; this only moves bits.
template <class P>
TENURE_KERNEL_INLINE P select(mask_of<P> mask, P a, P b) {
#if TENURE_AVX512
  if constexpr (is_512<P> && sizeof(scalar_of<P>) == 4) return _mm512_mask_blend_ps(mask.bits, b, a);
  else if constexpr (is_512<P>) return _mm512_mask_blend_pd(mask.bits, b, a);
  else
#endif
  if constexpr (is_one_lane<P>) return mask ? a : b;
  else if constexpr (requires { a.bits; }) return {static_cast<decltype(a.bits)>((mask.bits & a.bits) | (~mask.bits & b.bits))};  // masks
  else return detail::simd::pselect(mask, a, b);
}

namespace detail {
#if TENURE_SSE
TENURE_INLINE int lane_signs(__m128 a) { return _mm_movemask_ps(a); }
TENURE_INLINE int lane_signs(__m128d a) { return _mm_movemask_pd(a); }
#endif
#if TENURE_AVX
TENURE_INLINE int lane_signs(__m256 a) { return _mm256_movemask_ps(a); }
TENURE_INLINE int lane_signs(__m256d a) { return _mm256_movemask_pd(a); }
#endif
template <class P>
TENURE_KERNEL_INLINE unsigned mask_bits(P mask) {
#if TENURE_SSE
  return static_cast<unsigned>(lane_signs(mask));
#else
  bits_of<P> lanes[width<P>];
  std::memcpy(lanes, &mask, sizeof lanes);
  unsigned out = 0;
  for (int i = 0; i < width<P>; ++i) out |= static_cast<unsigned>(lanes[i] & 1u) << i;
  return out;
#endif
}
}  // namespace detail

/// The mask as an integer with one bit for each lane. Lane 0 is the lowest bit.
template <class P>
TENURE_KERNEL_INLINE unsigned lane_bits(mask_of<P> mask) {
  if constexpr (is_one_lane<P>) return mask ? 1u : 0u;
  else if constexpr (is_512<P>) return mask.bits;
  else return detail::mask_bits<P>(mask);
}
/// True if any lane of the mask is set. P cannot be deduced, so it is written: any<P>(lt(x, y)).
template <class P>
TENURE_KERNEL_INLINE bool any(mask_of<P> mask) {
  return lane_bits<P>(mask) != 0;
}
template <class P>
TENURE_KERNEL_INLINE bool all(mask_of<P> mask) {
  return lane_bits<P>(mask) == (width<P> == 32 ? ~0u : (1u << width<P>) - 1u);
}

}  // namespace tenure::math
