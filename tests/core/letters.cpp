// SPDX-License-Identifier: BSL-1.0
// Law: a macro that users define with such a name, as by -DM=256, changes nothing in these headers, and it is defined behind them as before.
#define A 256
#define B 256
#define C 256
#define D 256
#define E 256
#define F 256
#define G 256
#define H 256
#define I 256
#define J 256
#define K 256
#define L 256
#define M 256
#define N 256
#define O 256
#define P 256
#define R 256
#define S 256
#define T 256
#define U 256
#define V 256
#define W 256
#define X 256
#define Y 256
#define Z nonsense(
#include <tenure/tenure.hpp>
#include <tenure/debug_nans.hpp>
#include <tenure/interop/dlpack.hpp>
#include <tenure/interop/eigen.hpp>
#include <tenure/interop/mdspan.hpp>
#include <tenure/interop/safetensors.hpp>
#include <tenure/interop/save.hpp>
#include <tenure/picture.hpp>
#include <tenure/threads.hpp>

static_assert(A == 256 && B == 256 && C == 256 && D == 256 && E == 256 && F == 256 && G == 256 && H == 256 && I == 256 && J == 256 && K == 256 && L == 256 && M == 256 && N == 256 && O == 256 && P == 256 && R == 256 && S == 256 && T == 256 && U == 256 && V == 256 && W == 256 && X == 256 && Y == 256);
#if defined(Q) || !defined(Z)
#error "a macro is not as before"
#endif
#undef A
#undef B
#undef C
#undef D
#undef E
#undef F
#undef G
#undef H
#undef I
#undef J
#undef K
#undef L
#undef M
#undef N
#undef O
#undef P
#undef R
#undef S
#undef T
#undef U
#undef V
#undef W
#undef X
#undef Y
#undef Z

#include "catch.hpp"
namespace tn = tenure;

TEST_CASE("macros of one letter do not reach the headers") {
  const tn::tensor<double, tn::shape<2>> x({3, 4});
  CHECK(norm(x).item() == 5);
}
