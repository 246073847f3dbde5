// SPDX-License-Identifier: BSL-1.0
// A vector times a small matrix in a call whose arguments together are large: the rows come one by one. Law: the bits are those of a call alone.
#include <tenure/tenure.hpp>

#include "../catch.hpp"
#include "../difference.hpp"

namespace {

namespace tn = tenure;
namespace backend = tn::cpu_backend;
using kernel = backend::product_kernel;

constexpr std::int64_t layers = 40, width = 400, rest = 300;
using stack = tn::tensor<float, tn::shape<layers, width, width>>;
using row = tn::tensor<float, tn::shape<width>>;

constexpr auto all_layers = tn::compile([](auto x, auto w) {
  return std::get<0>(tn::scan([](auto h, auto m) { return std::tuple{tanh(matmul(h, transpose(m))), tn::nothing}; }, x, w));
});
constexpr auto one_layer = tn::compile([](auto h, auto m) { return tanh(matmul(h, transpose(m))); });

}  // namespace

TEST_CASE("rows of a matrix come one by one where the arguments of the call are larger than a cache") {
  using namespace backend::detail;
  const backend::matrix_ref<float> x{nullptr, width, 1}, w{nullptr, 1, width}, v{nullptr, 1, 1}, left{nullptr, width, 1};
  const std::int64_t large = 20 << 20;
  const auto choice = [&](std::int64_t bytes) { return backend::choose<float>(1, width, width, x, w, width, elements_around(1, width, width, x, w, bytes)).kernel; };
  CHECK(choice(0) == kernel::dots);
  CHECK(choice(8 << 20) == kernel::dots);
  CHECK(choice(large) == kernel::dots_one_by_one);
  CHECK(backend::choose<float>(width, 1, width, left, v, 1, elements_around(width, 1, width, left, v, large)) == backend::product_choice{kernel::dots_one_by_one, true});
  // Other products do not ask.
  CHECK(elements_around(rest, width, width, x, w, large) == 0);
  CHECK(elements_around(1, width, width, x, backend::matrix_ref<float>{nullptr, width, 1}, large) == 0);
  tn::engine random(1);
  const auto w_all = tn::normal<float>(stack::shape_type{}, random, 0.0, 0.05);
  const auto first = tn::normal<float>(row::shape_type{}, random);
  CHECK(tn::program_detail::argument_bytes<typename decltype(all_layers.plan(first, w_all))::program_type> == (layers * width + 1) * width * 4);
  row h = first.clone();
  for (std::int64_t l = 0; l < layers; ++l) {
    const auto m = w_all[l].clone();
    h = one_layer(h, m);
  }
  const row found = all_layers(first, w_all);
  CHECK(first_difference(found.data(), h.data(), width));
}
