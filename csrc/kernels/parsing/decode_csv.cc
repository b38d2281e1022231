// decode_csv: lines of fields as columns.
//
//   in[0]    records, strings of any shape
//   in[1...] a default for each column: one element, or none where the field has to be there
//   attrs    OUT_TYPE, field_delim, use_quote_delim, na_value, select_cols
//   out[i]   column i, of the shape of the records
//
// Records are cut into chunks; each element has one writer. The error is that of the first bad record.
#include <algorithm>
#include <vector>

#include "io/number_text.h"
#include "kernels/guarded.h"

namespace stillflow {
namespace {

using io::Bytes;

constexpr int64_t kRecordsPerChunk = 64;

struct Options {
  char delimiter;
  bool has_quotes;
  Bytes missing;  // what stands for a missing value, beside the empty field
  const int64_t* selected;
  int64_t selected_count;  // 0: all columns
};

// The fields of one record that are asked for. Those with escaped quotes are kept in `unescaped`.
class Fields {
 public:
  explicit Fields(const Options& options) : options_(options) {}

  const std::vector<Bytes>& spans() const { return spans_; }

  Status Split(Bytes record) {
    spans_.clear();
    unescaped_.clear();
    unescaped_.reserve(record.size);  // so that what points there stays
    number_ = next_selected_ = 0;
    const char* next = record.data;
    const char* const end = record.data + record.size;
    while (next < end) {
      if (*next == '\n' || *next == '\r') {
        ++next;
        continue;
      }
      if (options_.has_quotes && *next == '"') {
        STILLFLOW_RETURN_IF_ERROR(QuotedField(&next, end));
      } else {
        STILLFLOW_RETURN_IF_ERROR(PlainField(&next, end));
      }
    }
    if (record.size > 0 && record.data[record.size - 1] == options_.delimiter) Add({"", 0});
    return Status();
  }

 private:
  void Add(Bytes field) {
    const int64_t number = number_++;
    if (options_.selected_count == 0) {
      spans_.push_back(field);
    } else if (next_selected_ < options_.selected_count && options_.selected[next_selected_] == number) {
      spans_.push_back(field);
      ++next_selected_;
    }
  }

  Status PlainField(const char** next, const char* end) {
    const char* const begin = *next;
    const char* at = begin;
    for (; at < end && *at != options_.delimiter; ++at) {
      if ((options_.has_quotes && *at == '"') || *at == '\n' || *at == '\r') {
        return STILLFLOW_INVALID_ARGUMENT("Unquoted fields cannot have quotes/CRLFs inside");
      }
    }
    Add({begin, static_cast<size_t>(at - begin)});
    *next = at == end ? end : at + 1;
    return Status();
  }

  Status QuotedField(const char** next, const char* end) {
    const char* at = *next + 1;
    const char* begin = at;
    const size_t kept = unescaped_.size();
    bool is_escaped = false;
    const auto keep = [&] {
      unescaped_.append(begin, at - begin);
      is_escaped = true;
    };
    while (end - at > 1 && !(*at == '"' && at[1] == options_.delimiter)) {
      if (*at == '"') {
        if (at[1] != '"') {
          return STILLFLOW_INVALID_ARGUMENT("Quote inside a string has to be escaped by another quote");
        }
        ++at;
        keep();
        begin = ++at;
      } else {
        ++at;
      }
    }
    if (at >= end || *at != '"') {
      return STILLFLOW_INVALID_ARGUMENT("Quoted field has to end with quote followed by delim or end");
    }
    if (is_escaped) {
      keep();
      Add({unescaped_.data() + kept, unescaped_.size() - kept});
    } else {
      Add({begin, static_cast<size_t>(at - begin)});
    }
    *next = std::min(at + 2, end);
    return Status();
  }

  const Options& options_;
  std::vector<Bytes> spans_;
  std::string unescaped_;
  int64_t number_ = 0;
  int64_t next_selected_ = 0;
};

// ---- One field ----------------------------------------------------------------------------------------------------

template <typename T>
Status SetNumber(Bytes field, bool is_missing, const Tensor& fallback, int64_t row, int column, Tensor* out) {
  T* value = MutableData<T>(*out) + row;
  if (is_missing) {
    *value = Data<T>(fallback)[0];
    return Status();
  }
  if (io::ParseNumber(field, value)) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Field %d in record %lld is not a valid %s: %s", column,
                                    static_cast<long long>(row), Name(out->dtype), Text(field).c_str());
}

Status SetText(const KernelCall& call, Bytes field, bool is_missing, const Tensor& fallback, int64_t row,
               Tensor* out) {
  if (is_missing) {
    StringCell* cell = Data<StringCell*>(fallback)[0];
    if (cell != nullptr) cell->references.fetch_add(1, std::memory_order_relaxed);
    MutableData<StringCell*>(*out)[row] = cell;
    return Status();
  }
  const bool is_set = SetString(call, out, row, field.data, static_cast<int64_t>(field.size));
  return is_set ? Status() : OutOfScratch();
}

Status SetField(const KernelCall& call, const Options& options, Bytes field, int64_t row, int column) {
  const Tensor& fallback = *call.in[column + 1];
  Tensor* out = call.out[column];
  const bool is_missing = field.size == 0 || (field.size == options.missing.size &&
                                              std::memcmp(field.data, options.missing.data, field.size) == 0);
  if (is_missing && fallback.count == 0) {
    return STILLFLOW_INVALID_ARGUMENT("Field %d is required but missing in record %lld!", column,
                                      static_cast<long long>(row));
  }
  switch (out->dtype) {
    case DType::kInt32:
      return SetNumber<int32_t>(field, is_missing, fallback, row, column, out);
    case DType::kInt64:
      return SetNumber<int64_t>(field, is_missing, fallback, row, column, out);
    case DType::kFloat:
      return SetNumber<float>(field, is_missing, fallback, row, column, out);
    case DType::kDouble:
      return SetNumber<double>(field, is_missing, fallback, row, column, out);
    case DType::kString:
      return SetText(call, field, is_missing, fallback, row, out);
    default:
      return UnsupportedType("DecodeCSV", out->dtype);
  }
}

Status DecodeRecords(const KernelCall& call, const Options& options, Range rows) {
  Fields fields(options);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    STILLFLOW_RETURN_IF_ERROR(fields.Split(StringAt(*call.in[0], row)));
    const auto found = static_cast<int>(fields.spans().size());
    if (found != call.out_count) {
      return STILLFLOW_INVALID_ARGUMENT("Expect %d fields but have %d in record %lld", call.out_count, found,
                                        static_cast<long long>(row));
    }
    for (int column = 0; column < found; ++column) {
      STILLFLOW_RETURN_IF_ERROR(SetField(call, options, fields.spans()[column], row, column));
    }
  }
  return Status();
}

Status DecodeCsv(const KernelCall& call) {
  const Attr* attrs = call.attrs;
  if (attrs[1].size != 1) return STILLFLOW_INVALID_ARGUMENT("field_delim should be only 1 char");
  Options options;
  options.delimiter = *static_cast<const char*>(attrs[1].data);
  options.has_quotes = attrs[2].i != 0;
  options.missing = {static_cast<const char*>(attrs[3].data), static_cast<size_t>(attrs[3].size)};
  options.selected = static_cast<const int64_t*>(attrs[4].data);
  options.selected_count = attrs[4].size;
  if (options.selected_count > 0 && options.selected_count != call.out_count) {
    return STILLFLOW_INVALID_ARGUMENT("select_cols should match output size");
  }
  for (int64_t i = 0; i < options.selected_count; ++i) {
    if (options.selected[i] < 0) return STILLFLOW_INVALID_ARGUMENT("select_cols should be non-negative indices");
    if (i > 0 && options.selected[i] <= options.selected[i - 1]) {
      return STILLFLOW_INVALID_ARGUMENT("select_cols should be strictly increasing indices");
    }
  }
  for (int i = 0; i < call.out_count; ++i) {
    if (call.in[i + 1]->count > 1) {
      return STILLFLOW_INVALID_ARGUMENT("There should only be 1 default per field but field %d has %lld", i,
                                        static_cast<long long>(call.in[i + 1]->count));
    }
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, i, call.in[i + 1]->dtype, Shape(*call.in[0])));
  }
  return ForEachChunk(call, call.in[0]->count, kRecordsPerChunk, [&](Range rows) {
    return CatchingOutOfMemory([&] { return DecodeRecords(call, options, rows); });
  });
}

}  // namespace

STILLFLOW_KERNELS(parsing, decode_csv){
    {"decode_csv", "records, record_defaults... | OUT_TYPE, field_delim, use_quote_delim, na_value, select_cols",
     Guarded<DecodeCsv>},
    {}};

}  // namespace stillflow
