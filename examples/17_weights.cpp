// SPDX-License-Identifier: BSL-1.0
// Models from elsewhere: weights of PyTorch in a .safetensors file, under other names, in Tenure. docs/14-weights.md.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <boost/hana/define_struct.hpp>

#include <tenure/interop/safetensors.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

constexpr std::int64_t time_steps = 6, width = 8, heads = 4, kv_heads = 2, head = 4;

// PyTorch's LSTM: the gates lie one below the other, input, forget, cell, output, and its two biases are added.
template <class Kind, auto In, auto Width>
struct lstm {
  BOOST_HANA_DEFINE_STRUCT(lstm,
    (tn::param<Kind, float, tn::shape<4 * Width, In>>, weight_ih), (tn::param<Kind, float, tn::shape<4 * Width, Width>>, weight_hh),
    (tn::param<Kind, float, tn::shape<4 * Width>>, bias_ih), (tn::param<Kind, float, tn::shape<4 * Width>>, bias_hh));

  constexpr auto operator()(const auto& x, const auto& h, const auto& c) const {
    const auto gates = linear(x, weight_ih, bias_ih) + linear(h, weight_hh, bias_hh);
    const auto [input, forget, cell, output] = tn::chunk<4, -1>(gates);
    const auto next = sigmoid(forget) * c + sigmoid(input) * tanh(cell);
    return std::tuple{sigmoid(output) * tanh(next), next};
  }
};

// PyTorch's GRU: reset, update, new. The reset gate acts on the product with h, behind its bias; the update gate keeps h where it is 1.
template <class Kind, auto In, auto Width>
struct gru {
  BOOST_HANA_DEFINE_STRUCT(gru,
    (tn::param<Kind, float, tn::shape<3 * Width, In>>, weight_ih), (tn::param<Kind, float, tn::shape<3 * Width, Width>>, weight_hh),
    (tn::param<Kind, float, tn::shape<3 * Width>>, bias_ih), (tn::param<Kind, float, tn::shape<3 * Width>>, bias_hh));

  constexpr auto operator()(const auto& x, const auto& h) const {
    const auto [x_reset, x_update, x_new] = tn::chunk<3, -1>(linear(x, weight_ih, bias_ih));
    const auto [h_reset, h_update, h_new] = tn::chunk<3, -1>(linear(h, weight_hh, bias_hh));
    const auto update = sigmoid(x_update + h_update);
    const auto fresh = tanh(x_new + sigmoid(x_reset + h_reset) * h_new);
    return (1.f - update) * fresh + update * h;
  }
};

// The four arrays of a BatchNorm. The order of the arguments of batch_norm is that of torch.nn.functional.
template <class Kind, auto Channels>
struct batch_norm_layer {
  BOOST_HANA_DEFINE_STRUCT(batch_norm_layer,
    (tn::param<Kind, float, tn::shape<Channels>>, weight), (tn::param<Kind, float, tn::shape<Channels>>, bias),
    (tn::param<Kind, float, tn::shape<Channels>>, running_mean), (tn::param<Kind, float, tn::shape<Channels>>, running_var));

  constexpr auto operator()(const auto& x) const { return batch_norm(x, running_mean, running_var, weight, bias); }
};

// Rotary embedding as transformers has it: the first half of a head is turned with the second. The files that Meta publishes turn neighbours, x[2 j] with x[2 j + 1].
constexpr auto rotated = [](const auto& x, const auto& angles) {
  const auto [a, b] = tn::chunk<2, -1>(x);
  return tn::concat<-1>(a * cos(angles) - b * sin(angles), b * cos(angles) + a * sin(angles));
};

// The attention of a llama: fewer heads of keys and values than of queries. The axis of one head broadcasts over its group of queries.
template <class Kind>
struct attention_block {
  BOOST_HANA_DEFINE_STRUCT(attention_block,
    (tn::param<Kind, float, tn::shape<width>>, gain),
    (tn::param<Kind, float, tn::shape<heads * head, width>>, q), (tn::param<Kind, float, tn::shape<kv_heads * head, width>>, k),
    (tn::param<Kind, float, tn::shape<kv_heads * head, width>>, v), (tn::param<Kind, float, tn::shape<width, heads * head>>, o));

  constexpr auto operator()(const auto& x, const auto& angles) const {
    const auto normal = rms_norm(x, gain, 1e-5);  // the epsilon of llama; ours is 1e-6
    const auto in_heads = []<std::int64_t Groups, std::int64_t Each>(const auto& y, std::integer_sequence<std::int64_t, Groups, Each>) {
      return tn::permute<1, 2, 0, 3>(tn::reshape<time_steps, Groups, Each, head>(y));
    };
    const auto queries = rotated(in_heads(linear(normal, q), std::integer_sequence<std::int64_t, kv_heads, heads / kv_heads>{}), angles);
    const auto keys = rotated(in_heads(linear(normal, k), std::integer_sequence<std::int64_t, kv_heads, 1>{}), angles);
    const auto mixed = attention(queries, keys, in_heads(linear(normal, v), std::integer_sequence<std::int64_t, kv_heads, 1>{}), tn::causal);
    return x + linear(tn::reshape<time_steps, heads * head>(tn::permute<2, 0, 1, 3>(mixed)), o);
  }
};

template <class Kind>
struct network {
  using first = lstm<Kind, width, width>;
  using second = gru<Kind, width, width>;
  using normal = batch_norm_layer<Kind, width>;
  using blocks = attention_block<tn::stacked<Kind, 2>>;
  BOOST_HANA_DEFINE_STRUCT(network, (first, encoder), (second, decoder), (normal, bn), (blocks, layers));

  constexpr auto operator()(const auto& x, const auto& angles) const {
    constexpr tn::shape<1, width> state;
    const auto rows = tn::unsqueeze<1>(x);
    const auto encoded = std::get<1>(tn::scan([this](auto before, auto row) {
      const auto [h, c] = encoder(row, std::get<0>(before), std::get<1>(before));
      return std::tuple{std::tuple{h, c}, h};
    }, std::tuple{tn::zeros<float>(state), tn::zeros<float>(state)}, rows));
    const auto decoded = std::get<1>(tn::scan([this](auto h, auto row) {
      const auto next = decoder(row, h);
      return std::tuple{next, next};
    }, tn::zeros<float>(state), encoded));
    const auto y = bn(tn::reshape<time_steps, width>(decoded));
    return std::get<0>(tn::scan([angles](auto h, auto layer) { return std::tuple{layer(h, angles), tn::nothing}; }, y, layers));
  }
};
constexpr auto run = tn::compile([](auto model, auto x, auto angles) { return model(x, angles); });

namespace {

// From PyTorch's names to those of the members.
const tn::load_options pytorch{.rename = {{"weight_ih_l0", "weight_ih"}, {"weight_hh_l0", "weight_hh"}, {"bias_ih_l0", "bias_ih"}, {"bias_hh_l0", "bias_hh"},
                                          {"model.layers.", "layers."},
                                          {"norm.weight", "gain"},
                                          {"self_attn.q_proj.weight", "q"}, {"self_attn.k_proj.weight", "k"}, {"self_attn.v_proj.weight", "v"}, {"self_attn.o_proj.weight", "o"}},
                               .ignore = {"num_batches_tracked", "input"},
                               .convert = true};

/// The angle of row p and of pair j is p / 10000^(2 j / head), as PyTorch's users write it.
auto angles_of_positions() {
  auto angles = tn::zeros<float>(tn::shape<time_steps, head / 2>{});
  const auto to = tn::as_span(angles);
  for (std::int64_t p = 0; p < time_steps; ++p)
    for (std::int64_t j = 0; j < head / 2; ++j)
      to[static_cast<std::size_t>(p * head / 2 + j)] = static_cast<float>(p) * static_cast<float>(std::pow(10000.0, -2.0 * static_cast<double>(j) / head));
  return angles;
}

// A file as PyTorch's users write it: every parameter of its modules, under its own names. Here the numbers are made up, and one array is float16.
void write_file(const char* path) {
  struct entry {
    std::string name;
    std::vector<std::int64_t> shape;
  };
  std::vector<entry> entries{{"encoder.weight_ih_l0", {32, 8}}, {"encoder.weight_hh_l0", {32, 8}}, {"encoder.bias_ih_l0", {32}}, {"encoder.bias_hh_l0", {32}},
                             {"decoder.weight_ih_l0", {24, 8}}, {"decoder.weight_hh_l0", {24, 8}}, {"decoder.bias_ih_l0", {24}}, {"decoder.bias_hh_l0", {24}},
                             {"bn.weight", {8}}, {"bn.bias", {8}}, {"bn.running_mean", {8}}, {"bn.running_var", {8}}, {"input", {6, 8}}};
  for (const char* layer : {"model.layers.0.", "model.layers.1."})
    for (const auto& [name, shape] : {entry{"norm.weight", {8}}, entry{"self_attn.q_proj.weight", {16, 8}}, entry{"self_attn.k_proj.weight", {8, 8}},
                                      entry{"self_attn.v_proj.weight", {8, 8}}, entry{"self_attn.o_proj.weight", {8, 16}}})
      entries.push_back({layer + name, shape});
  std::vector<std::vector<float>> numbers;
  std::vector<tn::interop::array_view> arrays;
  for (const auto& [name, shape] : entries) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = 0.25f + 0.5f * std::sin(static_cast<float>(i * i + name.size()));
    if (name == "bn.running_var") for (float& v : values) v = 1 + std::abs(v);
    numbers.push_back(std::move(values));
  }
  for (std::size_t i = 0; i < entries.size(); ++i) arrays.push_back({entries[i].name, "<f4", entries[i].shape, std::as_bytes(std::span(numbers[i]))});
  const std::uint16_t halves[8] = {0x3c00, 0x3800, 0x3c00, 0x3800, 0x3c00, 0x3800, 0x3c00, 0x3800};  // 1, 0.5, ...
  arrays[8].dtype = "<f2", arrays[8].bytes = std::as_bytes(std::span(halves));
  const std::int64_t batches = 1000;
  arrays.push_back({"bn.num_batches_tracked", "<i8", {}, std::as_bytes(std::span(&batches, 1))});
  tn::interop::write_safetensors(path, arrays, {{"format", "pt"}});
}

}  // namespace

int main(int count, char** given) try {
  if (count == 1) write_file("elsewhere.safetensors");
  const char* const path = count == 1 ? "elsewhere.safetensors" : given[1];

  // One array of a file, where it is.
  const tn::mapped_file file(path);
  const auto x = file.tensor<float, tn::shape<time_steps, width>>("input");

  // The whole model: names, slices of stacked layers, element types.
  tn::engine random(1);
  auto model = tn::init<network>(random);
  tn::load(path, model, pytorch);
  const tn::tensor y = run(model, x, angles_of_positions());
  if (count > 1) {
    for (const float each : tn::as_span(y)) std::printf("%.9g\n", static_cast<double>(each));
    return 0;
  }
  std::printf("%zu arrays, y(5, 7) is finite: %s\n", file.arrays().size(), std::isfinite(y(5, 7)) ? "yes" : "no");

  // Saved under the names of the members, it is mapped: the parameters are the memory of the file.
  tn::save("network.safetensors", model);
  const auto mapped = tn::map_model<network>("network.safetensors");
  const tn::tensor same = run(mapped, x, angles_of_positions());
  std::printf("mapped, the same bits: %s\n", tn::all(same == y).item() ? "yes" : "no");

  // The parameters with their names.
  std::int64_t parameters = 0;
  tn::for_each_named_leaf(mapped, [&](const std::string& name, const auto& leaf) {
    parameters += leaf.size();
    if (name == "layers.gain") std::printf("%s: %d layers of %d numbers\n", name.c_str(), static_cast<int>(leaf.extent(0)), static_cast<int>(leaf.extent(1)));
  });
  std::printf("%lld parameters\n", static_cast<long long>(parameters));

  // What does not fit is refused before anything is written, and the message says what to do.
  try {
    tn::load(path, model);
  } catch (const tn::io_error& error) {
    std::printf("%s\n", error.what());
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "17_weights: %s\n", error.what());
  return 1;
}
