// SPDX-License-Identifier: BSL-1.0
// What the examples share: the CSV reader and its errors, the progress bar, the plot, WAV files.
#include "../../examples/support/csv.hpp"

#include <cstdlib>
#include <cstring>
#include <random>
#include <sstream>

#include "../../examples/support/plot.hpp"
#include "../../examples/support/progress.hpp"
#include "../../examples/support/wav.hpp"
#include "../catch.hpp"

namespace {

namespace fs = std::filesystem;

/// A file that goes away with the test.
struct file {
  explicit file(const std::string& content)
      : path(fs::temp_directory_path() / ("tenure-support-" + std::to_string(std::random_device{}()))) {
    std::ofstream(path, std::ios::binary) << content;
  }
  ~file() { fs::remove(path); }

  fs::path path;
};

/// What read_csv says of a file with this content, from behind the path: "line: what".
template <class Read>
std::string refusal(const std::string& content, Read read) {
  const file input(content);
  try {
    read(input.path);
  } catch (const examples::csv_error& error) {
    const std::string message = error.what(), prefix = input.path.string() + ":";
    return message.starts_with(prefix) ? message.substr(prefix.size()) : "unprefixed: " + message;
  }
  return "accepted";
}
std::string refusal(const std::string& content, examples::csv_header header = examples::csv_header::none) {
  return refusal(content, [&](const fs::path& path) { examples::read_csv(path, header); });
}

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++found;
  return found;
}

std::string digit_row(const std::string& first_pixel, const std::string& label) {
  std::string row = first_pixel;
  for (int i = 1; i < 64; ++i) row += ",0";
  return row + "," + label + "\n";
}

}  // namespace

TEST_CASE("read_csv reads what spreadsheets and scripts write") {
  const auto cells = [](const std::string& content, examples::csv_header header = examples::csv_header::none) {
    const file input(content);
    const examples::table t = examples::read_csv(input.path, header);
    CHECK(t.rows == 2);
    CHECK(t.columns == 3);
    return t.cells;
  };
  const std::vector<float> expected{1, -2.5f, 3, 4, 5, 6000};
  CHECK(cells("1,-2.5,3\n4,5,6e3\n") == expected);
  CHECK(cells("1,-2.5,3\n4,5,6e3") == expected);
  CHECK(cells("1,-2.5,3\r\n4,5,6e3\r\n") == expected);
  CHECK(cells(" 1 ,\t-2.5, 3\n4,5,6e3\n\n\r\n") == expected);
  CHECK(cells("\xef\xbb\xbf"
              "1,-2.5,3\n4,5,6e3\n") == expected);
  CHECK(cells("a,b,c\n1,-2.5,3\n4,5,6e3\n", examples::csv_header::first_line) == expected);
}

TEST_CASE("a CSV that is wrong is refused with its line, column and text") {
  CHECK(refusal("") == "1: the file is empty");
  CHECK(refusal("\r\n \n") == "1: the file is empty");
  CHECK(refusal("a,b\n", examples::csv_header::first_line) == "2: no rows after the header");
  CHECK(refusal("1,2\n3,4,5\n") == "2: 3 columns where the rows before have 2");
  CHECK(refusal("1,2\n3\n") == "2: 1 columns where the rows before have 2");
  CHECK(refusal("1,2\n\n3,4\n") == "2: a blank line between rows");
  CHECK(refusal("1,2\n3,four\n") == "2: column 2: 'four' is not a number");
  CHECK(refusal("a,b\n1,x\n", examples::csv_header::first_line) == "2: column 2: 'x' is not a number");
  CHECK(refusal("1,2\n3,4 5\n") == "2: column 2: '4 5' is not a number");
  CHECK(refusal("1,2\n,4\n") == "2: column 1: '' is not a number");
  CHECK(refusal("1,2,\n") == "1: column 3: '' is not a number");
  CHECK(refusal("1;2\n") == "1: column 1: '1;2' is not a number");
  CHECK(refusal("1,nan\n") == "1: column 2: 'nan' is not a finite float");
  CHECK(refusal("1,1e99\n") == "1: column 2: '1e99' is not a finite float");
  CHECK(refusal(std::string(100, 'x')) == "1: column 1: '" + std::string(40, 'x') + "...' is not a number");
  CHECK_THROWS_WITH(examples::read_csv("no/such.csv"), "no/such.csv: cannot be opened: No such file or directory");
  CHECK_THROWS_WITH(examples::read_csv("."), ".: cannot be opened: Is a directory");
}

TEST_CASE("the digits that the project carries") {
  const examples::digits all =
      examples::read_digits(fs::path(__FILE__).parent_path() / ".." / ".." / "examples" / "data" / "digits.csv");
  CHECK(all.rows == 1797);
  CHECK(all.pixels.size() == 1797 * 64);
  REQUIRE(all.labels.size() == 1797);
  CHECK(std::vector<std::int32_t>(all.labels.begin(), all.labels.begin() + 10) ==
        std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(all.labels.back() == 8);
  double sum = 0;
  for (const float pixel : all.pixels) sum += pixel;
  CHECK(sum == 561718);
}

TEST_CASE("digits that are none are refused with their line") {
  const auto refused = [](const std::string& content) {
    return refusal(content, [](const fs::path& path) { examples::read_digits(path); });
  };
  const std::string good = digit_row("0", "7");
  CHECK(refused(good + good) == "accepted");
  CHECK(refused("1,2\n") == "1: 2 columns where a digit has 64 pixels and a label");
  CHECK(refused(good + digit_row("17", "7")) == "2: column 1: '17' is not a pixel from 0 to 16");
  CHECK(refused(good + digit_row("-1", "7")) == "2: column 1: '-1' is not a pixel from 0 to 16");
  CHECK(refused(good + digit_row("16", "10")) == "2: column 65: '10' is not a label from 0 to 9");
  CHECK(refused(good + digit_row("16", "1.5")) == "2: column 65: '1.5' is not a label from 0 to 9");
}

TEST_CASE("progress writes a plain line every tenth where there is no terminal") {
  for (const std::size_t steps : {1, 3, 10, 40, 1797}) {
    std::ostringstream out;
    examples::progress bar("digits", steps, out, examples::progress::style::lines);
    for (std::size_t i = 0; i < steps; ++i) bar.step(0.5, 0.978);
    bar.step(0, 0);  // past the end: nothing
    CHECK(count(out.str(), "\n") == std::min<std::size_t>(steps, 10));
    CHECK(count(out.str(), "\x1b") + count(out.str(), "\r") == 0);
    CHECK(count(out.str(), "loss 0.5 ") == count(out.str(), "\n"));
    CHECK(count(out.str(), "accuracy  97.8 %") == count(out.str(), "\n"));
    CHECK(count(out.str(), "100 %") == 1);
    CHECK(count(out.str(), "took 0:00\n") == 1);
  }
}

TEST_CASE("progress draws one line over itself on a terminal") {
  std::ostringstream out;
  {
    examples::progress bar("digits", 4, out, examples::progress::style::bar);
    for (int i = 0; i < 4; ++i) bar.step(0.25, 1);
  }
  CHECK(count(out.str(), "\n") == 1);
  CHECK(out.str().ends_with("\x1b[K\n"));
  CHECK(count(out.str(), "\r") >= 2);

  std::ostringstream broken;
  { examples::progress("digits", 4, broken, examples::progress::style::bar).step(1, 0); }
  CHECK(broken.str().ends_with("\n"));
}

TEST_CASE("progress shows other numbers than the accuracy") {
  std::ostringstream out;
  examples::progress bar("gpt", 1, out, examples::progress::style::lines);
  bar.step(1.5, "held out 2.25");
  CHECK(out.str() == "gpt 100 %  1/1  loss 1.5      held out 2.25  took 0:00\n");
}

TEST_CASE("clock_text") {
  CHECK(examples::clock_text(0) == "0:00");
  CHECK(examples::clock_text(59.6) == "1:00");
  CHECK(examples::clock_text(754) == "12:34");
  CHECK(examples::clock_text(3600 + 61) == "1:01:01");
  CHECK(examples::clock_text(std::nan("")) == "-:--");
}

TEST_CASE("a plot shows its title, axes, ticks, legend and curves") {
  const examples::plot figure{
      .title = "a < b & c",
      .panels = {{"loss", {{"training", {2, 0.5, 0.02}}, {"held out", {2, 0.6, 0.1}}}, examples::scale::logarithmic},
                 {"accuracy", {{"training", {0.4, 0.8, 1}}}, examples::scale::percent}}};
  const std::string svg = examples::to_svg(figure);
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(count(svg, "a &lt; b &amp; c") == 1);
  for (const char* text :
       {">loss (log)<", ">accuracy<", ">training<", ">held out<", ">epoch<", ">0.1<", ">100 %<", ">3<"})
    CHECK(count(svg, text) >= 1);
  CHECK(count(svg, "<path") == 3);

  const file target("");
  examples::write_svg(target.path, figure);
  CHECK(fs::file_size(target.path) == svg.size());
  CHECK_THROWS_WITH(examples::write_svg("no/such/folder.svg", figure), "no/such/folder.svg: cannot be written");
  CHECK_THROWS_AS(examples::to_svg({}), std::invalid_argument);
}

TEST_CASE("law: every finite value of a plot lies inside its panel; what is not finite leaves a gap") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<double>> cases{{1, 2, std::nan(""), 4, 3, inf, 9},
                                               {3, 3, 3},
                                               {0},
                                               {},
                                               {-inf},
                                               {1e-300, 1e300},
                                               {-1e300, 1e300},
                                               {1e9, 1e9 + 1},
                                               {-5, -4.5}};
  for (const auto how : {examples::scale::linear, examples::scale::percent, examples::scale::logarithmic})
    for (const auto& values : cases) {
      const std::string svg = examples::to_svg({.title = "t", .panels = {{"y", {{"c", values}}, how}}});
      CHECK(count(svg, "nan") + count(svg, "inf") == 0);
      CHECK(count(svg, "<text") < 40);
      const std::size_t at = svg.find("d=\"");
      if (at == std::string::npos) continue;
      std::istringstream points(svg.substr(at + 3, svg.find('"', at + 3) - at - 3));
      char verb;
      double x = 0, y = 0;
      while (points >> verb >> x >> y) {
        CHECK(x >= 70);
        CHECK(x <= 456);
        CHECK(y >= 92);
        CHECK(y <= 338);
      }
    }
  const std::string gaps = examples::to_svg({.title = "t", .panels = {{"y", {{"c", cases[0]}}}}});
  CHECK(count(gaps, "M") == 3);
  CHECK(count(gaps, "<circle") == 1);
}

// Samples written as float32 are read with the same bits; as 16-bit integers within half of a step, 1 / 65,536, or at the nearest end of [-1, 1).
TEST_CASE("a WAV file keeps what was written") {
  const file at("");
  const examples::sound written{{0.0f, -0.0f, 1.0f, -1.0f, 0.1f, 1e-30f, 2.5f, -3.0f}, 48000, 2};
  examples::write_wav(at.path, written);
  const examples::sound exact = examples::read_wav(at.path);
  CHECK(exact.rate == 48000);
  CHECK(exact.channels == 2);
  REQUIRE(exact.samples.size() == written.samples.size());
  CHECK(std::memcmp(exact.samples.data(), written.samples.data(), sizeof(float) * written.samples.size()) == 0);
  examples::write_wav(at.path, written, examples::wav_format::pcm16);
  CHECK(fs::file_size(at.path) == 44 + 2 * written.samples.size());
  const examples::sound rounded = examples::read_wav(at.path);
  for (std::size_t i = 0; i < written.samples.size(); ++i) {
    const float wanted = std::min(std::max(written.samples[i], -1.0f), 32767.0f / 32768.0f);
    CHECK(std::abs(rounded.samples[i] - wanted) <= 0.5f / 32768.0f);
  }
}

TEST_CASE("a WAV file of another program is read, and one that is wrong is refused") {
  const auto chunk = [](const std::string& name, const std::string& content) {
    std::string bytes = name;
    examples::detail::append_little_endian(bytes, static_cast<std::uint32_t>(content.size()), 4);
    return bytes + content + std::string(content.size() % 2, '\0');
  };
  const auto format = [](std::uint32_t code, std::uint32_t channels, std::uint32_t bits) {
    std::string bytes;
    const auto put = [&](std::uint32_t n, int size) { examples::detail::append_little_endian(bytes, n, size); };
    put(code, 2), put(channels, 2), put(8000, 4), put(8000 * channels * bits / 8, 4), put(channels * bits / 8, 2), put(bits, 2);
    return bytes;
  };
  const auto read = [](const std::string& chunks) -> std::string {
    const file at("RIFF    WAVE" + chunks);
    try {
      return std::to_string(examples::read_wav(at.path).samples.size()) + " samples";
    } catch (const examples::wav_error& error) {
      return std::string(error.what()).substr(at.path.string().size());
    }
  };
  const std::string four("\0\0\0\100", 4), samples = chunk("data", four);
  CHECK(read(chunk("LIST", "odd") + chunk("fmt ", format(1, 1, 16)) + samples) == "2 samples");
  CHECK(read(chunk("fmt ", format(3, 1, 32)) + samples) == "1 samples");
  // WAVE_FORMAT_EXTENSIBLE: the format is the begin of a long number.
  CHECK(read(chunk("fmt ", format(0xfffe, 2, 16) + std::string("\26\0\20\0\0\0\0\0\1\0", 10) + std::string(14, 'x')) + samples) == "2 samples");
  CHECK(read(chunk("fmt ", format(1, 1, 24)) + samples) == ": format 1 of 24 bits, 1 channels: 16-bit integers (1) and 32-bit floats (3) are read");
  CHECK(read(chunk("fmt ", "short") + samples) == ": the format takes 5 bytes, and at least 16 are needed");
  CHECK(read(samples) == ": the samples come before the format");
  CHECK(read(chunk("fmt ", format(1, 1, 16))) == ": has no samples");
  CHECK(read(chunk("fmt ", format(1, 1, 16)) + samples.substr(0, 10)) == ": 4 bytes of samples, and the file has 2");
  const file other("RIFX");
  CHECK_THROWS_AS(examples::read_wav(other.path), examples::wav_error);
  CHECK_THROWS_AS(examples::read_wav(other.path.string() + ".none"), examples::wav_error);
  CHECK_THROWS_AS(examples::write_wav(other.path.string() + ".none/x.wav", {}), examples::wav_error);
}
