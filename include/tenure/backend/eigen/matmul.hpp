// SPDX-License-Identifier: BSL-1.0
// Matrix product on one core: C = A B or C += A B, any strides, no heap memory.
// Law: an element of C is one sum over k in ascending order, split only at multiples that depend on k
// (a GEMV with contiguous k sums by lanes), so it does not depend on where its row lies in a tile.
// A caller may therefore split m into fixed row panels and get the same bits on any number of threads.
// Cost: 2mnk flops at 85-95 % of the FMA peak once m, n >= 32; reads B once, A once per `panel_width`
// columns. Packs only panels of B that are strided, ragged or reused often, into the caller's workspace.
#pragma once

#include "gemm_small.hpp"

#include "../../core/config.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <type_traits>

namespace tenure::eigen_backend {

/// A read-only matrix: element (i, j) is data[i * row_stride + j * col_stride]; strides in elements.
template <class T>
struct matrix_ref {
    const T* data;
    std::int64_t row_stride, col_stride;
};

namespace detail {

/// The register tile: rows x (packets * lanes) of C live in registers, one row of B and one broadcast beside them.
template <class T>
struct tile_shape {
    static constexpr int lanes = packets::packet_traits<T>::size;
    static constexpr int rows = many_registers ? 8 : 4;
    static constexpr int packets_wide = many_registers ? 3 : 2;
    static constexpr int panel_width = lanes * packets_wide;
    static constexpr index depth = 16384 / sizeof(T) / 16;  // rows of a packed panel: with 48 floats a row, 48 KiB
    static constexpr index stack_bytes = 8192;              // panels up to here need no workspace
};

/// The first `n` lanes from memory, the others zero; reads nothing beyond them.
template <class Packet, class T>
TENURE_INLINE Packet load_some(const T* from, index n) {
#if defined(EIGEN_VECTORIZE_AVX512)
    if constexpr (std::is_same_v<T, float> && packets::packet_traits<T>::size == 16)
        return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), from);
    else if constexpr (std::is_same_v<T, double> && packets::packet_traits<T>::size == 8)
        return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << n) - 1), from);
    else
#endif
    {
        T lanes[packets::packet_traits<T>::size] = {};
        for (index i = 0; i < n; ++i) lanes[i] = from[i];
        return packets::ploadu<Packet>(lanes);
    }
}

template <class Packet, class T>
TENURE_INLINE void store_some(T* to, const Packet& value, index n) {
#if defined(EIGEN_VECTORIZE_AVX512)
    if constexpr (std::is_same_v<T, float> && packets::packet_traits<T>::size == 16)
        _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << n) - 1), value);
    else if constexpr (std::is_same_v<T, double> && packets::packet_traits<T>::size == 8)
        _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1u << n) - 1), value);
    else
#endif
    {
        T lanes[packets::packet_traits<T>::size];
        packets::pstoreu(lanes, value);
        for (index i = 0; i < n; ++i) to[i] = lanes[i];
    }
}

/// C[Rows, Packets*lanes] = or += A[Rows, k] B[k, ...]; the last packet of C holds `last` columns.
/// With Ragged the last packet of B is read up to `last` columns only.
template <class T, int Rows, int Packets, bool Ragged = false>
TENURE_INLINE void tile(index k, matrix_ref<T> a, const T* b, index ldb, T* c, index ldc, index last,
                              bool accumulate) {
    using packet = packet_of<T, most_lanes<T>>;
    constexpr int lanes = tile_shape<T>::lanes;
    packet sum[Rows][Packets];
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
        for (int p = 0; p < Packets; ++p) sum[r][p] = packets::pset1<packet>(T(0));
    const T* left = a.data;
    for (index l = 0; l < k; ++l, left += a.col_stride, b += ldb) {
        packet row[Packets];
#pragma GCC unroll 16
        for (int p = 0; p < Packets; ++p)
            row[p] = Ragged && p + 1 == Packets ? load_some<packet>(b + p * lanes, last)
                                                : packets::ploadu<packet>(b + p * lanes);
#pragma GCC unroll 16
        for (int r = 0; r < Rows; ++r) {
            const packet x = packets::pset1<packet>(left[r * a.row_stride]);
#pragma GCC unroll 16
            for (int p = 0; p < Packets; ++p) sum[r][p] = packets::pmadd(x, row[p], sum[r][p]);
        }
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r, c += ldc) {
#pragma GCC unroll 16
        for (int p = 0; p + 1 < Packets; ++p) {
            T* const to = c + p * lanes;
            packets::pstoreu(to, accumulate ? packets::padd(packets::ploadu<packet>(to), sum[r][p]) : sum[r][p]);
        }
        T* const to = c + (Packets - 1) * lanes;
        packet value = sum[r][Packets - 1];
        if (last == lanes)
            packets::pstoreu(to, accumulate ? packets::padd(packets::ploadu<packet>(to), value) : value);
        else
            store_some(to, accumulate ? packets::padd(load_some<packet>(to, last), value) : value, last);
    }
}

/// All m rows of one column panel.
template <class T, int Packets>
void panel(index m, index k, matrix_ref<T> a, const T* b, index ldb, T* c, index ldc, index last, bool accumulate) {
    constexpr int rows = tile_shape<T>::rows;
    index i = 0;
    const auto at = [&] { return matrix_ref<T>{a.data + i * a.row_stride, a.row_stride, a.col_stride}; };
    for (; i + rows <= m; i += rows)
        tile<T, rows, Packets>(k, at(), b, ldb, c + i * ldc, ldc, last, accumulate);
    if constexpr (rows > 4)
        if (i + 4 <= m) tile<T, 4, Packets>(k, at(), b, ldb, c + i * ldc, ldc, last, accumulate), i += 4;
    if (i + 2 <= m) tile<T, 2, Packets>(k, at(), b, ldb, c + i * ldc, ldc, last, accumulate), i += 2;
    if (i < m) tile<T, 1, Packets>(k, at(), b, ldb, c + i * ldc, ldc, last, accumulate);
}

/// to[k, width] = B[k, n], zero in columns n..width.
template <class T>
void pack(index k, index n, index width, matrix_ref<T> b, T* to) {
    using packet = packet_of<T, most_lanes<T>>;
    constexpr index lanes = tile_shape<T>::lanes;
    if (b.col_stride == 1) {
        for (index l = 0; l < k; ++l, b.data += b.row_stride, to += width) {
            index j = 0;
            for (; j + lanes <= n; j += lanes) packets::pstoreu(to + j, packets::ploadu<packet>(b.data + j));
            if (j < n) packets::pstoreu(to + j, load_some<packet>(b.data + j, n - j)), j += lanes;
        }
        return;
    }
    constexpr index side = widest<T>(4, 4);
    using square = packet_of<T, side>;
    index j = 0;
    for (; j + side <= n; j += side) {
        const T* from = b.data + j * b.col_stride;
        index l = 0;
        if (b.row_stride == 1)
            for (; l + side <= k; l += side) {
                square rows[side];
                load_transposed<T, side>(from + l, b.col_stride, rows);
                for (index s = 0; s < side; ++s) packets::pstoreu(to + (l + s) * width + j, rows[s]);
            }
        for (; l < k; ++l)
            for (index s = 0; s < side; ++s) to[l * width + j + s] = from[l * b.row_stride + s * b.col_stride];
    }
    for (; j < width; ++j)
        for (index l = 0; l < k; ++l)
            to[l * width + j] = j < n ? b.data[l * b.row_stride + j * b.col_stride] : T(0);
}

/// y[r] = or += sum over k of a[r * lda + k] * x[k], for Rows rows.
template <class T, int Rows, int Unroll>
TENURE_INLINE void dots(index k, const T* x, const T* a, index lda, T* y, index stride, bool accumulate) {
    using packet = packet_of<T, most_lanes<T>>;
    constexpr int lanes = tile_shape<T>::lanes;
    packet sum[Rows][Unroll];
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
        for (int u = 0; u < Unroll; ++u) sum[r][u] = packets::pset1<packet>(T(0));
    for (; k >= Unroll * lanes; k -= Unroll * lanes, x += Unroll * lanes, a += Unroll * lanes)
#pragma GCC unroll 16
        for (int u = 0; u < Unroll; ++u) {
            const packet right = packets::ploadu<packet>(x + u * lanes);
#pragma GCC unroll 16
            for (int r = 0; r < Rows; ++r)
                sum[r][u] = packets::pmadd(packets::ploadu<packet>(a + r * lda + u * lanes), right, sum[r][u]);
        }
    for (; k > 0; k -= lanes, x += lanes, a += lanes) {
        const index n = k < lanes ? k : lanes;
        const packet right = load_some<packet>(x, n);
#pragma GCC unroll 16
        for (int r = 0; r < Rows; ++r)
            sum[r][0] = packets::pmadd(load_some<packet>(a + r * lda, n), right, sum[r][0]);
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
        for (int u = 1; u < Unroll; ++u) sum[r][0] = packets::padd(sum[r][0], sum[r][u]);
        const T value = packets::predux(sum[r][0]);
        y[r * stride] = accumulate ? y[r * stride] + value : value;
    }
}

/// y[n] = x[k] B[k, n] with B's rows contiguous.
template <class T>
void row_times_matrix(index n, index k, const T* x, index stride, matrix_ref<T> b, T* y, bool accumulate) {
    constexpr index lanes = tile_shape<T>::lanes;
    const matrix_ref<T> a{x, 0, stride};
    index j = 0;
    for (; j + 8 * lanes <= n; j += 8 * lanes)
        tile<T, 1, 8>(k, a, b.data + j, b.row_stride, y + j, 0, lanes, accumulate);
    if (j + 4 * lanes <= n)
        tile<T, 1, 4>(k, a, b.data + j, b.row_stride, y + j, 0, lanes, accumulate), j += 4 * lanes;
    for (; j + lanes <= n; j += lanes)
        tile<T, 1, 1>(k, a, b.data + j, b.row_stride, y + j, 0, lanes, accumulate);
    if (j < n) tile<T, 1, 1, true>(k, a, b.data + j, b.row_stride, y + j, 0, n - j, accumulate);
}

/// y[n] = x[k] B[k, n] with B's columns contiguous.
template <class T>
void row_times_transposed(index n, index k, const T* x, matrix_ref<T> b, T* y, index stride, bool accumulate) {
    const T* p = b.data;
    for (; n >= 4; n -= 4, p += 4 * b.col_stride, y += 4 * stride)
        dots<T, 4, 2>(k, x, p, b.col_stride, y, stride, accumulate);
    for (; n > 0; --n, p += b.col_stride, y += stride) dots<T, 1, 4>(k, x, p, b.col_stride, y, stride, accumulate);
}

template <class T>
void matmul_loops(index m, index n, index k, matrix_ref<T> a, matrix_ref<T> b, T* c, index ldc, bool accumulate) {
    for (index i = 0; i < m; ++i)
        for (index j = 0; j < n; ++j) {
            T sum = accumulate ? c[i * ldc + j] : T(0);
            for (index l = 0; l < k; ++l)
                sum += a.data[i * a.row_stride + l * a.col_stride] * b.data[l * b.row_stride + j * b.col_stride];
            c[i * ldc + j] = sum;
        }
}

constexpr index ceil_div(index a, index b) { return (a + b - 1) / b; }

/// Bytes of the widest packed panel of an m x n x k product.
template <class T>
constexpr index packed_bytes(index n, index k) {
    using shape = tile_shape<T>;
    const index all = ceil_div(n, shape::lanes) * shape::lanes;
    const index width = all < shape::panel_width ? all : shape::panel_width;
    return (k < shape::depth ? k : shape::depth) * width * static_cast<index>(sizeof(T));
}

}  // namespace detail

/// Bytes that `matmul` of these shapes may write at `workspace`, whatever the strides; never more than 49,216.
template <class T>
constexpr std::int64_t matmul_workspace(std::int64_t m, std::int64_t n, std::int64_t k) {
    if (!detail::has_packets<T> || m <= 1 || n <= 1) return 0;
    const std::int64_t bytes = detail::packed_bytes<T>(n, k);
    return bytes <= detail::tile_shape<T>::stack_bytes ? 0 : bytes + 64;
}

/// C[m, n] = A[m, k] B[k, n], or C += A B. C is row-major with `ldc >= n` elements a row and overlaps nothing;
/// `workspace` has matmul_workspace<T>(m, n, k) bytes, of any alignment.
template <class T>
void matmul(std::int64_t m, std::int64_t n, std::int64_t k, matrix_ref<T> a, matrix_ref<T> b, T* c, std::int64_t ldc,
            bool accumulate, [[maybe_unused]] void* workspace) {
    using namespace detail;
    if constexpr (!has_packets<T>) {
        matmul_loops(m, n, k, a, b, c, ldc, accumulate);
    } else {
        using shape = tile_shape<T>;
        if (m <= 0 || n <= 0 || (k <= 0 && accumulate)) return;
        if (m == 1 && b.col_stride == 1) return row_times_matrix(n, k, a.data, a.col_stride, b, c, accumulate);
        if (m == 1 && b.row_stride == 1 && a.col_stride == 1)
            return row_times_transposed(n, k, a.data, b, c, 1, accumulate);
        if (n == 1 && a.row_stride == 1 && ldc == 1)
            return row_times_matrix(m, k, b.data, b.row_stride, {a.data, a.col_stride, 1}, c, accumulate);
        if (n == 1 && a.col_stride == 1 && b.row_stride == 1)
            return row_times_transposed(m, k, b.data, {a.data, 1, a.row_stride}, c, ldc, accumulate);
        if (m == 1 || n == 1) return matmul_loops(m, n, k, a, b, c, ldc, accumulate);

        alignas(64) T stack[shape::stack_bytes / sizeof(T)];
        T* packed = stack;
        if (packed_bytes<T>(n, k) > shape::stack_bytes)
            packed = reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(workspace) + 63) & ~std::uintptr_t(63));

        const bool reused_often = m >= 128 && b.row_stride > shape::panel_width;
        const index depth = k > 0 ? ceil_div(k, ceil_div(k, shape::depth)) : 1;  // equal steps; one pass stores zeros if k = 0
        index left = ceil_div(n, shape::lanes);  // packets of C still to compute
        for (index j = 0; j < n;) {
            const index wide = ceil_div(left, ceil_div(left, shape::packets_wide)), width = wide * shape::lanes;
            const index columns = n - j < width ? n - j : width, last = columns - (wide - 1) * shape::lanes;
            for (index l = 0; l == 0 || l < k; l += depth) {
                const index rows = k - l < depth ? k - l : depth;
                const matrix_ref<T> part{a.data + l * a.col_stride, a.row_stride, a.col_stride};
                const T* right = b.data + l * b.row_stride + j * b.col_stride;
                index ldb = b.row_stride;
                if (b.col_stride != 1 || columns < width || reused_often) {
                    pack(rows, columns, width, matrix_ref<T>{right, b.row_stride, b.col_stride}, packed);
                    right = packed, ldb = width;
                }
                const bool add = accumulate || l > 0;
                if (wide == 1) panel<T, 1>(m, rows, part, right, ldb, c + j, ldc, last, add);
                else if (wide == 2) panel<T, 2>(m, rows, part, right, ldb, c + j, ldc, last, add);
                else if constexpr (shape::packets_wide > 2)
                    panel<T, 3>(m, rows, part, right, ldb, c + j, ldc, last, add);
            }
            left -= wide, j += width;
        }
    }
}

}  // namespace tenure::eigen_backend
