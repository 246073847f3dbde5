// SPDX-License-Identifier: BSL-1.0
// Large functions over many samples: on a CPU they run for one sample after the other, and on several threads.
#include "../control_flow/reference.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include <tenure/threads.hpp>

#include "../far_device.hpp"

namespace tn = tenure;

namespace {

template <class T, std::int64_t N, std::int64_t... E>
auto filled() {
  tn::tensor<T, tn::shape<N, E...>> x;
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i) tn::as_span(x)[i] = static_cast<T>(0.9 - 0.17 * static_cast<double>((i * 7 + i / 5) % 12));
  return x;
}

// Seven products of 4 x 4 matrices, 128 operations each, one of them with a matrix that all samples share.
constexpr auto chain = [](auto a, auto b, auto shared) {
  const auto first = matmul(a, b), second = tn::tanh(matmul(first, shared)), third = matmul(second, first) * 0.1;
  const auto fourth = tn::sin(matmul(third, second)), fifth = matmul(fourth, third), sixth = matmul(fifth, fourth) * 0.1;
  return std::tuple{matmul(sixth, tn::transpose<0, 1>(fourth)) + a, tn::sum(third, tn::axis<0>)};
};
constexpr auto chains = tn::vmap<0, 0, tn::unmapped>(chain);
constexpr auto slopes = tn::vmap<0, 0, tn::unmapped>(tn::grad<0, 2>([](auto a, auto b, auto shared) { return tn::sum(std::get<0>(chain(a, b, shared))); }));

template <std::int64_t N, class T = double>
using matrices = tn::tensor<T, tn::shape<N, 4, 4>>;
template <class T = double>
using matrix = tn::tensor<T, tn::shape<4, 4>>;

/// The control-flow operations of the program of a call.
template <class F, class... X>
constexpr int loops_of(const F&) {
  const auto g = tn::program<tn::detail::source_of<std::remove_cvref_t<decltype(std::declval<F>().function)>, X...>>::value.view();
  int loops = 0;
  for (int i = 0; i < g.count; ++i) loops += g[i].op == tn::ir::opcode::control_flow;
  return loops;
}

}  // namespace

TEST_CASE("A large function of a sample is one loop on a CPU, and none on another device") {
  STATIC_REQUIRE(loops_of<decltype(chains), matrices<64>, matrices<64>, matrix<>>(chains) == 1);
  STATIC_REQUIRE(loops_of<decltype(chains), matrices<tn::dyn>, matrices<tn::dyn>, matrix<>>(chains) == 1);
  using far_matrices = tn::tensor<double, tn::shape<64, 4, 4>, tn::ownership::owning, tn::role::constant, tn::access::read_write, far_device>;
  using far_matrix = tn::tensor<double, tn::shape<4, 4>, tn::ownership::owning, tn::role::constant, tn::access::read_write, far_device>;
  STATIC_REQUIRE(loops_of<decltype(chains), far_matrices, far_matrices, far_matrix>(chains) == 0);
}

TEST_CASE("A large function of a sample has the values of the reference, and the bits of single calls") {
  const auto a = filled<double, 19, 4, 4>(), b = filled<double, 19, 4, 4>();
  const auto shared = filled<double, 4, 4>();
  judged::agrees_with_reference("values", chains.function, a, b, shared);
  judged::agrees_with_reference("slopes", slopes.function, a, b, shared);
  const auto [all, sums] = chains(a, b, shared);
  constexpr auto single = tn::compile(chain);
  for (std::int64_t i = 0; i < 19; ++i) {
    const auto [one, sum_of_one] = single(a[i].clone(), b[i].clone(), shared);
    for (std::int64_t r = 0; r < 4; ++r) {
      CHECK(sums(i, r) == sum_of_one(r));
      for (std::int64_t c = 0; c < 4; ++c) CHECK(all(i, r, c) == one(r, c));
    }
  }
}

namespace {

// Written element by element, as kinematics are: each angle by itself, and single elements of what all samples share, which are read twice.
constexpr auto links = [](auto angles, auto shared) {
  const auto link = [&](int i) { return shared * cos(angles(i)) + sin(angles(i)) * shared(i, 0) - shared(i, 0); };
  auto all = matmul(matmul(link(0), link(1)), matmul(link(2), link(3)));
  for (int i = 0; i < 4; ++i) all = matmul(all, link(i)) * 0.1;
  return all;
};

}  // namespace

TEST_CASE("The body of one sample computes functions of a vector, and captures a value once") {
  constexpr auto all = tn::vmap<0, tn::unmapped>(links);
  using angles = tn::tensor<double, tn::shape<64, 4>>;
  using program = tn::program<tn::detail::source_of<std::remove_cvref_t<decltype(all.function)>, angles, matrix<>>>;
  STATIC_REQUIRE(program::value.view().inner.control_flow_count == 1);
  STATIC_REQUIRE(program::value.view().inner.control_flows[0].captures[0] == 5);  // the matrix, and four of its elements
  constexpr int cosines = [] {
    const auto body = tn::program<tn::program_detail::body_source<program, program::value.view().inner.control_flows[0].bodies[0]>>::value.view();
    int n = 0;
    for (int i = 0; i < body.count; ++i) n += body[i].op == tn::ops::code_of<tn::ops::cos>();
    return n;
  }();
  STATIC_REQUIRE(cosines == 1);
  judged::agrees_with_reference("links", all.function, filled<double, 9, 4>(), filled<double, 4, 4>());
}

TEST_CASE("Any number of samples, float32, and NaN in one of them") {
  for (const std::int64_t n : {0, 1, 2, 7, 33}) {
    matrices<tn::dyn, float> a = tn::zeros<float>(tn::shape<tn::dyn, 4, 4>{}, n), b = tn::zeros<float>(tn::shape<tn::dyn, 4, 4>{}, n);
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.size()); ++i) tn::as_span(a)[i] = 0.1f * static_cast<float>(i % 13), tn::as_span(b)[i] = 0.3f - 0.05f * static_cast<float>(i % 11);
    if (n > 2) tn::as_span(a)[20] = std::numeric_limits<float>::quiet_NaN();
    const auto shared = filled<float, 4, 4>();
    INFO("samples: " << n);
    judged::agree(chains(a, b, shared), judged::by_reference(chains.function, a, b, shared), 1e-5);
    const auto sums = std::get<1>(chains(a, b, shared));
    for (std::int64_t i = 0; i < n; ++i) CHECK((sums(i, 0) != sums(i, 0)) == (n > 2 && i == 1));
  }
}

TEST_CASE("A large function of a sample in other programs: a gradient through it, another vmap, strided samples") {
  const auto a = filled<double, 9, 4, 4>(), b = filled<double, 9, 4, 4>();
  const auto shared = filled<double, 4, 4>();
  constexpr auto loss = [](auto a, auto b, auto shared) { return tn::sum(std::get<0>(chains(a, b, shared)) * 0.5); };
  judged::agrees_with_reference("a gradient through it", tn::grad<0, 2>(loss).function, a, b, shared);
  constexpr auto nested = tn::vmap<0, tn::unmapped, tn::unmapped>([](auto a, auto b, auto shared) { return chains(a, b, shared); });
  judged::agrees_with_reference("nested", nested.function, filled<double, 3, 9, 4, 4>(), b, shared);
  constexpr auto along_last = tn::vmap<-1, 0, tn::unmapped>(chain);
  judged::agrees_with_reference("along the last axis", along_last.function, filled<double, 4, 4, 9>(), b, shared);
}

TEST_CASE("Loops without carries on several threads have the bits of one thread") {
  const auto a = filled<double, 203, 4, 4>(), b = filled<double, 203, 4, 4>();
  const auto shared = filled<double, 4, 4>();
  const auto [one, sums] = chains(a, b, shared);
  constexpr auto squares = tn::compile([](auto x) { return std::get<1>(tn::scan([](auto c, auto row) { return std::tuple{c, matmul(row, row) * 2.0}; }, tn::zeros_like(x(0, 0, 0)), x)); });
  const auto squared = squares(a);
  for (const int workers : {2, 3, 8}) {
    const tn::thread_pool pool(workers, 0);
    const auto scope = pool.scope();
    const auto [many, many_sums] = chains(a, b, shared);
    CHECK(std::equal(one.data(), one.data() + one.size(), many.data()));
    CHECK(std::equal(sums.data(), sums.data() + sums.size(), many_sums.data()));
    const auto again = squares(a);
    CHECK(std::equal(squared.data(), squared.data() + squared.size(), again.data()));
  }
}
