// elementwise: a chain of elementwise operations over inputs that are broadcast against each other.
//
//   in[i]   any shapes that broadcast; the types that the program reads
//   out[i]  the broadcast shape of all inputs
//   attrs   program (arithmetic/elementwise/program.h), number of inputs
//
// Every output element depends on its own input elements alone, so chunks and tiles do not matter.
#include <algorithm>
#include <cstring>

#include "arithmetic/elementwise/program.h"
#include "kernel_api/broadcast.h"
#include "memory/stream.h"

namespace stillflow {
namespace {

constexpr int64_t kStreamedElementsPerChunk = 131072;
constexpr int64_t kScratchBytes = 32 << 10;  // what a tile's intermediate values take of the first-level cache
static_assert(kScratchBytes / ElementwiseProgram::kWidestBytes >= ElementwiseProgram::kMostRegisters,
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
    case 16:
      return CopyRepeated(repeated, Data<Complex128>(tensor), begin, count, static_cast<Complex128*>(to));
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
  uint64_t columns = 0;  // inputs of which one element stands for a run
  // Of the flattened output: within a run, each repeated input is either one element or adjacent elements.
  int64_t run;
  bool are_columns;  // all that are repeated, of which the program takes runs
  bool is_streamed;
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
      operands->columns |= uint64_t{repeated.is_repeated[repeated.rank - 1]} << i;
    }
  }
  operands->are_columns = operands->columns != 0 && program.TakesRuns(operands->columns, operands->scalars);
  for (int i = 0; i < operands->repeated_count; ++i) {
    const Repeated& repeated = operands->repeated[i];
    operands->are_columns &= repeated.rank == 2 && repeated.is_repeated[1] && repeated.dims[1] == operands->run;
  }
  operands->is_streamed = IsStreamed(*call.out[0]);
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
    const bool has_long_runs = operands.is_streamed
                                   ? operands.run >= kLongRun && operands.run % kElementsPerLine == 0
                                   : operands.run >= (operands.columns != 0 ? kLongRunOfColumns : kLongRun);
    const bool fills_lines = operands.run % kElementsPerLine == 0 || kElementsPerLine % operands.run == 0;
    takes_columns_ = operands.are_columns && (!operands.is_streamed || (fills_lines && !has_long_runs));
    expands_ = operands.repeated_count > 0 && !has_long_runs && !takes_columns_;
    expanded_count_ = expands_ ? operands.repeated_count : 0;
    staged_count_ = operands.is_streamed ? call.out_count : 0;
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
    if (operands_.is_streamed) StreamOutputs(*begin, count);
    *begin += count;
    return Status();
  }

  char* ScratchTile(int index) { return scratch_ + index * tile_count_ * program_.widest_bytes(); }

  // Of repeated inputs too, where these are expanded.
  void PlaceInputs() {
    for (int i = 0; i < call_.in_count; ++i) {
      const bool is_single = (operands_.scalars >> i & 1) != 0;
      const auto bytes = static_cast<int32_t>(ElementBytes(call_.in[i]->dtype));
      places_[i] = {static_cast<char*>(call_.in[i]->data), is_single ? 0 : bytes, is_single, 0};
      if (!operands_.is_streamed || call_.in[i]->count != call_.out[0]->count) continue;
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
      const Tensor& tensor = *call_.in[repeated.input];
      const int64_t bytes = ElementBytes(tensor.dtype);
      const bool is_single = repeated.is_repeated[repeated.rank - 1];
      if (is_next && repeated.rank == 2 && repeated.dims[1] == operands_.run) {  // the next element, or the same ones
        place.base += is_single ? bytes : -operands_.run * bytes;
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
      const Tensor& tensor = *call_.in[operands_.repeated[i].input];
      char* const at = static_cast<char*>(tensor.data) + begin / operands_.run * ElementBytes(tensor.dtype);
      places_[operands_.repeated[i].input] = {at, 0, true, operands_.run};
    }
    next_run_ = -1;
    return whole;
  }

  void ExpandInputs(int64_t begin, int64_t count) {
    for (int i = 0; i < operands_.repeated_count; ++i) {
      const Repeated& repeated = operands_.repeated[i];
      const bool is_rows = repeated.rank == 2 && repeated.is_repeated[0];
      if (begin > chunk_.begin && is_rows && tile_count_ % repeated.dims[1] == 0) continue;  // as in the last tile
      Expand(repeated, *call_.in[repeated.input], begin, count, ScratchTile(i));
    }
  }

  void PlaceOutputs() {
    for (int i = 0; i < call_.out_count; ++i) {
      const Tensor& output = *call_.out[i];
      const auto bytes = static_cast<int32_t>(ElementBytes(output.dtype));
      places_[program_.outputs()[i]] = operands_.is_streamed
                                           ? Place{ScratchTile(expanded_count_ + i), 0, false, 0}
                                           : Place{static_cast<char*>(output.data), bytes, false, 0};
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

// Where there are many chunks, several become one: where one ends, a core waits for its last loads and stores.
int64_t ChunkOf(const ElementwiseProgram& program, int64_t count) {
  constexpr int64_t kChunksToShare = 16;
  constexpr int64_t kMostAtOnce = 4;
  const int64_t least = program.elements_per_chunk();
  return least * std::clamp<int64_t>(count / (kChunksToShare * least), 1, kMostAtOnce);
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

STILLFLOW_KERNELS(math, elementwise){
    {"elementwise", "inputs... | program, input_count", Elementwise, Prepare, ReleasePrepared, nullptr, nullptr}, {}};

}  // namespace stillflow
