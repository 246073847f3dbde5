// SPDX-License-Identifier: BSL-1.0
// Includes Eigen's packet primitives without its matrices. It includes Eigen's own headers up to the packets, in Eigen's order,
// if that list is known: for Eigen 3.4 on x86 with g++ or clang. Otherwise it includes <Eigen/Core>.
// Law: a program may include <Eigen/Core> or any other header of Eigen before or after this one, with the usual result.
// Cost: half the compile time of <Eigen/Core>, which saves half a second for each file with g++.
#pragma once

#include <tenure/core/config.hpp>

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__) && !defined(__CUDACC__) && !defined(__HIPCC__) && !defined(EIGEN_USE_SYCL) && \
    !defined(EIGEN_CORE_H) && !__has_include(<Eigen/src/Core/InternalHeaderCheck.h>)  // later versions of Eigen have this file
#include <Eigen/src/Core/util/Macros.h>
#if EIGEN_WORLD_VERSION == 3 && EIGEN_MAJOR_VERSION == 4 && EIGEN_MINOR_VERSION < 90
#define TENURE_EIGEN_IN_PARTS
#endif
#endif

#if !defined(TENURE_EIGEN_IN_PARTS)
#include "eigen_core.hpp"
#else

#include <array>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace Eigen {
using std::ptrdiff_t;
using std::size_t;
}  // namespace Eigen

TENURE_WARNINGS_OFF  // where functions of large packets are called and not inlined: gcc.gnu.org/PR105593
// clang-format off: the includes must be in Eigen's order
#include <Eigen/src/Core/util/DisableStupidWarnings.h>
#include <Eigen/src/Core/util/ConfigureVectorization.h>
#include <Eigen/src/Core/util/Constants.h>
#include <Eigen/src/Core/util/Meta.h>
#include <Eigen/src/Core/util/ForwardDeclarations.h>
#include <Eigen/src/Core/util/StaticAssert.h>
#include <Eigen/src/Core/util/XprHelper.h>
#include <Eigen/src/Core/util/Memory.h>
#include <Eigen/src/Core/NumTraits.h>
#include <Eigen/src/Core/MathFunctions.h>
#include <Eigen/src/Core/GenericPacketMath.h>
#include <Eigen/src/Core/MathFunctionsImpl.h>
#include <Eigen/src/Core/arch/Default/ConjHelper.h>
#include <Eigen/src/Core/arch/Default/Half.h>
#include <Eigen/src/Core/arch/Default/BFloat16.h>
#include <Eigen/src/Core/arch/Default/TypeCasting.h>
#include <Eigen/src/Core/arch/Default/GenericPacketMathFunctionsFwd.h>
#if defined(EIGEN_VECTORIZE_SSE)
#include <Eigen/src/Core/arch/SSE/PacketMath.h>
#include <Eigen/src/Core/arch/SSE/TypeCasting.h>
#endif
#if defined(EIGEN_VECTORIZE_AVX)
#include <Eigen/src/Core/arch/AVX/PacketMath.h>
#include <Eigen/src/Core/arch/AVX/TypeCasting.h>
#endif
#if defined(EIGEN_VECTORIZE_AVX512)
#include <Eigen/src/Core/arch/AVX512/PacketMath.h>
#include <Eigen/src/Core/arch/AVX512/TypeCasting.h>
#endif
#if defined(EIGEN_VECTORIZE_SSE)
#include <Eigen/src/Core/arch/SSE/MathFunctions.h>
#endif
#if defined(EIGEN_VECTORIZE_AVX)
#include <Eigen/src/Core/arch/AVX/MathFunctions.h>
#endif
#if defined(EIGEN_VECTORIZE_AVX512)
#include <Eigen/src/Core/arch/AVX512/MathFunctions.h>
#endif
#include <Eigen/src/Core/arch/Default/Settings.h>
#include <Eigen/src/Core/arch/Default/GenericPacketMathFunctions.h>  // defines functions that the headers above declare
#include <Eigen/src/Core/util/ReenableStupidWarnings.h>
// clang-format on
TENURE_WARNINGS_ON
#endif
