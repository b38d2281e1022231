// position.h: serialized positions of iterators, which are untrusted when they are read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collections/tuple.h"
#include "io/wire.h"
#include "kernel_api/kernel.h"

namespace stillflow {

// The tensors of a pipeline of which its elements are parts. Of such a part only the place is written.
using Sources = std::vector<const Tensor*>;

class PositionWriter {
 public:
  explicit PositionWriter(const Sources* sources) : sources_(sources) {}

  void Int(int64_t value) { io::AppendVarint(static_cast<uint64_t>(value) << 1 ^ (value < 0 ? ~0ull : 0), &bytes_); }
  void Word(uint64_t value) { io::AppendVarint(value, &bytes_); }
  void Bool(bool value) { bytes_.push_back(value ? 1 : 0); }
  void String(const std::string& value);
  void Failure(const Status& status);
  Status Value(const Tensor& tensor);
  Status Element(const Tuple& element);
  Status Elements(const std::vector<Tuple>& elements);

  void Append(const std::string& bytes) { bytes_ += bytes; }

  const Sources* sources() const { return sources_; }
  std::string Take() { return std::move(bytes_); }

 private:
  bool PartOfSource(const Tensor& tensor);

  const Sources* sources_;
  std::string bytes_;
};

// Reads what a writer wrote. Once something is malformed nothing more is read, and `ok` is false.
class PositionReader {
 public:
  PositionReader(io::Bytes bytes, const Sources* sources) : reader_(bytes), sources_(sources) {}

  bool ok() const { return is_ok_ && reader_.ok(); }
  bool done() const { return ok() && reader_.left() == 0; }
  int64_t Int();
  // A number in [low, high].
  int64_t IntIn(int64_t low, int64_t high);
  uint64_t Word() { return reader_.Varint(); }
  bool Bool() { return IntOf(reader_.Take(1)) != 0; }
  // The number of things of which each takes a byte at least.
  int64_t Count();
  std::string String();
  Status Failure();
  // Values are checked: those that do not fit the specification are errors.
  Status Value(const Services& services, Tensor* tensor);
  Status Element(const Services& services, const TupleSpec& spec, Tuple* element);
  Status Elements(const Services& services, const TupleSpec& spec, std::vector<Tuple>* elements);

  void Fail() { is_ok_ = false; }
  Status status() const;
  const Sources* sources() const { return sources_; }

 private:
  static int IntOf(io::Bytes byte) { return byte.size == 1 ? static_cast<uint8_t>(byte.data[0]) : 0; }
  Status PartOfSource(Tensor* tensor);
  Status Variants(const Services& services, Tensor* tensor);

  io::WireReader reader_;
  const Sources* sources_;
  bool is_ok_ = true;
  int depth_ = 0;  // of variants in variants
};

}  // namespace stillflow
