// The Schur form of complex matrices: reflections leave one diagonal below the main one, then QR steps with one
// shift, by rotations, make that vanish (Golub and Van Loan, Matrix Computations, 7.4 and 7.5).
#include "arithmetic/linear/schur.h"

#include <algorithm>
#include <limits>

#include "arithmetic/linear/matrices.h"

namespace stillflow {
namespace {

constexpr int kMostSteps = 60;  // for one eigenvalue; two or three are usual
constexpr int kStepsToStrangeShift = 10;

// Column k is reflected into its first two elements; `v` is the vector of the reflection.
void ReflectColumn(Complex128* a, int64_t n, int64_t k, Complex128* q, Complex128* v) {
  double rest = 0;
  for (int64_t i = k + 2; i < n; ++i) rest += Squared(a[i * n + k]);
  if (!(rest > 0)) return;
  const Complex128 head = a[(k + 1) * n + k];
  const double size = Sqrt(Squared(head) + rest);
  const double magnitude = Magnitude(head);
  const Complex128 phase = magnitude > 0 ? head / magnitude : Complex128{1, 0};
  for (int64_t i = k + 1; i < n; ++i) v[i] = a[i * n + k];
  v[k + 1] = v[k + 1] + size * phase;
  double square = rest + Squared(v[k + 1]);
  const double factor = 2 / square;
  for (int64_t j = 0; j < n; ++j) {  // rows of a, from the left
    Complex128 sum = {0, 0};
    for (int64_t i = k + 1; i < n; ++i) sum = sum + Conj(v[i]) * a[i * n + j];
    sum = factor * sum;
    for (int64_t i = k + 1; i < n; ++i) a[i * n + j] = a[i * n + j] - v[i] * sum;
  }
  for (Complex128* const matrix : {a, q}) {  // columns, from the right
    for (int64_t i = 0; i < n; ++i) {
      Complex128* const row = matrix + i * n;
      Complex128 sum = {0, 0};
      for (int64_t j = k + 1; j < n; ++j) sum = sum + row[j] * v[j];
      sum = factor * sum;
      for (int64_t j = k + 1; j < n; ++j) row[j] = row[j] - sum * Conj(v[j]);
    }
  }
  for (int64_t i = k + 2; i < n; ++i) a[i * n + k] = {0, 0};
}

// The eigenvalue of rows last - 1 and last that is nearer to the last element.
Complex128 Shift(const Complex128* a, int64_t n, int64_t last, int steps) {
  const Complex128* const above = a + (last - 1) * n + last - 1;
  const Complex128* const below = above + n;
  if (steps % kStepsToStrangeShift == 0) return {Magnitude(below[0]) + Magnitude(above[0]), 0};
  const Complex128 half = (above[0] - below[1]) / 2.0;
  const Complex128 root = Sqrt(half * half + above[1] * below[0]);
  const Complex128 mean = (above[0] + below[1]) / 2.0;
  const Complex128 one = mean + root, other = mean - root;
  return Squared(one - below[1]) < Squared(other - below[1]) ? one : other;
}

// One QR step on rows and columns first...last.
void Step(Complex128* a, int64_t n, int64_t first, int64_t last, Complex128 shift, Complex128* q) {
  for (int64_t i = first; i <= last; ++i) a[i * n + i] = a[i * n + i] - shift;
  Complex128 cosine = {1, 0}, sine = {0, 0};  // of the rotation of rows k - 1 and k, applied to columns a step later
  const auto turn_columns = [&](Complex128* matrix, int64_t rows, int64_t k) {
    for (int64_t i = 0; i < rows; ++i) {
      Complex128* const pair = matrix + i * n + k - 1;
      const Complex128 x = pair[0], y = pair[1];
      pair[0] = x * Conj(cosine) + y * Conj(sine);
      pair[1] = y * cosine - x * sine;
    }
  };
  for (int64_t k = first + 1; k <= last + 1; ++k) {
    const Complex128 old_cosine = cosine, old_sine = sine;
    if (k <= last) {
      Complex128* const upper = a + (k - 1) * n;
      Complex128* const lower = upper + n;
      const double size = Sqrt(Squared(upper[k - 1]) + Squared(lower[k - 1]));
      cosine = size > 0 ? Conj(upper[k - 1]) / size : Complex128{1, 0};
      sine = size > 0 ? Conj(lower[k - 1]) / size : Complex128{0, 0};
      for (int64_t j = k - 1; j < n; ++j) {
        const Complex128 x = upper[j], y = lower[j];
        upper[j] = cosine * x + sine * y;
        lower[j] = Conj(cosine) * y - Conj(sine) * x;
      }
      lower[k - 1] = {0, 0};
    }
    if (k - 1 > first) {
      const Complex128 new_cosine = cosine, new_sine = sine;
      cosine = old_cosine;
      sine = old_sine;
      turn_columns(a, k, k - 1);
      turn_columns(q, n, k - 1);
      cosine = new_cosine;
      sine = new_sine;
    }
  }
  for (int64_t i = first; i <= last; ++i) a[i * n + i] = a[i * n + i] + shift;
}

}  // namespace

bool ReduceToTriangle(Complex128* a, int64_t n, Complex128* q, Complex128* scratch) {
  std::fill_n(q, n * n, Complex128{0, 0});
  for (int64_t i = 0; i < n; ++i) q[i * n + i] = {1, 0};
  int exponent = 0;
  if (n == 0) return true;
  if (!FindScale(a, n * n, &exponent)) return false;
  ScaleAll(a, n * n, -exponent);
  for (int64_t k = 0; k + 2 < n; ++k) ReflectColumn(a, n, k, q, scratch);
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  int steps = 0;
  for (int64_t last = n - 1; last > 0;) {
    int64_t first = last;
    for (; first > 0; --first) {
      Complex128& below = a[first * n + first - 1];
      const double near = Magnitude(a[(first - 1) * n + first - 1]) + Magnitude(a[first * n + first]);
      if (Magnitude(below) <= kEpsilon * (near > 0 ? near : 1)) {
        below = {0, 0};
        break;
      }
    }
    if (first == last) {
      --last;
      steps = 0;
      continue;
    }
    if (++steps > kMostSteps) return false;
    Step(a, n, first, last, Shift(a, n, last, steps), q);
  }
  ScaleAll(a, n * n, exponent);
  return true;
}

}  // namespace stillflow
