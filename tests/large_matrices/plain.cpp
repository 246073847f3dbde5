// SPDX-License-Identifier: BSL-1.0
// A unit of the same program without TENURE_EIGEN_DECOMPOSITIONS: Tenure's own kernels for all sizes.
#undef TENURE_EIGEN_DECOMPOSITIONS
#define TENURE_EIGEN_DECOMPOSITIONS 0
#include "plain.hpp"

#include <algorithm>
#include <typeinfo>

#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace plain {
namespace {
using batch = tn::tensor<double, tn::shape<tn::dyn, tn::dyn, tn::dyn>>;
batch matrices(std::int64_t samples, std::int64_t n, const double* a) {
  batch x(samples, n, n);
  std::copy_n(a, x.size(), tn::as_span(x).begin());
  return x;
}
}  // namespace

void eigenvalues(std::int64_t samples, std::int64_t n, const double* a, double* w) {
  const auto found = tn::compile([](auto x) { return std::get<0>(tn::eigh(x)); })(matrices(samples, n, a));
  std::copy_n(found.data(), samples * n, w);
}
void cholesky(std::int64_t samples, std::int64_t n, const double* a, double* l) {
  const auto found = tn::compile([](auto x) { return tn::cholesky(x); })(matrices(samples, n, a));
  std::copy_n(found.data(), samples * n * n, l);
}
const char* name_of_tensor() { return typeid(batch).name(); }
}  // namespace plain
