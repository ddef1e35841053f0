// Floats on a 64-byte boundary, the alignment of every vector and cache line, that grow but keep no content when they
// do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

namespace penn {

class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t size) {
    resize(size);
    zero();
  }

  // Content is lost when the capacity grows. The memory is not touched, so untouched parts cost nothing.
  void resize(std::size_t size) {
    if (size > capacity_) {
      data_.reset();  // first, so that old and new are never both there
      data_.reset(static_cast<float*>(::operator new(size * sizeof(float), std::align_val_t(64))));
      capacity_ = size;
    }
    size_ = size;
  }
  void zero() { std::fill(data(), data() + size_, 0.0f); }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(float* p) const { ::operator delete(p, std::align_val_t(64)); }
  };
  std::unique_ptr<float, Free> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace penn
