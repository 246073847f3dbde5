// SPDX-License-Identifier: BSL-1.0
// L-BFGS: minimize(f, lbfgs{...})(model, data...) for smooth functions of a whole data set: fits, calibrations, small models. Two-loop
// recursion over the last `history` steps, and a line search for the strong Wolfe conditions (Nocedal and Wright, Numerical Optimization,
// algorithms 3.5, 3.6 and 7.5). Law: the same arguments give the same bits. From one iteration to the next the value rises by its rounding at most.
// If a call throws, the model is unchanged. Cost: an iteration is 1 to 3 evaluations of value and gradient, and one pass over 3 vectors for each of
// 2 * history + 2 products. The products are sums in float64, because the square of a large float32 gradient overflows in float32.
// The memory is 2 * history + 5 times the memory of the model, allocated once in each call.
#pragma once

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <tenure/optim/rule.hpp>
#include <tenure/transform/tree_map.hpp>

namespace TENURE_NAMESPACE {
namespace optim {

/// Why a minimization stopped: the gradient or the change of the value fell below its tolerance, most_iterations were done, the search found no lower
/// value, or (least_squares) the step fell below its tolerance. Of a search only rounding is left, or the gradient is not the gradient of the function.
enum class stop { gradient, value, iterations, search, step };

/// The result of minimize() and of least_squares().
struct minimum {
  double value = 0;          ///< f at the model
  double gradient_norm = 0;  ///< the norm of the gradient at the model
  int iterations = 0;
  int evaluations = 0;  ///< of value and gradient
  stop why = stop::iterations;

  bool converged() const { return why == stop::gradient || why == stop::value || why == stop::step; }
};

/// The options of minimize(f, lbfgs{.history = 20}): L-BFGS with a line search for the strong Wolfe conditions (Nocedal and Wright, Numerical
/// Optimization), for smooth functions of a whole data set.
struct lbfgs {
  int history = 10;
  int most_iterations = 200;
  double gradient_tolerance = 1e-6;                    ///< stops if norm(gradient) is at most this
  double value_tolerance = 1e-9;                       ///< stops if an iteration lowers the value by at most this part of the value
  double sufficient_decrease = 1e-4, curvature = 0.9;  ///< c1 and c2 of the strong Wolfe conditions, 0 < c1 < c2 < 1
  int most_evaluations = 25;                           ///< of a line search
};

namespace detail {

/// The sum of the products of all elements of two trees, in float64. Leaves at the same place have equal extents, even if known only at run time.
template <class M>
constexpr auto inner_product(const M& a, const M& b) {
  ops::value total;
  const auto add = [&](const auto& x, const auto& y) {
    const auto products = ops::mul::trace(cast<double>(x), cast<double>(y));
    const ops::value one = ops::reduced(products, (std::int64_t{1} << products.shape().rank) - 1, ir::reduction::sum);
    total = total.id == ir::none ? one : total + one;
    return x;
  };
  static_cast<void>(map_tree<M>(add, a, b));
  return traced<double, shape<>>{total.graph, total.id};
}

/// (x, direction, t, data...) -> the value and the slope along `direction` at x + t * direction, |gradient|^2, the gradient and the point.
template <class F>
struct trial_of {
  template <class M, class T, class... Data>
  constexpr auto operator()(const M& x, const M& direction, const T& t, const Data&... data) const {
    const M point = map_tree<M>([](const auto& from, const auto& along, const auto& by) { return from + by * along; }, x, direction, t);
    const auto result = value_and_grad_of<F, 0>{}(point, data...);
    const auto& gradient = std::get<1>(result);
    if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(gradient)>, M>) return result;  // a static_assert says that f is no loss
    else return std::tuple{std::get<0>(result), inner_product(gradient, direction), inner_product(gradient, gradient), gradient, point};
  }
};
/// The last step, the change of the gradient in this step, and their products.
struct curvature_pair {
  template <class M>
  constexpr auto operator()(const M& to, const M& from, const M& gradient, const M& before) const {
    const auto minus = [](const auto& a, const auto& b) { return a - b; };
    const M s = map_tree<M>(minus, to, from), y = map_tree<M>(minus, gradient, before);
    return std::tuple{s, y, inner_product(s, y), inner_product(y, y)};
  }
};
/// One iteration of the two-loop recursion: q = scale * (q + a * v), and the product of this with the next vector.
struct recursion_step {
  template <class M, class T>
  constexpr auto operator()(const M& q, const T& a, const M& v, const T& scale, const M& next) const {
    const M r = map_tree<M>([](const auto& x, const auto& by, const auto& y, const auto& c) { return c * (x + by * y); }, q, a, v, scale);
    return std::tuple{r, inner_product(r, next)};
  }
};
struct same_tree {
  constexpr auto operator()(const auto& m) const { return std::tuple{m}; }
};

/// A point of the line search. If its value, slope or gradient is not finite, value and slope are NaN: then the step was too long.
struct search_point {
  double t = 0, value = 0, slope = 0;
};

/// The minimizer of the cubic through two points with their slopes. If there is none in the middle 80 % between the points, the midpoint.
inline double between(const search_point& a, const search_point& b) {
  const double middle = (a.t + b.t) / 2;
  if (std::isnan(b.value)) return middle;
  const double d = a.slope + b.slope - 3 * (a.value - b.value) / (a.t - b.t), square = d * d - a.slope * b.slope;
  if (!(square >= 0)) return middle;
  const double root = b.t > a.t ? std::sqrt(square) : -std::sqrt(square);
  const double t = b.t - (b.t - a.t) * (b.slope + root - d) / (b.slope - a.slope + 2 * root);
  const double part = (t - a.t) / (b.t - a.t);
  return part >= 0.1 && part <= 0.9 ? t : middle;
}

/// Finds a step with the strong Wolfe conditions. evaluate(t) gives the point at t, and the accepted point is evaluated last. The result has t = 0
/// if no step lowers the value. A difference of values of at most `rounding` says nothing, so there the slopes decide (Hager and Zhang's
/// approximate conditions, 2005).
search_point line_search(const lbfgs& o, const search_point& start, double first, double rounding, auto&& evaluate) {
  int left = o.most_evaluations;
  const auto is_lower = [&](const search_point& p) { return p.value <= start.value + o.sufficient_decrease * p.t * start.slope; };
  const auto is_flat = [&](const search_point& p) { return std::fabs(p.slope) <= -o.curvature * start.slope; };
  search_point low = start, high{};  // the best point, and one beyond a minimum
  const auto is_beyond = [&](const search_point& p) {  // true also if the value is NaN
    const bool is_close = p.value <= start.value + rounding && p.value <= low.value + rounding;
    return !is_close && !(is_lower(p) && p.value < low.value);
  };

  // Doubles the step until a minimum lies between `low` and `high`.
  bool is_bracketed = false;
  double last = 0;
  for (double t = first; left > 0 && !is_bracketed; t *= 2) {
    const search_point now = evaluate(t);
    --left;
    last = t;
    if (is_beyond(now)) {
      high = now;
      is_bracketed = true;
    } else {
      if (is_flat(now)) return now;
      if (now.slope >= 0) high = low;
      is_bracketed = now.slope >= 0;
      low = now;
    }
  }
  while (left > 0 && is_bracketed && std::fabs(high.t - low.t) > 1e-14 * std::fabs(high.t)) {
    const search_point now = evaluate(between(low, high));
    --left;
    last = now.t;
    if (is_beyond(now)) {
      high = now;
    } else {
      if (is_flat(now)) return now;
      if (now.slope * (high.t - low.t) >= 0) high = low;
      low = now;
    }
  }
  if (low.t == 0 || !is_lower(low)) return start;
  return last == low.t ? low : evaluate(low.t);
}

}  // namespace detail
}  // namespace optim

/// The type of minimize(f, lbfgs).
template <class F, class Execution = inherited>
class minimizer {
 public:
  explicit minimizer(optim::lbfgs o, Execution on = {}) : options(o), execution(on) {}

  /// Moves the model (a model, a tuple or a tensor) to a minimum of f(model, data...), and returns what was reached. Throws an error if the value
  /// or the norm of the gradient is NaN or infinite at the start. Later, such a point counts as too far.
  template <class Model, class... Data>
  optim::minimum operator()(Model& model, const Data&... data) const { return descend(model, data...); }
  /// The same of tensors with names: (std::tie(a, b), data...). Their tuple is the first argument of the function.
  template <class... Part, class... Data>
  optim::minimum operator()(std::tuple<Part&...> parts, const Data&... data) const { return descend(parts, data...); }
  /// Does not compile: a temporary would be changed, and the message says so.
  template <class Model, class... Data>
  optim::minimum operator()(const Model&&, const Data&...) const {
    optim::detail::refuse_temporary<Model>();
    return {};
  }

  optim::lbfgs options;
  [[no_unique_address]] Execution execution;

 private:
  template <class Model, class... Data>
  optim::minimum descend(Model& model, const Data&... data) const {
    constexpr bool captures_nothing = std::is_empty_v<F>;
    static_assert(captures_nothing, "tenure: minimize: the function captures nothing: pass run-time values as arguments");
    if constexpr (!captures_nothing || !optim::detail::has_parameters<Model>()) {
      return {};
    } else {
      auto values = optim::detail::values_of(model);
      using trial = decltype(std::declval<compiled<optim::detail::trial_of<F>, Execution>>()(values, values, 0.0, data...));
      if constexpr (requires { requires std::tuple_size<trial>::value == 5; }) return run(values, data...);
      else return {};  // a static_assert has said why
    }
  }
  template <class Model, class... Data>
  optim::minimum run(Model& model, const Data&... data) const {
    const compiled<optim::detail::trial_of<F>, Execution> try_at{{}, execution};
    const compiled<optim::detail::recursion_step, Execution> recursion{{}, execution};
    const compiled<optim::detail::curvature_pair, Execution> change{{}, execution};

    auto trial = try_at(model, model, 0.0, data...);
    auto& value = std::get<0>(trial);
    auto &slope = std::get<1>(trial), &square = std::get<2>(trial);
    auto &gradient_there = std::get<3>(trial), &point = std::get<4>(trial);
    Model at = deepcopy(model), gradient = deepcopy(gradient_there), direction = deepcopy(gradient_there);
    auto product = deepcopy(slope);
    // The steps and the changes of the gradient, the newest at (count - 1) % history.
    using pair = decltype(change(at, at, gradient, gradient));
    std::vector<pair> pairs;
    std::vector<double> weights(static_cast<std::size_t>(options.history)), alphas(weights.size());
    std::size_t count = 0;

    optim::minimum reached{number(value), std::sqrt(number(square)), 0, 1};
    const auto require_finite = [](const char* what, double x) {
      if (std::isfinite(x)) return;
      TENURE_THROW(error(detail::message("minimize") << what << " at the start is " << (std::isnan(x) ? "NaN" : "infinite")));
    };
    require_finite("the value", reached.value);
    require_finite("the norm of the gradient", reached.gradient_norm);
    double initial_scale = 1;
    const auto give = [&](optim::stop why) {
      reached.why = why;
      if (reached.iterations > 0) compiled<optim::detail::same_tree>{}.into(model)(at);
      return reached;
    };
    while (reached.gradient_norm > options.gradient_tolerance) {
      if (reached.iterations == options.most_iterations) return give(optim::stop::iterations);

      const std::size_t kept = pairs.size();
      const auto place = [&](std::size_t i) { return (count - kept + i) % weights.size(); };  // the position of the i-th oldest pair
      const auto step_of = [&](std::size_t i) -> const Model& { return std::get<0>(pairs[place(i)]); };
      const auto change_of = [&](std::size_t i) -> const Model& { return std::get<1>(pairs[place(i)]); };
      const auto take = [&](const Model& q, double a, const Model& v, double scale, const Model& next) {
        recursion.into(direction, product)(q, a, v, scale, next);
        return number(product);
      };
      double along = take(gradient, 0.0, gradient, -1.0, kept > 0 ? step_of(kept - 1) : gradient);
      for (std::size_t i = kept; i-- > 0;) {
        alphas[i] = weights[place(i)] * along;
        along = take(direction, -alphas[i], change_of(i), i == 0 ? initial_scale : 1.0, i > 0 ? step_of(i - 1) : change_of(0));
      }
      for (std::size_t i = 0; i < kept; ++i)
        along = take(direction, alphas[i] - weights[place(i)] * along, step_of(i), 1.0, i + 1 < kept ? change_of(i + 1) : gradient);
      if (!(along < 0 && std::isfinite(along))) {  // rounding errors: begin again with the gradient
        if (kept == 0) return give(optim::stop::search);
        pairs.clear();
        count = 0;
        continue;
      }

      const auto evaluate = [&](double t) {
        try_at.into(value, slope, square, gradient_there, point)(at, direction, t, data...);
        ++reached.evaluations;
        const bool is_finite = std::isfinite(number(value)) && std::isfinite(number(slope)) && std::isfinite(number(square));
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        return is_finite ? optim::detail::search_point{t, number(value), number(slope)} : optim::detail::search_point{t, nan, nan};
      };
      const optim::detail::search_point start{0, reached.value, along};
      const double first = kept == 0 ? std::fmin(1.0, 1 / reached.gradient_norm) : 1.0;
      constexpr double epsilon = std::numeric_limits<element_t<std::remove_cvref_t<decltype(value)>>>::epsilon();
      const auto found = optim::detail::line_search(options, start, first, 8 * epsilon * std::fabs(reached.value), evaluate);
      if (!(found.t > 0)) {
        if (kept == 0) return give(optim::stop::search);
        pairs.clear();
        count = 0;
        continue;
      }

      // The newest pair takes the place of the oldest one.
      if (weights.size() > 0) {
        const std::size_t newest = count % weights.size();
        if (pairs.size() < weights.size()) pairs.push_back(change(point, at, gradient_there, gradient));
        else std::apply([&](auto&... of) { change.into(of...)(point, at, gradient_there, gradient); }, pairs[newest]);
        const double sy = number(std::get<2>(pairs[newest])), yy = number(std::get<3>(pairs[newest]));
        if (sy > 0 && yy > 0 && std::isfinite(yy / sy)) {
          weights[newest] = 1 / sy;
          initial_scale = sy / yy;
          ++count;
        } else {  // without positive curvature the direction would not be a descent
          pairs.clear();
          count = 0;
        }
      }
      std::swap(at, point);
      std::swap(gradient, gradient_there);
      const double before = std::exchange(reached.value, found.value);
      reached.gradient_norm = std::sqrt(number(square));
      ++reached.iterations;
      if (before - reached.value <= options.value_tolerance * std::fabs(reached.value) &&
          reached.gradient_norm > options.gradient_tolerance)
        return give(optim::stop::value);
    }
    return give(optim::stop::gradient);
  }

  static double number(const auto& x) { return static_cast<double>(x.item()); }
};

/// Minimizes f over its first argument: minimize(f, optim::lbfgs{.gradient_tolerance = 1e-8})(model, data...).
template <class F, class Execution = inherited>
auto minimize(F, optim::lbfgs options = {}, Execution on = {}) {
  return minimizer<F, Execution>(options, on);
}

// Another method, or a model in its place. It does not compile and gives a message.
template <class F, class X, class... Rest>
  requires(!std::is_convertible_v<const X&, optim::lbfgs>)
auto minimize(const F&, const X&, const Rest&...) {
  static_assert(detail::never<X>, "tenure: minimize: the method is tn::optim::lbfgs, and the model comes after it: minimize(f, lbfgs{})(model, x)");
  return after_error();
}

}  // namespace TENURE_NAMESPACE
