// householder.h: an orthogonal matrix times a triangular one, by reflections.
#pragma once

#include "arithmetic/linear/matrices.h"

namespace stillflow {

// rows - tau v (v' rows), for a reflection with v[0] = 1 and the rest of v in a column of `reflections`.
inline void Reflect(const double* reflections, int64_t stride, double tau, int64_t row_count, int64_t columns,
                    double* rows, int64_t row_stride, double* sums) {
  std::copy_n(rows, columns, sums);
  for (int64_t i = 1; i < row_count; ++i) Subtract(-reflections[i * stride], rows + i * row_stride, columns, sums);
  for (int64_t j = 0; j < columns; ++j) sums[j] *= tau;
  Subtract(1, sums, columns, rows);
  for (int64_t i = 1; i < row_count; ++i) Subtract(reflections[i * stride], sums, columns, rows + i * row_stride);
}

// One factorization by Householder reflections; the diagonal of r has the sign opposite to what it replaces.
struct Factorization {
  int64_t m, n, p;
  double* a;     // [m, n]: becomes r, with the reflections below its diagonal
  double* q;     // [m, p]
  double* taus;  // [min(m, n)]
  double* sums;  // [max(n, p)]

  static int64_t ScratchCount(int64_t m, int64_t n, int64_t p) {
    return m * n + m * p + std::min(m, n) + std::max(n, p);
  }
  Factorization(int64_t m_, int64_t n_, int64_t p_, double* scratch)
      : m(m_), n(n_), p(p_), a(scratch), q(a + m * n), taus(q + m * p), sums(taus + std::min(m, n)) {}

  void Triangularize() const {
    for (int64_t j = 0; j < std::min(m, n); ++j) {
      double* const corner = a + j * n + j;
      const int64_t rows = m - j;
      const double first = corner[0];
      double rest = 0;
      for (int64_t i = 1; i < rows; ++i) rest += corner[i * n] * corner[i * n];
      taus[j] = 0;
      if (rest <= std::numeric_limits<double>::min()) continue;
      const double norm = std::sqrt(first * first + rest);
      const double beta = first >= 0 ? -norm : norm;
      taus[j] = (beta - first) / beta;
      for (int64_t i = 1; i < rows; ++i) corner[i * n] /= first - beta;
      corner[0] = beta;
      Reflect(corner, n, taus[j], rows, n - j - 1, corner + 1, n, sums);
    }
  }
  void MakeQ() const {
    std::fill_n(q, m * p, 0.0);
    for (int64_t i = 0; i < std::min(m, p); ++i) q[i * p + i] = 1;
    for (int64_t j = std::min(m, n) - 1; j >= 0; --j) {
      Reflect(a + j * n + j, n, taus[j], m - j, p - j, q + j * p + j, p, sums);
    }
  }
};

}  // namespace stillflow
