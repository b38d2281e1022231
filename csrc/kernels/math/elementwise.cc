// elementwise: a chain of elementwise operations over inputs that are broadcast against each other.
//
//   in[i]   any shapes that broadcast; the types that the program reads
//   out[i]  the broadcast shape of all inputs
//   attrs   program (arithmetic/elementwise/program.h), number of inputs, columns, joined
//
// If `columns` is not empty, it is a width, and then for each input where it begins within the last dimension of its
// tensor, of which it takes as many columns; -1: the input is the whole tensor. The last `joined` outputs of the
// program lie side by side along the last dimension of one tensor, the last that the kernel makes.
//
// Every output element depends on its own input elements alone, so chunks and tiles do not matter.
#include "kernels/math/elementwise_operands.h"

namespace stillflow {
namespace {

constexpr int64_t kStreamedElementsPerChunk = 131072;
constexpr int64_t kScratchBytes = 32 << 10;  // what a tile's intermediate values take of the first-level cache
static_assert(kScratchBytes / ElementwiseProgram::kWidestBytes >= ElementwiseProgram::kMostRegisters,
              "a tile holds at least one element of every value");

// Follows shapes through the program to say at which operation they do not fit.
Status ExplainMismatch(const Tensor* const* in, const ElementwiseProgram& program) {
  std::vector<Shape> shapes;
  for (int i = 0; i < program.input_count(); ++i) shapes.emplace_back(*in[i]);
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

// A chunk's tiles: where their operands lie, and how the operation is run over them.
class TileRunner {
 public:
  TileRunner(const KernelCall& call, const ElementwiseProgram& program, const Operands& operands, Range chunk)
      : call_(call), program_(program), operands_(operands), chunk_(chunk) {
    const bool has_long_runs = operands.is_streamed
                                   ? operands.run >= kLongRun && operands.run % kElementsPerLine == 0
                                   : operands.run >= (operands.columns != 0 ? kLongRunOfColumns : kLongRun);
    const bool fills_lines = operands.run % kElementsPerLine == 0 || kElementsPerLine % operands.run == 0;
    takes_columns_ = operands.are_columns && (!operands.is_streamed || (fills_lines && !has_long_runs));
    expands_ = operands.repeated_count > 0 && !has_long_runs && !takes_columns_;
    expanded_count_ = expands_ ? operands.repeated_count : 0;
    staged_count_ = operands.is_streamed ? call.out_count : operands.outputs.joined_count;
    tile_count_ = TileCount();
    PlaceInputs();
    PlaceOutputs();
    program.PlaceScratch(ScratchTile(expanded_count_ + staged_count_), tile_count_, places_);
  }

  Status Run() {
    for (int64_t begin = chunk_.begin; begin < chunk_.end;) STILLFLOW_RETURN_IF_ERROR(RunTile(&begin));
    if (operands_.is_streamed) EndStream();
    return Status();
  }

 private:
  using Place = ElementwiseProgram::Place;
  // From here on a run is worth tiles of its own: of whole rows, one expanded copy serves many tiles.
  static constexpr int64_t kLongRun = 512;
  static constexpr int64_t kLongRunOfColumns = 128;
  static constexpr int64_t kExpandedElements = 1024;
  static constexpr int64_t kChainedElements = 1024;  // what several operations work on stays in the first-level cache
  static constexpr int64_t kStreamedTile = 192;      // few enough that memory works all the time
  static constexpr int64_t kElementsAhead = 2 * kStreamedTile;
  static constexpr int64_t kElementsPerLine = 64;

  int64_t TileCount() const {
    int64_t count = chunk_.end - chunk_.begin;
    if (program_.instructions().size() > 1) count = std::min(count, kChainedElements);
    if (operands_.is_streamed) {
      int64_t streamed = kStreamedTile;
      if (takes_columns_) {
        streamed = (kStreamedTile + operands_.run - 1) / operands_.run * operands_.run;
      } else if (expands_ && operands_.run < 2 * kStreamedTile) {
        streamed = std::max(kStreamedTile, operands_.run);
      }
      count = std::min(count, streamed);
    }
    const int scratch_tiles = expanded_count_ + staged_count_ + program_.scratch_count();
    if (scratch_tiles == 0) return count;
    int64_t fitting = std::min(count, kScratchBytes / (program_.widest_bytes() * scratch_tiles));
    if (expands_) fitting = std::min(fitting, kExpandedElements);
    if (fitting > kElementsPerLine) fitting -= fitting % kElementsPerLine;
    // Rows that are added to each row need be expanded once if a tile holds whole ones.
    const int64_t whole = expands_ && fitting > operands_.run ? fitting - fitting % operands_.run : fitting;
    if (!operands_.is_streamed || whole % kElementsPerLine == 0) fitting = whole;
    return std::min(count, fitting);
  }

  // The tile at *begin, which is moved behind it.
  Status RunTile(int64_t* begin) {
    int64_t count = std::min(tile_count_, chunk_.end - *begin);
    if (expands_) {
      ExpandInputs(*begin, count);
    } else if (operands_.repeated_count > 0) {
      count = std::min(count, takes_columns_ ? PlaceColumns(*begin, count) : PlaceRun(*begin));
    }
    STILLFLOW_RETURN_IF_ERROR(program_.RunTile(places_, *begin, count));
    if (operands_.is_streamed) {
      StreamOutputs(*begin, count);
    } else if (staged_count_ > 0) {
      JoinOutputs(*begin, count);
    }
    *begin += count;
    return Status();
  }

  char* ScratchTile(int index) { return scratch_ + index * tile_count_ * program_.widest_bytes(); }

  // Of repeated inputs too, where these are expanded.
  void PlaceInputs() {
    for (int i = 0; i < call_.in_count; ++i) {
      const Tensor& tensor = operands_.inputs[i];
      const bool is_single = (operands_.scalars >> i & 1) != 0;
      const auto bytes = static_cast<int32_t>(ElementBytes(tensor.dtype));
      places_[i] = {static_cast<char*>(tensor.data), is_single ? 0 : bytes, is_single, 0};
      if (!operands_.is_streamed || tensor.count != call_.out[0]->count) continue;
      ahead_.Add(places_[i].base + kElementsAhead * bytes, 64 * bytes / ElementBytes(call_.out[0]->dtype));
    }
    for (int i = 0; i < expanded_count_; ++i) {
      places_[operands_.repeated[i].input] = {ScratchTile(i), 0, false, 0};
    }
  }

  // Finds the repeated inputs' elements for the run that `begin` lies in, and how many are left of it.
  int64_t PlaceRun(int64_t begin) {
    const bool is_next = begin == next_run_;
    const int64_t left = is_next ? operands_.run : operands_.run - begin % operands_.run;
    for (int i = 0; i < operands_.repeated_count; ++i) {
      const Repeated& repeated = operands_.repeated[i];
      Place& place = places_[repeated.input];
      const Tensor& tensor = operands_.inputs[repeated.input];
      const int64_t bytes = ElementBytes(tensor.dtype);
      const bool is_single = repeated.is_repeated(repeated.rank - 1);
      if (is_next && repeated.rank == 2 && repeated.dims[1] == operands_.run) {  // next element, row, or the same one
        place.base += (repeated.strides[0] - (is_single ? 0 : operands_.run)) * bytes;
        continue;
      }
      const auto step = static_cast<int32_t>(is_single ? 0 : bytes);
      char* const at = static_cast<char*>(tensor.data) + PlaceOf(repeated, begin) * bytes;
      place = {at - begin * step, step, is_single, 0};
    }
    next_run_ = begin + left;
    return left;
  }

  // The same for as many runs as fit into `count`; tells how many elements these have.
  int64_t PlaceColumns(int64_t begin, int64_t count) {
    const int64_t whole = count - count % operands_.run;
    if (whole == 0 || begin % operands_.run != 0) return PlaceRun(begin);
    for (int i = 0; i < operands_.repeated_count; ++i) {
      const Tensor& tensor = operands_.inputs[operands_.repeated[i].input];
      char* const at = static_cast<char*>(tensor.data) + begin / operands_.run * ElementBytes(tensor.dtype);
      places_[operands_.repeated[i].input] = {at, 0, true, operands_.run};
    }
    next_run_ = -1;
    return whole;
  }

  void ExpandInputs(int64_t begin, int64_t count) {
    for (int i = 0; i < operands_.repeated_count; ++i) {
      const Repeated& repeated = operands_.repeated[i];
      const bool is_rows = repeated.rank == 2 && repeated.is_repeated(0);
      if (begin > chunk_.begin && is_rows && tile_count_ % repeated.dims[1] == 0) continue;  // as in the last tile
      Expand(repeated, operands_.inputs[repeated.input], begin, count, ScratchTile(i));
    }
  }

  void PlaceOutputs() {
    const int own_count = operands_.is_streamed ? 0 : operands_.outputs.own_count;
    for (int i = 0; i < own_count + staged_count_; ++i) {
      Place& place = places_[program_.outputs()[i]];
      if (i < own_count) {
        const Tensor& output = *call_.out[i];
        place = {static_cast<char*>(output.data), static_cast<int32_t>(ElementBytes(output.dtype)), false, 0};
      } else {
        place = {ScratchTile(expanded_count_ + i - own_count), 0, false, 0};
      }
    }
  }

  // Writes a tile of the outputs that are columns of one tensor.
  void JoinOutputs(int64_t begin, int64_t count) {
    const Outputs& outputs = operands_.outputs;
    const Tensor& joined = *call_.out[outputs.own_count];
    const int64_t bytes = ElementBytes(joined.dtype);
    char* const data = static_cast<char*>(joined.data);
    for (int i = 0; i < outputs.joined_count; ++i) {
      const char* from = ScratchTile(expanded_count_ + i);
      int64_t row = begin / outputs.width;
      int64_t column = begin % outputs.width;
      for (int64_t left = count; left > 0; ++row, column = 0) {
        const int64_t run = std::min(outputs.width - column, left);
        std::memcpy(data + ((row * outputs.joined_count + i) * outputs.width + column) * bytes, from, run * bytes);
        from += run * bytes;
        left -= run;
      }
    }
  }

  // Writes a tile's outputs, and fetches the inputs of the tile after the next meanwhile.
  void StreamOutputs(int64_t begin, int64_t count) {
    for (int i = 0; i < call_.out_count; ++i) {
      const Tensor& output = *call_.out[i];
      const int64_t bytes = ElementBytes(output.dtype);
      const char* const staged = places_[program_.outputs()[i]].base;
      StreamBytes(static_cast<char*>(output.data), staged, count * bytes, begin * bytes,
                  i == 0 ? ahead_ : kNothingAhead);
    }
  }

  const KernelCall& call_;
  const ElementwiseProgram& program_;
  const Operands& operands_;
  const Range chunk_;
  bool takes_columns_;
  bool expands_;
  int expanded_count_;  // inputs
  int staged_count_;    // outputs that are computed in cache, then streamed
  int64_t tile_count_;
  int64_t next_run_ = -1;  // where the run that follows the last one begins
  ReadAhead ahead_;
  Place places_[ElementwiseProgram::kMostRegisters];
  alignas(64) char scratch_[kScratchBytes];
};

Status AllocateOutputs(const KernelCall& call, const ElementwiseProgram& program, const Operands& operands,
                       const Shape& shape) {
  const Outputs& outputs = operands.outputs;
  uint64_t taken = 0;
  for (int out = 0; out < outputs.own_count; ++out) {
    const DType type = program.output_type(out);
    int giver = -1;
    for (int in = 0; in < call.in_count && giver < 0; ++in) {
      const Tensor& tensor = *call.in[in];
      if ((taken >> in & 1) == 0 && !operands.inputs.is_part(in) && tensor.count == shape.Count() &&
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
  if (outputs.joined_count == 0) return Status();
  Shape joined(shape);
  joined.dims[joined.rank - 1] *= outputs.joined_count;
  return AllocateOutput(call, outputs.own_count, program.output_type(outputs.own_count), joined);
}

// Where there are many chunks, several become one: where one ends, a core waits for its last loads and stores.
int64_t ChunkOf(const ElementwiseProgram& program, int64_t count) {
  constexpr int64_t kChunksToShare = 16;
  constexpr int64_t kMostAtOnce = 4;
  const int64_t least = program.elements_per_chunk();
  return least * std::clamp<int64_t>(count / (kChunksToShare * least), 1, kMostAtOnce);
}

Status Elementwise(const KernelCall& call) {
  const auto& program = *static_cast<const ElementwiseProgram*>(call.prepared);
  Operands operands;
  STILLFLOW_RETURN_IF_ERROR(operands.inputs.Read(call));
  Shape shape(operands.inputs[0]);
  for (int i = 1; i < call.in_count; ++i) {
    const Shape left = shape;
    if (!BroadcastTwo(left, Shape(operands.inputs[i]), &shape).ok()) {
      return ExplainMismatch(operands.inputs.all(), program);
    }
  }
  const auto joined_count = static_cast<int>(call.attrs[3].i);
  if (joined_count > 0 && shape.rank == 0) return Error(Code::kInternal, "Numbers have no columns to be joined");
  const auto output_count = static_cast<int>(program.outputs().size());
  operands.outputs = {output_count - joined_count, joined_count, shape.rank > 0 ? shape.dims[shape.rank - 1] : 1};
  STILLFLOW_RETURN_IF_ERROR(AllocateOutputs(call, program, operands, shape));
  const int64_t count = shape.Count();
  DescribeOperands(call, program, shape, count, &operands);
  const int64_t chunk = operands.is_streamed ? kStreamedElementsPerChunk : ChunkOf(program, count);
  return ForEachChunk(call, count, chunk,
                      [&](Range range) { return TileRunner(call, program, operands, range).Run(); });
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

STILLFLOW_KERNELS(math, elementwise){{"elementwise", "inputs... | program, input_count, columns, joined", Elementwise,
                                      Prepare, ReleasePrepared, nullptr, nullptr},
                                     {}};

}  // namespace stillflow
