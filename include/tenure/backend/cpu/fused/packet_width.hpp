// SPDX-License-Identifier: BSL-1.0
// The packet for a short row.
#pragma once

#include <cstdint>

#include <tenure/math/packet.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

/// P, or a narrower packet if a row has fewer elements than P has lanes.
template <class P, std::int64_t N>
constexpr auto packet_filling() {
  constexpr int lanes = math::width<P>;
  if constexpr (lanes == 1 || N <= 0 || N >= lanes) return P{};
  else if constexpr (N == 1) return math::scalar_of<P>{};
  else {
    using half = typename Eigen::internal::unpacket_traits<P>::half;
    if constexpr (math::width<half> == lanes || N > math::width<half>) return P{};
    else return packet_filling<half, N>();
  }
}
template <class P, std::int64_t N>
using packet_filled_by = decltype(packet_filling<P, N>());

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
