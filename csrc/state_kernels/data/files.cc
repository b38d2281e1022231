// text_line_dataset, tf_record_dataset, fixed_length_record_dataset: data sets of files, which csrc/datasets/files.cc
// has.
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

}  // namespace

STILLFLOW_KERNELS(data, files){
    {"text_line_dataset", "filenames, compression_type, buffer_size", Guarded<TextLine>},
    {"tf_record_dataset", "filenames, compression_type, buffer_size", Guarded<TFRecord>},
    {"fixed_length_record_dataset", "filenames, header_bytes, record_bytes, footer_bytes, buffer_size",
     Guarded<FixedLengthRecord>},
    {"fixed_length_record_dataset_v2",
     "filenames, header_bytes, record_bytes, footer_bytes, buffer_size, compression_type",
     Guarded<FixedLengthRecord>},
    {}};

}  // namespace stillflow
