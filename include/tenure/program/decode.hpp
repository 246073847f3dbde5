// SPDX-License-Identifier: BSL-1.0
// Decodes the code of a kernel into records. The loops of the CPU and the CUDA kernels read these records.
#pragma once

#include <tenure/program/encode.hpp>

namespace TENURE_NAMESPACE::program_detail {

struct decoded_access {
  dtype type = dtype::float32;
  bool counting = false;
  int neighbour = -1;                  // the access whose memory begins one element behind the memory of this access, or -1
  std::int64_t start = 0;              // of a counting access: its first position, a run-time number
  std::int64_t stride[max_rank] = {};  // may be a run-time number
};

/// The sizes in the first word of a code.
template <class Code>
struct code_sizes {
  static constexpr std::int64_t head = Code::word[0];
  static constexpr dtype lane = static_cast<dtype>(head & 15);
  static constexpr int outer = static_cast<int>(head >> 4 & 15), inner = static_cast<int>(head >> 8 & 15);
  static constexpr int rank = outer + inner;
  static constexpr int passes = static_cast<int>(head >> 12 & 255);
  static constexpr int instructions = static_cast<int>(head >> 24 & 0xffff), accesses = static_cast<int>(head >> 40 & 0xffff);
};

template <class Code>
struct decoded : code_sizes<Code> {
  using sizes = code_sizes<Code>;
  std::int64_t extent[max_rank + 1] = {};
  decoded_access access[sizes::accesses + 1] = {};
  passes::instruction instruction[sizes::instructions + 1] = {};  // `access` is a position among the accesses of the code

  constexpr decoded() {
    int at = 1;
    for (int d = 0; d < sizes::rank; ++d) extent[d] = Code::word[at++];
    for (int a = 0; a < sizes::accesses; ++a) {
      access[a].type = static_cast<dtype>(Code::word[at] & 15);
      access[a].neighbour = static_cast<int>(Code::word[at] >> 8) - 1;
      access[a].counting = (Code::word[at++] & 16) != 0;
      if (access[a].counting) access[a].start = Code::word[at++];
      for (int d = 0; d < sizes::rank; ++d) access[a].stride[d] = Code::word[at++];
    }
    for (int i = 0; i < sizes::instructions; ++i) {
      const auto w = static_cast<std::uint64_t>(Code::word[at++]);
      passes::instruction& x = instruction[i];
      x.what = static_cast<passes::instruction::kind>(w & 7);
      x.is_mask = (w >> 3 & 1) != 0;
      x.row = (w >> 4 & 1) != 0;
      x.op = static_cast<ir::opcode>(w >> 5 & 255);
      x.phase = static_cast<int>(w >> 13 & 31);
      x.passes = static_cast<unsigned>(w >> 18 & 0xffff);
      for (int k = 0; k < 3; ++k) x.in[k] = static_cast<int>(w >> (34 + 10 * k) & 1023) - 1;
      const std::int64_t rest = Code::word[at++];
      if (x.what == passes::instruction::kind::constant) {
        x.bits = rest;
      } else {
        x.access = static_cast<int>(rest & 0xffff) - 1;
        x.bits = rest >> 16;
      }
    }
  }
};

}  // namespace tenure::program_detail
