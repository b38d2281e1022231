// make_mutable_hash_table, make_mutable_hash_table_of_tensors: tables of values for keys that programs change.
//
//   attrs: see handle.h; key_dtype, value_dtype; of tensors value_shape: of one value, [n]; out[0] a handle
//
// What a table exports is in the order in which its keys came.
#include <list>
#include <unordered_map>

#include "kernels/guarded.h"
#include "state_kernels/spec_attrs.h"
#include "state_kernels/state/lookup_table.h"

namespace stillflow {
namespace {

class MutableHashTable final : public LookupTable {
 public:
  MutableHashTable(const char* type, DType key, DType value, const Shape& value_shape)
      : LookupTable(key, value), type_(type), value_shape_(value_shape), width_(value_shape.Count()) {}
  const char* type() const override { return type_; }
  const Shape& value_shape() const { return value_shape_; }

  Status Import(const KernelCall& call, const Tensor& keys, const Tensor& values) override {
    STILLFLOW_RETURN_IF_ERROR(CheckPairs(*this, keys, values, Shape(), value_shape_));
    const std::lock_guard<std::mutex> guard(mutex_);
    places_.clear();
    pairs_.clear();
    return Put(call, keys, values);
  }

  Status Insert(const KernelCall& call, const Tensor& keys, const Tensor& values) override {
    STILLFLOW_RETURN_IF_ERROR(CheckPairs(*this, keys, values, Shape(), value_shape_));
    const std::lock_guard<std::mutex> guard(mutex_);
    return Put(call, keys, values);
  }

  Status Remove(const KernelCall&, const Tensor& keys) override {
    STILLFLOW_RETURN_IF_ERROR(CheckKeys(*this, keys, Shape()));
    const std::lock_guard<std::mutex> guard(mutex_);
    for (int64_t i = 0; i < keys.count; ++i) {
      const auto found = places_.find(BytesAt(keys, i));
      if (found == places_.end()) continue;
      pairs_.erase(found->second);
      places_.erase(found);
    }
    return Status();
  }

  Status Find(const KernelCall& call, const Tensor& keys, const Tensor& fallback) override {
    STILLFLOW_RETURN_IF_ERROR(CheckTypes(call, *this, keys.dtype, fallback.dtype, "->"));
    if (!(Shape(fallback) == value_shape_)) {
      return STILLFLOW_INVALID_ARGUMENT("Expected shape %s for default value, got %s",
                                        ShapeText(value_shape_).c_str(), ShapeText(fallback).c_str());
    }
    Shape shape(keys);
    if (value_shape_.rank > 0) {
      if (shape.rank >= kMaxRank) return STILLFLOW_INVALID_ARGUMENT("Keys of rank %d are too deep", shape.rank);
      shape.Add(value_shape_.dims[0]);
    }
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, value_dtype(), shape));
    const std::string missing = RowAt(fallback, 0, width_);
    const std::lock_guard<std::mutex> guard(mutex_);
    for (int64_t i = 0; i < keys.count; ++i) {
      const auto found = places_.find(BytesAt(keys, i));
      const std::string& bytes = found == places_.end() ? missing : found->second->second;
      if (!StoreRow(call, call.out[0], i, width_, bytes)) return OutOfScratch();
    }
    return Status();
  }

  Status Export(const KernelCall& call) override {
    const std::lock_guard<std::mutex> guard(mutex_);
    Shape shape;
    shape.Add(static_cast<int64_t>(pairs_.size()));
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, key_dtype(), shape));
    if (value_shape_.rank > 0) shape.Add(value_shape_.dims[0]);
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, value_dtype(), shape));
    int64_t i = 0;
    for (const auto& [key, value] : pairs_) {
      if (!StoreAt(call, call.out[0], i, key) || !StoreRow(call, call.out[1], i, width_, value))
        return OutOfScratch();
      ++i;
    }
    return Status();
  }

  Status Size(int64_t* size) override {
    const std::lock_guard<std::mutex> guard(mutex_);
    *size = static_cast<int64_t>(pairs_.size());
    return Status();
  }

 private:
  using Pairs = std::list<std::pair<std::string, std::string>>;

  Status Put(const KernelCall&, const Tensor& keys, const Tensor& values) {
    for (int64_t i = 0; i < keys.count; ++i) {
      std::string key = BytesAt(keys, i);
      std::string value = RowAt(values, i, width_);
      const auto found = places_.find(key);
      if (found != places_.end()) {
        found->second->second = std::move(value);
        continue;
      }
      pairs_.emplace_back(key, std::move(value));
      places_.emplace(std::move(key), std::prev(pairs_.end()));
    }
    return Status();
  }

  const char* const type_;
  const Shape value_shape_;
  const int64_t width_;  // elements of a value
  std::mutex mutex_;
  Pairs pairs_;
  std::unordered_map<std::string, Pairs::iterator> places_;
};

enum TableAttr { kKeyType = kHandleAttrs, kValueType, kValueShape };

Status OutputMutableTable(const KernelCall& call, const char* type, const Shape& value_shape) {
  const auto key = static_cast<DType>(call.attrs[kKeyType].i);
  const auto value = static_cast<DType>(call.attrs[kValueType].i);
  if (!AreTypesOfTable(key, value)) {
    return STILLFLOW_INVALID_ARGUMENT("No OpKernel was registered to support '%s' with keys of %s, values of %s",
                                      type, Name(key), Name(value));
  }
  return OutputTable(call, type, key, value,
                     [&] { return std::make_shared<MutableHashTable>(type, key, value, value_shape); });
}

Status MakeMutableHashTable(const KernelCall& call) { return OutputMutableTable(call, "MutableHashTable", Shape()); }

Status MakeMutableHashTableOfTensors(const KernelCall& call) {
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ValueShapeOf(call.attrs[kValueShape], &shape));
  if (shape.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Default value must be a vector, got shape %s", ShapeText(shape).c_str());
  }
  return OutputMutableTable(call, "MutableHashTableOfTensors", shape);
}

}  // namespace

STILLFLOW_KERNELS(state, mutable_hash_table){
    {"make_mutable_hash_table", "| " STILLFLOW_HANDLE_ATTRS ", key_dtype, value_dtype", Guarded<MakeMutableHashTable>,
     nullptr, nullptr, HandleState::New, HandleState::Free},
    {"make_mutable_hash_table_of_tensors", "| " STILLFLOW_HANDLE_ATTRS ", key_dtype, value_dtype, value_shape",
     Guarded<MakeMutableHashTableOfTensors>, nullptr, nullptr, HandleState::New, HandleState::Free},
    {}};

}  // namespace stillflow
