// SPDX-License-Identifier: BSL-1.0
// Threads: a compiled function takes a thread pool as an argument, and a scope sets the pool for everything else. The results have
// the same bits as with one thread.
#include <cstring>
#include <iostream>

#include <tenure/tenure.hpp>
#include <tenure/threads.hpp>

namespace tn = tenure;

constexpr auto loss = [](auto w, auto x) { return sum(square(tanh(w * x))); };

template <class X, class Y>
bool same_bits(const X& x, const Y& y) { return std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.size()) * sizeof(float)) == 0; }

int main() {
  tn::engine random(1);
  const auto x = tn::uniform<float>(tn::shape<1'000'000>{}, random), w = tn::uniform<float>(tn::shape<1'000'000>{}, random);

  const tn::thread_pool pool(4);                                       // this thread and three more
  const auto on_pool = tn::value_and_grad(loss, pool);                 // also compile, grad, vjp, jvp and train_step
  const auto [value, slope] = on_pool(w, x);

  const auto [same_value, same_slope] = tn::value_and_grad(loss)(w, x);
  std::cout << (same_bits(value, same_value) && same_bits(slope, same_slope) ? "the same bits" : "other bits") << '\n';

  auto a = w.clone().requires_grad_(), b = w.clone().requires_grad_();
  sum(square(tanh(a * x))).backward();
  {
    const auto threads = pool.scope();                                 // for expressions, backward() and functions without a pool
    sum(square(tanh(b * x))).backward();
  }
  return same_bits(slope, same_slope) && same_bits(a.grad(), b.grad()) ? 0 : 1;
}
