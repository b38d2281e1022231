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

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 16384;  // 64 KiB of floats for each operand
constexpr int64_t kScratchBytes = 32 << 10;   // what a tile's intermediate values take of the first-level cache
constexpr int64_t kElementsPerLine = 64;
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
};

void DescribeOperands(const KernelCall& call, const Shape& shape, int64_t count, Operands* operands) {
  for (int i = 0; i < call.in_count; ++i) {
    const Tensor& tensor = *call.in[i];
    if (tensor.count == count) continue;
    if (tensor.count == 1) {
      operands->scalars |= uint64_t{1} << i;
    } else {
      operands->repeated[operands->repeated_count++] = DescribeRepeats(tensor, shape, i);
    }
  }
}

Status RunChunk(const KernelCall& call, const ElementwiseProgram& program, const Operands& operands, Range chunk) {
  alignas(64) char scratch[kScratchBytes];
  constexpr int64_t kWidest = ElementwiseProgram::kWidestBytes;
  const int scratch_tiles = program.scratch_count() + operands.repeated_count;
  int64_t tile_count = chunk.end - chunk.begin;
  if (scratch_tiles > 0) {
    int64_t fitting = kScratchBytes / (kWidest * scratch_tiles);
    if (fitting > kElementsPerLine) fitting -= fitting % kElementsPerLine;
    tile_count = std::min(tile_count, fitting);
  }

  void* outputs[ElementwiseProgram::kMostInputs];
  ElementwiseProgram::Tile tile;
  tile.scalars = operands.scalars;
  tile.outputs = outputs;
  tile.scratch = scratch + operands.repeated_count * tile_count * kWidest;
  for (int64_t begin = chunk.begin; begin < chunk.end; begin += tile_count) {
    tile.count = std::min(tile_count, chunk.end - begin);
    for (int i = 0; i < call.in_count; ++i) {
      const int64_t offset = operands.scalars >> i & 1 ? 0 : begin * ElementBytes(call.in[i]->dtype);
      tile.registers[i] = static_cast<char*>(call.in[i]->data) + offset;
    }
    for (int i = 0; i < operands.repeated_count; ++i) {
      const Repeated& repeated = operands.repeated[i];
      tile.registers[repeated.input] = scratch + i * tile_count * kWidest;
      Expand(repeated, *call.in[repeated.input], begin, tile.count, tile.registers[repeated.input]);
    }
    for (int i = 0; i < call.out_count; ++i) {
      outputs[i] = static_cast<char*>(call.out[i]->data) + begin * ElementBytes(call.out[i]->dtype);
    }
    STILLFLOW_RETURN_IF_ERROR(program.RunTile(tile));
  }
  return Status();
}

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
  DescribeOperands(call, shape, count, &operands);
  return ForEachChunk(call, count, kElementsPerChunk,
                      [&](Range chunk) { return RunChunk(call, program, operands, chunk); });
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
