// SPDX-License-Identifier: BSL-1.0
// index_add that sorts by Thrust.
#include <tenure/cuda_thrust.hpp>

namespace tn = tenure;

template <class T, std::int64_t... E>
auto on_gpu() {
  return tn::tensor<T, tn::shape<E...>>{}.to(tn::cuda);
}

auto add_rows() {
  constexpr auto add = tn::compile([](auto x, auto i, auto rows) { return tn::index_add<0>(x, i, rows); });
  return add(on_gpu<float, 1000, 8>(), on_gpu<std::int64_t, 100000>(), on_gpu<float, 100000, 8>());
}
