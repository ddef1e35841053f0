// Decompositions of square matrices, stored row by row: eigenvectors by Eigen, QR by blocks of Householder reflections.
#pragma once

#include <cstdint>
#include <vector>

namespace penn {

// Eigenvectors of a symmetric matrix (n, n) as columns, those of the largest eigenvalues first; values in the same
// order.
void eigenvectors(const double* symmetric, int64_t n, double* vectors, std::vector<double>& values);

// a (n, n) -> orthonormal columns of which the first k span its first k columns, for every k (QR). The same bits on any
// number of threads.
void orthonormalise(float* a, int64_t n, int threads = 1);

}  // namespace penn
