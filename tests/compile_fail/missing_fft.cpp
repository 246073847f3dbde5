// SPDX-License-Identifier: BSL-1.0
// expect: tenure: fft: there is none, because there are no complex numbers: extern_op calls the library of your choice with the real and the imaginary part as results
#include <tenure/tenure.hpp>
namespace tn = tenure;

void transformed(const float* x, float* real, float* imaginary, std::int64_t n);  // of a library
constexpr auto spectrum = tn::extern_op([](auto real, auto imaginary, auto x) { transformed(x.data(), real.data(), imaginary.data(), x.size()); },
                                        std::tuple{tn::like<0>, tn::like<0>});

auto f(const tn::tensor<float, tn::shape<64>>& x) {
#ifdef TENURE_MISUSE
  return tn::compile([](auto y) { return tn::fft(y); })(x);
#else
  return tn::compile([](auto y) { return spectrum(y); })(x);
#endif
}
