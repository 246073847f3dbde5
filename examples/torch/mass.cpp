// SPDX-License-Identifier: BSL-1.0
// A mass on a damped spring, for mass.py:
//   of_torch=$(python3 -c "import torch, os; print(os.path.dirname(torch.__file__))")
//   g++ -std=c++20 -O3 -march=native -fPIC -shared -I include -isystem /usr/include/eigen3 -isystem $of_torch/include examples/torch/mass.cpp
//     -L $of_torch/lib -ltorch_cpu -o libmass.so
#include <boost/hana/define_struct.hpp>

#include <tenure/interop/torch.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

template <class Kind>
struct spring {
  BOOST_HANA_DEFINE_STRUCT(spring, (tn::param<Kind, float, tn::shape<>>, stiffness), (tn::param<Kind, float, tn::shape<>>, damping));
};

// The places of the mass at 100 times, from the forces on it.
constexpr auto swing = [](auto spring, auto forces) {
  const auto step = [=](auto state, auto force) {
    const auto [x, v] = state;
    const auto next = v + 0.05f * (force - spring.stiffness * x - spring.damping * v);
    return std::tuple{std::tuple{x + 0.05f * next, next}, x};
  };
  const auto zero = zeros_like(spring.stiffness);
  return std::get<1>(tn::scan(step, std::tuple{zero, zero}, forces));
};

TENURE_TORCH(swing, tn::shared_argument<spring<tn::values>>, tn::tensor<float, tn::shape<100>>);
