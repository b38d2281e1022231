// make_dense_hash_table: tables of values for keys that programs change, kept in buckets as TensorFlow keeps them.
//
//   in[0] a key that stands for no key; in[1] one that stands for a key that was removed; attrs: see handle.h;
//   key_dtype, value_dtype; value_shape: of one value; initial_num_buckets: a power of two; max_load_factor; out[0] a
//   handle
//
// What a table exports is all its buckets: [buckets, elements of a key], [buckets, elements of a value]. Which bucket
// a key is in follows from TensorFlow's hash and the order in which keys came: what one has saved the other reads.
#include <vector>

#include "io/fingerprint.h"
#include "kernels/guarded.h"
#include "state_kernels/spec_attrs.h"
#include "state_kernels/state/lookup_table.h"

namespace stillflow {
namespace {

constexpr int64_t kMostBuckets = int64_t{1} << 40;

struct Key {
  uint64_t hash = 0;
  std::string bytes;
};

bool operator==(const Key& a, const Key& b) { return a.hash == b.hash && a.bytes == b.bytes; }

uint64_t HashOf(const Tensor& tensor, int64_t i) {
  if (tensor.dtype == DType::kString) return io::Hash64(StringAt(tensor, i));
  return static_cast<uint64_t>(IntAt(tensor, i));
}

Key KeyAt(const Tensor& keys, int64_t row, int64_t width) {
  Key key{0, RowAt(keys, row, width)};
  if (width == 1) {
    key.hash = HashOf(keys, row);
    return key;
  }
  for (int64_t i = 0; i < width; ++i) {
    const uint64_t next = HashOf(keys, row * width + i);
    key.hash ^= next + 0x9e3779b97f4a7800 + (key.hash << 10) + (key.hash >> 4);
  }
  return key;
}

struct DenseOptions {
  DType key, value;
  Shape key_shape, value_shape;
  Key empty_key, deleted_key;
  int64_t bucket_count;
  double max_load;
};

class DenseHashTable final : public LookupTable {
 public:
  explicit DenseHashTable(DenseOptions options)
      : LookupTable(options.key, options.value),
        options_(std::move(options)),
        key_width_(options_.key_shape.Count()),
        value_width_(options_.value_shape.Count()) {
    Reset(options_.bucket_count);
  }
  const char* type() const override { return "MutableDenseHashTable"; }

  Status Import(const KernelCall&, const Tensor& keys, const Tensor& values) override {
    Shape key_row, value_row;
    key_row.Add(key_width_);
    value_row.Add(value_width_);
    STILLFLOW_RETURN_IF_ERROR(CheckPairs(*this, keys, values, key_row, value_row));
    const int64_t count = keys.rank == 2 ? keys.dims[0] : 0;
    STILLFLOW_RETURN_IF_ERROR(CheckBucketCount(count));
    std::vector<Bucket> buckets(count);
    int64_t used = 0;
    for (int64_t i = 0; i < count; ++i) {
      buckets[i] = {KeyAt(keys, i, key_width_), RowAt(values, i, value_width_)};
      if (IsUsed(buckets[i])) ++used;
    }
    const std::lock_guard<std::mutex> guard(mutex_);
    buckets_ = std::move(buckets);
    used_ = used;
    return Status();
  }

  Status Insert(const KernelCall&, const Tensor& keys, const Tensor& values) override {
    STILLFLOW_RETURN_IF_ERROR(CheckPairs(*this, keys, values, options_.key_shape, options_.value_shape));
    int64_t count = 0;
    STILLFLOW_RETURN_IF_ERROR(CountKeys(keys, &count));
    const std::lock_guard<std::mutex> guard(mutex_);
    // As if all keys were new, as TensorFlow does: which bucket a key is in depends on it.
    int64_t size = static_cast<int64_t>(buckets_.size());
    const auto is_too_small = [&] {
      return static_cast<double>(used_ + count) > static_cast<double>(size) * options_.max_load;
    };
    while (is_too_small() && size < kMostBuckets) size *= 2;
    if (size != static_cast<int64_t>(buckets_.size())) STILLFLOW_RETURN_IF_ERROR(Rebucket(size));
    for (int64_t i = 0; i < count; ++i) {
      Key key = KeyAt(keys, i, key_width_);
      STILLFLOW_RETURN_IF_ERROR(CheckKey(key));
      STILLFLOW_RETURN_IF_ERROR(Put(std::move(key), RowAt(values, i, value_width_)));
    }
    return Status();
  }

  Status Remove(const KernelCall&, const Tensor& keys) override {
    STILLFLOW_RETURN_IF_ERROR(CheckKeys(*this, keys, options_.key_shape));
    int64_t count = 0;
    STILLFLOW_RETURN_IF_ERROR(CountKeys(keys, &count));
    const std::lock_guard<std::mutex> guard(mutex_);
    for (int64_t i = 0; i < count; ++i) {
      const Key key = KeyAt(keys, i, key_width_);
      STILLFLOW_RETURN_IF_ERROR(CheckKey(key));
      int64_t place = -1;
      STILLFLOW_RETURN_IF_ERROR(Seek(key, "remove", &place));
      if (place < 0) continue;
      buckets_[place].key = options_.deleted_key;
      --used_;
    }
    return Status();
  }

  Status Find(const KernelCall& call, const Tensor& keys, const Tensor& fallback) override {
    STILLFLOW_RETURN_IF_ERROR(CheckTypes(call, *this, keys.dtype, fallback.dtype, "->"));
    STILLFLOW_RETURN_IF_ERROR(CheckKeys(*this, keys, options_.key_shape));
    if (!(Shape(fallback) == options_.value_shape)) {
      return STILLFLOW_INVALID_ARGUMENT("Expected shape %s for default value, got %s",
                                        ShapeText(options_.value_shape).c_str(), ShapeText(fallback).c_str());
    }
    int64_t count = 0;
    STILLFLOW_RETURN_IF_ERROR(CountKeys(keys, &count));
    Shape shape;
    for (int i = 0; i < keys.rank - options_.key_shape.rank; ++i) shape.Add(keys.dims[i]);
    for (int i = 0; i < options_.value_shape.rank && shape.rank < kMaxRank; ++i)
      shape.Add(options_.value_shape.dims[i]);
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, value_dtype(), shape));
    const std::string missing = RowAt(fallback, 0, value_width_);
    const std::lock_guard<std::mutex> guard(mutex_);
    for (int64_t i = 0; i < count; ++i) {
      const Key key = KeyAt(keys, i, key_width_);
      STILLFLOW_RETURN_IF_ERROR(CheckKey(key));
      int64_t place = -1;
      STILLFLOW_RETURN_IF_ERROR(Seek(key, "lookup", &place));
      const std::string& bytes = place < 0 ? missing : buckets_[place].value;
      if (!StoreRow(call, call.out[0], i, value_width_, bytes)) return OutOfScratch();
    }
    return Status();
  }

  Status Export(const KernelCall& call) override {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto count = static_cast<int64_t>(buckets_.size());
    Shape keys, values;
    keys.Add(count);
    keys.Add(key_width_);
    values.Add(count);
    values.Add(value_width_);
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, key_dtype(), keys));
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, value_dtype(), values));
    for (int64_t i = 0; i < count; ++i) {
      if (!StoreRow(call, call.out[0], i, key_width_, buckets_[i].key.bytes)) return OutOfScratch();
      if (!StoreRow(call, call.out[1], i, value_width_, buckets_[i].value)) return OutOfScratch();
    }
    return Status();
  }

  Status Size(int64_t* size) override {
    const std::lock_guard<std::mutex> guard(mutex_);
    *size = used_;
    return Status();
  }

  static Status CheckBucketCount(int64_t count) {
    if (count >= 4 && count <= kMostBuckets && (count & (count - 1)) == 0) return Status();
    return STILLFLOW_INVALID_ARGUMENT("Number of buckets must be at least 4 and a power of 2, got: %lld",
                                      static_cast<long long>(count));
  }

 private:
  struct Bucket {
    Key key;
    std::string value;
  };

  bool IsUsed(const Bucket& bucket) const {
    return !(bucket.key == options_.empty_key) && !(bucket.key == options_.deleted_key);
  }

  void Reset(int64_t size) {
    buckets_.assign(size, {options_.empty_key, EmptyRow(value_dtype(), value_width_)});
    used_ = 0;
  }

  // Keys are the rows of a tensor of one dimension more than a key.
  Status CountKeys(const Tensor& keys, int64_t* count) const {
    *count = keys.rank == 0 ? 1 : keys.dims[0];
    if (keys.count == *count * key_width_) return Status();
    Shape expected;
    expected.Add(*count);
    for (int i = 0; i < options_.key_shape.rank; ++i) expected.Add(options_.key_shape.dims[i]);
    return STILLFLOW_INVALID_ARGUMENT("Expected key shape %s got %s", ShapeText(expected).c_str(),
                                      ShapeText(keys).c_str());
  }

  Status CheckKey(const Key& key) const {
    if (key == options_.empty_key) {
      return STILLFLOW_INVALID_ARGUMENT("Using the empty_key as a table key is not allowed");
    }
    if (key == options_.deleted_key) {
      return STILLFLOW_INVALID_ARGUMENT("Using the deleted_key as a table key is not allowed");
    }
    return Status();
  }

  // The key's place, or -1. From the key's own bucket, steps to the next grow by one each.
  Status Seek(const Key& key, const char* verb, int64_t* place) const {
    const auto mask = static_cast<int64_t>(buckets_.size()) - 1;
    int64_t at = static_cast<int64_t>(key.hash & static_cast<uint64_t>(mask));
    for (int64_t probes = 0; probes <= mask; ++probes, at = (at + probes) & mask) {
      if (buckets_[at].key == key) {
        *place = at;
        return Status();
      }
      if (buckets_[at].key == options_.empty_key) {
        *place = -1;
        return Status();
      }
    }
    return Error(Code::kInternal, "Internal error in MutableDenseHashTable %s", verb);
  }

  Status Put(Key key, std::string value) {
    const auto mask = static_cast<int64_t>(buckets_.size()) - 1;
    int64_t at = static_cast<int64_t>(key.hash & static_cast<uint64_t>(mask));
    for (int64_t probes = 0; probes <= mask; ++probes, at = (at + probes) & mask) {
      if (buckets_[at].key == key) {
        buckets_[at].value = std::move(value);
        return Status();
      }
      if (!IsUsed(buckets_[at])) {
        buckets_[at] = {std::move(key), std::move(value)};
        ++used_;
        return Status();
      }
    }
    return Error(Code::kInternal, "Internal error in MutableDenseHashTable insert");
  }

  Status Rebucket(int64_t size) {
    std::vector<Bucket> before = buckets_;
    Reset(size);
    for (Bucket& bucket : before) {
      if (!IsUsed(bucket)) continue;
      STILLFLOW_RETURN_IF_ERROR(Put(std::move(bucket.key), std::move(bucket.value)));
    }
    return Status();
  }

  const DenseOptions options_;
  const int64_t key_width_, value_width_;  // elements
  std::mutex mutex_;
  std::vector<Bucket> buckets_;
  int64_t used_ = 0;
};

enum TableAttr { kKeyType = kHandleAttrs, kValueType, kValueShape, kBucketCount, kMaxLoad };

bool AreTypesOfDenseTable(DType key, DType value) {
  return AreTypesOfTable(key, value) || (key == DType::kInt64 && value == DType::kBool);
}

Status MakeDenseHashTable(const KernelCall& call) {
  DenseOptions options;
  options.key = static_cast<DType>(call.attrs[kKeyType].i);
  options.value = static_cast<DType>(call.attrs[kValueType].i);
  if (!AreTypesOfDenseTable(options.key, options.value)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "No OpKernel was registered to support 'MutableDenseHashTable' with keys of %s, values of %s",
        Name(options.key), Name(options.value));
  }
  options.max_load = call.attrs[kMaxLoad].f;
  if (!(options.max_load > 0 && options.max_load < 1)) {
    return STILLFLOW_INVALID_ARGUMENT("max_load_factor must be between 0 and 1, got: %g", options.max_load);
  }
  STILLFLOW_RETURN_IF_ERROR(ValueShapeOf(call.attrs[kValueShape], &options.value_shape));
  const Tensor& empty = *call.in[0];
  const Tensor& deleted = *call.in[1];
  if (empty.rank > 1) {
    return STILLFLOW_INVALID_ARGUMENT("Empty key must be a scalar or a vector, got shape %s",
                                      ShapeText(empty).c_str());
  }
  if (!(Shape(empty) == Shape(deleted)) || empty.dtype != options.key || deleted.dtype != options.key) {
    return STILLFLOW_INVALID_ARGUMENT("Empty and deleted keys must have same shape, got shapes: %s and %s",
                                      ShapeText(empty).c_str(), ShapeText(deleted).c_str());
  }
  options.key_shape = Shape(empty);
  options.empty_key = KeyAt(empty, 0, empty.count);
  options.deleted_key = KeyAt(deleted, 0, deleted.count);
  if (options.empty_key == options.deleted_key) {
    return STILLFLOW_INVALID_ARGUMENT("Empty and deleted keys cannot be equal");
  }
  options.bucket_count = call.attrs[kBucketCount].i;
  STILLFLOW_RETURN_IF_ERROR(DenseHashTable::CheckBucketCount(options.bucket_count));
  return OutputTable(call, "MutableDenseHashTable", options.key, options.value,
                     [&] { return std::make_shared<DenseHashTable>(options); });
}

}  // namespace

STILLFLOW_KERNELS(state, dense_hash_table){
    {"make_dense_hash_table",
     "empty_key, deleted_key | " STILLFLOW_HANDLE_ATTRS
     ", key_dtype, value_dtype, value_shape, initial_num_buckets, max_load_factor",
     Guarded<MakeDenseHashTable>, nullptr, nullptr, HandleState::New, HandleState::Free},
    {}};

}  // namespace stillflow
