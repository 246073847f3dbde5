// SPDX-License-Identifier: BSL-1.0
// interpolate in every layout, in narrow types, for run-time numbers of images and for batches agrees with the reference. (Golden values: golden/images.)
#include "agree.hpp"
using namespace laws;
TEST_CASE("interpolate: layouts, narrow types, batches") {
  const auto x = filled<float>(shape<2, 3, 5, 7>{}, 1);
  agrees(tn::compile([](auto a) { return std::tuple{tn::interpolate<tn::resize{.size = {9, 4}, .mode = tn::bilinear}>(a), tn::interpolate<2>(tn::cast<tn::bfloat16>(a))}; }), 4.0, x);
  const auto rows = filled<float>(shape<dyn, 3, 5, 7>{}, 1, 4);
  agrees(tn::value_and_grad<0>([](auto a) { return sum(square(tn::interpolate<tn::resize{.factor = 2, .mode = tn::bilinear, .layout = tn::nhwc}>(a))); }), 8.0, rows);
  agrees(tn::vmap([](auto a) { return tn::interpolate<tn::resize{.size = {3, 3}, .mode = tn::bilinear}>(a); }), 4.0, rows);
  const tn::tensor first = tn::permute<0, 2, 3, 1>(tn::interpolate<tn::resize{.size = {9, 4}, .mode = tn::bilinear}>(x));
  const tn::tensor last = tn::interpolate<tn::resize{.size = {9, 4}, .mode = tn::bilinear, .layout = tn::nhwc}>(tn::permute<0, 2, 3, 1>(x));
  CHECK(tn::all(first == last).item());
}
