// SPDX-License-Identifier: BSL-1.0
// .npy and .npz: round trips, the bytes NumPy itself writes, and every way a file can be wrong.
#include "../catch.hpp"
#include "../difference.hpp"

#include <tenure/interop/npz.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <random>

namespace {

namespace fs = std::filesystem;
namespace npz = tenure::interop;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using bytes = std::vector<std::byte>;

// numpy.savez("numpy.npz", w=float32 [[1.5, -2, 3], [4, 5, 6]], s=float64 0.1, b=[True, False, True]), NumPy 1.24.
const char* const from_savez =
    "504b03041400000000000000210053741cd2980000009800000005001400772e6e7079010010009800000000000000980000000000000093"
    "4e554d5059010076007b276465736372273a20273c6634272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065"
    "273a2028322c2033292c207d2020202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "20202020202020202020202020200a0000c03f000000c000004040000080400000a0400000c040504b03041400000000000000210000bc0e"
    "12880000008800000005001400732e6e70790100100088000000000000008800000000000000934e554d5059010076007b27646573637227"
    "3a20273c6638272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028292c207d202020202020202020"
    "20202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a9a99"
    "99999999b93f504b03041400000000000000210016938cbb830000008300000005001400622e6e7079010010008300000000000000830000"
    "0000000000934e554d5059010076007b276465736372273a20277c6231272c2027666f727472616e5f6f72646572273a2046616c73652c20"
    "277368617065273a2028332c292c207d20202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "20202020202020202020202020202020202020200a010001504b010214031400000000000000210053741cd2980000009800000005000000"
    "0000000000000000800100000000772e6e7079504b010214031400000000000000210000bc0e128800000088000000050000000000000000"
    "0000008001cf000000732e6e7079504b010214031400000000000000210016938cbb83000000830000000500000000000000000000008001"
    "8e010000622e6e7079504b0506000000000300030099000000480200000000";

// numpy.savez_compressed("deflated.npz", w=numpy.zeros(3, "<f4")), NumPy 1.24.
const char* const from_savez_compressed =
    "504b030414000000080000002100a9f69b18470000008c00000005001400772e6e7079010010008c0000000000000047000000000000009b"
    "ec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a"
    "c63a9a3a0ab50a14002e06240000504b0102140314000000080000002100a9f69b18470000008c0000000500000000000000000000008001"
    "00000000772e6e7079504b05060000000001000100330000007e0000000000";

bytes from_hex(std::string_view text) {
  bytes out;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
    out.push_back(static_cast<std::byte>(value));
  }
  return out;
}

bytes from_text(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

/// A folder that goes away with the test.
struct folder {
  folder() : path(fs::temp_directory_path() / ("tenure-npz-" + std::to_string(std::random_device{}()))) {
    fs::create_directory(path);
  }
  ~folder() { fs::remove_all(path); }

  fs::path put(const std::string& name, const bytes& content) const {
    std::ofstream(path / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
    return path / name;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }

  fs::path path;
};

/// An archive in memory: to open a file for each of 16,000 broken ones took half a minute.
struct memory {
  bytes content;

  std::uint64_t size() const { return content.size(); }
  bytes read(std::uint64_t offset, std::uint64_t count) const {
    if (offset > size() || count > size() - offset) throw tenure::io_error("tenure: load: memory: truncated");
    const auto first = content.begin() + static_cast<std::ptrdiff_t>(offset);
    return {first, first + static_cast<std::ptrdiff_t>(count)};
  }
};

std::vector<npz::array> read_npz_from(bytes content) {
  memory file{std::move(content)};
  return npz::detail::read_archive(file, {"load", "memory"});
}

/// A file of which only what is not `skipped` is written: there it has a hole, which takes no room.
struct sparse_file {
  sparse_file(const fs::path& path, std::span<const std::byte> hole) : skipped(hole.data()), file(open(path.c_str(), O_CREAT | O_WRONLY, 0600)) {}
  ~sparse_file() { close(file); }

  void write(std::span<const std::byte> bytes) {
    if (bytes.data() != skipped) REQUIRE(pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes.size()));
    offset += bytes.size();
  }

  const std::byte* skipped;
  int file;
  std::uint64_t offset = 0;
};

/// A Python that has NumPy 1.24 or newer; "" where there is none, which scripts/test.sh mends.
const std::string& python_with_numpy() {
  static const std::string found = [] {
    const char* const given = std::getenv("TENURE_NUMPY_PYTHON");
    for (const std::string& python : {std::string(given ? given : ""), std::string(TENURE_SOURCE_DIR "/build/numpy/bin/python"), std::string("python3")})
      if (!python.empty() && std::system(("'" + python + "' -c 'import numpy; assert numpy.lib.NumpyVersion(numpy.__version__) >= \"1.24.0\"' >/dev/null 2>&1").c_str()) == 0)
        return python;
    return std::string();
  }();
  return found;
}

/// What a script, which has no single quotes, prints.
std::string numpy_says(const folder& here, const std::string& script) {
  const fs::path said = here.path / "said";
  const std::string command = "cd '" + here.path.string() + "' && '" + python_with_numpy() + "' -c '" + script + "' >said 2>&1";
  const int status = std::system(command.c_str());
  std::ostringstream text;
  text << std::ifstream(said).rdbuf();
  return text.str() + (status == 0 ? "" : "exit status " + std::to_string(status));
}
#define NEEDS_NUMPY()                                                                                             \
  if (python_with_numpy().empty()) {                                                                              \
    WARN("skipped: no Python with NumPy 1.24 or newer; TENURE_NUMPY_PYTHON names one, scripts/test.sh makes one"); \
    return;                                                                                                       \
  }

bytes content_of(const fs::path& path) {
  bytes content(fs::file_size(path));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(content.size()));
  return content;
}

/// The message of the io_error that f throws, from behind "<file>: ".
std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const tenure::io_error& error) {
    const std::string message = error.what();
    const bool has_prefix = message.starts_with("tenure: load: ") || message.starts_with("tenure: save: ");
    const std::size_t file_end = message.find(": ", 14);
    return has_prefix && file_end != std::string::npos ? message.substr(file_end + 2) : "unprefixed: " + message;
  }
  return "accepted";
}

/// A .npy file of version 1 with this header text.
bytes npy(std::string header, std::size_t data_bytes) {
  header += '\n';
  std::string text = "\x93NUMPY";
  text += {'\1', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  bytes out = from_text(text + header);
  out.resize(out.size() + data_bytes);
  return out;
}

template <class T>
std::vector<T> values(const npz::array& a) {
  std::vector<T> out(a.bytes.size() / sizeof(T));
  std::memcpy(out.data(), a.bytes.data(), a.bytes.size());
  return out;
}

struct sample {
  std::vector<float> w{1.5f, -2, 3, 4, 5, 6};
  std::vector<std::int64_t> w_shape{2, 3}, k_shape{2}, none{0, 4};
  std::vector<std::int64_t> k{7, std::numeric_limits<std::int64_t>::min()};
  double s = 0.1;
  std::array<bool, 2> b{true, false};
  std::vector<npz::array_view> views{{"w", "<f4", w_shape, std::as_bytes(std::span(w))},
                                     {"layer/k", "<i8", k_shape, std::as_bytes(std::span(k))},
                                     {"s", "<f8", {}, std::as_bytes(std::span(&s, 1))},
                                     {"\xc3\xa9.npy", "|b1", k_shape, std::as_bytes(std::span(b))},
                                     {"empty", "<i4", none, {}}};
};

void require_same(const npz::array& read, const npz::array_view& written) {
  CHECK(read.dtype == written.dtype);
  CHECK(read.shape == std::vector<std::int64_t>(written.shape.begin(), written.shape.end()));
  CHECK(read.bytes.size() == written.bytes.size());
  CHECK(first_difference(read.bytes.data(), written.bytes.data(), static_cast<std::int64_t>(std::min(read.bytes.size(), written.bytes.size()))));
}
void require_same(const std::vector<npz::array>& read, const std::vector<npz::array_view>& written) {
  REQUIRE(read.size() == written.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    CHECK(read[i].name == written[i].name);
    require_same(read[i], written[i]);
  }
}

}  // namespace

TEST_CASE("crc32 is the zip standard's, however the bytes are split") {
  const bytes digits = from_text("123456789");
  CHECK(npz::detail::crc32(digits) == 0xcbf43926);
  CHECK(npz::detail::crc32({}) == 0);
  const bytes text = from_text("The quick brown fox jumps over the lazy dog");
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    const std::span<const std::byte> all(text);
    CHECK(npz::detail::crc32(all.subspan(cut), npz::detail::crc32(all.first(cut))) == 0x414fa339);
  }
}

TEST_CASE("read_npz reads what numpy.savez wrote") {
  const folder here;
  const auto arrays = npz::read_npz(here.put("numpy.npz", from_hex(from_savez)));
  REQUIRE(arrays.size() == 3);
  CHECK(arrays[0].name == "w");
  CHECK(arrays[0].dtype == "<f4");
  CHECK(arrays[0].shape == std::vector<std::int64_t>{2, 3});
  CHECK(values<float>(arrays[0]) == std::vector<float>{1.5f, -2, 3, 4, 5, 6});
  CHECK(arrays[1].name == "s");
  CHECK(arrays[1].shape.empty());
  CHECK(values<double>(arrays[1]) == std::vector<double>{0.1});
  CHECK(arrays[2].dtype == "|b1");
  CHECK(values<char>(arrays[2]) == std::vector<char>{1, 0, 1});
}

TEST_CASE("an .npy file within a NumPy archive is the one write_npy writes") {
  const folder here;
  const sample from;
  npz::write_npy(here.path / "w.npy", from.views[0]);
  const bytes ours = content_of(here.path / "w.npy"), archive = from_hex(from_savez);
  const std::size_t before = 30 + 5 + 20;  // the local header with its name and NumPy's extra field
  REQUIRE(ours.size() == 152);
  CHECK(first_difference(ours.data(), archive.data() + before, 152));
}

// Law: read_npz(p) after write_npz(p, arrays) gives the same arrays in the same order, bit for bit.
TEST_CASE("law: read_npz after write_npz gives the same arrays") {
  const folder here;
  const sample from;
  const fs::path path = here.path / "model.npz";
  SECTION("in the plain form") { npz::write_npz(path, from.views); }
  SECTION("in the zip64 form") { npz::detail::write_archive(path, from.views, 0); }
  SECTION("in place of an older file") {
    here.put("model.npz", from_text("old"));
    npz::write_npz(path, from.views);
  }
  require_same(npz::read_npz(path), from.views);
  CHECK(here.files() == 1);

  const bytes first = content_of(path);
  npz::write_npz(here.path / "again.npz", from.views);
  npz::write_npz(path, from.views);
  CHECK(content_of(path) == content_of(here.path / "again.npz"));  // no clock, no chance
}

TEST_CASE("an archive of no arrays") {
  const folder here;
  npz::write_npz(here.path / "none.npz", {});
  CHECK(npz::read_npz(here.path / "none.npz").empty());
}

TEST_CASE("an archive with a comment behind its end") {
  const auto with_comment = [](const bytes& comment) {
    bytes content = from_hex(from_savez);
    content[content.size() - 2] = static_cast<std::byte>(comment.size());
    content.insert(content.end(), comment.begin(), comment.end());
    return content;
  };
  const auto names = [](const bytes& content) {
    std::string all;
    for (const auto& a : read_npz_from(content)) all += a.name + " ";
    return all;
  };
  CHECK(names(with_comment(from_text("saved by hand"))) == "w s b ");
  CHECK(names(with_comment(bytes(60))) == "w s b ");  // its last zeros read as a comment's size, without a signature
  const bytes end = from_hex("504b0506000000000300030099000000480200000100");
  CHECK(names(with_comment(end)) == "w s b ");  // a signature, with the size of another comment
  bytes content = with_comment(from_text("cut"));
  content.pop_back();
  CHECK(refusal([&] { read_npz_from(content); }) == "truncated zip archive: its directory is missing");
}

// Law: read_npy(p) after write_npy(p, a) gives the dtype, shape and bytes of a.
TEST_CASE("law: read_npy after write_npy gives the same array") {
  const folder here;
  const sample from;
  for (const auto& view : from.views) {
    npz::write_npy(here.path / "a.npy", view);
    require_same(npz::read_npy(here.path / "a.npy"), view);
  }
  const std::vector<std::int64_t> many(30'000, 1);  // a header past 65,535 bytes: version 2
  const float one = 1;
  npz::write_npy(here.path / "a.npy", {"", "<f4", many, std::as_bytes(std::span(&one, 1))});
  CHECK(npz::read_npy(here.path / "a.npy").shape == many);
}

TEST_CASE("a header that ends on 64 bytes is padded by 64 more, as NumPy does") {
  const auto header_bytes = [](std::int64_t extent) {
    std::vector<std::int64_t> shape(12, 1);
    shape.insert(shape.end(), {extent, 0});
    return npz::detail::npy_header({"", "<f4", shape, {}}, {"save", "a.npy"}).size();
  };
  CHECK(header_bytes(10) == 128);
  CHECK(header_bytes(100) == 192);  // 128 without the padding
  CHECK(header_bytes(1000) == 192);
}

TEST_CASE("law: write_npy writes the bytes of numpy.save") {
  NEEDS_NUMPY();
  const folder here;
  // Headers of every length about a multiple of 64, first extents of each number of digits.
  std::vector<std::vector<std::int64_t>> shapes{{}, {0}, {9, 0}, {1, 1, 0}, {3}, {10}, {99, 2}, {100, 0}, {123456, 0}, {1234567890123, 0}};
  for (std::size_t n = 0; n < 70; ++n) {
    std::vector<std::int64_t> shape(n / 3, 1);
    shape.push_back(n % 3 == 0 ? 0 : n % 3 == 1 ? 10 : 100);
    shape.push_back(0);
    shapes.push_back(std::move(shape));
  }
  std::string list;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::vector<std::byte> zeros(static_cast<std::size_t>(npz::detail::dense_bytes("<f4", shapes[i], {"save", "zeros"})));
    npz::write_npy(here.path / (std::to_string(i) + ".npy"), {"", "<f4", shapes[i], zeros});
    list += npz::detail::tuple_text(shapes[i]) + ",";
  }
  CHECK(numpy_says(here, "import numpy\nfor i, shape in enumerate([" + list + R"(]):
    name = f"{i}.npy"
    numpy.save("theirs.npy", numpy.zeros(shape, "<f4"))
    assert numpy.load(name).shape == shape, shape
    ours, theirs = open(name, "rb").read(), open("theirs.npy", "rb").read()
    if ours != theirs: print(shape, "ours:", ours, "theirs:", theirs)
)") == "");
}

TEST_CASE("law: NumPy reads what write_npz wrote") {
  NEEDS_NUMPY();
  const folder here;
  const sample from;
  SECTION("in the plain form") { npz::write_npz(here.path / "model.npz", from.views); }
  SECTION("in the zip64 form") { npz::detail::write_archive(here.path / "model.npz", from.views, 0); }
  CHECK(numpy_says(here, R"(import numpy, zipfile
assert zipfile.ZipFile("model.npz").testzip() is None
with numpy.load("model.npz") as z:
    for name in z.files: print(ascii(name), z[name].dtype.str, z[name].shape, z[name].tolist())
)") == R"('w' <f4 (2, 3) [[1.5, -2.0, 3.0], [4.0, 5.0, 6.0]]
'layer/k' <i8 (2,) [7, -9223372036854775808]
's' <f8 () 0.1
'\xe9.npy' |b1 (2,) [True, False]
'empty' <i4 (0, 4) []
)");
}

TEST_CASE("law: an array beyond 4 GiB of an archive is read by NumPy, and by read_npz") {
  const folder here;
  const sample from;
  const std::size_t large = (std::size_t{1} << 32) + 17;
  void* const nothing = mmap(nullptr, large, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(nothing != MAP_FAILED);
  const std::span<const std::byte> hole(static_cast<const std::byte*>(nothing), large);
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(large)};
  std::vector<npz::detail::outgoing> entries = npz::detail::outgoing_entries(std::span(from.views).subspan(0, 1), {"save", "large.npz"});
  entries.insert(entries.begin(), {"large.npy", npz::detail::npy_header({"large", "|b1", shape, hole}, {"save", "large.npz"}), hole});
  {
    sparse_file file(here.path / "large.npz", hole);
    npz::detail::write_entries(file, entries);
  }
  munmap(nothing, large);

  const npz::detail::place where{"load", "large.npz"};
  npz::detail::input file(here.path / "large.npz", where);
  const npz::detail::directory listed = npz::detail::find_directory(file, where);
  REQUIRE(listed.count == 2);
  CHECK(listed.offset > large);
  const bytes records = file.read(listed.offset, listed.size);
  npz::detail::record_reader in(records, where);
  const npz::detail::incoming first = npz::detail::take_incoming(in, where), second = npz::detail::take_incoming(in, where);
  CHECK(first.size == large + 128);
  CHECK(first.offset == 0);
  require_same(npz::detail::npy_array(npz::detail::read_entry(file, second, where), "w", where), from.views[0]);

  NEEDS_NUMPY();
  CHECK(numpy_says(here, R"(import numpy, zipfile
for i in zipfile.ZipFile("large.npz").infolist(): print(i.filename, i.file_size, i.compress_size, i.header_offset)
with numpy.load("large.npz") as z: print(z["w"].tolist())
)") == "large.npy 4294967441 4294967441 0\nw.npy 152 152 " + std::to_string(second.offset) + "\n[[1.5, -2.0, 3.0], [4.0, 5.0, 6.0]]\n");
}

TEST_CASE("bfloat16 is two bytes, as NumPy writes the type of ml_dtypes") {
  const folder here;
  const std::uint16_t one_and_two[] = {0x3f80, 0x4000};
  const std::vector<std::int64_t> shape{2};
  npz::write_npy(here.path / "a.npy", {"", "<V2", shape, std::as_bytes(std::span(one_and_two))});
  const npz::array back = npz::read_npy(here.path / "a.npy");
  CHECK(back.dtype == "<V2");
  CHECK(std::memcmp(back.bytes.data(), one_and_two, 4) == 0);
  CHECK(npz::read_npy(here.put("b.npy", npy("{'descr': '|V2', 'fortran_order': False, 'shape': (2,), }", 4))).dtype == "<V2");
  NEEDS_NUMPY();
  CHECK(numpy_says(here, R"(import numpy
a = numpy.load("a.npy")
print(a.dtype, a.view("<u2").tolist()))") == "|V2 [16256, 16384]\n");
}

TEST_CASE("headers that other programs write") {
  const folder here;
  const auto shape_of = [&](const char* header, std::size_t data) {
    return npz::read_npy(here.put("a.npy", npy(header, data))).shape;
  };
  CHECK(shape_of("{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f4\"}", 24) == std::vector<std::int64_t>{2, 3});
  CHECK(shape_of("{'descr': '<i4', 'fortran_order': False, 'shape': ( 5 , ), }   ", 20) ==
        std::vector<std::int64_t>{5});
  CHECK(shape_of("{'descr': '|b1', 'fortran_order': False, 'shape': ()}", 1).empty());
}

TEST_CASE("a header that is wrong is refused with its reason") {
  const folder here;
  const auto refused = [&](const char* header, std::size_t data = 24) {
    return refusal([&] { npz::read_npy(here.put("a.npy", npy(header, data))); });
  };
  CHECK_THAT(refused("{'descr': '>f4', 'fortran_order': False, 'shape': (6,), }"), StartsWith("dtype '>f4' is big-endian"));
  CHECK_THAT(refused("{'descr': '<u4', 'fortran_order': False, 'shape': (6,), }"), StartsWith("dtype '<u4' is not supported"));
  CHECK_THAT(refused("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }"), StartsWith("a structured dtype"));
  CHECK_THAT(refused("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }"), StartsWith("shape (2, 3) is in Fortran order"));
  CHECK(refused("{'descr': '<f4', 'fortran_order': False, 'shape': (7,), }") ==
        "truncated: 24 bytes of data where <f4 of shape (7,) has 28");
  CHECK(refused("{'descr': '<f4', 'fortran_order': False, 'shape': (), }") ==
        "too long: 24 bytes of data where <f4 of shape () has 4");
  CHECK(refused("{'descr': '<f4', 'fortran_order': False, 'shape': (-6,), }") == "shape (-6,) has a negative extent");
  CHECK_THAT(refused("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }"), EndsWith("is larger than any memory"));
  CHECK_THAT(refused("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"), EndsWith("an extent that is no int64"));
  CHECK_THAT(refused("{'descr': '<f4', 'fortran_order': False, 'shape': (6), }"), EndsWith("a tuple of one needs a comma"));
  CHECK_THAT(refused("{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }"), EndsWith("expected ',' or ')'"));
  CHECK_THAT(refused("{'descr': '<f4', 'fortran_order': False, 'shape': (x,), }"), EndsWith("expected an extent"));
  CHECK_THAT(refused("{'descr': '<f4', 'fortran_order': 1, 'shape': (6,), }"), EndsWith("expected True or False"));
  CHECK_THAT(refused("{'descr': '<f4', 'fortran_order': False}"), EndsWith("must all be there"));
  CHECK_THAT(refused("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (6,)}"), EndsWith("key 'descr' appears twice"));
  CHECK_THAT(refused("{'color': 1}"), EndsWith("unknown key 'color'"));
  CHECK_THAT(refused("{'descr"), EndsWith("a quote is never closed"));
  CHECK_THAT(refused("{'descr': '<f4' 'fortran_order'"), EndsWith("expected '}'"));
  CHECK_THAT(refused("{} x"), EndsWith("text after the dictionary"));
  CHECK_THAT(refused(""), StartsWith("malformed .npy header at character 2: expected '{'"));

  bytes two = npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }", 1);
  two.back() = std::byte{2};
  CHECK(refusal([&] { npz::read_npy(here.put("a.npy", two)); }) == "a bool of value 2, neither 0 nor 1");
  two[6] = std::byte{9};
  CHECK_THAT(refusal([&] { npz::read_npy(here.put("a.npy", two)); }), StartsWith("version 9 of .npy"));
}

TEST_CASE("a file of another kind is refused by name") {
  const folder here;
  const auto npz_refused = [&](const bytes& content) {
    return refusal([&] { npz::read_npz(here.put("a", content)); });
  };
  const auto npy_refused = [&](const bytes& content) {
    return refusal([&] { npz::read_npy(here.put("a", content)); });
  };
  CHECK(npz_refused({}) == "empty");
  CHECK(npy_refused({}) == "empty");
  CHECK(npz_refused(from_text("hello")) == "not a zip archive (.npz): wrong magic bytes");
  CHECK(npy_refused(from_text("hello")) == "not an .npy file: wrong magic bytes");
  CHECK(npz_refused(npy("{}", 0)) == "not a zip archive (.npz) but a single array (.npy)");
  CHECK(npy_refused(from_hex(from_savez)) == "not an .npy file but a zip archive (.npz?)");
  CHECK_THAT(npz_refused(from_hex(from_savez_compressed)), StartsWith("array 'w': deflated (numpy.savez_compressed)"));
  CHECK(refusal([&] { npz::read_npz(here.path / "missing"); }) == "no such file");
  CHECK(refusal([&] { npz::read_npz(here.path); }) == "not a regular file");
}

TEST_CASE("an archive that is wrong is refused with its reason") {
  const folder here;
  const sample from;
  const fs::path path = here.path / "model.npz";
  const auto refused = [&](const bytes& content) { return refusal([&] { read_npz_from(content); }); };

  SECTION("a changed number") {
    bytes content = from_hex(from_savez);
    content[200] ^= std::byte{1};
    CHECK_THAT(refused(content), StartsWith("array 'w': corrupted: the CRC-32 of its bytes is "));
  }
  SECTION("the same name twice") {
    const std::vector<npz::array_view> twins{from.views[0], from.views[0]};
    CHECK(refusal([&] { npz::write_npz(path, twins); }) == "array 'w': the name is taken by an array before it");
    const std::vector<npz::array_view> pair{{"a", "<i4", from.none, {}}, {"b", "<i4", from.none, {}}};
    npz::write_npz(path, pair);
    bytes content = content_of(path);
    const auto renamed = from_text("a.npy"), name = from_text("b.npy");
    for (auto at = content.begin(); (at = std::search(at, content.end(), name.begin(), name.end())) != content.end();)
      std::copy(renamed.begin(), renamed.end(), at);
    CHECK(refused(content) == "array 'a': appears twice");
  }
  SECTION("cut in a file") {
    npz::write_npz(path, from.views);
    bytes content = content_of(path);
    content.resize(content.size() / 2);
    CHECK(refusal([&] { npz::read_npz(here.put("half.npz", content)); }) == "truncated zip archive: its directory is missing");
    const std::vector<std::byte> whole = content_of(path);
    npz::detail::input file(path, {"load", "model.npz"});
    const std::string size = std::to_string(whole.size());
    CHECK(file.read(whole.size() - 1, 1).size() == 1);
    CHECK(file.read(whole.size(), 0).empty());
    CHECK(refusal([&] { file.read(whole.size(), 1); }) == "truncated: bytes " + size + " and the 1 after it are not all in the file of " + size + " bytes");
    CHECK_THAT(refusal([&] { file.read(2, ~std::uint64_t{0}); }), StartsWith("truncated: bytes 2 "));
    CHECK_THAT(refusal([&] { file.read(whole.size() + 1, 0); }), StartsWith("truncated: bytes "));
  }
  SECTION("cut anywhere") {
    for (const std::uint64_t narrow_limit : {~std::uint64_t{0}, std::uint64_t{0}}) {
      npz::detail::write_archive(path, from.views, narrow_limit);
      const bytes whole = content_of(path);
      for (std::size_t size = 0; size < whole.size(); ++size)
        if (refused({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}) == "accepted")
          FAIL("accepted at " << size << " bytes");
    }
  }
  SECTION("any byte changed: the same arrays, or refused") {
    for (const std::uint64_t narrow_limit : {~std::uint64_t{0}, std::uint64_t{0}}) {
      npz::detail::write_archive(path, from.views, narrow_limit);
      const bytes whole = content_of(path);
      std::size_t accepted = 0;
      for (std::size_t at = 0; at < whole.size(); ++at)
        for (const int value : {0, 1, 0x7f, 0xff}) {
          bytes content = whole;
          if (std::exchange(content[at], static_cast<std::byte>(value)) == static_cast<std::byte>(value)) continue;
          try {
            const auto read = read_npz_from(content);
            ++accepted;
            for (std::size_t i = 0; i < read.size(); ++i)  // times, versions and the like are nobody's business
              if (!std::ranges::equal(read[i].bytes, from.views[i].bytes))
                FAIL("other data with byte " << at << " = " << value);
          } catch (const tenure::io_error&) {
          }
        }
      CHECK(accepted > 0);
    }
  }
}

TEST_CASE("a write that fails loses nothing") {
  const folder here;
  const sample from;
  const fs::path path = here.path / "model.npz";
  npz::write_npz(path, from.views);
  const bytes before = content_of(path);
  const std::vector<std::int64_t> shape{1 << 20};
  const std::vector<std::byte> zeros(4 << 20);

  SECTION("arrays that contradict themselves") {
    const auto refused = [&](const npz::array_view& a) {
      return refusal([&] { npz::write_npz(path, std::span(&a, 1)); });
    };
    CHECK(refused({"w", "<f4", from.w_shape, {}}) == "array 'w': 0 bytes given where <f4 of shape (2, 3) has 24");
    CHECK_THAT(refused({"w", "<c8", from.w_shape, {}}), StartsWith("array 'w': dtype '<c8' is not supported"));
    CHECK_THAT(refused({"", "<i4", from.none, {}}), StartsWith("an array needs a name"));
  }
  SECTION("no room: the operating system refuses past 64 KiB") {
    rlimit old{};
    getrlimit(RLIMIT_FSIZE, &old);
    const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1 << 16, old.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    const npz::array_view large{"large", "<f4", shape, zeros};
    const std::string npz_refused = refusal([&] { npz::write_npz(path, std::span(&large, 1)); });
    const std::string npy_refused = refusal([&] { npz::write_npy(path, large); });
    setrlimit(RLIMIT_FSIZE, &old);
    std::signal(SIGXFSZ, old_handler);
    CHECK(npz_refused == "writing failed: File too large");
    CHECK(npy_refused == "writing failed: File too large");
  }
  CHECK(content_of(path) == before);
  CHECK(here.files() == 1);

  CHECK_THAT(refusal([&] { npz::write_npz(here.path / "no" / "model.npz", from.views); }), EndsWith("No such file or directory"));
  CHECK(refusal([&] { npz::write_npz(here.path, from.views); }) == "exists and is not a regular file");
}

TEST_CASE("a write goes through a symbolic link and keeps permissions") {
  const folder here;
  const sample from;
  here.put("old.npz", from_text("old"));
  fs::permissions(here.path / "old.npz", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("old.npz", here.path / "link.npz");
  npz::write_npz(here.path / "link.npz", from.views);
  CHECK(fs::is_symlink(here.path / "link.npz"));
  CHECK(fs::status(here.path / "old.npz").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  require_same(npz::read_npz(here.path / "old.npz"), from.views);
}
