#include "datasets/variant.h"

namespace stillflow {

Status MakeVariant(const Services& services, VariantValue* value, Tensor* tensor) {
  Status status = Allocate(services, DType::kVariant, Shape(), tensor);
  if (!status.ok()) {
    delete value;
    return status;
  }
  MutableData<Variant*>(*tensor)[0] = value;
  return Status();
}

Status MakeDatasetVariant(const Services& services, DatasetPtr dataset, Tensor* tensor) {
  return MakeVariant(services, new DatasetVariant(std::move(dataset)), tensor);
}

Status DatasetIn(const Tensor& tensor, DatasetPtr* dataset) {
  if (tensor.dtype != DType::kVariant || tensor.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Dataset tensor must be a scalar of dtype DT_VARIANT.");
  }
  const auto* held = VariantAt<DatasetVariant>(tensor, 0);
  if (held == nullptr) return STILLFLOW_INVALID_ARGUMENT("Tensor must be a Dataset object.");
  *dataset = held->dataset;
  return Status();
}

}  // namespace stillflow
