// SPDX-License-Identifier: BSL-1.0
// Memory, expressions, gradients and training on a GPU: what the other devices of these tests run too.
#include <tenure/cpu.hpp>
#include <tenure/cuda.hpp>
#include <tenure/print.hpp>

#include "../device/eager.hpp"
#include "../device/memory.hpp"
#include "../device/training.hpp"

using namespace device_tests;

TEST_CASE("cuda: elements go there and come back") {
  transfers(cuda);
  large_transfers(cuda);
  const cuda_stream own;
  transfers(cuda);
}

TEST_CASE("cuda: expressions are computed where their tensors are") { expressions(cuda); }

TEST_CASE("cuda: gradients flow and accumulate where their leaves are") {
  gradients(cuda);
  const cuda_stream own;
  gradients(cuda);
}

TEST_CASE("cuda: models train there as here") {
  train(cuda, [](const auto& there_x, const auto& x, auto both) {
    const auto other = x.clone().mul_(2);
    const auto there_other = other.to(cuda);
    for (int i = 0; i < 4; ++i) both(there_x, x);
    both(there_other, other);
    both(there_x, x);
  });
  labels_are_checked(cuda);
}

TEST_CASE("cuda: sums and products have the same bits in every run, on every stream") {
  engine random(3);
  const auto x = uniform<float>(shape<1500, 700>{}, random, -1.f, 1.f).to(cuda);
  const auto scale = uniform<float>(shape<700>{}, random, -1.f, 1.f).to(cuda);
  constexpr auto f = compile([](auto x, auto scale) {
    constexpr auto norm = [](auto x, auto scale) { return mean(square(layer_norm(x, scale, scale))); };
    const auto [loss, to_x, to_scale] = value_and_grad<0, 1>(norm)(x, scale);
    return std::tuple{loss, to_x, to_scale, sum(x), sum(x, axis<0>), sum(x, axis<1>), softmax(x), matmul(x, transpose(x))};
  });
  const auto first = f(x, scale);
  const auto same_bits = [&](const auto& again) {
    const auto compare = [](const auto& a, const auto& b) { CHECK(elements(a) == elements(b)); };
    [&]<std::size_t... I>(std::index_sequence<I...>) { (compare(std::get<I>(first), std::get<I>(again)), ...); }(std::make_index_sequence<8>{});
  };
  same_bits(f(x, scale));
  const cuda_stream own;
  same_bits(f(x, scale));
}

TEST_CASE("cuda: extents with names, one program for all") {
  static constexpr auto batch = dim("batch"), features = dim("features");
  constexpr auto f = compile([](auto x, auto w, auto labels) { return std::tuple{softmax(matmul(x, w)), cross_entropy(matmul(x, w), labels)}; });
  for (const auto& [rows, columns] : {std::pair{5, 3}, {40, 300}, {1, 1}}) {
    engine random(4);
    const auto x = uniform<double>(shape<batch, features>{}, random, -1.0, 1.0, rows, columns);
    const auto w = uniform<double>(shape<features, 7>{}, random, -1.0, 1.0, columns);
    const auto labels = full<std::int64_t>(shape<batch>{}, 6, rows);
    const auto [here, loss] = f(x, w, labels);
    const auto [there, far_loss] = f(x.to(cuda), w.to(cuda), labels.to(cuda));
    static_assert(std::is_same_v<decltype(there)::shape_type, shape<batch, 7>>);
    CHECK(agrees(elements(there), elements(here)));
    CHECK(agrees(far_loss.item(), loss.item()));
    CHECK_THROWS_WITH(f(x.to(cuda), zeros<double>(shape<features, 7>{}, columns + 1).to(cuda), labels.to(cuda)), Catch::Contains("tenure: "));
  }
}

TEST_CASE("cuda: an error says which call it comes from") {
  try {
    cuda_detail::check(cudaErrorInvalidValue, "cudaMemcpyAsync");
    CHECK(false);
  } catch (const cuda_error& e) {
    CHECK(std::string(e.what()) == "tenure: cudaMemcpyAsync: invalid argument (cudaErrorInvalidValue)");
  }
}
