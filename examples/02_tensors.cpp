// SPDX-License-Identifier: BSL-1.0
// Tensors: extents that are part of the type or known at run time, views that share memory, and ownership as part of the type.
#include <iostream>
#include <vector>

#include <tenure/interop/eigen.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

int main() {
  bool right = true;

  // The extents are known at compile time. An owning tensor can only be moved; clone() copies it.
  tn::tensor<float, tn::shape<2, 3>> a{{1, 2, 3}, {4, 5, 6}};
  std::cout << a << '\n';

  // A run-time extent is dyn or has a name. In one call a name is one number. A run-time extent never broadcasts.
  constexpr auto batch = tn::dim("batch");
  tn::tensor<float, tn::shape<tn::dyn, 3>> rows(4);          // zeros
  tn::tensor<float, tn::shape<batch, 3>> named(2);
  tn::tensor sum = named + a;
  right &= rows.size() == 12 && sum.extent(0) == 2 && sum(1, 2) == 6;

  // Factories.
  const auto i3 = tn::eye<double>(tn::shape<3, 3>{});
  const auto steps = tn::linspace(tn::shape<5>{}, 0, 1);
  tn::engine random(42);
  const auto noise = tn::normal(tn::shape<tn::dyn>{}, random, 1000);
  right &= i3(2, 2) == 1 && steps(1) == 0.25f && noise.size() == 1000;

  // Views share memory and keep it alive. A write through one view is visible in all of them.
  auto column = a.at(tn::all, 1);
  auto turned = a.transpose();
  column += 10.f;
  right &= turned(1, 0) == 12 && a(1, 1) == 15;
  std::cout << turned << '\n';

  // The ownership of the memory and the role in gradients are part of the type.
  static_assert(tn::ownership_of_v<decltype(a)> == tn::ownership::owning);
  static_assert(tn::ownership_of_v<decltype(column)> == tn::ownership::aliasing);
  static_assert(tn::ownership_of_v<decltype(a.detach())> == tn::ownership::detached);
  static_assert(!tn::requires_grad_v<decltype(a)>);

  // A window has a static extent at a run-time offset. Here it selects mini-batches, which all have the same shape.
  auto data = tn::arange(tn::shape<12>{});
  float total = 0;
  for (int first = 0; first < 12; first += 4) {
    auto part = data[tn::window<4>(first)];
    static_assert(tn::shape_of_t<decltype(part)>::size == 4);
    total += tn::tensor(tn::sum(part)).item();
  }
  right &= total == 66;

  // A tensor over the memory of a vector, without a copy. It is read-only if the vector is const.
  std::vector<float> values{1, 2, 3, 4};
  auto borrowed = tn::from(values);
  borrowed *= 2.f;
  right &= values[3] == 8;

  // With <tenure/interop/eigen.hpp>: a tensor over an Eigen matrix, and an Eigen map over that tensor, share one memory.
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(3, 3);
  auto over = tn::from(matrix);
  over[0] += 1.0;
  tn::as_eigen(over) *= 2;
  right &= matrix(0, 0) == 4 && matrix(0, 2) == 2;

  // bfloat16: two bytes in memory, and arithmetic in float.
  tn::tensor<tn::bfloat16, tn::shape<3>> half{0.1, 1, 256};
  tn::tensor more = half + 1.0;
  right &= sizeof(half(0)) == 2 && more(2) == 256;            // 257 is rounded to a bfloat16
  right &= tn::eval(tn::sum(half * half + 0.5f)).item() == 65536;
  tn::tensor exact = tn::cast<float>(half) + 1.0;             // or half + x with a float32 tensor x
  right &= exact(2) == 257;

  // uint8 and int8: a byte in memory, and arithmetic in int32. A result that is stored wraps around; a floating number becomes the nearest one.
  tn::tensor<std::uint8_t, tn::shape<3>> pixels{0, 128, 255};
  tn::tensor light = tn::cast<float>(pixels) / 255.0;
  right &= light(2) == 1 && tn::eval(pixels + pixels)(2) == 254;
  tn::tensor brighter = tn::cast<std::uint8_t>(light * 300.0);
  right &= brighter(1) == 150 && brighter(2) == 255;

  // to<T>() and cast<T>() convert element types.
  tn::tensor whole = tn::cast<std::int32_t>(steps * 4.f);
  std::cout << whole << '\n';
  return right ? 0 : 1;
}
