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
  Bytes list;
};

// Reads a Feature message; false if it is none. Of several lists the last counts.
inline bool ReadFeature(Bytes message, Feature* feature) {
  constexpr DType kKinds[] = {DType::kInvalid, DType::kString, DType::kFloat, DType::kInt64};
  *feature = Feature();
  WireReader reader(message);
  while (reader.NextField()) {
    if (reader.field <= 3 && reader.type == WireType::kBytes) {
      feature->kind = kKinds[reader.field];
      feature->list = reader.LengthDelimited();
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
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
bool ReadValues(Bytes list, Values* values) {
  constexpr bool kIsFloat = std::is_same_v<T, float>;
  constexpr bool kIsInteger = std::is_same_v<T, int64_t>;
  WireReader reader(list);
  while (reader.NextField()) {
    if (reader.Is(1, WireType::kBytes)) {
      const Bytes bytes = reader.LengthDelimited();
      if (!reader.ok()) return false;
      if constexpr (kIsFloat) {
        if (bytes.size % sizeof(float) != 0) return false;
        values->AddPacked(bytes.data, static_cast<int64_t>(bytes.size / sizeof(float)));
      } else if constexpr (kIsInteger) {
        WireReader packed(bytes);
        while (!packed.done()) values->Add(static_cast<int64_t>(packed.Varint()));
        if (!packed.ok()) return false;
      } else {
        values->Add(bytes);
      }
    } else if (kIsFloat && reader.Is(1, WireType::kFixed32)) {
      const uint32_t bits = reader.Fixed32();
      float value;
      std::memcpy(&value, &bits, sizeof value);
      if constexpr (kIsFloat) values->Add(value);
    } else if (kIsInteger && reader.Is(1, WireType::kVarint)) {
      const auto value = static_cast<int64_t>(reader.Varint());
      if constexpr (kIsInteger) values->Add(value);
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

// ---- Features by name ---------------------------------------------------------------------------------------------

// Finds the number of a key. Examples mostly have their features in one order: the key that followed last time is
// tried first.
class KeyTable {
 public:
  void Add(Bytes key) { keys_.push_back(key); }
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
  Bytes key(int number) const { return keys_[number]; }

  // Or -1. Of equal keys it is the first.
  int Find(Bytes key) const {
    size_t slot = Hash(key) & (slots_.size() - 1);
    for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
      if (Is(slots_[slot], key)) return slots_[slot];
    }
    return -1;
  }
  bool Is(int number, Bytes key) const { return keys_[number] == key; }

 private:
  static size_t Hash(Bytes key) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (size_t i = 0; i < key.size; ++i) hash = (hash ^ static_cast<unsigned char>(key.data[i])) * 0x100000001B3u;
    return static_cast<size_t>(hash ^ hash >> 32);
  }

  std::vector<Bytes> keys_;
  std::vector<int> slots_;
};

// Calls visit(message) -> bool for each sub-message in a field. False if the bytes are no message.
template <typename Visit>
bool VisitField(Bytes message, uint32_t wanted, const Visit& visit) {
  WireReader reader(message);
  while (reader.NextField()) {
    if (!reader.Is(wanted, WireType::kBytes)) {
      reader.Skip();
      continue;
    }
    const Bytes part = reader.LengthDelimited();
    if (!reader.ok() || !visit(part)) return false;
  }
  return reader.ok();
}

// Calls visit(key, value) -> bool for the entries of a map in a field.
template <typename Visit>
bool VisitMap(Bytes message, uint32_t map_field, const Visit& visit) {
  return VisitField(message, map_field, [&](Bytes entry) {
    Bytes key, value;
    WireReader parts(entry);
    while (parts.NextField()) {
      if (parts.field <= 2 && parts.type == WireType::kBytes) {
        (parts.field == 1 ? key : value) = parts.LengthDelimited();
      } else {
        parts.Skip();
      }
    }
    return parts.ok() && visit(key, value);
  });
}

// Reads the features that `table` knows out of a message with Features in field 1: an Example, or the context of a
// SequenceExample. `features` has a place for each key; `order` remembers what followed what.
inline bool FindFeatures(Bytes example, const KeyTable& table, std::vector<int>* order, Feature* features) {
  std::fill_n(features, table.count(), Feature());
  if (table.count() == 0) return true;
  int last = table.count();
  return VisitField(example, 1, [&](Bytes message) {
    return VisitMap(message, 1, [&](Bytes key, Bytes value) {
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
std::vector<Bytes> ReadStrings(const Attr& attr);

inline const char* KindName(DType kind) { return kind == DType::kFloat ? "float" : Name(kind); }

// Values of features of one kind in several examples, and how many of them each example has.
struct Values {
  std::vector<float> floats;
  std::vector<int64_t> integers;
  std::vector<Bytes> strings;
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
