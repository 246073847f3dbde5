// SPDX-License-Identifier: BSL-1.0
// Slices along the first axis, read in their place as other shapes: by kernels, products, gathers, parts of concats, loops and results.
#include "../control_flow/reference.hpp"

namespace tn = tenure;
using judged::agrees_with_reference;

TEST_CASE("a slice along the first axis, as another shape, is read as the copy of it would be") {
  constexpr auto uses = [](auto x, auto i) {
    const auto m = tn::reshape<6>(x[2]);
    const auto n = tn::reshape<3, 4>(x[tn::range<1, 3>()]);
    const auto loop = [=](auto carry, auto row) { return std::tuple{carry + row * m[i], carry}; };
    return std::tuple{m * 2.0, matmul(n, transpose(n)), tn::reshape<2, 3>(x[1]), sum(tn::reshape<6>(x[3])), tn::concat<0>(tn::reshape<6>(x[0]), m),
                      tn::scan(loop, 0.0, tn::reshape<6>(x[1])), tn::reshape<3, 2>(transpose(x[0])), tn::dynamic_update(m, tn::reshape<6>(x[0])[tn::range<0, 2>()], i)};
  };
  tn::tensor<double, tn::shape<4, 3, 2>> x;
  for (std::size_t k = 0; k < 24; ++k) tn::as_span(x)[k] = std::sin(0.3 * static_cast<double>(k));
  agrees_with_reference("uses", uses, x, std::int64_t{3});
  CHECK(std::get<1>(tn::compile(uses)(x, std::int64_t{3}))(2, 0) == Approx(x(2, 1, 0) * x(1, 0, 0) + x(2, 1, 1) * x(1, 0, 1) + x(2, 2, 0) * x(1, 1, 0) + x(2, 2, 1) * x(1, 1, 1)));
  constexpr auto of_any = [](auto y) { return std::tuple{tn::reshape<-1>(y[tn::range<1, tn::end>()]) * 3.0, tn::reshape<2, 2>(y[tn::range<1, 3>()])}; };
  tn::tensor<double, tn::shape<tn::dyn, 2>> y = tn::ones<double>(tn::shape<tn::dyn, 2>{}, 5);
  y.at(1, 0) = 7;
  agrees_with_reference("run-time extents", of_any, y);
  using plan = decltype(tn::compile([](auto w, auto z) { return matmul(z, tn::reshape<6, 8>(w[2])); }).plan(tn::tensor<float, tn::shape<3, 2, 3, 8>>(), tn::tensor<float, tn::shape<1, 6>>()));
  STATIC_REQUIRE(plan::kernels() == 1);  // the product alone
}
