// SPDX-License-Identifier: BSL-1.0
// A file that replaces another in one step. Before that it has the name of its target followed by ".tenure-part0", or by the next number that no
// other save uses. Law: whenever the process or the machine stops, the target is the old file or the new one, whole.
// A save holds a lock of its part. So a part without a lock is left over from a save that was interrupted. The next save removes this part, and the
// parts with the numbers after its own.
// Cost: two waits for the disk, one for the data and one for the name; about 8 ms on a disk of a cloud, nothing in memory (/dev/shm).
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <span>

#include <tenure/core/not_copied.hpp>
#include <tenure/interop/file.hpp>

namespace TENURE_NAMESPACE::interop::detail {

/// An open file of the system. It is not a std::FILE: if another thread forks, the new process would write the buffered data at its end.
class descriptor {
 public:
  descriptor() = default;
  descriptor(const std::string& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  explicit operator bool() const { return number_ >= 0; }
  bool sync() const { return ::fsync(number_) == 0; }
  bool write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(number_, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR) return false;
      if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
  }

  /// Locks the file, until it is closed or the process ends. False if another holds it, or if the file system has no locks.
  bool lock() const { return ::flock(number_, LOCK_EX | LOCK_NB) == 0; }
  /// Whether `path` is the name of this regular file.
  bool is_named(const std::string& path) const {
    struct stat own, named;
    return ::fstat(number_, &own) == 0 && ::lstat(path.c_str(), &named) == 0 && S_ISREG(own.st_mode) && own.st_dev == named.st_dev && own.st_ino == named.st_ino;
  }

 private:
  int number_ = -1;
};

/// A new file that replaces `target` in one step in commit(). Before commit() `target` is unchanged.
class replacement : tenure::detail::not_copied {
 public:
  replacement(const std::filesystem::path& target, place where) : where_(std::move(where)) {
    namespace fs = std::filesystem;
    std::error_code error;
    // If target is a symbolic link, the file that it points to is replaced, or made. weakly_canonical() follows no link to a missing file.
    fs::path file = target;
    for (int links = 0; links < 40 && fs::is_symlink(fs::symlink_status(file, error)); ++links) file = file.parent_path() / fs::read_symlink(file, error);
    target_ = fs::weakly_canonical(file, error);
    if (error) target_ = target;
    const auto status = fs::status(target_, error);
    if (fs::exists(status) && !fs::is_regular_file(status)) where_.fail("exists and is not a regular file");
    while (!create()) ++number_;
    if (fs::exists(status)) fs::permissions(part(number_), status.permissions(), error);
  }

  ~replacement() {
    if (!committed_) ::unlink(part(number_).c_str());  // while the lock is held: then nobody else removes it, or makes one of this name
  }

  void write(std::span<const std::byte> bytes) {
    if (buffer_.size() + bytes.size() > max_buffered) flush();
    if (bytes.size() > max_buffered) write_through(bytes);
    else buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }

  void commit() {
    flush();
    if (!file_.sync()) where_.fail("writing failed", last_error());
    std::error_code error;
    std::filesystem::rename(part(number_), target_, error);
    if (error) where_.fail("cannot replace the old file: " + error.message());
    committed_ = true;
    descriptor(target_.parent_path().native(), O_RDONLY | O_DIRECTORY).sync();  // without it the old file may be there after a loss of power
    for (std::uint64_t next = number_ + 1; remove_left_over(part(next)); ++next) {}
  }

 private:
  static constexpr std::size_t max_buffered = 1 << 16;

  std::string part(std::uint64_t number) const { return target_.native() + ".tenure-part" + std::to_string(number); }

  /// Creates the part of this number and locks it. False if another save uses the name.
  bool create() {
    const std::string name = part(number_);
    remove_left_over(name);
    descriptor made(name, O_WRONLY | O_CREAT | O_EXCL);  // O_EXCL fails if the file exists, so two writers never share one
    if (!made && last_error() != std::errc::file_exists) where_.fail("cannot create '" + name + "'", last_error());
    if (!made) return false;
    // Before the lock another save may have taken this part for a left-over one: it removes the part, or has done so.
    const bool is_taken = !made.lock() && last_error() == std::errc::operation_would_block;
    if (is_taken || !made.is_named(name)) return false;
    file_ = std::move(made);
    return true;
  }

  /// Removes a part that nobody has locked. False if there is no file of this name.
  static bool remove_left_over(const std::string& part) {
    descriptor found(part, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (!found && last_error() == std::errc::permission_denied) found = descriptor(part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!found) return last_error() != std::errc::no_such_file_or_directory;
    if (found.lock() && found.is_named(part)) ::unlink(part.c_str());
    return true;
  }

  void flush() {
    write_through(buffer_);
    buffer_.clear();
  }
  void write_through(std::span<const std::byte> bytes) {
    if (!file_.write(bytes)) where_.fail("writing failed", last_error());
  }

  place where_;
  std::filesystem::path target_;
  std::uint64_t number_ = 0;
  descriptor file_;
  std::vector<std::byte> buffer_;
  bool committed_ = false;
};

}  // namespace tenure::interop::detail
