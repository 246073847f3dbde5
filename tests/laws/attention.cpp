// SPDX-License-Identifier: BSL-1.0
// attention: its values against the definition written out; strides, no rows, extreme numbers, memory, threads.
#include <tenure/threads.hpp>

#include "attention.hpp"

using namespace laws;

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
}  // namespace

TEST_CASE("attention: the definition written out") {
  const auto q = filled<double>(shape<3, 2, 21, 6>{}, 1), k = filled<double>(shape<3, 2, 21, 6>{}, 2);
  const auto v = filled<double>(shape<3, 2, 21, 5>{}, 3);
  same(attends, written_out<false>, 1e-14, q, k, v);
  same(attends_causally, written_out<true>, 1e-14, q, k, v);
  const auto few = filled<double>(shape<4, 6>{}, 4);
  const auto one = filled<double>(shape<2, 1, 6>{}, 5);
  same(attends, written_out<false>, 1e-14, few, k, v);
  same(attends_causally, written_out<true>, 1e-14, one, k, v);
  // One row: its weight is 1, also where its score is large.
  const auto gradient = tn::grad<0, 1, 2>([](auto q, auto k, auto v) { return sum(sin(attends(q, k, v))); });
  const auto written = tn::grad<0, 1, 2>([](auto q, auto k, auto v) { return sum(sin(written_out<false>(q, k, v))); });
  same(gradient, written, 1e-14, filled<double>(shape<1, 1>{}, 6), filled<double>(shape<1, 1>{}, 7), filled<double>(shape<1, 1>{}, 8));
}

TEST_CASE("attention without rows, and of views with strides") {
  const auto none = filled<double>(shape<2, 0, 3>{}, 1);
  const auto some = filled<double>(shape<2, 4, 3>{}, 2);
  for (const double x : elements_of(tn::compile(attends)(some, none, none))) CHECK(x == 0);
  CHECK(tn::compile(attends_causally)(none, some, some).size() == 0);
  const auto gradient = tn::value_and_grad<0, 1, 2>([](auto q, auto k, auto v) { return sum(attends(q, k, v)); });
  for (const double x : elements_of(gradient(some, none, none))) CHECK(x == 0);
  for (const double x : elements_of(gradient(none, some, some))) CHECK(x == 0);
  const auto of_heads = [](auto x) {
    const auto heads = tn::permute<2, 0, 3, 1, 4>(tn::reshape<2, 9, 3, 2, 8>(x));
    return sum(sin(attends_causally(tn::select<0, 0>(heads), tn::select<0, 1>(heads), tn::select<0, 2>(heads))));
  };
  agrees(tn::value_and_grad(of_heads), filled<double>(shape<2, 9, 48>{}, 3));
  agrees(tn::compile([](auto q, auto k, auto v) { return attends(tn::transpose<0, 1>(q), tn::transpose<0, 1>(k), tn::transpose<0, 1>(v)); }),
         filled<double>(shape<8, 5>{}, 4), filled<double>(shape<8, 5>{}, 5), filled<double>(shape<8, 5>{}, 6));
}

TEST_CASE("attention: large and tiny numbers, infinite scores, NaN") {
  const auto at = [](double by) { return filled<float>(shape<40, 8>{}, 1, -by, by); };
  const auto v = filled<float>(shape<40, 8>{}, 2);
  const auto gradient = tn::value_and_grad<0, 1, 2>([](auto q, auto k, auto v) { return sum(sin(attends_causally(q, k, v))); });
  for (const double by : {1e-30, 1e-4, 4.0, 20.0}) {
    INFO("numbers up to " << by);
    agrees(gradient, 8192.0, at(by), at(by * 0.5), v);
  }
  for (const double by : {1e4, 1e12, 1e17}) {  // one weight of a row is 1, and lse has no digits for the others
    INFO("numbers up to " << by);
    agrees(tn::compile(attends_causally), 16.0, at(by), at(by * 0.5), v);
    for (const double x : elements_of(gradient(at(by), at(by * 0.5), v))) CHECK(std::isfinite(x));
  }
  // A score of -inf is a column that the row does not see. Where all are, the row has no weights.
  array<double, 1, 1> one{{1.0}};
  array<double, 3, 1> keys{{-infinity}, {2.0}, {-infinity}}, values{{5.0}, {7.0}, {9.0}};
  CHECK(tn::compile(attends)(one, keys, values)(0, 0) == 7);
  keys = array<double, 3, 1>{{-infinity}, {-infinity}, {-infinity}};
  CHECK(std::isnan(tn::compile(attends)(one, keys, values)(0, 0)));
  // The first block of columns has no finite score, the next one has.
  auto many = tn::full<float>(shape<300, 1>{}, -HUGE_VALF), each = tn::full<float>(shape<300, 1>{}, 3.0f);
  tn::as_span(many)[250] = 1;
  CHECK(tn::compile(attends)(array<float, 1, 1>{{1.0f}}, many, each)(0, 0) == 3);
  tn::as_span(many)[7] = std::nanf("");
  CHECK(std::isnan(tn::compile(attends)(array<float, 1, 1>{{1.0f}}, many, each)(0, 0)));
  tn::as_span(many)[7] = HUGE_VALF;
  CHECK(std::isnan(tn::compile(attends)(array<float, 1, 1>{{1.0f}}, many, each)(0, 0)));
}

// Law: the result does not depend on the number of threads: a thread computes whole batches.
TEST_CASE("attention keeps no weights: the memory of a gradient grows with the rows, and threads compute the same bits") {
  const auto x = filled<float>(shape<4, 600, 8>{}, 1);
  const auto f = tn::value_and_grad<0, 1, 2>([](auto q, auto k, auto v) { return sum(square(attends_causally(q, k, v))); });
  CHECK(f.plan(x, x, x).kept_bytes() <= 4 * 600 * 10 * 4);
  CHECK(f.plan(x, x, x).workspace_bytes() < 600 * 600 * 4);
  const tn::thread_pool pool(3);
  const std::vector<double> alone = elements_of(f(x, x, x));
  const auto scope = pool.scope();
  CHECK(elements_of(f(x, x, x)) == alone);
}

namespace {
template <class Plan>
constexpr std::int64_t memory_on(int workers) { return tn::cpu_backend::static_memory<typename Plan::program_type>.total(workers); }
}  // namespace

TEST_CASE("attention takes memory only for threads that have a batch") {
  const auto f = tn::value_and_grad<0, 1, 2>([](auto q, auto k, auto v) { return sum(square(attends_causally(q, k, v))); });
  const auto one = filled<float>(shape<600, 8>{}, 1);
  using alone = decltype(tn::compile(attends).plan(one, one, one));
  CHECK(memory_on<alone>(8) == memory_on<alone>(1));
  const auto two = filled<float>(shape<2, 600, 8>{}, 1);
  using both = decltype(tn::compile(attends).plan(two, two, two));
  CHECK(memory_on<both>(8) == memory_on<both>(2));
  CHECK(memory_on<both>(2) > memory_on<both>(1));
  const std::vector<double> found = elements_of(f(two, two, two));
  const tn::thread_pool pool(5, 1);
  const auto scope = pool.scope();
  CHECK(elements_of(f(two, two, two)) == found);
}

TEST_CASE("attention: equal scores of 1e8 have equal weights, also in the gradient") {
  // The cotangent of q is a difference of numbers of 1e4, and would only be rounding here.
  const auto gradient = tn::value_and_grad<1, 2>([](auto q, auto k, auto v) { return sum(sin(attends(q, k, v))); });
  const auto written = tn::value_and_grad<1, 2>([](auto q, auto k, auto v) { return sum(sin(written_out<false>(q, k, v))); });
  const array<float, 1, 1> q{{1e4f}};
  const array<float, 2, 1> k{{1e4f}, {1e4f}}, v{{0.0f}, {1.0f}};
  CHECK(tn::compile(attends)(q, k, v)(0, 0) == 0.5f);
  const auto dv = tn::grad<2>([](auto q, auto k, auto v) { return sum(attends(q, k, v)); })(q, k, v);
  CHECK(dv(0, 0) == Approx(0.5).epsilon(1e-6));
  CHECK(dv(1, 0) == Approx(0.5).epsilon(1e-6));
  same(gradient, written, 1e-6, q, k, v);
  agrees(gradient, 16.0, q, k, v);
  // Several blocks of rows and columns, and columns that take no part.
  const auto rows = tn::full<float>(shape<150, 4>{}, 1e4f);
  auto keys = tn::full<float>(shape<150, 4>{}, 1e4f);
  for (std::size_t i = 0; i < 4 * 150; i += 12) tn::as_span(keys)[i] = 9e3f;
  const auto values = filled<float>(shape<150, 3>{}, 1);
  const auto of_values = tn::grad<2>([](auto q, auto k, auto v) { return sum(sin(attends_causally(q, k, v))); });
  const auto of_written = tn::grad<2>([](auto q, auto k, auto v) { return sum(sin(written_out<true>(q, k, v))); });
  same(of_values, of_written, 1e-5, rows, keys, values);
}

TEST_CASE("attention: its operations, counted") {
  const auto v = filled<float>(shape<2, 3, 5>{}, 1);
  const auto few = filled<float>(shape<2, 3, 4>{}, 2);
  const auto many = filled<float>(shape<2, 5, 4>{}, 3);
  CHECK(tn::compile(attends).plan(many, few, v).flops() == 2 * 2 * 15 * 9);
  CHECK(tn::compile(attends_causally).plan(few, few, v).flops() == 2 * 2 * 6 * 9);
  CHECK(tn::compile(attends_causally).plan(many, few, v).flops() == 2 * 2 * (6 + 3 + 3) * 9);
  CHECK(tn::compile(attends_causally).plan(few, many, filled<float>(shape<2, 5, 5>{}, 4)).flops() == 2 * 2 * 6 * 9);
}
