// summary_writer and what writes to it: event files that nodes of a graph write.
//
//   summary_writer            attrs: see handle.h; out[0] a handle
//   create_summary_file_writer  in[0] a handle; in[1] folder; in[2] int32 how many events may wait; in[3] int32 for
//   how
//                             many milliseconds; in[4] suffix of the file's name
//   flush_summary_writer, close_summary_writer  in[0] a handle
//   write_summary             in[0] a handle; in[1] int64 step; in[2] any tensor; in[3] tag; in[4] SummaryMetadata
//   write_scalar_summary, write_histogram_summary  in[2] tag; in[3] real values
//   write_image_summary       in[2] tag; in[3] images; in[4] uint8 bad color; attr max_images
//   write_audio_summary       in[2] tag; in[3] sounds; in[4] float sample rate; attr max_outputs
//   write_graph_summary       in[2] a serialized GraphDef
//   write_raw_proto_summary   in[2] strings, each a serialized Summary
//   import_event              in[1] a serialized Event
//
// Events wait in memory until there are too many, the oldest has waited too long when the next one comes, the file is
// flushed or closed, or the session ends.
#include <chrono>
#include <memory>

#include "io/event_file.h"
#include "kernels/summary/messages.h"
#include "state_kernels/created_resource.h"

namespace stillflow {
namespace {

using Clock = std::chrono::steady_clock;
using io::Bytes;
using io::EventField;

class SummaryWriter final : public CreatedResource {
 public:
  static constexpr char kKind[] = "summary_writer";
  static constexpr char kTypeName[] = "tensorflow::SummaryWriterInterface";
  const char* kind() const override { return kKind; }

  // The lock is held in all of them.
  Status Create(const std::string& folder, int32_t most_waiting, int32_t milliseconds, const std::string& suffix) {
    auto file = std::make_unique<io::EventFile>();
    STILLFLOW_RETURN_IF_ERROR(file->Create(folder, suffix));
    file_ = std::move(file);
    most_waiting_ = most_waiting;
    patience_ = std::chrono::milliseconds(milliseconds);
    waiting_ = 0;
    flushed_ = Clock::now();
    is_created = true;
    return Status();
  }
  void Close() {
    file_.reset();
    is_created = false;
  }
  Status Add(Bytes event) {
    file_->Add(event);
    ++waiting_;
    return waiting_ > most_waiting_ || Clock::now() - flushed_ > patience_ ? Flush() : Status();
  }
  Status Flush() {
    waiting_ = 0;
    STILLFLOW_RETURN_IF_ERROR(file_->Flush());
    flushed_ = Clock::now();
    return Status();
  }

 private:
  std::unique_ptr<io::EventFile> file_;
  int64_t most_waiting_ = 0;
  int64_t waiting_ = 0;
  Clock::duration patience_{};
  Clock::time_point flushed_;
};

Status ScalarInput(const KernelCall& call, int in, const char* name) {
  return call.in[in]->count == 1
             ? Status()
             : STILLFLOW_INVALID_ARGUMENT("%s must be scalar, got shape %s", name, ShapeText(*call.in[in]).c_str());
}

Status TextInput(const KernelCall& call, int in, const char* name, std::string* text) {
  STILLFLOW_RETURN_IF_ERROR(ScalarInput(call, in, name));
  *text = Text(StringAt(*call.in[in], 0));
  return Status();
}

// ---- The writer ---------------------------------------------------------------------------------------------------

Status CreateFileWriter(const KernelCall& call) {
  std::shared_ptr<SummaryWriter> writer;
  std::string folder, suffix;
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 0, &writer));
  STILLFLOW_RETURN_IF_ERROR(TextInput(call, 1, "logdir", &folder));
  STILLFLOW_RETURN_IF_ERROR(ScalarInput(call, 2, "max_queue"));
  STILLFLOW_RETURN_IF_ERROR(ScalarInput(call, 3, "flush_millis"));
  STILLFLOW_RETURN_IF_ERROR(TextInput(call, 4, "filename_suffix", &suffix));
  const std::lock_guard<std::mutex> guard(writer->mutex);
  if (writer->is_created) return Status();  // it is shared with the first one who made it
  return writer->Create(folder, *Data<int32_t>(*call.in[2]), *Data<int32_t>(*call.in[3]), suffix);
}

// Runs `use(writer)` with the lock of a writer that is open.
template <typename Use>
Status WithWriter(const KernelCall& call, const Use& use) {
  std::shared_ptr<SummaryWriter> writer;
  STILLFLOW_RETURN_IF_ERROR(FindResource(call, 0, &writer));
  const std::lock_guard<std::mutex> guard(writer->mutex);
  if (writer->is_created) return use(writer.get());
  return Error(Code::kNotFound, "Resource of type %s does not exist: it is closed or was never created.",
               SummaryWriter::kTypeName);
}

Status FlushWriter(const KernelCall& call) {
  return WithWriter(call, [](SummaryWriter* writer) { return writer->Flush(); });
}

Status CloseWriter(const KernelCall& call) {
  return WithWriter(call, [](SummaryWriter* writer) {
    writer->Close();
    return Status();
  });
}

// ---- What is written ----------------------------------------------------------------------------------------------

Status WriteEvent(const KernelCall& call, EventField field, const std::string& content) {
  STILLFLOW_RETURN_IF_ERROR(ScalarInput(call, 1, "step"));
  const std::string event = io::EventMessage(*Data<int64_t>(*call.in[1]), field, Bytes(content));
  return WithWriter(call, [&](SummaryWriter* writer) { return writer->Add(Bytes(event)); });
}

// `append(tag, &summary)` makes the summary that is written; in[in] is the tag.
template <typename Append>
Status WriteTagged(const KernelCall& call, int in, const Append& append) {
  std::string tag, summary;
  STILLFLOW_RETURN_IF_ERROR(TextInput(call, in, "tag", &tag));
  STILLFLOW_RETURN_IF_ERROR(append(tag, &summary));
  return WriteEvent(call, EventField::kSummary, summary);
}

Status WriteTensor(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(ScalarInput(call, 4, "summary_metadata"));
  const Bytes metadata = StringAt(*call.in[4], 0);
  const bool has_metadata = metadata.size > 0 && io::IsMessage(metadata);
  return WriteTagged(call, 3, [&](const std::string& tag, std::string* summary) {
    return AppendTensor(tag, *call.in[2], has_metadata ? &metadata : nullptr, summary);
  });
}

Status WriteScalar(const KernelCall& call) {
  if (call.in[3]->count < 1) return STILLFLOW_INVALID_ARGUMENT("value must be scalar, but it is empty");
  return WriteTagged(call, 2, [&](const std::string& tag, std::string* summary) {
    return AppendScalar(tag, *call.in[3], 0, summary);
  });
}

Status WriteHistogram(const KernelCall& call) {
  return WriteTagged(call, 2, [&](const std::string& tag, std::string* summary) {
    return AppendHistogram(tag, *call.in[3], summary);
  });
}

Status WriteImage(const KernelCall& call) {
  const Tensor& color = *call.in[4];
  if (color.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("bad_color must be a vector, got shape %s", ShapeText(color).c_str());
  }
  return WriteTagged(call, 2, [&](const std::string& tag, std::string* summary) {
    return AppendImages(tag, *call.in[3], call.attrs[0].i, Data<uint8_t>(color), color.count, summary);
  });
}

Status WriteAudio(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(ScalarInput(call, 4, "sample_rate"));
  return WriteTagged(call, 2, [&](const std::string& tag, std::string* summary) {
    return AppendSounds(tag, *call.in[3], *Data<float>(*call.in[4]), call.attrs[0].i, summary);
  });
}

Status WriteGraph(const KernelCall& call) {
  std::string graph;
  STILLFLOW_RETURN_IF_ERROR(TextInput(call, 2, "tensor", &graph));
  if (!io::IsMessage(Bytes(graph))) return Error(Code::kDataLoss, "Bad tf.GraphDef binary proto tensor string");
  return WriteEvent(call, EventField::kGraphDef, graph);
}

Status WriteRawProto(const KernelCall& call) {
  std::string summary;
  for (int64_t i = 0; i < call.in[2]->count; ++i) {
    const Bytes part = StringAt(*call.in[2], i);
    if (!io::IsMessage(part)) {
      return Error(Code::kDataLoss, "Bad tf.compat.v1.Summary binary proto tensor string at index %lld",
                   static_cast<long long>(i));
    }
    summary.append(part.data, part.size);
  }
  return WriteEvent(call, EventField::kSummary, summary);
}

Status ImportEvent(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(ScalarInput(call, 1, "event"));
  const Bytes event = StringAt(*call.in[1], 0);
  if (!io::IsMessage(event)) return Error(Code::kDataLoss, "Bad tf.Event binary proto tensor string");
  return WithWriter(call, [&](SummaryWriter* writer) { return writer->Add(event); });
}

}  // namespace

STILLFLOW_KERNELS(summary, writer){
    STILLFLOW_CREATED_HANDLE("summary_writer", SummaryWriter),
    {"create_summary_file_writer", "writer, logdir, max_queue, flush_millis, filename_suffix",
     Guarded<CreateFileWriter>},
    {"flush_summary_writer", "writer", Guarded<FlushWriter>},
    {"close_summary_writer", "writer", Guarded<CloseWriter>},
    {"write_summary", "writer, step, tensor, tag, summary_metadata", Guarded<WriteTensor>},
    {"write_scalar_summary", "writer, step, tag, value", Guarded<WriteScalar>},
    {"write_histogram_summary", "writer, step, tag, values", Guarded<WriteHistogram>},
    {"write_image_summary", "writer, step, tag, tensor, bad_color | max_images", Guarded<WriteImage>},
    {"write_audio_summary", "writer, step, tag, tensor, sample_rate | max_outputs", Guarded<WriteAudio>},
    {"write_graph_summary", "writer, step, tensor", Guarded<WriteGraph>},
    {"write_raw_proto_summary", "writer, step, tensor", Guarded<WriteRawProto>},
    {"import_event", "writer, event", Guarded<ImportEvent>},
    {}};

}  // namespace stillflow
