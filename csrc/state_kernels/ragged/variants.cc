// ragged_tensor_to_variant, ragged_tensor_from_variant: ragged tensors as variants, which data sets hold.
//
//   to_variant    in[0..n) nested splits; in[n] values; out[0] a variant scalar of all, or, if batched, a vector of
//                 one for each row; attr batched_input
//   from_variant  in[0] variants, dense; out[0..m) nested splits, out[m] values, stacked along the variants'
//                 dimensions; attrs input_ragged_rank, output_ragged_rank, Tvalues, Tsplits
//
// A variant holds a vector of variants, which hold the splits and the values.
#include <algorithm>
#include <vector>

#include "state_kernels/data/arguments.h"
#include "state_kernels/ragged/splits.h"

namespace stillflow {
namespace {

// Makes element `index` of a variant tensor hold `value`, which it takes over.
void Hold(Tensor* tensor, int64_t index, Tensor* value) {
  MutableData<Variant*>(*tensor)[index] = new TensorVariant(*value);
  value->buffer = nullptr;
}

// Puts a vector of the parts into element `index` of a variant tensor.
Status HoldParts(const Services& services, Tuple* parts, Tensor* tensor, int64_t index) {
  const auto count = static_cast<int64_t>(parts->size());
  Tuple list(1);
  STILLFLOW_RETURN_IF_ERROR(Allocate(services, DType::kVariant, ShapeOfVector(count), &list[0]));
  for (int64_t i = 0; i < count; ++i) Hold(&list[0], i, &(*parts)[i]);
  Hold(tensor, index, &list[0]);
  return Status();
}

Status CheckSplits(const KernelCall& call, int level_count) {
  for (int level = 0; level < level_count; ++level) {
    const Tensor& splits = *call.in[level];
    const int64_t parts = level + 1 < level_count ? call.in[level + 1]->count - 1 : call.in[level_count]->dims[0];
    bool fits = splits.count > 0 && IntAt(splits, 0) == 0 && IntAt(splits, splits.count - 1) <= parts;
    for (int64_t i = 1; fits && i < splits.count; ++i) fits = IntAt(splits, i - 1) <= IntAt(splits, i);
    if (!fits)
      return STILLFLOW_INVALID_ARGUMENT("Ragged splits must be sorted, from 0 to at most %lld",
                                        static_cast<long long>(parts));
  }
  return Status();
}

// The splits of levels below the first, and the values, of row `row`.
Status PartsOfRow(const KernelCall& call, int level_count, int64_t row, Tuple* parts) {
  const Tensor& values = *call.in[level_count];
  parts->Reset(level_count);
  int64_t begin = IntAt(*call.in[0], row);
  int64_t end = IntAt(*call.in[0], row + 1);
  for (int level = 1; level < level_count; ++level) {
    const Tensor& splits = *call.in[level];
    Tensor& part = (*parts)[level - 1];
    STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, splits.dtype, ShapeOfVector(end - begin + 1), &part));
    const int64_t first = IntAt(splits, begin);
    for (int64_t i = begin; i <= end; ++i) SetIntAt(&part, i - begin, IntAt(splits, i) - first);
    end = IntAt(splits, end);
    begin = first;
  }
  Shape shape(values);
  shape.dims[0] = end - begin;
  Tensor& part = (*parts)[level_count - 1];
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, values.dtype, shape, &part));
  const int64_t width = shape.Count(1, shape.rank);
  CopyElements(values, begin * width, (end - begin) * width, &part, 0);
  return Status();
}

Status ToVariant(const KernelCall& call) {
  const int level_count = call.in_count - 1;
  if (call.in[level_count]->rank == 0) {
    return STILLFLOW_INVALID_ARGUMENT("The values of a ragged tensor must have at least rank 1");
  }
  if (call.attrs[0].i == 0) {
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kVariant, Shape()));
    Tuple parts(call.in_count);
    for (int i = 0; i < call.in_count; ++i) {
      STILLFLOW_RETURN_IF_ERROR(KeepTensor(*call.services, *call.in[i], &parts[i]));
    }
    return HoldParts(*call.services, &parts, call.out[0], 0);
  }
  STILLFLOW_RETURN_IF_ERROR(CheckSplits(call, level_count));
  const int64_t rows = call.in[0]->count - 1;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kVariant, ShapeOfVector(rows)));
  Tuple parts;
  for (int64_t row = 0; row < rows; ++row) {
    STILLFLOW_RETURN_IF_ERROR(PartsOfRow(call, level_count, row, &parts));
    STILLFLOW_RETURN_IF_ERROR(HoldParts(*call.services, &parts, call.out[0], row));
  }
  return Status();
}

// ---- Back to a ragged tensor --------------------------------------------------------------------------------------

struct Component {
  std::vector<const Tensor*> splits;  // none for an empty row
  const Tensor* values;
};

Status ReadComponent(const Tensor& encoded, int64_t index, int ragged_rank, DType dtype, DType splits_dtype,
                     Component* component) {
  const auto place = static_cast<long long>(index);
  const auto* list = VariantAt<TensorVariant>(encoded, index);
  if (list == nullptr || list->tensor.dtype != DType::kVariant) {
    return STILLFLOW_INVALID_ARGUMENT("Input Variant element at index %lld doesn't hold a Tensor", place);
  }
  const Tensor& parts = list->tensor;
  if (parts.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Encoded input Variant must have rank 1, but found rank: %d", parts.rank);
  }
  if (parts.count != ragged_rank + 1 && parts.count != 1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Encoded input Variant must hold either input_ragged_rank + 1 Tensors or an empty Tensor (zero splits "
        "Tensors, 1 values Tensor), input_ragged_rank: %d",
        ragged_rank);
  }
  for (int64_t i = 0; i < parts.count; ++i) {
    const bool is_values = i + 1 == parts.count;
    const auto* held = VariantAt<TensorVariant>(parts, i);
    if (held == nullptr) {
      return STILLFLOW_INVALID_ARGUMENT("Encoded scalar element at index %lld doesn't have a %s Tensor", place,
                                        is_values ? "values" : "splits");
    }
    const Tensor& part = held->tensor;
    const DType expected = is_values ? dtype : splits_dtype;
    if (part.dtype != expected) {
      return STILLFLOW_INVALID_ARGUMENT("Expected %s Tensor dtype: %s, found: %s", is_values ? "values" : "splits",
                                        Name(expected), Name(part.dtype));
    }
    if (is_values ? part.rank < 1 : part.rank != 1 || part.count == 0) {
      return STILLFLOW_INVALID_ARGUMENT("Ragged %s; encoded scalar element at index %lld has %s Tensor: %s",
                                        is_values ? "values must have rank >= 1" : "splits must have rank 1", place,
                                        is_values ? "values" : "splits", ShapeText(part).c_str());
    }
    if (is_values) {
      component->values = &part;
    } else {
      component->splits.push_back(&part);
    }
  }
  return Status();
}

Status OutputStackedSplits(const KernelCall& call, const std::vector<Component>& all, int first, int input_rank,
                           DType dtype) {
  if (first >= 0) {
    std::vector<int64_t> rows(1, 0);
    for (const Component& each : all) {
      const bool has_splits = !each.splits.empty();
      rows.push_back(rows.back() + (has_splits ? each.splits[0]->count - 1 : each.values->dims[0]));
    }
    STILLFLOW_RETURN_IF_ERROR(OutputSplits(call, first, dtype, rows));
  }
  for (int level = 0; level < input_rank; ++level) {
    std::vector<int64_t> splits(1, 0);
    for (const Component& each : all) {
      if (each.splits.empty()) continue;
      const int64_t offset = splits.back();
      const Tensor& own = *each.splits[level];
      for (int64_t i = 1; i < own.count; ++i) splits.push_back(offset + IntAt(own, i));
    }
    STILLFLOW_RETURN_IF_ERROR(OutputSplits(call, first + 1 + level, dtype, splits));
  }
  return Status();
}

Status OutputStackedValues(const KernelCall& call, const std::vector<Component>& all, DType dtype) {
  const int out = call.out_count - 1;
  Shape shape;
  shape.Add(0);
  if (!all.empty()) {
    shape = Shape(*all[0].values);
    for (size_t i = 1; i < all.size(); ++i) {
      const Tensor& values = *all[i].values;
      if (values.rank != shape.rank) {
        return STILLFLOW_INVALID_ARGUMENT(
            "Rank of values must match for all components; values shape at index 0: %s, values shape at index %lld: "
            "%s",
            ShapeText(*all[0].values).c_str(), static_cast<long long>(i), ShapeText(values).c_str());
      }
      if (!std::equal(values.dims + 1, values.dims + values.rank, shape.dims + 1)) {
        return STILLFLOW_INVALID_ARGUMENT("Values of shape %s at index %lld cannot be stacked with those of shape %s",
                                          ShapeText(values).c_str(), static_cast<long long>(i),
                                          ShapeText(*all[0].values).c_str());
      }
      shape.dims[0] += values.dims[0];
    }
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, dtype, shape));
  int64_t next = 0;
  for (const Component& each : all) {
    CopyElements(*each.values, 0, each.values->count, call.out[out], next);
    next += each.values->count;
  }
  return Status();
}

Status FromVariant(const KernelCall& call) {
  const Tensor& encoded = *call.in[0];
  const auto output_rank = static_cast<int>(call.attrs[1].i);
  auto input_rank = static_cast<int>(call.attrs[0].i);
  const auto dtype = static_cast<DType>(call.attrs[2].i);
  const auto splits_dtype = static_cast<DType>(call.attrs[3].i);
  if (input_rank == -1) {
    input_rank = output_rank - encoded.rank;
    if (input_rank < 0) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Inferred input_ragged_rank (output_ragged_rank - encoded_variant.dims()) must be >= 0, found "
          "output_ragged_rank: %d, encoded_variant.dims(): %d, inferred input_ragged_rank: %d",
          output_rank, encoded.rank, input_rank);
    }
  }
  if (output_rank != input_rank + encoded.rank || call.out_count != output_rank + 1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); output_ragged_rank: %d, "
        "input_ragged_rank: %d, encoded_variant.dims(): %d.",
        output_rank, input_rank, encoded.rank);
  }
  std::vector<Component> all(encoded.count);
  for (int64_t i = 0; i < encoded.count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(ReadComponent(encoded, i, input_rank, dtype, splits_dtype, &all[i]));
  }
  STILLFLOW_RETURN_IF_ERROR(OutputEvenSplits(call, encoded, splits_dtype));
  STILLFLOW_RETURN_IF_ERROR(OutputStackedSplits(call, all, encoded.rank - 1, input_rank, splits_dtype));
  return OutputStackedValues(call, all, dtype);
}

}  // namespace

STILLFLOW_KERNELS(ragged, variants){
    {"ragged_tensor_to_variant", "rt_nested_splits..., rt_dense_values | batched_input", Guarded<ToVariant>},
    {"ragged_tensor_from_variant", "encoded_ragged | input_ragged_rank, output_ragged_rank, Tvalues, Tsplits",
     Guarded<FromVariant>},
    {}};

}  // namespace stillflow
