// A network to and from safetensors: every block of weights and every constant under its own name, behind
// kNetworkPrefix.
#pragma once

#include <vector>

#include "penn/base/safetensors.h"
#include "penn/network/network.h"

namespace penn {

inline constexpr char kNetworkPrefix[] = "network.";

// Tensors of a network and the memory they need. Large matrices in half precision, or all as they are: for a
// checkpoint.
class NetworkTensors {
 public:
  enum class Precision { kHalf, kFull };
  NetworkTensors(const Network& network, Precision precision);
  const std::vector<TensorView>& views() const { return views_; }

 private:
  std::vector<std::vector<uint16_t>> halves_;
  std::vector<double> scaling_;
  std::vector<TensorView> views_;
};

// Rounds in place what a file keeps in half precision: a network can then be measured as it will be read back.
void round_as_stored(Network& network);

// ModelError where a tensor is missing, has another shape, is not finite, or does not belong to this network.
Network read_network(const SafetensorsFile& file, const NetworkOptions& options);

}  // namespace penn
