#include "io/tensor_slice.h"

#include <algorithm>

#include "kernel_api/kernel.h"

namespace stillflow::io {

int64_t ElementCount(const Dims& dims) {
  int64_t count = 1;
  bool is_empty = false;
  for (int64_t size : dims) {
    if (size < 0) return -1;
    if (size == 0) {
      is_empty = true;
    } else if (__builtin_mul_overflow(count, size, &count)) {
      return -1;
    }
  }
  return is_empty ? 0 : count;
}

std::string DimsText(const Dims& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(dims[i]);
  return text + "]";
}

// ---- Slices -------------------------------------------------------------------------------------------------------

TensorSlice TensorSlice::Full(size_t rank) {
  TensorSlice slice;
  slice.extents.resize(rank);
  return slice;
}

bool TensorSlice::IsFull() const {
  return std::all_of(extents.begin(), extents.end(), [](const Extent& e) { return e.length == kFullExtent; });
}

bool TensorSlice::Resolve(const Dims& dims) {
  if (dims.size() != rank()) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    Extent& extent = extents[i];
    if (extent.length == kFullExtent) extent = {0, dims[i]};
    if (extent.start < 0 || extent.length < 0 || extent.start > dims[i] || extent.length > dims[i] - extent.start) {
      return false;
    }
  }
  return true;
}

Dims TensorSlice::Shape() const {
  Dims dims;
  for (const Extent& extent : extents) dims.push_back(extent.length);
  return dims;
}

std::string TensorSlice::ToString() const {
  std::string text;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (i > 0) text += ":";
    const Extent& extent = extents[i];
    text += extent.length == kFullExtent ? "-" : std::to_string(extent.start) + "," + std::to_string(extent.length);
  }
  return text;
}

bool operator==(const TensorSlice& a, const TensorSlice& b) {
  return std::equal(a.extents.begin(), a.extents.end(), b.extents.begin(), b.extents.end(),
                    [](const Extent& x, const Extent& y) { return x.start == y.start && x.length == y.length; });
}

bool Intersect(const TensorSlice& a, const TensorSlice& b, TensorSlice* common) {
  common->extents.clear();
  for (size_t i = 0; i < a.rank(); ++i) {
    const Extent &x = a.extents[i], &y = b.extents[i];
    const int64_t begin = std::max(x.start, y.start);
    const int64_t end = std::min(x.start + x.length, y.start + y.length);
    if (begin >= end) return false;
    common->extents.push_back({begin, end - begin});
  }
  return true;
}

// ---- Messages -----------------------------------------------------------------------------------------------------

bool TensorSlice::Parse(Bytes message) {
  extents.clear();
  WireReader reader(message);
  while (reader.NextField()) {
    if (!reader.Is(1, WireType::kBytes)) {
      reader.Skip();
      continue;
    }
    Extent extent;
    WireReader fields(reader.LengthDelimited());
    while (fields.NextField()) {
      if (fields.Is(1, WireType::kVarint)) {
        extent.start = static_cast<int64_t>(fields.Varint());
      } else if (fields.Is(2, WireType::kVarint)) {
        extent.length = static_cast<int64_t>(fields.Varint());
        if (extent.length < 0) return false;
      } else {
        fields.Skip();
      }
    }
    if (!fields.ok() || extent.start < 0) return false;
    extents.push_back(extent);
  }
  return reader.ok();
}

void TensorSlice::AppendTo(std::string* message) const {
  for (const Extent& extent : extents) {
    std::string fields;
    if (extent.length != kFullExtent) {
      if (extent.start != 0) AppendVarintField(1, static_cast<uint64_t>(extent.start), &fields);
      AppendVarintField(2, static_cast<uint64_t>(extent.length), &fields);
    }
    AppendBytesField(1, Bytes(fields), message);
  }
}

void AppendShape(const Dims& dims, std::string* message) {
  for (int64_t size : dims) {
    std::string fields;
    if (size != 0) AppendVarintField(1, static_cast<uint64_t>(size), &fields);
    AppendBytesField(2, Bytes(fields), message);
  }
}

bool ParseShape(Bytes message, Dims* dims) {
  dims->clear();
  WireReader reader(message);
  while (reader.NextField()) {
    if (reader.Is(3, WireType::kVarint)) {
      if (reader.Varint() != 0) return false;  // an unknown rank
    } else if (reader.Is(2, WireType::kBytes)) {
      int64_t size = 0;
      WireReader fields(reader.LengthDelimited());
      while (fields.NextField()) {
        if (fields.Is(1, WireType::kVarint)) {
          size = static_cast<int64_t>(fields.Varint());
        } else {
          fields.Skip();
        }
      }
      if (!fields.ok()) return false;
      dims->push_back(size);
    } else {
      reader.Skip();
    }
  }
  return reader.ok() && dims->size() <= kMaxRank && ElementCount(*dims) >= 0;
}

// ---- shape_and_slice ----------------------------------------------------------------------------------------------

namespace {

// Takes a number without a sign off the front.
bool TakeNumber(const char** at, const char* end, int64_t* value) {
  const char* const first = *at;
  *value = 0;
  while (*at < end && **at >= '0' && **at <= '9') {
    if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, **at - '0', value)) return false;
    ++*at;
  }
  return *at > first;
}

bool ParseSlice(const char* at, const char* end, TensorSlice* slice) {
  while (at < end) {
    Extent extent;
    if (*at == '-') {
      ++at;
    } else if (!TakeNumber(&at, end, &extent.start) || at == end || *at++ != ',' ||
               !TakeNumber(&at, end, &extent.length) || extent.length == 0) {
      return false;
    }
    slice->extents.push_back(extent);
    if (at == end) return true;
    if (*at++ != ':' || at == end) return false;
  }
  return true;
}

}  // namespace

Status ParseShapeAndSlice(const std::string& text, Dims* shape, TensorSlice* slice) {
  shape->clear();
  slice->extents.clear();
  const size_t space = text.rfind(' ');
  if (space == std::string::npos) {
    return STILLFLOW_INVALID_ARGUMENT("Need least two elements in shape_and_slice specification: %s", text.c_str());
  }
  const char* at = text.data();
  const char* const middle = at + space;
  const char* const end = at + text.size();
  while (at < middle) {
    int64_t size = 0;
    if (!TakeNumber(&at, middle, &size) || (at < middle && *at++ != ' ')) {
      return STILLFLOW_INVALID_ARGUMENT("Non numerical dimension in shape_and_slice: %s", text.c_str());
    }
    shape->push_back(size);
  }
  if (!ParseSlice(middle + 1, end, slice)) {
    return STILLFLOW_INVALID_ARGUMENT("Expected a pair of numbers or '-' but got '%s': string = %s", middle + 1,
                                      text.c_str());
  }
  if (slice->rank() != shape->size()) {
    return STILLFLOW_INVALID_ARGUMENT("Incompatible ranks: shape_and_slice has %zu dimensions and %zu extents: %s",
                                      shape->size(), slice->rank(), text.c_str());
  }
  TensorSlice resolved = *slice;
  if (ElementCount(*shape) < 0 || !resolved.Resolve(*shape)) {
    return STILLFLOW_INVALID_ARGUMENT("Extent in shape_and_slice is out of bounds: %s", text.c_str());
  }
  return Status();
}

// ---- Keys ---------------------------------------------------------------------------------------------------------

namespace {

void AppendOrderedNumber(uint64_t value, std::string* key) {
  char digits[9];
  int count = 0;
  for (uint64_t rest = value; rest != 0; rest >>= 8) ++count;
  digits[0] = static_cast<char>(count);
  for (int i = 0; i < count; ++i) digits[1 + i] = static_cast<char>(value >> 8 * (count - 1 - i));
  key->append(digits, 1 + count);
}

void AppendOrderedString(const std::string& text, std::string* key) {
  for (char c : text) {
    key->push_back(c);
    if (c == '\0') key->push_back('\xFF');
    if (c == '\xFF') key->push_back('\0');
  }
  key->append("\0\x01", 2);
}

// As many leading one bits as there are bytes, then the number; of a negative one all bits are the other way round.
void AppendOrderedSigned(int64_t value, std::string* key) {
  const uint64_t magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  int count = 1;
  while (count < 10 && magnitude >> (count * 7 - 1) != 0) ++count;
  unsigned char bytes[10] = {};
  for (int i = 0; i < 8 && i < count; ++i) bytes[count - 1 - i] = static_cast<unsigned char>(magnitude >> 8 * i);
  for (int i = 0; i < count; ++i) bytes[i / 8] |= static_cast<unsigned char>(128 >> i % 8);
  for (int i = 0; i < count; ++i) key->push_back(static_cast<char>(value < 0 ? ~bytes[i] : bytes[i]));
}

}  // namespace

std::string SliceKey(const std::string& name, const TensorSlice& slice) {
  std::string key;
  AppendOrderedNumber(0, &key);
  AppendOrderedString(name, &key);
  AppendOrderedNumber(slice.rank(), &key);
  for (const Extent& extent : slice.extents) {
    AppendOrderedSigned(extent.start, &key);
    AppendOrderedSigned(extent.length, &key);
  }
  return key;
}

}  // namespace stillflow::io
