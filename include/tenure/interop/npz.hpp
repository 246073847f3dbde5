// SPDX-License-Identifier: BSL-1.0
// .npz files: named arrays in a zip archive without compression, as numpy.savez writes them. NumPy reads the files written here.
// Law: read_npz(p) after write_npz(p, arrays) gives the same arrays in the same order, bit for bit.
// Errors: tenure::io_error, as in npy.hpp. A compressed archive (numpy.savez_compressed) is an error, and the message says so.
// Cost: reading needs memory for one copy of the data. Writing needs none, but reads the data twice, because its CRC-32 stands before the data in the
// file.
#pragma once

#include <tenure/core/letters/hide.hpp>

#include <algorithm>
#include <concepts>
#include <set>

#include <tenure/interop/npy.hpp>

namespace TENURE_NAMESPACE::interop {
namespace detail {

// ---- CRC-32 -------------------------------------------------------------------------------------------------------

/// Row k, column b: the CRC remainder of byte b followed by k zero bytes, for the reflected polynomial 0xedb88320.
inline constexpr auto crc_table = [] {
  std::array<std::array<std::uint32_t, 256>, 8> table{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t remainder = b;
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ (remainder & 1 ? 0xedb88320u : 0u);
    table[0][b] = remainder;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t b = 0; b < 256; ++b) table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
  return table;
}();

/// The CRC-32 (ISO-HDLC) of `bytes` that follow a part with the CRC-32 `before`. It takes eight bytes in each step, because the
/// table lookups limit the speed.
inline std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before = 0) {
  std::uint32_t crc = ~before;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    word ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= crc_table[7 - i][word >> 8 * i & 0xff];
  }
  for (const std::byte b : bytes) crc = crc >> 8 ^ crc_table[0][(crc ^ static_cast<std::uint32_t>(b)) & 0xff];
  return ~crc;
}

// ---- Zip records (PKWARE APPNOTE 6.3, 4.3 and 4.5) ----------------------------------------------------------------

enum : std::uint32_t {
  local_signature = 0x04034b50,
  central_signature = 0x02014b50,
  end_signature = 0x06054b50,
  wide_end_signature = 0x06064b50,
  wide_locator_signature = 0x07064b50
};
inline constexpr std::uint32_t saturated = 0xffffffff;  // this value means that the real one is in the zip64 field
inline constexpr std::size_t end_size = 22, wide_end_size = 56, wide_locator_size = 20, central_size = 46,
                             local_size = 30;

/// Writes a record: little-endian integers and text, in the order of the calls.
class record {
 public:
  record& put(std::unsigned_integral auto... values) {
    (bytes_.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
    return *this;
  }
  record& put(std::string_view text) { return bytes_ += text, *this; }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

 private:
  std::string bytes_;
};

/// Reads a record. A read beyond its end throws.
class record_reader {
 public:
  record_reader(std::span<const std::byte> bytes, const place& where) : bytes_(bytes), where_(where) {}

  template <std::unsigned_integral T>
  T take() {
    T value;
    std::memcpy(&value, take_bytes(sizeof value).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> take_bytes(std::size_t count) {
    if (count > bytes_.size()) where_.fail("malformed zip archive: a record ends early");
    const auto front = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return front;
  }
  std::string take_text(std::size_t count) {
    const auto text = take_bytes(count);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }
  void skip(std::size_t count) { take_bytes(count); }
  std::size_t left() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  const place& where_;
};

// ---- Writing ------------------------------------------------------------------------------------------------------

/// An array to be written to the archive. Its file name ends in ".npy"; NumPy adds and removes that ending too.
struct outgoing {
  std::string file_name;
  std::string header;
  std::span<const std::byte> data;
  std::uint32_t crc = 0;
  std::uint64_t offset = 0;

  std::uint64_t size() const { return header.size() + data.size(); }
};

/// Writes the fields that the local and the central header share. If is_wide is true, put_wide writes sizes and offset into a
/// zip64 field.
inline void put_entry(record& out, const outgoing& entry, bool is_wide, std::size_t wide_fields) {
  const bool is_ascii =
      std::all_of(entry.file_name.begin(), entry.file_name.end(), [](char c) { return (c & 0x80) == 0; });
  const std::uint16_t version = is_wide ? 45 : 20, flags = is_ascii ? 0 : 0x800, stored = 0;
  const std::uint16_t midnight = 0, day = 0x21;  // always 1980-01-01, so that the same arrays give the same file
  const auto size = is_wide ? saturated : static_cast<std::uint32_t>(entry.size());
  out.put(version, flags, stored, midnight, day, entry.crc, size, size);
  out.put(static_cast<std::uint16_t>(entry.file_name.size()),
          static_cast<std::uint16_t>(is_wide ? 4 + 8 * wide_fields : 0));
}
inline void put_wide(record& out, const outgoing& entry, std::size_t wide_fields) {
  out.put(std::uint16_t{1}, static_cast<std::uint16_t>(8 * wide_fields), entry.size(), entry.size());
  if (wide_fields == 3) out.put(entry.offset);
}

inline std::vector<outgoing> outgoing_entries(std::span<const array_view> arrays, place where) {
  std::vector<outgoing> entries;
  std::set<std::string_view> names;
  for (const array_view& a : arrays) {
    where.entry = a.name;
    const bool is_name = !a.name.empty() && a.name.size() <= 0xffff - 4 && a.name.find('\0') == std::string_view::npos;
    if (!is_name) where.fail("an array needs a name of 1 to 65531 bytes without zeros");
    if (!names.insert(a.name).second) where.fail("the name is taken by an array before it");
    outgoing entry{std::string(a.name) + ".npy", npy_header(a, where), a.bytes};
    entry.crc = crc32(a.bytes, crc32(std::as_bytes(std::span(entry.header))));
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// Writes the archive, piece by piece, by `file.write(bytes)`. It uses the zip64 form for sizes and offsets from `narrow_limit` on.
/// That is a parameter so that a small test can write both forms.
void write_entries(auto& file, std::vector<outgoing>& entries, std::uint64_t narrow_limit = saturated) {
  std::uint64_t total = 0;
  for (const outgoing& entry : entries) total += entry.size() + local_size + central_size + 2 * entry.file_name.size();
  const bool is_wide = total >= narrow_limit || entries.size() >= 0xffff;
  std::uint64_t offset = 0;
  const auto write = [&](std::span<const std::byte> bytes) { file.write(bytes), offset += bytes.size(); };

  for (outgoing& entry : entries) {
    entry.offset = offset;
    record local;
    local.put(std::uint32_t{local_signature});
    put_entry(local, entry, is_wide, 2);
    local.put(entry.file_name);
    if (is_wide) put_wide(local, entry, 2);
    write(local.bytes());
    write(std::as_bytes(std::span(entry.header)));
    write(entry.data);
  }

  const std::uint64_t directory = offset;
  for (const outgoing& entry : entries) {
    const std::uint16_t made_by = is_wide ? 45 : 20, comment = 0, disk = 0, attributes = 0;
    record central;
    central.put(std::uint32_t{central_signature}, made_by);
    put_entry(central, entry, is_wide, 3);
    central.put(comment, disk, attributes, std::uint32_t{0},
                is_wide ? saturated : static_cast<std::uint32_t>(entry.offset));
    central.put(entry.file_name);
    if (is_wide) put_wide(central, entry, 3);
    write(central.bytes());
  }

  const std::uint64_t directory_size = offset - directory, count = entries.size(), wide_end = offset;
  const std::uint16_t disk = 0, comment = 0, version = 45,
                      short_count = is_wide ? 0xffff : static_cast<std::uint16_t>(count);
  record end;
  if (is_wide) {
    end.put(std::uint32_t{wide_end_signature}, std::uint64_t{wide_end_size - 12}, version, version, std::uint32_t{0},
            std::uint32_t{0});
    end.put(count, count, directory_size, directory);
    end.put(std::uint32_t{wide_locator_signature}, std::uint32_t{0}, wide_end, std::uint32_t{1});
  }
  end.put(std::uint32_t{end_signature}, disk, disk, short_count, short_count);
  end.put(is_wide ? saturated : static_cast<std::uint32_t>(directory_size),
          is_wide ? saturated : static_cast<std::uint32_t>(directory));
  end.put(comment);
  write(end.bytes());
}

inline void write_archive(const std::filesystem::path& path, std::span<const array_view> arrays,
                          std::uint64_t narrow_limit = saturated) {
  const place where = place_of("save", path);
  std::vector<outgoing> entries = outgoing_entries(arrays, where);
  replacement file(path, where);
  write_entries(file, entries, narrow_limit);
  file.commit();
}

// ---- Reading ------------------------------------------------------------------------------------------------------

struct directory {
  std::uint64_t offset, size, count;
};

/// Finds the end record. It is the last record of the file, before a comment of at most 65,535 bytes, so the search goes backwards.
directory find_directory(auto& file, const place& where) {
  const std::uint64_t window = std::min<std::uint64_t>(file.size(), end_size + 0xffff + wide_locator_size);
  const std::vector<std::byte> tail = file.read(file.size() - window, window);
  const std::span<const std::byte> bytes(tail);

  std::size_t at = bytes.size();
  for (std::size_t candidate = bytes.size() + 1 - std::min(bytes.size() + 1, end_size); candidate-- > 0;) {
    record_reader record(bytes.subspan(candidate), where);
    const bool is_end = record.take<std::uint32_t>() == end_signature;
    record.skip(16);
    const std::size_t comment_size = record.take<std::uint16_t>();
    if (is_end && comment_size == record.left()) {
      at = candidate;
      break;
    }
  }
  if (at == bytes.size()) where.fail("truncated zip archive: its directory is missing");

  record_reader end(bytes.subspan(at), where);
  end.skip(4);
  const auto disk = end.take<std::uint16_t>(), directory_disk = end.take<std::uint16_t>();
  const auto here = end.take<std::uint16_t>(), count = end.take<std::uint16_t>();
  const auto size = end.take<std::uint32_t>(), offset = end.take<std::uint32_t>();
  directory found{offset, size, count};
  const bool is_wide = offset == saturated || size == saturated || count == 0xffff;
  bool is_split = disk != 0 || directory_disk != 0 || here != count;
  std::uint64_t directory_end = file.size() - window + at;
  if (is_wide) {
    if (at < wide_locator_size) where.fail("malformed zip archive: its zip64 locator is missing");
    record_reader locator(bytes.subspan(at - wide_locator_size), where);
    if (locator.take<std::uint32_t>() != wide_locator_signature)
      where.fail("malformed zip archive: its zip64 locator is missing");
    locator.skip(4);
    directory_end = locator.take<std::uint64_t>();
    const std::vector<std::byte> record = file.read(directory_end, wide_end_size);
    record_reader wide(record, where);
    if (wide.take<std::uint32_t>() != wide_end_signature)
      where.fail("malformed zip archive: its zip64 end record is missing");
    wide.skip(20);
    const auto wide_here = wide.take<std::uint64_t>();
    found.count = wide.take<std::uint64_t>();
    found.size = wide.take<std::uint64_t>();
    found.offset = wide.take<std::uint64_t>();
    is_split = wide_here != found.count;
  }
  if (is_split) where.fail("a zip archive in several parts");
  const bool fits = found.offset <= directory_end && found.size == directory_end - found.offset &&
                    found.count <= found.size / central_size;
  if (!fits) where.fail("malformed zip archive: its directory is not where its end says");
  return found;
}

/// An entry as the directory of the archive describes it.
struct incoming {
  std::string file_name;
  std::uint16_t flags, method;
  std::uint32_t crc;
  std::uint64_t packed, size, offset;
};

inline incoming take_incoming(record_reader& in, const place& where) {
  if (in.take<std::uint32_t>() != central_signature)
    where.fail("malformed zip archive: a directory entry has the wrong signature");
  incoming entry{};
  in.skip(4);
  entry.flags = in.take<std::uint16_t>();
  entry.method = in.take<std::uint16_t>();
  in.skip(4);
  entry.crc = in.take<std::uint32_t>();
  entry.packed = in.take<std::uint32_t>();
  entry.size = in.take<std::uint32_t>();
  const auto name_size = in.take<std::uint16_t>(), extra_size = in.take<std::uint16_t>(),
             comment_size = in.take<std::uint16_t>();
  in.skip(8);
  entry.offset = in.take<std::uint32_t>();
  entry.file_name = in.take_text(name_size);
  record_reader extra(in.take_bytes(extra_size), where);
  in.skip(comment_size);
  while (extra.left() >= 4) {
    const auto id = extra.take<std::uint16_t>(), field_size = extra.take<std::uint16_t>();
    record_reader field(extra.take_bytes(field_size), where);
    if (id != 1) continue;
    for (std::uint64_t* value : {&entry.size, &entry.packed, &entry.offset})
      if (*value == saturated) *value = field.take<std::uint64_t>();
  }
  return entry;
}

/// Reads the bytes of an entry. They are found through its local header and checked against the CRC-32 in the directory.
std::vector<std::byte> read_entry(auto& file, const incoming& entry, const place& where) {
  const bool is_encrypted = entry.flags & 1, is_stored = entry.method == 0, is_deflated = entry.method == 8;
  if (is_encrypted) where.fail("encrypted");
  if (is_deflated) where.fail("deflated (numpy.savez_compressed); only stored entries are read: save with numpy.savez");
  if (!is_stored)
    where.fail("compressed by zip method " + std::to_string(entry.method) + "; only stored entries are read");
  if (entry.packed != entry.size) where.fail("malformed zip archive: a stored entry has two sizes");

  const std::vector<std::byte> header = file.read(entry.offset, local_size);
  record_reader local(header, where);
  if (local.take<std::uint32_t>() != local_signature)
    where.fail("malformed zip archive: its local header has the wrong signature");
  local.skip(22);
  const auto name_size = local.take<std::uint16_t>(), extra_size = local.take<std::uint16_t>();
  const std::vector<std::byte> name = file.read(entry.offset + local_size, name_size);
  if (!std::ranges::equal(name, std::as_bytes(std::span(entry.file_name))))
    where.fail("malformed zip archive: its local header has another name");

  std::vector<std::byte> bytes = file.read(entry.offset + local_size + name_size + extra_size, entry.size);
  if (const std::uint32_t crc = crc32(bytes); crc != entry.crc)
    where.fail("corrupted: the CRC-32 of its bytes is " + std::to_string(crc) + " where " + std::to_string(entry.crc) +
               " was stored");
  return bytes;
}

/// Reads every array of `file`, which has size() and read(offset, count): a file, or memory in tests.
std::vector<array> read_archive(auto& file, place where) {
  if (file.size() == 0) where.fail("empty");
  const std::vector<std::byte> magic = file.read(0, std::min<std::uint64_t>(file.size(), npy_magic.size()));
  const std::string_view start(reinterpret_cast<const char*>(magic.data()), magic.size());
  if (start == npy_magic) where.fail("not a zip archive (.npz) but a single array (.npy)");
  if (!start.starts_with("PK")) where.fail("not a zip archive (.npz): wrong magic bytes");

  const directory listed = find_directory(file, where);
  const std::vector<std::byte> records = file.read(listed.offset, listed.size);
  record_reader in(records, where);
  std::vector<array> arrays;
  std::set<std::string> names;
  std::uint64_t unclaimed = file.size();
  for (std::uint64_t i = 0; i < listed.count; ++i) {
    where.entry.clear();
    incoming entry = take_incoming(in, where);
    where.entry = entry.file_name;
    const bool is_pickle = entry.file_name.ends_with("data.pkl");
    if (is_pickle) where.fail("a file of torch.save, which only Python reads; there safetensors.torch.save_file(model.state_dict(), \"model.safetensors\") writes one for others");
    if (!entry.file_name.ends_with(".npy")) where.fail("not an .npy file");
    std::string name = entry.file_name.substr(0, entry.file_name.size() - 4);
    where.entry = name;
    if (!names.insert(name).second) where.fail("appears twice");
    std::vector<std::byte> bytes = read_entry(file, entry, where);
    if (bytes.size() > unclaimed)
      where.fail("malformed zip archive: entries overlap");  // otherwise a small file could claim a huge amount of data (a zip bomb)
    unclaimed -= bytes.size();
    arrays.push_back(npy_array(std::move(bytes), std::move(name), where));
  }
  where.entry.clear();
  if (in.left() != 0) where.fail("malformed zip archive: its directory holds more than its end says");
  return arrays;
}

}  // namespace detail

/// Writes arrays with different names in this order. An existing file is replaced in one step at the end. Throws io_error; then
/// an existing file is unchanged.
inline void write_npz(const std::filesystem::path& path, std::span<const array_view> arrays) {
  detail::write_archive(path, arrays);
}

/// Reads every array, in the order of the archive. Throws io_error.
inline std::vector<array> read_npz(const std::filesystem::path& path) {
  const detail::place where = detail::place_of("load", path);
  detail::input file(path, where);
  return detail::read_archive(file, where);
}
/// The same of a file in memory, for example one that is part of the program. Messages call it "memory".
inline std::vector<array> read_npz(std::span<const std::byte> bytes) {
  const detail::place where{"load", "memory"};
  detail::memory_input file(bytes, where);
  return detail::read_archive(file, where);
}

}  // namespace tenure::interop

#include <tenure/core/letters/restore.hpp>
