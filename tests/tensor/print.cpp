// SPDX-License-Identifier: BSL-1.0
// The expected texts are NumPy's (str(array)), followed by our line.
#include <tenure/tensor/print.hpp>

#include <tenure/tensor/factories.hpp>

#include <limits>
#include <sstream>

#include "../catch.hpp"

using namespace tenure;

namespace {
template <class X>
std::string text(const X& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}
}  // namespace

TEST_CASE("points stand below each other") {
  CHECK(text(tensor<float, shape<2, 3>>{{1, 2, 3}, {4, 5, 6}}) ==
        "[[1. 2. 3.]\n [4. 5. 6.]]\ntensor<float32, 2x3, owning>");
  CHECK(text(tensor<double, shape<3>>{1, 2.5, -0.125}) == "[ 1.     2.5   -0.125]\ntensor<float64, 3, owning>");
  CHECK(text(tensor<float, shape<2>>{0.1f, 10}) == "[ 0.1 10. ]\ntensor<float32, 2, owning>");
  CHECK(text(tensor<double, shape<2>>{1. / 3, 2}) == "[0.33333333 2.        ]\ntensor<float64, 2, owning>");
  CHECK(text(tensor<double, shape<2>>{1e10, 2.5e-3}) == "[1.0e+10 2.5e-03]\ntensor<float64, 2, owning>");
  CHECK(text(tensor<double, shape<1>>{1e-5}) == "[1.e-05]\ntensor<float64, 1, owning>");
  CHECK(text(tensor<double, shape<2>>{0, -0.0}) == "[ 0. -0.]\ntensor<float64, 2, owning>");
}

TEST_CASE("extents are printed as in messages") {
  CHECK(text(tensor<float, shape<2, 3>>().shape()) == "2x3");
  CHECK(text(tensor<float, shape<dyn>>(7).extents()) == "7");
  CHECK(text(tensor<float, shape<>>(1).shape()) == "scalar");
}

TEST_CASE("integers, bools, special values and scalars") {
  CHECK(text(tensor<std::int32_t, shape<3>>{1, -20, 300}) == "[  1 -20 300]\ntensor<int32, 3, owning>");
  CHECK(text(tensor<bool, shape<2>>{true, false}) == "[ True False]\ntensor<bool, 2, owning>");
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(text(tensor<double, shape<4>>{1, nan, inf, -inf}) == "[  1.  nan  inf -inf]\ntensor<float64, 4, owning>");
  CHECK(text(tensor<double, shape<2>>{nan, 1.5}) == "[nan 1.5]\ntensor<float64, 2, owning>");
  CHECK(text(tensor<double, shape<>>(2)) == "2.0\ntensor<float64, scalar, owning>");
  CHECK(text(tensor<std::int64_t, shape<>>(-7)) == "-7\ntensor<int64, scalar, owning>");
  CHECK(text(zeros<float>(shape<0, 3>{})) == "[]\ntensor<float32, 0x3, owning>");
}

TEST_CASE("bfloat16 has the fewest digits that read back as the same number") {
  using tenure::bfloat16;
  CHECK(text(tensor<bfloat16, shape<3>>{0.1, -25.6, 3.14159}) == "[  0.1  -25.6    3.14]\ntensor<bfloat16, 3, owning>");
  CHECK(text(tensor<bfloat16, shape<2>>{1e-8, 3e38}) == "[1.e-08 3.e+38]\ntensor<bfloat16, 2, owning>");
  CHECK(text(tensor<bfloat16, shape<>>(1.0 / 3)) == "0.334\ntensor<bfloat16, scalar, owning>");
}

TEST_CASE("the last line says ownership, role and access") {
  auto w = variable<float, shape<2>>{1, 2};
  CHECK(text(w) == "[1. 2.]\ntensor<float32, 2, owning, leaf>");
  CHECK(text(w.detach()) == "[1. 2.]\ntensor<float32, 2, detached>");
  const auto x = arange<float>(shape<4>{});
  CHECK(text(x[range(0, 4, 2)]) == "[0. 2.]\ntensor<float32, 2, aliasing, read_only>");
}

TEST_CASE("deeper axes are set apart by empty lines") {
  CHECK(text(arange<std::int32_t>(shape<8>{}).reshape<2, 2, 2>()) ==
        "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]\ntensor<int32, 2x2x2, aliasing>");
}

TEST_CASE("long rows wrap at 75 characters, more than 1000 elements are summarised") {
  CHECK(text(arange<std::int32_t>(shape<30>{})) ==
        "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
        " 24 25 26 27 28 29]\ntensor<int32, 30, owning>");
  // Each axis around a row takes a place for its bracket.
  const auto to_34 = arange<std::int32_t>(shape<34>{});
  CHECK(text(to_34[range(10, 34)].reshape<1, 1, 24>()) ==
        "[[[10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32\n   33]]]\ntensor<int32, 1x1x24, aliasing, read_only>");
  CHECK(text(arange<std::int32_t>(shape<1001>{})) ==
        "[   0    1    2 ...  998  999 1000]\ntensor<int32, 1001, owning>");
  CHECK(
      text(zeros<float>(shape<40, 30>{})) ==
      "[[0. 0. 0. ... 0. 0. 0.]\n [0. 0. 0. ... 0. 0. 0.]\n [0. 0. 0. ... 0. 0. 0.]\n ...\n"
      " [0. 0. 0. ... 0. 0. 0.]\n [0. 0. 0. ... 0. 0. 0.]\n [0. 0. 0. ... 0. 0. 0.]]\ntensor<float32, 40x30, owning>");
}
