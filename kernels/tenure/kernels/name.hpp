// SPDX-License-Identifier: BSL-1.0
// Short names for codes. A kernel is specialised on a code, and so is every function that it is made of: named by all of its words,
// those of 256 operations made 100 MB of names, which cost nvcc 0.8 s of 3.8 s for the device.
#pragma once

#include <cstdint>

#include <tenure/program/encode.hpp>

namespace TENURE_NAMESPACE::kernels {

template <std::uint64_t First, std::uint64_t Second>
struct code_hash {
  template <class T>  // a template only because compilers warn of friends that are none
  friend constexpr auto code_of(code_hash, T);
};

/// Stands for the code whose words hash to these 128 bits.
template <std::uint64_t First, std::uint64_t Second>
struct code_name {
  static constexpr auto& word = decltype(code_of(code_hash<First, Second>{}, 0))::word;
};

/// Defines what a name stands for; two codes of one name would not compile.
template <class Code>
struct naming {
  // Two functions, not two seeds of one: what differs in high bits only would collide in both.
  static constexpr std::uint64_t hash(std::uint64_t odd, int shift) {
    std::uint64_t h = odd;
    for (const std::int64_t word : Code::word) {
      h ^= static_cast<std::uint64_t>(word);
      h ^= h >> shift;
      h *= odd;
      h ^= h >> 32;
    }
    return h;
  }
  template <std::uint64_t First, std::uint64_t Second>
  struct defined {
    template <class T>
    friend constexpr auto code_of(code_hash<First, Second>, T) { return Code{}; }
    using type = code_name<First, Second>;
  };
};
template <class Code>
using name_of = typename naming<Code>::template defined<naming<Code>::hash(0x9E3779B97F4A7C15u, 29), naming<Code>::hash(0xD6E8FEB86659FD93u, 31)>::type;

}  // namespace tenure::kernels
