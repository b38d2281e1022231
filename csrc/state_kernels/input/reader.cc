// make_reader, reader_read, reader_read_up_to, reader_count, reader_reset, reader_serialize_state,
// reader_restore_state: readers, which csrc/readers has.
//
//   make_reader  out[0] a handle; attrs STILLFLOW_HANDLE_ATTRS: see handle.h; type: which kind;
//                skip_header_lines, header_bytes, record_bytes, footer_bytes, hop_bytes; encoding: "ZLIB", "GZIP", or
//                anything else for plain files
//   others       in[0] a handle
//   read         in[1] a handle of a queue of strings; out[0], out[1] key and value; of read_up_to in[2] how many at
//                most, and vectors of keys and values
//   count        attr completed: 0 for the records produced, 1 for the pieces of work completed
#include "readers/reader.h"

#include <vector>

#include "kernels/guarded.h"
#include "queues/queue.h"
#include "state_kernels/handle.h"

namespace stillflow {
namespace {

constexpr const char* kTypes[] = {"TextLineReader", "FixedLengthRecordReader", "WholeFileReader", "TFRecordReader",
                                  "IdentityReader"};
enum ReaderAttr {
  kType = kHandleAttrs,
  kSkipHeaderLines,
  kHeaderBytes,
  kRecordBytes,
  kFooterBytes,
  kHopBytes,
  kEncoding
};

Status MakeReaderHandle(const KernelCall& call) {
  const Attr* attrs = call.attrs;
  const std::string type = kTypes[attrs[kType].i];
  return OutputHandle<Reader>(
      call,
      [&](const ResourceTable::Name&, std::shared_ptr<Resource>* reader) {
        ReaderOptions options;
        options.skip_header_lines = attrs[kSkipHeaderLines].i;
        options.header_bytes = attrs[kHeaderBytes].i;
        options.record_bytes = attrs[kRecordBytes].i;
        options.footer_bytes = attrs[kFooterBytes].i;
        options.hop_bytes = attrs[kHopBytes].i;
        io::CompressionFromName(StringOf(attrs[kEncoding]), &options.compression);
        return MakeReader(type, StringOf(attrs[kHandleNodeName]), options, reader);
      },
      [&](const Reader& reader) {
        if (reader.type() == type) return Status();
        return STILLFLOW_INVALID_ARGUMENT("Expected %s, found %s", reader.type().c_str(), type.c_str());
      });
}

Status FindReader(const KernelCall& call, std::shared_ptr<Reader>* reader) {
  return FindResource<Reader>(call, 0, reader);
}

Status ReadRecords(const KernelCall& call, int64_t most, std::vector<Record>* records) {
  std::shared_ptr<Reader> reader;
  std::shared_ptr<Queue> queue;
  STILLFLOW_RETURN_IF_ERROR(FindReader(call, &reader));
  STILLFLOW_RETURN_IF_ERROR(FindResource<Queue>(call, 1, &queue));
  const std::vector<DType>& types = queue->spec().types;
  if (types.size() != 1 || types[0] != DType::kString) {
    return STILLFLOW_INVALID_ARGUMENT("A reader's queue has elements of one string, not of (%s)",
                                      TextOf(types).c_str());
  }
  return reader->Read(call.run, queue.get(), most, records);
}

bool SetText(const KernelCall& call, int out, int64_t index, const std::string& text) {
  return SetString(call, call.out[out], index, text.data(), static_cast<int64_t>(text.size()));
}

Status Read(const KernelCall& call) {
  std::vector<Record> records;
  STILLFLOW_RETURN_IF_ERROR(ReadRecords(call, 1, &records));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, Shape()));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kString, Shape()));
  return SetText(call, 0, 0, records[0].key) && SetText(call, 1, 0, records[0].value) ? Status() : OutOfScratch();
}

Status ReadUpTo(const KernelCall& call) {
  const Tensor& most = *call.in[2];
  if (most.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("num_records must be a scalar, got shape %s", ShapeText(most).c_str());
  }
  if (IntAt(most, 0) < 0) {
    return STILLFLOW_INVALID_ARGUMENT("num_records must be >= 0 not %lld", static_cast<long long>(IntAt(most, 0)));
  }
  std::vector<Record> records;
  STILLFLOW_RETURN_IF_ERROR(ReadRecords(call, IntAt(most, 0), &records));
  Shape shape;
  shape.Add(static_cast<int64_t>(records.size()));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, shape));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kString, shape));
  for (int64_t i = 0; i < shape.dims[0]; ++i) {
    if (!SetText(call, 0, i, records[i].key) || !SetText(call, 1, i, records[i].value)) return OutOfScratch();
  }
  return Status();
}

Status Count(const KernelCall& call) {
  std::shared_ptr<Reader> reader;
  STILLFLOW_RETURN_IF_ERROR(FindReader(call, &reader));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, Shape()));
  *MutableData<int64_t>(*call.out[0]) =
      call.attrs[0].i == 0 ? reader->records_produced() : reader->work_units_completed();
  return Status();
}

Status Reset(const KernelCall& call) {
  std::shared_ptr<Reader> reader;
  STILLFLOW_RETURN_IF_ERROR(FindReader(call, &reader));
  return reader->Reset(call.run);
}

Status SerializeState(const KernelCall& call) {
  std::shared_ptr<Reader> reader;
  std::string state;
  STILLFLOW_RETURN_IF_ERROR(FindReader(call, &reader));
  STILLFLOW_RETURN_IF_ERROR(reader->SerializeState(call.run, &state));
  return SetScalarString(call, state);
}

Status RestoreState(const KernelCall& call) {
  std::shared_ptr<Reader> reader;
  STILLFLOW_RETURN_IF_ERROR(FindReader(call, &reader));
  if (call.in[1]->rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Reader state must be scalar, but had shape: %s",
                                      ShapeText(*call.in[1]).c_str());
  }
  return reader->RestoreState(call.run, Text(StringAt(*call.in[1], 0)));
}

}  // namespace

STILLFLOW_KERNELS(input, reader){
    {"make_reader",
     "| " STILLFLOW_HANDLE_ATTRS
     ", type: text_line fixed_length_record whole_file tf_record identity, skip_header_lines, header_bytes, "
     "record_bytes, footer_bytes, "
     "hop_bytes, encoding",
     Guarded<MakeReaderHandle>, nullptr, nullptr, HandleState::New, HandleState::Free},
    {"reader_read", "reader_handle, queue_handle", Guarded<Read>},
    {"reader_read_up_to", "reader_handle, queue_handle, num_records", Guarded<ReadUpTo>},
    {"reader_count", "reader_handle | counted: records work_units", Guarded<Count>},
    {"reader_reset", "reader_handle", Guarded<Reset>},
    {"reader_serialize_state", "reader_handle", Guarded<SerializeState>},
    {"reader_restore_state", "reader_handle, state", Guarded<RestoreState>},
    {}};

}  // namespace stillflow
