#include "io/example.h"

namespace stillflow::io {

bool Values::Add(const Feature& feature) {
  int64_t count = 0;
  bool is_list = true;
  if (feature.kind == DType::kFloat) {
    GrowingValues<float> values(&floats);
    is_list = ReadValues<float>(feature.list, &values);
    count = values.count();
  } else if (feature.kind == DType::kInt64) {
    GrowingValues<int64_t> values(&integers);
    is_list = ReadValues<int64_t>(feature.list, &values);
    count = values.count();
  } else if (feature.kind == DType::kString) {
    GrowingValues<Bytes> values(&strings);
    is_list = ReadValues<Bytes>(feature.list, &values);
    count = values.count();
  }
  lengths.push_back(count);
  return is_list;
}

bool CopyValues(const KernelCall& call, const Values& values, int64_t begin, int64_t count, Tensor* tensor,
                int64_t at) {
  if (count <= 0) return true;
  if (tensor->dtype == DType::kFloat) {
    std::memcpy(MutableData<float>(*tensor) + at, values.floats.data() + begin, count * sizeof(float));
  } else if (tensor->dtype == DType::kInt64) {
    std::memcpy(MutableData<int64_t>(*tensor) + at, values.integers.data() + begin, count * sizeof(int64_t));
  } else {
    for (int64_t i = 0; i < count; ++i) {
      const Bytes bytes = values.strings[begin + i];
      if (!SetString(call, tensor, at + i, bytes.data, static_cast<int64_t>(bytes.size))) return false;
    }
  }
  return true;
}

namespace {

template <typename T>
void Fill(const Tensor& from, int64_t count, Tensor* tensor, int64_t at) {
  const T* source = Data<T>(from);
  T* target = MutableData<T>(*tensor) + at;
  if (from.count == 1) {
    std::fill_n(target, count, source[0]);
  } else {
    std::copy_n(source, count, target);
  }
}

}  // namespace

void FillDefault(const Tensor& from, int64_t count, Tensor* tensor, int64_t at) {
  if (count <= 0) return;
  if (from.dtype == DType::kFloat) return Fill<float>(from, count, tensor, at);
  if (from.dtype == DType::kInt64) return Fill<int64_t>(from, count, tensor, at);
  Fill<StringCell*>(from, count, tensor, at);
  for (int64_t i = at; i < at + count; ++i) {
    if (StringCell* cell = Data<StringCell*>(*tensor)[i]) cell->references.fetch_add(1, std::memory_order_relaxed);
  }
}

bool ReadShapes(const Attr& attr, int64_t count, std::vector<DenseFeature>* features) {
  const auto* numbers = static_cast<const int64_t*>(attr.data);
  int64_t next = 0;
  for (int64_t i = 0; i < count; ++i) {
    DenseFeature feature = {};
    const int64_t rank = next < attr.size ? numbers[next++] : -1;
    if (rank < 0 || rank > kMaxRank || rank > attr.size - next) return false;
    for (int64_t j = 0; j < rank; ++j, ++next) {
      if (j == 0 && numbers[next] < 0) {
        feature.is_variable = true;
      } else if (numbers[next] < 0) {
        return false;
      } else {
        feature.shape.Add(numbers[next]);
      }
    }
    if (!CheckedCount(feature.shape, &feature.row_count).ok()) return false;
    features->push_back(feature);
  }
  return next == attr.size;
}

std::vector<Bytes> ReadStrings(const Attr& attr) {
  std::vector<Bytes> strings;
  const auto* bytes = static_cast<const char*>(attr.data);
  for (int64_t next = 0; next + 8 <= attr.size;) {
    int64_t size;
    std::memcpy(&size, bytes + next, sizeof size);
    next += 8;
    if (size < 0 || size > attr.size - next) break;
    strings.push_back({bytes + next, static_cast<size_t>(size)});
    next += size;
  }
  return strings;
}

}  // namespace stillflow::io
