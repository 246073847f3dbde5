// SPDX-License-Identifier: BSL-1.0
// Laws of the derivatives of reductions, products, movement and indexing.
#include "adjoint.hpp"

using namespace laws;
using tn::axis;
using tn::keepdim;

TEMPLATE_TEST_CASE("derivatives of reductions", "", TENURE_LAW_TYPES) {
  using T = TestType;
  const auto sums = [](auto x) {
    return std::tuple{sum(x), sum(x, axis<0>), mean(x), mean(x, axis<1>, keepdim), logsumexp(x), logsumexp(x, axis<1>), var(x), var(x, axis<0>), stddev(x, axis<1>)};
  };
  const auto extremes = [](auto x) { return std::tuple{amax(x), amax(x, axis<0>), amin(x, axis<1>, keepdim), max(x, axis<1>), min(x, axis<1>)}; };
  const auto norms = [](auto x) { return std::tuple{tn::norm(x), tn::norm<1>(x, axis<1>), tn::norm<3>(x, axis<1>), softmax(x), log_softmax(x), softmax(x, axis<0>)}; };
  const auto of_each = [&](const auto& x) {
    derivatives_agree<T>(sums, x);
    derivatives_agree<T>(extremes, x);
    derivatives_agree<T>(norms, x);
  };
  of_each(filled<T>(shape<3, 4>{}, 61));
  if constexpr (quick::share == 1) of_each(filled<T>(shape<dyn, 4>{}, 62, -2.0, 2.0, 3));
  derivatives_agree<T>([](auto x) { return std::tuple{prod(x, axis<1>), cumsum(x, axis<0>), cumprod(x, axis<1>)}; }, filled<T>(shape<3, 4>{}, 63));
}

TEMPLATE_TEST_CASE("derivatives of normalisations", "", TENURE_LAW_TYPES) {
  using T = TestType;
  const auto f = [](auto x, auto gain, auto bias) { return std::tuple{layer_norm(x, gain, bias), rms_norm(x, gain)}; };
  derivatives_agree<T>(f, filled<T>(shape<3, 5>{}, 64), filled<T>(shape<5>{}, 65), filled<T>(shape<5>{}, 66));
  derivatives_agree_at_run_time<T>(f, filled<T>(shape<dyn, 5>{}, 67, -2.0, 2.0, 3), filled<T>(shape<5>{}, 68), filled<T>(shape<5>{}, 69));
  derivatives_agree<T>(f, filled<T>(shape<2, 3, 4>{}, 64), filled<T>(shape<3, 4>{}, 65), filled<T>(shape<3, 4>{}, 66));
}

TEMPLATE_TEST_CASE("derivatives of products", "", TENURE_LAW_TYPES) {
  using T = TestType;
  const auto f = [](auto x, auto w, auto b) { return std::tuple{matmul(x, w), linear(x, transpose(w), b), outer(b, b), matmul(b, b), matmul(transpose(x), x)}; };
  derivatives_agree<T>(f, filled<T>(shape<3, 5>{}, 71), filled<T>(shape<5, 4>{}, 72), filled<T>(shape<4>{}, 73));
  derivatives_agree_at_run_time<T>(f, filled<T>(shape<dyn, 5>{}, 74, -2.0, 2.0, 3), filled<T>(shape<5, 4>{}, 75), filled<T>(shape<4>{}, 76));
  derivatives_agree<T>([](auto x, auto y) { return matmul(x, y); }, filled<T>(shape<2, 3, 4>{}, 77), filled<T>(shape<4, 2>{}, 78));
}

TEMPLATE_TEST_CASE("derivatives of movement", "", TENURE_LAW_TYPES) {
  using T = TestType;
  derivatives_agree<T>(
      [](auto x) {
        return std::tuple{transpose(x),           tn::permute<1, 0>(x), tn::reshape<2, 6>(x), tn::expand<2, 3, 4>(x), tn::slice<1, 3, 2, -2>(x), tn::select<0, -1>(x),
                          tn::unsqueeze<1>(x),    tn::pad<1, 1, 2>(x),  tn::flip<1>(x),       tn::roll<2, 1>(x),      tn::repeat<2, 1>(x),      tn::windows<1, 2, 1>(x),
                          tn::tril(x),            tn::triu<1>(x)};
      },
      filled<T>(shape<3, 4>{}, 81));
  derivatives_agree<T>([](auto x, auto y) { return std::tuple{tn::concat<0>(x, y, x), tn::stack<1>(x, y), x[1], x.at(tn::all, tn::range<0, 4, 2>()), x(2, 1)}; },
                       filled<T>(shape<3, 4>{}, 82), filled<T>(shape<3, 4>{}, 83));
  derivatives_agree<T>([](auto x, auto y) { return std::tuple{tn::diagonal(x), tn::diag(y), tn::squeeze<0>(tn::unsqueeze<0>(y))}; }, filled<T>(shape<3, 3>{}, 84), filled<T>(shape<3>{}, 85));
  derivatives_agree<T>([](auto x) { return std::tuple{tn::permute<0, 2, 1>(x), tn::permute<1, 2, 0>(x), tn::permute<2, 0, 1>(x)}; }, filled<T>(shape<2, 3, 2>{}, 88));
  derivatives_agree_at_run_time<T>([](auto x, auto y) { return std::tuple{transpose(x), tn::concat<1>(x, y), tn::slice<1, 0, 2>(x), tn::unsqueeze<0>(x)}; },
                                   filled<T>(shape<dyn, 4>{}, 86, -2.0, 2.0, 3), filled<T>(shape<dyn, 4>{}, 87, -2.0, 2.0, 3));
}

TEMPLATE_TEST_CASE("derivatives of indexing", "", TENURE_LAW_TYPES) {
  using T = TestType;
  const auto i = filled<std::int64_t>(shape<4>{}, 91, 0.0, 3.0);
  derivatives_agree<T>([](auto x, auto at) { return std::tuple{tn::gather<0>(x, at), tn::gather<1>(x, at)}; }, filled<T>(shape<3, 3>{}, 92), i);
  derivatives_agree<T>([](auto x, auto at, auto u) { return tn::index_add<0>(x, at, u); }, filled<T>(shape<3, 2>{}, 93), i, filled<T>(shape<4, 2>{}, 94));
  derivatives_agree<T>([](auto x, auto at) { return pick(x, at); }, filled<T>(shape<4, 3>{}, 95), i);
  derivatives_agree<T>([](auto x, auto at) { return tn::take_along<1>(x, at); }, filled<T>(shape<2, 3>{}, 96), filled<std::int64_t>(shape<2, 2>{}, 97, 0.0, 3.0));
  derivatives_agree_at_run_time<T>([](auto x, auto at) { return std::tuple{tn::gather<0>(x, at), pick(x, at)}; }, filled<T>(shape<dyn, 3>{}, 98, -2.0, 2.0, 3),
                                   filled<std::int32_t>(shape<dyn>{}, 99, 0.0, 3.0, 3));
}
