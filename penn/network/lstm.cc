#include "penn/network/lstm.h"

#include <fmt/format.h>

#include <deque>
#include <mutex>

#include "penn/base/error.h"
#include "penn/kernel/aligned_buffer.h"
#include "penn/kernel/lane_lstm.h"
#include "penn/network/onednn_lstm.h"
#include "penn/kernel/thread_pool.h"
#include "penn/network/robust_input.h"

namespace penn {
namespace {

// LaneLstm, with the threads and the memory it leaves to its caller.
class LanePass : public LstmPass {
 public:
  LanePass(const LstmShape& shape, bool training, std::size_t memory_limit, AlignedBuffer& saved)
      : shape_(shape), training_(training), memory_limit_(memory_limit), saved_(saved) {}

  void forward(const std::vector<LstmWeights>& weights, const float* x, float* mean) override {
    const std::size_t all = sizeof(float) * 5 * shape_.hidden * shape_.layers * shape_.time * shape_.batch;
    const LstmMemory memory = !training_             ? LstmMemory::kNothing
                              : all <= memory_limit_ ? LstmMemory::kEverything
                                                     : LstmMemory::kRecompute;
    kernel_ = std::make_unique<LaneLstm>(shape_, weights, memory);
    const std::size_t part = kernel_->saved_floats_per_tile();
    saved_.resize(kernel_->tiles() * part);
    pool_for(kernel_->tiles(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t tile = begin; tile < end; ++tile) kernel_->forward(tile, x, mean, saved_.data() + tile * part);
    });
  }

  void backward(const float* x, const float* dmean, const std::vector<LstmGradients>& gradients, float* dx) override {
    const std::size_t part = kernel_->saved_floats_per_tile(), gradient_part = kernel_->gradient_floats_per_tile();
    AlignedBuffer gradient(kernel_->tiles() * gradient_part);
    pool_for(kernel_->tiles(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t tile = begin; tile < end; ++tile)
        kernel_->backward(tile, x, dmean, saved_.data() + tile * part, gradient.data() + tile * gradient_part, dx);
    });
    kernel_->sum_gradients(gradient.data(), gradients);
  }

 private:
  LstmShape shape_;
  bool training_;
  std::size_t memory_limit_;
  AlignedBuffer& saved_;
  std::unique_ptr<LaneLstm> kernel_;
};

// What outlives a pass because it is expensive to make: the memory of the lane kernel (any shape), the primitives and
// memory of oneDNN (one shape each). A pass takes one, the end of the pass gives it back.
struct Workspace {
  AlignedBuffer saved;
  LstmShape onednn_shape;
  bool onednn_training = false;
  std::unique_ptr<LstmPass> onednn;
};

class WorkspacePool {
 public:
  static WorkspacePool& instance() {
    static WorkspacePool pool;
    return pool;
  }
  std::unique_ptr<Workspace> take(const LstmShape* onednn_shape, bool training) {
    const std::lock_guard lock(mutex_);
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      const Workspace& w = **it;
      const bool fits =
          onednn_shape ? w.onednn && w.onednn_shape == *onednn_shape && w.onednn_training == training : !w.onednn;
      if (!fits) continue;
      std::unique_ptr<Workspace> found = std::move(*it);
      idle_.erase(it);
      return found;
    }
    return std::make_unique<Workspace>();
  }
  void give_back(std::unique_ptr<Workspace> workspace) {
    const std::lock_guard lock(mutex_);
    idle_.push_front(std::move(workspace));
    if (idle_.size() > 2) idle_.pop_back();  // two: a training and a validation shape
  }

 private:
  std::mutex mutex_;
  std::deque<std::unique_ptr<Workspace>> idle_;
};

// One forward pass, alive until autograd has used or dropped it.
struct PassHolder : torch::CustomClassHolder {
  PassHolder(const LstmShape& shape, LstmKernel kernel, bool training, std::size_t memory_limit) {
    if (kernel == LstmKernel::kOnednn) {
      workspace = WorkspacePool::instance().take(&shape, training);
      if (!workspace->onednn) {
        workspace->onednn = make_onednn_lstm(shape, training);
        workspace->onednn_shape = shape;
        workspace->onednn_training = training;
      }
      pass = workspace->onednn.get();
    } else {
      workspace = WorkspacePool::instance().take(nullptr, training);
      lane = std::make_unique<LanePass>(shape, training, memory_limit, workspace->saved);
      pass = lane.get();
    }
  }
  ~PassHolder() override { WorkspacePool::instance().give_back(std::move(workspace)); }
  std::unique_ptr<Workspace> workspace;
  std::unique_ptr<LanePass> lane;
  LstmPass* pass = nullptr;
};

std::vector<LstmWeights> weight_pointers(at::TensorList weights) {
  std::vector<LstmWeights> pointers;
  for (std::size_t k = 0; k < weights.size(); k += 4)
    pointers.push_back({weights[k].data_ptr<float>(), weights[k + 1].data_ptr<float>(),
                        weights[k + 2].data_ptr<float>(), weights[k + 3].data_ptr<float>()});
  return pointers;
}

class LstmMeanFunction : public torch::autograd::Function<LstmMeanFunction> {
 public:
  // weights: w_ih, w_hh, b_ih, b_hh of every layer, contiguous.
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& x,
                               at::TensorList weights, int64_t kernel, int64_t memory_limit, bool training) {
    LstmShape shape;
    shape.batch = static_cast<int>(x.size(0));
    shape.time = static_cast<int>(x.size(1));
    shape.channels = static_cast<int>(x.size(2));
    shape.layers = static_cast<int>(weights.size() / 4);
    shape.hidden = static_cast<int>(weights[1].size(1));
    auto holder = c10::make_intrusive<PassHolder>(shape, static_cast<LstmKernel>(kernel), training,
                                                  static_cast<std::size_t>(memory_limit));
    torch::Tensor mean = torch::empty({shape.batch, shape.hidden});
    holder->pass->forward(weight_pointers(weights), x.data_ptr<float>(), mean.data_ptr<float>());
    if (training) {
      context->save_for_backward({x});
      context->saved_data["pass"] = c10::IValue::make_capsule(holder);
      for (std::size_t k = 0; k < weights.size(); ++k)
        context->saved_data["size" + std::to_string(k)] = weights[k].sizes().vec();
    }
    return mean;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list output_gradients) {
    const torch::Tensor x = context->get_saved_variables()[0];
    const auto holder = c10::static_intrusive_pointer_cast<PassHolder>(context->saved_data["pass"].toCapsule());
    const torch::Tensor dmean = output_gradients[0].contiguous();
    torch::autograd::variable_list result(1);
    std::vector<LstmGradients> pointers;
    for (std::size_t k = 0; context->saved_data.count("size" + std::to_string(k)); k += 4) {
      const auto size = [&](std::size_t i) { return context->saved_data["size" + std::to_string(i)].toIntVector(); };
      const torch::Tensor w_ih = torch::empty(size(k)), w_hh = torch::empty(size(k + 1)),
                          bias = torch::empty(size(k + 2));
      pointers.push_back({w_ih.data_ptr<float>(), w_hh.data_ptr<float>(), bias.data_ptr<float>()});
      result.insert(result.end(), {w_ih, w_hh, bias, bias});
    }
    if (context->needs_input_grad(0)) result[0] = torch::empty_like(x);
    holder->pass->backward(x.data_ptr<float>(), dmean.data_ptr<float>(), pointers,
                           result[0].defined() ? result[0].data_ptr<float>() : nullptr);
    // The two biases' gradients must not be one tensor: an optimiser may clip them in place, twice.
    for (std::size_t k = 4; k < result.size(); k += 4) result[k] = result[k].clone();
    result.resize(result.size() + 3);  // kernel, memory_limit, training
    return result;
  }
};

class LstmEncoder : public Encoder {
 public:
  LstmEncoder(int inputs, const nlohmann::json& given)
      : settings_(merge_settings("lstm", {{"layers", 4}, {"hidden", 50}, {"kernel", "auto"}}, given)),
        kernel_(lstm_kernel(settings_["kernel"].get<std::string>())),
        lstm_(nullptr) {
    const int layers = setting_integer("lstm", settings_, "layers", 1, 100);
    hidden_ = setting_integer("lstm", settings_, "hidden", 1, 10000);
    input_ = register_module("input", std::make_shared<RobustInput>(inputs, std::vector<int>{}));
    lstm_ = register_module(
        "lstm", torch::nn::LSTM(torch::nn::LSTMOptions(inputs, hidden_).num_layers(layers).batch_first(true)));
  }
  torch::Tensor forward(const torch::Tensor& z) override { return lstm_mean(input_->forward(z), lstm_, kernel_); }
  int output_size() const override { return hidden_; }
  void calibrate(const torch::Tensor& z) override { input_->calibrate(z); }
  nlohmann::json settings() const override { return settings_; }

 private:
  nlohmann::json settings_;
  LstmKernel kernel_;
  int hidden_ = 0;
  std::shared_ptr<RobustInput> input_;
  torch::nn::LSTM lstm_;
};

const RegisterEncoder registered("lstm", [](int inputs, const nlohmann::json& settings) {
  return std::make_shared<LstmEncoder>(inputs, settings);
});

}  // namespace

LstmKernel lstm_kernel(const std::string& name) {
  for (LstmKernel k : {LstmKernel::kAuto, LstmKernel::kLane, LstmKernel::kOnednn, LstmKernel::kTorch})
    if (name == lstm_kernel_name(k)) return k;
  throw ModelError(fmt::format("unknown LSTM kernel '{}'", name), "kernels: auto, lane, onednn, torch");
}

const char* lstm_kernel_name(LstmKernel kernel) {
  switch (kernel) {
    case LstmKernel::kLane:
      return "lane";
    case LstmKernel::kOnednn:
      return "onednn";
    case LstmKernel::kTorch:
      return "torch";
    default:
      return "auto";
  }
}

torch::Tensor lstm_mean(const torch::Tensor& x, torch::nn::LSTM& lstm, LstmKernel kernel, std::size_t memory_limit) {
  const bool ours = x.is_cpu() && x.scalar_type() == torch::kFloat32 && x.size(0) > 0 && x.size(1) > 0;
  if (kernel == LstmKernel::kTorch || !ours) return std::get<0>(lstm->forward(x)).mean(1);
  std::vector<torch::Tensor> weights;
  bool training = x.requires_grad();
  for (const torch::Tensor& w : lstm->all_weights()) {
    weights.push_back(w.contiguous());
    training = training || w.requires_grad();
  }
  training = training && torch::GradMode::is_enabled();
  return LstmMeanFunction::apply(x.contiguous(), at::TensorList(weights), static_cast<int64_t>(kernel),
                                 static_cast<int64_t>(memory_limit), training);
}

}  // namespace penn
