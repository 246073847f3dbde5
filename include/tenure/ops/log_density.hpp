// SPDX-License-Identifier: BSL-1.0
// tn::log_density: the logarithms of the densities of distributions, composed of other operations. The names and the order of the parameters are Stan's.
// Each function states the parameters. Shapes broadcast, and integers beside floating parameters take their type. Outside of its support a density is 0, so its
// logarithm is -inf, with the gradient 0. Parameters outside of their domain give NaN. The gradient flows to all operands, in both modes.
#pragma once

#include <limits>

#include <tenure/ops/activation.hpp>
#include <tenure/ops/arithmetic.hpp>
#include <tenure/ops/indexing.hpp>
#include <tenure/ops/opaque/cholesky.hpp>
#include <tenure/ops/opaque/definite.hpp>
#include <tenure/ops/opaque/solve_triangular.hpp>
#include <tenure/ops/position.hpp>
#include <tenure/ops/rearrangement.hpp>
#include <tenure/ops/reduction.hpp>
#include <tenure/ops/special.hpp>

namespace TENURE_NAMESPACE {

/// What the matrix of log_density::multivariate_normal is: the covariance a, or its Cholesky factor l, a = l l^T.
struct covariance_t {};
struct cholesky_factor_t {};
inline constexpr covariance_t covariance{};
inline constexpr cholesky_factor_t cholesky_factor{};

}  // namespace tenure

// Not in ops, where log and square are records and not functions.
namespace TENURE_NAMESPACE::densities {

template <class Op>
struct density : ops::composed<Op>, ops::rounds_once {};

inline constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
inline constexpr double half_log_of_two_pi = 0.918938533204672741780, log_of_pi = 1.144729885849400174143;

/// c log x, and c log(1 - x), and 0 where c is 0 and the logarithm is infinite.
constexpr auto times_log(const auto& c, const auto& x) {
  const auto are_zero = x == 0.0 && c == 0.0;
  return where(are_zero, 0.0, c * log(where(are_zero, 1.0, x)));
}
constexpr auto times_log_of_rest(const auto& c, const auto& x) {
  const auto are_zero = x == 1.0 && c == 0.0;
  return where(are_zero, 0.0, c * log1p(-where(are_zero, 0.0, x)));
}
/// log(1 + z^2), where z^2 may be too large or too small for a number.
constexpr auto log_of_one_and_square(const auto& z) {
  const auto is_large = abs(z) > 1.0;
  return where(is_large, 2.0 * log(hypot(where(is_large, z, 1.0), 1.0)), log1p(square(where(is_large, 0.0, z))));
}
/// lgamma(x) - (x - 1/2) log x + x - log(2 pi) / 2, which is small where lgamma(x) is large.
/// From 5 on it is the polynomial in 1 / x^2 of math/deviance.hpp, with the same terms.
constexpr auto stirling_rest(const auto& x) {
  constexpr double t[] = {0x1.5555555555554p-4, -0x1.6c16c16bfed08p-9, 0x1.a01a00d9bd833p-11, -0x1.3812e332e7b12p-11,
                          0x1.b913395c909cfp-11, -0x1.efc44ce427a63p-10, 0x1.6bbc9c7ad5dd5p-8, -0x1.b1eab8f2cfe7dp-7};
  const auto is_large = x > 5.0;
  const auto small = where(is_large, 1.0, x), over = 1.0 / where(is_large, x, 5.0), u = over * over;
  const auto series = over * (t[0] + u * (t[1] + u * (t[2] + u * (t[3] + u * (t[4] + u * (t[5] + u * (t[6] + u * t[7])))))));
  return where(is_large, series, lgamma(small) - (small - 0.5) * log(small) + small - half_log_of_two_pi);
}
/// Counts as numbers of the type of a parameter.
template <class K, class P>
constexpr auto counted(const K& k, const P&) {
  using number = typename P::element_type;
  if constexpr (std::is_same_v<typename K::element_type, number> || is_floating(dtype_v<typename K::element_type>) || !is_floating(dtype_v<number>)) return k;
  else return ops::cast<number>::trace(k);
}
/// f(x) where the density is not 0, else -inf. Outside f computes with `harmless`, so no NaN flows into the gradient. NaN is not outside, and stays NaN.
constexpr auto supported(const auto& is_outside, const auto& x, double harmless, auto f) { return where(is_outside, minus_infinity, f(where(is_outside, harmless, x))); }
/// A parameter of lgamma, which has values below 0 too: NaN where it is not positive.
constexpr auto positive(const auto& x) { return where(x > 0.0, x, std::numeric_limits<double>::quiet_NaN()); }

/// log(x / (x + y)), to all digits where it is near 0.
constexpr auto log_of_share(const auto& x, const auto& y) {
  const auto is_most = x > y;
  const auto sum = x + y;
  return where(is_most, log1p(-(where(is_most, y, 0.0) / sum)), log(where(is_most, 1.0, x) / where(is_most, 1.0, sum)));
}
/// lgamma(a) + lgamma(b) - lgamma(a + b), without the difference of large numbers.
struct lbeta : ops::composed<lbeta>, ops::rounds_once {
  static constexpr const char* name = "lbeta";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: lbeta: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& a, const auto& b) {
    return a * log_of_share(a, b) + b * log_of_share(b, a) - 0.5 * (log(a) + log_of_share(b, a)) + half_log_of_two_pi + stirling_rest(a) + stirling_rest(b) - stirling_rest(a + b);
  }
};

struct normal : density<normal> {
  static constexpr const char* name = "log_density::normal";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: log_density::normal: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& x, const auto& mean, const auto& deviation) { return -0.5 * square((x - mean) / deviation) - log(deviation) - half_log_of_two_pi; }
};
struct log_normal : density<log_normal> {
  static constexpr const char* name = "log_density::log_normal";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: log_density::log_normal: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& x, const auto& mean, const auto& deviation) {
    return supported(x <= 0.0, x, 1, [&](const auto& y) {
      const auto l = log(y);
      return normal::compose(l, mean, deviation) - l;
    });
  }
};
struct cauchy : density<cauchy> {
  static constexpr const char* name = "log_density::cauchy";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: log_density::cauchy: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& x, const auto& location, const auto& scale) { return -log_of_one_and_square((x - location) / scale) - log(scale) - log_of_pi; }
};
struct laplace : density<laplace> {
  static constexpr const char* name = "log_density::laplace";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: log_density::laplace: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& x, const auto& location, const auto& scale) { return -abs((x - location) / scale) - log(2.0 * scale); }
};
struct student_t : density<student_t> {
  static constexpr const char* name = "log_density::student_t";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: log_density::student_t: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& x, const auto& freedom, const auto& location, const auto& scale) {
    // lgamma(half + 1/2) - lgamma(half) - log(2 half) / 2, without the difference of large numbers
    const auto half = 0.5 * freedom;
    const auto of_gamma = half * log1p(0.5 / half) - 0.5 + stirling_rest(half + 0.5) - stirling_rest(half) - half_log_of_two_pi;
    return of_gamma - log(scale) - (half + 0.5) * log_of_one_and_square((x - location) / (scale * sqrt(freedom)));
  }
};
struct exponential : density<exponential> {
  static constexpr const char* name = "log_density::exponential";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: log_density::exponential: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& x, const auto& rate) {
    return supported(x < 0.0, x, 1, [&](const auto& y) { return log(rate) - rate * y; });
  }
};
struct gamma : density<gamma> {
  static constexpr const char* name = "log_density::gamma";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: log_density::gamma: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& x, const auto& shape, const auto& rate) {
    return supported(x < 0.0, x, 1, [&](const auto& y) { return shape * log(rate) - lgamma(positive(shape)) + times_log(shape - 1.0, y) - rate * y; });
  }
};
struct inverse_gamma : density<inverse_gamma> {
  static constexpr const char* name = "log_density::inverse_gamma";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: log_density::inverse_gamma: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& x, const auto& shape, const auto& scale) {
    return supported(x <= 0.0, x, 1, [&](const auto& y) { return shape * log(scale) - lgamma(positive(shape)) - (shape + 1.0) * log(y) - scale / y; });
  }
};
struct beta : density<beta> {
  static constexpr const char* name = "log_density::beta";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: log_density::beta: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& x, const auto& a, const auto& b) {
    return supported(x < 0.0 || x > 1.0, x, 0.5, [&](const auto& y) {
      return times_log(a - 1.0, y) + times_log_of_rest(b - 1.0, y) - lbeta::compose(a, b);
    });
  }
};
struct poisson : density<poisson> {
  static constexpr const char* name = "log_density::poisson";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: log_density::poisson: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& k, const auto& rate) {
    return supported(k < 0.0, counted(k, rate), 1, [&](const auto& n) { return times_log(n, rate) - rate - lgamma(n + 1.0); });
  }
};
struct binomial : density<binomial> {
  static constexpr const char* name = "log_density::binomial";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: log_density::binomial: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& k, const auto& trials, const auto& p) {
    const auto all = counted(trials, p);
    const auto count = counted(k, p);
    return supported(count < 0.0 || count > all, count, 0, [&](const auto& n) {
      return -log(all + 1.0) - lbeta::compose(n + 1.0, all - n + 1.0) + times_log(n, p) + times_log_of_rest(all - n, p);
    });
  }
};
struct bernoulli_logit : density<bernoulli_logit> {
  static constexpr const char* name = "log_density::bernoulli_logit";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: log_density::bernoulli_logit: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& y, const auto& logit) {
    const auto share = counted(y, logit);
    return supported(share < 0.0 || share > 1.0, share, 0, [&](const auto& of_one) { return -of_one * softplus(-logit) - (1.0 - of_one) * softplus(logit); });
  }
};

struct dirichlet : density<dirichlet> {
  static constexpr const char* name = "log_density::dirichlet";
  template <std::int64_t Lhs, std::int64_t Rhs>
  static constexpr void agree() { static_assert(Lhs == Rhs, "tenure: log_density::dirichlet: the extents differ and neither of them is 1"); }
  static constexpr auto compose(const auto& x, const auto& a) {
    const auto each = supported(x < 0.0, x, 1, [&](const auto& y) { return times_log(a - 1.0, y); });
    return sum(each - lgamma(positive(a)), axis<-1>) + lgamma(sum(a + 0.0 * x, axis<-1>));
  }
};
struct categorical_logit : ops::rounds_once {
  static constexpr const char* name = "log_density::categorical_logit";
  template <class K, class L>
  static constexpr auto trace(const K& k, const L& logits) {
    constexpr bool fits = ops::pick::has_one_a_row<L, K>;
    static_assert(fits, "tenure: log_density::categorical_logit: needs one class for each row of logits");
    if constexpr (fits) return ops::pick::trace(log_softmax(logits, axis<-1>), k, name);
    else return logits;
  }
};

struct lkj_cholesky : ops::rounds_once {
  static constexpr const char* name = "log_density::lkj_cholesky";
  /// With n rows, counted from 0: row i > 0 of the factor has the density c l_ii^(n - 1 - i + 2 eta - 2). The density of the matrix is that of its determinant, and
  /// the factor of l_ii^(n - 1 - i) is the determinant of its derivative by l. The c of all rows are those of i free elements in a ball.
  /// Source: D. Lewandowski, D. Kurowicka and H. Joe, Generating random correlation matrices based on vines and extended onion method, 2009, theorem 5.
  template <class L, class E>
  static constexpr auto trace(const L& l, const E& eta) {
    using S = typename L::shape_type;
    constexpr bool is_matrix = ops::is_square<S>;
    static_assert(is_matrix, "tenure: log_density::lkj_cholesky: the last two axes of the Cholesky factor are not a square matrix");
    if constexpr (!is_matrix) {
      return l;
    } else {
      ir::builder& g = *l.graph;
      const extents s = ops::value(l).shape();
      const std::int16_t shape = g.intern(s);
      g.unify(s[s.rank - 1], s[s.rank - 2], name, shape, shape);
      const auto diagonal = sum(where(index_along<S::rank - 2>(l) == index_along<S::rank - 1>(l), l, 0.0), axis<-1>);
      using rows = decltype(diagonal);
      using number = typename rows::element_type;
      using batch = typename std::remove_cvref_t<decltype(sum(diagonal, axis<-1>))>::shape_type;
      using together = ops::broadcast_of<batch, typename E::shape_type>;
      static_assert(together::exists, "tenure: log_density::lkj_cholesky: the extents of eta and those of the batch differ and neither of them is 1");
      if constexpr (!together::exists) {
        return l;
      } else {
        const auto of_row = [&] {
          if constexpr (E::shape_type::rank == 0) return eta;
          else return unsqueeze<E::shape_type::rank>(eta);
        }();
        const traced<number, tenure::shape<>> n{&g, ops::number_of_extent(g, dtype_v<number>, s[s.rank - 1]).id};
        const auto row = ops::cast<number>::trace(index_along<S::rank - 2>(diagonal));
        const auto is_first = row == 0.0;
        const auto half = 0.5 * where(is_first, 1.0, row), behind = n - 1.0 - row;
        const auto density = supported(diagonal < 0.0 && !is_first, where(is_first, 1.0, diagonal), 1, [&](const auto& d) {
          return times_log(behind + 2.0 * of_row - 2.0, d) + lgamma(half) - lbeta::compose(of_row + 0.5 * behind, half) - half * log_of_pi;
        });
        return sum(where(is_first, 0.0, density), axis<-1>);
      }
    }
  }
};

/// By the covariance, or by its Cholesky factor.
template <class Of>
struct multivariate_normal : ops::rounds_once {
  static constexpr const char* name = "log_density::multivariate_normal";
  template <class X, class M, class L>
  static constexpr auto trace(const X& x, const M& mean, const L& l) {
    constexpr bool broadcast = ops::broadcast_of<typename X::shape_type, typename M::shape_type>::exists;
    static_assert(broadcast, "tenure: log_density::multivariate_normal: the extents of x and of the mean differ and neither of them is 1");
    if constexpr (broadcast) return of_distance(x - mean, l);
    else return x;
  }

 private:
  /// Of d = x - mean.
  template <class D, class L>
  static constexpr auto of_distance(const D& d, const L& matrix) {
    constexpr int rank = D::shape_type::rank, of_l = L::shape_type::rank;
    constexpr bool is_matrix = rank > 0 && (of_l == rank + 1 || (of_l == 2 && rank == 2)) && ops::is_square<typename L::shape_type>;
    static_assert(is_matrix, "tenure: log_density::multivariate_normal: the covariance or its Cholesky factor is a square matrix for all rows of x, or one for each");
    if constexpr (!is_matrix) {
      return sum(d);
    } else {
      constexpr bool fits = ops::extents_may_agree(D::shape_type::value[rank - 1], L::shape_type::value[of_l - 1]);
      static_assert(fits, "tenure: log_density::multivariate_normal: the covariance or its Cholesky factor has another number of rows than x has elements in a row");
      if constexpr (!fits) return sum(d);
      else if constexpr (std::is_same_v<Of, covariance_t>) return by_factor(d, cholesky(matrix), ops::value(matrix));
      else return by_factor(d, matrix, {});
    }
  }
  /// Without a covariance, derivatives go to the factor l.
  template <class D, class L>
  static constexpr auto by_factor(const D& d, const L& l, const ops::value& covariance) {
    constexpr int rank = D::shape_type::rank, of_l = L::shape_type::rank;
    const auto whitened = [&] {
      if constexpr (of_l == rank + 1) return solve_triangular(l, d, lower);
      else return transpose(solve_triangular(l, transpose(d), lower));
    }();
    using result = std::remove_cvref_t<decltype(sum(square(whitened), axis<-1>))>;
    ops::value squares = sum(square(whitened), axis<-1>), size;
    if constexpr (std::is_same_v<Of, covariance_t>) {
      squares = ops::instead_of(squares_by(covariance, l, d), squares);
      size = ops::nodes::definite_log_det::by_factor(covariance, l) * 0.5;
    } else {  // the determinant of l is the product of its diagonal
      const ops::value on = ops::on_diagonal(l), diagonal = ops::reduced(on, std::int64_t{1} << (of_l - 1), ir::reduction::sum);
      size = ops::reduced(ops::pointwise_value<ops::log>(diagonal), std::int64_t{1} << (of_l - 2), ir::reduction::sum);
    }
    const ops::value dimension = ops::number_of_extent(*d.graph, ops::value(d).type(), ops::value(d).shape()[rank - 1]);
    const ops::value zeros = squares * 0.0, each = of_l == rank + 1 ? size : ops::broadcast_to(size, zeros.node().shape);
    return result{d.graph, (squares * -0.5 - each - ops::broadcast_to(dimension * half_log_of_two_pi, zeros.node().shape)).id};
  }
  /// d^T a^-1 d of each row d, for its derivatives.
  static constexpr ops::value squares_by(ops::value a, ops::value l, ops::value d) {
    const int rank = d.shape().rank;
    if (a.shape().rank == rank + 1) {
      extents column = d.shape();
      column.push_back(1);
      const ops::value x = ops::nodes::definite_solve::by_factor(a, l, ops::reshape_to(d, column));
      return ops::reduced(d * ops::reshape_to(x, d.shape()), std::int64_t{1} << (rank - 1), ir::reduction::sum);
    }
    const ops::value x = ops::nodes::definite_solve::by_factor(a, l, ops::transposed(d));
    return ops::reduced(d * ops::value(ops::transposed(x)), std::int64_t{1} << (rank - 1), ir::reduction::sum);
  }
};

}  // namespace tenure::densities

namespace TENURE_NAMESPACE {

/// The logarithm of the beta function of positive a and b, lgamma(a) + lgamma(b) - lgamma(a + b): to some units in the last place of the result also where the
/// three are large. Shapes broadcast; all partial derivatives.
template <class A, class B> requires some_operand<A, B> constexpr auto lbeta(const A& a, const B& b) { return apply<densities::lbeta>(a, b); }

}  // namespace tenure

namespace TENURE_NAMESPACE::log_density {

/// The normal distribution: its mean and its standard deviation.
template <class X, class M, class S> requires some_operand<X, M, S> constexpr auto normal(const X& x, const M& mean, const S& deviation) { return apply<densities::normal>(x, mean, deviation); }
/// exp of a normal variable with this mean and standard deviation.
template <class X, class M, class S> requires some_operand<X, M, S> constexpr auto log_normal(const X& x, const M& mean, const S& deviation) { return apply<densities::log_normal>(x, mean, deviation); }
/// The Cauchy and the Laplace distribution: location and scale.
template <class X, class M, class S> requires some_operand<X, M, S> constexpr auto cauchy(const X& x, const M& location, const S& scale) { return apply<densities::cauchy>(x, location, scale); }
template <class X, class M, class S> requires some_operand<X, M, S> constexpr auto laplace(const X& x, const M& location, const S& scale) { return apply<densities::laplace>(x, location, scale); }
/// Student's distribution: degrees of freedom, location and scale.
template <class X, class N, class M, class S>
  requires some_operand<X, N, M, S>
constexpr auto student_t(const X& x, const N& freedom, const M& location, const S& scale) { return apply<densities::student_t>(x, freedom, location, scale); }
/// The exponential distribution: its rate, which is 1 / mean.
template <class X, class R> requires some_operand<X, R> constexpr auto exponential(const X& x, const R& rate) { return apply<densities::exponential>(x, rate); }
/// The gamma distribution: shape and rate, so the mean is shape / rate. The inverse of such a variable: shape and scale.
template <class X, class A, class R> requires some_operand<X, A, R> constexpr auto gamma(const X& x, const A& shape, const R& rate) { return apply<densities::gamma>(x, shape, rate); }
template <class X, class A, class S> requires some_operand<X, A, S> constexpr auto inverse_gamma(const X& x, const A& shape, const S& scale) { return apply<densities::inverse_gamma>(x, shape, scale); }
/// The beta distribution on [0, 1].
template <class X, class A, class B> requires some_operand<X, A, B> constexpr auto beta(const X& x, const A& a, const B& b) { return apply<densities::beta>(x, a, b); }
/// The probabilities of counts: k by a rate; k of so many trials with probability p each.
template <class K, class R> requires some_operand<K, R> constexpr auto poisson(const K& k, const R& rate) { return apply<densities::poisson>(k, rate); }
template <class K, class N, class P> requires some_operand<K, N, P> constexpr auto binomial(const K& k, const N& trials, const P& p) { return apply<densities::binomial>(k, trials, p); }
/// The probability of y, 0 or 1, where that of 1 is sigmoid(logit).
template <class Y, class L> requires some_operand<Y, L> constexpr auto bernoulli_logit(const Y& y, const L& logit) { return apply<densities::bernoulli_logit>(y, logit); }
/// The probability of class k, where those of all are softmax(logits) along the last axis: one index for each row.
template <class K, class L> requires some_operand<K, L> constexpr auto categorical_logit(const K& k, const L& logits) { return apply<densities::categorical_logit>(k, logits); }
/// The Dirichlet distribution of probabilities along the last axis, with a number a for each. x has the sum 1.
template <class X, class A> requires some_operand<X, A> constexpr auto dirichlet(const X& x, const A& a) { return apply<densities::dirichlet>(x, a); }
/// The distribution of Lewandowski, Kurowicka and Joe of the Cholesky factor l of a correlation matrix, (n, n) or (..., n, n): the density of the matrix is
/// proportional to det(l l^T)^(eta - 1), and this one, with its constant, is by the elements below the diagonal of l (Stan's lkj_corr_cholesky). Only the diagonal
/// is read; that the rows have the norm 1 is not checked. eta is a number or broadcasts with the batch.
template <class L, class E> requires some_operand<L, E> constexpr auto lkj_cholesky(const L& l, const E& eta) { return apply<densities::lkj_cholesky>(l, eta); }
/// The normal distribution of vectors along the last axis of x. The last argument says what the matrix is: tn::covariance for the covariance a, or
/// tn::cholesky_factor for its Cholesky factor l, a = l l^T. The matrix is (n, n) for all, or (..., n, n), one for each, and only its lower triangle is read. The
/// gradient to a is symmetric. A covariance that is not positive definite gives NaN.
template <class X, class M, class L, class Of>
  requires some_operand<X, M, L>
constexpr auto multivariate_normal(const X& x, const M& mean, const L& matrix, Of) {
  constexpr bool is_known = std::is_same_v<Of, covariance_t> || std::is_same_v<Of, cholesky_factor_t>;
  static_assert(is_known, "tenure: log_density::multivariate_normal: the last argument says what the matrix is: tn::covariance or tn::cholesky_factor");
  if constexpr (is_known) return apply<densities::multivariate_normal<Of>>(x, mean, matrix);
  else return after_error();
}
template <class X, class M, class L>
  requires some_operand<X, M, L>
constexpr auto multivariate_normal(const X& x, const M& mean, const L& matrix) { return multivariate_normal(x, mean, matrix, 0); }

}  // namespace tenure::log_density
