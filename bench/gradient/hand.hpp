// SPDX-License-Identifier: BSL-1.0
// sum(sigmoid(a x + b) log1p(exp(c x))) and its gradients by hand: one loop of Eigen's packets, and Eigen arrays.
#pragma once

#include <Eigen/Core>

#include <cmath>
#include <cstdint>

namespace hand {

/// `Accurate` takes Eigen's log1p where the other takes log(1 + e).
template <bool Accurate, class T>
[[gnu::noinline]] T gradient(std::int64_t n, const T* a, const T* b, const T* c, const T* x, T* da, T* db, T* dc) {
  using namespace Eigen::internal;
  using packet = typename packet_traits<T>::type;
  constexpr std::int64_t lanes = unpacket_traits<packet>::size;
  const packet one = pset1<packet>(T(1));
  packet total = pset1<packet>(T(0));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const packet at = ploadu<packet>(x + i);
    const packet u = pmadd(ploadu<packet>(a + i), at, ploadu<packet>(b + i));
    const packet s = pdiv(one, padd(one, pexp(pnegate(u))));
    const packet e = pexp(pmul(ploadu<packet>(c + i), at)), q = padd(one, e);
    packet t;
    if constexpr (Accurate) t = generic_plog1p(e);
    else t = plog(q);
    total = pmadd(s, t, total);
    const packet ds = pmul(pmul(s, psub(one, s)), t);
    pstoreu(db + i, ds);
    pstoreu(da + i, pmul(ds, at));
    pstoreu(dc + i, pmul(pmul(s, pdiv(e, q)), at));
  }
  T lane[lanes], sum = 0;
  pstoreu(lane, total);
  for (const T each : lane) sum += each;
  for (; i < n; ++i) {
    const T s = 1 / (1 + std::exp(-(a[i] * x[i] + b[i]))), e = std::exp(c[i] * x[i]), t = std::log1p(e);
    sum += s * t;
    db[i] = s * (1 - s) * t;
    da[i] = db[i] * x[i];
    dc[i] = s * e / (1 + e) * x[i];
  }
  return sum;
}

template <class T>
struct arrays {
  using array = Eigen::Array<T, Eigen::Dynamic, 1>;
  array s, e, t;

  [[gnu::noinline]] T gradient(std::int64_t n, const T* pa, const T* pb, const T* pc, const T* px, T* pda, T* pdb, T* pdc) {
    const Eigen::Map<const array> a(pa, n), b(pb, n), c(pc, n), x(px, n);
    Eigen::Map<array> da(pda, n), db(pdb, n), dc(pdc, n);
    s = (a * x + b).logistic();
    e = (c * x).exp();
    t = e.log1p();
    db = s * (1 - s) * t;
    da = db * x;
    dc = s * e / (1 + e) * x;
    return (s * t).sum();
  }
};

}  // namespace hand
