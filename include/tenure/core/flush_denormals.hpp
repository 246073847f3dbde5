// SPDX-License-Identifier: BSL-1.0
// flush_denormals is a scope in which denormal numbers count as zero. Law: the settings of the thread after the scope are those before
// it, also if an exception ends it. Cost: some nanoseconds. On processors other than x86 with SSE and AArch64 it does nothing.
#pragma once

#include <tenure/core/not_copied.hpp>

#include <cstdint>

namespace TENURE_NAMESPACE {
namespace detail {

/// How this thread's processor computes with floating-point numbers: its rounding mode, and whether denormals count as zero.
class float_mode {
 public:
  using word = std::uint64_t;

#if defined(__CUDA_ARCH__)
  static constexpr word flush = 0, all = 0;
  static word read() { return 0; }
  static void write(word) {}
#elif defined(__SSE__) && defined(__GNUC__)
  static constexpr word flush = 0x8040, all = flush | 0x6000;  // of MXCSR: FTZ and DAZ; and the rounding mode

  // The registers hold flags of past exceptions as well, which stay as they are. "memory": no load or store crosses a change.
  static word read() {
    std::uint32_t now;
    asm volatile("stmxcsr %0" : "=m"(now) : : "memory");
    return now & all;
  }
  static void write(word mode) {
    std::uint32_t now;
    asm volatile("stmxcsr %0" : "=m"(now) : : "memory");
    now = (now & ~static_cast<std::uint32_t>(all)) | static_cast<std::uint32_t>(mode);
    asm volatile("ldmxcsr %0" : : "m"(now) : "memory");
  }
#elif defined(__aarch64__) && defined(__GNUC__)
  static constexpr word flush = word{1} << 24, all = flush | word{3} << 22;  // of FPCR: FZ; and the rounding mode

  static word read() {
    word now;
    asm volatile("mrs %0, fpcr" : "=r"(now) : : "memory");
    return now & all;
  }
  static void write(word mode) {
    word now;
    asm volatile("mrs %0, fpcr" : "=r"(now) : : "memory");
    now = (now & ~all) | mode;
    asm volatile("msr fpcr, %0" : : "r"(now) : "memory");
  }
#else
  static constexpr word flush = 0, all = 0;
  static word read() { return 0; }
  static void write(word) {}
#endif
};

/// A scope in which this thread computes in `mode`.
class [[nodiscard]] float_mode_scope : not_copied {
 public:
  explicit float_mode_scope(float_mode::word mode) : outer_(float_mode::read()), differs_(mode != outer_) {
    if (differs_) float_mode::write(mode);
  }
  ~float_mode_scope() {
    if (differs_) float_mode::write(outer_);
  }

 private:
  float_mode::word outer_;
  bool differs_;
};

}  // namespace detail

/// While an object of this class exists, this thread takes numbers below the least normal one (1.2e-38 in float32, 2.2e-308 in float64) for zero, as
/// operands and as results: const tn::flush_denormals scope; The threads of a tn::thread_pool do so too while they work for this thread. The scope
/// concerns all floating-point arithmetic of the thread, not only Tenure's, and nothing on a GPU. Scopes end in the reverse order of their beginning,
/// on the thread where they began.
class [[nodiscard]] flush_denormals {
 public:
  [[nodiscard]] flush_denormals() : scope_(detail::float_mode::read() | detail::float_mode::flush) {}

 private:
  detail::float_mode_scope scope_;
};

}  // namespace tenure
