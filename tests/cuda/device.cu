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

TEST_CASE("cuda: an error says which call it comes from") {
  try {
    cuda_detail::check(cudaErrorInvalidValue, "cudaMemcpyAsync");
    CHECK(false);
  } catch (const cuda_error& e) {
    CHECK(std::string(e.what()) == "tenure: cudaMemcpyAsync: invalid argument (cudaErrorInvalidValue)");
  }
}
