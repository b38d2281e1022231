// Singular values: pairs of columns are rotated until all are orthogonal to each other (one-sided Jacobi). In a round
// every column is in one pair, so that pairs may be rotated at the same time.
#include "arithmetic/linear/householder.h"
#include "arithmetic/linear/spectrum.h"

namespace stillflow {
namespace {

constexpr int kMostSweeps = 60;  // six to ten are usual
constexpr int64_t kElementsPerChunk = 8192;

// What is rotated: the columns of a matrix as rows, and the rotations so far, unless it is null.
template <typename S>
struct Columns {
  S* rows;  // [count, length]
  int64_t count;
  int64_t length;
  S* right;  // [count, count]
};

template <typename S>
void RotateRows(double cosine, double sine, int64_t length, S* __restrict x, S* __restrict y) {
  for (int64_t i = 0; i < length; ++i) {
    const S old = x[i];
    x[i] = cosine * old - sine * y[i];
    y[i] = sine * old + cosine * y[i];
  }
}

// Turns a column so that its product with another, whose direction is `phase`, becomes real and positive.
inline void TurnRow(Complex128 phase, int64_t length, Complex128* y) {
  for (int64_t i = 0; i < length; ++i) y[i] = Conj(phase) * y[i];
}

// Makes two columns orthogonal, the longer one in front. Returns whether they were not.
template <typename S>
bool Orthogonalize(const Columns<S>& columns, int64_t p, int64_t q, double tolerance) {
  S* x = columns.rows + p * columns.length;
  S* y = columns.rows + q * columns.length;
  const double xx = RealPart(Dot(x, x, columns.length));
  const double yy = RealPart(Dot(y, y, columns.length));
  const S product = Dot(x, y, columns.length);
  double xy = RealPart(product);
  if constexpr (kIsComplex<S>) xy = Magnitude(product);
  if (!(Abs(xy) > tolerance * Sqrt(xx) * Sqrt(yy))) return false;
  if constexpr (kIsComplex<S>) {
    const S phase = product / xy;
    TurnRow(phase, columns.length, y);
    if (columns.right != nullptr) TurnRow(phase, columns.count, columns.right + q * columns.count);
  }
  const double zeta = (yy - xx) / (2 * xy);
  const double tangent = CopySign(1 / (Abs(zeta) + Hypotenuse(zeta, 1)), zeta);
  const double cosine = 1 / Sqrt(1 + tangent * tangent);
  const double sine = cosine * tangent;
  RotateRows(cosine, sine, columns.length, x, y);
  if (columns.right != nullptr) {
    RotateRows(cosine, sine, columns.count, columns.right + p * columns.count, columns.right + q * columns.count);
  }
  return true;
}

// The columns of pair `pair` in a round: everybody meets everybody in as many rounds as there are others.
Range PairOf(int64_t players, int64_t round, int64_t pair) {
  const int64_t others = players - 1;
  const int64_t a = pair == 0 ? others : (round + pair) % others;
  const int64_t b = (round + others - pair) % others;
  return {std::min(a, b), std::max(a, b)};
}

template <typename S>
Status RotateAll(const KernelCall& call, const Columns<S>& columns) {
  if (columns.count == 0) return Status();
  const int64_t players = columns.count + columns.count % 2;
  const double tolerance = std::numeric_limits<double>::epsilon() * Sqrt(static_cast<double>(columns.length) + 16);
  const Scratch scratch(call, players / 2);
  if (!scratch.ok()) return OutOfScratch();
  auto* const rotated = scratch.data<bool>();
  const int64_t chunk = std::max<int64_t>(kElementsPerChunk / (columns.length + columns.count), 1);
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    bool is_done = true;
    for (int64_t round = 0; round < players - 1; ++round) {
      STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, players / 2, chunk, [&](Range range) {
        for (int64_t pair = range.begin; pair < range.end; ++pair) {
          const auto [p, q] = PairOf(players, round, pair);
          rotated[pair] = q < columns.count && Orthogonalize(columns, p, q, tolerance);
        }
      }));
      for (int64_t pair = 0; pair < players / 2; ++pair) is_done = is_done && !rotated[pair];
    }
    if (is_done) break;
  }
  return Status();
}

// Adds rows to `rows`[count, length] until there are `wanted`, orthogonal to each other and to those that are there.
template <typename S>
Status Complete(const KernelCall& call, S* rows, int64_t count, int64_t wanted, int64_t length) {
  if (count == wanted) return Status();
  using Factors = Factorization<S>;
  const Scratch scratch(call, Factors::ScratchCount(length, count, wanted) * static_cast<int64_t>(sizeof(S)));
  if (!scratch.ok()) return OutOfScratch();
  const Factors factors(length, count, wanted, scratch.data<S>());
  Transpose(rows, count, length, factors.a);
  factors.Triangularize();
  factors.MakeQ();
  for (int64_t i = count; i < wanted; ++i) {
    for (int64_t j = 0; j < length; ++j) rows[i * length + j] = factors.q[j * wanted + i];
  }
  return Status();
}

// The columns of a, or of its triangular factor if it is taller than wide, as rows of `columns`; q[m, n] is that
// factorization's.
template <typename S>
void Prepare(S* a, int64_t m, int64_t n, S* columns, S* q, S* scratch) {
  if (m == n) {
    Transpose(a, n, n, columns);
    return;
  }
  const Factorization<S> factors(m, n, n, scratch);
  std::copy_n(a, m * n, factors.a);
  factors.Triangularize();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) columns[j * n + i] = i > j ? NumberOf<S>(0) : factors.a[i * n + j];
  }
  if (q == nullptr) return;
  factors.MakeQ();
  std::copy_n(factors.q, m * n, q);
}

// The lengths of the rows in descending order, and the order.
template <typename S>
void OrderByLength(const Columns<S>& columns, double* lengths, int64_t* order, double* values) {
  for (int64_t i = 0; i < columns.count; ++i) {
    const S* row = columns.rows + i * columns.length;
    lengths[i] = Sqrt(RealPart(Dot(row, row, columns.length)));
    order[i] = i;
  }
  std::sort(order, order + columns.count,
            [&](int64_t x, int64_t y) { return lengths[x] != lengths[y] ? lengths[x] > lengths[y] : x < y; });
  for (int64_t i = 0; i < columns.count; ++i) values[i] = lengths[order[i]];
}

}  // namespace

template <typename S>
Status SingularValues(const KernelCall& call, S* a, int64_t m, int64_t n, double* values, S* left, int64_t left_count,
                      S* right) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(S));
  constexpr int64_t kParts = kBytes / 8;
  int exponent = 0;
  const bool wants_vectors = left != nullptr;
  if (!FindScale(a, m * n, &exponent)) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    std::fill_n(values, n, kNan);
    if (wants_vectors) std::fill_n(reinterpret_cast<double*>(left), left_count * m * kParts, kNan);
    if (wants_vectors) std::fill_n(reinterpret_cast<double*>(right), n * n * kParts, kNan);
    return Status();
  }
  ScaleAll(a, m * n, -exponent);
  const Scratch rows(call, n * n * kBytes);
  const Scratch rotations(call, wants_vectors ? n * n * kBytes : 0);
  const Scratch factor(call, wants_vectors ? m * n * kBytes : 0);
  const Scratch memory(call, std::max(Factorization<S>::ScratchCount(m, n, n), 2 * n) * kBytes);
  if (!rows.ok() || !rotations.ok() || !factor.ok() || !memory.ok()) return OutOfScratch();
  const Columns<S> columns{rows.data<S>(), n, n, wants_vectors ? rotations.data<S>() : nullptr};
  Prepare(a, m, n, columns.rows, wants_vectors ? factor.data<S>() : nullptr, memory.data<S>());
  if (wants_vectors) {
    std::fill_n(columns.right, n * n, NumberOf<S>(0));
    for (int64_t i = 0; i < n; ++i) columns.right[i * n + i] = NumberOf<S>(1);
  }
  STILLFLOW_RETURN_IF_ERROR(RotateAll(call, columns));
  auto* const order = reinterpret_cast<int64_t*>(memory.data<double>() + n);
  OrderByLength(columns, memory.data<double>(), order, values);
  int64_t rank = 0;
  while (rank < n && values[rank] > std::numeric_limits<double>::min()) ++rank;
  if (wants_vectors) {
    for (int64_t i = 0; i < n; ++i) std::copy_n(columns.right + order[i] * n, n, right + i * n);
    for (int64_t i = 0; i < rank; ++i) {
      S* const row = columns.rows + order[i] * n;
      for (int64_t j = 0; j < n; ++j) a[i * n + j] = row[j] / values[i];
    }
    if (m == n) {
      std::copy_n(a, rank * n, left);
    } else if (rank > 0) {
      STILLFLOW_RETURN_IF_ERROR(Multiply<S>(call, rank, m, n, {a, n, 1}, {factor.data<S>(), 1, n}, left, m));
    }
    STILLFLOW_RETURN_IF_ERROR(Complete(call, left, rank, left_count, m));
  }
  for (int64_t i = 0; i < n; ++i) values[i] = std::ldexp(values[i], exponent);
  return Status();
}

template Status SingularValues<double>(const KernelCall&, double*, int64_t, int64_t, double*, double*, int64_t,
                                       double*);
template Status SingularValues<Complex128>(const KernelCall&, Complex128*, int64_t, int64_t, double*, Complex128*,
                                           int64_t, Complex128*);

}  // namespace stillflow
