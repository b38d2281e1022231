// Tensors and checkpoint files.
//
//   save_v2            in[0] prefix, string[]; in[1] names, in[2] shapes and slices, string[n]; in[3...] n tensors
//   restore_v2         in[0] prefix; in[1] names, in[2] shapes and slices, string[n]; attr dtypes; out[...] n tensors
//   merge_v2_checkpoints  in[0] prefixes, string[n]; in[1] the merged one's; attr delete_old_dirs
//   sharded_filename   in[0] basename, in[1] shard, in[2] number of shards; out[0] string[]
//   sharded_filespec   in[0] basename, in[1] number of shards; out[0] string[]
//   save_v1            in[0] a file's name; in[1] names, string[n]; in[2...] n tensors; attr 0
//   save_slices_v1     as save_v2, with a file's name; attr 1
//   restore_v1         in[0] pattern of files; in[1] name; attr dt; out[0] the tensor
//   restore_slice_v1   in[0] pattern of files; in[1] name, in[2] shape and slice; attr dt; out[0] the tensor
//
// What the session has noted for a checkpoint becomes part of it. Outputs are made only of values whose checksums are
// right, and only if all of them are.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "datasets/variant.h"
#include "io/bundle_writer.h"
#include "io/checkpoint_reader.h"
#include "io/v1_writer.h"
#include "kernel_api/kernel.h"
#include "runtime/executor/run_context.h"
#include "runtime/executor/session.h"

namespace stillflow {
namespace {

using io::Dims;
using io::TensorSlice;

std::string StringAt(const Tensor& tensor, int64_t index) {
  const StringCell* cell = Data<StringCell*>(tensor)[index];
  return cell == nullptr ? std::string() : std::string(cell->bytes, cell->size);
}

Status CheckScalar(const Tensor& tensor, const char* name, int input) {
  if (tensor.count == 1 && tensor.rank == 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Input %d (%s) must be a string scalar; got a tensor of shape %s", input, name,
                                    ShapeText(tensor).c_str());
}

Dims DimsOf(const Tensor& tensor) { return Dims(tensor.dims, tensor.dims + tensor.rank); }

struct ParallelRun {
  explicit ParallelRun(const KernelCall& call) : call_(call), parallel{Run, this} {}

  static Status Run(void* self, int64_t count, Status (*body)(void*, int64_t), void* arg) {
    const KernelCall& call = static_cast<ParallelRun*>(self)->call_;
    return call.services->parallel_for(call.run, count, body, arg);
  }

  const KernelCall& call_;
  io::Parallel parallel;
};

// A position is stored as the string that it is.
bool IsPosition(const Tensor& tensor) {
  return tensor.dtype == DType::kVariant && tensor.rank == 0 && VariantAt<PositionVariant>(tensor, 0) != nullptr;
}
DType StoredType(DType dtype) { return dtype == DType::kVariant ? DType::kString : dtype; }

io::StringSource SourceOf(const Tensor& tensor) {
  if (tensor.dtype == DType::kVariant) {
    const auto* position = VariantAt<PositionVariant>(tensor, 0);
    return [position](int64_t) { return io::Bytes(position->bytes); };
  }
  StringCell* const* cells = Data<StringCell*>(tensor);
  return [cells](int64_t index) {
    const StringCell* cell = cells[index];
    return cell == nullptr ? io::Bytes() : io::Bytes(cell->bytes, cell->size);
  };
}

// ---- Saving -------------------------------------------------------------------------------------------------------

// Checks names, and shapes and slices, of `count` tensors that begin at input `first`.
Status CheckNames(const KernelCall& call, int count, bool has_slices) {
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[0], "prefix", 0));
  for (int i = 1; i < (has_slices ? 3 : 2); ++i) {
    const Tensor& names = *call.in[i];
    if (names.rank != 1) {
      return STILLFLOW_INVALID_ARGUMENT("Input %d should be an 1-D tensor; got a tensor of shape %s", i,
                                        ShapeText(names).c_str());
    }
    if (names.count != count) {
      return STILLFLOW_INVALID_ARGUMENT("Expected %d elements for the tensor names and slices but got %lld", count,
                                        static_cast<long long>(names.count));
    }
  }
  return Status();
}

Status PartAt(const KernelCall& call, int index, bool has_slices, io::TensorPart* part) {
  const Tensor& tensor = *call.in[index + (has_slices ? 3 : 2)];
  part->name = StringAt(*call.in[1], index);
  part->dtype = StoredType(tensor.dtype);
  part->dims = DimsOf(tensor);
  const std::string spec = has_slices ? StringAt(*call.in[2], index) : std::string();
  part->is_slice = !spec.empty();
  if (!part->is_slice) return Status();
  STILLFLOW_RETURN_IF_ERROR(io::ParseShapeAndSlice(spec, &part->full_dims, &part->slice));
  TensorSlice resolved = part->slice;
  resolved.Resolve(part->full_dims);
  if (resolved.Shape() == part->dims) return Status();
  return STILLFLOW_INVALID_ARGUMENT(
      "Shape in shape_and_slice specification does not match the shape of the tensor to  save: %s, tensor: %s",
      spec.c_str(), ShapeText(tensor).c_str());
}

// Adds all tensors to a writer of either format.
template <typename AddNumbers, typename AddStrings>
Status AddAll(const KernelCall& call, bool has_slices, AddNumbers add_numbers, AddStrings add_strings) {
  const int first = has_slices ? 3 : 2;
  const int count = call.in_count - first;
  STILLFLOW_RETURN_IF_ERROR(CheckNames(call, count, has_slices));
  for (int i = 0; i < count; ++i) {
    const Tensor& tensor = *call.in[first + i];
    // What other variants hold is known to this process alone.
    if (tensor.dtype == DType::kVariant && !IsPosition(tensor)) return UnsupportedType("Save", tensor.dtype);
    io::TensorPart part;
    STILLFLOW_RETURN_IF_ERROR(PartAt(call, i, has_slices, &part));
    STILLFLOW_RETURN_IF_ERROR(HasCells(tensor.dtype) ? add_strings(part, tensor) : add_numbers(part, tensor));
  }
  return Status();
}

Status SaveV2(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckNames(call, call.in_count - 3, true));
  const ParallelRun run(call);
  io::BundleWriter writer;
  STILLFLOW_RETURN_IF_ERROR(writer.Open(StringAt(*call.in[0], 0)));
  STILLFLOW_RETURN_IF_ERROR(AddAll(
      call, true,
      [&](const io::TensorPart& part, const Tensor& tensor) { return writer.Add(part, tensor.data, run.parallel); },
      [&](const io::TensorPart& part, const Tensor& tensor) { return writer.AddStrings(part, SourceOf(tensor)); }));
  const auto notes = call.run->session->TakeNotes(StringAt(*call.in[0], 0));
  for (const auto& note : notes) {
    const io::TensorPart part = {note.first, DType::kString, {}, {}, {}, false};
    STILLFLOW_RETURN_IF_ERROR(writer.AddStrings(part, [&](int64_t) { return io::Bytes(note.second); }));
  }
  return writer.Finish();
}

Status SaveV1(const KernelCall& call) {
  io::V1Writer writer;
  STILLFLOW_RETURN_IF_ERROR(AddAll(
      call, call.attrs[0].i != 0,
      [&](const io::TensorPart& part, const Tensor& tensor) { return writer.Add(part, tensor.data); },
      [&](const io::TensorPart& part, const Tensor& tensor) { return writer.AddStrings(part, SourceOf(tensor)); }));
  return writer.Finish(StringAt(*call.in[0], 0));
}

Status MergeV2(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[1], "destination_prefix", 1));
  if (call.in[0]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input checkpoint_prefixes should be an 1-D tensor, got %s instead.",
                                      ShapeText(*call.in[0]).c_str());
  }
  std::vector<std::string> prefixes;
  for (int64_t i = 0; i < call.in[0]->count; ++i) prefixes.push_back(StringAt(*call.in[0], i));
  return io::MergeBundles(prefixes, StringAt(*call.in[1], 0), call.attrs[0].i != 0);
}

// ---- Names --------------------------------------------------------------------------------------------------------

Status TextOut(const KernelCall& call, const std::string& text) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, Shape()));
  return SetString(call, call.out[0], 0, text.data(), static_cast<int64_t>(text.size())) ? Status() : OutOfScratch();
}

std::string Padded(int32_t number) {
  char text[16];
  std::snprintf(text, sizeof text, "%05d", number);
  return text;
}

Status ShardedFilename(const KernelCall& call) {
  for (int i = 0; i < 3; ++i) STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[i], i == 0 ? "basename" : "shard", i));
  return TextOut(call, StringAt(*call.in[0], 0) + "-" + Padded(*Data<int32_t>(*call.in[1])) + "-of-" +
                           Padded(*Data<int32_t>(*call.in[2])));
}

Status ShardedFilespec(const KernelCall& call) {
  for (int i = 0; i < 2; ++i) STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[i], i == 0 ? "basename" : "shards", i));
  return TextOut(call, StringAt(*call.in[0], 0) + "-\?\?\?\?\?-of-" + Padded(*Data<int32_t>(*call.in[1])));
}

// ---- Restoring ----------------------------------------------------------------------------------------------------

struct Wanted {
  std::string name;
  TensorSlice slice;
  Shape shape;
};

// Finds a tensor in the checkpoint and checks all that can be checked before memory is allocated for it.
Status Find(const io::CheckpointReader& reader, const std::string& name, const std::string& spec, DType dtype,
            Wanted* wanted) {
  wanted->name = name;
  const io::StoredTensor* stored = reader.Find(name);
  if (stored == nullptr) return reader.KeyNotFound(name);
  if (stored->dtype != StoredType(dtype)) {
    return STILLFLOW_INVALID_ARGUMENT("tensor_name = %s; expected dtype %s does not equal original dtype %s",
                                      name.c_str(), Name(dtype), Name(stored->dtype));
  }
  STILLFLOW_RETURN_IF_ERROR(reader.Locate(name, spec, &stored, &wanted->slice));
  for (int64_t size : wanted->slice.Shape()) wanted->shape.Add(size);
  return Status();
}

Status Fill(const KernelCall& call, const io::CheckpointReader& reader, const Wanted& wanted, DType dtype, int out) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, dtype, wanted.shape));
  Tensor* tensor = call.out[out];
  if (!HasCells(dtype)) {
    const ParallelRun run(call);
    return reader.Read(wanted.name, wanted.slice, tensor->data, run.parallel);
  }
  return reader.ReadStrings(wanted.name, wanted.slice, [&](int64_t index, io::Bytes value) {
    if (dtype == DType::kVariant) {
      MutableData<Variant*>(*tensor)[index] = new PositionVariant(value.ToString());
      return true;
    }
    return SetString(call, tensor, index, value.data, static_cast<int64_t>(value.size));
  });
}

Status RestoreV2(const KernelCall& call) {
  const int count = call.out_count;
  const auto* types = static_cast<const int64_t*>(call.attrs[0].data);
  STILLFLOW_RETURN_IF_ERROR(CheckNames(call, count, true));
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(StringAt(*call.in[1], i));
  std::vector<int> order(count);  // of two errors the one of the first name is reported
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return names[a] < names[b]; });

  std::unique_ptr<io::CheckpointReader> reader;
  STILLFLOW_RETURN_IF_ERROR(io::CheckpointReader::Open(StringAt(*call.in[0], 0), &reader));
  std::vector<Wanted> wanted(count);
  for (int i : order) {
    const auto dtype = static_cast<DType>(types[i]);
    STILLFLOW_RETURN_IF_ERROR(Find(*reader, names[i], StringAt(*call.in[2], i), dtype, &wanted[i]));
  }
  for (int i : order) STILLFLOW_RETURN_IF_ERROR(Fill(call, *reader, wanted[i], static_cast<DType>(types[i]), i));
  return Status();
}

Status RestoreV1(const KernelCall& call) {
  for (int i = 0; i < call.in_count; ++i) STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[i], "file_pattern", i));
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  std::unique_ptr<io::CheckpointReader> reader;
  STILLFLOW_RETURN_IF_ERROR(io::CheckpointReader::Open(StringAt(*call.in[0], 0), &reader));
  Wanted wanted;
  const std::string spec = call.in_count > 2 ? StringAt(*call.in[2], 0) : std::string();
  STILLFLOW_RETURN_IF_ERROR(Find(*reader, StringAt(*call.in[1], 0), spec, dtype, &wanted));
  return Fill(call, *reader, wanted, dtype, 0);
}

}  // namespace

STILLFLOW_KERNELS(state, checkpoint){
    {"save_v2", "prefix, tensor_names, shape_and_slices, tensors...", SaveV2},
    {"restore_v2", "prefix, tensor_names, shape_and_slices | dtypes", RestoreV2},
    {"merge_v2_checkpoints", "checkpoint_prefixes, destination_prefix | delete_old_dirs", MergeV2},
    {"sharded_filename", "basename, shard, num_shards", ShardedFilename},
    {"sharded_filespec", "basename, num_shards", ShardedFilespec},
    {"save_v1", "filename, tensor_names, data... | has_slices", SaveV1},
    {"save_slices_v1", "filename, tensor_names, shapes_and_slices, data... | has_slices", SaveV1},
    {"restore_v1", "file_pattern, tensor_name | dt", RestoreV1},
    {"restore_slice_v1", "file_pattern, tensor_name, shape_and_slice | dt", RestoreV1},
    {}};

}  // namespace stillflow
