// Eigenvalues of symmetric matrices: reflections make them tridiagonal, then implicit QL steps diagonal.
#include "arithmetic/linear/householder.h"
#include "arithmetic/linear/spectrum.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 16384;
constexpr int kMostSteps = 60;  // for one eigenvalue; two or three are usual

int64_t RowsPerChunk(int64_t width) { return std::max<int64_t>(kElementsPerChunk / std::max<int64_t>(width, 1), 1); }

// A tridiagonal matrix: its diagonal and what is beside it; the last of that is zero.
struct Tridiagonal {
  double* diagonal;
  double* beside;
};

// One reflection: row k of a, after its diagonal, becomes the reflection's vector with 1 in front. The matrix below
// and to the right is brought up to date.
Status ReflectBothSides(const KernelCall& call, double* a, int64_t n, int64_t k, const Tridiagonal& t, double* taus,
                        double* products) {
  double* const v = a + k * n + k + 1;
  const int64_t size = n - k - 1;
  const double rest = Dot(v + 1, v + 1, size - 1);
  taus[k] = 0;
  t.beside[k] = v[0];
  if (rest <= std::numeric_limits<double>::min()) return Status();
  const double norm = Sqrt(v[0] * v[0] + rest);
  const double beta = v[0] >= 0 ? -norm : norm;
  taus[k] = (beta - v[0]) / beta;
  t.beside[k] = beta;
  const double divisor = v[0] - beta;
  for (int64_t i = 1; i < size; ++i) v[i] /= divisor;
  v[0] = 1;
  double* const below = a + (k + 1) * n + k + 1;
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, size, RowsPerChunk(size), [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) products[i] = taus[k] * Dot(below + i * n, v, size);
  }));
  const double half = taus[k] * Dot(products, v, size) / 2;
  Subtract(half, v, size, products);
  return ForEachChunk(call, size, RowsPerChunk(size), [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      for (int64_t j = 0; j < size; ++j) below[i * n + j] -= v[i] * products[j] + products[i] * v[j];
    }
  });
}

// Makes a tridiagonal; the rows of `vectors` become what a was transformed by, if it is not null.
Status Tridiagonalize(const KernelCall& call, double* a, int64_t n, const Tridiagonal& t, double* vectors,
                      double* scratch) {
  double* const taus = scratch;
  double* const products = scratch + n;
  for (int64_t k = 0; k + 2 < n; ++k) {
    STILLFLOW_RETURN_IF_ERROR(ReflectBothSides(call, a, n, k, t, taus, products));
  }
  for (int64_t i = 0; i < n; ++i) t.diagonal[i] = a[i * n + i];
  if (n > 1) t.beside[n - 2] = a[(n - 2) * n + n - 1];
  t.beside[n - 1] = 0;
  if (vectors == nullptr) return Status();
  const Scratch columns(call, n * n * 8);
  if (!columns.ok()) return OutOfScratch();
  double* const q = columns.data<double>();
  std::fill_n(q, n * n, 0.0);
  for (int64_t i = 0; i < n; ++i) q[i * n + i] = 1;
  for (int64_t k = n - 3; k >= 0; --k) {
    const int64_t size = n - k - 1;
    Reflect(a + k * n + k + 1, 1, taus[k], size, size, q + (k + 1) * n + k + 1, n, products);
  }
  Transpose(q, n, n, vectors);
  return Status();
}

// A rotation of rows i and i + 1.
struct Rotation {
  double cosine;
  double sine;
  int64_t row;
};

// One implicit QL step on rows first...last, from the last up. Returns how many rotations it took.
int64_t Step(const Tridiagonal& t, int64_t first, int64_t last, Rotation* rotations) {
  double* const d = t.diagonal;
  double* const e = t.beside;
  double g = (d[first + 1] - d[first]) / (2 * e[first]);
  const double root = Hypotenuse(g, 1);
  g = d[last] - d[first] + e[first] / (g + CopySign(root, g));
  double sine = 1;
  double cosine = 1;
  double shift = 0;
  int64_t count = 0;
  for (int64_t i = last - 1; i >= first; --i) {
    const double f = sine * e[i];
    const double b = cosine * e[i];
    const double r = Hypotenuse(f, g);
    e[i + 1] = r;
    if (r == 0) {
      d[i + 1] -= shift;
      e[last] = 0;
      return count;
    }
    sine = f / r;
    cosine = g / r;
    g = d[i + 1] - shift;
    const double s = (d[i] - g) * sine + 2 * cosine * b;
    shift = sine * s;
    d[i + 1] = g + shift;
    g = cosine * s - b;
    rotations[count++] = {cosine, sine, i};
  }
  d[first] -= shift;
  e[first] = g;
  e[last] = 0;
  return count;
}

Status Rotate(const KernelCall& call, const Rotation* rotations, int64_t count, int64_t n, double* vectors) {
  constexpr int64_t kColumnsPerChunk = 128;
  return ForEachChunk(call, n, kColumnsPerChunk, [&](Range range) {
    for (int64_t at = 0; at < count; ++at) {
      const auto [cosine, sine, row] = rotations[at];
      double* __restrict const upper = vectors + row * n;
      double* __restrict const lower = upper + n;
      for (int64_t j = range.begin; j < range.end; ++j) {
        const double below = lower[j];
        lower[j] = sine * upper[j] + cosine * below;
        upper[j] = cosine * upper[j] - sine * below;
      }
    }
  });
}

Status Diagonalize(const KernelCall& call, const Tridiagonal& t, int64_t n, double* vectors, bool* has_converged) {
  const Scratch scratch(call, n * static_cast<int64_t>(sizeof(Rotation)));
  if (!scratch.ok()) return OutOfScratch();
  auto* const rotations = scratch.data<Rotation>();
  for (int64_t first = 0; first < n; ++first) {
    for (int steps = 0;; ++steps) {
      int64_t last = first;
      for (; last + 1 < n; ++last) {
        const double around = Abs(t.diagonal[last]) + Abs(t.diagonal[last + 1]);
        if (Abs(t.beside[last]) <= std::numeric_limits<double>::epsilon() / 2 * around) break;
      }
      if (last == first) break;
      if (steps == kMostSteps) return Status();
      const int64_t count = Step(t, first, last, rotations);
      if (vectors != nullptr) STILLFLOW_RETURN_IF_ERROR(Rotate(call, rotations, count, n, vectors));
    }
  }
  *has_converged = true;
  return Status();
}

}  // namespace

Status SymmetricEigen(const KernelCall& call, double* a, int64_t n, double* values, double* vectors,
                      bool* has_converged) {
  *has_converged = n == 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) a[i * n + j] = a[j * n + i];
  }
  int exponent = 0;
  if (n == 0 || !FindScale(a, n * n, &exponent)) return Status();
  for (int64_t i = 0; i < n * n; ++i) a[i] = std::ldexp(a[i], -exponent);
  const Scratch scratch(call, 5 * n * 8);
  const Scratch unordered(call, vectors == nullptr ? 0 : n * n * 8);
  if (!scratch.ok() || !unordered.ok()) return OutOfScratch();
  auto* const memory = scratch.data<double>();
  const Tridiagonal t{memory, memory + n};
  double* const rows = vectors == nullptr ? nullptr : unordered.data<double>();
  STILLFLOW_RETURN_IF_ERROR(Tridiagonalize(call, a, n, t, rows, memory + 2 * n));
  STILLFLOW_RETURN_IF_ERROR(Diagonalize(call, t, n, rows, has_converged));
  auto* const order = reinterpret_cast<int64_t*>(memory + 4 * n);
  for (int64_t i = 0; i < n; ++i) order[i] = i;
  std::sort(order, order + n, [&](int64_t x, int64_t y) {
    return t.diagonal[x] != t.diagonal[y] ? t.diagonal[x] < t.diagonal[y] : x < y;
  });
  for (int64_t i = 0; i < n && *has_converged; ++i) {
    values[i] = std::ldexp(t.diagonal[order[i]], exponent);
    if (vectors != nullptr) std::copy_n(rows + order[i] * n, n, vectors + i * n);
  }
  return Status();
}

}  // namespace stillflow
