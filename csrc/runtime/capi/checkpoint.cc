// The part of stillflow.h that is about checkpoints, snapshots and notes.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/bundle_writer.h"
#include "io/checkpoint_reader.h"
#include "runtime/capi/guarded.h"
#include "runtime/executor/buffer.h"

using stillflow::Code;
using stillflow::DType;
using stillflow::Guarded;
using stillflow::Status;
using stillflow::StringCell;
using stillflow::Tensor;

namespace io = stillflow::io;

struct sf_snapshot {
  explicit sf_snapshot(std::vector<stillflow::Variable*> variables) : snapshot(std::move(variables)) {}
  stillflow::Snapshot snapshot;
};

struct sf_checkpoint {
  std::unique_ptr<io::CheckpointReader> reader;
  std::vector<const std::pair<const std::string, io::StoredTensor>*> tensors;
};

struct sf_checkpoint_writer {
  io::BundleWriter writer;
};

namespace {

Status OutOfMemory() { return Status(Code::kResourceExhausted, strdup("OOM when reading a checkpoint")); }

Status ReadTensor(const io::CheckpointReader& reader, const std::string& name, const std::string& spec,
                  Tensor* result) {
  const io::StoredTensor* stored = nullptr;
  io::TensorSlice wanted;
  Status status = reader.Locate(name, spec, &stored, &wanted);
  if (!status.ok()) return status;
  const io::Dims dims = wanted.Shape();
  result->dtype = stored->dtype;
  result->rank = static_cast<int32_t>(dims.size());
  std::copy(dims.begin(), dims.end(), result->dims);
  result->count = io::ElementCount(dims);
  const bool is_text = stored->dtype == DType::kString;
  const int64_t bytes = io::MemoryBytes(stored->dtype, result->count);
  result->buffer = is_text ? stillflow::AllocateStrings(result->count) : stillflow::AllocateBuffer(bytes);
  if (result->buffer == nullptr) return OutOfMemory();
  result->data = result->buffer->data;
  if (!is_text) return reader.Read(name, wanted, result->data, io::kSerial);
  auto** cells = static_cast<StringCell**>(result->data);
  return reader.ReadStrings(name, wanted, [cells](int64_t index, io::Bytes value) {
    cells[index] = stillflow::NewString(value.data, static_cast<int64_t>(value.size));
    return cells[index] != nullptr;
  });
}

}  // namespace

extern "C" {

sf_snapshot* sf_snapshot_take(sf_variable* const* variables, int32_t count) {
  auto* const* first = reinterpret_cast<stillflow::Variable* const*>(variables);
  return new (std::nothrow) sf_snapshot(std::vector<stillflow::Variable*>(first, first + count));
}
void sf_snapshot_restore(const sf_snapshot* snapshot) { snapshot->snapshot.Restore(); }
void sf_snapshot_free(sf_snapshot* snapshot) { delete snapshot; }

int32_t sf_variable_shape(sf_variable* variable, int64_t* dims) {
  auto* found = reinterpret_cast<stillflow::Variable*>(variable);
  stillflow::MutexLock guard(found->mutex);
  if (found->value.buffer == nullptr) return -1;
  std::copy_n(found->value.dims, found->value.rank, dims);
  return found->value.rank;
}

// ---- Reading ------------------------------------------------------------------------------------------------------

int32_t sf_checkpoint_open(const char* prefix, sf_checkpoint** checkpoint, char** message) {
  return Guarded(message, [&] {
    auto opened = std::make_unique<sf_checkpoint>();
    Status status = io::CheckpointReader::Open(prefix, &opened->reader);
    if (!status.ok()) return status;
    for (const auto& item : opened->reader->tensors()) opened->tensors.push_back(&item);
    *checkpoint = opened.release();
    return status;
  });
}
void sf_checkpoint_free(sf_checkpoint* checkpoint) { delete checkpoint; }
bool sf_checkpoint_is_v2(const sf_checkpoint* checkpoint) { return checkpoint->reader->is_v2(); }

bool sf_checkpoint_tensor(const sf_checkpoint* checkpoint, int64_t index, const char** name, int64_t* name_size,
                          int32_t* dtype, int32_t* rank, const int64_t** dims, int64_t* slice_count) {
  if (index < 0 || index >= static_cast<int64_t>(checkpoint->tensors.size())) return false;
  const auto& item = *checkpoint->tensors[index];
  *name = item.first.data();
  *name_size = static_cast<int64_t>(item.first.size());
  *dtype = static_cast<int32_t>(item.second.dtype);
  *rank = static_cast<int32_t>(item.second.dims.size());
  *dims = item.second.dims.data();
  *slice_count = static_cast<int64_t>(item.second.slices.size());
  return true;
}

char* sf_checkpoint_slice(const sf_checkpoint* checkpoint, int64_t index, int64_t slice) {
  return strdup(checkpoint->tensors[index]->second.slices[slice].ToString().c_str());
}

int32_t sf_checkpoint_read(const sf_checkpoint* checkpoint, const char* name, int64_t name_size,
                           const char* shape_and_slice, sf_tensor* result, char** message) {
  auto* tensor = reinterpret_cast<Tensor*>(result);
  tensor->buffer = nullptr;
  const int32_t code = Guarded(message, [&] {
    return ReadTensor(*checkpoint->reader, std::string(name, name_size), shape_and_slice, tensor);
  });
  if (code != 0 && tensor->buffer != nullptr) {
    stillflow::Release(tensor->buffer);
    tensor->buffer = nullptr;
  }
  return code;
}

int32_t sf_checkpoint_verify(const sf_checkpoint* checkpoint, char** message) {
  return Guarded(message, [&] { return checkpoint->reader->Verify(); });
}

// ---- Writing ------------------------------------------------------------------------------------------------------

int32_t sf_checkpoint_writer_open(const char* prefix, sf_checkpoint_writer** writer, char** message) {
  return Guarded(message, [&] {
    auto opened = std::make_unique<sf_checkpoint_writer>();
    Status status = opened->writer.Open(prefix);
    if (status.ok()) *writer = opened.release();
    return status;
  });
}
void sf_checkpoint_writer_free(sf_checkpoint_writer* writer) { delete writer; }

int32_t sf_checkpoint_writer_add(sf_checkpoint_writer* writer, const char* name, int64_t name_size,
                                 const char* shape_and_slice, const sf_tensor* value, char** message) {
  return Guarded(message, [&] {
    io::TensorPart part;
    part.name.assign(name, name_size);
    part.dtype = static_cast<DType>(value->dtype);
    part.dims.assign(value->dims, value->dims + value->rank);
    part.is_slice = *shape_and_slice != '\0';
    if (part.is_slice) {
      Status status = io::ParseShapeAndSlice(shape_and_slice, &part.full_dims, &part.slice);
      if (!status.ok()) return status;
    }
    if (part.dtype != DType::kString) return writer->writer.Add(part, value->data, io::kSerial);
    auto* const* cells = static_cast<StringCell* const*>(value->data);
    return writer->writer.AddStrings(part, [cells](int64_t index) {
      return cells[index] == nullptr ? io::Bytes() : io::Bytes(cells[index]->bytes, cells[index]->size);
    });
  });
}

int32_t sf_checkpoint_writer_finish(sf_checkpoint_writer* writer, char** message) {
  return Guarded(message, [&] { return writer->writer.Finish(); });
}

// ---- Notes --------------------------------------------------------------------------------------------------------

int32_t sf_session_set_note(sf_session* session, const char* prefix, const char* key, const char* bytes, int64_t size,
                            char** message) {
  return Guarded(message, [&] {
    session->session.SetNote(prefix, key, std::string(bytes, size));
    return Status();
  });
}

void sf_session_clear_notes(sf_session* session, const char* prefix) { session->session.ClearNotes(prefix); }

}  // extern "C"
