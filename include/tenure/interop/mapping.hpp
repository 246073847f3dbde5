// SPDX-License-Identifier: BSL-1.0
// A file in the address space of the process, for reading. Law: the mapping ends with the object. Pages are read from the disk when they are first used.
// Cost: 10 us, whatever the size of the file. If somebody cuts the file meanwhile, a read beyond its new end ends the process (SIGBUS); a file that is
// replaced, as save() does it, stays as it was.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <span>
#include <utility>

#include <tenure/interop/file.hpp>

namespace TENURE_NAMESPACE::interop::detail {

class mapping {
 public:
  mapping(const std::string& path, const place& where) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 && last_error() == std::errc::no_such_file_or_directory) where.fail("no such file");
    if (file < 0) where.fail("cannot be opened", last_error());
    struct stat status;
    const bool is_regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    size_ = is_regular ? static_cast<std::size_t>(status.st_size) : 0;
    void* const data = size_ > 0 ? ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    const std::errc error = last_error();
    ::close(file);  // the mapping stays
    if (!is_regular) where.fail("not a regular file");
    if (size_ == 0) where.fail("empty");
    if (data == MAP_FAILED) where.fail("cannot be mapped", error);
    data_ = data;
  }
  mapping(mapping&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  mapping& operator=(mapping&&) = delete;
  ~mapping() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }

  void* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tenure::interop::detail
