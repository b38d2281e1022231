// variant.h: what elements of variant tensors hold: a data set, a tensor, and other things.
#pragma once

#include "datasets/dataset.h"

namespace stillflow {

class VariantValue : public Variant {
 public:
  VariantValue() {
    references.store(1, std::memory_order_relaxed);
    destroy = [](Variant* variant) { delete static_cast<VariantValue*>(variant); };
    add = nullptr;
    zeros_like = nullptr;
  }
  virtual ~VariantValue() = default;
  VariantValue(const VariantValue&) = delete;
  VariantValue& operator=(const VariantValue&) = delete;
};

struct DatasetVariant final : VariantValue {
  explicit DatasetVariant(DatasetPtr held) : dataset(std::move(held)) {}
  const DatasetPtr dataset;
};

struct TensorVariant final : VariantValue {
  // Takes over the caller's reference.
  explicit TensorVariant(const Tensor& held) : tensor(held) {}
  ~TensorVariant() override { Release(tensor.buffer); }
  const Tensor tensor;
};

// A data set that transformations do not take for one.
struct WrappedDatasetVariant final : VariantValue {
  explicit WrappedDatasetVariant(DatasetPtr held) : dataset(std::move(held)) {}
  const DatasetPtr dataset;
};

// Where an iterator is.
struct PositionVariant final : VariantValue {
  explicit PositionVariant(std::string held) : bytes(std::move(held)) {}
  const std::string bytes;
};

// What an element of a variant tensor holds, if it is of that kind; else null.
template <typename Kind>
const Kind* VariantAt(const Tensor& tensor, int64_t index) {
  const Variant* variant = Data<Variant*>(tensor)[index];
  return variant == nullptr ? nullptr : dynamic_cast<const Kind*>(static_cast<const VariantValue*>(variant));
}

// A variant scalar that holds `value`, which it takes over.
Status MakeVariant(const Services& services, VariantValue* value, Tensor* tensor);
Status MakeDatasetVariant(const Services& services, DatasetPtr dataset, Tensor* tensor);

// The data set in a variant scalar.
Status DatasetIn(const Tensor& tensor, DatasetPtr* dataset);

}  // namespace stillflow
