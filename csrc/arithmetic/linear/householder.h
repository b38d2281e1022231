// householder.h: an orthogonal (unitary) matrix times a triangular one, by reflections.
#pragma once

#include "arithmetic/linear/matrices.h"

namespace stillflow {

// rows - tau v (v' rows), for a reflection with v[0] = 1 and the rest of v in a column of `reflections`; v' is the
// conjugate of v.
template <typename S>
void Reflect(const S* reflections, int64_t stride, S tau, int64_t row_count, int64_t columns, S* rows,
             int64_t row_stride, S* sums) {
  std::copy_n(rows, columns, sums);
  for (int64_t i = 1; i < row_count; ++i) {
    Subtract(-Conj(reflections[i * stride]), rows + i * row_stride, columns, sums);
  }
  for (int64_t j = 0; j < columns; ++j) sums[j] = sums[j] * tau;
  for (int64_t j = 0; j < columns; ++j) rows[j] = rows[j] - sums[j];
  for (int64_t i = 1; i < row_count; ++i) Subtract(reflections[i * stride], sums, columns, rows + i * row_stride);
}

// One factorization by Householder reflections. The diagonal of r is real, of the sign opposite to that of the real
// part that it replaces.
template <typename S>
struct Factorization {
  int64_t m, n, p;
  S* a;     // [m, n]: becomes r, with the reflections below its diagonal
  S* q;     // [m, p]
  S* taus;  // [min(m, n)]
  S* sums;  // [max(n, p)]

  static int64_t ScratchCount(int64_t m, int64_t n, int64_t p) {
    return m * n + m * p + std::min(m, n) + std::max(n, p);
  }
  Factorization(int64_t m_, int64_t n_, int64_t p_, S* scratch)
      : m(m_), n(n_), p(p_), a(scratch), q(a + m * n), taus(q + m * p), sums(taus + std::min(m, n)) {}

  void Triangularize() const {
    for (int64_t j = 0; j < std::min(m, n); ++j) {
      S* const corner = a + j * n + j;
      const int64_t rows = m - j;
      const S first = corner[0];
      double rest = 0;
      for (int64_t i = 1; i < rows; ++i) rest += Squared(corner[i * n]);
      taus[j] = NumberOf<S>(0);
      constexpr double kTiny = std::numeric_limits<double>::min();
      if (rest <= kTiny && ImaginaryPart(first) * ImaginaryPart(first) <= kTiny) continue;
      const double norm = std::sqrt(Squared(first) + rest);
      const S beta = NumberOf<S>(RealPart(first) >= 0 ? -norm : norm);
      taus[j] = (beta - first) / RealPart(beta);
      for (int64_t i = 1; i < rows; ++i) corner[i * n] = corner[i * n] / (first - beta);
      corner[0] = beta;
      Reflect(corner, n, Conj(taus[j]), rows, n - j - 1, corner + 1, n, sums);
    }
  }
  void MakeQ() const {
    std::fill_n(q, m * p, NumberOf<S>(0));
    for (int64_t i = 0; i < std::min(m, p); ++i) q[i * p + i] = NumberOf<S>(1);
    for (int64_t j = std::min(m, n) - 1; j >= 0; --j) {
      Reflect(a + j * n + j, n, taus[j], m - j, p - j, q + j * p + j, p, sums);
    }
  }
};

}  // namespace stillflow
