// SPDX-License-Identifier: BSL-1.0
#include "fake_device.hpp"

#include "../device/eager.hpp"

using namespace device_tests;

TEST_CASE("cuda: expressions and gradients, as late as may be and in random orders") {
  const int live = (fake_cuda::finish(), fake_cuda::live());
  for (const std::uint64_t seed : {0u, 1u, 2u, 3u}) {
    fake_cuda::eager(seed);
    expressions(cuda);
    gradients(cuda);
    const cuda_stream own;
    gradients(cuda);
  }
  fake_cuda::eager(0);
  fake_cuda::finish();
  CHECK(fake_cuda::live() == live);
}

TEST_CASE("cuda: a tensor prints as on the host, and says where it is") {
  const matrix x{{1, 2, 3}, {4, 5, 6}};
  std::ostringstream here, there;
  here << x;
  there << x.to(cuda);
  std::string expected = here.str();
  expected.insert(expected.size() - 1, ", cuda");
  CHECK(there.str() == expected);
}

TEST_CASE("cuda: a backward() in which a call fails has changed nothing") {
  auto w = matrix{{1, 2, 3}, {4, 5, 6}}.to(cuda).requires_grad_();
  auto loss = [&] { return sum(exp(w * 0.5) * w.at(all, range(0, 3))); };
  loss().backward();
  const auto before = elements(w.grad());
  int failures = 0;
  for (;; ++failures) {
    const int live = (fake_cuda::finish(), fake_cuda::live());
    fake_cuda::fail_at = failures;
    try {
      loss().backward();
      break;
    } catch (const cuda_error&) {
      fake_cuda::fail_at = -1;
      CHECK(elements(w.grad()) == before);
      fake_cuda::finish();
      CHECK(fake_cuda::live() == live);
    }
  }
  fake_cuda::fail_at = -1;
  CHECK(failures > 5);
  CHECK(elements(w.grad()) != before);
}
