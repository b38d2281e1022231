// Eigenvalues of symmetric matrices: reflections make them tridiagonal, then implicit QL steps diagonal. Of Hermitian
// ones the reflections leave a tridiagonal matrix that is real.
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
template <typename S>
Status ReflectBothSides(const KernelCall& call, S* a, int64_t n, int64_t k, const Tridiagonal& t, S* taus,
                        S* products) {
  S* const v = a + k * n + k + 1;
  const int64_t size = n - k - 1;
  for (int64_t i = 0; i < size; ++i) v[i] = Conj(v[i]);  // column k, which stands in the row conjugated
  const double rest = RealPart(Dot(v + 1, v + 1, size - 1));
  taus[k] = NumberOf<S>(0);
  t.beside[k] = RealPart(v[0]);
  constexpr double kTiny = std::numeric_limits<double>::min();
  if (rest <= kTiny && ImaginaryPart(v[0]) * ImaginaryPart(v[0]) <= kTiny) return Status();
  const double norm = Sqrt(Squared(v[0]) + rest);
  const S beta = NumberOf<S>(RealPart(v[0]) >= 0 ? -norm : norm);
  taus[k] = (beta - v[0]) / RealPart(beta);
  t.beside[k] = RealPart(beta);
  const S divisor = v[0] - beta;
  for (int64_t i = 1; i < size; ++i) v[i] = v[i] / divisor;
  v[0] = NumberOf<S>(1);
  S* const below = a + (k + 1) * n + k + 1;
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, size, RowsPerChunk(size), [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) products[i] = taus[k] * PlainDot(below + i * n, v, size);
  }));
  const S half = taus[k] * Dot(products, v, size) / 2.0;
  Subtract(half, v, size, products);
  return ForEachChunk(call, size, RowsPerChunk(size), [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      for (int64_t j = 0; j < size; ++j) {
        below[i * n + j] = below[i * n + j] - (v[i] * Conj(products[j]) + products[i] * Conj(v[j]));
      }
    }
  });
}

// Makes a tridiagonal; the rows of `vectors` become what a was transformed by, if it is not null.
template <typename S>
Status Tridiagonalize(const KernelCall& call, S* a, int64_t n, const Tridiagonal& t, S* vectors, S* scratch) {
  S* const taus = scratch;
  S* const products = scratch + n;
  for (int64_t k = 0; k + 1 < n; ++k) {
    STILLFLOW_RETURN_IF_ERROR(ReflectBothSides(call, a, n, k, t, taus, products));
  }
  for (int64_t i = 0; i < n; ++i) t.diagonal[i] = RealPart(a[i * n + i]);
  t.beside[n - 1] = 0;
  if (vectors == nullptr) return Status();
  const Scratch columns(call, n * n * static_cast<int64_t>(sizeof(S)));
  if (!columns.ok()) return OutOfScratch();
  S* const q = columns.data<S>();
  std::fill_n(q, n * n, NumberOf<S>(0));
  for (int64_t i = 0; i < n; ++i) q[i * n + i] = NumberOf<S>(1);
  for (int64_t k = n - 2; k >= 0; --k) {
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

template <typename S>
Status Rotate(const KernelCall& call, const Rotation* rotations, int64_t count, int64_t n, S* vectors) {
  constexpr int64_t kColumnsPerChunk = 128;
  return ForEachChunk(call, n, kColumnsPerChunk, [&](Range range) {
    for (int64_t at = 0; at < count; ++at) {
      const auto [cosine, sine, row] = rotations[at];
      S* __restrict const upper = vectors + row * n;
      S* __restrict const lower = upper + n;
      for (int64_t j = range.begin; j < range.end; ++j) {
        const S below = lower[j];
        lower[j] = sine * upper[j] + cosine * below;
        upper[j] = cosine * upper[j] - sine * below;
      }
    }
  });
}

template <typename S>
Status Diagonalize(const KernelCall& call, const Tridiagonal& t, int64_t n, S* vectors, bool* has_converged) {
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

template <typename S>
Status SymmetricEigen(const KernelCall& call, S* a, int64_t n, double* values, S* vectors, bool* has_converged) {
  *has_converged = n == 0;
  for (int64_t i = 0; i < n; ++i) {
    a[i * n + i] = NumberOf<S>(RealPart(a[i * n + i]));
    for (int64_t j = i + 1; j < n; ++j) a[i * n + j] = Conj(a[j * n + i]);
  }
  int exponent = 0;
  if (n == 0 || !FindScale(a, n * n, &exponent)) return Status();
  ScaleAll(a, n * n, -exponent);
  constexpr auto kBytes = static_cast<int64_t>(sizeof(S));
  const Scratch scratch(call, 3 * n * 8);
  const Scratch reflections(call, 2 * n * kBytes);
  const Scratch unordered(call, vectors == nullptr ? 0 : n * n * kBytes);
  if (!scratch.ok() || !reflections.ok() || !unordered.ok()) return OutOfScratch();
  auto* const memory = scratch.data<double>();
  const Tridiagonal t{memory, memory + n};
  S* const rows = vectors == nullptr ? nullptr : unordered.data<S>();
  STILLFLOW_RETURN_IF_ERROR(Tridiagonalize(call, a, n, t, rows, reflections.data<S>()));
  STILLFLOW_RETURN_IF_ERROR(Diagonalize(call, t, n, rows, has_converged));
  auto* const order = reinterpret_cast<int64_t*>(memory + 2 * n);
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

template Status SymmetricEigen<double>(const KernelCall&, double*, int64_t, double*, double*, bool*);
template Status SymmetricEigen<Complex128>(const KernelCall&, Complex128*, int64_t, double*, Complex128*, bool*);

}  // namespace stillflow
