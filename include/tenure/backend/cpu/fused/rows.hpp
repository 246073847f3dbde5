// SPDX-License-Identifier: BSL-1.0
// The instructions that have one value for each row.
#pragma once

#include <tenure/backend/cpu/fused/kernel.hpp>

TENURE_WARNINGS_OFF
namespace TENURE_NAMESPACE::TENURE_LANES(cpu_backend) {

template <class Code>
template <int... I>
TENURE_LAYER void fused<Code>::row_phase(const local_arguments& args, const position& p, row_state& r, sums& total, std::integer_sequence<int, I...>) {
  (program_detail::row_instruction<Code, I>(args, p.offset, r, total.scalar, true), ...);
}

}  // namespace tenure::cpu_backend
TENURE_WARNINGS_ON
