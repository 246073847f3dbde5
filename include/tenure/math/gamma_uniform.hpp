// SPDX-License-Identifier: BSL-1.0
// Temme's uniform expansion of the incomplete gamma functions for large a: with mu = x / a - 1 and eta^2 / 2 = mu - log(1 + mu), where eta has the sign of mu,
//   P(a, x) = erfc(-eta sqrt(a / 2)) / 2 - R,  Q(a, x) = erfc(eta sqrt(a / 2)) / 2 + R,  R = e^(-a eta^2 / 2) T(a, eta) / sqrt(2 pi a),  T = sum c_k(eta) a^-k.
// scripts/special.py writes the coefficients.
// T has an error of 2^-52 (float: 2^-23) for a from 40 on (float: 20) and |eta| up to 0.6 (float: 1).
// Cost: some 100 fma (float: 31), and twice as many with the derivatives.
#pragma once

#include <tenure/math/packet.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math)::detail {

/// T, and with Slope its partial derivatives by eta and by 1 / a.
template <class P>
struct uniform_sum {
  P value, by_eta, by_inverse;
};

// sum = sum / a + c(eta).
template <bool Slope, class P, std::size_t N>
TENURE_KERNEL_INLINE void add_row(uniform_sum<P>& sum, P eta, P inverse, const scalar_of<P> (&c)[N]) {
  if constexpr (Slope) {
    P y = set1<P>(c[N - 1]), slope = set1<P>(scalar_of<P>(0));
    for (std::size_t i = N - 1; i-- > 0;) {
      slope = fma(slope, eta, y);
      y = fma(y, eta, set1<P>(c[i]));
    }
    sum.by_inverse = fma(sum.by_inverse, inverse, sum.value);
    sum.by_eta = fma(sum.by_eta, inverse, slope);
    sum.value = fma(sum.value, inverse, y);
  } else {
    sum.value = fma(sum.value, inverse, horner<P>(eta, c));
  }
}

template <bool Slope, class P>
TENURE_KERNEL_LAYER uniform_sum<P> uniform_sum_of(P eta, P inverse) {
  const P zero = set1<P>(scalar_of<P>(0));
  uniform_sum<P> sum{zero, zero, zero};
  if constexpr (layout<P>::wide) {
    add_row<Slope>(sum, eta, inverse, {-0x1.5629b3187b744p-11, 0x1.b8239c670e690p-11});
    add_row<Slope>(sum, eta, inverse, {0x1.691879c01efb4p-12, 0x1.b1d75d3346711p-15, -0x1.5f3385098cebfp-12, 0x1.26eeb5ece1d9fp-12,
                                       -0x1.cc642787368cep-14});
    add_row<Slope>(sum, eta, inverse, {0x1.168ef1b0931c8p-11, -0x1.36773bdb97b48p-11, 0x1.1c0950d3ecb9dp-12, 0x1.a8411da6cab49p-21,
                                       -0x1.5600945495b37p-14, 0x1.d6bdf83130dc1p-15, -0x1.3382f4cf48618p-16});
    add_row<Slope>(sum, eta, inverse, {-0x1.6128ac5a4fa71p-12, -0x1.247604839c038p-14, 0x1.22be87360ef1fp-12, -0x1.a2042c5148e27p-13,
                                       0x1.1d1e9cb24760bp-14, 0x1.30bdcf208080ep-23, -0x1.c823fc1b3cc36p-17, 0x1.0d0e229150428p-17,
                                       -0x1.338eb19652fd9p-19});
    add_row<Slope>(sum, eta, inverse, {-0x1.c3e0b02da7bf9p-11, 0x1.9b0ff6874f2c4p-11, -0x1.3999a85a4237ap-12, -0x1.88f2ae1def9d0p-20,
                                       0x1.16908b48ce058p-14, -0x1.4ce3fd902bcadp-15, 0x1.7db4c02846e81p-17, 0x1.13b3c5b7cb45ep-32,
                                       -0x1.c71c074985d3fp-20, 0x1.de37d9f09164cp-21, -0x1.ec676cf33153cp-23});
    add_row<Slope>(sum, eta, inverse, {0x1.547d93b34e2b6p-11, 0x1.e13ce465fa859p-13, -0x1.ebfb188b7ca00p-12, 0x1.18b9b5bf2d984p-12,
                                       -0x1.3d2a3a29b5d9dp-14, -0x1.0152a1871f27ap-22, 0x1.73df462204ef4p-17, -0x1.7cd6f27b3f020p-18,
                                       0x1.7e0201539310ep-20, -0x1.ea23269c140a7p-36, -0x1.6c2dcffbefeefp-23, 0x1.5bde8ef4c4dc7p-24,
                                       -0x1.4853ced169327p-26});
    add_row<Slope>(sum, eta, inverse, {0x1.0ee643b990ee6p-8, -0x1.5f7268edab4c8p-9, 0x1.948b0fcd6e9e0p-11, 0x1.0db20a88f4696p-19,
                                       -0x1.c253efaa1a932p-14, 0x1.bbf43daf4fe53p-15, -0x1.ac2d05890f2c3p-17, 0x1.26154ae39151dp-25,
                                       0x1.7058929663937p-20, -0x1.522cb05171911p-21, 0x1.32ac81c15d3d7p-23, -0x1.c24bd0e740a6cp-33,
                                       -0x1.e437343a46f5dp-27, 0x1.ac0d455e25360p-28, -0x1.77c5829460139p-30});
    add_row<Slope>(sum, eta, inverse, {-0x1.e573ac901e574p-10, -0x1.c71c71c71c71cp-9, 0x1.5ac056b015ac0p-9, -0x1.0394f6f09e723p-10,
                                       0x1.af83440e53dbcp-13, -0x1.af83440e53dbcp-22, -0x1.2fa4ae89e5af0p-16, 0x1.00a9cabd6b83ep-17,
                                       -0x1.b0bdfcc629cbap-20, 0x1.3f59230a8357cp-28, 0x1.280f2cde3f847p-23, -0x1.ee23d0cba8aeep-25,
                                       0x1.9aa7a30de114cp-27, -0x1.349fbca3a377bp-36, -0x1.1564ecff73d58p-30, 0x1.c9b434bf3c34ep-32,
                                       -0x1.78a5056f8ce45p-34});
    add_row<Slope>(sum, eta, inverse, {-0x1.5555555555555p-2, 0x1.5555555555555p-4, -0x1.e573ac901e574p-7, 0x1.2f684bda12f68p-10, 0x1.71de3a556c734p-12,
                                       -0x1.76e06fec7273bp-13, 0x1.48c5892f7cd83p-15, -0x1.255370652afc1p-19, -0x1.f1b22f594c6b5p-20,
                                       0x1.bd6d21e4b4109p-21, -0x1.7b5f9a2d0465cp-23, 0x1.ccf5ceb7f0d9fp-28, 0x1.6097d55c37c1cp-27,
                                       -0x1.2d2197c7a2faap-28, 0x1.f6e66d24d5c8ap-31, -0x1.c0d9b6edf2b0bp-36, -0x1.0070a87340428p-34,
                                       0x1.ac9475c463659p-36, -0x1.61ca701fd754ap-38});
  } else {
    add_row<Slope>(sum, eta, inverse, {0x1.547d94p-11f, 0x1.e13ce4p-13f, -0x1.ebfb18p-12f, 0x1.18b9b6p-12f});
    add_row<Slope>(sum, eta, inverse, {0x1.0ee644p-8f, -0x1.5f7268p-9f, 0x1.948b1p-11f, 0x1.0db20ap-19f, -0x1.c253fp-14f, 0x1.bbf43ep-15f,
                                       -0x1.ac2d06p-17f});
    add_row<Slope>(sum, eta, inverse, {-0x1.e573acp-10f, -0x1.c71c72p-9f, 0x1.5ac056p-9f, -0x1.0394f6p-10f, 0x1.af8344p-13f, -0x1.af8344p-22f,
                                       -0x1.2fa4aep-16f, 0x1.00a9cap-17f, -0x1.b0bdfcp-20f});
    add_row<Slope>(sum, eta, inverse, {-0x1.555556p-2f, 0x1.555556p-4f, -0x1.e573acp-7f, 0x1.2f684cp-10f, 0x1.71de3ap-12f, -0x1.76e07p-13f,
                                       0x1.48c58ap-15f, -0x1.25537p-19f, -0x1.f1b23p-20f, 0x1.bd6d22p-21f, -0x1.7b5f9ap-23f});
  }
  return sum;
}

}  // namespace tenure::math::detail
