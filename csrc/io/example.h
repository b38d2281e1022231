// example.h: the Features of Example and SequenceExample messages, read without copying them.
#pragma once

#include <algorithm>
#include <vector>

#include "io/wire.h"
#include "kernel_api/kernel.h"

namespace stillflow::io {

// One feature of one example: the list message of its kind. kInvalid: the feature is not there, or has no kind.
struct Feature {
  DType kind = DType::kInvalid;
  Span list;
};

// Reads a Feature message; false if it is none. Of several lists the last counts.
inline bool ReadFeature(Span message, Feature* feature) {
  constexpr DType kKinds[] = {DType::kInvalid, DType::kString, DType::kFloat, DType::kInt64};
  WireReader reader(message);
  uint32_t field;
  WireType type;
  *feature = Feature();
  while (!reader.at_end()) {
    if (!reader.Tag(&field, &type)) return false;
    if (field <= 3 && type == WireType::kBytes) {
      feature->kind = kKinds[field];
      if (!reader.Bytes(&feature->list)) return false;
    } else if (!reader.Skip(field, type)) {
      return false;
    }
  }
  return true;
}

// ---- Values -------------------------------------------------------------------------------------------------------

// Takes values one by one; keeps those that fit into `capacity`, and counts all.
template <typename T>
class FixedValues {
 public:
  FixedValues(T* out, int64_t capacity) : out_(out), capacity_(capacity) {}
  void Add(T value) {
    if (count_ < capacity_) out_[count_] = value;
    ++count_;
  }
  void AddPacked(const char* data, int64_t count) {
    const int64_t kept = std::clamp<int64_t>(capacity_ - count_, 0, count);
    if (kept > 0) std::memcpy(out_ + count_, data, kept * sizeof(T));
    count_ += count;
  }
  int64_t count() const { return count_; }

 private:
  T* out_;
  int64_t capacity_;
  int64_t count_ = 0;
};

template <typename T>
class GrowingValues {
 public:
  explicit GrowingValues(std::vector<T>* out) : out_(out), start_(out->size()) {}
  void Add(T value) { out_->push_back(value); }
  void AddPacked(const char* data, int64_t count) {
    const size_t size = out_->size();
    out_->resize(size + count);
    if (count > 0) std::memcpy(out_->data() + size, data, count * sizeof(T));
  }
  int64_t count() const { return static_cast<int64_t>(out_->size() - start_); }

 private:
  std::vector<T>* out_;
  size_t start_;
};

// Hands the values of a FloatList, Int64List or BytesList (as Spans) to `values`. False if it is none.
template <typename T, typename Values>
bool ReadValues(Span list, Values* values) {
  constexpr bool kIsFloat = std::is_same_v<T, float>;
  constexpr bool kIsInteger = std::is_same_v<T, int64_t>;
  WireReader reader(list);
  uint32_t field;
  WireType type;
  Span bytes;
  while (!reader.at_end()) {
    if (!reader.Tag(&field, &type)) return false;
    if (field == 1 && type == WireType::kBytes) {
      if (!reader.Bytes(&bytes)) return false;
      if constexpr (kIsFloat) {
        if (bytes.size % sizeof(float) != 0) return false;
        values->AddPacked(bytes.data, static_cast<int64_t>(bytes.size / sizeof(float)));
      } else if constexpr (kIsInteger) {
        uint64_t value;
        for (WireReader packed(bytes); !packed.at_end();) {
          if (!packed.Varint(&value)) return false;
          values->Add(static_cast<int64_t>(value));
        }
      } else {
        values->Add(bytes);
      }
    } else if (kIsFloat && field == 1 && type == WireType::kFixed32) {
      float value;
      if (!reader.Fixed(&value)) return false;
      if constexpr (kIsFloat) values->Add(value);
    } else if (kIsInteger && field == 1 && type == WireType::kVarint) {
      uint64_t value;
      if (!reader.Varint(&value)) return false;
      if constexpr (kIsInteger) values->Add(static_cast<int64_t>(value));
    } else if (!reader.Skip(field, type)) {
      return false;
    }
  }
  return true;
}

// ---- Features by name ---------------------------------------------------------------------------------------------

// Finds the number of a key. Examples mostly have their features in one order: the key that followed last time is
// tried first.
class KeyTable {
 public:
  void Add(Span key) { keys_.push_back(key); }
  // Call when all keys are there.
  void Finish() {
    size_t slots = 4;
    while (slots < 2 * keys_.size()) slots *= 2;
    slots_.assign(slots, -1);
    for (size_t i = 0; i < keys_.size(); ++i) {
      size_t slot = Hash(keys_[i]) & (slots - 1);
      while (slots_[slot] >= 0) slot = (slot + 1) & (slots - 1);
      slots_[slot] = static_cast<int>(i);
    }
  }
  int count() const { return static_cast<int>(keys_.size()); }
  Span key(int number) const { return keys_[number]; }

  // Or -1. Of equal keys it is the first.
  int Find(Span key) const {
    size_t slot = Hash(key) & (slots_.size() - 1);
    for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
      if (Is(slots_[slot], key)) return slots_[slot];
    }
    return -1;
  }
  bool Is(int number, Span key) const {
    return keys_[number].size == key.size && std::memcmp(keys_[number].data, key.data, key.size) == 0;
  }

 private:
  static size_t Hash(Span key) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < key.size; ++i) hash = (hash ^ static_cast<unsigned char>(key.data[i])) * 0x100000001B3u;
    return static_cast<size_t>(hash ^ hash >> 32);
  }

  std::vector<Span> keys_;
  std::vector<int> slots_;
};

// Calls visit(key, value) -> bool for the entries of field `map_field` of a message. False if the bytes are none.
template <typename Visit>
bool VisitMap(Span message, uint32_t map_field, const Visit& visit) {
  WireReader reader(message);
  uint32_t field;
  WireType type;
  Span entry;
  while (!reader.at_end()) {
    if (!reader.Tag(&field, &type)) return false;
    if (field != map_field || type != WireType::kBytes) {
      if (!reader.Skip(field, type)) return false;
      continue;
    }
    if (!reader.Bytes(&entry)) return false;
    Span key, value;
    for (WireReader parts(entry); !parts.at_end();) {
      if (!parts.Tag(&field, &type)) return false;
      if (field <= 2 && type == WireType::kBytes) {
        if (!parts.Bytes(field == 1 ? &key : &value)) return false;
      } else if (!parts.Skip(field, type)) {
        return false;
      }
    }
    if (!visit(key, value)) return false;
  }
  return true;
}

// Calls visit(message) -> bool for each sub-message in a field.
template <typename Visit>
bool VisitField(Span message, uint32_t wanted, const Visit& visit) {
  WireReader reader(message);
  uint32_t field;
  WireType type;
  Span part;
  while (!reader.at_end()) {
    if (!reader.Tag(&field, &type)) return false;
    if (field == wanted && type == WireType::kBytes) {
      if (!reader.Bytes(&part) || !visit(part)) return false;
    } else if (!reader.Skip(field, type)) {
      return false;
    }
  }
  return true;
}

// Reads the features that `table` knows out of a message with Features in field 1: an Example, or the context of a
// SequenceExample. `features` has a place for each key; `order` remembers what followed what.
inline bool FindFeatures(Span example, const KeyTable& table, std::vector<int>* order, Feature* features) {
  std::fill_n(features, table.count(), Feature());
  if (table.count() == 0) return true;
  int last = table.count();
  return VisitField(example, 1, [&](Span message) {
    return VisitMap(message, 1, [&](Span key, Span value) {
      int& guess = (*order)[last];
      if (guess < 0 || !table.Is(guess, key)) {
        const int found = table.Find(key);
        if (found < 0) return true;
        guess = found;
      }
      last = guess;
      return ReadFeature(value, features + last);
    });
  });
}

// ---- What parsers are asked for -----------------------------------------------------------------------------------

struct DenseFeature {
  DType dtype;
  Shape shape;        // of one example; without the first dimension if that is variable
  bool is_variable;   // its first dimension
  int64_t row_count;  // elements of `shape`
  const Tensor* default_value;
};

// Shapes as plans hand them over: the rank of each, and its sizes. False if there are not `count` of them.
bool ReadShapes(const Attr& attr, int64_t count, std::vector<DenseFeature>* features);

// Strings as plans hand them over: each after its length.
std::vector<Span> ReadStrings(const Attr& attr);

inline const char* KindName(DType kind) { return kind == DType::kFloat ? "float" : Name(kind); }

// Values of features of one kind in several examples, and how many of them each example has.
struct Values {
  std::vector<float> floats;
  std::vector<int64_t> integers;
  std::vector<Span> strings;
  std::vector<int64_t> lengths;

  // Adds one example's. False if the list is none.
  bool Add(const Feature& feature);
  int64_t count(DType dtype) const {
    return static_cast<int64_t>(dtype == DType::kFloat   ? floats.size()
                                : dtype == DType::kInt64 ? integers.size()
                                                         : strings.size());
  }
};

// Copies `count` values from `begin` on to elements of a tensor. False if memory runs out.
bool CopyValues(const KernelCall& call, const Values& values, int64_t begin, int64_t count, Tensor* tensor,
                int64_t at);

// Puts a default, of which a single element stands for all, into `count` elements.
void FillDefault(const Tensor& from, int64_t count, Tensor* tensor, int64_t at);

}  // namespace stillflow::io
