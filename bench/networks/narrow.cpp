// SPDX-License-Identifier: BSL-1.0
// Products with weights of fewer bytes. decode: one row times 4096 x 16384, whose weights come from memory; "read" adds up their bytes as words, which is the
// least that such a product can take; "bytes" rounds the row to int8 too. prefill: rows times a matrix in bfloat16, and in float32 by Eigen. Weights lie as PyTorch stores them, [results, steps].
#include <harness.hpp>
#include <tenure/tenure.hpp>

#include <Eigen/Core>

#include <cstring>
#include <string>
#include <type_traits>

namespace {

namespace tn = tenure;

template <class T, class S>
tn::tensor<T, S> weights(S, std::uint64_t seed) {
  tn::tensor<float, S> x = tn::zeros<float>(S{});
  bench::fill_uniform(bench::data_of(x), x.size(), -1, 1, seed);
  if constexpr (std::is_integral_v<T>) return tn::cast<T>(x * 127.0f);
  else return tn::cast<T>(x);
}

template <class T, bool RoundsRow = false>
struct decode {
  static constexpr std::int64_t steps = 4096, results = 16384;
  static constexpr auto of_row = tn::compile([](auto x, auto w, auto scale) {
    if constexpr (RoundsRow) return tn::quantized_linear(x, w, scale);
    else return matmul(x, transpose(tn::cast<float>(w))) * scale;
  });

  tn::tensor<float, tn::shape<1, steps>> x = weights<float>(tn::shape<1, steps>{}, 1);
  tn::tensor<float, tn::shape<1, results>> y;
  tn::tensor<T, tn::shape<results, steps>> w = weights<T>(tn::shape<results, steps>{}, 2);
  tn::tensor<float, tn::shape<results>> scale = tn::full<float>(tn::shape<results>{}, 1.0f);
  std::uint64_t sum = 0;

  explicit decode(std::int64_t) { value(); }
  std::int64_t items() const { return results * steps * static_cast<std::int64_t>(sizeof(T)); }
  [[gnu::noinline]] void value() { of_row.into(y)(x, w, scale); }
  [[gnu::noinline]] void read() {
    const char* const bytes = reinterpret_cast<const char*>(w.data());
    std::uint64_t found = 0;
    for (std::int64_t i = 0; i < items(); i += 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes + i, 8);
      found += word;
    }
    sum += found;
  }
};

template <std::int64_t Rows, std::int64_t Size>
struct prefill {
  template <class T>
  using matrix = tn::tensor<T, tn::shape<Size, Size>>;
  template <class T>
  using rows = tn::tensor<T, tn::shape<Rows, Size>>;
  static constexpr auto layer = tn::compile([](auto x, auto w) { return matmul(x, transpose(w)); });

  rows<float> x = weights<float>(tn::shape<Rows, Size>{}, 1), y, by_eigen;
  matrix<float> w = weights<float>(tn::shape<Size, Size>{}, 2);
  rows<tn::bfloat16> narrow_x = tn::cast<tn::bfloat16>(x), narrow_y;
  matrix<tn::bfloat16> narrow_w = tn::cast<tn::bfloat16>(w);

  explicit prefill(std::int64_t) {
    value(), narrow(), eigen();
    bench::require_agreement("a layer in float32", y.data(), by_eigen.data(), y.size(), 1e-3);
    const rows<float> widened = tn::cast<float>(narrow_y);
    bench::require_agreement("a layer in bfloat16", widened.data(), by_eigen.data(), y.size(), 0.05);
  }
  std::int64_t items() const { return Rows; }
  [[gnu::noinline]] void value() { layer.into(y)(x, w); }
  [[gnu::noinline]] void narrow() { layer.into(narrow_y)(narrow_x, narrow_w); }
  [[gnu::noinline]] void eigen() {
    using view = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
    Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(bench::data_of(by_eigen), Rows, Size).noalias() =
        view(x.data(), Rows, Size) * view(w.data(), Size, Size).transpose();
  }
};

const bool registered = [] {
  const auto of_decode = []<class D>(const std::string& name, std::type_identity<D>) {
    bench::row<D>(name, "tenure", 16384, [](D& d) { d.value(); });
    bench::row<D>(name, "read", 16384, [](D& d) { d.read(); });
  };
  of_decode("decode_f32", std::type_identity<decode<float>>{});
  of_decode("decode_bf16", std::type_identity<decode<tn::bfloat16>>{});
  of_decode("decode_f16", std::type_identity<decode<tn::float16>>{});
  of_decode("decode_int8", std::type_identity<decode<std::int8_t>>{});
  of_decode("decode_int8_bytes", std::type_identity<decode<std::int8_t, true>>{});
  const auto of_prefill = []<class P>(std::int64_t size, std::type_identity<P>) {
    bench::row<P>("prefill_f32", "tenure", size, [](P& p) { p.value(); });
    bench::row<P>("prefill_f32", "eigen", size, [](P& p) { p.eigen(); });
    bench::row<P>("prefill_bf16", "tenure", size, [](P& p) { p.narrow(); });
    bench::row<P>("prefill_bf16", "eigen", size, [](P& p) { p.eigen(); });
  };
  of_prefill(4, std::type_identity<prefill<4, 2048>>{});
  of_prefill(16, std::type_identity<prefill<16, 2048>>{});
  of_prefill(128, std::type_identity<prefill<128, 2048>>{});
  return true;
}();

}  // namespace
