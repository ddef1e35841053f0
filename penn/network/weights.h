// All weights of a network are one flat array; a block is one matrix or vector in it, with the name it has in files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "penn/base/shape.h"

namespace penn {

struct WeightBlock {
  std::string name;
  Shape shape;    // (rows, columns) or (size)
  size_t offset;  // in the flat array
  double spread;  // initial values are uniform in [-spread, spread]
  size_t size() const {
    size_t n = 1;
    for (const size_t extent : shape) n *= extent;
    return n;
  }
};

class WeightList {
 public:
  // Returns the block's offset.
  size_t add(const std::string& name, Shape shape, double spread) {
    blocks_.push_back({name, std::move(shape), size_, spread});
    size_ += blocks_.back().size();
    return blocks_.back().offset;
  }
  size_t size() const { return size_; }
  const std::vector<WeightBlock>& blocks() const { return blocks_; }

 private:
  std::vector<WeightBlock> blocks_;
  size_t size_ = 0;
};

}  // namespace penn
