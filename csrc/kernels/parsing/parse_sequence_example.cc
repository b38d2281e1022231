// parse_single_sequence_example, parse_sequence_example: serialized SequenceExample messages as tensors.
//
//   parse_single_sequence_example  in[0] serialized, a scalar; in[1] keys of lists that may be missing; in[2...] keys
//                                  (context sparse, context dense, list sparse, list dense), context defaults, name
//   parse_sequence_example         in[0] serialized, strings [batch]; in[1] names [batch] or [0]; in[2...] context
//                                  defaults; the keys are attrs
//
// out: for context and then for feature lists: indices, values and dense shapes of the sparse ones, then the dense
// ones; of a batch also how long the dense lists are. Lists of different lengths are filled up with zeros and "".
#include <cinttypes>

#include "io/example.h"
#include "kernels/guarded.h"

namespace stillflow {
namespace {

using io::Bytes;
using io::DenseFeature;
using io::Feature;
using io::KeyTable;
using io::KindName;
using io::Values;

constexpr uint32_t kFeatureLists = 2;  // of SequenceExample; the context is 1

// What is to be read, and where its outputs begin.
struct Request {
  KeyTable context;  // sparse keys, then dense ones
  KeyTable lists;
  std::vector<DType> context_sparse, list_sparse;
  std::vector<DenseFeature> context_dense, list_dense;
  std::vector<bool> may_be_missing;  // of list_dense
  const Tensor* names = nullptr;
  bool is_single = false;
  int next_output = 0;

  std::string Name(int64_t row) const {
    const bool is_named = names != nullptr && names->count > 0;
    if (is_single) return is_named ? Text(StringAt(*names, 0)) : "";
    return is_named ? Text(StringAt(*names, row)) : "<unknown>";
  }
};

// A list of features of one example.
struct FeatureList {
  bool is_there = false;
  std::vector<Feature> steps;
};

struct Example {
  std::vector<Feature> context;
  std::vector<FeatureList> lists;
};

Status Unreadable(Bytes example) {
  return STILLFLOW_INVALID_ARGUMENT("Could not parse example input, value: '%s'",
                                    Text({example.data, std::min<size_t>(example.size, 256)}).c_str());
}

Status WrongKind(const Request& request, int64_t row, const char* what, Bytes key, int64_t step, DType expected) {
  const std::string index = step < 0 ? "" : ", Index: " + std::to_string(step);
  return STILLFLOW_INVALID_ARGUMENT("Name: %s, %s: %s%s.  Data types don't match. Expected type: %s",
                                    request.Name(row).c_str(), what, Text(key).c_str(), index.c_str(),
                                    KindName(expected));
}

Status WrongCount(const Request& request, int64_t row, Bytes key, int64_t step, int64_t found,
                  const DenseFeature& feature) {
  return STILLFLOW_INVALID_ARGUMENT("Name: %s, Key: %s, Index: %" PRId64
                                    ".  Number of %s values != expected.  values size: %" PRId64
                                    " but output shape: %s",
                                    request.Name(row).c_str(), Text(key).c_str(), step, KindName(feature.dtype),
                                    found, ShapeText(feature.shape).c_str());
}

bool ReadExample(Bytes message, const Request& request, std::vector<int>* order, Example* example) {
  example->context.resize(request.context.count());
  example->lists.assign(request.lists.count(), FeatureList());
  if (!io::FindFeatures(message, request.context, order, example->context.data())) return false;
  return io::VisitField(message, kFeatureLists, [&](Bytes lists) {
    return io::VisitMap(lists, 1, [&](Bytes key, Bytes value) {
      const int number = request.lists.Find(key);
      if (number < 0) return true;
      FeatureList& list = example->lists[number];
      list = FeatureList();
      list.is_there = true;
      return io::VisitField(value, 1, [&](Bytes step) {
        list.steps.emplace_back();
        return io::ReadFeature(step, &list.steps.back());
      });
    });
  });
}

// ---- Context ------------------------------------------------------------------------------------------------------

Status AllocateSparse(const KernelCall& call, Request* request, int count, int which, DType dtype, int64_t values,
                      int width, Tensor** out) {
  Shape matrix, vector, shape;
  matrix.Add(values);
  matrix.Add(width);
  vector.Add(values);
  shape.Add(width);
  for (int i = 0; i < 3; ++i) out[i] = call.out[request->next_output + i * count + which];
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, DType::kInt64, matrix, out[0]));
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, dtype, vector, out[1]));
  return Allocate(*call.services, DType::kInt64, shape, out[2]);
}

Status ContextSparse(const KernelCall& call, Request* request, const std::vector<Example>& examples) {
  const int count = static_cast<int>(request->context_sparse.size());
  const int width = request->is_single ? 1 : 2;
  for (int s = 0; s < count; ++s) {
    const DType dtype = request->context_sparse[s];
    Values values;
    for (size_t row = 0; row < examples.size(); ++row) {
      const Feature& feature = examples[row].context[s];
      if (feature.kind != DType::kInvalid && feature.kind != dtype) {
        return WrongKind(*request, row, "Context feature", request->context.key(s), -1, dtype);
      }
      if (!values.Add(feature)) return Unreadable(feature.list);
    }
    Tensor* out[3];
    STILLFLOW_RETURN_IF_ERROR(AllocateSparse(call, request, count, s, dtype, values.count(dtype), width, out));
    if (!io::CopyValues(call, values, 0, values.count(dtype), out[1], 0)) return OutOfScratch();
    auto* index = MutableData<int64_t>(*out[0]);
    int64_t most = 0;
    for (size_t row = 0; row < examples.size(); ++row) {
      most = std::max(most, values.lengths[row]);
      for (int64_t j = 0; j < values.lengths[row]; ++j, index += width) {
        index[0] = static_cast<int64_t>(row);
        index[width - 1] = j;
      }
    }
    MutableData<int64_t>(*out[2])[0] = static_cast<int64_t>(examples.size());
    MutableData<int64_t>(*out[2])[width - 1] = most;
  }
  request->next_output += 3 * count;
  return Status();
}

Status ContextDense(const KernelCall& call, Request* request, const std::vector<Example>& examples) {
  for (size_t d = 0; d < request->context_dense.size(); ++d) {
    const DenseFeature& feature = request->context_dense[d];
    const int number = static_cast<int>(request->context_sparse.size() + d);
    const Bytes key = request->context.key(number);
    if (feature.is_variable) return STILLFLOW_INVALID_ARGUMENT("context_dense_shapes must be fully defined");
    Shape shape;
    if (!request->is_single) shape.Add(static_cast<int64_t>(examples.size()));
    for (int i = 0; i < feature.shape.rank; ++i) shape.Add(feature.shape.dims[i]);
    Tensor* out = call.out[request->next_output + d];
    STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, feature.dtype, shape, out));
    for (size_t row = 0; row < examples.size(); ++row) {
      const Feature& found = examples[row].context[number];
      const int64_t at = static_cast<int64_t>(row) * feature.row_count;
      if (found.kind == DType::kInvalid) {
        const int64_t defaults = feature.default_value->count;
        if (defaults == 0 || (defaults != 1 && defaults != feature.row_count)) {
          return STILLFLOW_INVALID_ARGUMENT("Name: %s, Context feature '%s' is required but could not be found.",
                                            request->Name(row).c_str(), Text(key).c_str());
        }
        io::FillDefault(*feature.default_value, feature.row_count, out, at);
        continue;
      }
      if (found.kind != feature.dtype) return WrongKind(*request, row, "Context feature", key, -1, feature.dtype);
      Values values;
      if (!values.Add(found)) return Unreadable(found.list);
      if (values.lengths[0] != feature.row_count) {
        return WrongCount(*request, row, key, 0, values.lengths[0], feature);
      }
      if (!io::CopyValues(call, values, 0, feature.row_count, out, at)) return OutOfScratch();
    }
  }
  request->next_output += static_cast<int>(request->context_dense.size());
  return Status();
}

// ---- Lists --------------------------------------------------------------------------------------------------------

Status ListSparse(const KernelCall& call, Request* request, const std::vector<Example>& examples) {
  const int count = static_cast<int>(request->list_sparse.size());
  const int width = request->is_single ? 2 : 3;
  for (int s = 0; s < count; ++s) {
    const DType dtype = request->list_sparse[s];
    Values values;
    int64_t most_steps = 0;
    for (size_t row = 0; row < examples.size(); ++row) {
      const std::vector<Feature>& steps = examples[row].lists[s].steps;
      most_steps = std::max(most_steps, static_cast<int64_t>(steps.size()));
      for (size_t t = 0; t < steps.size(); ++t) {
        if (steps[t].kind != DType::kInvalid && steps[t].kind != dtype) {
          return WrongKind(*request, row, "Feature List", request->lists.key(s), static_cast<int64_t>(t), dtype);
        }
        if (!values.Add(steps[t])) return Unreadable(steps[t].list);
      }
    }
    Tensor* out[3];
    STILLFLOW_RETURN_IF_ERROR(AllocateSparse(call, request, count, s, dtype, values.count(dtype), width, out));
    if (!io::CopyValues(call, values, 0, values.count(dtype), out[1], 0)) return OutOfScratch();
    auto* index = MutableData<int64_t>(*out[0]);
    int64_t most = 0;
    size_t next = 0;
    for (size_t row = 0; row < examples.size(); ++row) {
      for (size_t t = 0; t < examples[row].lists[s].steps.size(); ++t, ++next) {
        most = std::max(most, values.lengths[next]);
        for (int64_t j = 0; j < values.lengths[next]; ++j, index += width) {
          index[0] = static_cast<int64_t>(row);
          index[width - 2] = static_cast<int64_t>(t);
          index[width - 1] = j;
        }
      }
    }
    auto* shape = MutableData<int64_t>(*out[2]);
    shape[0] = static_cast<int64_t>(examples.size());
    shape[width - 2] = most_steps;
    shape[width - 1] = most;
  }
  request->next_output += 3 * count;
  return Status();
}

void FillZeros(int64_t count, Tensor* tensor, int64_t at) {
  if (count > 0 && tensor->dtype != DType::kString) {
    const int64_t bytes = ElementBytes(tensor->dtype);
    std::memset(MutableData<char>(*tensor) + at * bytes, 0, count * bytes);
  }
}

Status ListDenseRow(const KernelCall& call, const Request& request, const FeatureList& list, size_t d, int64_t row,
                    int64_t at, Tensor* out) {
  const DenseFeature& feature = request.list_dense[d];
  const Bytes key = request.lists.key(static_cast<int>(request.list_sparse.size() + d));
  for (size_t t = 0; t < list.steps.size(); ++t) {
    if (list.steps[t].kind != feature.dtype) {
      return WrongKind(request, row, "Feature list", key, static_cast<int64_t>(t), feature.dtype);
    }
    Values values;
    if (!values.Add(list.steps[t])) return Unreadable(list.steps[t].list);
    if (values.lengths[0] != feature.row_count) {
      return WrongCount(request, row, key, static_cast<int64_t>(t), values.lengths[0], feature);
    }
    const int64_t offset = at + static_cast<int64_t>(t) * feature.row_count;
    if (!io::CopyValues(call, values, 0, feature.row_count, out, offset)) return OutOfScratch();
  }
  return Status();
}

Status ListDense(const KernelCall& call, Request* request, const std::vector<Example>& examples) {
  const int count = static_cast<int>(request->list_dense.size());
  const auto batch = static_cast<int64_t>(examples.size());
  for (int d = 0; d < count; ++d) {
    const DenseFeature& feature = request->list_dense[d];
    const int number = static_cast<int>(request->list_sparse.size()) + d;
    if (feature.is_variable) return STILLFLOW_INVALID_ARGUMENT("feature_list_dense_shapes must be fully defined");
    int64_t most = 0;
    for (int64_t row = 0; row < batch; ++row) {
      const FeatureList& list = examples[row].lists[number];
      most = std::max(most, static_cast<int64_t>(list.steps.size()));
      if (!list.is_there && !request->may_be_missing[d]) {
        return STILLFLOW_INVALID_ARGUMENT(
            "Name: %s, Feature list '%s' is required but could not be found.  Did you mean to include it in "
            "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
            request->Name(row).c_str(), Text(request->lists.key(number)).c_str());
      }
    }
    Shape shape, vector;
    if (!request->is_single) shape.Add(batch);
    shape.Add(most);
    for (int i = 0; i < feature.shape.rank; ++i) shape.Add(feature.shape.dims[i]);
    Tensor* out = call.out[request->next_output + d];
    STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, feature.dtype, shape, out));
    Tensor* lengths = request->is_single ? nullptr : call.out[request->next_output + count + d];
    vector.Add(batch);
    if (lengths != nullptr) STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, DType::kInt64, vector, lengths));
    for (int64_t row = 0; row < batch; ++row) {
      const FeatureList& list = examples[row].lists[number];
      const int64_t at = row * most * feature.row_count;
      const auto steps = static_cast<int64_t>(list.steps.size());
      STILLFLOW_RETURN_IF_ERROR(ListDenseRow(call, *request, list, d, row, at, out));
      FillZeros((most - steps) * feature.row_count, out, at + steps * feature.row_count);
      if (lengths != nullptr) MutableData<int64_t>(*lengths)[row] = steps;
    }
  }
  return Status();
}

// ---- The kernels --------------------------------------------------------------------------------------------------

Status Parse(const KernelCall& call, Request* request, const Tensor& serialized) {
  request->context.Finish();
  request->lists.Finish();
  std::vector<Example> examples(serialized.count);
  std::vector<int> order(request->context.count() + 1, -1);
  for (int64_t row = 0; row < serialized.count; ++row) {
    const Bytes message = StringAt(serialized, row);
    if (!ReadExample(message, *request, &order, &examples[row])) return Unreadable(message);
  }
  STILLFLOW_RETURN_IF_ERROR(ContextSparse(call, request, examples));
  STILLFLOW_RETURN_IF_ERROR(ContextDense(call, request, examples));
  STILLFLOW_RETURN_IF_ERROR(ListSparse(call, request, examples));
  return ListDense(call, request, examples);
}

std::vector<DType> Types(const Attr& attr) {
  std::vector<DType> types;
  for (int64_t i = 0; i < attr.size; ++i) {
    types.push_back(static_cast<DType>(static_cast<const int64_t*>(attr.data)[i]));
  }
  return types;
}

bool SetDense(const Attr& types, const Attr& shapes, const Tensor* const* defaults,
              std::vector<DenseFeature>* features) {
  if (!io::ReadShapes(shapes, types.size, features)) return false;
  const std::vector<DType> dtypes = Types(types);
  for (size_t d = 0; d < features->size(); ++d) {
    (*features)[d].dtype = dtypes[d];
    if (defaults != nullptr) (*features)[d].default_value = defaults[d];
  }
  return true;
}

// `attrs` are context_sparse_types, Tcontext_dense, feature_list_dense_types, context_dense_shapes,
// feature_list_sparse_types, feature_list_dense_shapes.
Status SetTypes(const Attr* attrs, const Tensor* const* defaults, Request* request) {
  request->context_sparse = Types(attrs[0]);
  request->list_sparse = Types(attrs[4]);
  if (!SetDense(attrs[1], attrs[3], defaults, &request->context_dense) ||
      !SetDense(attrs[2], attrs[5], nullptr, &request->list_dense)) {
    return STILLFLOW_INVALID_ARGUMENT("Expected as many shapes as dense keys, with known inner dimensions");
  }
  const bool is_complete =
      request->context.count() == static_cast<int>(request->context_sparse.size() + request->context_dense.size()) &&
      request->lists.count() == static_cast<int>(request->list_sparse.size() + request->list_dense.size());
  return is_complete ? Status() : STILLFLOW_INVALID_ARGUMENT("Expected as many keys as types");
}

void SetMayBeMissing(const std::vector<Bytes>& keys, Request* request) {
  const int first = static_cast<int>(request->list_sparse.size());
  for (size_t d = 0; d < request->list_dense.size(); ++d) {
    const int number = first + static_cast<int>(d);
    request->may_be_missing.push_back(
        std::any_of(keys.begin(), keys.end(), [&](Bytes key) { return request->lists.Is(number, key); }));
  }
}

Status ParseSingle(const KernelCall& call) {
  const Tensor& serialized = *call.in[0];
  Request request;
  request.is_single = true;
  const int64_t counts[] = {call.attrs[0].i, call.attrs[1].i, call.attrs[2].i, call.attrs[3].i};
  const Tensor* const* next = call.in + 2;
  for (int i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < counts[i]; ++j, ++next) {
      if ((*next)->count != 1) return STILLFLOW_INVALID_ARGUMENT("Expected keys to be scalars");
      (i < 2 ? request.context : request.lists).Add(StringAt(**next, 0));
    }
  }
  request.names = call.in[call.in_count - 1];
  if (serialized.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Expected serialized to be a scalar, got shape: %s",
                                      ShapeText(serialized).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(SetTypes(call.attrs + 4, next, &request));
  std::vector<Bytes> missing;
  for (int64_t i = 0; i < call.in[1]->count; ++i) missing.push_back(StringAt(*call.in[1], i));
  SetMayBeMissing(missing, &request);
  return Parse(call, &request, serialized);
}

Status ParseBatch(const KernelCall& call) {
  const Tensor& serialized = *call.in[0];
  Request request;
  request.names = call.in[1];
  if (serialized.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Expected serialized to be a vector, got shape: %s",
                                      ShapeText(serialized).c_str());
  }
  if (request.names->count > 0 && request.names->count != serialized.count) {
    return STILLFLOW_INVALID_ARGUMENT("Expected len(debug_name) == len(serialized), got: %" PRId64 " vs. %" PRId64,
                                      request.names->count, serialized.count);
  }
  for (int i = 0; i < 4; ++i) {
    for (const Bytes& key : io::ReadStrings(call.attrs[1 + i])) (i < 2 ? request.context : request.lists).Add(key);
  }
  STILLFLOW_RETURN_IF_ERROR(SetTypes(call.attrs + 5, call.in + 2, &request));
  SetMayBeMissing(io::ReadStrings(call.attrs[0]), &request);
  return Parse(call, &request, serialized);
}

}  // namespace

STILLFLOW_KERNELS(parsing, parse_sequence_example){
    {"parse_single_sequence_example",
     "serialized, feature_list_dense_missing_assumed_empty, context_sparse_keys..., context_dense_keys..., "
     "feature_list_sparse_keys..., feature_list_dense_keys..., context_dense_defaults..., debug_name | "
     "Ncontext_sparse, Ncontext_dense, Nfeature_list_sparse, Nfeature_list_dense, context_sparse_types, "
     "Tcontext_dense, feature_list_dense_types, context_dense_shapes, feature_list_sparse_types, "
     "feature_list_dense_shapes",
     Guarded<ParseSingle>},
    {"parse_sequence_example",
     "serialized, debug_name, context_dense_defaults... | feature_list_dense_missing_assumed_empty, "
     "context_sparse_keys, context_dense_keys, feature_list_sparse_keys, feature_list_dense_keys, "
     "context_sparse_types, Tcontext_dense, feature_list_dense_types, context_dense_shapes, "
     "feature_list_sparse_types, feature_list_dense_shapes",
     Guarded<ParseBatch>},
    {}};

}  // namespace stillflow
