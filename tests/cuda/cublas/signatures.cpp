// SPDX-License-Identifier: BSL-1.0
// The functions that Tenure declares are those of cuBLAS and cuSOLVER: parameter by parameter, but that enumerations have names of their own.
#include <cublas_v2.h>
#include <cusolverDn.h>

#include <type_traits>

#include <tenure/backend/cuda/cusolver.hpp>

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

namespace solver = tenure::cuda_backend::cusolver;
using floats = solver::lapack<float>;
using doubles = solver::lapack<double>;

static_assert(is_alike(solver::create, cusolverDnCreate) && is_alike(solver::destroy, cusolverDnDestroy) && is_alike(solver::set_stream, cusolverDnSetStream));
static_assert(is_alike(floats::potrf, cusolverDnSpotrf) && is_alike(doubles::potrf, cusolverDnDpotrf));
static_assert(is_alike(floats::potrf_size, cusolverDnSpotrf_bufferSize) && is_alike(doubles::potrf_size, cusolverDnDpotrf_bufferSize));
static_assert(is_alike(floats::getrf, cusolverDnSgetrf) && is_alike(doubles::getrf, cusolverDnDgetrf));
static_assert(is_alike(floats::getrf_size, cusolverDnSgetrf_bufferSize) && is_alike(doubles::getrf_size, cusolverDnDgetrf_bufferSize));
static_assert(is_alike(floats::geqrf, cusolverDnSgeqrf) && is_alike(doubles::geqrf, cusolverDnDgeqrf));
static_assert(is_alike(floats::geqrf_size, cusolverDnSgeqrf_bufferSize) && is_alike(doubles::geqrf_size, cusolverDnDgeqrf_bufferSize));
static_assert(is_alike(floats::orgqr, cusolverDnSorgqr) && is_alike(doubles::orgqr, cusolverDnDorgqr));
static_assert(is_alike(floats::orgqr_size, cusolverDnSorgqr_bufferSize) && is_alike(doubles::orgqr_size, cusolverDnDorgqr_bufferSize));
static_assert(is_alike(floats::syevd, cusolverDnSsyevd) && is_alike(doubles::syevd, cusolverDnDsyevd));
static_assert(is_alike(floats::syevd_size, cusolverDnSsyevd_bufferSize) && is_alike(doubles::syevd_size, cusolverDnDsyevd_bufferSize));
static_assert(is_alike(floats::gesvd, cusolverDnSgesvd) && is_alike(doubles::gesvd, cusolverDnDgesvd));
static_assert(is_alike(floats::gesvd_size, cusolverDnSgesvd_bufferSize) && is_alike(doubles::gesvd_size, cusolverDnDgesvd_bufferSize));
static_assert(is_alike(floats::getrs, cusolverDnSgetrs) && is_alike(doubles::getrs, cusolverDnDgetrs));
static_assert(is_alike(floats::trsm, cublasStrsm_v2_64) && is_alike(doubles::trsm, cublasDtrsm_v2_64));

static_assert(static_cast<int>(solver::status::success) == CUSOLVER_STATUS_SUCCESS);
static_assert(static_cast<int>(solver::triangle::lower) == CUBLAS_FILL_MODE_LOWER && static_cast<int>(solver::triangle::upper) == CUBLAS_FILL_MODE_UPPER);
static_assert(static_cast<int>(solver::vectors::none) == CUSOLVER_EIG_MODE_NOVECTOR && static_cast<int>(solver::vectors::all) == CUSOLVER_EIG_MODE_VECTOR);
static_assert(static_cast<int>(solver::side::left) == CUBLAS_SIDE_LEFT && static_cast<int>(solver::side::right) == CUBLAS_SIDE_RIGHT);
static_assert(static_cast<int>(solver::diagonal::stored) == CUBLAS_DIAG_NON_UNIT && static_cast<int>(solver::diagonal::ones) == CUBLAS_DIAG_UNIT);

}  // namespace
