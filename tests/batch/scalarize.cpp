// SPDX-License-Identifier: BSL-1.0
// Small functions over many samples, compiled: the numbers of a sample are nodes of their own, and lanes are samples.
#include "../control_flow/reference.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include <tenure/threads.hpp>

namespace tn = tenure;

namespace {

template <class T, std::int64_t... E>
using samples_of = tn::tensor<T, tn::shape<tn::dyn, E...>>;

template <class T, std::int64_t... E>
samples_of<T, E...> samples(std::int64_t n) {
  samples_of<T, E...> x = tn::zeros<T>(tn::shape<tn::dyn, E...>{}, n);
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.size()); ++i) tn::as_span(x)[i] = static_cast<T>(0.9 - 0.17 * static_cast<double>((i * 7 + i / 5) % 12));
  return x;
}

// A rotation by a vector, then a division. The Jacobian is 2 x 6.
constexpr auto seen = [](auto p) {
  const auto w = p.at(tn::range<0, 3>()), x = p.at(tn::range<3, 6>());
  const auto shifted = tn::concat<0>(x.at(tn::range<1, 3>()), x.at(tn::range<0, 1>()));
  const auto moved = x + tn::sin(tn::sum(w * w)) * w * shifted;
  return moved.at(tn::range<0, 2>()) / (moved.at(2) + 4.0);
};
constexpr auto jacobians = tn::vmap(tn::jacobian(seen));

// Products of matrices, also with one that all samples share, a transposition and a reduction.
constexpr auto chain = [](auto a, auto b, auto shared) { return tn::tanh(tn::matmul(tn::transpose<0, 1>(a), b)) + tn::amax(tn::matmul(a, shared), tn::axis<1>); };
constexpr auto pair = [](auto p) { return tn::stack(p.at(0) * p.at(1), p.at(0) - tn::exp(p.at(1))); };
constexpr auto chains = tn::vmap<0, 0, tn::unmapped>(chain);

}  // namespace

TEST_CASE("Jacobians of few numbers are one loop over the samples, for any number of samples") {
  using plan = decltype(jacobians.plan(samples_of<double, 6>()));
  STATIC_REQUIRE(plan::kernels() == 1);
  for (const std::int64_t n : {0, 1, 2, 5, 16, 103}) judged::agrees_with_reference(("samples: " + std::to_string(n)).c_str(), jacobians.function, samples<double, 6>(n));
}

TEST_CASE("Without vmap, arrays of few numbers between numbers are numbers too: one kernel, no workspace") {
  // An edge of a graph of poses: a quaternion and a place each.
  constexpr auto edge = [](auto a, auto b, auto measured) {
    const auto conjugate = [](auto q) { return tn::stack(q(0), -q(1), -q(2), -q(3)); };
    const auto turn_of = [](auto pose) { return pose.at(tn::range<0, 4>()); };
    const auto place_of = [](auto pose) { return pose.at(tn::range<4, 7>()); };
    const auto back = conjugate(turn_of(a)), apart = tn::quat_mul(turn_of(measured), conjugate(tn::quat_mul(back, turn_of(b))));
    return tn::concat<0>(40.0 * apart.at(tn::range<1, 4>()), 10.0 * (tn::quat_rotate(back, place_of(b) - place_of(a)) - place_of(measured)));
  };
  using pose = tn::tensor<double, tn::shape<7>>;
  constexpr auto f = tn::compile(edge);
  using plan = decltype(f.plan(pose(), pose(), pose()));
  STATIC_REQUIRE(plan::kernels() == 1);
  STATIC_REQUIRE(plan::workspace_bytes() == 0);
  pose a = {0.9, 0.1, 0.2, -0.3, 0.4, 0.5, 0.6}, b = {0.7, -0.1, 0.4, 0.3, 1.4, -0.5, 0.2}, c = {0.8, 0.3, -0.2, 0.1, 0.3, 0.2, 0.1};
  for (const double x : {0.4, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::quiet_NaN(), 1e200, 1e-320}) {
    tn::as_span(a)[4] = x;
    judged::agree(f(a, b, c), judged::by_reference(edge, a, b, c), 1e-12);
    tn::as_span(b)[2] = x;
    judged::agree(f(a, b, c), judged::by_reference(edge, a, b, c), 1e-12);
    tn::as_span(b)[2] = 0.4;
  }
}

TEST_CASE("Without vmap, a Jacobian is put together from numbers by one kernel, whatever zeros and ones it has") {
  // A step of a vehicle: place, heading and speed; acceleration and turn. Its Jacobian has 24 elements, most of them 0 or 1.
  constexpr auto move = [](auto z) {
    return tn::stack(z(0) + 0.1 * z(3) * tn::cos(z(2)), z(1) + 0.1 * z(3) * tn::sin(z(2)), z(2) + 0.1 * z(5), z(3) + 0.1 * z(4));
  };
  constexpr auto slopes = [](auto z) { return tn::jacobian(decltype(move)())(z); };
  constexpr auto f = tn::compile(slopes);
  using state = tn::tensor<double, tn::shape<6>>;
  using plan = decltype(f.plan(state()));
  STATIC_REQUIRE(plan::kernels() == 1);
  STATIC_REQUIRE(plan::workspace_bytes() == 0);
  const state z = {0.3, -0.2, 0.7, 1.5, 0.1, 0.2};
  const double c = std::cos(0.7), s = std::sin(0.7);
  const double wanted[4][6] = {{1, 0, -0.15 * s, 0.1 * c, 0, 0}, {0, 1, 0.15 * c, 0.1 * s, 0, 0}, {0, 0, 1, 0, 0, 0.1}, {0, 0, 0, 1, 0.1, 0}};
  const auto found = f(z);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 6; ++j) CHECK(found(i, j) == Approx(wanted[i][j]).epsilon(1e-14));
  // The unit matrix, its rows moved, and a part that a solution fills; the same array in two orders.
  constexpr auto parts = [](auto a, auto b) {
    const auto x = tn::solve(a, b);
    const auto whole = tn::concat<1>(tn::concat<0>(tn::eye<double>(tn::shape<2, 2>{}), tn::outer(x, b)), tn::concat<0>(tn::transpose(x * a), tn::zeros_like(a)));
    return std::tuple{whole, tn::transpose(whole), tn::matmul(whole, tn::transpose(whole)), tn::pad<0, 1, 2>(tn::sin(x), 0.0)};
  };
  const tn::tensor<double, tn::shape<2, 2>> a = {{2, 0.5}, {-1, 3}};
  const tn::tensor<double, tn::shape<2>> b = {0.7, -0.4}, odd = {std::numeric_limits<double>::infinity(), 0.2};
  judged::agree(tn::compile(parts)(a, b), judged::by_reference(parts, a, b), 1e-12);
  judged::agree(tn::compile(parts)(a, odd), judged::by_reference(parts, a, odd), 1e-12);
}

TEST_CASE("A filter of attitude is one kernel, and writes over its state without a copy") {
  // Mahony's filter: a quaternion and a bias go in and come out.
  constexpr auto mahony = [](auto q, auto bias, auto turn, auto pull, auto dt) {
    const auto down = tn::stack(2.0 * (q(1) * q(3) - q(0) * q(2)), 2.0 * (q(0) * q(1) + q(2) * q(3)), q(0) * q(0) - q(1) * q(1) - q(2) * q(2) + q(3) * q(3));
    const auto error = tn::cross(tn::normalize(pull), down);
    const auto next = bias + 0.1 * dt * error;
    const auto w = turn + error + next;
    return std::tuple{tn::normalize(q + 0.5 * dt * tn::quat_mul(q, tn::concat<0>(tn::unsqueeze<0>(tn::zeros_like(dt)), w))), next};
  };
  constexpr auto f = tn::compile(mahony);
  using quaternion = tn::tensor<double, tn::shape<4>>;
  using vector = tn::tensor<double, tn::shape<3>>;
  using plan = decltype(f.plan(quaternion(), vector(), vector(), vector(), 0.01));
  STATIC_REQUIRE(plan::kernels() == 1);
  STATIC_REQUIRE(plan::workspace_bytes() == 0);
  for (const double size : {1.0, 1e-200, 1e200, 0.0, std::numeric_limits<double>::quiet_NaN()}) {
    quaternion q = {0.9, 0.1, -0.2, 0.3}, beside;
    vector bias = {0.01, -0.02, 0.03}, bias_beside;
    const vector turn = {0.1, -0.2, 0.05}, pull = {0.3 * size, -0.5 * size, 9.7 * size};
    judged::agree(f(q, bias, turn, pull, 0.01), judged::by_reference(mahony, q, bias, turn, pull, 0.01), 1e-12);
    CHECK(f.into(q, bias).copied_bytes(q, bias, turn, pull, 0.01) == 0);
    f.into(beside, bias_beside)(q, bias, turn, pull, 0.01);
    f.into(q, bias)(q, bias, turn, pull, 0.01);
    CHECK(std::memcmp(tn::as_span(q).data(), tn::as_span(beside).data(), 4 * sizeof(double)) == 0);
    CHECK(std::memcmp(tn::as_span(bias).data(), tn::as_span(bias_beside).data(), 3 * sizeof(double)) == 0);
  }
  // A result over an argument that it permutes, and one that another step reads after the write.
  constexpr auto turned = [](auto x) { return tn::stack(x(3) + x(0), x(0) - x(1), x(1) * x(2), x(2) + x(0)); };
  constexpr auto later = [](auto x, auto a) { return std::tuple{tn::stack(x(1) + x(0), x(0)), tn::solve(a, tn::stack(tn::sin(x(0)), x(1))) * x(0) + x}; };
  quaternion x = {1, 2, 3, 4};
  const auto alone = tn::compile(turned)(x);
  CHECK(tn::compile(turned).into(x).copied_bytes(x) == 0);
  tn::compile(turned).into(x)(x);
  for (int i = 0; i < 4; ++i) CHECK(x(i) == alone(i));
  tn::tensor<double, tn::shape<2>> y = {1, 2}, other;
  const tn::tensor<double, tn::shape<2, 2>> a = {{2, 0.5}, {-1, 3}};
  const auto [first, second] = tn::compile(later)(y, a);
  tn::compile(later).into(y, other)(y, a);
  for (int i = 0; i < 2; ++i) CHECK((y(i) == first(i) && other(i) == second(i)));
}

TEST_CASE("Matrices of few numbers, float32, with infinities and NaN") {
  using plan = decltype(chains.plan(samples_of<float, 3, 3>(), samples_of<float, 3, 3>(), tn::tensor<float, tn::shape<3, 3>>()));
  STATIC_REQUIRE(plan::kernels() == 1);
  const tn::tensor<float, tn::shape<3, 3>> shared = {{0.5f, -1, 0.25f}, {1, 0.75f, -0.5f}, {2, 0.125f, -1}};
  samples_of<float, 3, 3> a = samples<float, 3, 3>(37), b = samples<float, 3, 3>(37);
  tn::as_span(a)[40] = std::numeric_limits<float>::infinity();
  tn::as_span(b)[100] = std::numeric_limits<float>::quiet_NaN();
  judged::agree(chains(a, b, shared), judged::by_reference(chains.function, a, b, shared), 1e-5);
}

TEST_CASE("Signs of products in sums of small functions") {
  constexpr auto sums = [](auto p) {
    const auto x = p.at(0), y = p.at(1), z = p.at(2);
    return tn::stack(x + (-y) * z, x - (-y) * z, (-y) * z + x, (-y) * z - x, x + y * (-z), x - y * (-z), (-x) * y - (-y) * z);
  };
  const auto p = samples<double, 3>(101);
  judged::agrees_with_reference("signs", tn::vmap(sums), p);
  const auto found = tn::vmap(sums)(p);
  for (std::int64_t i = 0; i < 101; ++i) {
    const double x = p(i, 0), y = p(i, 1), z = p(i, 2);
    const double wanted[] = {x - y * z, x + y * z, x - y * z, -y * z - x, x - y * z, x + y * z, y * z - x * y};
    for (std::int64_t k = 0; k < 7; ++k) CHECK(found(i, k) == Approx(wanted[k]));
  }
}

TEST_CASE("Small functions over samples within other programs") {
  const auto x = samples<double, 6>(21);
  const auto w = tn::tensor<double, tn::shape<6>>{0.3, -0.2, 0.8, 0.5, -0.7, 0.1};
  const auto loss = [](auto w, auto x) { return tn::sum(tn::vmap<0, tn::unmapped>([](auto p, auto w) { return tn::sum(seen(p * w)); })(x, w)); };
  judged::agrees_with_reference("a gradient with respect to what the samples share", tn::grad<0>(loss).function, w, x);
  const auto steps = [](auto x) { return tn::fori_loop(3, [](auto, auto s) { return tn::vmap([](auto p) { return tn::concat<0>(seen(p), p.at(tn::range<0, 4>())); })(s); }, x); };
  judged::agrees_with_reference("in a loop", steps, x);
}

TEST_CASE("Small functions over samples on several threads have the bits of one thread") {
  const auto x = samples<double, 6>(5003);
  const auto alone = jacobians(x);
  const tn::thread_pool pool(3, 0);
  const auto threads = pool.scope();
  const auto shared = jacobians(x);
  CHECK(std::equal(alone.data(), alone.data() + alone.size(), shared.data()));
}

TEST_CASE("Static numbers of samples, along the last axis, and in a slice of an array") {
  tn::tensor<double, tn::shape<2, 70>> x = tn::zeros<double>(tn::shape<2, 70>{});
  for (std::size_t i = 0; i < 140; ++i) tn::as_span(x)[i] = 0.01 * static_cast<double>((i * 31) % 97);
  constexpr auto each = tn::vmap<-1>(pair);
  STATIC_REQUIRE(decltype(each.plan(x))::kernels() == 1);
  judged::agrees_with_reference("along the last axis", each.function, x);
  judged::agrees_with_reference("of a slice", [](auto x) { return tn::vmap<-1>(pair)(x.at(tn::all, tn::range<3, 67>())); }, x);
}

namespace {

// The pixel of a point: rotation by an axis, shift, perspective, distortion. Its Jacobian is one kernel of more than 256 instructions.
constexpr auto projection = [](auto p) {
  const auto wx = p.at(0), wy = p.at(1), wz = p.at(2), px = p.at(12), py = p.at(13), pz = p.at(14);
  const auto square = wx * wx + wy * wy + wz * wz, angle = sqrt(square);
  const auto s = sin(angle) / angle, c = (1.0 - cos(angle)) / square;
  const auto ax = wy * pz - wz * py, ay = wz * px - wx * pz, az = wx * py - wy * px;
  const auto bx = wy * az - wz * ay, by = wz * ax - wx * az, bz = wx * ay - wy * ax;
  const auto x = px + s * ax + c * bx + p.at(3), y = py + s * ay + c * by + p.at(4), z = pz + s * az + c * bz + p.at(5);
  const auto u = x / z, v = y / z, r = u * u + v * v, d = 1.0 + r * (p.at(10) + r * p.at(11));
  return tn::stack(p.at(6) * d * u + p.at(8), p.at(7) * d * v + p.at(9));
};
// The weighted error of one observation. Without a rotation s = 1 and c = 1/2.
constexpr auto error_of = [](auto camera, auto point, auto weight, auto seen) {
  const auto at = [=](int i) { return point.at(i) - camera.at(3 + i); };
  const auto cross = [](auto a, auto b, auto c, auto d) { return a * d - b * c; };
  const auto wx = camera.at(0), wy = camera.at(1), wz = camera.at(2), px = at(0), py = at(1), pz = at(2);
  const auto square = wx * wx + wy * wy + wz * wz;
  const auto trip_count = square > 0.0;
  const auto safe = where(trip_count, square, 1.0), angle = sqrt(safe);
  const auto s = where(trip_count, sin(angle) / angle, 1.0), c = where(trip_count, (1.0 - cos(angle)) / safe, 0.5);
  const auto ax = cross(wy, wz, py, pz), ay = cross(wz, wx, pz, px), az = cross(wx, wy, px, py);
  const auto bx = cross(wy, wz, ay, az), by = cross(wz, wx, az, ax), bz = cross(wx, wy, ax, ay);
  const auto x = px + s * ax + c * bx, y = py + s * ay + c * by, z = pz + s * az + c * bz;
  const auto u = x / z, v = y / z, r = u * u + v * v, focal = camera.at(6) * (1.0 + r * (camera.at(9) + r * camera.at(10)));
  return weight * (tn::stack(u * focal + camera.at(7), v * focal + camera.at(8)) - seen);
};
constexpr auto block_of = [](auto camera, auto point, auto weight, auto seen) {
  const auto [by_camera, by_point, by_weight] = tn::jacobian<0, 1, 2>(error_of)(camera, point, weight, seen);
  return tn::concat<1>(by_camera, by_point, tn::unsqueeze<1>(by_weight));
};

}  // namespace

TEST_CASE("A Jacobian of four arguments with 50 numbers alive at a time is one kernel") {
  constexpr auto blocks = tn::vmap(block_of);
  STATIC_REQUIRE(decltype(blocks.plan(samples_of<double, 11>(), samples_of<double, 3>(), samples_of<double>(), samples_of<double, 2>()))::kernels() == 1);
}

TEST_CASE("A kernel of more instructions than clang takes in one fold, which runs on two packets at a time") {
  constexpr auto all = tn::vmap(tn::jacobian(projection));
  constexpr auto one = tn::jacobian(projection);
  STATIC_REQUIRE(decltype(all.plan(samples_of<double, 15>()))::kernels() == 1);
  samples_of<double, 15> x = samples<double, 15>(11);
  for (std::size_t i = 0; i < 11; ++i) tn::as_span(x)[15 * i + 14] = 4 + 0.1 * static_cast<double>(i);
  const auto y = all(x);
  for (int i = 0; i < 11; ++i) {
    const auto expected = one(x[i]);
    for (int r = 0; r < 2; ++r)
      for (int k = 0; k < 15; ++k) CHECK(y(i, r, k) == Approx(expected(r, k)).margin(1e-13));
  }
}

template <int Layers>
constexpr auto layered = tn::vmap<0, tn::unmapped>([](auto x, auto w) {
  for (int i = 0; i < Layers; ++i) x = tn::tanh(tn::matmul(w, x));
  return tn::sum(x);
});
TEST_CASE("A function with more operations than the limit keeps its rows") {
  using matrix = tn::tensor<double, tn::shape<6, 6>>;
  STATIC_REQUIRE(decltype(layered<2>.plan(samples_of<double, 6>(), matrix()))::kernels() == 1);
  STATIC_REQUIRE(decltype(layered<12>.plan(samples_of<double, 6>(), matrix()))::kernels() > 12);
}
