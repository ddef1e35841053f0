// Small dense linear algebra, row-major Float64Array; checked against penn/posterior/linear_algebra.cc. Factors come from QR wherever
// they can, because forming A^T A first would square the condition number and lose nearly singular components.

// A (rows, n), rows >= n, overwritten -> V (n, n) upper triangular, diagonal >= 0, V^T V = A^T A (Householder, rows pivoted by size).
export function qrUpper(a, rows, n) {
  for (let k = 0; k < n; ++k) {
    let pivot = k;
    for (let r = k + 1; r < rows; ++r) if (Math.abs(a[r * n + k]) > Math.abs(a[pivot * n + k])) pivot = r;
    const largest = Math.abs(a[pivot * n + k]);
    if (largest === 0) continue;
    if (pivot !== k)
      for (let c = 0; c < n; ++c) {
        const swap = a[k * n + c];
        a[k * n + c] = a[pivot * n + c];
        a[pivot * n + c] = swap;
      }
    let sum = 0;
    for (let r = k; r < rows; ++r) sum += (a[r * n + k] / largest) ** 2;
    const alpha = (a[k * n + k] > 0 ? -1 : 1) * largest * Math.sqrt(sum);  // away from cancellation
    const head = a[k * n + k] - alpha, beta = -head / alpha;
    for (let r = k + 1; r < rows; ++r) a[r * n + k] /= head;
    for (let c = k + 1; c < n; ++c) {
      let projection = a[k * n + c];
      for (let r = k + 1; r < rows; ++r) projection += a[r * n + k] * a[r * n + c];
      projection *= beta;
      a[k * n + c] -= projection;
      for (let r = k + 1; r < rows; ++r) a[r * n + c] -= projection * a[r * n + k];
    }
    a[k * n + k] = alpha;
  }
  const v = new Float64Array(n * n);
  for (let k = 0; k < n; ++k) {
    const sign = a[k * n + k] < 0 ? -1 : 1;
    for (let c = k; c < n; ++c) v[k * n + c] = sign * a[k * n + c];
  }
  return v;
}

// S (n, n) symmetric -> T upper triangular with T T^T = S, or null when S is not positive definite.
export function reverseCholesky(s, n) {
  const t = new Float64Array(n * n);
  for (let j = n - 1; j >= 0; --j) {
    let pivot = s[j * n + j];
    for (let k = j + 1; k < n; ++k) pivot -= t[j * n + k] ** 2;
    if (!(pivot > 0) || !Number.isFinite(pivot)) return null;
    t[j * n + j] = Math.sqrt(pivot);
    for (let i = 0; i < j; ++i) {
      let sum = s[i * n + j];
      for (let k = j + 1; k < n; ++k) sum -= t[i * n + k] * t[j * n + k];
      t[i * n + j] = sum / t[j * n + j];
    }
  }
  return t;
}

// Inverse of an upper triangular matrix, again upper triangular.
export function inverseUpper(u, n) {
  const x = new Float64Array(n * n);
  for (let c = 0; c < n; ++c) {
    x[c * n + c] = 1 / u[c * n + c];
    for (let r = c - 1; r >= 0; --r) {
      let sum = 0;
      for (let k = r + 1; k <= c; ++k) sum -= u[r * n + k] * x[k * n + c];
      x[r * n + c] = sum / u[r * n + r];
    }
  }
  return x;
}

// Precision factor U (U^T U = S^-1) of a covariance. Quantisation can leave a nearly singular covariance without a Cholesky factor; then the
// smallest ridge that gives one is added to the correlation matrix (units do not matter there), starting at the size of rounding.
export function factorOfCovariance(s, n) {
  const scale = new Float64Array(n), correlation = new Float64Array(n * n);
  for (let k = 0; k < n; ++k) {
    scale[k] = Math.sqrt(s[k * n + k]);
    if (!(scale[k] > 0) || !Number.isFinite(scale[k])) throw new Error(`variance ${k + 1} is ${s[k * n + k]}, not a positive number`);
  }
  for (let r = 0; r < n; ++r) for (let c = 0; c < n; ++c) correlation[r * n + c] = (s[r * n + c] + s[c * n + r]) / 2 / (scale[r] * scale[c]);
  for (let ridge = 0; ridge < 1; ridge = ridge ? 4 * ridge : 2 ** -52) {
    for (let k = 0; k < n; ++k) correlation[k * n + k] = 1 + ridge;
    const t = reverseCholesky(correlation, n);
    if (!t) continue;
    const u = inverseUpper(t, n);
    for (let r = 0; r < n; ++r) for (let c = r; c < n; ++c) u[r * n + c] /= scale[c];
    return u;
  }
  throw new Error("a covariance is not positive definite");
}
