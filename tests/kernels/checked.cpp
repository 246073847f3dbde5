// SPDX-License-Identifier: BSL-1.0
// A check of samples on a GPU, on the host.
#include "check.hpp"

using namespace by_kernels;

TEST_CASE("a matrix that is not positive definite is refused by its number before anything is written") {
  constexpr auto f = [](auto a) { return std::tuple{a * 2.0, tn::cholesky(a, tn::checked)}; };
  tn::tensor<double, tn::shape<3, 2, 2>> a{{{2, 1}, {1, 3}}, {{1, 2}, {2, 1}}, {{2, 1}, {1, 3}}};
  using program = typename decltype(tn::compile(f).plan(a))::program_type;
  double first[12] = {7}, second[12] = {7};
  const void* const arguments[] = {a.data()};
  void* const results[] = {first, second};
  host::device device;
  CHECK_THROWS_WITH(tn::cuda_backend::run<program>(device, arguments, results, nullptr), "tenure: cholesky: matrix 1 of the batch is not positive definite");
  CHECK((first[0] == 7 && second[0] == 7));
  a.at(1, 0, 1) = 0, a.at(1, 1, 0) = 0;
  tn::cuda_backend::run<program>(device, arguments, results, nullptr);
  CHECK((first[0] == 4 && second[0] == Approx(std::sqrt(2.0)) && second[4] == 1));
}
