// SPDX-License-Identifier: BSL-1.0
// Tensors in the memory of a device: transfers, copies, fills, conversions, views.
#pragma once

#include "same.hpp"

namespace device_tests {

template <class Device>
void transfers(Device device) {
  matrix x{{1, 2, 3}, {4, 5, 6}};
  auto there = x.to(device);
  x.fill_(0);
  CHECK(elements(there) == list{1, 2, 3, 4, 5, 6});
  CHECK(elements(there.transpose()) == list{1, 4, 2, 5, 3, 6});
  CHECK(elements(there.template to<float>().template to<double>()) == list{1, 2, 3, 4, 5, 6});
  there.at(all, range<0, 3, 2>()).fill_(7);
  CHECK(elements(there) == list{7, 2, 7, 7, 5, 7});
  there.copy_(tensor<std::int64_t, shape<3>>{1, 2, 3});
  there.transpose().copy_(matrix{{1, 2, 3}, {4, 5, 6}}.to(device).transpose());
  CHECK(elements(there) == list{1, 2, 3, 4, 5, 6});
  CHECK(elements(there.clone()) == elements(there));
  CHECK(elements(deepcopy(there)) == elements(there));
  CHECK(elements(zeros_like(there)) == list(6, 0));
  x.copy_(there.at(1));
  CHECK(elements(x) == list{4, 5, 6, 4, 5, 6});
}

/// More than the pinned memory of a GPU's transfers holds.
template <class Device>
void large_transfers(Device device) {
  const auto n = std::int64_t{(5 << 20) / 2 + 3};
  tensor<float, shape<dyn>> x = arange<float>(shape<dyn>{}, n);
  const auto there = x.to(device);
  x.fill_(0);
  const auto back = there.to(cpu);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < n; ++i) wrong += back(i) != static_cast<float>(i);
  CHECK(wrong == 0);
}

}  // namespace device_tests
