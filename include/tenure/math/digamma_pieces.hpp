// SPDX-License-Identifier: BSL-1.0
// digamma of doubles with AVX-512: on [1, 32) one polynomial for each of 16 pieces, whose coefficients a permutation looks up, and from 32 on the logarithm and Stirling's
// series. The centre of a piece is next to the root, so that the result has its digits there. scripts/gamma.py writes the coefficients.
// The error is at most 3 ulp.
// Cost: 15 permutations and fma up to 32; from there on a logarithm and a division; below 1 a division more.
#pragma once

#include <tenure/math/logarithm.hpp>

#if TENURE_AVX512

namespace TENURE_NAMESPACE::TENURE_LANES(math)::detail {

// Of a piece the centre, the value there, and the coefficients of the powers of the distance from it.
alignas(64) inline constexpr double digamma_pieces[16][16] = {
    {0x1.2800000000000p+0, 0x1.762d86356be3fp+0, 0x1.c800000000000p+0, 0x1.1c00000000000p+1, 0x1.6800000000000p+1, 0x1.b800000000000p+1,
     0x1.1000000000000p+2, 0x1.5800000000000p+2, 0x1.a800000000000p+2, 0x1.0400000000000p+3, 0x1.4800000000000p+3, 0x1.9800000000000p+3,
     0x1.f000000000000p+3, 0x1.3800000000000p+4, 0x1.8800000000000p+4, 0x1.d800000000000p+4},
    {-0x1.624079e1f249dp-2, -0x1.aa2d9b3ce29e0p-54, 0x1.159611b8a7afcp-2, 0x1.1c2654f389d19p-1, 0x1.b1181ba78d53dp-1,
     0x1.151149aa20c84p+0, 0x1.531e707e22e4dp+0, 0x1.95faf787d7667p+0, 0x1.d04081b9a1bbdp+0, 0x1.041d63389c239p+1, 0x1.238bd4a0f893ap+1,
     0x1.40be29692d3e8p+1, 0x1.5aa773d2666e7p+1, 0x1.78e7281f27623p+1, 0x1.96ccd66a93321p+1, 0x1.af052c4218232p+1},
    {0x1.55d5f51f7d25dp+0, 0x1.ef72bc8ee38acp-1, 0x1.7e6cfbf7c1799p-1, 0x1.224b7b9baf6c2p-1, 0x1.b44ee8a7c698ap-2, 0x1.595adb010c482p-2,
     0x1.0f7c989d5a3ffp-2, 0x1.a2a687412ace6p-3, 0x1.4da1a3d820940p-3, 0x1.0c351d51d425cp-3, 0x1.a3bc52e97d061p-4, 0x1.4e2e9dcf4f999p-4,
     0x1.10f7374e137d3p-4, 0x1.af0ef764afb12p-5, 0x1.5548b2f394e2dp-5, 0x1.1a746c6dde1eep-5},
    {-0x1.a16128f7a2ec5p-1, -0x1.c563b54aa1a35p-2, -0x1.1349c0b087c10p-2, -0x1.41ad1ee8735d6p-3, -0x1.6eb634357fc51p-4,
     -0x1.cdc2ccd6277c5p-5, -0x1.1e4aef35d6d22p-5, -0x1.55289d8801279p-6, -0x1.b1dbbf7d68b58p-7, -0x1.18998828cebebp-7,
     -0x1.57cc6c89cc424p-8, -0x1.b3fffbb298b1cp-9, -0x1.22f2c48ae13aap-9, -0x1.6ad44ccb76211p-10, -0x1.c6e9ed7aea671p-11,
     -0x1.379ccdfc10769p-11},
    {0x1.3eac24b602954p-1, 0x1.08b4294d5032ep-2, 0x1.0027bd7aec950p-3, 0x1.d1a3cb9af6a2ep-5, 0x1.95bde655e5c79p-6, 0x1.98221855f21afp-7,
     0x1.905b3ee70be23p-8, 0x1.7172e622dc586p-9, 0x1.7752a6c98f949p-10, 0x1.86def79307dd5p-11, 0x1.7724466261686p-12,
     0x1.7b047d9b6249ap-13, 0x1.9d55d27d6eb71p-14, 0x1.971b1a4321f03p-15, 0x1.94314ca8f8008p-16, 0x1.ca5408a960f13p-17},
    {-0x1.050af3a1c504dp-1, -0x1.4fc1317258b37p-3, -0x1.05400e3b22ee1p-4, -0x1.745ac52f91252p-6, -0x1.f3251e0f6843fp-8,
     -0x1.929906ee065bep-9, -0x1.394795c1416bdp-10, -0x1.c0a2d2f604c43p-12, -0x1.6c7fd12d2e1a2p-13, -0x1.31d7ffbf292e0p-14,
     -0x1.cc1d5bc4dae58p-16, -0x1.7276eb746bbd4p-17, -0x1.4a2e56b231649p-18, -0x1.00e205b1a8629p-19, -0x1.93f58c6b85a71p-21,
     -0x1.7b27f1691e219p-22},
    {0x1.b80cacc635573p-2, 0x1.b9a5b63745f32p-4, 0x1.160ab1022a48dp-5, 0x1.389884f097df1p-7, 0x1.43fdbd06222bbp-9,
     0x1.a472ea934ea61p-11, 0x1.042d2d69502aep-12, 0x1.21a4293c39a8cp-14, 0x1.78cde39f9fb8bp-16, 0x1.fdd5a7ae7589ep-18,
     0x1.2cb8d94efd6e2p-19, 0x1.8208bf98864c0p-21, 0x1.193c8483ed832p-22, 0x1.59b7db93dfb06p-24, 0x1.ae9436aa96cf7p-26,
     0x1.4e89a98da8335p-27},
    {-0x1.77be7dd484783p-2, -0x1.27baba23b8bf3p-4, -0x1.2e958d7c7ed27p-6, -0x1.0d90eb560d385p-8, -0x1.b1d995844a9cfp-11,
     -0x1.c630cee2f9516p-13, -0x1.c001638ea1934p-15, -0x1.84609d159712cp-17, -0x1.94ee33ccd90d8p-19, -0x1.ba0c94edf981ep-21,
     -0x1.9920073aa4c34p-23, -0x1.a2caa93d9eab1p-25, -0x1.f2dfe3923834cp-27, -0x1.e48cd92c074d5p-29, -0x1.de01d8d5f7bb6p-31,
     -0x1.33703eeed5fd5p-32},
    {0x1.42da2feba8a5bp-2, 0x1.8fce0245ae068p-5, 0x1.4d6d804ec3796p-7, 0x1.d85d4381bb8a0p-10, 0x1.28204352bb2fcp-12,
     0x1.f55ebfcad13f2p-15, 0x1.8aef01010248bp-17, 0x1.0b082e52552b1p-19, 0x1.beb3226ba1428p-22, 0x1.89b3bea32e323p-24,
     0x1.1e03a8795370fp-26, 0x1.d30ec469c4c52p-29, 0x1.c6f1aa9ab3ed1p-31, 0x1.5d306a45be1a3p-33, 0x1.10df1bf4ddf8cp-35,
     0x1.2294002791c68p-37},
    {-0x1.1647530896c98p-2, -0x1.0fa7ef0bf739bp-5, -0x1.72199080c894dp-8, -0x1.a1f3e7924aa1bp-11, -0x1.9956882234769p-14,
     -0x1.18c752aa875c7p-16, -0x1.61de4c727e0f8p-19, -0x1.75c702fdbbb39p-22, -0x1.f6115771119dcp-25, -0x1.657aa544387fep-27,
     -0x1.97e420456f619p-30, -0x1.09ba0b6cabeb0p-32, -0x1.a75f4bdf79c16p-35, -0x1.00d36ca960ef8p-37, -0x1.3dfbc663115dcp-40,
     -0x1.185628adaf976p-42},
    {0x1.e081363800602p-3, 0x1.723dcf5318ac5p-6, 0x1.9c9a6c65c8562p-9, 0x1.7423744992116p-12, 0x1.1d4eaf309edebp-15,
     0x1.3dae64baec641p-18, 0x1.40cb1956ce408p-21, 0x1.0904ec1d6f695p-24, 0x1.1e162352d86cfp-27, 0x1.4951851ba1248p-30,
     0x1.273aa74b9a599p-33, 0x1.33003e4f650fbp-36, 0x1.901a37167b66bp-39, 0x1.7fb3ac5a777dep-42, 0x1.7861fcf649552p-45,
     0x1.12b8e1f1e5d31p-47},
    {-0x1.9f2e61b8c6418p-3, -0x1.f96d27c259ddap-7, -0x1.cd3705441db89p-10, -0x1.4cb1246f4db45p-13, -0x1.9004582bfe468p-17,
     -0x1.6a07f6c967a7ep-20, -0x1.254e12f2a132ap-23, -0x1.7b7f7f24fbf4bp-27, -0x1.498024a8cff67p-30, -0x1.32c759b5d4814p-33,
     -0x1.b05b73c5ccd5cp-37, -0x1.66ede4c2150cfp-40, -0x1.7eb334ed6d1fdp-43, -0x1.222445edd4c2cp-46, -0x1.c302a79575be5p-50,
     -0x1.108ef96a30dd8p-52},
    {0x1.662cef8499fd9p-3, 0x1.592307bc14e19p-7, 0x1.021d4ec4dea95p-10, 0x1.29c564b9acba7p-14, 0x1.194edded69d35p-18,
     0x1.9e92e92e2d49dp-22, 0x1.0d9a80615e397p-25, 0x1.117c4e60a3250p-29, 0x1.7e7dcdcdf8bc2p-33, 0x1.201c4e1f60c30p-36,
     0x1.3f2c2bf3a019bp-40, 0x1.a777c0a08d5eep-44, 0x1.71774f7881acep-47, 0x1.ba8c8e24c7ae9p-51, 0x1.10c58d9912fa4p-54,
     0x1.110d95746ecccp-57},
    {-0x1.35b0e06cd7381p-3, -0x1.d8f00c36e9be0p-8, -0x1.214c9148dac59p-11, -0x1.0b66b73ebf0b2p-15, -0x1.8d21986164972p-20,
     -0x1.dcbff63ae7176p-24, -0x1.f2950e3e9e320p-28, -0x1.8ce1b3adbd258p-32, -0x1.bf1c2c22b777dp-36, -0x1.10b03a074c4b7p-39,
     -0x1.db4fce75fbc0bp-44, -0x1.f7bc1e2391d88p-48, -0x1.67ae9e9669b57p-51, -0x1.54ac87e13d330p-55, -0x1.4ccf694ee43f9p-59,
     -0x1.13dd1e03d6079p-62},
    {0x1.1f7ce649d6631p-3, 0x1.4f49cebb03738p-8, 0x1.4e1737d4809c3p-12, 0x1.ff9322a6bb600p-17, 0x1.266ee7ed582a4p-21,
     0x1.1b97fd8d4fa45p-25, 0x1.e79031c31b6d2p-30, 0x1.30478062bc47dp-34, 0x1.0f64dde653814p-38, 0x1.0ec0a1499c6c6p-42,
     0x1.77ba58181d9c5p-47, 0x1.37f2cf6a80e7bp-51, 0x1.6c33c234338dbp-55, 0x1.17acc3b488fffp-59, 0x1.a7bc687a03357p-64,
     0x1.1f8db135c794bp-67},
    {-0x1.f13d8cfe759adp-4, -0x1.ad6446eff5c32p-9, -0x1.76db0264fde6fp-13, -0x1.cc5affd710ddbp-18, -0x1.a126d4198154fp-23,
     -0x1.47c92a288de71p-27, -0x1.c5ee072f63d9dp-32, -0x1.bd6314d24c46ap-37, -0x1.405e89d0581eap-41, -0x1.030f97238bfa0p-45,
     -0x1.1b16f6183baf5p-50, -0x1.779fbf03d2761p-55, -0x1.67046e097d5b9p-59, -0x1.b438bb1e6d93bp-64, -0x1.05df8fb465bd9p-68,
     -0x1.264c1cb862969p-72},
};

template <class P, std::size_t... I>
TENURE_KERNEL_INLINE P digamma_piece(P d, P index, std::index_sequence<I...>) {
  P sum = lookup16(digamma_pieces[15], index);
  ((sum = fma(sum, d, lookup16(digamma_pieces[14 - I], index))), ...);
  return sum;
}

// digamma(b) for b >= 0, and NaN. -0 gives inf.
template <class P>
TENURE_KERNEL_LAYER P digamma_by_pieces(P b) {
  const P one = set1<P>(1);
  const mask_of<P> small = lt(b, one), large = ge(b, set1<P>(32));
  // A piece is 5 / 16 wide in the exponent plus the fraction, a piecewise linear logarithm. The factor is just below 3.2, so that 1 is in the
  // first piece.
  const P y = select(small, add(b, one), b);
  const P exponent = _mm512_maskz_getexp_pd(every_lane<P>, y), part = _mm512_maskz_getmant_pd(every_lane<P>, y, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
  const P index = fma(add(exponent, sub(part, set1<P>(1 + 0.5 / 3.2))), set1<P>(0x1.9999999999999p+1), set1<P>(layout<P>::shifter));
  P value = digamma_piece(sub(y, lookup16(digamma_pieces[0], index)), index, std::make_index_sequence<14>());
  if (any<P>(small)) value = select(small, sub(value, div(one, select(small, b, one))), value);
  if (any<P>(large)) {
    const P c = select(large, b, set1<P>(32)), q = div(one, c);
    const P s = horner<P>(mul(q, q), {0x1.5555555555551p-4, -0x1.111111101a257p-7, 0x1.04101a6ab8682p-8, -0x1.1019bf84a1d58p-8});
    value = select(large, sub(log(c), mul(q, fma(q, s, set1<P>(0.5)))), value);
  }
  return value;
}

}  // namespace tenure::math::detail

#endif
