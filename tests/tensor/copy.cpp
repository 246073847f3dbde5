// SPDX-License-Identifier: BSL-1.0
#include <tenure/tensor/factories.hpp>
#include <tenure/tensor/from.hpp>
#include <tenure/tensor/tensor.hpp>

#include <random>
#include <set>
#include <string>

#include "../catch.hpp"

using namespace tenure;

TEST_CASE("[P20] copy_ broadcasts, converts toward zero, and keeps the target's dtype") {
  tensor<std::int64_t, shape<2, 3>> a{{1, 2, 3}, {4, 5, 6}};
  const tensor<double, shape<3>> b{7.9, -8.9, 9.5};
  a.copy_(b);
  CHECK(a(0, 0) == 7);
  CHECK(a(1, 1) == -8);
  CHECK(a(1, 2) == 9);
  a.copy_(variable<double, shape<1>>{2.9});
  CHECK(a(1, 1) == 2);
  tensor<bool, shape<2>> c;
  c.copy_(tensor<float, shape<2>>{0.f, 0.5f});
  CHECK_FALSE(c(0));
  CHECK(c(1));
  CHECK(std::move(c).copy_(false)(1) == false);
}

TEST_CASE("copy_ checks run-time extents before it writes, and a run-time 1 never broadcasts") {
  tensor<float, shape<dyn, 3>> x(2);
  const auto y = full<float>(shape<dyn, 3>{}, 7, 3);
  CHECK_THROWS_AS(x.copy_(y), shape_error);
  auto one = full<float>(shape<dyn, 3>{}, 7, 1);
  CHECK_THROWS_AS(x.copy_(one), shape_error);
  CHECK(x(0, 0) == 0);
  CHECK(x.version() == 0);
  try {
    x.copy_(y);
  } catch (const shape_error& e) {
    const std::string said = e.what();
    CHECK(said.find("2x3") != said.npos);
    CHECK(said.find("3x3") != said.npos);
  }
  x.copy_(one[0]);
  CHECK(x(1, 2) == 7);
  CHECK(x.version() == 1);
}

TEST_CASE("assignment writes through views") {
  tensor<float, shape<2, 3>> x{{1, 2, 3}, {4, 5, 6}};
  x[0] = x[1];
  CHECK(x(0, 2) == 6);
  x.at(all, 1) = 9;
  CHECK(x(0, 1) == 9);
  CHECK(x(1, 1) == 9);
  auto row = x[0];
  auto other = x[1];
  row = other;
  CHECK(x(0, 0) == 4);
  CHECK(row.data() == x.data());
  x = tensor<double, shape<3>>{1, 2, 3};
  CHECK(x(1, 2) == 3);
  x.transpose() = tensor<int, shape<3, 2>>{{1, 2}, {3, 4}, {5, 6}};
  CHECK(x(1, 0) == 2);
  CHECK(x(0, 2) == 5);
  x.diagonal() = 0;
  CHECK(x(1, 1) == 0);
  CHECK(x(0, 1) == 3);
  x = 4;
  CHECK(x(1, 2) == 4);
}

TEST_CASE("[P51] overlapping copies: element by element is nothing to do, otherwise an error and nothing written") {
  auto x = arange<double>(shape<6>{});
  CHECK_THROWS_AS(x[range(1, 6)].copy_(x[range(0, 5)]), overlap_error);
  CHECK(x(5) == 5);
  CHECK(x.version() == 0);
  x.view().copy_(x.detach());
  CHECK(x(5) == 5);
  x[range(0, 3)].copy_(x[range(3, 6)]);
  CHECK(x(0) == 3);
  x[range(0, 6, 2)].copy_(x[range(1, 6, 2)]);
  CHECK(x(0) == 4);
  CHECK(x(2) == 3);
  CHECK(x(4) == 5);
  auto m = arange<double>(shape<9>{}).reshape<3, 3>();
  CHECK_THROWS_AS(m.copy_(m.transpose()), overlap_error);
  CHECK_THROWS_AS(m.copy_(m[0]), overlap_error);
  m.at(all, 0).copy_(m.at(all, 2));
  CHECK(m(2, 0) == 8);
}

TEST_CASE("two tensors over one foreign buffer overlap too") {
  float memory[6] = {0, 1, 2, 3, 4, 5};
  auto a = from<shape<4>>(memory);
  auto b = from<shape<4>>(memory + 2);
  CHECK(overlap_of(a, b) == overlap::partial);
  CHECK_THROWS_AS(a.copy_(b), overlap_error);
  CHECK(overlap_of(from<shape<2>>(memory), from<shape<2>>(memory + 2)) == overlap::none);
}

TEST_CASE("neighbours of other element types do not overlap, and elements of two types in one place do") {
  struct {
    double first[2];
    float second[2];
    double third[2];
  } memory{};
  const auto a = from<shape<2>>(memory.first), c = from<shape<2>>(memory.third);
  const auto b = from<shape<2>>(memory.second);
  CHECK(overlap_of(a, b) == overlap::none);
  CHECK(overlap_of(b, a) == overlap::none);
  CHECK(overlap_of(b, c) == overlap::none);
  CHECK(overlap_of(c, b) == overlap::none);
  const auto inside = from<shape<1>>(reinterpret_cast<float*>(memory.first) + 3);  // is not read
  CHECK(overlap_of(a, inside) == overlap::partial);
  CHECK(overlap_of(inside, a) == overlap::partial);
  CHECK(overlap_of(inside, b) == overlap::none);
}

// Law: `none` means that they share no byte; `same` means that each element is the element at the same index of the other; every other case, and
// every undecided one, is `partial`.
TEST_CASE("overlap agrees with enumeration on random layouts") {
  std::mt19937 random(7);
  const auto pick = [&](int n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  int counts[3] = {};
  for (int round = 0; round < 20000; ++round) {
    const auto make = [&](int rank) {
      layout l;
      l.offset = pick(12);
      for (int i = 0; i < rank; ++i) {
        l.shape.push_back(pick(4) + (round % 5 != 0));
        l.strides.push_back(pick(9));
      }
      return l;
    };
    const layout a = make(static_cast<int>(pick(4)));
    const layout b = round % 7 == 0 ? a : make(static_cast<int>(pick(4)));
    const auto enumerate = [](const layout& l) {
      std::set<std::int64_t> seen;
      for (std::int64_t n = 0; n < count(l.shape); ++n) {
        std::int64_t rest = n;
        std::int64_t at = l.offset;
        for (int i = l.shape.rank - 1; i >= 0; --i) {
          at += rest % l.shape[i] * l.strides[i];
          rest /= l.shape[i];
        }
        seen.insert(at);
      }
      return seen;
    };
    const auto in_a = enumerate(a);
    bool meet = false;
    for (const std::int64_t at : enumerate(b)) meet = meet || in_a.count(at) == 1;
    const overlap found = detail::overlap_at(0, a, b);
    REQUIRE((found != overlap::none) == meet);
    if (round % 7 == 0 && meet) REQUIRE(found == overlap::same);
    ++counts[static_cast<int>(found)];
  }
  CHECK(counts[0] > 1000);
  CHECK(counts[1] > 1000);
  CHECK(counts[2] > 1000);
}
