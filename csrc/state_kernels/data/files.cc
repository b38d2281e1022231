// text_line_dataset, tf_record_dataset, fixed_length_record_dataset, csv_dataset: data sets of files, which
// csrc/datasets has.
//
//   in[0]   names of files, a string scalar or vector; then scalars
//   out[0]  a variant scalar that holds the data set
#include "datasets/files.h"

#include "state_kernels/data/arguments.h"

namespace stillflow {
namespace {

Status Paths(const Tensor& names, std::vector<std::string>* paths) {
  if (names.rank > 1) return STILLFLOW_INVALID_ARGUMENT("`filenames` must be a scalar or a vector.");
  for (int64_t i = 0; i < names.count; ++i) paths->push_back(Text(StringAt(names, i)));
  return Status();
}

Status CompressionArgument(const KernelCall& call, int in, io::Compression* compression) {
  std::string name;
  STILLFLOW_RETURN_IF_ERROR(StringArgument(call, in, "compression_type", &name));
  return io::CompressionFromName(name, compression) ? Status()
                                                    : STILLFLOW_INVALID_ARGUMENT("Unsupported compression_type.");
}

// Buffers have the size that suits files; what is asked for is checked alone.
Status CheckBufferSize(const KernelCall& call, int in, const char* meaning) {
  int64_t size = 0;
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, in, "buffer_size", &size));
  return size >= 0 ? Status() : STILLFLOW_INVALID_ARGUMENT("`buffer_size` must be >= 0%s", meaning);
}

// in[1] compression_type; in[2] buffer_size
Status TextLine(const KernelCall& call) {
  std::vector<std::string> paths;
  io::Compression compression = io::Compression::kNone;
  STILLFLOW_RETURN_IF_ERROR(Paths(*call.in[0], &paths));
  STILLFLOW_RETURN_IF_ERROR(CompressionArgument(call, 1, &compression));
  STILLFLOW_RETURN_IF_ERROR(CheckBufferSize(call, 2, " (0 == default)"));
  return OutputDataset(call,
                       MakeFilesDataset("TextLine", std::move(paths), [=] { return MakeLineFile(compression); }));
}

// in[1] compression_type, of which unknown ones are none, as in TensorFlow; in[2] buffer_size
Status TFRecord(const KernelCall& call) {
  std::vector<std::string> paths;
  std::string name;
  io::Compression compression = io::Compression::kNone;
  STILLFLOW_RETURN_IF_ERROR(Paths(*call.in[0], &paths));
  STILLFLOW_RETURN_IF_ERROR(StringArgument(call, 1, "compression_type", &name));
  io::CompressionFromName(name, &compression);
  STILLFLOW_RETURN_IF_ERROR(CheckBufferSize(call, 2, " (0 == no buffering)"));
  return OutputDataset(call,
                       MakeFilesDataset("TFRecord", std::move(paths), [=] { return MakeTFRecordFile(compression); }));
}

// in[1..3] header_bytes, record_bytes, footer_bytes; in[4] buffer_size; in[5] compression_type, of the second version
Status FixedLengthRecord(const KernelCall& call) {
  std::vector<std::string> paths;
  FixedLength lengths{};
  io::Compression compression = io::Compression::kNone;
  STILLFLOW_RETURN_IF_ERROR(Paths(*call.in[0], &paths));
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 1, "header_bytes", &lengths.header_bytes));
  if (lengths.header_bytes < 0) return STILLFLOW_INVALID_ARGUMENT("`header_bytes` must be >= 0");
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 2, "record_bytes", &lengths.record_bytes));
  if (lengths.record_bytes <= 0) return STILLFLOW_INVALID_ARGUMENT("`record_bytes` must be > 0");
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 3, "footer_bytes", &lengths.footer_bytes));
  if (lengths.footer_bytes < 0) return STILLFLOW_INVALID_ARGUMENT("`footer_bytes` must be >= 0");
  STILLFLOW_RETURN_IF_ERROR(CheckBufferSize(call, 4, ""));
  if (call.in_count > 5) STILLFLOW_RETURN_IF_ERROR(CompressionArgument(call, 5, &compression));
  return OutputDataset(call, MakeFilesDataset("FixedLengthRecord", std::move(paths),
                                              [=] { return MakeFixedLengthFile(lengths, compression); }));
}

// in[1] compression_type; in[2] buffer_size; in[3] header; in[4] field_delim; in[5] use_quote_delim; in[6] na_value;
// in[7] select_cols, a vector; in[8...] record_defaults, with one value or none
Status Csv(const KernelCall& call) {
  constexpr int kDefaults = 8;
  std::vector<std::string> paths;
  std::string compression_name;
  io::Compression compression = io::Compression::kNone;
  STILLFLOW_RETURN_IF_ERROR(Paths(*call.in[0], &paths));
  STILLFLOW_RETURN_IF_ERROR(StringArgument(call, 1, "compression_type", &compression_name));
  TupleSpec spec = SpecOf(call.attrs[0], call.attrs[1]);
  Tuple defaults(call.in_count - kDefaults);
  for (size_t i = 0; i < defaults.size(); ++i) {
    const Tensor& value = *call.in[kDefaults + i];
    if (value.rank > 1) return STILLFLOW_INVALID_ARGUMENT("Each record default should be at most rank 1");
    if (value.count > 1) {
      return STILLFLOW_INVALID_ARGUMENT("There should only be 1 default per field but field %d has %lld",
                                        static_cast<int>(i), static_cast<long long>(value.count));
    }
    STILLFLOW_RETURN_IF_ERROR(KeepTensor(*call.services, value, &defaults[i]));
  }
  CsvOptions options;
  const Tensor& selected = *call.in[7];
  if (selected.rank != 1) return STILLFLOW_INVALID_ARGUMENT("`select_cols` must be a vector.");
  int64_t buffer_size = 0;
  STILLFLOW_RETURN_IF_ERROR(IntArgument(call, 2, "buffer_size", &buffer_size));
  if (buffer_size <= 0) return STILLFLOW_INVALID_ARGUMENT("buffer_size should be positive");
  std::string delimiter;
  STILLFLOW_RETURN_IF_ERROR(StringArgument(call, 4, "field_delim", &delimiter));
  if (delimiter.size() != 1) return STILLFLOW_INVALID_ARGUMENT("field_delim should be only 1 char");
  options.delimiter = delimiter[0];
  STILLFLOW_RETURN_IF_ERROR(BoolArgument(call, 3, "header", &options.has_header));
  STILLFLOW_RETURN_IF_ERROR(BoolArgument(call, 5, "use_quote_delim", &options.has_quotes));
  STILLFLOW_RETURN_IF_ERROR(StringArgument(call, 6, "na_value", &options.missing));
  if (!io::CompressionFromName(compression_name, &compression)) {
    return STILLFLOW_INVALID_ARGUMENT("Unsupported compression_type: %s.", compression_name.c_str());
  }
  for (int64_t i = 0; i < selected.count; ++i) options.selected.push_back(IntAt(selected, i));
  if (!options.selected.empty() && options.selected.size() != defaults.size()) {
    return STILLFLOW_INVALID_ARGUMENT("select_cols should match output size");
  }
  for (size_t i = 1; i < options.selected.size(); ++i) {
    if (options.selected[i - 1] >= options.selected[i]) {
      return STILLFLOW_INVALID_ARGUMENT("select_cols should be strictly increasing indices");
    }
  }
  if (!options.selected.empty() && options.selected[0] < 0) {
    return STILLFLOW_INVALID_ARGUMENT("select_cols should be non-negative indices");
  }
  return OutputDataset(
      call, MakeCsvDataset(std::move(spec), std::move(paths), compression, std::move(options), std::move(defaults)));
}

}  // namespace

STILLFLOW_KERNELS(data, files){
    {"text_line_dataset", "filenames, compression_type, buffer_size", Guarded<TextLine>},
    {"tf_record_dataset", "filenames, compression_type, buffer_size", Guarded<TFRecord>},
    {"fixed_length_record_dataset", "filenames, header_bytes, record_bytes, footer_bytes, buffer_size",
     Guarded<FixedLengthRecord>},
    {"fixed_length_record_dataset_v2",
     "filenames, header_bytes, record_bytes, footer_bytes, buffer_size, compression_type",
     Guarded<FixedLengthRecord>},
    {"csv_dataset",
     "filenames, compression_type, buffer_size, header, field_delim, use_quote_delim, na_value, select_cols, "
     "record_defaults... | output_types, output_shapes",
     Guarded<Csv>},
    {}};

}  // namespace stillflow
