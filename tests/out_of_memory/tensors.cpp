// SPDX-License-Identifier: BSL-1.0
// What makes and writes tensors.
#include "injected.hpp"

#include <tenure/interop/eigen.hpp>

namespace {

using tn::shape;
using matrix = tn::tensor<double, shape<2, 3>>;
using two_by_two = tn::tensor<double, shape<2, 2>>;
using rows = tn::tensor<double, shape<tn::dyn, 3>>;
using leaf = tn::variable<double, shape<2, 3>>;
using wide = tn::tensor<double, shape<40, 40>>;  // a product of these needs memory beside the stack's

auto matrices() { return std::tuple(matrix{{1, 2, 3}, {4, 5, 6}}, matrix{{2, 3, 5}, {7, 11, 13}}); }
auto leaves() { return std::tuple(leaf{{1, 2, 3}, {4, 5, 6}}, leaf{{2, 3, 5}, {7, 11, 13}}); }
auto squares() { return std::tuple(two_by_two{{1, 2}, {3, 4}}, two_by_two{{5, 6}, {7, 8}}); }
auto dynamic() { return std::tuple(tn::full<double>(shape<tn::dyn, 3>{}, 2, 4), tn::full<double>(shape<tn::dyn, 3>{}, 3, 4)); }
auto products() { return std::tuple(tn::full<double>(shape<40, 40>{}, 0.5), tn::full<double>(shape<40, 40>{}, 0.25)); }
auto node_and_leaf() {
  leaf x{{1, 2, 3}, {4, 5, 6}};
  tn::tensor y = x * 2;
  return std::tuple(std::move(x), std::move(y));
}
auto retained_node_and_leaf() {
  auto [x, y] = node_and_leaf();
  return std::tuple(std::move(x), std::move(y).retain_grad());
}

}  // namespace

TEST_CASE("the counter counts, and a failure is thrown") {
  const auto one = [] { return std::tuple(tn::tensor<double, tn::shape<3>>{1, 2, 3}); };
  CHECK(check_failures(one, [](auto& w) { return std::get<0>(w).clone(); }) == 1);
  CHECK(check_failures(one, [](auto& w) { return std::get<0>(w).view(); }) == 0);
  allocations_left = 0;
  CHECK_THROWS_AS(::operator new(20), std::bad_alloc);  // a call: clang leaves out a vector that nothing reads
  allocations_left = -1;
}

TEST_CASE("making a tensor out of another") {
  CHECK(check_failures(matrices, [](auto& w) { return std::get<0>(w).transpose().clone(); }) == 1);
  CHECK(check_failures(matrices, [](auto& w) { return std::get<0>(w).template to<float>(); }) == 1);
  CHECK(check_failures(matrices, [](auto& w) { return std::get<0>(w).new_tensor(std::get<1>(w)); }) == 1);
  CHECK(check_failures(matrices, [](auto& w) { return std::get<0>(w).transpose().contiguous(); }) == 1);
  CHECK(check_failures(matrices, [](auto& w) { return std::get<0>(w).unsafe_data(); }) == 1);
  CHECK(check_failures(matrices, [](auto& w) { return std::get<0>(w).detach().requires_grad_(); }) == 1);
  CHECK(check_failures(matrices, [](auto& w) { return std::move(std::get<0>(w)).requires_grad_(); }) == 1);
  CHECK(check_failures(leaves, [](auto& w) { return std::get<0>(w).clone(); }) == 2);
  CHECK(check_failures(leaves, [](auto& w) { return std::get<0>(w).view(); }) == 1);
  CHECK(check_failures(leaves, [](auto& w) { return std::get<0>(w).transpose().contiguous(); }) >= 3);
  CHECK(check_failures(leaves, [](auto& w) { return std::get<0>(w).template to<float>(); }) >= 2);
  CHECK(check_failures(
            [] {
              auto w = leaves();
              sum(std::get<0>(w) * std::get<1>(w)).backward();
              return w;
            },
            [](auto& w) { return tn::deepcopy(std::get<0>(w)); }) == 3);
  CHECK(check_failures(dynamic, [](auto& w) { return tn::eval(std::get<0>(w) + std::get<1>(w)); }) >= 1);
  CHECK(check_failures(products, [](auto& w) { return tn::eval(matmul(matmul(std::get<0>(w), std::get<1>(w)), std::get<0>(w))); }) >= 2);
  CHECK(check_failures(products, [](auto& w) { return sum(square(matmul(matmul(std::get<0>(w), std::get<1>(w)), std::get<0>(w)))).item(); }) >= 1);
  CHECK(check_failures(leaves, [](auto& w) { return tn::tensor(exp(std::get<0>(w)) * std::get<1>(w)); }) == 2);
}

TEST_CASE("a vector or matrix stays the caller's where it cannot be taken over") {
  std::vector<float> v{1, 2, 3};
  allocations_left = 0;
  CHECK_THROWS_AS(tn::from(std::move(v)), std::bad_alloc);
  allocations_left = -1;
  CHECK(v == std::vector<float>{1, 2, 3});
  Eigen::VectorXd m = Eigen::VectorXd::Ones(4);
  allocations_left = 0;
  CHECK_THROWS_AS(tn::from(std::move(m)), std::bad_alloc);
  allocations_left = -1;
  CHECK(m.size() == 4);
  const auto t = tn::from(std::move(v));
  CHECK(t(2) == 3);
}

TEST_CASE("writing a constant") {
  CHECK(check_failures(squares, [](auto& w) { std::get<0>(w) = transpose(std::get<0>(w)) + std::get<1>(w); }) >= 1);
  CHECK(check_failures(matrices, [](auto& w) { std::get<0>(w) = exp(std::get<0>(w)) + std::get<1>(w); }) == 0);
  CHECK(check_failures(products, [](auto& w) { std::get<0>(w) = matmul(std::get<0>(w), std::get<1>(w)); }) >= 1);
  CHECK(check_failures(products, [](auto& w) { std::get<0>(w) += matmul(matmul(std::get<0>(w), std::get<1>(w)), std::get<1>(w)); }) >= 1);
  CHECK(check_failures(dynamic, [](auto& w) { std::get<0>(w) = sum(std::get<0>(w), tn::axis<0>) + std::get<1>(w); }) >= 1);
  CHECK(check_failures(matrices, [](auto& w) { std::get<0>(w).transpose() += exp(transpose(std::get<1>(w))); }) >= 2);
  CHECK(check_failures(matrices, [](auto& w) { std::get<0>(w).at(tn::all, 1).mul_(std::get<1>(w).at(tn::all, 2)); }) >= 2);
  CHECK(check_failures(matrices, [](auto& w) { std::get<0>(w).copy_(cast<float>(std::get<1>(w)) * 2); }) >= 1);
  CHECK(check_failures(matrices, [](auto& w) { std::get<0>(w)[0].copy_(sum(std::get<1>(w), tn::axis<0>)); }) == 0);
  CHECK(check_failures(squares, [](auto& w) {
          tn::no_grad([&](auto v) { v = matmul(v, transpose(v)); }, std::get<0>(w));
        }) >= 1);
}

TEST_CASE("a computed index outside its axis leaves the target as it was") {
  const tn::tensor<double, shape<4>> table{1, 2, 3, 4};
  const tn::tensor<std::int64_t, shape<3>> index{0, 3, 1};
  tn::tensor<double, shape<3>> target{7, 8, 9};
  CHECK_THROWS_AS(target = gather(table, index * 2), tn::index_error);
  CHECK_THROWS_AS(target += gather(table, index * 2), tn::index_error);
  CHECK_THROWS_AS(target.copy_(gather(table, index * 2)), tn::index_error);
  constexpr auto picks = tn::compile([](auto t, auto i) { return gather(t, i * 2); });
  CHECK_THROWS_AS(picks.into(target)(table, index), tn::index_error);
  CHECK(target(0) == 7);
  CHECK(target(1) == 8);
  CHECK(target(2) == 9);
  CHECK(target.version() == 0);
  const tn::tensor<std::int64_t, shape<3>> inside{0, 1, 1};
  picks.into(target)(table, inside);
  CHECK(target(0) == 1);
  CHECK(target(1) == 3);
  CHECK(target(2) == 3);
  CHECK(target.version() == 1);
}

TEST_CASE("writing a node, and consuming") {
  CHECK(check_failures(node_and_leaf, [](auto& w) { std::get<1>(w) += exp(std::get<0>(w)); }) >= 1);
  CHECK(check_failures(node_and_leaf, [](auto& w) { std::get<1>(w) *= std::get<0>(w); }) >= 2);
  CHECK(check_failures(node_and_leaf, [](auto& w) { std::get<1>(w) = exp(std::get<1>(w)); }) == 2);
  CHECK(check_failures(node_and_leaf, [](auto& w) { std::get<1>(w) = std::get<0>(w); }) == 2);
  CHECK(check_failures(node_and_leaf, [](auto& w) { std::get<1>(w) = matrix{{1, 2, 3}, {4, 5, 6}}; }) >= 2);
  CHECK(check_failures(retained_node_and_leaf, [](auto& w) { std::get<1>(w) = exp(std::get<1>(w)); }) == 2);
  CHECK(check_failures(retained_node_and_leaf, [](auto& w) { return std::move(std::get<1>(w)).mul_(std::get<0>(w)); }) >= 2);
  CHECK(check_failures(node_and_leaf, [](auto& w) { return std::move(std::get<1>(w)).sub_(1); }) >= 1);
  CHECK(check_failures(node_and_leaf, [](auto& w) { return std::move(std::get<1>(w)).copy_(matrix{{1, 2, 3}, {4, 5, 6}}); }) >= 1);
  CHECK(check_failures(node_and_leaf, [](auto& w) { return std::move(std::get<1>(w)).copy_(sum(std::get<0>(w), tn::axes<0>)); }) >= 1);
  const auto constant_and_leaf = [] { return std::tuple(leaf{{1, 2, 3}, {4, 5, 6}}, matrix{{2, 3, 5}, {7, 11, 13}}); };
  CHECK(check_failures(constant_and_leaf, [](auto& w) { return std::move(std::get<1>(w)).mul_(std::get<0>(w)); }) >= 2);
  CHECK(check_failures(constant_and_leaf, [](auto& w) { return std::move(std::get<1>(w)).copy_(exp(std::get<0>(w))); }) >= 1);
  CHECK(check_failures(constant_and_leaf, [](auto& w) { return std::move(std::get<1>(w)).div_(square(std::get<0>(w)) + 1); }) >= 2);
}

TEST_CASE("writing through a view of a consumed node") {
  // The view holds the node, so the node is where it was when the write fails.
  const auto consumed = [] {
    leaf x{{1, 2, 3}, {4, 5, 6}};
    auto view = tn::tensor(x * 2).at(tn::all, tn::range<0, 2>());
    return std::tuple(std::move(x), std::move(view));
  };
  CHECK(check_failures(consumed, [](auto& w) { return std::move(std::get<1>(w)).mul_(3); }) >= 2);
  CHECK(check_failures(consumed, [](auto& w) { return std::move(std::get<1>(w)).copy_(1.0); }) >= 1);
  CHECK(check_failures(consumed, [](auto& w) { return std::move(std::get<1>(w)).add_(exp(std::get<0>(w)[tn::range<0, 1>()].at(tn::all, tn::range<1, 3>()))); }) >= 2);
}
