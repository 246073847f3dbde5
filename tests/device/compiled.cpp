// SPDX-License-Identifier: BSL-1.0
// Compiled functions on a device whose memory the host cannot read: every argument, number, result and temporary is there, and the
// results are bit for bit those of the host, whose kernels it runs.
#include "../far_device.hpp"
#include "training.hpp"

using namespace device_tests;

namespace {
template <class S>
using far_tensor = tensor<double, S, ownership::owning, role::constant, access::read_write, far_device>;
}  // namespace

TEST_CASE("a compiled function runs where its arguments are, and its results stay there") {
  const matrix x{{1, 2, 3}, {4, 5, 6}};
  const auto there = x.to(far);
  const auto f = value_and_grad([](auto a, auto scale) { return sum(exp(a * scale)); });
  const int runs = far_events_so_far.runs;
  const auto [value, gradient] = f(there, 0.5);
  CHECK(far_events_so_far.runs == runs + 1);
  static_assert(std::is_same_v<decltype(value), const far_tensor<shape<>>> && std::is_same_v<decltype(gradient), const far_tensor<shape<2, 3>>>);
  const auto [expected, slope] = f(x, 0.5);
  CHECK(elements(value) == elements(expected));
  CHECK(elements(gradient) == elements(slope));
}

TEST_CASE("numbers of every type, views and run-time extents are arguments there too") {
  const auto x = arange<double>(shape<dyn>{}, 6).to(far);
  const auto f = compile([](auto a, auto s, auto n, auto p, auto b) { return where(b, a * s, a) + cast<double>(n) * cast<double>(p); });
  CHECK(elements(f(x, 2.f, 3, short{2}, true)) == list{6, 8, 10, 12, 14, 16});
  CHECK(elements(f(x.at(range(1, 6, 2)), 2.f, 3, short{2}, false)) == list{7, 9, 11});
  const auto pair = compile([](auto a, auto b) { return a + b; });
  CHECK_THROWS_AS(pair(x, x.at(range(0, 3))), shape_error);
}

TEST_CASE("into() writes there, beside an argument that it may not overwrite") {
  auto x = matrix{{1, 2, 3}, {4, 5, 6}}.to(far);
  auto square_ = tensor<double, shape<2, 2>>{{1, 2}, {3, 4}}.to(far);
  compile([](auto a) { return transpose(a); }).into(square_)(square_);
  CHECK(elements(square_) == list{1, 3, 2, 4});
  compile([](auto a) { return a * 2; }).into(x)(x);
  CHECK(elements(x) == list{2, 4, 6, 8, 10, 12});
  CHECK(x.version() == 1);
  CHECK_THROWS_AS(compile([](auto a) { return std::tuple{a, a + 1}; }).into(x, x)(x), overlap_error);
}

TEST_CASE("rows are sorted there, and the positions stay there") {
  const auto x = matrix{{3, 1, 2}, {4, 6, 4}};
  const auto f = compile([](auto a) { return std::tuple{sort(a), argsort(a, axis<1>, descending), topk<1>(a, axis<0>)}; });
  const auto there = x.to(far);
  const auto [rows, positions, largest] = f(there);
  static_assert(std::is_same_v<decltype(positions), const tensor<std::int64_t, shape<2, 3>, ownership::owning, role::constant, access::read_write, far_device>>);
  CHECK(elements(rows) == list{1, 2, 3, 4, 4, 6});
  CHECK(elements(positions) == list{0, 2, 1, 1, 0, 2});
  CHECK(elements(largest) == list{4, 6, 4});
}

TEST_CASE("an index outside its axis throws before anything is written") {
  auto x = tensor<double, shape<3>>{1, 2, 3}.to(far);
  auto i = tensor<std::int64_t, shape<2>>{2, 0}.to(far);
  auto r = tensor<double, shape<2>>{7, 7}.to(far);
  const auto f = compile([](auto a, auto at) { return gather<0>(a, at); });
  f.into(r)(x, i);
  CHECK(elements(r) == list{3, 1});
  i.fill_(3);
  CHECK_THROWS_AS(f.into(r)(x, i), index_error);
  CHECK(elements(r) == list{3, 1});
}

// Law: all memory is taken before a result is written.
TEST_CASE("where an allocation, a transfer or a kernel fails, nothing is written") {
  const matrix x{{1, 2, 3}, {4, 5, 6}};
  const auto there = x.to(far);
  auto target = there.clone();
  const auto f = compile([](auto a, auto s) { return transpose(transpose(a) * s); });
  int failures = 0;
  for (;; ++failures) {
    far_events_so_far.fail_at = failures;
    try {
      f.into(target)(there, 2.0);
      break;
    } catch (const std::bad_alloc&) {
      far_events_so_far.fail_at = -1;
      CHECK(elements(target) == elements(there));
      CHECK(target.version() == 0);
    }
  }
  far_events_so_far.fail_at = -1;
  CHECK(failures == 3);  // memory for the number, its transfer, the kernel
  CHECK(elements(target) == list{2, 4, 6, 8, 10, 12});
}

TEST_CASE("models move with to(), and train there as here") {
  train(far, [](const auto& there_x, const auto& x, auto both) {
    for (int i = 0; i < 3; ++i) both(there_x, x);
  });
  labels_are_checked(far);
}

TEST_CASE("memory goes back to its device") {
  const int live = far_events_so_far.live;
  {
    const auto there = matrix{{1, 2, 3}, {4, 5, 6}}.to(far);
    const auto y = compile([](auto a, auto s) { return a * s; })(there, 2);
    CHECK(far_events_so_far.live == live + 2);
  }
  CHECK(far_events_so_far.live == live);
}
