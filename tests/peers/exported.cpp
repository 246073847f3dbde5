// SPDX-License-Identifier: BSL-1.0
// Functions that xla_ffi.py calls from JAX, and torch_operators.py from PyTorch: models, tuples, run-time extents, narrow types, loops, integers, and a gradient as a function.
#include <boost/hana/define_struct.hpp>

#include <tenure/tenure.hpp>

#if EXPORT_TO_TORCH
#include <tenure/interop/torch.hpp>
#define EXPORT TENURE_TORCH
#else
#include <tenure/interop/xla_ffi.hpp>
#define EXPORT TENURE_XLA_FFI
#endif

namespace {
namespace tn = tenure;
using tn::dyn;
template <class T, std::int64_t... E>
using array = tn::tensor<T, tn::shape<E...>>;

template <class Kind>
struct camera {
  BOOST_HANA_DEFINE_STRUCT(camera, (tn::param<Kind, double, tn::shape<3>>, rotation), (tn::param<Kind, double, tn::shape<3>>, position), (tn::param<Kind, double, tn::shape<>>, focal));
};
template <class Kind>
struct network {
  BOOST_HANA_DEFINE_STRUCT(network, (tn::param<Kind, double, tn::shape<4, 5>>, w), (tn::param<Kind, double, tn::shape<4>>, b));
};

constexpr auto projected = [](auto c, auto point) {
  const auto seen = cross(c.rotation, point) + point + c.position;
  return tn::stack<0>(c.focal * seen(0) / seen(2), c.focal * seen(1) / seen(2));
};
constexpr auto layer = [](auto net, auto x) { return tanh(matmul(net.w, x) + net.b); };
constexpr auto both = [](auto pair) {
  const auto& [x, y] = pair;
  return std::tuple{x * sum(y), std::tuple{sin(y), dot(x, y)}};
};
constexpr auto joined = [](auto x, auto y) { return tn::concat<0>(x * sum(y), exp(y)); };
constexpr auto table = [](auto x, auto y) { return outer(sin(x), y) * sum(x); };
constexpr auto newton = [](auto x) {
  return tn::fori_loop(6, [=](auto, auto y) { return 0.5 * (y + x / y); }, x);
};
constexpr auto chosen = [](auto keep, auto n, auto x) { return std::tuple{where(keep, x, 0.0f), n + 1}; };
constexpr auto narrow = [](auto x) { return x * x + x; };
constexpr auto energy = [](auto x) { return sum(x * x * x) / 3.0 + sum(sin(x)); };
constexpr auto slope = tn::grad(energy);
constexpr auto checked = [](auto x, auto y) { return x + y; };
}  // namespace

EXPORT(projected, camera<tn::values>, tn::constant_argument<array<double, 3>>);
EXPORT(layer, tn::shared_argument<network<tn::values>>, array<double, 5>);
EXPORT(both, std::tuple<array<double, 3>, array<double, 3>>);
EXPORT(joined, array<double, 4>, array<double, dyn>);
EXPORT(table, array<double, dyn>, array<double, dyn>);
EXPORT(newton, double);
EXPORT(chosen, array<bool, 4>, array<std::int32_t, 2>, array<float, 4>);
EXPORT(narrow, array<tn::bfloat16, 8>);
EXPORT(energy, array<double, 3>);
EXPORT(slope, array<double, 3>);
EXPORT(checked, array<double, dyn>, array<double, dyn>);
