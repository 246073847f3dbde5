// SPDX-License-Identifier: BSL-1.0
// vmap of a while_loop: each sample has a number of iterations of its own. A loop whose body is one kernel runs a few samples until they are done, and
// then the next ones. Judged by the calls for one sample, and by the reference backend.
#include "../catch.hpp"

#include <limits>

#include <tenure/threads.hpp>

#include "reference.hpp"

namespace {
namespace tn = tenure;
template <class T>
using vec = tn::tensor<T, tn::shape<tn::dyn>>;

// Newton's method for exp(z) + z = x, with a bound.
constexpr auto newton = [](auto x, auto tolerance) {
  const auto is_next = [=](const auto& state) {
    const auto& [z, step, count] = state;
    return abs(step) > tolerance && count < 40;
  };
  const auto iteration = [=](const auto& state) {
    const auto& [z, step, count] = state;
    const auto e = exp(z);
    const auto next = (e + z - x) / (e + 1);
    return std::tuple{z - next, next, count + 1};
  };
  const auto begin = x * 0 + 1;
  return tn::while_loop(is_next, iteration, std::tuple{begin, begin, begin * 0});
};
// The same, whose condition computes what the iteration needs: an iteration begins with it.
constexpr auto by_residual = [](auto x) {
  const auto missed = [=](auto z) { return exp(z) + z - x; };
  const auto iteration = [=](const auto& s) { return std::tuple{std::get<0>(s) - missed(std::get<0>(s)) / (exp(std::get<0>(s)) + 1), std::get<1>(s) + 1}; };
  return tn::while_loop([=](const auto& s) { return abs(missed(std::get<0>(s))) > 1e-6f && std::get<1>(s) < 40; }, iteration, std::tuple{x * 0 + 1, x * 0});
};
constexpr auto first_by_residual = [](auto x) { return std::get<0>(by_residual(x)); };
constexpr auto guarded_by_residual = [](auto x) {
  return tn::cond(x > 0, [](auto x) { return std::get<0>(by_residual(x)); }, [](auto x) { return x - 1; }, x);
};
// The square root by Heron's method: sums and quotients, which have the same bits in a packet and alone.
constexpr auto heron = [](auto x) {
  const auto is_next = [=](const auto& state) { return std::get<0>(state) != std::get<1>(state) && std::get<2>(state) < 60; };
  const auto iteration = [=](const auto& state) {
    const auto& [z, before, count] = state;
    return std::tuple{(z + x / z) / 2, z, count + 1};
  };
  return tn::while_loop(is_next, iteration, std::tuple{x, x * 0, x * 0});
};
constexpr auto many = tn::vmap<0, tn::unmapped>(newton);
constexpr auto value_of_root = [](auto x) {
  const auto residual = [](auto z, auto x) { return exp(z) + z - x; };
  return tn::root(residual, [](auto x) { return std::get<0>(newton(x, x * 0 + 1e-6f)); })(x);
};

// No iteration for some samples, none at all for others that begin with NaN. The state is a number and its flag.
constexpr auto halved = [](auto x) {
  return tn::while_loop([](const auto& state) { return std::get<0>(state) > 1 && std::get<1>(state); },
                        [](const auto& state) { return std::tuple{std::get<0>(state) / 2, std::get<0>(state) != 3}; }, std::tuple{x, x > -5});
};
// A loop in a branch that only some samples take. It would never end for the others.
constexpr auto guarded = [](auto x) {
  const auto doubled = [](auto x) { return tn::while_loop([](auto y) { return y < 100; }, [](auto y) { return y * 2; }, x); };
  return tn::cond(x > 0, doubled, [](auto x) { return x - 1; }, x);
};
// A loop in a loop: both have a number of iterations for each sample.
constexpr auto nested = [](auto x) {
  const auto inner = [](auto y) { return tn::while_loop([](auto z) { return z > 1; }, [](auto z) { return z * 0.5; }, y); };
  return tn::while_loop([](const auto& s) { return std::get<0>(s) < 20; }, [=](const auto& s) { return std::tuple{std::get<0>(s) + std::get<0>(s) + 1, std::get<1>(s) + inner(std::get<0>(s))}; },
                        std::tuple{abs(x), x * 0});
};

template <class F, class... X>
constexpr bool runs_until_done() {
  using program = tn::program<tn::detail::source_of<std::remove_const_t<F>, X...>>;
  return [&]<int... C>(std::integer_sequence<int, C...>) {
    return ([&] {
      using loop = tn::program_detail::control_flow_at<program, C>;
      if constexpr (loop::value.what != tn::ir::control_flow::kind::while_loop) return false;
      else {
        constexpr int flag = tn::program_detail::flag_until_done<program, C>;
        if constexpr (flag < 0) return false;
        else return tn::cpu_backend::detail::is_loop_of_kernel<typename loop::template body<1>, loop::value.carries, 0, false, flag>;
      }
    }() || ...);
  }(std::make_integer_sequence<int, program::value.view().inner.control_flow_count>{});
}

template <class T>
vec<T> numbers(std::int64_t n) {
  vec<T> x(n);
  for (std::int64_t i = 0; i < n; ++i) x.at(i) = static_cast<T>((i * 37 + 11) % 101) * T(1.7) - T(20);
  return x;
}
/// Each sample of f(x) is equal to the call for this sample, to a relative difference. 0: their bits are the same.
template <class F, class T, class... X>
void same_samples(const char* what, double difference, F f, const vec<T>& x, const X&... shared) {
  INFO(what);
  const auto all = tn::vmap<0, (sizeof(X) > 0 ? tn::unmapped : 0)...>(f)(x, shared...);
  for (std::int64_t i = 0; i < x.extents()[0]; ++i) {
    const auto one = tn::compile(f)(tn::tensor<T, tn::shape<>>(x(i)), shared...);
    const auto check = [&](const auto& whole, const auto& sample) {
      const double a = static_cast<double>(whole(i)), b = static_cast<double>(sample());
      INFO("sample " << i << ": " << a << " where the call alone gives " << b);
      CHECK((a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= difference * (1 + std::abs(b))));
    };
    if constexpr (requires { std::get<0>(one); }) {
      [&]<std::size_t... R>(std::index_sequence<R...>) { (check(std::get<R>(all), std::get<R>(one)), ...); }(
          std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(one)>>>{});
    } else {
      check(all, one);
    }
  }
}

}  // namespace

TEST_CASE("vmap of a while_loop over few numbers runs a few samples until they are done") {
  CHECK(runs_until_done<decltype(many.function), vec<double>, double>());
  CHECK(runs_until_done<decltype(tn::vmap(value_of_root).function), vec<float>>());
  CHECK(runs_until_done<decltype(tn::vmap(halved).function), vec<double>>());
  CHECK(runs_until_done<decltype(tn::vmap(by_residual).function), vec<double>>());
  CHECK(runs_until_done<decltype(tn::vmap(guarded_by_residual).function), vec<float>>());
  // Shared by all elements: the loop of one array goes on for all of them.
  constexpr auto whole = [](auto x) { return tn::while_loop([](auto y) { return sum(y) < 100.0; }, [](auto y) { return y * 2; }, x); };
  CHECK(!runs_until_done<decltype(whole), vec<double>>());
}

TEST_CASE("vmap(while_loop) has the values of the calls for one sample, for any number of samples") {
  for (const std::int64_t n : {0, 1, 3, 7, 8, 9, 16, 17, 31, 33, 64}) {
    INFO(n << " samples");
    same_samples("heron", 0, heron, numbers<double>(n));
    same_samples("heron in float", 0, heron, numbers<float>(n));
    same_samples("halved", 0, halved, numbers<double>(n));
    same_samples("guarded", 0, guarded, numbers<double>(n));
    same_samples("nested", 0, nested, numbers<double>(n));
    same_samples("root", 1e-14, value_of_root, numbers<double>(n));
    same_samples("by residual", 1e-10, by_residual, numbers<double>(n));
    same_samples("guarded by residual", 1e-10, guarded_by_residual, numbers<double>(n));
    judged::agrees_with_reference("newton by the reference", many, numbers<double>(n), 1e-9);
  }
}

TEST_CASE("a sample that is NaN, or whose iterations end at a bound, does not touch the others") {
  auto x = numbers<double>(37);
  x.at(3) = std::numeric_limits<double>::quiet_NaN();
  same_samples("halved", 0, halved, x);
  x.at(19) = std::numeric_limits<double>::infinity(), x.at(36) = -std::numeric_limits<double>::infinity();
  same_samples("heron", 0, heron, x);
  same_samples("newton", 1e-14, newton, x, 1e-9);
  same_samples("newton without a tolerance: up to 40 iterations", 1e-12, newton, x, -1.0);
  same_samples("newton that is done at once", 0, newton, x, 2.0);
  same_samples("by residual", 1e-10, by_residual, x);
}

TEST_CASE("gradients of vmap(root) and vmap(while_loop) are those of the samples") {
  const auto x = numbers<double>(19);
  constexpr auto slope = tn::grad(value_of_root).function;
  same_samples("gradient of a root", 1e-12, slope, x);
  const auto sums = tn::grad([](auto x) { return sum(tn::vmap(value_of_root)(x)); })(x);
  for (std::int64_t i = 0; i < 19; ++i) CHECK(sums(i) == Approx(tn::compile(slope)(tn::tensor<double, tn::shape<>>(x(i)))()).epsilon(1e-12));
  constexpr auto through = [](auto x) { return sum(std::get<1>(tn::vmap(nested)(x))); };
  judged::agrees_with_reference("reverse mode through the iterations", tn::grad(through).function, x);
  judged::agrees_with_reference("reverse mode by residual", tn::grad([](auto x) { return sum(tn::vmap(first_by_residual)(x)); }).function, x);
  judged::agrees_with_reference("vmap of reverse mode by residual", tn::vmap(tn::grad(first_by_residual)).function, x);
  judged::agrees_with_reference("vmap of reverse mode", tn::vmap(tn::grad([](auto x) { return std::get<1>(nested(x)); })).function, x);
}

TEST_CASE("vmap of vmap of a while_loop") {
  tn::tensor<double, tn::shape<3, 11>> x;
  for (std::int64_t i = 0; i < 33; ++i) x.at(i / 11, i % 11) = numbers<double>(33)(i);
  judged::agrees_with_reference("nested vmap", tn::vmap(tn::vmap(halved)).function, x);
  judged::agrees_with_reference("nested vmap by residual", tn::vmap(tn::vmap(by_residual)).function, x);
}

TEST_CASE("threads divide the samples of vmap(while_loop) and keep the bits") {
  const tn::thread_pool pool(3, 0);
  for (const std::int64_t n : {5, 1024, 1025, 5000}) {
    const auto x = numbers<double>(n);
    const auto alone = many(x, 1e-9);
    const auto scope = pool.scope();
    const auto shared = many(x, 1e-9);
    for (std::int64_t i = 0; i < n; ++i) CHECK(std::get<0>(alone)(i) == std::get<0>(shared)(i));
  }
}
