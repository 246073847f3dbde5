// SPDX-License-Identifier: BSL-1.0
// Eight mistakes that PyTorch accepts, or reports far from the place of the mistake. Six of them do not compile here: define MISTAKE
// as 1 to 6 to read the message (g++ -DMISTAKE=1 ...). The last two are found at run time: they throw before anything is written.
#include <iostream>
#include <span>
#include <vector>

#include <tenure/tenure.hpp>

namespace tn = tenure;

#ifndef MISTAKE
#define MISTAKE 0
#endif

int main() {
  auto w = tn::variable<double, tn::shape<3>>{1, 2, 3};
  tn::tensor<double, tn::shape<3>> x{4, 5, 6};
  bool right = true;

  // 1. Updating a parameter outside no_grad. PyTorch: an error at run time.
  sum(square(w * x)).backward();
#if MISTAKE == 1
  w -= 0.01 * w.grad();  // tenure: sub_: a leaf that requires a gradient is written only inside no_grad
#else
  tn::no_grad([&](auto v) { v -= 0.01 * w.grad(); }, w);
#endif
  right &= w.version() == 1;

  // 2. Writing an expanded view, in which four elements share one place in memory. PyTorch: an error at run time.
  tn::tensor<double, tn::shape<1, 3>> row{{1, 2, 3}};
#if MISTAKE == 2
  row.expand<4, 3>().add_(1);  // tenure: add_: the tensor is read-only
#else
  auto rows = row.expand<4, 3>().clone();
  rows.add_(1);
#endif

  // 3. Writing memory that was given as const. PyTorch: a warning, and the memory is written.
  const std::vector<double> foreign{1, 2};
#if MISTAKE == 3
  tn::from(std::span(foreign))[0] = 5.0;  // tenure: operator=: the tensor is read-only
#else
  auto own = tn::from(std::span(foreign)).clone();
  own[0] = 5.0;
#endif
  right &= foreign[0] == 1;

  // 4. Training a detached tensor. PyTorch: an error at run time, or a parameter that never changes, without an error.
#if MISTAKE == 4
  sum(w.detach() * x).backward();  // tenure: backward: no operand is tracked, so there is no gradient to compute
#else
  sum(w * x).backward();
#endif

  // 5. Accumulating a loss together with the graph of every step. PyTorch: memory grows.
  tn::tensor<double, tn::shape<>> total(0.0);
  for (int step = 0; step < 3; ++step) {
    const auto loss = sum(square(w * x));
    loss.backward();
#if MISTAKE == 5
    total += loss;  // tenure: in-place: a tracked operand changes the target's type: write ..., or detach() the operand
#else
    total += loss.item();
#endif
  }

  // 6. Copying in place of sharing, or the reverse. PyTorch: an assignment is one more name for the same tensor.
#if MISTAKE == 6
  auto same = x;  // tenure: tensor: an owning tensor is not copied: call clone(), view() or detach(), or take it by const auto&
#else
  auto same = x.view();
#endif
  same[0] = 7.0;
  right &= x(0) == 7;

  // 7. Overwriting a value that a gradient reads, through an alias. PyTorch: an error through detach(), a wrong gradient without an
  // error through .data. Here writes through every alias are counted, except through unsafe_data().
  tn::tensor y = w * 1;
  const tn::tensor loss = sum(y * y);
  w.zero_grad();
  y.detach().fill_(0);
  try {
    loss.backward();
    right = false;
  } catch (const tn::ownership_error& e) {
    std::cout << e.what() << '\n';
  }
  right &= w.grad()(0) == 0;  // nothing was written

  // 8. Reading an expression after a write to one of its operands. A tensor is a snapshot; reading the expression throws.
  const auto later = x * 2;
  const tn::tensor now = x * 2;
  x.add_(100);
  try {
    std::cout << tn::eval(later) << '\n';
    right = false;
  } catch (const tn::ownership_error& e) {
    std::cout << e.what() << '\n';
  }
  right &= now(0) == 14;

  // A common error of expression templates does not exist here: the right side is evaluated as a whole, so this is correct.
  tn::tensor<double, tn::shape<2, 2>> m{{1, 2}, {3, 4}};
  m = transpose(m) + m;
  std::cout << m << '\n';
  return right && m(0, 1) == 5 && m(1, 0) == 5 ? 0 : 1;
}
