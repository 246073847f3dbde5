// SPDX-License-Identifier: BSL-1.0
// The device in the type, with a device whose memory the host cannot read: its addresses are not the ones of its elements.
// Whatever touches an element except through device_memory faults.
#include <cstdint>
#include <type_traits>
#include <vector>

#include <tenure/tensor/deepcopy.hpp>
#include <tenure/tensor/factories.hpp>
#include <tenure/tensor/from.hpp>

#include "catch.hpp"
#include "../far_memory.hpp"
#include "later.hpp"

using namespace tenure;

namespace {
template <class X>
std::vector<double> values(const X& x) {
  const auto here = x.to(cpu).clone();
  return {here.data(), here.data() + here.size()};
}
using list = std::vector<double>;
using matrix = tensor<double, shape<2, 3>>;
using far_matrix = tensor<double, shape<2, 3>, ownership::owning, role::constant, access::read_write, far_device>;
}  // namespace

TEST_CASE("a device is a device, and nothing else is") {
  STATIC_REQUIRE(any_device<cpu_device>);
  STATIC_REQUIRE(any_device<const cuda_device&>);
  STATIC_REQUIRE(any_device<far_device>);
  STATIC_REQUIRE_FALSE(any_device<int>);
  STATIC_REQUIRE_FALSE(any_device<shape<2>>);
  STATIC_REQUIRE_FALSE(any_device<matrix>);
}

TEST_CASE("to(device) is new memory there, and a view where the elements lie there already") {
  matrix x{{1, 2, 3}, {4, 5, 6}};
  auto there = x.to(far);
  static_assert(std::is_same_v<decltype(there), far_matrix> && std::is_same_v<device_of_t<decltype(there)>, far_device>);
  static_assert(!is_on_host_v<decltype(there)> && is_on_host_v<matrix>);
  auto alias = there.to(far);
  auto same = x.to(cpu);
  static_assert(ownership_of_v<decltype(alias)> == ownership::aliasing && ownership_of_v<decltype(same)> == ownership::aliasing);
  CHECK(alias.data() == there.data());
  x.fill_(0);
  CHECK(values(there) == list{1, 2, 3, 4, 5, 6});
  CHECK(values(there.transpose()) == list{1, 4, 2, 5, 3, 6});
  CHECK(values(x.transpose().to(far)) == list(6, 0));
  CHECK(values(there.at(all, range<0, 3, 2>())) == list{1, 3, 4, 6});
}

TEST_CASE("clones, fills, conversions, views and deep copies stay on their device") {
  far_matrix x;
  CHECK(values(x) == list(6, 0));
  x.at(all, 1).fill_(5);
  auto y = x.clone();
  auto whole = x.transpose().clone().to<std::int64_t>();
  static_assert(std::is_same_v<device_of_t<decltype(whole)>, far_device>);
  y.fill_(1);
  CHECK(values(x) == list{0, 5, 0, 0, 5, 0});
  CHECK(values(whole.to<double>()) == list{0, 0, 5, 5, 0, 0});
  CHECK(values(full_like(x, 3)) == list(6, 3));
  CHECK(values(deepcopy(x)) == values(x));
  x = y.clone();
  auto seen = x.view();
  x = full_like(y, 7);
  CHECK(values(seen) == list(6, 7));
  CHECK(x.version() == 1);
  tensor<float, shape<>, ownership::owning, role::constant, access::read_write, far_device> number(2.5f);
  CHECK(number.to(cpu).item() == 2.5f);
}

TEST_CASE("copy_ crosses devices, converts and broadcasts") {
  far_matrix there;
  there.copy_(tensor<float, shape<3>>{1, 2, 3});
  CHECK(values(there) == list{1, 2, 3, 1, 2, 3});
  there.transpose().copy_(tensor<std::int64_t, shape<3, 2>>{{1, 2}, {3, 4}, {5, 6}});
  CHECK(values(there) == list{1, 3, 5, 2, 4, 6});
  CHECK(there.version() == 2);
  matrix here;
  here.copy_(there);
  CHECK(values(here) == values(there));
  here.at(all, 0).copy_(there.at(all, 2));
  CHECK(values(here) == list{5, 3, 5, 6, 4, 6});
  there[0].copy_(there[1]);
  CHECK(values(there) == list{2, 4, 6, 2, 4, 6});
  CHECK_THROWS_AS(there.at(all, range<0, 2>()).copy_(there.at(all, range<1, 3>())), overlap_error);
  const auto like = here.new_tensor(there);
  static_assert(std::is_same_v<std::remove_const_t<decltype(like)>, matrix>);
  CHECK(values(there.new_tensor<float>(here).to<double>()) == values(here));
}

TEST_CASE("contiguous elements move at once, and an empty tensor without a transfer") {
  const matrix x{{1, 2, 3}, {4, 5, 6}};
  const int before = far_events_so_far.transfers, allocated = far_events_so_far.allocations;
  const auto there = x.to(far);
  CHECK(far_events_so_far.transfers == before + 1);
  CHECK(far_events_so_far.allocations == allocated + 1);
  const tensor<double, shape<0, 3>> none;
  CHECK(none.to(far).size() == 0);
  CHECK(far_events_so_far.transfers == before + 1);
}

TEST_CASE("a leaf and its aliases live where the memory does") {
  auto w = far_matrix().requires_grad_();
  static_assert(is_leaf_v<decltype(w)> && std::is_same_v<device_of_t<decltype(w)>, far_device>);
  auto d = w.detach();
  d.fill_(4);
  CHECK(values(w.detach()) == list(6, 4));
  CHECK(w.version() == 1);
}
