// SPDX-License-Identifier: BSL-1.0
// A growing array for constant evaluation and for run time. Its capacity doubles when it is full. Elements are trivially copyable.
// Cost: a few constexpr steps for each element, and none where clang copies elements or makes zeros. std::vector takes dozens of steps for each.
#pragma once

#include <cstddef>
#include <vector>  // for std::allocator: <memory> takes 0.4 s longer to compile

#include <tenure/core/config.hpp>

namespace TENURE_NAMESPACE::ir {

/// Copies n elements. For clang the builtin is one step of constant evaluation. g++ cannot evaluate it.
template <class T>
constexpr void copy_elements(T* to, const T* from, int n) {
#if defined(__clang__)
  if (n > 0) __builtin_memcpy(to, from, static_cast<unsigned long>(n) * sizeof(T));
#else
  for (int i = 0; i < n; ++i) to[i] = from[i];
#endif
}

/// Memory of n elements, which are written before they are read. For g++ an element without a value costs nothing: `new T[n]` runs the constructor of each, which
/// took a third of the time of an appended node. For clang `new T[n]{}` is one step.
template <class T>
constexpr T* allocate(int n) {
#if defined(__clang__)
  return new T[static_cast<std::size_t>(n)]{};
#else
  return std::allocator<T>().allocate(static_cast<std::size_t>(n));
#endif
}
template <class T>
constexpr void give_back(T* memory, [[maybe_unused]] int n) {
#if defined(__clang__)
  delete[] memory;
#else
  if (memory != nullptr) std::allocator<T>().deallocate(memory, static_cast<std::size_t>(n));
#endif
}

class builder;

template <class T>
class array {
 public:
  constexpr array() = default;
#if defined(__clang__)
  constexpr explicit array(int n) : data_(n > 0 ? allocate<T>(n) : nullptr), size_(n), capacity_(n) {}
  constexpr array(int n, const T& value) : array(n) {
    if constexpr (requires { value == 0; })
      if (value == 0) return;  // they are zero already, and the loop would take a step of constant evaluation for each
    for (int i = 0; i < n; ++i) data_[i] = value;
  }
#else
  constexpr explicit array(int n) : array(n, T{}) {}
  constexpr array(int n, const T& value) {
    reserve(n);
    for (; size_ < n; ++size_) data_[size_] = value;
  }
#endif
  constexpr array(const array& other) { assign(other); }
  constexpr array(array&& other) noexcept : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
    other.data_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  constexpr array& operator=(const array& other) {
    if (this != &other) {
      size_ = 0;
      assign(other);
    }
    return *this;
  }
  constexpr array& operator=(array&& other) noexcept {
    T* d = data_;
    const int s = size_, c = capacity_;
    data_ = other.data_, size_ = other.size_, capacity_ = other.capacity_;
    other.data_ = d, other.size_ = s, other.capacity_ = c;
    return *this;
  }
  constexpr ~array() { give_back(data_, capacity_); }

  constexpr int size() const { return size_; }
  constexpr T* data() { return data_; }
  constexpr const T* data() const { return data_; }
  constexpr T& operator[](int i) { return data_[i]; }
  constexpr const T& operator[](int i) const { return data_[i]; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr T& back() { return data_[size_ - 1]; }

  /// Appends an element and returns its position. `value` may be an element of the array. The body is one expression, because
  /// compilers limit the number of statements in constant evaluation.
  constexpr int push_back(const T& value) { return size_ < capacity_ ? (data_[size_] = value, size_++) : push_grown(value); }
  constexpr void pop_back() { --size_; }
  constexpr void clear() { size_ = 0; }
  constexpr void resize(int n, const T& value = T{}) {
    if (size_ == 0 && n > capacity_) return void(*this = array(n, value));
    if (n > capacity_) reserve(n);
    for (int i = size_; i < n; ++i) data_[i] = value;
    size_ = n;
  }
#if defined(__GNUC__) && !defined(__clang__)
// Workaround for g++ 12: where a trace runs at run time, as for profile(), it vectorizes the copy and warns that the first buffer is too small.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif
  constexpr void reserve(int n) {
    if (n <= capacity_) return;
    T* grown = allocate<T>(n);
    copy_elements(grown, data_, size_);
    give_back(data_, capacity_);
    data_ = grown;
    capacity_ = n;
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

 private:
  friend class builder;  // it reads the members, because a call takes two steps of constant evaluation

  constexpr int push_grown(const T& value) {
    const T copy = value;
    reserve(capacity_ == 0 ? 16 : 2 * capacity_);
    data_[size_] = copy;
    return size_++;
  }
  constexpr void assign(const array& other) {
    reserve(other.size_);
    copy_elements(data_, other.data_, other.size_);
    size_ = other.size_;
  }

  T* data_ = nullptr;
  int size_ = 0;
  int capacity_ = 0;
};

}  // namespace tenure::ir
