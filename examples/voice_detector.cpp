// SPDX-License-Identifier: BSL-1.0
// A voice detector with the weights that its authors trained with PyTorch: silero-vad. docs/14-weights.md.
//
//     voice_detector silero_vad.safetensors audio.f32
//
// prints for each chunk of 512 samples, 32 ms at 16 kHz, the probability that somebody speaks in it. audio.f32 holds the samples as float32. Without arguments it
// takes random weights and a tone, which shows the program and detects nothing. tests/peers/voice_detector.py writes the weights, and compares with onnxruntime.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <boost/hana/define_struct.hpp>

#include <tenure/interop/safetensors.hpp>
#include <tenure/tenure.hpp>

namespace tn = tenure;

constexpr std::int64_t chunk = 512, context = 64, width = 128;

// The members have the names of PyTorch's layers: weight and bias of a Conv1d, weight_ih, weight_hh, bias_ih and bias_hh of an LSTMCell.
template <class Kind, auto Results, auto Channels, auto Taps>
struct convolution {
  BOOST_HANA_DEFINE_STRUCT(convolution,
    (tn::param<Kind, float, tn::shape<Results, Channels, Taps>>, weight), (tn::param<Kind, float, tn::shape<Results>>, bias));
};
template <class Kind>
struct transform {
  BOOST_HANA_DEFINE_STRUCT(transform, (tn::param<Kind, float, tn::shape<258, 1, 256>>, weight));
};

// PyTorch stores the weights of the gates one below the other: input, forget, cell, output. It has two biases, which are added.
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

template <class Kind>
struct detector {
  using first = convolution<Kind, 128, 129, 3>;
  using second = convolution<Kind, 64, 128, 3>;
  using third = convolution<Kind, 64, 64, 3>;
  using fourth = convolution<Kind, 128, 64, 3>;
  using cell = lstm<Kind, width, width>;
  using last = convolution<Kind, 1, width, 1>;
  BOOST_HANA_DEFINE_STRUCT(detector,
    (transform<Kind>, stft_conv), (first, conv1), (second, conv2), (third, conv3), (fourth, conv4), (cell, lstm_cell), (last, final_conv));

  // The last samples of the chunk before and a chunk, and the state: the probability, and the next state.
  constexpr auto operator()(const auto& samples, const auto& h, const auto& c) const {
    constexpr std::int64_t all = context + chunk;
    const auto mirrored = tn::flip<-1>(tn::slice<-1, all - 65, 64>(samples));
    const auto spectrum = tn::conv1d<tn::conv{.stride = 128}>(tn::concat<-1>(samples, mirrored), stft_conv.weight);
    const auto [real, imaginary] = tn::chunk<2, 1>(spectrum);
    const auto size = sqrt(square(real) + square(imaginary));
    const auto x1 = relu(tn::conv1d<tn::conv{.padding = 1}>(size, conv1.weight, conv1.bias));
    const auto x2 = relu(tn::conv1d<tn::conv{.stride = 2, .padding = 1}>(x1, conv2.weight, conv2.bias));
    const auto x3 = relu(tn::conv1d<tn::conv{.stride = 2, .padding = 1}>(x2, conv3.weight, conv3.bias));
    const auto x4 = relu(tn::conv1d<tn::conv{.padding = 1}>(x3, conv4.weight, conv4.bias));
    const auto [next_h, next_c] = lstm_cell(tn::reshape<1, width>(x4), h, c);
    const auto speech = linear(relu(next_h), tn::reshape<1, width>(final_conv.weight), final_conv.bias);
    return std::tuple{sigmoid(speech), next_h, next_c};
  }
};

constexpr auto detect = [](auto model, auto samples, auto h, auto c) { return model(samples, h, c); };

namespace {

// From the names in the file, those of the modules of its authors, to those of the members. Where a file has the latter, nothing is renamed.
const tn::load_options silero{.rename = {{"model.", ""},
                                         {"stft.forward_basis_buffer", "stft_conv.weight"},
                                         {"encoder.0.reparam_conv", "conv1"},
                                         {"encoder.1.reparam_conv", "conv2"},
                                         {"encoder.2.reparam_conv", "conv3"},
                                         {"encoder.3.reparam_conv", "conv4"},
                                         {"decoder.rnn", "lstm_cell"},
                                         {"decoder.decoder.2", "final_conv"}}};

void print_probabilities(const auto& model, std::span<const float> audio) {
  tn::tensor<float, tn::shape<1, 1, context + chunk>> samples;
  tn::tensor<float, tn::shape<1, width>> h, c, next_h, next_c;
  tn::tensor<float, tn::shape<1, 1>> probability;
  auto step = tn::compile(detect).into(probability, next_h, next_c);
  for (; audio.size() >= chunk; audio = audio.subspan(chunk)) {
    const auto window = tn::as_span(samples);
    std::copy(window.end() - context, window.end(), window.begin());
    std::copy_n(audio.begin(), chunk, window.begin() + context);
    step(model, samples, h, c);
    std::swap(h, next_h);
    std::swap(c, next_c);
    std::printf("%.9g\n", static_cast<double>(probability.item()));
  }
}

std::vector<float> read_samples(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<float> samples(bytes.size() / sizeof(float));
  std::copy_n(bytes.data(), samples.size() * sizeof(float), reinterpret_cast<char*>(samples.data()));
  return samples;
}

}  // namespace

int main(int count, char** given) try {
  if (count == 3) {
    print_probabilities(tn::map_model<detector>(given[1], silero), read_samples(given[2]));
    return 0;
  }
  std::vector<float> tone(4 * chunk);
  for (std::size_t i = 0; i < tone.size(); ++i) tone[i] = 0.1f * std::sin(0.1f * static_cast<float>(i));
  tn::engine random(1);
  print_probabilities(tn::init<detector>(random), tone);
} catch (const std::exception& error) {
  std::fprintf(stderr, "voice_detector: %s\n", error.what());
  return 1;
}
