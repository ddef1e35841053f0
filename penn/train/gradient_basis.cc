#include "penn/train/gradient_basis.h"

#include <algorithm>
#include <numeric>

#include "penn/base/parallel.h"
#include "penn/base/random.h"
#include "penn/network/decomposition.h"

namespace penn {
namespace {

constexpr float kMeanDecay = 0.95f;  // of the running means, per observation
constexpr int64_t kSmallest = 9, kLargest = 4096;

// Rows [first, last) of the upper triangle of mean (n, n): mean = kMeanDecay mean + factor a a^T, a (n, k).
void observe_side(MatrixView a, int64_t n, int64_t k, float factor, int64_t first, int64_t last, float* mean) {
  thread_local AlignedVector<float> product;
  const int64_t width = n - first;
  product.resize(std::max(product.size(), static_cast<size_t>((last - first) * width)));
  const MatrixView rows = from_row(a, first);
  multiply(product.data(), width, rows, {rows.data, rows.column_step, rows.row_step}, last - first, width, k);
  for (int64_t i = first; i < last; ++i)
    for (int64_t j = i; j < n; ++j)
      mean[i * n + j] =
          kMeanDecay * mean[i * n + j] + factor * product[static_cast<size_t>((i - first) * width + j - first)];
}

void mirror(AlignedVector<float>& mean, int64_t n) {
  constexpr int64_t kSquare = 32;  // what the cache holds of both triangles
  for (int64_t row = 0; row < n; row += kSquare)
    for (int64_t column = 0; column <= row; column += kSquare)
      for (int64_t i = row; i < std::min(n, row + kSquare); ++i)
        for (int64_t j = column; j < std::min(i, column + kSquare); ++j)
          mean[static_cast<size_t>(i * n + j)] = mean[static_cast<size_t>(j * n + i)];
}

// basis -> orthonormal columns that span mean * basis, in falling order of their eigenvalues; returns where each column
// came from.
std::vector<int64_t> power_iteration(AlignedVector<float>& mean, int64_t n, AlignedVector<float>& basis, int threads) {
  mirror(mean, n);
  AlignedVector<float> product(basis.size());
  multiply_on(threads, product.data(), n, rows_of(mean.data(), n), rows_of(basis.data(), n), n, n, n);
  std::vector<float> value(static_cast<size_t>(n), 0.0f);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      value[static_cast<size_t>(j)] += basis[static_cast<size_t>(i * n + j)] * product[static_cast<size_t>(i * n + j)];
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return value[static_cast<size_t>(a)] > value[static_cast<size_t>(b)]; });
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      basis[static_cast<size_t>(i * n + j)] = product[static_cast<size_t>(i * n + order[static_cast<size_t>(j)])];
  orthonormalise(basis.data(), n, threads);
  return order;
}

}  // namespace

bool GradientBasis::is_useful(const Shape& shape) {
  return shape.size() == 2 && static_cast<int64_t>(std::min(shape[0], shape[1])) >= kSmallest &&
         static_cast<int64_t>(std::max(shape[0], shape[1])) <= kLargest;
}

GradientBasis::GradientBasis(int64_t rows, int64_t columns)
    : rows_(rows),
      columns_(columns),
      left_(static_cast<size_t>(rows * rows)),
      right_(static_cast<size_t>(columns * columns)),
      left_basis_(left_.size()),
      right_basis_(right_.size()) {}

void GradientBasis::observe(const float* g, float scale, int64_t first, int64_t last) {
  const float factor = (1 - kMeanDecay) * scale * scale;
  observe_side(rows_of(g, columns_), rows_, columns_, factor, first, last, left_.data());
  observe_side(transposed(g, columns_), columns_, rows_, factor, columns_ * first / rows_, columns_ * last / rows_,
               right_.data());
}

// The smaller side's eigenvectors; with them those of the larger side that G reaches, completed to a basis by random
// directions. Not by the weights' own axes: along these Adam gives a feature that is rarely different from its usual
// value steps as large as any other's, and single trajectories then have losses of thousands.
void GradientBasis::set_basis(const float* g) {
  const bool left_is_small = rows_ <= columns_;
  const int64_t n = left_is_small ? rows_ : columns_, N = left_is_small ? columns_ : rows_;
  AlignedVector<float>&mean = left_is_small ? left_ : right_, &small = left_is_small ? left_basis_ : right_basis_,
  &large = left_is_small ? right_basis_ : left_basis_;
  mirror(mean, n);
  std::vector<double> vectors(static_cast<size_t>(n * n)), values;
  eigenvectors(std::vector<double>(mean.begin(), mean.end()).data(), n, vectors.data(), values);
  std::copy(vectors.begin(), vectors.end(), small.begin());
  const MatrixView onto_large = left_is_small ? transposed(g, columns_) : rows_of(g, columns_);  // (N, n)
  multiply(large.data(), N, onto_large, rows_of(small.data(), n), N, n, n);
  const RandomKey key{0, static_cast<uint64_t>(N)};
  for (int64_t i = 0; i < N; ++i)
    for (int64_t j = n; j < N; ++j)
      large[static_cast<size_t>(i * N + j)] =
          static_cast<float>(key.uniform(0, static_cast<uint32_t>(i * N + j)) - 0.5);
  orthonormalise(large.data(), N);
  prepare();
}

void GradientBasis::prepare() {
  left_transposed_.resize(left_basis_.size());
  transpose(left_basis_.data(), rows_, rows_, left_transposed_.data());
  packed_right_ = PackedMatrixRight(rows_of(right_basis_.data(), columns_), columns_, columns_);
  packed_right_back_ = PackedMatrixRight(transposed(right_basis_.data(), columns_), columns_, columns_);
}

void GradientBasis::rotate_left(const float* g, int64_t first, int64_t last, float* out) const {
  multiply(out + first, columns_, rows_of(left_transposed_.data(), rows_), rows_of(g + first, columns_), rows_,
           last - first, rows_);
}
void GradientBasis::rotate_right(const float* x, int64_t first, int64_t last, float* out) const {
  multiply(out + first * columns_, columns_, rows_of(x + first * columns_, columns_), packed_right_, last - first,
           columns_, columns_);
}
void GradientBasis::rotate_right_back(const float* x, int64_t first, int64_t last, float* out) const {
  multiply(out + first * columns_, columns_, rows_of(x + first * columns_, columns_), packed_right_back_, last - first,
           columns_, columns_);
}
void GradientBasis::rotate_left_back(const float* x, int64_t first, int64_t last, float* out) const {
  multiply(out + first, columns_, rows_of(left_basis_.data(), rows_), rows_of(x + first, columns_), rows_, last - first,
           rows_);
}

void GradientBasis::refresh(float* first_moment, float* second_moment, int threads) {
  const size_t size = static_cast<size_t>(rows_ * columns_);
  AlignedVector<float> half(size), in_weights(size);
  const auto in_parts = [&](int64_t whole, const auto& rotate) {
    constexpr int64_t kPart = 128;
    parallel_for((whole + kPart - 1) / kPart, threads,
                 [&](int64_t i, int) { rotate(i * kPart, std::min(whole, (i + 1) * kPart)); });
  };
  in_parts(rows_, [&](int64_t first, int64_t last) { rotate_right_back(first_moment, first, last, half.data()); });
  in_parts(columns_,
           [&](int64_t first, int64_t last) { rotate_left_back(half.data(), first, last, in_weights.data()); });
  const std::vector<int64_t> row_order = power_iteration(left_, rows_, left_basis_, threads),
                             column_order = power_iteration(right_, columns_, right_basis_, threads);
  prepare();
  in_parts(columns_, [&](int64_t first, int64_t last) { rotate_left(in_weights.data(), first, last, half.data()); });
  in_parts(rows_, [&](int64_t first, int64_t last) { rotate_right(half.data(), first, last, first_moment); });
  std::copy_n(second_moment, size, half.begin());
  for (int64_t i = 0; i < rows_; ++i)
    for (int64_t j = 0; j < columns_; ++j)
      second_moment[i * columns_ + j] = half[static_cast<size_t>(row_order[static_cast<size_t>(i)] * columns_ +
                                                                 column_order[static_cast<size_t>(j)])];
}

void GradientBasis::write(std::vector<float>& out) const {
  for (const auto* matrix : {&left_, &right_, &left_basis_, &right_basis_})
    out.insert(out.end(), matrix->begin(), matrix->end());
}

const float* GradientBasis::read(const float* from) {
  for (auto* matrix : {&left_, &right_, &left_basis_, &right_basis_}) {
    std::copy_n(from, matrix->size(), matrix->begin());
    from += matrix->size();
  }
  prepare();
  return from;
}

}  // namespace penn
