// SPDX-License-Identifier: BSL-1.0
// attention and its gradient against the reference backend, at sizes that are known to the compiler and at others.
#include "attention.hpp"

using namespace laws;

namespace {
template <class T, std::int64_t M, std::int64_t N, std::int64_t D, std::int64_t E>
void agree_at(double ulps = 256) {
  const auto q = filled<T>(shape<2, M, D>{}, 1);
  const auto k = filled<T>(shape<2, N, D>{}, 2);
  const auto v = filled<T>(shape<2, N, E>{}, 3);
  agrees(tn::compile([](auto q, auto k, auto v) { return std::tuple{attends(q, k, v), attends_causally(q, k, v)}; }), ulps, q, k, v);
  const auto loss = [](auto q, auto k, auto v) { return sum(sin(attends(q, k, v))) + sum(cos(attends_causally(q, k, v))); };
  agrees(tn::value_and_grad<0, 1, 2>(loss), ulps, q, k, v);
}
}  // namespace

TEST_CASE("attention agrees with the reference: odd sizes, several blocks") {
  agree_at<double, 19, 19, 7, 3>();
  agree_at<float, 130, 130, 16, 16>(1024);
  agree_at<float, 5, 300, 8, 12>(1024);
  agree_at<float, 260, 33, 8, 9>(1024);
  agree_at<double, 300, 300, 5, 7>(2048);
  agree_at<float, 300, 300, 16, 16>(2048);
}

TEMPLATE_TEST_CASE("attention with run-time extents", "", double, float) {
  const auto f = tn::value_and_grad<0, 1, 2>([](auto q, auto k, auto v) { return sum(sin(attends_causally(q, k, v))); });
  for (const int n : {2, 3, 40}) {
    const auto x = filled<TestType>(shape<dyn, dyn, 4>{}, 1, 2, n), y = filled<TestType>(shape<dyn, dyn, 4>{}, 2, 2, n + 2);
    agrees(tn::compile(attends), x, y, y);
    agrees(f, x, y, y);
  }
  constexpr std::int64_t rows = tn::dim("rows");
  const auto x = filled<TestType>(shape<2, rows, 4>{}, 3, 7);
  agrees(f, x, x, x);
}

TEST_CASE("attention refuses rows and batches that differ at run time") {
  const auto f = tn::compile(attends);
  const auto few = filled<float>(shape<dyn, 4>{}, 1, 3), many = filled<float>(shape<dyn, 4>{}, 2, 5);
  CHECK_THROWS_AS(f(few, many, few), tn::shape_error);
  agrees(f, few, many, many);
  const auto two = filled<float>(shape<dyn, 3, 4>{}, 3, 2), three = filled<float>(shape<dyn, 3, 4>{}, 4, 3);
  CHECK_THROWS_AS(f(two, three, three), tn::shape_error);
  CHECK_THROWS_AS(f(two, two, three), tn::shape_error);
  agrees(f, two, two, two);
}
