// SPDX-License-Identifier: BSL-1.0
// The tables of piecewise.hpp. The rows are: the value at the centres, the slope there, the low part of the value, for float erf
// the low part of the slope, and the higher coefficients. Each piece is a Remez fit of (f(c + d) - f(c)) / d, weighted for the
// relative error of f.
#pragma once

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::TENURE_LANES(math)::detail {

// erf on [0, 6.09), pieces of width 13/16, relative error 2^-59.3. Above 1 numbers lie twice as far apart. So where the line would pass 1, the
// value is lower, and its low part is higher by as much. At 5.925 the sum is 1.
alignas(64) inline constexpr double erf_pieces_double[18][8] = {
    {0, 0x1.7fb9bfaed8078p-1, 0x1.ef43025216edfp-1, 0x1.ff6214529f62bp-1,
     0x1.fffe721c19f8bp-1, 0x1.fffffef4474a1p-1, 0x1.ffffffffcfe4dp-1, 0x1.fffffffffffe9p-1},
    {0x1.20dd750429b6dp+0, 0x1.2a8dcede3673bp-1, 0x1.499d478bca739p-4, 0x1.84ba3004a50c1p-9,
     0x1.e9b5e8d00ce1dp-16, 0x1.4980cb3c81774p-24, 0x1.d9a880f2db7ap-35, 0x1.6ba91ab81cb67p-47},
    {0, 0x1.66cf14bcad032p-56, 0x1.6ce459193a5f6p-7, 0x1.4ea68f8211003p-11,
     0x1.fb069bd94f0f2p-18, 0x1.79c0108a8279cp-26, 0x1.219daf45967a1p-36, 0x1.e40583bc57126p-50},
    {0x1.1becc8fe257cfp-62, -0x1.e5267029187c5p-2, -0x1.0bcfca21947dcp-3, -0x1.d9c2ea85a9261p-8,
     -0x1.8de3cd290a839p-14, -0x1.4ea6ce697289bp-22, -0x1.20a2ae941966bp-32, -0x1.028a390447515p-44},
    {-0x1.812746b0379e8p-2, 0x1.fe0796bb9cf31p-5, 0x1.d6631e1a289dcp-4, 0x1.60898536e149ap-7,
     0x1.9aa489e3cbad1p-13, 0x1.b771d9b6d01ap-21, 0x1.cb2a2e5958daep-31, 0x1.e292875b3a1fcp-43},
    {0x1.340b5007e8e12p-48, 0x1.0fa23021ad8b1p-3, -0x1.974c036866f79p-5, -0x1.5eb1c899f14f6p-7,
     -0x1.2c7d5ef052a77p-12, -0x1.a26c653faf792p-20, -0x1.0bc6ecf649d7cp-29, -0x1.4c4e69808d4f4p-41},
    {0x1.ce2f21a03f6dep-4, -0x1.fa21ebca6f386p-5, -0x1.17d430ba2ce95p-9, 0x1.d854f73e4607ep-8,
     0x1.490a4d22e9001p-12, 0x1.3302bb8be8ep-19, 0x1.e7ba5725016f4p-29, 0x1.67e6d9b20b45p-40},
    {0x1.616d006b8c19cp-38, -0x1.31546d5d446b4p-6, 0x1.d857f2c493c5bp-7, -0x1.897719a943c98p-9,
     -0x1.145464ea74aafp-12, -0x1.67f42e5226a9ep-19, -0x1.6893476e34e8dp-28, -0x1.3f00d179d8e05p-39},
    {-0x1.b82ce32abb9ep-6, 0x1.37e5469c958f8p-6, -0x1.954ab131ff61ap-8, 0x1.88cdc928a41e2p-12,
     0x1.647f722793303p-13, 0x1.58b4ad48d3f8ep-19, 0x1.bc2ac8a62186p-28, 0x1.db89d3d7c174bp-39},
    {0x1.259d6b176eb67p-30, 0x1.0979752a21be9p-13, -0x1.2e43eeb224ae2p-11, 0x1.b325a098c591ap-12,
     -0x1.567479a636091p-14, -0x1.10f576803d598p-19, -0x1.d00ffca1fd76ap-28, -0x1.2fe5ebc6f4877p-38},
    {0x1.565ba5395bf9fp-8, -0x1.e82aae7e5a88p-9, 0x1.71cd8b7e9b731p-10, -0x1.381551e8b99d3p-12,
     0x1.b2c318af01641p-16, 0x1.66ca5471ab7cbp-20, 0x1.a05df3116cbcap-28, 0x1.51d2da0fb1249p-38},
    {0x1.f91f5337c6162p-25, 0x1.318235b2c5e49p-11, -0x1.7545791299bb5p-12, 0x1.2b1ff23ce3066p-14,
     -0x1.3893850f3e6f5p-19, -0x1.84ee0926fd48ap-21, -0x1.43759a3d4401cp-28, -0x1.4a43b43cdf4fdp-38},
    {-0x1.c052a09325a4bp-11, 0x1.1264df2f8a7b2p-11, -0x1.0790118cf894ap-13, 0x1.1ed98b182e0d8p-16,
     -0x1.806ddc7e11d4ap-19, 0x1.53b3177a78ef9p-22, 0x1.b52c904be077fp-29, 0x1.1eaad6a9143f4p-38},
    {0x1.fe61ba4d6ec68p-21, -0x1.4dc0cd98911a2p-13, 0x1.70fa188c03a5p-14, -0x1.29d480072745p-16,
     0x1.ff37c16cf7777p-20, -0x1.c09f59a8833e1p-24, -0x1.0127f67f428cp-29, -0x1.bb157382758a9p-39},
    {0x1.ef8cd7a50f5ebp-14, -0x1.c41facc751054p-15, -0x1.18f2791026bb1p-18, 0x1.1c428f8b825fap-18,
     -0x1.269e4c4a90c55p-21, 0x1.643ad09be3789p-26, 0x1.05faeba2969a1p-30, 0x1.2d4d2a215386cp-39},
    {0x1.2461346368508p-18, 0x1.c789bf0279c86p-16, -0x1.641955b58333dp-17, 0x1.d2a9c368d6e9dp-21,
     0x1.96a6b679064e3p-29, 0x1.ea1bc4079d416p-30, -0x1.cbda5ae27538cp-32, -0x1.782e445230f8ep-40},
    {-0x1.55372a625aa59p-16, 0x1.ec73c6e2bfd58p-19, 0x1.53c9131bb448fp-19, -0x1.9e8c9ae81c92ep-21,
     0x1.257ea68355495p-24, -0x1.0310123cf4fe3p-28, 0x1.5ebf1036b9538p-33, 0x1.f2240ba60a2ecp-41},
    {0x1.1b7277c944f62p-18, -0x1.b6b557e0bbf78p-19, 0x1.68a5788c40f7p-21, 0x1.09d9f15d31b53p-23,
     -0x1.be63ce575919p-26, 0x1.b15130f130064p-30, -0x1.8951ddc4a929fp-35, -0x1.ebb7f2aac74edp-42},
};

// erf on [0, 3.99), pieces of width 33/128, relative error 2^-30.6.
alignas(64) inline constexpr float erf_pieces_float[9][16] = {
    {0, 0x1.236bfp-2f, 0x1.117894p-1f, 0x1.73b102p-1f, 0x1.b5e63p-1f, 0x1.dd0788p-1f, 0x1.f14e82p-1f, 0x1.fa84fep-1f,
     0x1.fe308p-1f, 0x1.ff789ep-1f, 0x1.ffdd18p-1f, 0x1.fff81p-1f, 0x1.fffe68p-1f, 0x1.ffffb8p-1f, 0x1.fffff4p-1f, 0x1.fffffep-1f},
    {0x1.20dd76p+0f, 0x1.0e4a08p+0f, 0x1.bada5ap-1f, 0x1.3da26ep-1f, 0x1.8eed38p-2f, 0x1.b6a856p-3f, 0x1.a64de6p-4f, 0x1.63f3f4p-5f,
     0x1.06ae12p-6f, 0x1.536fc2p-8f, 0x1.8005f6p-10f, 0x1.7c62aep-12f, 0x1.49e1ap-14f, 0x1.f4f1a8p-17f, 0x1.4d02c4p-19f, 0x1.83a32p-22f},
    {0, -0x1.f68998p-28f, -0x1.ea4bdep-26f, 0x1.fc0cb8p-29f, -0x1.8f4fb6p-28f, -0x1.5d1318p-27f, 0x1.1e8c54p-29f, 0x1.781724p-27f,
     -0x1.a95f86p-26f, 0x1.6c261ap-26f, -0x1.5e3dbcp-26f, -0x1.dbb80cp-31f, 0x1.e9f4eep-26f, 0x1.cf297ap-28f, 0x1.bbc024p-26f, 0x1.ed3208p-27f},
    {-0x1.f72b12p-25f, -0x1.b7008ep-25f, -0x1.d2b128p-27f, -0x1.e8c4f8p-28f, -0x1.aa4bd6p-27f, 0x1.c12388p-28f, -0x1.17b114p-30f, 0x1.14fbaep-31f,
     0x1.53b0cp-32f, -0x1.879ebp-33f, 0x1.82f24p-38f, -0x1.a18ebep-40f, -0x1.c279e4p-39f, 0x1.23b16ap-42f, 0x1.72c986p-44f, 0x1.933b8cp-47f},
    {-0x1.1af70ap-25f, -0x1.16bc52p-2f, -0x1.c8b12cp-2f, -0x1.eb5742p-2f, -0x1.9b64a2p-2f, -0x1.1aba8p-2f, -0x1.46a04p-3f, -0x1.413122p-4f,
     -0x1.0ee384p-5f, -0x1.89cca6p-7f, -0x1.ef07a6p-9f, -0x1.0dafecp-10f, -0x1.fe48dcp-13f, -0x1.a3bc46p-15f, -0x1.2c7d4p-17f, -0x1.76c3bcp-20f},
    {-0x1.81267ep-2f, -0x1.387974p-2f, -0x1.147f7ep-3f, 0x1.4cb1a8p-5f, 0x1.2bb528p-3f, 0x1.53b834p-3f, 0x1.0a73a2p-3f, 0x1.471d36p-4f,
     0x1.48b276p-5f, 0x1.144b26p-6f, 0x1.896776p-8f, 0x1.de2482p-10f, 0x1.f2aa8cp-12f, 0x1.bfef98p-14f, 0x1.5b83p-16f, 0x1.d2ab22p-19f},
    {-0x1.9f51e4p-14f, 0x1.0a5a52p-3f, 0x1.77bda4p-3f, 0x1.2765ap-3f, 0x1.deea22p-5f, -0x1.e785c2p-7f, -0x1.84d206p-5f, -0x1.783474p-5f,
     -0x1.f15866p-6f, -0x1.fdd458p-7f, -0x1.a8a23cp-8f, -0x1.2610f8p-9f, -0x1.5731fp-11f, -0x1.5462fp-13f, -0x1.209522p-15f, -0x1.a40892p-18f},
    {0x1.d444f4p-4f, 0x1.3e41cp-4f, 0x1.75f9fap-9f, -0x1.cceef4p-5f, -0x1.14f4e4p-4f, -0x1.585ca8p-5f, -0x1.41cf3p-7f, 0x1.27daf6p-7f,
     0x1.a7b404p-7f, 0x1.333b8p-7f, 0x1.411d72p-8f, 0x1.080758p-9f, 0x1.626bb2p-11f, 0x1.8c152ap-13f, 0x1.74f1fap-15f, 0x1.2a385ep-17f},
    {-0x1.514614p-7f, -0x1.4c35fap-5f, -0x1.924bfp-5f, -0x1.875742p-6f, 0x1.eef4ep-8f, 0x1.661f16p-6f, 0x1.2013f4p-6f, 0x1.baeb26p-8f,
     -0x1.9eb9fp-11f, -0x1.9396e4p-9f, -0x1.42cc6ap-9f, -0x1.53753ap-10f, -0x1.0f9928p-11f, -0x1.5c95fep-13f, -0x1.7053cep-15f, -0x1.455078p-17f},
};

// tanh on [0, 9.08), pieces of width 75/128, relative error 2^-29.3. The last piece is no fit, which would end at 1 - 2^-24, but a step: its value
// is 1 - 2^-24, and the two other terms reach half of 2^-24 at 9.0109, from where on tanh rounds to 1.
alignas(64) inline constexpr float tanh_pieces_float[9][16] = {
    {0, 0x1.0dcebp-1f, 0x1.a655aap-1f, 0x1.e26faap-1f, 0x1.f6a7c4p-1f, 0x1.fd163ap-1f, 0x1.ff1884p-1f, 0x1.ffb83ep-1f,
     0x1.ffe9c4p-1f, 0x1.fff91cp-1f, 0x1.fffddep-1f, 0x1.ffff56p-1f, 0x1.ffffccp-1f, 0x1.fffffp-1f, 0x1.fffffap-1f, 0x1.fffffep-1f},
    {0x1p+0f, 0x1.71d1fep-1f, 0x1.474176p-2f, 0x1.cb5d4ap-4f, 0x1.284cdp-5f, 0x1.73d3c2p-7f, 0x1.ce8fcp-9f, 0x1.1ef07ep-10f,
     0x1.63b17p-12f, 0x1.b8ce54p-14f, 0x1.111edcp-15f, 0x1.527062p-17f, 0x1.a3602p-19f, 0x1.03d54ep-20f, 0x1.41f86cp-22f, 0},
    {0, 0x1.bf103ap-30f, 0x1.9df5eep-28f, 0x1.db83c4p-28f, 0x1.aeddd4p-26f, -0x1.4fc4fp-26f, -0x1.a12ff4p-28f, 0x1.b2ec7cp-26f,
     0x1.b5976p-27f, 0x1.75ab48p-26f, -0x1.f6d602p-28f, 0x1.8f6698p-26f, -0x1.b01ac2p-27f, -0x1.eaa8cp-28f, 0x1.f03c9p-26f, 0},
    {-0x1.5e19ccp-23f, -0x1.85c442p-2f, -0x1.0df1c8p-2f, -0x1.b0d6e6p-4f, -0x1.22e46p-5f, -0x1.71b62ap-7f, -0x1.cdbea6p-9f, -0x1.1ec84ep-10f,
     -0x1.63a206p-12f, -0x1.b8c87p-14f, -0x1.111dbep-15f, -0x1.526ffap-17f, -0x1.a36p-19f, -0x1.03d54cp-20f, -0x1.41f872p-22f, 0x1.7295eap-22f},
    {-0x1.555314p-2f, -0x1.493e9ap-5f, 0x1.c6578p-4f, 0x1.fd7336p-5f, 0x1.75a1ep-6f, 0x1.e754cp-8f, 0x1.32bdf4p-9f, 0x1.7df536p-11f,
     0x1.da043p-13f, 0x1.25d30ep-14f, 0x1.6c24a2p-16f, 0x1.c33ecep-18f, 0x1.17951cp-19f, 0x1.5a71a4p-21f, 0x1.ad4b3ap-23f, 0x1.3aff6ep-20f},
    {-0x1.615124p-13f, 0x1.2f3abap-3f, -0x1.d86868p-9f, -0x1.7f1024p-6f, -0x1.59cc5cp-7f, -0x1.dc27ep-9f, -0x1.308d46p-10f, -0x1.7d17c4p-12f,
     -0x1.d9a872p-14f, -0x1.25bd56p-15f, -0x1.6c1734p-17f, -0x1.c33358p-19f, -0x1.178fp-20f, -0x1.5a6a74p-22f, -0x1.ad4278p-24f, 0},
    {0x1.143976p-3f, -0x1.8cde36p-5f, -0x1.b92018p-6f, 0x1.f0bd48p-9f, 0x1.d2f454p-9f, 0x1.6b414p-10f, 0x1.e05d36p-12f, 0x1.2f89c6p-13f,
     0x1.7a69a2p-15f, 0x1.d5c93ep-17f, 0x1.233c16p-18f, 0x1.68f23p-20f, 0x1.bf49dp-22f, 0x1.1521b8p-23f, 0x1.57684cp-25f, 0},
    {-0x1.c4433cp-8f, -0x1.0916ep-5f, 0x1.18a304p-6f, 0x1.082ddp-9f, -0x1.8a0e44p-11f, -0x1.b7cd4p-12f, -0x1.3a166ep-13f, -0x1.95ace8p-15f,
     -0x1.fd135cp-17f, -0x1.3ca35p-18f, -0x1.88d4fp-20f, -0x1.e6f4bp-22f, -0x1.2dbd12p-23f, -0x1.75e90ep-25f, -0x1.cf554ep-27f, 0},
    {-0x1.4f82dap-5f, 0x1.d73a94p-6f, -0x1.9ee892p-9f, -0x1.f9d59ep-10f, -0x1.fc277cp-17f, 0x1.8a2d1ap-14f, 0x1.51159cp-15f, 0x1.c70ff2p-17f,
     0x1.213838p-18f, 0x1.693098p-20f, 0x1.c0a4dep-22f, 0x1.162c88p-23f, 0x1.58c6cep-25f, 0x1.ab41fap-27f, 0x1.08b8eep-28f, 0},
};

}  // namespace tenure::math::detail
