// optional_from_value, optional_none, optional_has_value, optional_get_value: values that may be none.
// wrap_dataset_variant, unwrap_dataset_variant: data sets as values.
//
//   optional_from_value  in[...] the components of a value; out[0] a variant scalar that holds it
//   optional_none        out[0] a variant scalar that holds none
//   optional_has_value   in[0] such a variant; out[0] a bool scalar
//   optional_get_value   in[0] such a variant; out[...] the components; attrs output_types, output_shapes
#include "state_kernels/data/optional.h"

#include "kernels/guarded.h"
#include "state_kernels/control_flow/tensor_list.h"
#include "state_kernels/spec_attrs.h"

namespace stillflow {
namespace {

const OptionalVariant& OptionalOf(const Variant& variant) { return static_cast<const OptionalVariant&>(variant); }

Status AddOptionals(const Services& services, const Variant& left, const Variant& right, Variant** sum) {
  const Tuple* a = OptionalOf(left).value.get();
  const Tuple* b = OptionalOf(right).value.get();
  if ((a == nullptr) != (b == nullptr)) {
    return STILLFLOW_INVALID_ARGUMENT("Cannot add optionals because one has a value and the other doesn't.");
  }
  if (a != nullptr && a->size() != b->size()) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Cannot add optionals because they have different numbers of components (%d vs. "
        "%d).",
        static_cast<int>(a->size()), static_cast<int>(b->size()));
  }
  std::unique_ptr<Tuple> made;
  if (a != nullptr) {
    made = std::make_unique<Tuple>(a->size());
    for (size_t i = 0; i < a->size(); ++i) {
      STILLFLOW_RETURN_IF_ERROR(AddTensors(services, (*a)[i], (*b)[i], &(*made)[i]));
    }
  }
  *sum = new OptionalVariant(std::move(made));
  return Status();
}

Status ZerosLikeOptional(const Services& services, const Variant& variant, Variant** zeros) {
  const Tuple* value = OptionalOf(variant).value.get();
  std::unique_ptr<Tuple> made;
  if (value != nullptr) {
    made = std::make_unique<Tuple>(value->size());
    for (size_t i = 0; i < value->size(); ++i) {
      STILLFLOW_RETURN_IF_ERROR(MakeZerosLike(services, (*value)[i], &(*made)[i]));
    }
  }
  *zeros = new OptionalVariant(std::move(made));
  return Status();
}

Status FromValue(const KernelCall& call) {
  Tuple value(call.in_count);
  for (int i = 0; i < call.in_count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(KeepTensor(*call.services, *call.in[i], &value[i]));
  }
  return MakeVariant(*call.services, new OptionalVariant(std::make_unique<const Tuple>(std::move(value))),
                     call.out[0]);
}

Status None(const KernelCall& call) { return MakeVariant(*call.services, new OptionalVariant(nullptr), call.out[0]); }

Status OptionalIn(const Tensor& tensor, const OptionalVariant** optional) {
  *optional = tensor.rank == 0 ? VariantAt<OptionalVariant>(tensor, 0) : nullptr;
  return *optional != nullptr ? Status()
                              : STILLFLOW_INVALID_ARGUMENT(
                                    "The input is not an OptionalVariant: it has shape %s, or holds something else",
                                    ShapeText(tensor).c_str());
}

Status HasValue(const KernelCall& call) {
  const OptionalVariant* optional = nullptr;
  STILLFLOW_RETURN_IF_ERROR(OptionalIn(*call.in[0], &optional));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kBool, Shape()));
  *MutableData<bool>(*call.out[0]) = optional->value != nullptr;
  return Status();
}

Status GetValue(const KernelCall& call) {
  const OptionalVariant* optional = nullptr;
  STILLFLOW_RETURN_IF_ERROR(OptionalIn(*call.in[0], &optional));
  if (optional->value == nullptr) {
    return STILLFLOW_INVALID_ARGUMENT("The given optional does not have a value.");
  }
  const Tuple& value = *optional->value;
  const TupleSpec spec = SpecOf(call.attrs[0], call.attrs[1]);
  if (value.size() != spec.size()) {
    return STILLFLOW_INVALID_ARGUMENT("The given optional has %d components, expected %d.",
                                      static_cast<int>(value.size()), static_cast<int>(spec.size()));
  }
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i].dtype != spec.types[i]) {
      return STILLFLOW_INVALID_ARGUMENT(
          "The given optional does not match the expected type for component %d. "
          "Expected: %s. Actual: %s.",
          static_cast<int>(i), Name(spec.types[i]), Name(value[i].dtype));
    }
    if (!spec.shapes[i].Fits(value[i])) {
      return STILLFLOW_INVALID_ARGUMENT(
          "The given optional does not match the expected shape for component %d. "
          "Expected: %s. Actual: %s.",
          static_cast<int>(i), TextOf(spec.shapes[i]).c_str(), ShapeText(value[i]).c_str());
    }
  }
  for (size_t i = 0; i < value.size(); ++i) {
    *call.out[i] = value[i];
    Retain(value[i].buffer);
  }
  return Status();
}

Status Wrap(const KernelCall& call) {
  DatasetPtr dataset;
  STILLFLOW_RETURN_IF_ERROR(DatasetIn(*call.in[0], &dataset));
  return MakeVariant(*call.services, new WrappedDatasetVariant(std::move(dataset)), call.out[0]);
}

Status Unwrap(const KernelCall& call) {
  const Tensor& tensor = *call.in[0];
  const auto* wrapped = tensor.rank == 0 ? VariantAt<WrappedDatasetVariant>(tensor, 0) : nullptr;
  if (wrapped == nullptr) {
    return STILLFLOW_INVALID_ARGUMENT("Tensor must be a WrappedDataset variant object.");
  }
  return MakeDatasetVariant(*call.services, wrapped->dataset, call.out[0]);
}

}  // namespace

OptionalVariant::OptionalVariant(std::unique_ptr<const Tuple> held) : value(std::move(held)) {
  add = AddOptionals;
  zeros_like = ZerosLikeOptional;
}

STILLFLOW_KERNELS(data, optional){{"optional_from_value", "components...", Guarded<FromValue>},
                                  {"optional_none", "", Guarded<None>},
                                  {"optional_has_value", "optional", Guarded<HasValue>},
                                  {"optional_get_value", "optional | output_types, output_shapes", Guarded<GetValue>},
                                  {"wrap_dataset_variant", "input_handle", Guarded<Wrap>},
                                  {"unwrap_dataset_variant", "input_handle", Guarded<Unwrap>},
                                  {}};

}  // namespace stillflow
