// SPDX-License-Identifier: BSL-1.0
// Rotations: rotation vectors, matrices and quaternions, and rigid motions with twists. Quaternions are (w, x, y, z), and twists (translation, rotation).
// Everything is straight code of numbers, without a branch on an angle, so that all derivatives are right at 0.
#pragma once

#include <tenure/ops/angle.hpp>
#include <tenure/ops/movement.hpp>
#include <tenure/ops/rearrangement.hpp>

namespace TENURE_NAMESPACE::ops {

namespace detail {
/// Whether the last Count axes have the static extent N.
template <class S, std::int64_t N, int Count = 1>
constexpr bool ends_in() {
  if (S::rank < Count) return false;
  for (int a = S::rank - Count; a < S::rank; ++a)
    if (S::value[a] != N) return false;
  return true;
}
template <int I> constexpr auto part(const auto& x) { return select<-1, I>::trace(x); }
template <int I, int J> constexpr auto entry(const auto& x) { return select<-1, J>::trace(select<-2, I>::trace(x)); }
constexpr auto in_row(const auto&... x) { return stack<-1>::trace(x...); }
constexpr auto in_rows(const auto&... x) { return stack<-2>::trace(x...); }
template <int K, class X> constexpr X versine(const X& z) { return {z.graph, versine_value<K>(value(z)).id}; }
template <class X> constexpr X number_like(const X& x, double c) { return {x.graph, value(x).like(c).id}; }
template <class C> constexpr auto either(const C& c, const auto& x, const auto& y) { return where::trace(c, x, y); }

/// Three numbers for each index of the batch.
template <class X>
struct triple {
  X x, y, z;
  constexpr auto square() const { return x * x + y * y + z * z; }
  constexpr auto joined() const { return in_row(x, y, z); }
};
template <class X>
triple(X, X, X) -> triple<X>;
template <int From = 0, class X>
constexpr auto triple_of(const X& v) { return triple{part<From>(v), part<From + 1>(v), part<From + 2>(v)}; }
template <class A, class B>
constexpr auto cross_of(const A& a, const B& b) { return triple{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
template <class S, class A>
constexpr auto scaled(const S& s, const A& a) { return triple{s * a.x, s * a.y, s * a.z}; }
template <class A, class B>
constexpr auto added(const A& a, const B& b) { return triple{a.x + b.x, a.y + b.y, a.z + b.z}; }

/// 1 + a [v] + b [v]^2, row by row.
template <class A, class X>
struct rotation_rows {
  triple<X> v;
  A a, b;
  constexpr auto row_x() const { return triple{1.0 - b * (v.y * v.y + v.z * v.z), b * v.x * v.y - a * v.z, b * v.x * v.z + a * v.y}; }
  constexpr auto row_y() const { return triple{b * v.x * v.y + a * v.z, 1.0 - b * (v.x * v.x + v.z * v.z), b * v.y * v.z - a * v.x}; }
  constexpr auto row_z() const { return triple{b * v.x * v.z - a * v.y, b * v.y * v.z + a * v.x, 1.0 - b * (v.x * v.x + v.y * v.y)}; }
};
template <class X, class A>
rotation_rows(triple<X>, A, A) -> rotation_rows<A, X>;

/// The rotation vector of the quaternion (w, v), which may have any length but 0. It is 4 atan(r) along v with r = |v| / (|q| + |w|), the tangent of a
/// quarter of the angle, which is at most 1.
template <class W, class X>
constexpr auto log_of_quaternion(const W& w, const triple<X>& v) {
  const auto turn = either(less::trace(w, number_like(w, 0)), number_like(w, -1), number_like(w, 1));
  const auto size = sqrt::trace(w * w + v.square());
  const auto to_quarter = turn / (size + turn * w);
  const auto quarter = scaled(to_quarter, v);
  const auto p = quarter.square();
  return scaled(4.0 * decltype(p){p.graph, atan_value<0>(value(p)).id}, quarter);
}

/// The rotation vector of a matrix. Of the four columns of 4 q q^T it takes the one with the largest diagonal, so nothing cancels near an angle of pi.
template <class X>
constexpr auto log_of_matrix(const X& m) {
  const auto a = entry<0, 0>(m), b = entry<1, 1>(m), c = entry<2, 2>(m);
  const triple differences{entry<2, 1>(m) - entry<1, 2>(m), entry<0, 2>(m) - entry<2, 0>(m), entry<1, 0>(m) - entry<0, 1>(m)};
  const triple sums{entry<2, 1>(m) + entry<1, 2>(m), entry<0, 2>(m) + entry<2, 0>(m), entry<1, 0>(m) + entry<0, 1>(m)};
  const auto most = maximum::trace(a, maximum::trace(b, c));
  const auto is_w = greater_equal::trace(a + b + c, most), is_x = equal::trace(a, most), is_y = equal::trace(b, most);
  const auto chosen = [&](const auto& of_w, const auto& of_x, const auto& of_y, const auto& of_z) {
    return either(is_w, of_w, either(is_x, of_x, either(is_y, of_y, of_z)));
  };
  const auto w = chosen(1.0 + (a + b + c), differences.x, differences.y, differences.z);
  return log_of_quaternion(w, triple{chosen(differences.x, 1.0 + a - b - c, sums.z, sums.y), chosen(differences.y, sums.z, 1.0 + b - a - c, sums.x),
                                     chosen(differences.z, sums.y, sums.x, 1.0 + c - a - b)});
}
}  // namespace detail

struct so3_exp : rounds_once {
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr bool holds = detail::ends_in<typename X::shape_type, 3>();
    static_assert(holds, "tenure: so3_exp: the last axis does not have the static extent 3");
    if constexpr (holds) {
      const auto v = detail::triple_of(x);
      const auto z = v.square();
      const auto a = detail::versine<1>(z);
      const detail::rotation_rows rows{v, a, detail::versine<2>(z)};
      return detail::in_rows(rows.row_x().joined(), rows.row_y().joined(), rows.row_z().joined());
    } else {
      return x;
    }
  }
};

struct so3_log : rounds_once {
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr bool holds = detail::ends_in<typename X::shape_type, 3, 2>();
    static_assert(holds, "tenure: so3_log: the last two axes do not have the static extents 3 and 3");
    if constexpr (holds) return detail::log_of_matrix(x).joined();
    else return x;
  }
};

struct quat_mul : rounds_once {
  template <class X, class Y>
  static constexpr auto trace(const X& p, const Y& q) {
    constexpr bool holds = detail::ends_in<typename X::shape_type, 4>() && detail::ends_in<typename Y::shape_type, 4>();
    static_assert(holds, "tenure: quat_mul: the last axis of an operand does not have the static extent 4: (w, x, y, z)");
    if constexpr (holds) {
      const auto a = detail::part<0>(p), b = detail::part<0>(q);
      const auto u = detail::triple_of<1>(p);
      const auto v = detail::triple_of<1>(q);
      return detail::in_row(a * b - u.x * v.x - u.y * v.y - u.z * v.z, a * v.x + b * u.x + u.y * v.z - u.z * v.y, a * v.y + b * u.y + u.z * v.x - u.x * v.z,
                            a * v.z + b * u.z + u.x * v.y - u.y * v.x);
    } else {
      return p;
    }
  }
};

struct quat_rotate : rounds_once {
  template <class X, class Y>
  static constexpr auto trace(const X& q, const Y& y) {
    constexpr bool holds = detail::ends_in<typename X::shape_type, 4>() && detail::ends_in<typename Y::shape_type, 3>();
    static_assert(holds, "tenure: quat_rotate: it is quat_rotate(q, v), and the last axes have the static extents 4, (w, x, y, z), and 3");
    if constexpr (holds) {
      const auto u = detail::triple_of<1>(q);
      const auto v = detail::triple_of(y);
      const auto once = detail::cross_of(u, v);
      const auto twice = detail::added(once, once);
      return detail::added(detail::added(v, detail::scaled(detail::part<0>(q), twice)), detail::cross_of(u, twice)).joined();
    } else {
      return q;
    }
  }
};

struct quat_to_matrix : rounds_once {
  template <class X>
  static constexpr auto trace(const X& q) {
    constexpr bool holds = detail::ends_in<typename X::shape_type, 4>();
    static_assert(holds, "tenure: quat_to_matrix: the last axis does not have the static extent 4: (w, x, y, z)");
    if constexpr (holds) {
      const auto w = detail::part<0>(q);
      const detail::rotation_rows rows{detail::triple_of<1>(q), 2.0 * w, detail::number_like(w, 2)};
      return detail::in_rows(rows.row_x().joined(), rows.row_y().joined(), rows.row_z().joined());
    } else {
      return q;
    }
  }
};

struct quat_exp : rounds_once {
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr bool holds = detail::ends_in<typename X::shape_type, 3>();
    static_assert(holds, "tenure: quat_exp: the last axis does not have the static extent 3");
    if constexpr (holds) {
      const auto half = detail::scaled(0.5, detail::triple_of(x));
      const auto z = half.square();
      const auto v = detail::scaled(detail::versine<1>(z), half);
      return detail::in_row(detail::versine<0>(z), v.x, v.y, v.z);
    } else {
      return x;
    }
  }
};

struct quat_log : rounds_once {
  template <class X>
  static constexpr auto trace(const X& q) {
    constexpr bool holds = detail::ends_in<typename X::shape_type, 4>();
    static_assert(holds, "tenure: quat_log: the last axis does not have the static extent 4: (w, x, y, z)");
    if constexpr (holds) return detail::log_of_quaternion(detail::part<0>(q), detail::triple_of<1>(q)).joined();
    else return q;
  }
};

/// The rotation is exp of the twist's, and the translation (1 + c2 [v] + c3 [v]^2) times the twist's.
struct se3_exp : rounds_once {
  template <class X>
  static constexpr auto trace(const X& x) {
    constexpr bool holds = detail::ends_in<typename X::shape_type, 6>();
    static_assert(holds, "tenure: se3_exp: the last axis does not have the static extent 6: the translation and the rotation");
    if constexpr (holds) {
      const auto rho = detail::triple_of(x);
      const auto v = detail::triple_of<3>(x);
      const auto z = v.square();
      const auto c2 = detail::versine<2>(z), zero = detail::number_like(z, 0), one = detail::number_like(z, 1);
      const auto once = detail::cross_of(v, rho);
      const auto t = detail::added(rho, detail::added(detail::scaled(c2, once), detail::scaled(detail::versine<3>(z), detail::cross_of(v, once))));
      const detail::rotation_rows rows{v, detail::versine<1>(z), c2};
      const auto row = [](const auto& r, const auto& last) { return detail::in_row(r.x, r.y, r.z, last); };
      return detail::in_rows(row(rows.row_x(), t.x), row(rows.row_y(), t.y), row(rows.row_z(), t.z), detail::in_row(zero, zero, zero, one));
    } else {
      return x;
    }
  }
};

/// The inverse of 1 + c2 [v] + c3 [v]^2 is 1 - [v] / 2 + (c3 - 2 c4) / (2 c2) [v]^2.
struct se3_log : rounds_once {
  template <class X>
  static constexpr auto trace(const X& m) {
    constexpr bool holds = detail::ends_in<typename X::shape_type, 4, 2>();
    static_assert(holds, "tenure: se3_log: the last two axes do not have the static extents 4 and 4");
    if constexpr (holds) {
      const auto v = detail::log_of_matrix(m);
      const auto z = v.square();
      const detail::triple t{detail::entry<0, 3>(m), detail::entry<1, 3>(m), detail::entry<2, 3>(m)};
      const auto once = detail::cross_of(v, t);
      const auto factor = (detail::versine<3>(z) - 2.0 * detail::versine<4>(z)) / (2.0 * detail::versine<2>(z));
      const auto rho = detail::added(t, detail::added(detail::scaled(-0.5, once), detail::scaled(factor, detail::cross_of(v, once))));
      return detail::in_row(rho.x, rho.y, rho.z, v.x, v.y, v.z);
    } else {
      return m;
    }
  }
};

/// The rotation transposed, and the translation turned back.
struct se3_inverse : rounds_once {
  template <class X>
  static constexpr auto trace(const X& m) {
    constexpr bool holds = detail::ends_in<typename X::shape_type, 4, 2>();
    static_assert(holds, "tenure: se3_inverse: the last two axes do not have the static extents 4 and 4");
    if constexpr (holds) {
      const auto x = detail::entry<0, 3>(m), y = detail::entry<1, 3>(m), z = detail::entry<2, 3>(m);
      const auto row = [&](const auto& a, const auto& b, const auto& c) { return detail::in_row(a, b, c, -(a * x + b * y + c * z)); };
      const auto zero = detail::number_like(x, 0);
      return detail::in_rows(row(detail::entry<0, 0>(m), detail::entry<1, 0>(m), detail::entry<2, 0>(m)), row(detail::entry<0, 1>(m), detail::entry<1, 1>(m), detail::entry<2, 1>(m)),
                             row(detail::entry<0, 2>(m), detail::entry<1, 2>(m), detail::entry<2, 2>(m)), detail::in_row(zero, zero, zero, detail::number_like(x, 1)));
    } else {
      return m;
    }
  }
};

}  // namespace tenure::ops

namespace TENURE_NAMESPACE {

/// The rotation matrices (..., 3, 3) of rotation vectors (..., 3), whose length is the angle; and back. The angle of so3_log is in [0, pi]. Derivatives of
/// every order are right at 0. Those of so3_log are right for changes that keep the matrix a rotation, also near pi; at pi the vector may have either sign.
template <operand X> constexpr auto so3_exp(const X& x) { return apply<ops::so3_exp>(x); }
template <operand X> constexpr auto so3_log(const X& x) { return apply<ops::so3_log>(x); }
/// Quaternions are (w, x, y, z), as the constructors of Eigen and Ceres take them; Eigen's coeffs() are (x, y, z, w). Leading axes broadcast. quat_mul(p, q)
/// rotates by q first; quat_rotate(q, v) rotates vectors, and quat_to_matrix(q) makes matrices, where q has the length 1.
template <operand_or_scalar X, class Y> constexpr auto quat_mul(const X& p, const Y& q) { return apply<ops::quat_mul>(p, q); }
template <operand_or_scalar X, class Y> constexpr auto quat_rotate(const X& q, const Y& v) { return apply<ops::quat_rotate>(q, v); }
template <operand X> constexpr auto quat_to_matrix(const X& q) { return apply<ops::quat_to_matrix>(q); }
/// The quaternions of rotation vectors, so quat_to_matrix(quat_exp(v)) = so3_exp(v): the angle in v is the whole one. quat_log is the inverse, of q of any
/// length but 0; q and -q give the same vector, of at most pi.
template <operand X> constexpr auto quat_exp(const X& v) { return apply<ops::quat_exp>(v); }
template <operand X> constexpr auto quat_log(const X& q) { return apply<ops::quat_log>(q); }
/// The rigid motions (..., 4, 4) of twists (..., 6), which are (translation, rotation) as in Sophus; and back.
template <operand X> constexpr auto se3_exp(const X& x) { return apply<ops::se3_exp>(x); }
template <operand X> constexpr auto se3_log(const X& x) { return apply<ops::se3_log>(x); }
/// The inverses of rigid motions (..., 4, 4): rotations transposed and translations turned back, without a division. tn::inverse(x) is that of any matrix.
template <operand X> constexpr auto se3_inverse(const X& x) { return apply<ops::se3_inverse>(x); }

}  // namespace tenure
