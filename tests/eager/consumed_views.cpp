// SPDX-License-Identifier: BSL-1.0
// Views of consumed nodes that are used too late, views of views, and what was moved from: each throws, and nothing is written.
#include <deque>
#include <utility>

#include "values.hpp"

TEST_CASE("a view of a consumed node notices that the node was updated in place, also where it is overwritten") {
  const auto check = [](auto write) {
    const auto a = leaf<2>(1, 2);
    tn::tensor z = a * 1.0;
    auto v = std::move(z).at(tn::range<0, 1>());
    z *= 3.0;
    CHECK_THROWS_AS(write(std::move(v)), tn::ownership_error);
    check_values(z.detach(), {3, 6});
    sum(z).backward();
    check_values(a.grad(), {3, 3});
  };
  check([](auto&& v) { return std::move(v).copy_(5.0); });
  check([](auto&& v) { return std::move(v).fill_(5.0); });
  check([](auto&& v) { return std::move(v).zero_(); });
  check([](auto&& v) { return std::move(v).mul_(2.0); });
}

TEST_CASE("a second view of a consumed node writes nothing") {
  const auto a = leaf<2>(1, 2);
  tn::tensor z = a * 1.0;
  auto v = std::move(z).at(0), u = std::move(z).at(1);
  const auto z2 = std::move(v).copy_(7.0);
  CHECK_THROWS_AS(std::move(u).zero_(), tn::ownership_error);
  check_values(z2.detach(), {7, 2});
  sum(z2).backward();
  check_values(a.grad(), {0, 1});
}

TEST_CASE("a view that gave its node back is empty") {
  const auto a = leaf<2>(1, 2);
  tn::tensor z = a * 1.0;
  auto v = std::move(z).at(0);
  const auto z2 = std::move(v).copy_(7.0);
  CHECK_THROWS_AS(std::move(v).copy_(8.0), tn::ownership_error);
  CHECK_THROWS_AS(std::move(v).mul_(8.0), tn::ownership_error);
  check_values(z2.detach(), {7, 2});

  tn::tensor y = a * 1.0;
  auto first = std::move(y).at(tn::range<0, 2>());
  auto further = std::move(first).at(0);
  CHECK_THROWS_AS(std::move(first).copy_(8.0), tn::ownership_error);
  check_values(std::move(further).copy_(9.0).detach(), {9, 2});
}

TEST_CASE("inside no_grad too a view gives its node back once") {
  auto a = leaf<2>(1, 2);
  tn::tensor z = a * 1.0;
  auto v = std::move(z).at(0);
  tn::no_grad([&](auto) {
    const auto z2 = std::move(v).mul_(7.0);
    CHECK_THROWS_AS(std::move(v).mul_(8.0), tn::ownership_error);
    CHECK_THROWS_AS(std::move(v).copy_(8.0), tn::ownership_error);
    check_values(z2.detach(), {7, 2});
  }, a);
}

TEST_CASE("an expression that was moved from throws") {
  const auto x = constant<2>(1, 2);
  auto e = sum(x * 2.0);
  auto f = std::move(e);
  CHECK(f.item() == 6);
  CHECK_THROWS_WITH(e.item(), "tenure: eval: the expression is empty: it was moved from");
  CHECK_THROWS_AS(tn::eval(e), tn::ownership_error);
  CHECK_THROWS_AS(tn::eval(e + f), tn::ownership_error);
  const auto a = leaf<2>(1, 2);
  auto loss = sum(a * x);
  auto kept = std::move(loss);
  CHECK_THROWS_AS(loss.backward(), tn::ownership_error);
  kept.backward();
  check_values(a.grad(), {1, 2});
}

TEST_CASE("a chain of views of any length takes constant stack") {
  const auto w = leaf<2>(1, 2);
  tn::tensor z = w * 1.0;
  std::deque<decltype(z.view())> chain;
  chain.push_back(z.view());
  for (int i = 0; i < 1000000; ++i) {
    chain.push_back(chain.back().view());
    if (chain.size() > 2) chain.pop_front();
  }
  sum(chain.back() * 2.0).backward();
  check_values(w.grad(), {2, 2});
  z *= 2.0;
  CHECK_THROWS_AS(sum(chain.back() * 2.0), tn::ownership_error);
}
