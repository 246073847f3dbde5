// SPDX-License-Identifier: BSL-1.0
// A Python module: functions and a training step that Tenure compiles. test_module.py shows it from Python.
#include <mutex>
#include <optional>
#include <vector>

#include <boost/hana/define_struct.hpp>
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include "tenure_nanobind.hpp"

namespace nb = nanobind;
namespace tn = tenure;
using tn::dyn;

// A straight line through points in N dimensions.
template <class Kind, auto N>
struct line {
  BOOST_HANA_DEFINE_STRUCT(line, (tn::param<Kind, float, tn::shape<N>>, w), (tn::param<Kind, float, tn::shape<>>, b));
  constexpr auto operator()(const auto& x) const { return matmul(x, w) + b; }
};
constexpr auto loss = [](auto model, auto x, auto y) { return mse(model(x), y); };

// A model that the module owns, and the optimizer's state.
struct trainer {
  explicit trainer(float learning_rate)
      : one_step(tn::train_step(loss, tn::optim::adam{.learning_rate = learning_rate})), model(tn::init<line, 3>(random)), state(one_step.rule.init(model)) {}

  float step(python::array<const float, dyn, 3> x, python::array<const float, dyn> y) {
    const std::lock_guard one_at_a_time(busy);  // several threads of Python may train
    const tn::flush_denormals scope;            // moments that decay into denormals would slow it down
    return one_step(model, state, x, y).item();
  }

  tn::engine random{0};
  decltype(tn::train_step(loss, tn::optim::adam{})) one_step;
  decltype(tn::init<line, 3>(random)) model;
  decltype(tn::optim::adam{}.init(model)) state;
  std::mutex busy;
};

NB_MODULE(tenure_example, m) {
  python::register_exceptions();

  // The memory of the caller's array, read-only. Without masses all points have the same.
  m.def("center_of_mass", [](python::array<const double, dyn, 3> points, std::optional<python::array<const double, dyn>> masses) {
    if (!masses) return tn::eval(mean(points, tn::axis<0>));
    return tn::eval(matmul(*masses, points) / sum(*masses));
  }, nb::arg("points"), nb::arg("masses") = nb::none(), python::parallel());

  // The mean of vectors, such as the weights of several trainers.
  m.def("average", [](const std::vector<python::array<const float, dyn>>& vectors) {
    auto total = vectors.at(0).clone();
    for (std::size_t i = 1; i < vectors.size(); ++i) total += vectors[i];
    total /= static_cast<float>(vectors.size());
    return total;
  }, nb::arg("vectors"), python::parallel());

  // A compiled function: the value, and the gradient in w.
  m.def("loss_and_gradient", [](python::array<const double, 3> w, python::array<const double, dyn, 3> x, python::array<const double, dyn> y) {
    constexpr auto f = [](auto weights, auto points, auto targets) { return mse(matmul(points, weights), targets); };
    return tn::value_and_grad(f)(w, x, y);
  }, nb::arg("w"), nb::arg("x"), nb::arg("y"), python::parallel());

  // Writes into the caller's array.
  m.def("normalize_", [](python::array<float, dyn, dyn> x) { x.copy_(x / (norm(x) + 1e-12f)); }, nb::arg("x"), python::parallel());

  // The arrays w and b share memory with the model: they show each step, and keep the memory when the trainer is gone.
  nb::class_<trainer>(m, "Trainer")
      .def(nb::init<float>(), nb::arg("learning_rate") = 0.05f)
      .def("step", &trainer::step, nb::arg("x"), nb::arg("y"), python::parallel())
      .def_prop_ro("w", [](trainer& t) { return t.model.w.view(); })
      .def_prop_ro("b", [](trainer& t) { return t.model.b.view(); });
}
