// SPDX-License-Identifier: BSL-1.0
// Files in a service: saves that are interrupted, many at once, a loss of power, paths and files that an enemy makes.
#include "../catch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <set>

#include <tenure/interop/npz.hpp>

namespace fs = std::filesystem;
namespace npz = tenure::interop;

namespace {

std::string* steps = nullptr;  // what a save has asked of the system

}  // namespace

// The system's function takes the name after this one: what the library calls is noted.
extern "C" int fsync(int file) {
  struct stat of;
  if (steps != nullptr && fstat(file, &of) == 0) *steps += S_ISDIR(of.st_mode) ? "folder " : "file ";
  return fdatasync(file);
}
extern "C" int rename(const char* from, const char* to) noexcept {
  if (steps != nullptr) *steps += "rename ";
  return renameat(AT_FDCWD, from, AT_FDCWD, to);
}

namespace {

struct folder {
  folder() : path(fs::temp_directory_path() / ("tenure-service-" + std::to_string(std::random_device{}()))) { fs::create_directory(path); }
  ~folder() { fs::remove_all(path); }
  std::set<std::string> names() const {
    std::set<std::string> all;
    for (const auto& entry : fs::directory_iterator(path)) all.insert(entry.path().filename());
    return all;
  }
  fs::path path;
};
using names = std::set<std::string>;

void save(const fs::path& path, std::byte value, std::int64_t bytes = 3) {
  const std::vector<std::byte> data(static_cast<std::size_t>(bytes), value);
  const npz::array_view a{"w", "|b1", std::span(&bytes, 1), data};
  npz::write_npz(path, std::span(&a, 1));
}
std::byte saved_in(const fs::path& path) { return npz::read_npz(path).at(0).bytes.at(0); }
std::unique_ptr<npz::detail::replacement> begun(const fs::path& path) {
  auto made = std::make_unique<npz::detail::replacement>(path, npz::detail::place_of("save", path));
  made->write(std::vector<std::byte>(100000));
  return made;
}

/// A process that has begun to save. It is killed by the second function.
pid_t begin_in_child(const fs::path& path) {
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto part = begun(path);
    if (write(ready[1], "x", 1) == 1) pause();
    _exit(1);
  }
  char byte;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  close(ready[0]), close(ready[1]);
  return child;
}
void kill_child(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const tenure::io_error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

// Law: whenever the process or the machine stops, the target is the old file or the new one, whole.
TEST_CASE("however many saves are interrupted, the old file stays whole and the next save works") {
  const folder here;
  const fs::path path = here.path / "m.npz";
  save(path, std::byte{0});
  for (int i = 0; i < 120; ++i) kill_child(begin_in_child(path));
  CHECK(here.names().size() == 2);  // the part of the last one: each has removed the one before
  CHECK(saved_in(path) == std::byte{0});
  save(path, std::byte{1});
  CHECK(saved_in(path) == std::byte{1});
  CHECK(here.names() == names{"m.npz"});
}

TEST_CASE("saves that are interrupted at the same time: the next save removes all parts") {
  const folder here;
  const fs::path path = here.path / "m.npz";
  std::vector<pid_t> children;
  for (int i = 0; i < 5; ++i) children.push_back(begin_in_child(path));
  CHECK(here.names().size() == 5);
  for (const pid_t child : children) kill_child(child);
  save(path, std::byte{1});
  CHECK(here.names() == names{"m.npz"});
}

TEST_CASE("a save that is under way is not taken for one that was interrupted") {
  const folder here;
  const fs::path path = here.path / "m.npz";
  const pid_t other = begin_in_child(path);
  auto first = begun(path), second = begun(path);
  save(path, std::byte{1});
  CHECK(here.names().size() == 4);
  second.reset();
  first->commit();
  CHECK(here.names().size() == 2);
  kill_child(other);
  save(path, std::byte{1});
  CHECK(here.names() == names{"m.npz"});
}

TEST_CASE("a part is not written through a link, and what is no file is left alone") {
  const folder here;
  const fs::path path = here.path / "m.npz", precious = here.path / "precious";
  save(precious, std::byte{1});
  fs::create_symlink(precious, here.path / "m.npz.tenure-part0");
  fs::create_directory(here.path / "m.npz.tenure-part1");
  REQUIRE(mkfifo((here.path / "m.npz.tenure-part2").c_str(), 0600) == 0);
  fs::create_hard_link(precious, here.path / "m.npz.tenure-part3");
  save(path, std::byte{0});
  CHECK(saved_in(path) == std::byte{0});
  CHECK(saved_in(precious) == std::byte{1});
  CHECK(here.names() == names{"m.npz", "m.npz.tenure-part0", "m.npz.tenure-part1", "m.npz.tenure-part2", "precious"});
}

TEST_CASE("the data is on the disk before it gets its name, and the name before save() returns") {
  const folder here;
  std::string seen;
  steps = &seen;
  save(here.path / "m.npz", std::byte{0});
  steps = nullptr;
  CHECK(seen == "file rename folder ");
}

TEST_CASE("a path that no file can have is refused, and nothing is written") {
  const folder here;
  const std::string in = (here.path / "m.npz").string();
  const std::string zero = in + std::string("\0.old", 5);
  const std::int64_t none = 0;
  const npz::array_view empty{"w", "|b1", std::span(&none, 1), {}};
  const std::string reason = ": a zero byte follows in the path, which no file name contains";
  CHECK(refusal([&] { save(zero, std::byte{0}); }) == "tenure: save: " + in + reason);
  CHECK(refusal([&] { npz::write_npy(zero, empty); }) == "tenure: save: " + in + reason);
  CHECK(here.names().empty());
  save(in, std::byte{0});
  CHECK(refusal([&] { npz::read_npz(zero); }) == "tenure: load: " + in + reason);
  CHECK(refusal([&] { npz::read_npy(zero); }) == "tenure: load: " + in + reason);
  CHECK(refusal([&] { save("", std::byte{0}); }) == "tenure: save: '': the path is empty");
  CHECK(refusal([&] { npz::read_npz(""); }) == "tenure: load: '': the path is empty");
}

TEST_CASE("the message about a hostile file is short") {
  const folder here;
  const fs::path path = here.path / "a.npy";
  const auto refused = [&](const std::string& header) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    const unsigned char start[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0};
    std::fwrite(start, 1, 8, file);
    for (int i = 0; i < 4; ++i) std::fputc(static_cast<int>(header.size() >> (8 * i) & 0xff), file);
    std::fwrite(header.data(), 1, header.size(), file);
    std::fclose(file);
    return refusal([&] { npz::read_npy(path); }).substr(("tenure: load: " + path.string() + ": ").size());
  };
  std::string axes;
  for (int i = 0; i < 20000; ++i) axes += "2,";
  const std::string sixty_thousand(60000, 'x');
  CHECK(refused("{'descr': '<f4', 'fortran_order': False, 'shape': (" + axes + ")}") ==
        "shape (2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, ...) of 20000 axes is larger than any memory");
  CHECK(refused("{'descr': '" + sixty_thousand + "', 'fortran_order': False, 'shape': ()}").size() < 250);
  CHECK(refused("{'" + sixty_thousand + "': 1}").size() < 250);
  const npz::array_view twice[2] = {{sixty_thousand, "|b1", {}, std::as_bytes(std::span("", 1))}, {sixty_thousand, "|b1", {}, std::as_bytes(std::span("", 1))}};
  CHECK(refusal([&] { npz::write_npz(path, twice); }).size() < 250);
}
