// SPDX-License-Identifier: BSL-1.0
// The code of docs/pytorch.md: shapes and axes that count from the end, in a trace and with tensors.
#include "../catch.hpp"

#include <tenure/tenure.hpp>

namespace tn = tenure;

namespace {

// In a compiled function, or as expressions of tensors.
constexpr auto shapes = [](const auto& x) {
  return std::tuple{tn::reshape<-1>(x),                       // x.flatten()
                    tn::reshape<-1, 4>(x),                    // x.reshape(-1, 4)
                    sum(x, tn::axis<-1>),                     // x.sum(-1)
                    mean(x, tn::axes<-2, -1>, tn::keepdim),   // x.mean((-2, -1), keepdim=True)
                    tn::transpose<-1, 0>(x),                  // x.transpose(-1, 0)
                    tn::unsqueeze<-1>(x),                     // x.unsqueeze(-1)
                    tn::select<-1, -1>(x),                    // x[..., -1]
                    tn::concat<-1>(x, x),                     // torch.cat((x, x), -1)
                    where(x > 3.f, x, 0.f),                   // x.masked_fill(x <= 3, 0)
                    argmax(x, tn::axis<-1>),                  // x.argmax(-1)
                    softmax(x, tn::axis<-1>),                 // x.softmax(-1)
                    tn::attention(x, x, x, tn::causal)};      // F.scaled_dot_product_attention(x, x, x, is_causal=True)
};

template <std::size_t I, class S, class R>
constexpr bool has_shape = std::is_same_v<tn::shape_of_t<std::tuple_element_t<I, R>>, S>;

}  // namespace

TEST_CASE("negative axes and an open extent are static where the types tell them") {
  const tn::tensor<float, tn::shape<2, 3, 4>> x = reshape<2, 3, 4>(tn::arange(tn::shape<24>{}));
  const auto traced = tn::compile(shapes)(x);
  const auto eager = shapes(x);
  using result = std::remove_cv_t<decltype(traced)>;
  static_assert(has_shape<0, tn::shape<24>, result> && has_shape<1, tn::shape<6, 4>, result> && has_shape<2, tn::shape<2, 3>, result>);
  static_assert(has_shape<3, tn::shape<2, 1, 1>, result> && has_shape<4, tn::shape<4, 3, 2>, result> && has_shape<5, tn::shape<2, 3, 4, 1>, result>);
  static_assert(has_shape<6, tn::shape<2, 3>, result> && has_shape<7, tn::shape<2, 3, 8>, result> && has_shape<9, tn::shape<2, 3>, result>);
  const tn::tensor rows = std::get<1>(eager);
  static_assert(std::is_same_v<tn::shape_of_t<decltype(rows)>, tn::shape<6, 4>> && std::is_same_v<tn::shape_of_t<decltype(x.reshape<-1, 4>())>, tn::shape<6, 4>>);
  CHECK(rows(5, 3) == 23);
  CHECK(std::get<1>(traced)(5, 3) == 23);
  CHECK(std::get<2>(traced)(1, 2) == 20 + 21 + 22 + 23);
  CHECK(std::get<6>(traced)(1, 2) == 23);
  CHECK(std::get<9>(traced)(1, 2) == 3);
  const tn::tensor<float, tn::shape<tn::dyn, 4>> batch(6);
  CHECK(tn::compile([](auto v) { return tn::reshape<-1, 2, 4>(v); })(batch).extent(0) == 3);
}

TEST_CASE("eval of a tensor, a traced value or a number is that value, so it begins a loop in every mode") {
  tn::tensor<double, tn::shape<2>> x{1, 2};
  const auto& same = x;
  static_assert(std::is_same_v<decltype(tn::eval(x)), decltype(x)&> && std::is_same_v<decltype(tn::eval(same)), decltype(same)&>);
  CHECK(&tn::eval(x) == &x);
  const auto moved = tn::eval(x.clone());
  CHECK(moved(1) == 2);
  static_assert(tn::eval(0.5) == 0.5);
  constexpr auto twice = [](const auto& a) {
    auto h = a.clone();
    for (int i = 0; i < 2; ++i) {
      const auto before = h.clone();
      h = h + tn::eval(before);
    }
    return tn::eval(h * 1.0);
  };
  CHECK(twice(x)(1) == 8);
  CHECK(x(1) == 2);
  CHECK(tn::compile(twice)(x)(1) == 8);
  const auto w = tn::variable<double, tn::shape<2>>{1, 2};
  twice(w).backward(tn::ones<double>(tn::shape<2>{}));
  CHECK(w.grad()(0) == 4);
}
