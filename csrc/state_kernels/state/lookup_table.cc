// make_hash_table, initialize_table, initialize_table_from_file: tables of values for keys, which are filled once;
// and lookup_table_find, _insert, _remove, _size, _export, which all tables serve.
//
//   make_hash_table             attrs: see handle.h; key_dtype, value_dtype; out[0] a handle
//   initialize_table            in[0] a handle; in[1] keys, a vector; in[2] as many values
//   initialize_table_from_file  in[0] a handle; in[1] the file's name; attrs key_index, value_index: columns, -1 for
//   the
//                               line's number, -2 for the whole line; vocab_size: how many lines, -1 for all;
//                               delimiter
//   lookup_table_find           in[0] a handle; in[1] keys; in[2] a scalar for keys that are not there; out[0] values
//   lookup_table_insert         in[0] a handle; in[1] keys; in[2] values
//   lookup_table_remove         in[0] a handle; in[1] keys
//   lookup_table_size           out[0] int64: how many keys there are
//   lookup_table_export         attrs Tkeys, Tvalues; out[0] keys, out[1] values, in the order in which they came
//
// Keys and values are kept as bytes: those of numbers, or of strings.
#include "state_kernels/state/lookup_table.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "io/input_stream.h"
#include "io/number_text.h"
#include "kernels/guarded.h"

namespace stillflow {
namespace {

using io::Bytes;

template <typename T>
T NumberIn(const std::string& bytes) {
  T number{};
  std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof number));
  return number;
}

// What messages say of a key or value.
std::string Shown(DType dtype, const std::string& bytes) {
  char text[40];
  switch (dtype) {
    case DType::kInt32:
      return std::to_string(NumberIn<int32_t>(bytes));
    case DType::kInt64:
      return std::to_string(NumberIn<int64_t>(bytes));
    case DType::kBool:
      return std::to_string(NumberIn<uint8_t>(bytes));
    case DType::kFloat:
      std::snprintf(text, sizeof text, "%g", static_cast<double>(NumberIn<float>(bytes)));
      return text;
    case DType::kDouble:
      std::snprintf(text, sizeof text, "%g", NumberIn<double>(bytes));
      return text;
    default:
      return bytes;
  }
}

// ---- The table ----------------------------------------------------------------------------------------------------

class HashTable final : public LookupTable {
 public:
  using LookupTable::LookupTable;
  const char* type() const override { return "HashTable"; }

  // Fills the table with pairs. Doing so again changes nothing; it is an error where their number is another.
  Status Initialize(const std::vector<std::pair<std::string, std::string>>& pairs) {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (is_initialized_) {
      if (pairs.size() == order_.size()) return Status();
      return Error(Code::kFailedPrecondition, "Table was already initialized with different data.");
    }
    for (const auto& [key, value] : pairs) {
      const auto [found, is_new] = values_.emplace(key, value);
      if (is_new) {
        order_.push_back(&*found);
      } else if (found->second != value) {
        Status status = Error(Code::kFailedPrecondition,
                              "HashTable has different value for same key. Key %s has %s and trying to add value %s",
                              Shown(key_dtype(), key).c_str(), Shown(value_dtype(), found->second).c_str(),
                              Shown(value_dtype(), value).c_str());
        order_.clear();
        values_.clear();
        return status;
      }
    }
    is_initialized_ = true;
    return Status();
  }

  Status Import(const KernelCall& call, const Tensor& keys, const Tensor& values) override {
    STILLFLOW_RETURN_IF_ERROR(CheckTypes(call, *this, keys.dtype, values.dtype, "->"));
    if (keys.rank != 1) {
      return STILLFLOW_INVALID_ARGUMENT("Keys must be a vector, but received shape %s", ShapeText(keys).c_str());
    }
    if (!(Shape(keys) == Shape(values))) {
      return STILLFLOW_INVALID_ARGUMENT("Expected shape %s for value, got %s", ShapeText(keys).c_str(),
                                        ShapeText(values).c_str());
    }
    std::vector<std::pair<std::string, std::string>> pairs;
    pairs.reserve(keys.count);
    for (int64_t i = 0; i < keys.count; ++i) pairs.emplace_back(BytesAt(keys, i), BytesAt(values, i));
    return Initialize(pairs);
  }

  Status Find(const KernelCall& call, const Tensor& keys, const Tensor& fallback) override {
    STILLFLOW_RETURN_IF_ERROR(CheckTypes(call, *this, keys.dtype, fallback.dtype, "->"));
    if (fallback.rank != 0) {
      return STILLFLOW_INVALID_ARGUMENT("Default value must be a scalar, but received shape %s",
                                        ShapeText(fallback).c_str());
    }
    const std::lock_guard<std::mutex> guard(mutex_);
    STILLFLOW_RETURN_IF_ERROR(CheckInitialized());
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, value_dtype(), Shape(keys)));
    const std::string missing = BytesAt(fallback, 0);
    for (int64_t i = 0; i < keys.count; ++i) {
      const auto found = values_.find(BytesAt(keys, i));
      if (!StoreAt(call, call.out[0], i, found == values_.end() ? missing : found->second)) return OutOfScratch();
    }
    return Status();
  }

  Status Export(const KernelCall& call) override {
    const std::lock_guard<std::mutex> guard(mutex_);
    STILLFLOW_RETURN_IF_ERROR(CheckInitialized());
    Shape shape;
    shape.Add(static_cast<int64_t>(order_.size()));
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, key_dtype(), shape));
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, value_dtype(), shape));
    for (size_t i = 0; i < order_.size(); ++i) {
      const bool is_stored = StoreAt(call, call.out[0], static_cast<int64_t>(i), order_[i]->first) &&
                             StoreAt(call, call.out[1], static_cast<int64_t>(i), order_[i]->second);
      if (!is_stored) return OutOfScratch();
    }
    return Status();
  }

  Status Size(int64_t* size) override {
    const std::lock_guard<std::mutex> guard(mutex_);
    *size = static_cast<int64_t>(order_.size());  // 0 of a table that is not initialized
    return Status();
  }

 private:
  Status CheckInitialized() const {
    return is_initialized_ ? Status() : Error(Code::kFailedPrecondition, "Table not initialized.");
  }

  std::mutex mutex_;
  bool is_initialized_ = false;
  std::unordered_map<std::string, std::string> values_;
  std::vector<const std::pair<const std::string, std::string>*> order_;
};

Status MakeHashTable(const KernelCall& call) {
  const auto key = static_cast<DType>(call.attrs[kHandleAttrs].i);
  const auto value = static_cast<DType>(call.attrs[kHandleAttrs + 1].i);
  if (!AreTypesOfTable(key, value)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "No OpKernel was registered to support 'HashTable' with keys of %s, values of %s", Name(key), Name(value));
  }
  return OutputTable(call, "HashTable", key, value, [&] { return std::make_shared<HashTable>(key, value); });
}

// ---- Filling it ---------------------------------------------------------------------------------------------------

Status InitializeTable(const KernelCall& call) {
  std::shared_ptr<LookupTable> table;
  STILLFLOW_RETURN_IF_ERROR(FindResource<LookupTable>(call, 0, &table));
  return table->Import(call, *call.in[1], *call.in[2]);
}

Status ReadWhole(const std::string& path, std::string* content) {
  std::unique_ptr<io::InputStream> file;
  STILLFLOW_RETURN_IF_ERROR(io::OpenFile(path, io::Compression::kNone, &file));
  constexpr size_t kChunkBytes = 1 << 16;
  for (size_t count = kChunkBytes; count == kChunkBytes;) {
    const size_t size = content->size();
    content->resize(size + kChunkBytes);
    STILLFLOW_RETURN_IF_ERROR(file->Read(content->data() + size, kChunkBytes, &count));
    content->resize(size + count);
  }
  return Status();
}

enum { kWholeLine = -2, kLineNumber = -1 };

template <typename T>
bool ParseTo(const std::string& field, std::string* bytes) {
  T number;
  if (!io::ParseNumber({field.data(), field.size()}, &number)) return false;
  bytes->assign(reinterpret_cast<const char*>(&number), sizeof number);
  return true;
}

// The bytes of a field as a key or value of a type.
Status FieldBytes(const std::string& field, DType dtype, int64_t line, std::string* bytes) {
  bool is_read = true;
  switch (dtype) {
    case DType::kString:
      *bytes = field;
      break;
    case DType::kInt32:
      is_read = ParseTo<int32_t>(field, bytes);
      break;
    case DType::kInt64:
      is_read = ParseTo<int64_t>(field, bytes);
      break;
    case DType::kFloat:
      is_read = ParseTo<float>(field, bytes);
      break;
    case DType::kDouble:
      is_read = ParseTo<double>(field, bytes);
      break;
    default:
      return STILLFLOW_INVALID_ARGUMENT("Data type %s not supported.", Name(dtype));
  }
  if (is_read) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Field %s in line %lld is not a valid %s.", field.c_str(),
                                    static_cast<long long>(line), Name(dtype));
}

struct TextFile {
  std::string path;
  int64_t key_index, value_index, line_count;
  char delimiter;
};

// A key or value out of a line.
Status ReadField(const TextFile& file, int64_t index, const std::string& line, int64_t number, DType dtype,
                 std::string* bytes) {
  if (index == kLineNumber) {
    bytes->assign(reinterpret_cast<const char*>(&number), sizeof number);
    return Status();
  }
  if (index == kWholeLine) return FieldBytes(line, dtype, number, bytes);
  size_t begin = 0;
  for (int64_t i = 0; i < index; ++i) begin = line.find(file.delimiter, begin) + 1;
  return FieldBytes(line.substr(begin, line.find(file.delimiter, begin) - begin), dtype, number, bytes);
}

Status CheckColumns(const TextFile& file, const std::string& line, int64_t number) {
  const int64_t columns = 1 + std::count(line.begin(), line.end(), file.delimiter);
  const int64_t last = std::max(file.key_index, file.value_index);
  if (last < columns) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Invalid number of columns in %s line %lld (%s) : expected %lld got %lld",
                                    file.path.c_str(), static_cast<long long>(number), line.c_str(),
                                    static_cast<long long>(last), static_cast<long long>(columns));
}

Status ReadPairs(const TextFile& file, const HashTable& table,
                 std::vector<std::pair<std::string, std::string>>* pairs) {
  std::string content;
  STILLFLOW_RETURN_IF_ERROR(ReadWhole(file.path, &content));
  if (content.empty()) return Error(Code::kOutOfRange, "Read less bytes than requested");
  int64_t number = 0;
  for (size_t begin = 0; begin < content.size() && (file.line_count < 0 || number < file.line_count); ++number) {
    const size_t end = std::min(content.find('\n', begin), content.size());
    std::string line = content.substr(begin, end - begin);
    line.erase(std::remove(line.begin(), line.end(), '\r'), line.end());
    begin = end + 1;
    if (line.empty()) {
      return STILLFLOW_INVALID_ARGUMENT("Invalid content in %s: empty line found at position %zu.", file.path.c_str(),
                                        std::min(begin, content.size()));
    }
    if (std::max(file.key_index, file.value_index) >= 0) {
      STILLFLOW_RETURN_IF_ERROR(CheckColumns(file, line, number));
    }
    std::pair<std::string, std::string> pair;
    STILLFLOW_RETURN_IF_ERROR(ReadField(file, file.key_index, line, number, table.key_dtype(), &pair.first));
    STILLFLOW_RETURN_IF_ERROR(ReadField(file, file.value_index, line, number, table.value_dtype(), &pair.second));
    pairs->push_back(std::move(pair));
  }
  if (file.line_count >= 0 && number < file.line_count) {
    return STILLFLOW_INVALID_ARGUMENT("Invalid vocab_size in %s: expected %lld but got %lld", file.path.c_str(),
                                      static_cast<long long>(file.line_count), static_cast<long long>(number));
  }
  return Status();
}

// What a column may be: the line's number is int64, the whole line a string or, for keys, an integer.
Status CheckColumn(int64_t index, DType dtype, bool is_key) {
  if (index < kWholeLine)
    return STILLFLOW_INVALID_ARGUMENT("Invalid column index: %lld", static_cast<long long>(index));
  const bool is_integer = dtype == DType::kInt64 || dtype == DType::kInt32;
  const bool fits = index == kLineNumber  ? dtype == DType::kInt64
                    : index == kWholeLine ? dtype == DType::kString || (is_key && is_integer)
                                          : true;
  if (fits) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s index for %s: %s data type %s requires int64 or string",
                                    is_key ? "Key" : "Value", index == kLineNumber ? "line number" : "whole line",
                                    is_key ? "key" : "value", Name(dtype));
}

Status InitializeTableFromFile(const KernelCall& call) {
  std::shared_ptr<LookupTable> found;
  STILLFLOW_RETURN_IF_ERROR(FindResource<LookupTable>(call, 0, &found));
  const auto table = std::dynamic_pointer_cast<HashTable>(found);
  if (table == nullptr) return STILLFLOW_INVALID_ARGUMENT("A %s is not initialized from a file", found->type());
  const Tensor& name = *call.in[1];
  if (name.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("filename should be a single string, but got %s", ShapeText(name).c_str());
  }
  if (call.attrs[3].size != 1) return STILLFLOW_INVALID_ARGUMENT("delimiter should be only 1 char");
  const TextFile file = {Text(StringAt(name, 0)), call.attrs[0].i, call.attrs[1].i, call.attrs[2].i,
                         *static_cast<const char*>(call.attrs[3].data)};
  STILLFLOW_RETURN_IF_ERROR(CheckColumn(file.key_index, table->key_dtype(), true));
  STILLFLOW_RETURN_IF_ERROR(CheckColumn(file.value_index, table->value_dtype(), false));
  std::vector<std::pair<std::string, std::string>> pairs;
  STILLFLOW_RETURN_IF_ERROR(ReadPairs(file, *table, &pairs));
  return table->Initialize(pairs);
}

// ---- Reading it ---------------------------------------------------------------------------------------------------

Status LookupTableFind(const KernelCall& call) {
  std::shared_ptr<LookupTable> table;
  STILLFLOW_RETURN_IF_ERROR(FindResource<LookupTable>(call, 0, &table));
  return table->Find(call, *call.in[1], *call.in[2]);
}

Status LookupTableSize(const KernelCall& call) {
  std::shared_ptr<LookupTable> table;
  STILLFLOW_RETURN_IF_ERROR(FindResource<LookupTable>(call, 0, &table));
  int64_t size = 0;
  STILLFLOW_RETURN_IF_ERROR(table->Size(&size));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, Shape()));
  *MutableData<int64_t>(*call.out[0]) = size;
  return Status();
}

Status LookupTableExport(const KernelCall& call) {
  std::shared_ptr<LookupTable> table;
  STILLFLOW_RETURN_IF_ERROR(FindResource<LookupTable>(call, 0, &table));
  const auto key = static_cast<DType>(call.attrs[0].i), value = static_cast<DType>(call.attrs[1].i);
  STILLFLOW_RETURN_IF_ERROR(CheckTypes(call, *table, key, value, ""));
  return table->Export(call);
}

// ---- Changing it --------------------------------------------------------------------------------------------------

Status LookupTableInsert(const KernelCall& call) {
  std::shared_ptr<LookupTable> table;
  STILLFLOW_RETURN_IF_ERROR(FindResource<LookupTable>(call, 0, &table));
  return table->Insert(call, *call.in[1], *call.in[2]);
}

Status LookupTableRemove(const KernelCall& call) {
  std::shared_ptr<LookupTable> table;
  STILLFLOW_RETURN_IF_ERROR(FindResource<LookupTable>(call, 0, &table));
  return table->Remove(call, *call.in[1]);
}

}  // namespace

STILLFLOW_KERNELS(state, lookup_table){
    {"make_hash_table", "| " STILLFLOW_HANDLE_ATTRS ", key_dtype, value_dtype", Guarded<MakeHashTable>, nullptr,
     nullptr, HandleState::New, HandleState::Free},
    {"initialize_table", "table_handle, keys, values", Guarded<InitializeTable>},
    {"initialize_table_from_file", "table_handle, filename | key_index, value_index, vocab_size, delimiter",
     Guarded<InitializeTableFromFile>},
    {"lookup_table_find", "table_handle, keys, default_value", Guarded<LookupTableFind>},
    {"lookup_table_insert", "table_handle, keys, values", Guarded<LookupTableInsert>},
    {"lookup_table_remove", "table_handle, keys", Guarded<LookupTableRemove>},
    {"lookup_table_size", "table_handle", Guarded<LookupTableSize>},
    {"lookup_table_export", "table_handle | Tkeys, Tvalues", Guarded<LookupTableExport>},
    {}};

}  // namespace stillflow
