#include "state_kernels/forest/input.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace stillflow::forest {
namespace {

constexpr int64_t kMostFeatures = int64_t{1} << 31;

// The number after `key` from `at` on; `fallback` if there is none.
int64_t NumberAfter(const std::string& text, size_t at, const char* key, int64_t fallback) {
  const size_t found = text.find(key, at);
  return found == std::string::npos ? fallback : std::strtoll(text.c_str() + found + std::strlen(key), nullptr, 10);
}

}  // namespace

Status InputSpec::Parse(const Attr& attr) {
  const std::string text(static_cast<const char*>(attr.data), attr.size);
  dense_size = NumberAfter(text, 0, "dense_features_size: ", -1);
  const size_t dense = text.find(" dense: ["), sparse = text.find(" sparse: [");
  if (dense_size < 0 || dense_size > kMostFeatures || dense == std::string::npos || sparse == std::string::npos) {
    return STILLFLOW_INVALID_ARGUMENT("Unable to parse the input_spec '%.200s'", text.c_str());
  }
  for (size_t at = text.find('{', dense); at < sparse; at = text.find('{', at + 1)) {
    const auto type = static_cast<int>(NumberAfter(text, at, "original_type: ", kFloat));
    const int64_t size = NumberAfter(text, at, " size: ", 0);
    if (size < 0 || static_cast<int64_t>(dense_types.size()) + size > dense_size) {
      return STILLFLOW_INVALID_ARGUMENT("Columns in the input_spec '%.200s' have more than %lld features",
                                        text.c_str(), static_cast<long long>(dense_size));
    }
    dense_types.insert(dense_types.end(), size, type);
  }
  sparse_type = static_cast<int>(NumberAfter(text, sparse, "original_type: ", kCategorical));
  return Status();
}

Status Input::Set(const KernelCall& call, int first, const InputSpec& spec) {
  spec_ = &spec;
  const Tensor& dense = *call.in[first];
  const Tensor& indices = *call.in[first + 1];
  const Tensor& values = *call.in[first + 2];
  const Tensor& shape = *call.in[first + 3];
  if (dense.rank == 2) {
    dense_ = &dense;
    count_ = dense.dims[0];
    if (dense.dims[1] < spec.dense_size) {
      return STILLFLOW_INVALID_ARGUMENT("Input of shape %s has not the %lld features of its input_spec",
                                        ShapeText(dense).c_str(), static_cast<long long>(spec.dense_size));
    }
  } else if (spec.dense_size > 0) {
    return STILLFLOW_INVALID_ARGUMENT("Input should be a matrix, but has shape %s", ShapeText(dense).c_str());
  }
  if (indices.rank != 2) return Status();
  if (indices.dims[1] != 2 || values.rank != 1 || values.count != indices.dims[0] || shape.count < 1) {
    return STILLFLOW_INVALID_ARGUMENT("Sparse input has indices of shape %s, values of shape %s, a shape of %s",
                                      ShapeText(indices).c_str(), ShapeText(values).c_str(),
                                      ShapeText(shape).c_str());
  }
  indices_ = &indices;
  values_ = &values;
  if (dense_ == nullptr) count_ = Data<int64_t>(shape)[0];
  if (count_ < 0) return STILLFLOW_INVALID_ARGUMENT("Dimension %lld must be >= 0", static_cast<long long>(count_));
  return Status();
}

void Input::SparseEntries(int64_t example, int64_t* first, int64_t* count) const {
  *first = *count = 0;
  if (indices_ == nullptr) return;
  const int64_t* rows = Data<int64_t>(*indices_);
  int64_t low = 0, high = values_->count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (rows[2 * middle] < example) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  *first = low;
  while (low < values_->count && rows[2 * low] == example) ++low;
  *count = low - *first;
}

float Input::ValueAt(int64_t example, int64_t feature) const {
  if (feature < spec_->dense_size) return Data<float>(*dense_)[example * dense_->dims[1] + feature];
  int64_t first = 0, count = 0;
  SparseEntries(example, &first, &count);
  for (int64_t i = first; i < first + count; ++i) {
    if (SparseColumn(i) == feature) return Data<float>(*values_)[i];
  }
  return 0;
}

Status Target::Set(const Tensor& labels, const Tensor& weights, bool is_regression, int64_t count, int64_t outputs) {
  labels_ = &labels;
  weights_ = &weights;
  count_ = count;
  stride_ = is_regression && labels.rank > 1 ? std::max<int64_t>(labels.dims[1], 1) : 1;
  if (labels.count < count * stride_ || (is_regression && stride_ < outputs)) {
    return STILLFLOW_INVALID_ARGUMENT("Labels of shape %s are not %lld outputs for %lld examples",
                                      ShapeText(labels).c_str(), static_cast<long long>(is_regression ? outputs : 1),
                                      static_cast<long long>(count));
  }
  for (int64_t i = 0; i < count && !is_regression; ++i) {
    const float label = Data<float>(labels)[i];
    if (label > -1.0f && label < static_cast<float>(outputs)) continue;
    return STILLFLOW_INVALID_ARGUMENT(
        "Got label greater than indicated number of classes. Is params.num_classes set correctly? %g is not in [0, "
        "%lld)",
        static_cast<double>(label), static_cast<long long>(outputs));
  }
  return Status();
}

}  // namespace stillflow::forest
