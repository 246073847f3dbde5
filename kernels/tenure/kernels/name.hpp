// SPDX-License-Identifier: BSL-1.0
// Short names for codes. A kernel and all functions inside it are templates over a code. If the template argument were the code
// with all its words, a kernel of 256 operations would have 100 MB of symbol names, and nvcc would need 0.8 s more (of 3.8 s
// for the device code).
#pragma once

#include <cstdint>

#include <tenure/program/encode.hpp>

namespace TENURE_NAMESPACE::kernels {

template <std::uint64_t First, std::uint64_t Second>
struct code_hash {
  template <class T>  // a template, because compilers warn about a friend function that is declared but not a template
  friend constexpr auto code_of(code_hash, T);
};

/// The name of the code whose words have this hash of 128 bits. A kernel that reads rows of other steps also has the words of its sources (fused/sources.hpp).
template <std::uint64_t First, std::uint64_t Second, std::uint64_t... Sources>
struct code_name {
  static constexpr auto& word = decltype(code_of(code_hash<First, Second>{}, 0))::word;
};

/// Defines the code of a name. If two codes had the same hash, the program would not compile.
template <class Code>
struct naming {
  // The two halves use two different hash functions. With one function and two seeds, codes that differ only in high bits would
  // collide in both halves.
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
