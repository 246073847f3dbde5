// SPDX-License-Identifier: BSL-1.0
// A model whose parameters are bfloat16 is initialized, trained, saved and loaded.
#include <filesystem>

#include <boost/hana/define_struct.hpp>

#include <tenure/interop/save.hpp>
#include <tenure/tenure.hpp>

#include "../catch.hpp"

namespace tn = tenure;
using tn::bfloat16;

namespace {
template <class Kind>
struct model {
  BOOST_HANA_DEFINE_STRUCT(model, (tn::param<Kind, bfloat16, tn::shape<4, 8>>, w1), (tn::param<Kind, bfloat16, tn::shape<8>>, b1), (tn::param<Kind, bfloat16, tn::shape<8, 1>>, w2));
  constexpr auto operator()(const auto& x) const { return matmul(tanh(matmul(x, w1) + b1), w2); }
};
}  // namespace

TEST_CASE("a model in bfloat16 learns, and its file has its numbers") {
  tn::engine random(1);
  auto m = tn::init<model>(random);
  const auto x = tn::normal<bfloat16>(tn::shape<64, 4>{}, random);
  const tn::tensor y = tn::sum(x, tn::axis<1>, tn::keepdim);
  auto step = tn::train_step([](auto p, auto in, auto out) { return tn::mse(p(in), out); }, tn::optim::adam{.learning_rate = 0.02f});
  auto state = step.rule.init(m);
  const float first = step(m, state, x, y).item();
  float last = first;
  for (int i = 0; i < 200; ++i) last = step(m, state, x, y).item();
  CHECK(first > 1);
  CHECK(last < 0.05f);

  const std::string path = (std::filesystem::temp_directory_path() / "tenure-bfloat16.npz").string();
  tn::save(path, m);
  auto back = tn::init<model>(random);
  tn::load(path, back);
  for (int i = 0; i < 8; ++i) CHECK(back.b1(i) == m.b1(i));
  std::filesystem::remove(path);
}
