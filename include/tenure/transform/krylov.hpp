// SPDX-License-Identifier: BSL-1.0
// cg, gmres: iterative solvers of A x = b where A is a function. They never form a matrix. In a trace they are values with the derivatives of
// linear_solve, and solvers for linear_solve.
// Source: the names and the meaning of jax.scipy.sparse.linalg; Hestenes and Stiefel 1952; Saad and Schultz 1986.
#pragma once

#include <tenure/ops/matrices.hpp>
#include <tenure/ops/opaque/lstsq.hpp>
#include <tenure/transform/linear_solve.hpp>

namespace TENURE_NAMESPACE {

/// When cg and gmres stop: when |b - A x| is at most max(tolerance |b|, absolute), and at the latest after `most` steps of cg or rounds of gmres.
/// 0 stands for 10 times the number of elements of b.
struct krylov_options {
  double tolerance = 1e-5;
  double absolute = 0;
  std::int64_t most = 0;
};

namespace detail {

struct no_preconditioner {
  template <class X>
  constexpr const X& operator()(const X& x) const { return x; }
};
template <class M>
inline constexpr bool is_preconditioner = !std::is_same_v<M, no_preconditioner>;

/// The most steps of a solver: the number of the caller, or a number of the trace where b has run-time extents.
template <class B, int... A>
constexpr auto steps_of(const B& b, std::int64_t most, std::integer_sequence<int, A...>) {
  ir::builder& g = *b.graph;
  const traced<std::int64_t, shape<>> given = lift<traced<std::int64_t, shape<>>>(g, most != 0 ? most : std::int64_t{10});
  if constexpr (sizeof...(A) == 0) return given;
  else return most != 0 ? given : traced<std::int64_t, shape<>>(given * (extent<A>(b) * ...));
}
template <class B>
constexpr auto steps_of(const B& b, std::int64_t most) { return steps_of(b, most, std::make_integer_sequence<int, B::shape_type::rank>{}); }

/// The largest square of a residual at which a solver may stop.
template <class X>
constexpr auto stopping_square(const X& b, const krylov_options& o) {
  const auto of_b = vdot(b, b) * (o.tolerance * o.tolerance);
  return where(of_b < o.absolute * o.absolute, full_like(of_b, o.absolute * o.absolute), of_b);
}

/// x, or NaN if the last residual is infinite or NaN: then no comparison with it is true, and the loop has ended.
template <class B, class S>
constexpr B solution(const B& x, const S& square) { return x + 0.0 * square; }

template <class A, class B, class M>
constexpr B cg_steps(const A& a, const B& b, const krylov_options& o, const M& precondition) {
  const auto bound = stopping_square(b, o);
  const auto most = steps_of(b, o.most);
  const auto goes_on = [=](const auto& s) {
    const auto& [x, r, p, gamma, square, k] = s;
    return square > bound && k < most;
  };
  const auto step = [=](const auto& s) {
    const auto& [x, r, p, gamma, square, k] = s;
    const B image = a(p);
    const auto along = gamma / vdot(p, image);
    const B left = r - along * image, z = precondition(left);
    const auto next = vdot(left, z);
    const auto size = [&] {
      if constexpr (is_preconditioner<M>) return vdot(left, left);
      else return next;
    }();
    return std::tuple{B(x + along * p), left, B(z + (next / gamma) * p), next, size, k + 1};
  };
  const B z = precondition(b);
  const auto first = vdot(b, z), square = vdot(b, b);
  const auto start = lift<traced<std::int64_t, shape<>>>(*b.graph, std::int64_t{0});
  const auto last = while_loop(goes_on, step, std::tuple{zeros_like(b), b, z, first, square, start});
  return solution(std::get<0>(last), std::get<4>(last));
}

template <class T, std::int64_t N, class K>
constexpr auto unit_vector(ir::builder& g, const K& k) {
  const traced<std::int64_t, shape<N>> positions{&g, ops::counting(g, dtype::int64, g.intern(shape<N>::value), 0).id};
  return cast<T>(positions == k);
}

/// One round of gmres for r = b - A x: the change of x within the span of r, A r, ... of `Restart` vectors that makes |b - A x| the smallest. Two rounds
/// of Gram and Schmidt keep the vectors orthogonal. Where the span ends early, the columns of h that are left are those of a unit matrix.
template <int Restart, class A, class V>
constexpr V best_step(const A& a, const V& r) {
  using T = typename V::element_type;
  constexpr std::int64_t rows = Restart + 1;
  const auto size = sqrt(vdot(r, r));
  const auto step = [&](const auto& k, const auto& state) {
    const auto& [basis, h, ended] = state;
    const V w = a(V(basis[k]));
    const auto first = matmul(basis, w);
    const V left = w - matmul(first, basis);
    const auto second = matmul(basis, left);
    const V next = left - matmul(second, basis);
    const auto along = first + second;
    const auto length = sqrt(vdot(next, next));
    // Where the span has ended, what is left of w is rounding.
    const auto ends = ended || length <= sqrt(vdot(w, w)) * (8 * static_cast<double>(std::numeric_limits<T>::epsilon()));
    const auto after = unit_vector<T, rows>(*r.graph, k + 1);
    const auto column = where(ended, unit_vector<T, rows>(*r.graph, k), where(ends, along, along + after * length));
    const V more = next * where(ends, zeros_like(length), 1.0 / where(ends, ones_like(length), length));
    return std::tuple{basis + unsqueeze<1>(after) * more, h + unsqueeze<1>(column) * unit_vector<T, Restart>(*r.graph, k), ends};
  };
  const auto nothing_yet = size <= 0.0;
  const auto unit = r / where(nothing_yet, ones_like(size), size);
  const auto start = unsqueeze<1>(unit_vector<T, rows>(*r.graph, std::int64_t{0})) * unit;
  using square = shape<rows, Restart>;
  const traced<T, square> zero{r.graph, r.graph->constant(dtype_v<T>, r.graph->intern(square::value), 0)};
  const auto [basis, h, ended] = fori_loop(Restart, step, std::tuple{start, zero, nothing_yet});
  const auto y = lstsq(h, unit_vector<T, rows>(*r.graph, std::int64_t{0}) * size);
  return matmul(y, slice<0, 0, Restart>(basis));
}

template <int Restart, class A, class B, class M>
constexpr B gmres_rounds(const A& a, const B& b, const krylov_options& o, const M& precondition) {
  using V = traced<typename B::element_type, shape<B::shape_type::is_static ? B::shape_type::size : dyn>>;
  ir::builder& g = *b.graph;
  const extents of_b = ops::value(b).shape();
  const auto flat = [&](const B& x) { return V{&g, ops::reshape_to(ops::value(x), {1, {ops::elements_along(g, of_b, ops::all_axes(of_b.rank))}}).id}; };
  const auto shaped = [&](const V& x) { return B{&g, ops::reshape_to(ops::value(x), of_b).id}; };
  const auto bound = stopping_square(b, o);
  const auto most = steps_of(b, o.most);
  const auto goes_on = [&](const auto& s) {
    const auto& [x, r, square, before, k] = s;
    return square > bound && square < before && k < most;  // a round that does not help is the last one
  };
  const auto step = [&](const auto& s) {
    const auto& [x, r, square, before, k] = s;
    const auto through = [&](const V& u) { return flat(a(B(precondition(shaped(u))))); };
    const B next = x + precondition(shaped(best_step<Restart>(through, flat(r))));
    const B left = b - a(next);
    return std::tuple{next, left, vdot(left, left), square, k + 1};
  };
  const auto square = vdot(b, b);
  const auto start = lift<traced<std::int64_t, shape<>>>(g, std::int64_t{0});
  const auto last = while_loop(goes_on, step, std::tuple{zeros_like(b), b, square, full_like(square, std::numeric_limits<double>::infinity()), start});
  return solution(std::get<0>(last), std::get<2>(last));
}

/// Whether cg or gmres can run. If not, a static_assert gives the reason.
template <class A, class B>
constexpr bool takes_system() {
  constexpr bool in_trace = is_traced_v<B>;
  static_assert(in_trace, "tenure: cg, gmres: the right-hand side is no value of a trace: compile the function that calls them, tn::compile([](auto b) { return tn::cg(a, b); })");
  static_assert(!any_value<A>, "tenure: cg, gmres: the first argument is a function, x -> A x: [=](auto x) { return matmul(a, x); }");
  if constexpr (in_trace && !any_value<A>) return is_right_hand_side<B>();
  else return false;
}

/// A call of a Krylov solver: its steps if linear_solve gives the function, else a linear_solve of its own.
template <bool Symmetric, class A, class B, class Steps>
constexpr auto solved_by(const A& a, const B& b, const Steps& steps) {
  if constexpr (!takes_system<A, B>()) return after_error();
  else if constexpr (is_linear_map<A>) return steps(a, b);
  else return linear_solve_on<Symmetric>(a, steps)(b);
}

struct cg_solver {
  template <class A, class B, class M = no_preconditioner>
  constexpr auto operator()(const A& a, const B& b, const krylov_options& o = {}, const M& precondition = {}) const {
    return solved_by<true>(a, b, [=](const auto& map, const auto& rhs) { return cg_steps(map, rhs, o, precondition); });
  }
};
template <int Restart>
struct gmres_solver {
  static_assert(Restart > 0, "tenure: gmres: a round has at least one step");
  template <class A, class B, class M = no_preconditioner>
  constexpr auto operator()(const A& a, const B& b, const krylov_options& o = {}, const M& precondition = {}) const {
    return solved_by<false>(a, b, [=](const auto& map, const auto& rhs) { return gmres_rounds<Restart>(map, rhs, o, precondition); });
  }
};

}  // namespace detail

/// cg(a, b) is the x with a(x) = b by conjugate gradients, in a trace. a is linear, symmetric and positive definite, takes a value like b and may
/// capture values of the trace. cg(a, b, {.tolerance = 1e-10, .most = 100}, m) takes krylov_options and a preconditioner m, which is close to the
/// inverse of a, symmetric and positive definite. If the steps are not enough, x is the last one, and no error is reported; if the
/// residual is no finite number, x is NaN. The derivatives are those
/// of linear_solve, of any order, by a and by b; each of them is one more solution by cg. Derivatives by the elements of a matrix are right along
/// symmetric changes of it: write the matrix as a symmetric function of your parameters. As a function, cg is a solver for linear_solve.
inline constexpr detail::cg_solver cg{};

/// gmres(a, b) is the same for any invertible a. A round takes `Restart` steps, which keep as many vectors like b, and solves a least-squares problem of this
/// size. The preconditioner acts on the right: a(m(u)) = b, x = m(u). Reverse mode gives the solver the transposed a, and needs a preconditioner of
/// the transposed one: it uses m, which is right if m is symmetric, as a diagonal one is, and else is a slower but valid preconditioner.
template <int Restart = 20>
inline constexpr detail::gmres_solver<Restart> gmres{};

}  // namespace tenure
