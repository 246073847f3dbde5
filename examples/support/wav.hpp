// SPDX-License-Identifier: BSL-1.0
// read_wav and write_wav: sound in a RIFF WAVE file, with samples of 16-bit integers or float32, also inside WAVE_FORMAT_EXTENSIBLE.
// Law: samples written as float32 are read with the same bits; as 16-bit integers within half of a step, 1 / 65,536, or at the nearest end of [-1, 1).
// Errors: wav_error, "path: what".
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

struct wav_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class wav_format { pcm16, float32 };

/// Frame i of channel c is samples[i * channels + c].
struct sound {
  std::vector<float> samples;
  std::uint32_t rate = 44100;
  std::uint16_t channels = 1;
};

namespace detail {

/// Numbers in a file are little endian, whatever the machine is.
inline std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t n = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) n = n << 8 | static_cast<unsigned char>(bytes[i]);
  return n;
}
inline void append_little_endian(std::string& bytes, std::uint32_t n, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(n >> 8 * i & 0xff);
}

}  // namespace detail

inline sound read_wav(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& what) -> void { throw wav_error(path.string() + ": " + what); };
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path)) fail("cannot be opened");
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  const std::string_view all = bytes;
  if (all.size() < 12 || all.substr(0, 4) != "RIFF" || all.substr(8, 4) != "WAVE") fail("is no RIFF WAVE file");

  sound out;
  std::uint32_t format = 0, bits = 0;
  for (std::size_t at = 12; at + 8 <= all.size();) {
    const std::string_view name = all.substr(at, 4);
    const std::size_t size = detail::little_endian(all.substr(at + 4, 4));
    const std::string_view chunk = all.substr(at + 8, size);
    if (name == "fmt ") {
      if (chunk.size() < 16) fail("the format takes " + std::to_string(chunk.size()) + " bytes, and at least 16 are needed");
      format = detail::little_endian(chunk.substr(0, 2));
      out.channels = static_cast<std::uint16_t>(detail::little_endian(chunk.substr(2, 2)));
      out.rate = detail::little_endian(chunk.substr(4, 4));
      bits = detail::little_endian(chunk.substr(14, 2));
      constexpr std::uint32_t extensible = 0xfffe;
      if (format == extensible && chunk.size() >= 26) format = detail::little_endian(chunk.substr(24, 2));
      const bool is_known = (format == 1 && bits == 16) || (format == 3 && bits == 32);
      if (!is_known || out.channels == 0)
        fail("format " + std::to_string(format) + " of " + std::to_string(bits) + " bits, " + std::to_string(out.channels) +
             " channels: 16-bit integers (1) and 32-bit floats (3) are read");
    }
    if (name == "data") {
      if (bits == 0) fail("the samples come before the format");
      if (chunk.size() < size) fail(std::to_string(size) + " bytes of samples, and the file has " + std::to_string(chunk.size()));
      const std::size_t width = bits / 8;
      out.samples.resize(size / (width * out.channels) * out.channels);
      for (std::size_t i = 0; i < out.samples.size(); ++i) {
        const std::uint32_t n = detail::little_endian(chunk.substr(i * width, width));
        out.samples[i] = bits == 32 ? std::bit_cast<float>(n) : static_cast<float>(static_cast<std::int16_t>(n)) / 32768.0f;
      }
      return out;
    }
    at += 8 + size + size % 2;
  }
  fail("has no samples");
  return out;
}

inline void write_wav(const std::filesystem::path& path, const sound& s, wav_format format = wav_format::float32) {
  const bool is_float = format == wav_format::float32;
  const std::uint32_t width = is_float ? 4 : 2, frame = width * s.channels, size = width * static_cast<std::uint32_t>(s.samples.size());
  std::string bytes;
  const auto put = [&](std::uint32_t n, int count) { detail::append_little_endian(bytes, n, count); };
  bytes += "RIFF", put(36 + size, 4), bytes += "WAVEfmt ", put(16, 4), put(is_float ? 3 : 1, 2), put(s.channels, 2), put(s.rate, 4);
  put(s.rate * frame, 4), put(frame, 2), put(8 * width, 2), bytes += "data", put(size, 4);
  for (const float x : s.samples)
    if (is_float) put(std::bit_cast<std::uint32_t>(x), 4);
    else put(static_cast<std::uint32_t>(static_cast<std::int32_t>(std::lround(std::clamp(32768.0f * x, -32768.0f, 32767.0f)))), 2);
  std::ofstream file(path, std::ios::binary);
  if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())) || !file.flush()) throw wav_error(path.string() + ": cannot be written");
}

}  // namespace examples
