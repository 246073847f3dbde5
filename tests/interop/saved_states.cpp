// SPDX-License-Identifier: BSL-1.0
// Files that do not fit what is loaded, and files behind symbolic links.
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <tuple>

#include <tenure/interop/save.hpp>
#include <tenure/optim/adam.hpp>
#include <tenure/optim/sgd.hpp>
#include <tenure/tenure.hpp>

#include "catch.hpp"

namespace tn = tenure;
namespace fs = std::filesystem;
using vector = tn::tensor<float, tn::shape<2>>;

TEST_CASE("the state of a rule with fewer moments refuses the file, wherever it stands") {
  const tn::optim::adam adam;
  const tn::optim::sgd sgd{.momentum = 0.9};
  vector w{1, 2};
  auto of_adam = adam.init(w);
  auto of_sgd = sgd.init(w);
  tn::save("of_one.npz", of_adam);
  CHECK_THROWS_WITH(tn::load("of_one.npz", of_sgd), "tenure: load: of_one.npz: array 'moments.1': the state has only 1 of these");
  tn::save("of_tie.npz", std::tie(w, of_adam));
  CHECK_THROWS_WITH(tn::load("of_tie.npz", std::tie(w, of_sgd)), "tenure: load: of_tie.npz: array '1.moments.1': the state has only 1 of these");
  tn::load("of_tie.npz", std::tie(w, of_adam));

  std::tuple both{w.clone(), w.clone()};
  auto of_both = adam.init(both);
  auto fewer = sgd.init(both);
  auto inner = std::tie(of_both);
  auto inner_of_fewer = std::tie(fewer);
  tn::save("of_both.npz", std::tie(both, inner));
  CHECK_THROWS_WITH(tn::load("of_both.npz", std::tie(both, inner_of_fewer)), "tenure: load: of_both.npz: array '1.0.moments.1.0': the state has only 1 of these");
  tn::save("of_sgd.npz", of_sgd);
  tn::load("of_sgd.npz", of_sgd);
}

TEST_CASE("an array of more axes than a tensor has is refused with their number") {
  const std::int64_t nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  const float v = 5;
  const tn::interop::array_view a{"array", "<f4", nine, std::as_bytes(std::span(&v, 1))};
  tn::interop::write_npz("nine.npz", std::span(&a, 1));
  tn::tensor<float, tn::shape<>> x;
  CHECK_THROWS_WITH(tn::load("nine.npz", x), "tenure: load: nine.npz: array 'array': has 9 axes, the model has shape scalar");
}

TEST_CASE("a write through a symbolic link makes the file that it points to") {
  for (const char* name : {"first.npz", "second.npz", "dangling_target.npz"}) fs::remove(name);
  fs::create_symlink("second.npz", "first.npz");
  fs::create_symlink(fs::absolute("dangling_target.npz"), "second.npz");
  tn::save("first.npz", vector{1, 2});
  CHECK(fs::is_symlink("first.npz"));
  CHECK(fs::is_symlink("second.npz"));
  REQUIRE(fs::is_regular_file(fs::symlink_status("dangling_target.npz")));
  vector x;
  tn::load("dangling_target.npz", x);
  CHECK(x(1) == 2);
}
