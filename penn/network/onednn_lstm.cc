#include "penn/network/onednn_lstm.h"

#include <dlfcn.h>

#include <dnnl.hpp>

#include <cstring>

#include "penn/kernel/thread_pool.h"

namespace penn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

dnnl::engine& cpu() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

// oneDNN's threads are OpenMP's, which set_network_threads has switched off for LibTorch: on again while this lives.
class OpenMpThreads {
 public:
  OpenMpThreads() {
    if (set_ && get_) {
      before_ = get_();
      set_(pool_threads());
    }
  }
  ~OpenMpThreads() {
    if (set_ && get_) set_(before_);
  }

 private:
  using Set = void(int);
  using Get = int();
  Set* set_ = reinterpret_cast<Set*>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  Get* get_ = reinterpret_cast<Get*>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  int before_ = 1;
};

memory::desc floats(const memory::dims& dims, Tag tag) {
  return {dims, memory::data_type::f32, tag};
}

// A run of equal layers as one primitive. The first layer of the network has other input channels than the rest, so the
// network is two stacks: layer 1, and layers 2 to L.
class Stack {
 public:
  Stack(const LstmShape& s, int first, int layers, bool training)
      : first_(first), layers_(layers), inputs_(s.inputs(first)), H_(s.hidden) {
    const memory::dim L = layers, T = s.time, N = s.batch, I = inputs_, H = H_;
    const auto any = Tag::any;
    const auto direction = dnnl::rnn_direction::unidirectional_left2right;
    const memory::desc none;
    src_desc_ = floats({T, N, I}, Tag::tnc);
    dst_desc_ = floats({T, N, H}, Tag::tnc);
    bias_desc_ = floats({L, 1, 4, H}, Tag::ldgo);
    // Given although it is zero: without it, version 2.6 computes a wrong gradient of the last layer's w_hh.
    const auto state = floats({L, 1, N, H}, Tag::ldnc);
    const auto w_layer = floats({L, 1, I, 4, H}, any), w_iter = floats({L, 1, H, 4, H}, any);
    forward_desc_ = dnnl::lstm_forward::primitive_desc(
        {training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference, direction, src_desc_, state,
         state, w_layer, w_iter, bias_desc_, dst_desc_, none, none},
        cpu());
    forward_ = dnnl::lstm_forward(forward_desc_);
    dst_ = memory(dst_desc_, cpu());
    zero_ = memory(state, cpu());
    std::memset(data(zero_), 0, state.get_size());
    bias_ = memory(bias_desc_, cpu());
    // LibTorch's (4H, I) of each layer, one after the other, is oneDNN's "ldgoi"; both have the gates in the order i f
    // g o.
    user_layer_ = memory(floats({L, 1, I, 4, H}, Tag::ldgoi), cpu());
    user_iter_ = memory(floats({L, 1, H, 4, H}, Tag::ldgoi), cpu());
    w_layer_ = memory(forward_desc_.weights_layer_desc(), cpu());
    w_iter_ = memory(forward_desc_.weights_iter_desc(), cpu());
    if (!training) return;
    workspace_ = memory(forward_desc_.workspace_desc(), cpu());
    backward_desc_ = dnnl::lstm_backward::primitive_desc({dnnl::prop_kind::backward,
                                                          direction,
                                                          src_desc_,
                                                          state,
                                                          state,
                                                          w_layer,
                                                          w_iter,
                                                          bias_desc_,
                                                          dst_desc_,
                                                          none,
                                                          none,
                                                          src_desc_,
                                                          state,
                                                          state,
                                                          w_layer,
                                                          w_iter,
                                                          bias_desc_,
                                                          dst_desc_,
                                                          none,
                                                          none},
                                                         cpu(), forward_desc_);
    backward_ = dnnl::lstm_backward(backward_desc_);
    back_layer_ = memory(backward_desc_.weights_layer_desc(), cpu());
    back_iter_ = memory(backward_desc_.weights_iter_desc(), cpu());
    diff_layer_ = memory(backward_desc_.diff_weights_layer_desc(), cpu());
    diff_iter_ = memory(backward_desc_.diff_weights_iter_desc(), cpu());
    diff_bias_ = memory(bias_desc_, cpu());
    diff_src_ = memory(src_desc_, cpu());
    diff_h_ = memory(state, cpu());
    diff_c_ = memory(state, cpu());
  }

  memory& dst() { return dst_; }
  memory& diff_src() { return diff_src_; }
  const memory::desc& src_desc() const { return src_desc_; }
  const memory::desc& dst_desc() const { return dst_desc_; }

  void forward(dnnl::stream& stream, const std::vector<LstmWeights>& weights, memory& src) {
    const std::size_t in = 4ul * H_ * inputs_, hid = 4ul * H_ * H_, gates = 4ul * H_;
    for (int l = 0; l < layers_; ++l) {
      const LstmWeights& w = weights[first_ + l];
      std::memcpy(data(user_layer_) + l * in, w.w_ih, in * sizeof(float));
      std::memcpy(data(user_iter_) + l * hid, w.w_hh, hid * sizeof(float));
      for (std::size_t k = 0; k < gates; ++k) data(bias_)[l * gates + k] = w.b_ih[k] + w.b_hh[k];
    }
    dnnl::reorder(user_layer_, w_layer_).execute(stream, user_layer_, w_layer_);
    dnnl::reorder(user_iter_, w_iter_).execute(stream, user_iter_, w_iter_);
    std::unordered_map<int, memory> args{{DNNL_ARG_SRC_LAYER, src},        {DNNL_ARG_SRC_ITER, zero_},
                                         {DNNL_ARG_SRC_ITER_C, zero_},     {DNNL_ARG_WEIGHTS_LAYER, w_layer_},
                                         {DNNL_ARG_WEIGHTS_ITER, w_iter_}, {DNNL_ARG_BIAS, bias_},
                                         {DNNL_ARG_DST_LAYER, dst_}};
    if (workspace_) args[DNNL_ARG_WORKSPACE] = workspace_;
    forward_.execute(stream, args);
  }

  void backward(dnnl::stream& stream, memory& src, memory& diff_dst, const std::vector<LstmGradients>& out) {
    dnnl::reorder(user_layer_, back_layer_).execute(stream, user_layer_, back_layer_);
    dnnl::reorder(user_iter_, back_iter_).execute(stream, user_iter_, back_iter_);
    // oneDNN adds to the gradients of the weights.
    for (memory* m : {&diff_layer_, &diff_iter_, &diff_bias_}) std::memset(data(*m), 0, m->get_desc().get_size());
    backward_.execute(stream, {{DNNL_ARG_SRC_LAYER, src},
                               {DNNL_ARG_SRC_ITER, zero_},
                               {DNNL_ARG_SRC_ITER_C, zero_},
                               {DNNL_ARG_WEIGHTS_LAYER, back_layer_},
                               {DNNL_ARG_WEIGHTS_ITER, back_iter_},
                               {DNNL_ARG_BIAS, bias_},
                               {DNNL_ARG_DST_LAYER, dst_},
                               {DNNL_ARG_WORKSPACE, workspace_},
                               {DNNL_ARG_DIFF_SRC_LAYER, diff_src_},
                               {DNNL_ARG_DIFF_SRC_ITER, diff_h_},
                               {DNNL_ARG_DIFF_SRC_ITER_C, diff_c_},
                               {DNNL_ARG_DIFF_WEIGHTS_LAYER, diff_layer_},
                               {DNNL_ARG_DIFF_WEIGHTS_ITER, diff_iter_},
                               {DNNL_ARG_DIFF_BIAS, diff_bias_},
                               {DNNL_ARG_DIFF_DST_LAYER, diff_dst}});
    memory layer_out(user_layer_.get_desc(), cpu()), iter_out(user_iter_.get_desc(), cpu());
    dnnl::reorder(diff_layer_, layer_out).execute(stream, diff_layer_, layer_out);
    dnnl::reorder(diff_iter_, iter_out).execute(stream, diff_iter_, iter_out);
    stream.wait();
    const std::size_t in = 4ul * H_ * inputs_, hid = 4ul * H_ * H_, gates = 4ul * H_;
    for (int l = 0; l < layers_; ++l) {
      std::memcpy(out[first_ + l].w_ih, data(layer_out) + l * in, in * sizeof(float));
      std::memcpy(out[first_ + l].w_hh, data(iter_out) + l * hid, hid * sizeof(float));
      std::memcpy(out[first_ + l].bias, data(diff_bias_) + l * gates, gates * sizeof(float));
    }
  }

  static float* data(const memory& m) { return static_cast<float*>(m.get_data_handle()); }

 private:
  int first_, layers_, inputs_, H_;
  memory::desc src_desc_, dst_desc_, bias_desc_;
  dnnl::lstm_forward::primitive_desc forward_desc_;
  dnnl::lstm_backward::primitive_desc backward_desc_;
  dnnl::lstm_forward forward_;
  dnnl::lstm_backward backward_;
  memory user_layer_, user_iter_, w_layer_, w_iter_, back_layer_, back_iter_, bias_, dst_, zero_, workspace_;
  memory diff_layer_, diff_iter_, diff_bias_, diff_src_, diff_h_, diff_c_;
};

class OnednnLstm : public LstmPass {
 public:
  OnednnLstm(const LstmShape& s, bool training) : shape_(s), stream_(cpu()) {
    const OpenMpThreads threads;
    stacks_.push_back(std::make_unique<Stack>(s, 0, 1, training));
    if (s.layers > 1) stacks_.push_back(std::make_unique<Stack>(s, 1, s.layers - 1, training));
    src_ = memory(stacks_[0]->src_desc(), cpu());
    if (training) diff_dst_ = memory(stacks_.back()->dst_desc(), cpu());
  }

  void forward(const std::vector<LstmWeights>& weights, const float* x, float* mean) override {
    const OpenMpThreads threads;
    const int B = shape_.batch, T = shape_.time, C = shape_.channels, H = shape_.hidden;
    float* src = Stack::data(src_);  // (T, B, C)
    for (int b = 0; b < B; ++b)
      for (int t = 0; t < T; ++t)
        for (int c = 0; c < C; ++c) src[(1ul * t * B + b) * C + c] = x[(1ul * b * T + t) * C + c];
    memory* input = &src_;
    for (auto& stack : stacks_) {
      stack->forward(stream_, weights, *input);
      input = &stack->dst();
    }
    stream_.wait();
    const std::size_t n = 1ul * B * H;
    std::memset(mean, 0, n * sizeof(float));
    const float* h = Stack::data(*input);  // (T, B, H)
    for (int t = 0; t < T; ++t)
      for (std::size_t k = 0; k < n; ++k) mean[k] += h[t * n + k];
    for (std::size_t k = 0; k < n; ++k) mean[k] /= static_cast<float>(T);
  }

  void backward(const float* /*x*/, const float* dmean, const std::vector<LstmGradients>& gradients,
                float* dx) override {
    const int B = shape_.batch, T = shape_.time, C = shape_.channels;
    const std::size_t n = 1ul * B * shape_.hidden;
    const OpenMpThreads threads;
    float* diff = Stack::data(diff_dst_);
    for (std::size_t k = 0; k < n; ++k) diff[k] = dmean[k] / static_cast<float>(T);
    for (int t = 1; t < T; ++t) std::memcpy(diff + t * n, diff, n * sizeof(float));
    memory* from_above = &diff_dst_;
    for (int k = static_cast<int>(stacks_.size()) - 1; k >= 0; --k) {
      stacks_[k]->backward(stream_, k == 0 ? src_ : stacks_[k - 1]->dst(), *from_above, gradients);
      from_above = &stacks_[k]->diff_src();
    }
    if (!dx) return;
    const float* from = Stack::data(*from_above);
    for (int b = 0; b < B; ++b)
      for (int t = 0; t < T; ++t)
        for (int c = 0; c < C; ++c) dx[(1ul * b * T + t) * C + c] = from[(1ul * t * B + b) * C + c];
  }

 private:
  LstmShape shape_;
  dnnl::stream stream_;
  std::vector<std::unique_ptr<Stack>> stacks_;
  memory src_, diff_dst_;
};

}  // namespace

std::unique_ptr<LstmPass> make_onednn_lstm(const LstmShape& shape, bool training) {
  return std::make_unique<OnednnLstm>(shape, training);
}

}  // namespace penn
