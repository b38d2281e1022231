// parse_example, parse_single_example: serialized Example messages as tensors.
//
//   parse_example         in[0] serialized, strings [batch]; in[1] names for messages, strings [batch] or [0];
//                         in[2...] Nsparse keys, Ndense keys, Ndense defaults
//                         attrs Nsparse, Ndense, sparse_types, Tdense, dense_shapes
//   parse_single_example  in[0] serialized, a scalar; in[1...] Ndense defaults
//                         attrs num_sparse, sparse_keys, dense_keys, sparse_types, Tdense, dense_shapes
//
// out: for each sparse key its indices, then the values, then the dense shapes; then the dense values. Examples are
// parsed in chunks; each writes its own rows, so that threads change nothing. An error is that of the first bad one.
#include "io/example.h"
#include "kernels/guarded.h"

namespace stillflow {
namespace {

using io::Bytes;
using io::DenseFeature;
using io::Feature;
using io::FixedValues;
using io::GrowingValues;
using io::KeyTable;
using io::KindName;
using io::ReadValues;
using io::Values;

constexpr int64_t kExamplesPerChunk = 16;

struct Parser {
  KeyTable table;  // sparse keys, then dense ones
  std::vector<DType> sparse;
  std::vector<DenseFeature> dense;
  const Tensor* names = nullptr;
  bool is_single = false;

  int sparse_count() const { return static_cast<int>(sparse.size()); }
  int dense_count() const { return static_cast<int>(dense.size()); }
};

// What a chunk of examples has for features that have no fixed place in an output.
struct Chunk {
  std::vector<Values> sparse;
  std::vector<Values> variable;  // of all dense features; empty for those of fixed size
};

std::string Place(const Parser& parser, Bytes key, int64_t example) {
  if (parser.is_single) return "Key: " + Text(key) + ".  ";
  const bool is_named = parser.names != nullptr && parser.names->count > 0;
  return "Name: " + (is_named ? Text(StringAt(*parser.names, example)) : std::string("<unknown>")) +
         ", Key: " + Text(key) + ", Index: " + std::to_string(example) + ".  ";
}

Status Missing(const Parser& parser, int key, int64_t example) {
  const bool is_named = parser.names != nullptr && parser.names->count > 0;
  const std::string name =
      parser.is_single
          ? ""
          : "Name: " + (is_named ? Text(StringAt(*parser.names, example)) : std::string("<unknown>")) + ", ";
  return STILLFLOW_INVALID_ARGUMENT("%sFeature: %s (data type: %s) is required but could not be found.", name.c_str(),
                                    Text(parser.table.key(key)).c_str(),
                                    KindName(parser.dense[key - parser.sparse_count()].dtype));
}

Status WrongKind(const Parser& parser, int key, int64_t example, DType found, DType expected) {
  const bool is_sparse = key < parser.sparse_count();
  return STILLFLOW_INVALID_ARGUMENT(is_sparse ? "%sData types don't match. Expected type: %s, Actual type: %s"
                                              : "%sData types don't match. Data type: %s but expected type: %s",
                                    Place(parser, parser.table.key(key), example).c_str(),
                                    KindName(is_sparse ? expected : found), KindName(is_sparse ? found : expected));
}

Status Unreadable(Bytes example) {
  return STILLFLOW_INVALID_ARGUMENT("Could not parse example input, value: '%s'",
                                    Text({example.data, std::min<size_t>(example.size, 256)}).c_str());
}

Status WrongCount(const Parser& parser, int key, int64_t example, int64_t found, const DenseFeature& feature) {
  const std::string place = Place(parser, parser.table.key(key), example);
  if (feature.is_variable) {
    return STILLFLOW_INVALID_ARGUMENT(
        "%sNumber of %s values is not a multiple of stride length. Saw %lld values but "
        "output shape is: %s",
        place.c_str(), KindName(feature.dtype), static_cast<long long>(found), ShapeText(feature.shape).c_str());
  }
  return STILLFLOW_INVALID_ARGUMENT("%sNumber of %s values != expected.  Values size: %lld but output shape: %s",
                                    place.c_str(), KindName(feature.dtype), static_cast<long long>(found),
                                    ShapeText(feature.shape).c_str());
}

// ---- One example --------------------------------------------------------------------------------------------------

// Reads a list of fixed length into its row of the output. Returns how many values it has, or -1 if it is no list.
int64_t ReadRow(const KernelCall& call, const DenseFeature& feature, Bytes list, int64_t row, Tensor* out,
                std::vector<Bytes>* strings) {
  const int64_t count = feature.row_count;
  if (feature.dtype == DType::kFloat) {
    FixedValues<float> values(MutableData<float>(*out) + row * count, count);
    return ReadValues<float>(list, &values) ? values.count() : -1;
  }
  if (feature.dtype == DType::kInt64) {
    FixedValues<int64_t> values(MutableData<int64_t>(*out) + row * count, count);
    return ReadValues<int64_t>(list, &values) ? values.count() : -1;
  }
  strings->clear();
  GrowingValues<Bytes> values(strings);
  if (!ReadValues<Bytes>(list, &values)) return -1;
  for (int64_t i = 0; i < std::min(count, values.count()); ++i) {
    const Bytes bytes = (*strings)[i];
    if (!SetString(call, out, row * count + i, bytes.data, static_cast<int64_t>(bytes.size))) return -2;
  }
  return values.count();
}

Status ParseDense(const KernelCall& call, const Parser& parser, int d, int64_t row, Bytes example,
                  const Feature& found, Tensor* out, Chunk* chunk, std::vector<Bytes>* strings) {
  const DenseFeature& feature = parser.dense[d];
  const int key = parser.sparse_count() + d;
  if (found.kind == DType::kInvalid) {
    if (feature.is_variable) {
      chunk->variable[d].lengths.push_back(0);
    } else if (feature.default_value->count == 0) {
      return Missing(parser, key, row);
    } else {
      io::FillDefault(*feature.default_value, feature.row_count, out, row * feature.row_count);
    }
    return Status();
  }
  if (found.kind != feature.dtype) return WrongKind(parser, key, row, found.kind, feature.dtype);
  if (feature.is_variable) {
    if (!chunk->variable[d].Add(found)) return Unreadable(example);
    const int64_t count = chunk->variable[d].lengths.back();
    const bool is_multiple = feature.row_count == 0 ? count == 0 : count % feature.row_count == 0;
    return is_multiple ? Status() : WrongCount(parser, key, row, count, feature);
  }
  const int64_t count = ReadRow(call, feature, found.list, row, out, strings);
  if (count == -2) return OutOfScratch();
  if (count == -1) return Unreadable(example);
  return count == feature.row_count ? Status() : WrongCount(parser, key, row, count, feature);
}

Status ParseChunk(const KernelCall& call, const Parser& parser, const Tensor& serialized, Range rows, Chunk* chunk) {
  chunk->sparse.resize(parser.sparse.size());
  chunk->variable.resize(parser.dense.size());
  std::vector<Feature> features(parser.table.count());
  std::vector<int> order(parser.table.count() + 1, -1);
  std::vector<Bytes> strings;
  const int first_dense = 3 * parser.sparse_count();
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const Bytes example = StringAt(serialized, row);
    if (!io::FindFeatures(example, parser.table, &order, features.data())) return Unreadable(example);
    for (int s = 0; s < parser.sparse_count(); ++s) {
      if (features[s].kind != DType::kInvalid && features[s].kind != parser.sparse[s]) {
        return WrongKind(parser, s, row, features[s].kind, parser.sparse[s]);
      }
      if (!chunk->sparse[s].Add(features[s])) return Unreadable(example);
    }
    for (int d = 0; d < parser.dense_count(); ++d) {
      STILLFLOW_RETURN_IF_ERROR(ParseDense(call, parser, d, row, example, features[parser.sparse_count() + d],
                                           call.out[first_dense + d], chunk, &strings));
    }
  }
  return Status();
}

// ---- Outputs of which the size is known in the end ----------------------------------------------------------------

// For each chunk how many values lie before it; after the last, how many there are.
std::vector<int64_t> Offsets(const std::vector<Chunk>& chunks, int s, DType dtype) {
  std::vector<int64_t> offsets = {0};
  for (const Chunk& chunk : chunks) offsets.push_back(offsets.back() + chunk.sparse[s].count(dtype));
  return offsets;
}

Status JoinSparse(const KernelCall& call, const Parser& parser, const std::vector<Chunk>& chunks, int s,
                  int64_t batch) {
  const DType dtype = parser.sparse[s];
  const int width = parser.is_single ? 1 : 2;
  const std::vector<int64_t> offsets = Offsets(chunks, s, dtype);
  Tensor* indices = call.out[s];
  Tensor* values = call.out[parser.sparse_count() + s];
  Tensor* dense_shape = call.out[2 * parser.sparse_count() + s];
  Shape matrix, vector, pair;
  matrix.Add(offsets.back());
  matrix.Add(width);
  vector.Add(offsets.back());
  pair.Add(width);
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, DType::kInt64, matrix, indices));
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, dtype, vector, values));
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, DType::kInt64, pair, dense_shape));
  int64_t most = 0;
  for (const Chunk& chunk : chunks) {
    for (int64_t length : chunk.sparse[s].lengths) most = std::max(most, length);
  }
  auto* shape = MutableData<int64_t>(*dense_shape);
  shape[0] = batch;
  shape[width - 1] = most;
  return ForEachChunk(call, static_cast<int64_t>(chunks.size()), 4, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const Values& from = chunks[i].sparse[s];
      if (!io::CopyValues(call, from, 0, from.count(dtype), values, offsets[i])) return OutOfScratch();
      int64_t* index = MutableData<int64_t>(*indices) + offsets[i] * width;
      for (size_t row = 0; row < from.lengths.size(); ++row) {
        for (int64_t j = 0; j < from.lengths[row]; ++j, index += width) {
          index[0] = i * kExamplesPerChunk + static_cast<int64_t>(row);
          index[width - 1] = j;
        }
      }
    }
    return Status();
  });
}

Status JoinVariable(const KernelCall& call, const Parser& parser, const std::vector<Chunk>& chunks, int d,
                    int64_t batch) {
  const DenseFeature& feature = parser.dense[d];
  int64_t most = 0;
  for (const Chunk& chunk : chunks) {
    for (int64_t length : chunk.variable[d].lengths) most = std::max(most, length);
  }
  Shape shape;
  if (!parser.is_single) shape.Add(batch);
  shape.Add(feature.row_count == 0 ? 0 : most / feature.row_count);
  for (int i = 0; i < feature.shape.rank; ++i) shape.Add(feature.shape.dims[i]);
  Tensor* out = call.out[3 * parser.sparse_count() + d];
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, feature.dtype, shape, out));
  return ForEachChunk(call, static_cast<int64_t>(chunks.size()), 4, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const Values& from = chunks[i].variable[d];
      int64_t begin = 0;
      for (size_t j = 0; j < from.lengths.size(); ++j) {
        const int64_t length = from.lengths[j];
        const int64_t at = (i * kExamplesPerChunk + static_cast<int64_t>(j)) * most;
        if (!io::CopyValues(call, from, begin, length, out, at)) return OutOfScratch();
        io::FillDefault(*feature.default_value, most - length, out, at + length);
        begin += length;
      }
    }
    return Status();
  });
}

// ---- The kernels --------------------------------------------------------------------------------------------------

Status CheckDefaults(const Parser& parser) {
  for (int d = 0; d < parser.dense_count(); ++d) {
    const DenseFeature& feature = parser.dense[d];
    const int64_t count = feature.default_value->count;
    if (feature.is_variable && count != 1) {
      return STILLFLOW_INVALID_ARGUMENT(
          "dense_shape[%d] is a variable length shape, therefore def_value[%d] must contain a single element (the "
          "padding element). But its shape is: %s",
          d, d, ShapeText(*feature.default_value).c_str());
    }
    if (!feature.is_variable && count != 0 && count != feature.row_count) {
      return STILLFLOW_INVALID_ARGUMENT("def_value[%d].shape() == %s is not compatible with dense_shapes_[%d] == %s",
                                        d, ShapeText(*feature.default_value).c_str(), d,
                                        ShapeText(feature.shape).c_str());
    }
  }
  return Status();
}

Status Parse(const KernelCall& call, Parser* parser, const Tensor& serialized) {
  parser->table.Finish();
  STILLFLOW_RETURN_IF_ERROR(CheckDefaults(*parser));
  const int64_t batch = serialized.count;
  const int first_dense = 3 * parser->sparse_count();
  for (int d = 0; d < parser->dense_count(); ++d) {
    const DenseFeature& feature = parser->dense[d];
    if (feature.is_variable) continue;
    Shape shape;
    if (!parser->is_single) shape.Add(batch);
    for (int i = 0; i < feature.shape.rank; ++i) shape.Add(feature.shape.dims[i]);
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, first_dense + d, feature.dtype, shape));
  }
  std::vector<Chunk> chunks((batch + kExamplesPerChunk - 1) / kExamplesPerChunk);
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, batch, kExamplesPerChunk, [&](Range rows) {
    return CatchingOutOfMemory(
        [&] { return ParseChunk(call, *parser, serialized, rows, &chunks[rows.begin / kExamplesPerChunk]); });
  }));
  for (int s = 0; s < parser->sparse_count(); ++s) {
    STILLFLOW_RETURN_IF_ERROR(JoinSparse(call, *parser, chunks, s, batch));
  }
  for (int d = 0; d < parser->dense_count(); ++d) {
    if (parser->dense[d].is_variable) STILLFLOW_RETURN_IF_ERROR(JoinVariable(call, *parser, chunks, d, batch));
  }
  return Status();
}

Status AddTypes(const Attr& sparse_types, const Attr& dense_types, const Attr& shapes, const Tensor* const* defaults,
                Parser* parser) {
  for (int64_t s = 0; s < sparse_types.size; ++s) {
    parser->sparse.push_back(static_cast<DType>(static_cast<const int64_t*>(sparse_types.data)[s]));
  }
  if (!io::ReadShapes(shapes, dense_types.size, &parser->dense)) {
    return STILLFLOW_INVALID_ARGUMENT("Expected len(dense_keys) == len(dense_shapes), with known inner dimensions");
  }
  for (int64_t d = 0; d < dense_types.size; ++d) {
    parser->dense[d].dtype = static_cast<DType>(static_cast<const int64_t*>(dense_types.data)[d]);
    parser->dense[d].default_value = defaults[d];
  }
  return Status();
}

Status ParseExample(const KernelCall& call) {
  const int64_t sparse_count = call.attrs[0].i;
  const int64_t dense_count = call.attrs[1].i;
  const Tensor& serialized = *call.in[0];
  Parser parser;
  parser.names = call.in[1];
  if (serialized.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Expected serialized to be a vector, got shape: %s",
                                      ShapeText(serialized).c_str());
  }
  if (parser.names->count > 0 && parser.names->count != serialized.count) {
    return STILLFLOW_INVALID_ARGUMENT("Expected len(names) == len(serialized), got: %lld vs. %lld",
                                      static_cast<long long>(parser.names->count),
                                      static_cast<long long>(serialized.count));
  }
  const auto* keys = call.in + 2;
  for (int64_t i = 0; i < sparse_count + dense_count; ++i) {
    if (keys[i]->count != 1) {
      return STILLFLOW_INVALID_ARGUMENT("Expected keys to be scalars, got shape: %s", ShapeText(*keys[i]).c_str());
    }
    parser.table.Add(StringAt(*keys[i], 0));
  }
  STILLFLOW_RETURN_IF_ERROR(
      AddTypes(call.attrs[2], call.attrs[3], call.attrs[4], keys + sparse_count + dense_count, &parser));
  return Parse(call, &parser, serialized);
}

Status ParseSingleExample(const KernelCall& call) {
  const Tensor& serialized = *call.in[0];
  Parser parser;
  parser.is_single = true;
  if (serialized.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Expected serialized to be a scalar, got shape: %s",
                                      ShapeText(serialized).c_str());
  }
  const std::vector<Bytes> sparse_keys = io::ReadStrings(call.attrs[1]);
  const std::vector<Bytes> dense_keys = io::ReadStrings(call.attrs[2]);
  if (static_cast<int64_t>(sparse_keys.size()) != call.attrs[3].size ||
      static_cast<int64_t>(dense_keys.size()) != call.attrs[4].size) {
    return STILLFLOW_INVALID_ARGUMENT("Expected as many keys as types");
  }
  for (const Bytes& key : sparse_keys) parser.table.Add(key);
  for (const Bytes& key : dense_keys) parser.table.Add(key);
  STILLFLOW_RETURN_IF_ERROR(AddTypes(call.attrs[3], call.attrs[4], call.attrs[5], call.in + 1, &parser));
  return Parse(call, &parser, serialized);
}

}  // namespace

STILLFLOW_KERNELS(parsing, parse_example){
    {"parse_example",
     "serialized, names, sparse_keys..., dense_keys..., dense_defaults... | Nsparse, Ndense, sparse_types, Tdense, "
     "dense_shapes",
     Guarded<ParseExample>},
    {"parse_single_example",
     "serialized, dense_defaults... | num_sparse, sparse_keys, dense_keys, sparse_types, Tdense, dense_shapes",
     Guarded<ParseSingleExample>},
    {}};

}  // namespace stillflow
