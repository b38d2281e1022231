// tensor_text.h: values of tensors as text, in the forms of TensorFlow's Print, Assert and tf.print.
#pragma once

#include <algorithm>

#include "arithmetic/math/scalar.h"

namespace stillflow {

// Bytes that grow. Where memory runs out, what does not fit is left out.
class Text {
 public:
  Text() = default;
  ~Text() { std::free(bytes_); }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  void Append(const char* bytes, int64_t size) {
    if (size <= 0 || !Reserve(size_ + size)) return;
    std::memcpy(bytes_ + size_, bytes, size);
    size_ += size;
  }
  void Append(const char* text) { Append(text, static_cast<int64_t>(std::strlen(text))); }
  const char* bytes() const { return bytes_ == nullptr ? "" : bytes_; }
  int64_t size() const { return size_; }

 private:
  bool Reserve(int64_t size) {
    if (size <= capacity_) return true;
    const int64_t capacity = std::max<int64_t>(2 * size, 256);
    auto* grown = static_cast<char*>(std::realloc(bytes_, capacity));
    if (grown == nullptr) return false;
    bytes_ = grown;
    capacity_ = capacity;
    return true;
  }

  char* bytes_ = nullptr;
  int64_t size_ = 0;
  int64_t capacity_ = 0;
};

// ---- Elements -----------------------------------------------------------------------------------------------------

inline void AppendEscaped(const StringCell* cell, Text* text) {
  if (cell == nullptr) return;
  for (int64_t i = 0; i < cell->size; ++i) {
    const auto byte = static_cast<unsigned char>(cell->bytes[i]);
    const char letter = byte == '\n' ? 'n' : byte == '\r' ? 'r' : 't';
    char escaped[8];
    if (byte == '\n' || byte == '\r' || byte == '\t') {
      std::snprintf(escaped, sizeof escaped, "\\%c", letter);
    } else if (byte == '"' || byte == '\'' || byte == '\\') {
      std::snprintf(escaped, sizeof escaped, "\\%c", byte);
    } else if (byte < 0x20 || byte >= 0x7F) {
      std::snprintf(escaped, sizeof escaped, "\\%03o", byte);
    } else {
      std::snprintf(escaped, sizeof escaped, "%c", byte);
    }
    text->Append(escaped);
  }
}

// As few digits as tell the number from its neighbours: 6 or 9 for floats, 15 or 17 for doubles.
template <typename T>
void AppendFloat(T value, Text* text) {
  constexpr bool kIsDouble = std::is_same_v<T, double>;
  char digits[40];
  std::snprintf(digits, sizeof digits, kIsDouble ? "%.15g" : "%.6g", static_cast<double>(value));
  const double back = std::strtod(digits, nullptr);
  if (static_cast<T>(back) != value && value == value) {
    std::snprintf(digits, sizeof digits, kIsDouble ? "%.17g" : "%.9g", static_cast<double>(value));
  }
  text->Append(value != value ? "nan" : digits);
}

// `is_quoted` puts strings in quotation marks.
inline void AppendElement(const Tensor& tensor, int64_t i, bool is_quoted, Text* text) {
  if (tensor.dtype == DType::kString) {
    if (is_quoted) text->Append("\"");
    AppendEscaped(Data<StringCell*>(tensor)[i], text);
    if (is_quoted) text->Append("\"");
    return;
  }
  const Status status = ForType<float, double, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t,
                                uint8_t, bool, Half, BFloat16>("Print", tensor.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T value = Data<T>(tensor)[i];
    if constexpr (kIsFloating<T>) {
      AppendFloat(Widen(value), text);
    } else {
      char digits[24];
      if constexpr (std::is_unsigned_v<T>) {
        std::snprintf(digits, sizeof digits, "%llu", static_cast<unsigned long long>(value));
      } else {
        std::snprintf(digits, sizeof digits, "%lld", static_cast<long long>(value));
      }
      text->Append(digits);
    }
    return Status();
  });
  if (!status.ok()) text->Append("?");
}

// ---- The form of Print and Assert: the first elements, "[1 2][3...]..."
// --------------------------------------------

inline void AppendFirst(const Tensor& tensor, int dim, int64_t limit, int64_t* next, Text* text) {
  for (int64_t i = 0; i < tensor.dims[dim]; ++i) {
    if (dim == tensor.rank - 1) {
      if (*next >= limit) {
        if (dim != 0) text->Append("...");
        return;
      }
      if (i > 0) text->Append(" ");
      AppendElement(tensor, (*next)++, false, text);
    } else if (*next < limit) {
      text->Append("[");
      AppendFirst(tensor, dim + 1, limit, next, text);
      text->Append("]");
    } else {
      return;
    }
  }
}

// At most `limit` elements, or all if that is negative.
inline void AppendSummary(const Tensor& tensor, int64_t limit, Text* text) {
  limit = limit < 0 ? tensor.count : std::min(limit, tensor.count);
  if (tensor.count == 0) return;
  if (tensor.rank == 0) {
    if (limit > 0) AppendElement(tensor, 0, false, text);
  } else {
    int64_t next = 0;
    AppendFirst(tensor, 0, limit, &next, text);
  }
  if (tensor.count > limit) text->Append("...");
}

// ---- The form of tf.print: the first and last elements of each dimension
// -------------------------------------------

inline void AppendSpacing(int dim, int rank, Text* text) {
  for (int i = dim; i < rank - 1; ++i) text->Append("\n");
  for (int i = 0; i <= (dim == rank - 1 ? 0 : dim); ++i) text->Append(" ");
}

inline void AppendEnds(const Tensor& tensor, int dim, int64_t limit, int64_t begin, Text* text) {
  if (dim == tensor.rank) {
    AppendElement(tensor, begin, true, text);
    return;
  }
  const int64_t size = tensor.dims[dim];
  const int64_t stride = Shape(tensor).Count(dim + 1, tensor.rank);
  const bool is_cut = limit >= 0 && size > 2 * limit;
  text->Append("[");
  for (int64_t i = 0; i < size; ++i) {
    if (is_cut && i == limit) {
      if (i > 0) AppendSpacing(dim, tensor.rank, text);
      text->Append("...");
      i = size - limit;
      if (i == size) break;
    }
    if (i > 0) AppendSpacing(dim, tensor.rank, text);
    AppendEnds(tensor, dim + 1, limit, begin + i * stride, text);
  }
  text->Append("]");
}

}  // namespace stillflow
