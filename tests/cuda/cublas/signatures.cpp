// SPDX-License-Identifier: BSL-1.0
// The functions that Tenure declares are those of cuBLAS: parameter by parameter, but that enumerations have names of their own.
#include <cublas_v2.h>

#include <type_traits>

#include <tenure/backend/cuda/cublas.hpp>

namespace {

namespace ours = tenure::cuda_backend::cublas;

template <class A, class B>
constexpr bool is_passed_alike =
    std::is_same_v<A, B> || (sizeof(A) == sizeof(B) && ((std::is_enum_v<A> && std::is_enum_v<B>) || (std::is_integral_v<A> && std::is_integral_v<B>)));

template <class A, class... X, class B, class... Y>
constexpr bool is_alike(A (*)(X...), B (*)(Y...)) {
  if constexpr (sizeof...(X) == sizeof...(Y)) return is_passed_alike<A, B> && (is_passed_alike<X, Y> && ...);
  else return false;
}
template <class T>
using gemm = ours::status (*)(ours::handle, ours::operation, ours::operation, std::int64_t, std::int64_t, std::int64_t, const T*, const T*, std::int64_t,
                              long long, const T*, std::int64_t, long long, const T*, T*, std::int64_t, long long, std::int64_t);

static_assert(is_alike(ours::create, cublasCreate_v2) && is_alike(ours::destroy, cublasDestroy_v2));
static_assert(is_alike(ours::set_stream, cublasSetStream_v2) && is_alike(ours::set_workspace, cublasSetWorkspace_v2));
static_assert(is_alike(ours::set_math_mode, cublasSetMathMode) && is_alike(ours::status_string, cublasGetStatusString));
static_assert(is_alike(gemm<float>(ours::gemm), cublasSgemmStridedBatched_64) && is_alike(gemm<double>(ours::gemm), cublasDgemmStridedBatched_64));

static_assert(static_cast<int>(ours::status::success) == CUBLAS_STATUS_SUCCESS);
static_assert(static_cast<int>(ours::operation::none) == CUBLAS_OP_N && static_cast<int>(ours::operation::transpose) == CUBLAS_OP_T);
static_assert(static_cast<int>(ours::math_mode::pedantic) == CUBLAS_PEDANTIC_MATH);

}  // namespace
