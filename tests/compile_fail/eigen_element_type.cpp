// SPDX-License-Identifier: BSL-1.0
// expect: tenure: from: the element type is not bool, uint8, int8, int32, int64, bfloat16, float16, float or double
#include <tenure/tenure.hpp>
#include <tenure/interop/eigen.hpp>
namespace tn = tenure;

#ifdef TENURE_MISUSE
using number = std::complex<double>;
#else
using number = double;
#endif

auto f(Eigen::Matrix<number, 3, 1>& v) { return tn::from(v).clone(); }
