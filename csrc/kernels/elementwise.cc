// elementwise: a chain of elementwise operations over inputs that are broadcast against each other.
//
//   in[i]   any shapes that broadcast; the types that the program reads
//   out[i]  the broadcast shape of all inputs
//   attrs   program (elementwise/program.h), number of inputs
//
// Every output element depends on its own input elements alone, so chunks and tiles do not matter.
#include <algorithm>
#include <cstring>

#include "elementwise/program.h"
#include "kernel_api/broadcast.h"
#include "kernel_api/stream.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 16384;  // 64 KiB of floats for each operand
constexpr int64_t kScratchBytes = 32 << 10;   // what a tile's intermediate values take of the first-level cache
static_assert(kScratchBytes / ElementwiseProgram::kWidestBytes >=
                  ElementwiseProgram::kMostInputs + ElementwiseProgram::kMostInstructions,
              "a tile holds at least one element of every value");

// An input that is repeated along some dimensions, seen over the flattened output.
struct Repeated {
  int32_t input;
  int32_t rank;  // after merging neighbours that are both repeated or both not
  int64_t dims[kMaxRank];
  bool is_repeated[kMaxRank];
};

// Follows shapes through the program to say at which operation they do not fit.
Status ExplainMismatch(const KernelCall& call, const ElementwiseProgram& program) {
  std::vector<Shape> shapes;
  for (int i = 0; i < call.in_count; ++i) shapes.emplace_back(*call.in[i]);
  for (size_t i = 0; i < program.instructions().size(); ++i) {
    const auto& instruction = program.instructions()[i];
    Shape shape = shapes[instruction.in[0]];
    for (int k = 1; k < instruction.op->arity; ++k) {
      const Shape left = shape;
      Status status = BroadcastTwo(left, shapes[instruction.in[k]], &shape);
      if (status.ok()) continue;
      if (std::strcmp(instruction.op->name, "select") == 0) {
        status = STILLFLOW_INVALID_ARGUMENT(
            "condition %s, then %s, and else %s must be broadcastable", ShapeText(shapes[instruction.in[0]]).c_str(),
            ShapeText(shapes[instruction.in[1]]).c_str(), ShapeText(shapes[instruction.in[2]]).c_str());
      }
      return static_cast<Status&&>(status).InPart(static_cast<int32_t>(i));
    }
    shapes.push_back(shape);
  }
  return Error(Code::kInternal, "Shapes do not broadcast");
}

Repeated DescribeRepeats(const Tensor& tensor, const Shape& out, int input) {
  Repeated repeated;
  repeated.input = input;
  repeated.rank = 0;
  const int offset = out.rank - tensor.rank;
  for (int i = 0; i < out.rank; ++i) {
    if (out.dims[i] == 1) continue;
    const bool is_repeated = i < offset || tensor.dims[i - offset] == 1;
    if (repeated.rank > 0 && repeated.is_repeated[repeated.rank - 1] == is_repeated) {
      repeated.dims[repeated.rank - 1] *= out.dims[i];
    } else {
      repeated.dims[repeated.rank] = out.dims[i];
      repeated.is_repeated[repeated.rank++] = is_repeated;
    }
  }
  return repeated;
}

// Where the element lies that stands at `position` of the flattened output.
int64_t PlaceOf(const Repeated& repeated, int64_t position) {
  int64_t place = 0;
  int64_t size = 1;
  for (int i = repeated.rank - 1; i >= 0; --i) {
    if (!repeated.is_repeated[i]) {
      place += position % repeated.dims[i] * size;
      size *= repeated.dims[i];
    }
    position /= repeated.dims[i];
  }
  return place;
}

// Writes elements [begin, begin + count) of the flattened output shape.
template <typename T>
void CopyRepeated(const Repeated& repeated, const T* from, int64_t begin, int64_t count, T* to) {
  const int last = repeated.rank - 1;
  int64_t position[kMaxRank];
  int64_t stride[kMaxRank];
  int64_t size = 1;
  int64_t rest = begin;
  int64_t at = 0;
  for (int i = last; i >= 0; --i) {
    stride[i] = repeated.is_repeated[i] ? 0 : size;
    if (!repeated.is_repeated[i]) size *= repeated.dims[i];
    position[i] = rest % repeated.dims[i];
    rest /= repeated.dims[i];
    at += position[i] * stride[i];
  }
  while (count > 0) {
    const int64_t run = std::min(count, repeated.dims[last] - position[last]);
    if (repeated.is_repeated[last]) {
      std::fill_n(to, run, from[at]);
    } else {
      std::memcpy(to, from + at, run * sizeof(T));
    }
    to += run;
    count -= run;
    at -= position[last] * stride[last];
    position[last] = 0;
    for (int i = last - 1; i >= 0; --i) {
      at += stride[i];
      if (++position[i] < repeated.dims[i]) break;
      at -= repeated.dims[i] * stride[i];
      position[i] = 0;
    }
  }
}

void Expand(const Repeated& repeated, const Tensor& tensor, int64_t begin, int64_t count, void* to) {
  switch (ElementBytes(tensor.dtype)) {
    case 8:
      return CopyRepeated(repeated, Data<uint64_t>(tensor), begin, count, static_cast<uint64_t*>(to));
    case 4:
      return CopyRepeated(repeated, Data<uint32_t>(tensor), begin, count, static_cast<uint32_t*>(to));
    case 2:
      return CopyRepeated(repeated, Data<uint16_t>(tensor), begin, count, static_cast<uint16_t*>(to));
    default:
      return CopyRepeated(repeated, Data<uint8_t>(tensor), begin, count, static_cast<uint8_t*>(to));
  }
}

// The inputs as tiles see them.
struct Operands {
  uint64_t scalars = 0;
  int repeated_count = 0;
  Repeated repeated[ElementwiseProgram::kMostInputs];
  // Of the flattened output: within a run, each repeated input is either one element or adjacent elements.
  int64_t run;
  bool is_streamed = false;
};

void DescribeOperands(const KernelCall& call, const ElementwiseProgram& program, const Shape& shape, int64_t count,
                      Operands* operands) {
  operands->run = std::max<int64_t>(count, 1);
  for (int i = 0; i < call.in_count; ++i) {
    const Tensor& tensor = *call.in[i];
    if (tensor.count == count) continue;
    if (tensor.count == 1) {
      operands->scalars |= uint64_t{1} << i;
    } else {
      const Repeated& repeated = operands->repeated[operands->repeated_count++] = DescribeRepeats(tensor, shape, i);
      operands->run = std::min(operands->run, repeated.dims[repeated.rank - 1]);
    }
  }
  operands->is_streamed = program.is_worth_streaming() && IsStreamed(*call.out[0]);
  for (int out = 0; operands->is_streamed && out < call.out_count; ++out) {
    for (int in = 0; in < call.in_count; ++in) {
      if (call.out[out]->data == call.in[in]->data) operands->is_streamed = false;  // the line is in a cache already
    }
  }
}

// A chunk's tiles: where their operands lie, and how the operation is run over them.
class TileRunner {
 public:
  TileRunner(const KernelCall& call, const ElementwiseProgram& program, const Operands& operands, Range chunk)
      : call_(call), program_(program), operands_(operands), chunk_(chunk) {
    expands_ = operands.repeated_count > 0 && operands.run < kLongRun;
    const int expanded = expands_ ? operands.repeated_count : 0;
    tile_count_ = chunk.end - chunk.begin;
    if (program.instructions().size() > 1) {
      tile_count_ = std::min(tile_count_, operands.is_streamed ? kStreamedElements : kChainedElements);
    }
    if (const int scratch_tiles = program.scratch_count() + expanded) {
      int64_t fitting = kScratchBytes / (kWidest * scratch_tiles);
      if (expands_) fitting = std::min(fitting, kExpandedElements);
      if (fitting > kElementsPerLine) fitting -= fitting % kElementsPerLine;
      // Rows that are added to each row need be expanded once if a tile holds whole ones.
      if (expands_ && fitting > operands.run) fitting -= fitting % operands.run;
      tile_count_ = std::min(tile_count_, fitting);
    }
    tile_.scalars = operands.scalars;
    tile_.outputs = outputs_;
    tile_.is_streamed = operands.is_streamed;
    tile_.scratch = scratch_ + expanded * tile_count_ * kWidest;
  }

  Status Run() {
    const bool follows_runs = operands_.repeated_count > 0 && !expands_;
    for (int64_t begin = chunk_.begin; begin < chunk_.end;) {
      int64_t end = chunk_.end;
      if (follows_runs) {
        end = std::min(end, begin - begin % operands_.run + operands_.run);
        LocateRun(begin);
      }
      for (const int64_t run_begin = begin; begin < end; begin += tile_.count) {
        tile_.count = std::min(tile_count_, end - begin);
        PlaceInputs(begin, begin - run_begin);
        PlaceOutputs(begin);
        STILLFLOW_RETURN_IF_ERROR(program_.RunTile(tile_));
      }
    }
    if (operands_.is_streamed) EndStream();
    return Status();
  }

 private:
  static constexpr int64_t kWidest = ElementwiseProgram::kWidestBytes;
  static constexpr int64_t kLongRun = 512;  // from here on a run is worth tiles of its own
  static constexpr int64_t kExpandedElements = 1024;
  static constexpr int64_t kChainedElements = 1024;  // what several operations work on stays in the first-level cache
  static constexpr int64_t kStreamedElements = 256;  // of all instructions but the last before that one writes
  static constexpr int64_t kElementsPerLine = 64;

  // Finds the repeated inputs' places at the beginning of a run, or of what the chunk has of it.
  void LocateRun(int64_t begin) {
    for (int i = 0; i < operands_.repeated_count; ++i) {
      const Repeated& repeated = operands_.repeated[i];
      const Tensor& tensor = *call_.in[repeated.input];
      const bool is_scalar = repeated.is_repeated[repeated.rank - 1];
      const uint64_t bit = uint64_t{1} << repeated.input;
      tile_.scalars = is_scalar ? tile_.scalars | bit : tile_.scalars & ~bit;
      run_places_[i] = static_cast<char*>(tensor.data) + PlaceOf(repeated, begin) * ElementBytes(tensor.dtype);
    }
  }

  void PlaceInputs(int64_t begin, int64_t run_offset) {
    for (int i = 0; i < call_.in_count; ++i) {
      const int64_t offset = operands_.scalars >> i & 1 ? 0 : begin * ElementBytes(call_.in[i]->dtype);
      tile_.registers[i] = static_cast<char*>(call_.in[i]->data) + offset;
    }
    for (int i = 0; i < operands_.repeated_count; ++i) {
      const Repeated& repeated = operands_.repeated[i];
      const Tensor& tensor = *call_.in[repeated.input];
      void*& place = tile_.registers[repeated.input];
      if (!expands_) {
        const bool is_scalar = tile_.scalars >> repeated.input & 1;
        place = run_places_[i] + (is_scalar ? 0 : run_offset * ElementBytes(tensor.dtype));
        continue;
      }
      place = scratch_ + i * tile_count_ * kWidest;
      const bool is_rows = repeated.rank == 2 && repeated.is_repeated[0];
      if (begin > chunk_.begin && is_rows && tile_count_ % repeated.dims[1] == 0) continue;  // as in the last tile
      Expand(repeated, tensor, begin, tile_.count, place);
    }
  }

  void PlaceOutputs(int64_t begin) {
    for (int i = 0; i < call_.out_count; ++i) {
      const Tensor& output = *call_.out[i];
      outputs_[i] = static_cast<char*>(output.data) + begin * ElementBytes(output.dtype);
    }
  }

  const KernelCall& call_;
  const ElementwiseProgram& program_;
  const Operands& operands_;
  const Range chunk_;
  bool expands_;
  int64_t tile_count_;
  ElementwiseProgram::Tile tile_;
  void* outputs_[ElementwiseProgram::kMostInputs];
  char* run_places_[ElementwiseProgram::kMostInputs];
  alignas(64) char scratch_[kScratchBytes];
};

Status AllocateOutputs(const KernelCall& call, const ElementwiseProgram& program, const Shape& shape) {
  uint64_t taken = 0;
  for (int out = 0; out < call.out_count; ++out) {
    const DType type = program.output_type(out);
    int giver = -1;
    for (int in = 0; in < call.in_count && giver < 0; ++in) {
      const Tensor& tensor = *call.in[in];
      if ((taken >> in & 1) == 0 && tensor.count == shape.Count() &&
          ElementBytes(tensor.dtype) == ElementBytes(type) && program.MayOverwrite(in, out) && IsOwned(call, in)) {
        giver = in;
      }
    }
    if (giver < 0) {
      STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, out, type, shape));
    } else {
      taken |= uint64_t{1} << giver;
      STILLFLOW_RETURN_IF_ERROR(ForwardOrAllocate(call, giver, out, type, shape));
    }
  }
  return Status();
}

Status Elementwise(const KernelCall& call) {
  const auto& program = *static_cast<const ElementwiseProgram*>(call.prepared);
  Shape shape(*call.in[0]);
  for (int i = 1; i < call.in_count; ++i) {
    const Shape left = shape;
    if (!BroadcastTwo(left, Shape(*call.in[i]), &shape).ok()) return ExplainMismatch(call, program);
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutputs(call, program, shape));
  Operands operands;
  const int64_t count = call.out[0]->count;
  DescribeOperands(call, program, shape, count, &operands);
  return ForEachChunk(call, count, kElementsPerChunk,
                      [&](Range chunk) { return TileRunner(call, program, operands, chunk).Run(); });
}

Status Prepare(const Attr* attrs, void** prepared) {
  ElementwiseProgram* program = nullptr;
  Status status =
      ElementwiseProgram::Parse(static_cast<const char*>(attrs[0].data), static_cast<int>(attrs[1].i), &program);
  *prepared = program;
  return status;
}

void ReleasePrepared(void* prepared) { delete static_cast<ElementwiseProgram*>(prepared); }

}  // namespace

STILLFLOW_KERNELS(elementwise){
    {"elementwise", "inputs... | program, input_count", Elementwise, Prepare, ReleasePrepared, nullptr, nullptr}, {}};

}  // namespace stillflow
