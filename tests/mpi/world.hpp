// SPDX-License-Identifier: BSL-1.0
// The group of all test cases, and a perceptron with its samples.
#pragma once

#include <boost/hana/define_struct.hpp>

#include <tenure/mpi.hpp>

namespace tn = tenure;

/// One group for the whole program: MPI cannot be initialized twice.
inline tn::mpi::group& world() {
  static tn::mpi::group all;
  return all;
}

template <class Kind>
struct perceptron {
  BOOST_HANA_DEFINE_STRUCT(perceptron,
    (tn::param<Kind, float, tn::shape<20, 30>>, w1), (tn::param<Kind, float, tn::shape<30>>, b1),
    (tn::param<Kind, float, tn::shape<30, 7>>, w2),  (tn::param<Kind, float, tn::shape<7>>, b2));

  constexpr auto operator()(const auto& x) const { return matmul(tanh(matmul(x, w1) + b1), w2) + b2; }
};
constexpr auto loss = [](auto model, auto x, auto y) { return cross_entropy(model(x), y); };

/// The samples of a step of all ranks: 1, 2, 3 and 4 divide them.
constexpr std::int64_t rows = 12;

/// Samples from number `first` on, the same on every rank.
struct samples {
  tn::tensor<float, tn::shape<tn::dyn, 20>> x;
  tn::tensor<std::int32_t, tn::shape<tn::dyn>> y;

  samples(std::int64_t first, std::int64_t count) : x(count), y(count) {
    for (std::int64_t i = 0; i < count; ++i) {
      tn::as_span(y)[static_cast<std::size_t>(i)] = static_cast<std::int32_t>((first + i) % 7);
      for (std::int64_t j = 0; j < 20; ++j)
        tn::as_span(x)[static_cast<std::size_t>(i * 20 + j)] = static_cast<float>(((first + i) * 37 + j * 11) % 101) / 50.0f - 1.0f;
    }
  }
  /// The part of a rank.
  static samples of(const tn::mpi::group& g) { return {g.rank() * (rows / g.size()), rows / g.size()}; }
};

inline perceptron<tn::values> new_model() {
  tn::engine random(3);
  return tn::init<perceptron>(random);
}
