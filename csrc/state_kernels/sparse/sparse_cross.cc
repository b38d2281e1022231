// sparse_cross: for each row of several columns of features all combinations of one feature of each.
//
//   in[0...N)        int64[n, 2] indices of sparse columns, by row
//   in[N...2N)       string | int64 [n] their values
//   in[2N...3N)      int64[2] their shapes
//   in[3N...)        string | int64 [rows, width] dense columns
//   attrs            N, num_buckets, hash_key, out_type: string: the features put together with "_X_"; int64: their
//                    hash, one of num_buckets (of 2^63 - 1 if that is 0); by_shifts: whether hashes are combined as
//                    in SparseFeatureCross, the first of these ops
//   out[0], out[1], out[2]  the indices, values and shape of the combinations; the last column's feature changes
//   first
//
// Rows are independent; each combination's place is counted beforehand.
#include <string>
#include <vector>

#include "io/fingerprint.h"
#include "kernel_api/sparse_tensor.h"
#include "kernels/guarded.h"

namespace stillflow {
namespace {

constexpr int64_t kRowsPerChunk = 128;
constexpr uint64_t kLargest = INT64_MAX;

// The features of one column.
struct Column {
  const Tensor* values = nullptr;
  const int64_t* starts = nullptr;  // of each row's features, and the end of the last row's; null if dense
  int64_t width = 0;                // of a dense column

  int64_t Start(int64_t row) const { return starts == nullptr ? row * width : starts[row]; }
  int64_t Count(int64_t row) const { return starts == nullptr ? width : starts[row + 1] - starts[row]; }
};

struct Columns {
  std::vector<Column> columns;
  std::vector<std::vector<int64_t>> starts;
  int64_t rows = 0;
};

Status CheckSparse(const Tensor& indices, const Tensor& values, const Tensor& shape, int64_t rows, int position) {
  if (indices.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Input indices should be a matrix but received shape %s at position %d",
                                      ShapeText(indices).c_str(), position);
  }
  if (indices.dims[1] != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Expected D2 of index to be 2 got %lld at position %d",
                                      static_cast<long long>(indices.dims[1]), position);
  }
  if (values.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input values should be a std::vector but received shape %s at position %d",
                                      ShapeText(values).c_str(), position);
  }
  if (indices.dims[0] != values.count) {
    return STILLFLOW_INVALID_ARGUMENT("Expected size of values to be %lld got %lld at position %d",
                                      static_cast<long long>(indices.dims[0]), static_cast<long long>(values.count),
                                      position);
  }
  if (shape.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input shapes should be a std::vector but received shape %s at position %d",
                                      ShapeText(shape).c_str(), position);
  }
  if (shape.count != 2) {
    return STILLFLOW_INVALID_ARGUMENT("shape should imply a 2D tensor, but got %s at position %d",
                                      ShapeText(shape).c_str(), position);
  }
  if (Data<int64_t>(shape)[0] != rows) {
    return STILLFLOW_INVALID_ARGUMENT("Expected batch size %lld got %lld at position %d",
                                      static_cast<long long>(rows), static_cast<long long>(Data<int64_t>(shape)[0]),
                                      position);
  }
  return Status();
}

Status CheckDense(const Tensor& dense, int64_t rows, int position) {
  if (dense.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Dense inputs should be a matrix but received shape %s at position %d",
                                      ShapeText(dense).c_str(), position);
  }
  if (dense.dims[0] != rows) {
    return STILLFLOW_INVALID_ARGUMENT("Expected batch size %lld got %lld at dense tensor %d",
                                      static_cast<long long>(rows), static_cast<long long>(dense.dims[0]), position);
  }
  return Status();
}

// Where the features of each row begin. Entries of other rows than the next one stop the walk, as in TensorFlow.
std::vector<int64_t> RowStarts(const Entries& entries, int64_t rows) {
  std::vector<int64_t> starts(rows + 1);
  int64_t at = 0;
  for (int64_t row = 0; row < rows; ++row) {
    starts[row] = at;
    while (at < entries.count && entries[at][0] == row) ++at;
  }
  starts[rows] = at;
  return starts;
}

Status ReadColumns(const KernelCall& call, Columns* found) {
  const auto sparse_count = static_cast<int>(call.attrs[0].i);
  const Tensor* const* const indices = call.in;
  const Tensor* const* const values = indices + sparse_count;
  const Tensor* const* const shapes = values + sparse_count;
  const Tensor* const* const dense = shapes + sparse_count;
  const int dense_count = call.in_count - 3 * sparse_count;
  if (sparse_count > 0 && shapes[0]->count > 0) {
    found->rows = Data<int64_t>(*shapes[0])[0];
  } else if (dense_count > 0 && dense[0]->rank > 0) {
    found->rows = dense[0]->dims[0];
  }
  for (int i = 0; i < sparse_count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(CheckSparse(*indices[i], *values[i], *shapes[i], found->rows, i));
  }
  for (int i = 0; i < dense_count; ++i) STILLFLOW_RETURN_IF_ERROR(CheckDense(*dense[i], found->rows, i));
  if (found->rows < 0) {
    return STILLFLOW_INVALID_ARGUMENT("Expected a batch size of at least 0 got %lld",
                                      static_cast<long long>(found->rows));
  }
  for (int i = 0; i < sparse_count; ++i) found->starts.push_back(RowStarts(Entries(*indices[i]), found->rows));
  for (int i = 0; i < sparse_count; ++i) found->columns.push_back({values[i], found->starts[i].data(), 0});
  for (int i = 0; i < dense_count; ++i) found->columns.push_back({dense[i], nullptr, dense[i]->dims[1]});
  return Status();
}

// How many combinations a row has; -1 for more than can be counted.
int64_t CountCrosses(const Columns& columns, int64_t row) {
  int64_t count = 1;
  for (const Column& column : columns.columns) {
    if (__builtin_mul_overflow(count, column.Count(row), &count)) return -1;
  }
  return count;
}

// ---- What a combination becomes -----------------------------------------------------------------------------------

uint64_t ShiftMix(uint64_t value) { return value ^ (value >> 47); }

// TensorFlow's FingerprintCat64.
uint64_t CombineHashes(uint64_t first, uint64_t second) {
  constexpr uint64_t kMul = 0xc6a4a7935bd1e995ULL;
  uint64_t result = first ^ kMul;
  result ^= ShiftMix(second * kMul) * kMul;
  result *= kMul;
  return ShiftMix(ShiftMix(result) * kMul);
}

// That of SparseFeatureCross, in which the first hash is signed.
uint64_t CombineByShifts(uint64_t first, uint64_t second) {
  return first ^
         (second + 0x9e3779b97f4a7800ULL + (first << 10) + static_cast<uint64_t>(static_cast<int64_t>(first) >> 4));
}

template <uint64_t (*kCombine)(uint64_t, uint64_t)>
class Hashes {
 public:
  using Prefix = uint64_t;
  explicit Hashes(const KernelCall& call)
      : buckets_(call.attrs[1].i > 0 ? static_cast<uint64_t>(call.attrs[1].i) : kLargest),
        key_(static_cast<uint64_t>(call.attrs[2].i)),
        out_(MutableData<int64_t>(*call.out[1])) {}
  Prefix Begin() const { return key_; }
  Prefix Add(Prefix prefix, int, const Tensor& values, int64_t at) const {
    const bool is_text = values.dtype == DType::kString;
    return kCombine(
        prefix, is_text ? io::Fingerprint64(StringAt(values, at)) : static_cast<uint64_t>(Data<int64_t>(values)[at]));
  }
  bool Write(Prefix prefix, int64_t at) const {
    out_[at] = static_cast<int64_t>(prefix % buckets_);
    return true;
  }

 private:
  uint64_t buckets_;
  uint64_t key_;
  int64_t* out_;
};

class Texts {
 public:
  using Prefix = std::string;
  explicit Texts(const KernelCall& call) : call_(call) {}
  Prefix Begin() const { return Prefix(); }
  Prefix Add(const Prefix& prefix, int column, const Tensor& values, int64_t at) const {
    Prefix text = prefix;
    if (column > 0) text += "_X_";
    if (values.dtype == DType::kString) {
      const io::Bytes bytes = StringAt(values, at);
      text.append(reinterpret_cast<const char*>(bytes.data), bytes.size);
    } else {
      text += std::to_string(Data<int64_t>(values)[at]);
    }
    return text;
  }
  bool Write(const Prefix& prefix, int64_t at) const {
    return SetString(call_, call_.out[1], at, prefix.data(), static_cast<int64_t>(prefix.size()));
  }

 private:
  const KernelCall& call_;
};

// Writes the combinations of a row from `at` on. `prefixes` has what is made of the first columns of the last one.
template <typename Maker>
bool CrossRow(const Maker& maker, const Columns& found, int64_t row, int64_t count, int64_t at, int64_t* indices) {
  const auto& columns = found.columns;
  const int width = static_cast<int>(columns.size());
  std::vector<int64_t> chosen(width, 0);
  std::vector<typename Maker::Prefix> prefixes(width + 1, maker.Begin());
  int changed = 0;  // the first column whose feature is another one
  for (int64_t number = 0; number < count; ++number) {
    for (int i = changed; i < width; ++i) {
      prefixes[i + 1] = maker.Add(prefixes[i], i, *columns[i].values, columns[i].Start(row) + chosen[i]);
    }
    indices[2 * (at + number)] = row;
    indices[2 * (at + number) + 1] = number;
    if (!maker.Write(prefixes[width], at + number)) return false;
    for (changed = width - 1; changed >= 0; --changed) {
      if (++chosen[changed] < columns[changed].Count(row)) break;
      chosen[changed] = 0;
    }
    changed = std::max(changed, 0);
  }
  return true;
}

template <typename Maker>
Status CrossAll(const KernelCall& call, const Columns& columns, const std::vector<int64_t>& ends) {
  const Maker maker(call);
  auto* indices = MutableData<int64_t>(*call.out[0]);
  return ForEachChunk(call, columns.rows, kRowsPerChunk, [&](Range range) {
    return CatchingOutOfMemory([&] {
      for (int64_t row = range.begin; row < range.end; ++row) {
        const int64_t begin = row == 0 ? 0 : ends[row - 1];
        if (!CrossRow(maker, columns, row, ends[row] - begin, begin, indices)) return OutOfScratch();
      }
      return Status();
    });
  });
}

Status SparseCross(const KernelCall& call) {
  const auto out_type = static_cast<DType>(call.attrs[3].i);
  if (call.attrs[1].i < 0) return STILLFLOW_INVALID_ARGUMENT("num_buckets must be at least 0");
  Columns columns;
  STILLFLOW_RETURN_IF_ERROR(ReadColumns(call, &columns));
  std::vector<int64_t> ends(columns.rows);
  int64_t total = 0;
  int64_t most = 0;
  for (int64_t row = 0; row < columns.rows; ++row) {
    const int64_t count = CountCrosses(columns, row);
    if (count < 0 || __builtin_add_overflow(total, count, &total)) return OutOfScratch();
    most = std::max(most, count);
    ends[row] = total;
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateMatrix(call, 0, DType::kInt64, total, 2));
  STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, 1, out_type, total));
  STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, 2, DType::kInt64, 2));
  auto* shape = MutableData<int64_t>(*call.out[2]);
  shape[0] = columns.rows;
  shape[1] = most;
  if (out_type == DType::kString) return CrossAll<Texts>(call, columns, ends);
  return call.attrs[4].i != 0 ? CrossAll<Hashes<CombineByShifts>>(call, columns, ends)
                              : CrossAll<Hashes<CombineHashes>>(call, columns, ends);
}

}  // namespace

STILLFLOW_KERNELS(sparse, sparse_cross){
    {"sparse_cross", "inputs... | N, num_buckets, hash_key, out_type, by_shifts", Guarded<SparseCross>}, {}};

}  // namespace stillflow
