// SPDX-License-Identifier: BSL-1.0
// .safetensors: round trips, the bytes that Python's package writes, and every way a file can be wrong.
#include "../catch.hpp"

#include <tenure/interop/safetensors.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

namespace {

namespace fs = std::filesystem;
namespace st = tenure::interop;
using bytes = std::vector<std::byte>;
using pairs = std::vector<std::pair<std::string, std::string>>;

bytes from_text(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

/// A file with this header and as many zero bytes of data.
bytes file_of(std::string_view header, std::size_t data_bytes = 0) {
  bytes out;
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<std::byte>(header.size() >> 8 * i));
  const bytes text = from_text(header);
  out.insert(out.end(), text.begin(), text.end());
  out.resize(out.size() + data_bytes);
  return out;
}
/// A file with one array, described as it is given.
bytes file_of_array(const std::string& described, std::size_t data_bytes = 0) { return file_of("{\"w\":{" + described + "}}", data_bytes); }

/// The message of the io_error that reading throws, from behind the file; "accepted" if it throws none. A program that loads or maps the file gets it too.
std::string refusal(const bytes& file) {
  const auto message = [](const std::function<void()>& f) -> std::string {
    try {
      f();
    } catch (const tenure::io_error& error) {
      const std::string text = error.what();
      const std::size_t end = text.find(": memory: ");
      return text.starts_with("tenure: ") && end < 30 ? text.substr(end + 10) : "unprefixed: " + text;
    }
    return "accepted";
  };
  const std::string read = message([&] { st::read_safetensors(file); });
  CHECK(message([&] { tenure::mapped_file mapped(std::span<const std::byte>{file}); }) == read);
  return read;
}

/// What numpy's safetensors.numpy.save writes: s = 0.1, w = float32 [[1.5, -2, 3], [4, 5, 6]], e = int32 of 0 x 4, h = bfloat16 [1, -0.5],
/// b = [True, False, True].
bytes from_python() {
  using namespace std::string_view_literals;
  bytes file = file_of(
      "{\"__metadata__\":{\"format\":\"np\",\"a\\\"b\":\"\xc3\xa9\\n\"},\"s\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]},\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[8,32]},"
      "\"e\":{\"dtype\":\"I32\",\"shape\":[0,4],\"data_offsets\":[32,32]},\"h\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[32,36]},\"b\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[36,39]}}     ");
  const bytes data = from_text("\x9a\x99\x99\x99\x99\x99\xb9?\x00\x00\xc0?\x00\x00\x00\xc0\x00\x00@@\x00\x00\x80@\x00\x00\xa0@\x00\x00\xc0@\x80?\x00\xbf\x01\x00\x01"sv);
  file.insert(file.end(), data.begin(), data.end());
  return file;
}

template <class T>
std::vector<T> values(const st::array& a) {
  std::vector<T> out(a.bytes.size() / sizeof(T));
  std::memcpy(out.data(), a.bytes.data(), a.bytes.size());
  return out;
}

}  // namespace

TEST_CASE("read_safetensors reads what Python's package wrote") {
  const st::safetensors file = st::read_safetensors(from_python());
  CHECK(file.metadata == pairs{{"format", "np"}, {"a\"b", "\xc3\xa9\n"}});
  REQUIRE(file.arrays.size() == 5);
  CHECK(file.arrays[0].name == "s");
  CHECK(file.arrays[0].shape.empty());
  CHECK(values<double>(file.arrays[0]) == std::vector{0.1});
  CHECK(file.arrays[1].dtype == "<f4");
  CHECK(file.arrays[1].shape == std::vector<std::int64_t>{2, 3});
  CHECK(values<float>(file.arrays[1]) == std::vector{1.5f, -2.f, 3.f, 4.f, 5.f, 6.f});
  CHECK(file.arrays[2].shape == std::vector<std::int64_t>{0, 4});
  CHECK(file.arrays[3].dtype == "<V2");
  CHECK(values<std::uint16_t>(file.arrays[3]) == std::vector<std::uint16_t>{0x3f80, 0xbf00});
  CHECK(values<char>(file.arrays[4]) == std::vector<char>{1, 0, 1});
}

// Law: read_safetensors(p) after write_safetensors(p, arrays) gives the same arrays, bit for bit, those with the longest elements first.
TEST_CASE("law: read_safetensors after write_safetensors gives the same arrays") {
  std::mt19937 random(7);
  const std::vector<std::int64_t> shape{2, 4}, none{4, 0}, scalar;
  std::vector<bytes> content;
  std::vector<st::array_view> written;
  std::vector<std::string> names;
  for (const st::detail::file_type& type : st::detail::file_types) names.push_back(std::string(type.safetensors) + " \"\\/\x01\x7f \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80.");
  std::size_t i = 0;
  for (const st::detail::file_type& type : st::detail::file_types) {
    bytes data(type.bits);  // of 8 elements
    for (std::byte& b : data) b = static_cast<std::byte>(type.dtype == "|b1" ? random() % 2 : random());
    content.push_back(data);
    written.push_back({names[i++], type.dtype, shape, {}});
  }
  for (std::size_t k = 0; k < content.size(); ++k) written[k].bytes = content[k];
  written.push_back({"", "<f4", none, {}});
  const double one = 1;
  written.push_back({"scalar", "<f8", scalar, std::as_bytes(std::span(&one, 1))});
  const pairs metadata{{"format", "pt"}, {"", "\"\\\n\x1f\xc3\xa9"}};
  st::write_safetensors("law.safetensors", written, metadata);
  const st::safetensors read = st::read_safetensors("law.safetensors");
  CHECK(read.metadata == metadata);
  REQUIRE(read.arrays.size() == written.size());
  std::uint64_t bits_before = 64;
  for (const st::array& a : read.arrays) {
    const auto same_name = std::find_if(written.begin(), written.end(), [&](const auto& w) { return w.name == a.name; });
    REQUIRE(same_name != written.end());
    CHECK(a.dtype == same_name->dtype);
    CHECK(std::ranges::equal(a.shape, same_name->shape));
    CHECK(std::ranges::equal(a.bytes, same_name->bytes));
    const std::uint64_t bits = st::detail::type_of_dtype(a.dtype)->bits;
    CHECK(bits <= bits_before);
    bits_before = bits;
  }
  std::uint64_t length = 0;
  std::ifstream("law.safetensors", std::ios::binary).read(reinterpret_cast<char*>(&length), 8);
  CHECK((length + 8) % 64 == 0);

  st::write_safetensors("again.safetensors", written, metadata);
  CHECK(st::detail::input("again.safetensors", {"load", "x"}).read(0, length) == st::detail::input("law.safetensors", {"load", "x"}).read(0, length));
  st::write_safetensors("none.safetensors", {});
  CHECK(st::read_safetensors("none.safetensors").arrays.empty());
}

TEST_CASE("what is no .safetensors file is refused by its first bytes") {
  CHECK(refusal({}) == "empty");
  CHECK(refusal(from_text("1234567")) == "truncated: 7 bytes, where the length of the header alone takes 8");
  CHECK(refusal(bytes(8)) == "not a .safetensors file: the header does not begin with '{'");
  CHECK(refusal(from_text("PK\3\4 a zip archive, of PyTorch")) == "not a .safetensors file but a zip archive, as torch.save and numpy.savez write it");
  CHECK(refusal(from_text("\xff\xff\xff\xff\xff\xff\xff\xff{}")) == "not a .safetensors file: its first eight bytes say that the header has 18446744073709551615 bytes, more than 100,000,000");
  bytes promised = file_of("{}");
  promised[0] = std::byte{3};
  CHECK(refusal(promised) == "truncated within the header: 3 bytes promised, 2 there");
  CHECK(refusal(file_of("")) == "not a .safetensors file: the header does not begin with '{'");
  CHECK(refusal(file_of(" {}")) == "not a .safetensors file: the header does not begin with '{'");
  CHECK(refusal(file_of("{}")) == "accepted");
  CHECK(refusal(file_of("{}  \n\t\r ")) == "accepted");
  CHECK(refusal(file_of("{}", 1)) == "1 bytes at the end belong to no array");
}

TEST_CASE("a header that is not the JSON of the format is refused") {
  const auto at = [](int character, const std::string& what) { return "malformed header at character " + std::to_string(character) + ": " + what; };
  CHECK(refusal(file_of("{")) == at(2, "expected '\"'"));
  CHECK(refusal(file_of("{}x")) == at(3, "text after the object"));
  CHECK(refusal(file_of("{}{}")) == at(3, "text after the object"));
  CHECK(refusal(file_of("{\"w\"}")) == at(5, "expected ':'"));
  CHECK(refusal(file_of("{\"w\":[]}")) == at(6, "expected '{'"));
  CHECK(refusal(file_of("{\"w\":null}")) == at(6, "expected '{'"));
  CHECK(refusal(file_of("{\"w\":{}}")) == at(8, "array 'w' lacks dtype, shape or data_offsets"));
  CHECK(refusal(file_of("{\"w\":{},}")) == at(8, "array 'w' lacks dtype, shape or data_offsets"));
  CHECK(refusal(file_of("{\"__metadata__\":{},}")) == at(20, "expected '\"'"));
  CHECK(refusal(file_of("{\"__metadata__\":{\"a\":1}}")) == at(22, "expected '\"'"));
  CHECK(refusal(file_of("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}")) == at(35, "__metadata__ has 'a' twice"));
  CHECK(refusal(file_of("{\"__metadata__\":{},\"__metadata__\":{}}")) == at(35, "__metadata__ appears twice"));
  CHECK(refusal(file_of_array("\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4],\"more\":1", 4)).ends_with("unknown key 'more'"));
  CHECK(refusal(file_of_array("\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]", 4)).ends_with("array 'w' has dtype twice"));
  CHECK(refusal(file_of_array("\"dtype\":\"F32\",\"shape\":[],\"shape\":[],\"data_offsets\":[0,4]", 4)).ends_with("array 'w' has shape twice"));
  CHECK(refusal(file_of_array("\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4],\"data_offsets\":[0,4]", 4)).ends_with("array 'w' has data_offsets twice"));
  CHECK(refusal(file_of_array("\"dtype\":\"F32\",\"shape\":[]")).ends_with("array 'w' lacks dtype, shape or data_offsets"));
  CHECK(refusal(file_of_array("\"dtype\":\"float32\",\"shape\":[],\"data_offsets\":[0,4]", 4)).ends_with("array 'w' has the unknown dtype 'float32'"));
  CHECK(refusal(file_of_array("\"dtype\":3")).ends_with("expected '\"'"));
  CHECK(refusal(file_of_array("\"data_offsets\":[0]")).ends_with("data_offsets are two numbers"));
  CHECK(refusal(file_of_array("\"data_offsets\":[0,1,2]")).ends_with("data_offsets are two numbers"));
  const std::string array = "\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]";
  CHECK(refusal(file_of("{\"w\":{" + array + "},\"w\":{" + array + "}}", 4)).ends_with("array 'w' appears twice"));
  CHECK(refusal(file_of("{\"w\":{" + array + "},\"\\u0077\":{" + array + "}}", 4)).ends_with("array 'w' appears twice"));
  CHECK(refusal(file_of(std::string(100'000, '{'))) == at(2, "expected '\"'"));
  CHECK(refusal(file_of_array("\"shape\":" + std::string(100'000, '['))) == at(16, "expected a natural number"));
}

TEST_CASE("numbers are natural ones of 64 bits") {
  const auto of_shape = [](const std::string& extent) { return refusal(file_of_array("\"shape\":[" + extent + "],\"dtype\":\"F32\",\"data_offsets\":[0,0]")); };
  CHECK(of_shape("0") == "accepted");
  CHECK(of_shape(" 0 , 1 ") == "accepted");
  for (const char* number : {"-1", "+1", "x", "\"1\"", ",", "NaN", "null", "[1]"}) CHECK_THAT(of_shape(number), Catch::Matchers::EndsWith("expected a natural number"));
  CHECK_THAT(of_shape("0x1"), Catch::Matchers::EndsWith("expected ']'"));
  CHECK_THAT(of_shape("0 1"), Catch::Matchers::EndsWith("expected ']'"));
  for (const char* number : {"1.0", "1e3", "0.5", "1E2"}) CHECK_THAT(of_shape(number), Catch::Matchers::Contains("a number that is not a natural one"));
  CHECK_THAT(of_shape("01"), Catch::Matchers::Contains("a number with a leading zero"));
  CHECK_THAT(of_shape("1,"), Catch::Matchers::Contains("expected a natural number"));
  CHECK_THAT(of_shape("0,18446744073709551616"), Catch::Matchers::Contains("a number beyond 64 bits"));
  CHECK_THAT(of_shape("0,9223372036854775808"), Catch::Matchers::Contains("an extent that is no int64"));
  CHECK(of_shape("0,9223372036854775807,9223372036854775807") == "accepted");  // nothing, however large
  CHECK_THAT(of_shape("4294967296,4294967296"), Catch::Matchers::Contains("is larger than any memory"));
  CHECK_THAT(of_shape("9223372036854775807"), Catch::Matchers::Contains("is larger than any memory"));
  std::string many = "1";
  for (int i = 0; i < 50'000; ++i) many += ",1";
  CHECK_THAT(of_shape(many), Catch::Matchers::Contains("1, ...) of 50001 axes has 4"));
}

TEST_CASE("strings are UTF-8 with the escapes of JSON") {
  const auto name = [](const std::string& text) {
    try {
      return st::read_safetensors(file_of("{\"" + text + "\":{\"shape\":[0],\"dtype\":\"F32\",\"data_offsets\":[0,0]}}")).arrays.at(0).name;
    } catch (const tenure::io_error& error) {
      const std::string message = error.what();
      return "refused: " + message.substr(message.rfind(": ") + 2);
    }
  };
  CHECK(name("\\\"\\\\\\/\\b\\f\\n\\r\\t") == "\"\\/\b\f\n\r\t");
  CHECK(name("\\u0041\\u00e9\\u20AC\\ud83d\\uDE00") == "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  CHECK(name("\\u0000") == std::string(1, '\0'));
  CHECK(name("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\x7f") == "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\x7f");
  for (const char* escape : {"\\x41", "\\U0041", "\\'", "\\ ", "\\a"}) CHECK(name(escape) == "refused: an unknown escape");
  for (const char* escape : {"\\u004", "\\u004g", "\\u-041", "\\u+041", "\\u 041", "\\u"}) CHECK(name(escape) == "refused: \\u without four hexadecimal digits");
  for (const char* escape : {"\\ud83d", "\\ude00", "\\ud83d\\u0041", "\\ud83dx", "\\ud83d\\ud83d", "\\ude00\\ud83d", "\\ud83d\\n"}) CHECK(name(escape) == "refused: half of a surrogate pair");
  // A byte that begins nothing, a character without its end, too long, a surrogate, beyond the last character.
  for (const char* bytes : {"\x80", "\xff", "\xc3", "\xc3(", "\xe2\x82", "\xe2(\xa1", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xfe"})
    CHECK(name(bytes) == "refused: a string is not UTF-8");
  for (char c = 1; c < 0x20; ++c) CHECK(name(std::string(1, c)) == "refused: a control character in a string");
  CHECK(name(std::string(1, '\0')) == "refused: a control character in a string");
  CHECK(refusal(file_of("{\"w")).ends_with("a string is never closed"));
  CHECK(refusal(file_of("{\"w\\")).ends_with("an unknown escape"));
  CHECK(refusal(file_of("{\"\\u12")).ends_with("\\u without four hexadecimal digits"));
  CHECK(refusal(file_of("{\"a\\u001b[31m\":{\"shape\":[1],\"dtype\":\"F32\",\"data_offsets\":[0,0]}}")).starts_with("array 'a\\x1b[31m': 0 bytes of data where float32 of shape (1,) has 4"));
}

// Law: what is read has every name once, and arrays that cover the data without overlap and without a hole.
TEST_CASE("law: the arrays cover the data, each byte once") {
  const auto two = [](const std::string& first, const std::string& second, std::size_t data_bytes) {
    const auto array = [](const std::string& offsets) { return "{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[" + offsets + "]}"; };
    return refusal(file_of("{\"a\":" + array(first) + ",\"b\":" + array(second) + "}", data_bytes));
  };
  CHECK(two("0,8", "8,16", 16) == "accepted");
  CHECK(two("8,16", "0,8", 16) == "accepted");
  CHECK(two("0,8", "0,8", 8) == "array 'b': its data overlaps that of the array before it");
  CHECK(two("0,8", "4,12", 12) == "array 'b': its data overlaps that of the array before it");
  CHECK(two("0,8", "12,20", 20) == "array 'b': 4 bytes before its data belong to no array");
  CHECK(two("4,12", "12,20", 20) == "array 'a': 4 bytes before its data belong to no array");
  CHECK(two("0,8", "8,16", 17) == "1 bytes at the end belong to no array");
  CHECK(two("0,8", "8,16", 15) == "array 'b': truncated: its data ends at byte 16, and the file has 15 bytes of data");
  CHECK(two("0,8", "16,8", 16) == "array 'b': its data ends before it begins: 16, 8");
  CHECK(two("0,8", "8,12", 12) == "array 'b': 4 bytes of data where float32 of shape (2,) has 8");
  CHECK(two("0,8", "18446744073709551608,18446744073709551615", 16) == "array 'b': truncated: its data ends at byte 18446744073709551615, and the file has 16 bytes of data");
  CHECK(refusal(file_of_array("\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]", 2)) == "array 'w': 3 elements of F4 do not fill whole bytes");
  CHECK(refusal(file_of_array("\"dtype\":\"F6_E2M3\",\"shape\":[4],\"data_offsets\":[0,3]", 3)) == "accepted");
  bytes two_bools = file_of_array("\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[0,2]", 2);
  two_bools.back() = std::byte{2};
  CHECK(refusal(two_bools) == "array 'w': a bool of value 2, neither 0 nor 1");
  // Arrays of no elements take no bytes, wherever they stand between others.
  CHECK(refusal(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"e\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},\"f\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[4,4]}}", 4)) == "accepted");
  CHECK(refusal(file_of("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"e\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[2,2]}}", 4)) == "array 'e': its data overlaps that of the array before it");
}

namespace {

/// Requires that a file is read or refused by a message of one line, and that what is read covers the data once.
void require_answer(const bytes& file) {
  try {
    const st::safetensors read = st::read_safetensors(file);
    std::set<std::string> names;
    std::size_t total = 0;
    for (const st::array& a : read.arrays) {
      names.insert(a.name);
      total += a.bytes.size();
      std::size_t bits = st::detail::type_of_dtype(a.dtype)->bits;
      for (const std::int64_t extent : a.shape) bits *= static_cast<std::size_t>(extent);
      if (bits / 8 != a.bytes.size()) FAIL("an array of another size than its shape");
    }
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), 8);
    if (names.size() != read.arrays.size() || total + length + 8 != file.size()) FAIL("names or bytes that are there twice or left");
  } catch (const tenure::io_error& error) {
    const std::string message = error.what();
    if (!message.starts_with("tenure: load: memory: ") || message.find('\n') != std::string::npos || message.size() > 600) FAIL(message);
  }
}

}  // namespace

TEST_CASE("no prefix of a file and no changed byte is read as something else, or brings the reader down") {
  const bytes file = from_python();
  for (std::size_t size = 0; size < file.size(); ++size) {
    const bytes prefix(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK_THROWS_AS(st::read_safetensors(prefix), tenure::io_error);
  }
  for (std::size_t i = 0; i < file.size(); ++i)
    for (int value = 0; value < 256; ++value) {
      bytes changed = file;
      changed[i] = static_cast<std::byte>(value);
      require_answer(changed);
    }
}

TEST_CASE("random headers of the words of the format are read or refused") {
  std::mt19937 random(11);
  const std::vector<std::string> words{"{", "}", "[", "]", ",", ":", "\"", "\"w\"", "\"b\"", "\"dtype\"", "\"shape\"", "\"data_offsets\"", "\"__metadata__\"", "\"F32\"", "\"BOOL\"", "\"F4\"", "0", "1", "2", "4", "8", "18446744073709551615", "9223372036854775808",
                                       "-1", "1.5", "\\u00e9", "\\", "\xc3", " ", "\n", "null", "true", "[0,4]", "[4,8]", "[1]", "[]", "\"dtype\":\"F32\"", "\"shape\":[1]", "\"data_offsets\":[0,4]", "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}", "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}"};
  int read = 0;
  for (int i = 0; i < 60'000; ++i) {
    std::string header = "{";
    const std::size_t count = random() % 12;
    for (std::size_t k = 0; k < count; ++k) {
      // Half of the time what could follow, so that some headers are right.
      const bool is_array = random() % 2 == 0;
      header += is_array ? (header.size() > 1 ? ",\"" : "\"") + std::string(1, static_cast<char>('a' + random() % 4)) + "\":" + words[words.size() - 1 - random() % 2] : words[random() % words.size()];
    }
    header += "}";
    const bytes file = file_of(header, 4 * (random() % 4));
    require_answer(file);
    try {
      read += st::read_safetensors(file).arrays.empty() ? 0 : 1;
    } catch (const tenure::io_error&) {
    }
  }
  CHECK(read > 100);
}

TEST_CASE("an array that cannot be written leaves the old file") {
  const std::vector<std::int64_t> shape{2};
  const float two[2] = {1, 2};
  const auto data = std::as_bytes(std::span(two));
  st::write_safetensors("kept.safetensors", {});
  const auto refused = [&](std::initializer_list<st::array_view> arrays, const pairs& metadata = {}) -> std::string {
    const std::vector<st::array_view> list(arrays);
    try {
      st::write_safetensors("kept.safetensors", list, metadata);
    } catch (const tenure::io_error& error) {
      CHECK(st::read_safetensors("kept.safetensors").arrays.empty());
      return std::string(error.what()).substr(std::string("tenure: save: kept.safetensors: ").size());
    }
    return "written";
  };
  CHECK(refused({{"w", "<f4", shape, data}, {"w", "<f4", shape, data}}).ends_with("array 'w' appears twice"));
  CHECK(refused({{"__metadata__", "<f4", shape, data}}) == "array '__metadata__': this name is that of the metadata");
  CHECK(refused({{"w", ">f4", shape, data}}) == "array 'w': dtype '>f4' is not supported");
  CHECK(refused({{"w", "<f8", shape, data}}) == "array 'w': 8 bytes given where float64 of shape (2,) has 16");
  CHECK(refused({{"\xff", "<f4", shape, data}}).ends_with("a name that is not UTF-8"));
  CHECK(refused({{"w", "<f4", shape, data}}, {{"a", "\xc3"}}).ends_with("a name that is not UTF-8"));
  CHECK(refused({{"w", "<f4", shape, data}}, {{"a", "1"}, {"a", "2"}}).ends_with("__metadata__ has 'a' twice"));
  CHECK_THROWS_WITH(st::write_safetensors("no/such/folder.safetensors", {}), Catch::Matchers::StartsWith("tenure: save: no/such/folder.safetensors: cannot create"));
  CHECK_THROWS_WITH(st::read_safetensors("missing.safetensors"), "tenure: load: missing.safetensors: no such file");
}

// Law: a conversion is that of a C++ cast, and a float16 is the float of the same value.
TEST_CASE("law: elements convert as C++ casts, float16 by its value") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float x = tenure::float16::from_bits(static_cast<std::uint16_t>(bits));
    const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 1023);
    const double size = exponent == 0 ? std::ldexp(fraction, -24) : exponent == 31 ? std::numeric_limits<double>::infinity() : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31 && fraction != 0) {
      if (!std::isnan(x)) FAIL("not a NaN: " << bits);
    } else if (static_cast<double>(x) != (bits >> 15 ? -size : size) || std::signbit(x) != (bits >> 15 != 0)) {
      FAIL("half " << bits << " is " << x);
    }
  }
  const auto convert = []<class To, class From>(To, std::string_view dtype, std::vector<From> from) {
    const st::array_view a{"w", dtype, {}, std::as_bytes(std::span(from))};
    REQUIRE(st::detail::is_convertible<To>(dtype));
    st::detail::check_conversion<To>(a, {"load", "m", "w"});
    std::vector<To> to(from.size());
    st::detail::convert_elements(a, to.data());
    return to;
  };
  using i64 = std::int64_t;
  CHECK(convert(float{}, "<f8", std::vector<double>{0.1, 1e300, -1e-320}) == std::vector<float>{0.1f, std::numeric_limits<float>::infinity(), -0.f});
  CHECK(convert(double{}, "<f4", std::vector<float>{0.1f}) == std::vector<double>{static_cast<double>(0.1f)});
  CHECK(convert(float{}, "<V2", std::vector<std::uint16_t>{0x3f80, 0xc020}) == std::vector<float>{1, -2.5f});
  CHECK(convert(double{}, "<f2", std::vector<std::uint16_t>{0x3c00, 0xc100}) == std::vector<double>{1, -2.5});
  CHECK(convert(tenure::bfloat16{}, "<f4", std::vector<float>{1.00390625f, 1.01171875f})[0].bits() == 0x3f80);  // halfway, to the even one
  CHECK(convert(tenure::bfloat16{}, "<f4", std::vector<float>{1.01171875f})[0].bits() == 0x3f82);
  CHECK(convert(float{}, "|i1", std::vector<std::int8_t>{-128, 127}) == std::vector<float>{-128, 127});
  CHECK(convert(float{}, "|b1", std::vector<char>{0, 1}) == std::vector<float>{0, 1});
  CHECK(convert(i64{}, "|u1", std::vector<std::uint8_t>{0, 255}) == std::vector<i64>{0, 255});
  CHECK(convert(std::int32_t{}, "<i8", std::vector<i64>{-2147483648, 2147483647}) == std::vector<std::int32_t>{-2147483648, 2147483647});
  CHECK(convert(i64{}, "<u4", std::vector<std::uint32_t>{4294967295u}) == std::vector<i64>{4294967295});
  CHECK_THROWS_WITH(convert(std::int32_t{}, "<i8", std::vector<i64>{2147483648}), "tenure: load: m: array 'w': has the number 2147483648, which int32 does not hold");
  CHECK_THROWS_WITH(convert(i64{}, "<u8", std::vector<std::uint64_t>{1, 1ull << 63}), "tenure: load: m: array 'w': has the number 9223372036854775808, which int64 does not hold");
  CHECK(!st::detail::is_convertible<i64>("<f4"));
  CHECK(!st::detail::is_convertible<bool>("|u1"));
  CHECK(!st::detail::is_convertible<float>("F8_E4M3"));
  CHECK(!st::detail::is_convertible<float>("<c8"));
}
