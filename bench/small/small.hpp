// SPDX-License-Identifier: BSL-1.0
// What the programs of this folder share: static arrays of float64 and their copies in Eigen's matrices.
#pragma once

#include <harness.hpp>
#include <tenure/tenure.hpp>

#include <Eigen/Dense>

namespace bench::small {

namespace tn = tenure;

template <std::int64_t... E>
using array = tn::tensor<double, tn::shape<E...>>;
/// A row-major matrix of Eigen, and a vector.
template <int R, int C>
using matrix = Eigen::Matrix<double, R, C, (R == 1 || C != 1) ? Eigen::RowMajor : Eigen::ColMajor>;
template <int N>
using vector = Eigen::Matrix<double, N, 1>;

template <class... X>
void fill(unsigned seed, X&... x) {
  (bench::fill_uniform(bench::data_of(x), x.size(), -0.5, 0.5, seed++), ...);
}
/// The elements of a tensor as a matrix of Eigen.
template <class M, class X>
M as(const X& x) {
  M m;
  for (Eigen::Index i = 0; i < m.rows(); ++i)
    for (Eigen::Index j = 0; j < m.cols(); ++j) m(i, j) = x.data()[i * m.cols() + j];
  return m;
}
template <class X, class M>
void require_equal(const char* who, const X& x, const M& wanted) {
  for (Eigen::Index i = 0; i < wanted.rows(); ++i)
    for (Eigen::Index j = 0; j < wanted.cols(); ++j) {
      const double w = wanted(i, j);
      bench::require_agreement(who, x.data() + i * wanted.cols() + j, &w, 1, 1e-9);
    }
}

}  // namespace bench::small
