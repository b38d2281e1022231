// program.h: a chain of elementwise operations, run tile by tile.
//
// The text of a program is a list of instructions, then its outputs:
//
//   "mul float float 3 0 1; tanh float float 4 3; add float float 5 4 2 | 5"
//
// An instruction names the operation, the type of its operands, the type of its result, the register it sets
// and the registers it reads. Registers below the number of inputs are the inputs; each other is set once,
// before it is read. Output registers are set by instructions.
#pragma once

#include <vector>

#include "arithmetic/elementwise/tile.h"

namespace stillflow {

class ElementwiseProgram {
 public:
  static constexpr int kMostInputs = 64;
  static constexpr int kMostInstructions = 512;

  struct Instruction {
    const TileOp* op;
    int32_t out;
    int32_t in[3];
  };

  // Fails, with kInternal, when the text is not a program over `input_count` inputs.
  static Status Parse(const char* text, int input_count, ElementwiseProgram** program);

  int input_count() const { return input_count_; }
  const std::vector<Instruction>& instructions() const { return instructions_; }
  const std::vector<int32_t>& outputs() const { return outputs_; }
  DType output_type(int output) const { return types_[outputs_[output]]; }
  // Whether input `in` may share memory with output `out`: no instruction reads it after the output is set.
  bool MayOverwrite(int in, int out) const { return last_read_[in] <= set_by_[outputs_[out]]; }

  // Where a register lies: at `base`, and `step` bytes further for each element before a tile's first.
  struct Place {  // without defaults: there are many, of which few are used
    char* base;
    int32_t step;    // 0: all tiles find it at one place
    bool is_single;  // one element that stands for all
    int64_t run;     // if set, it stands for so many, and the next one for the next run
  };
  static constexpr int kMostRegisters = kMostInputs + kMostInstructions;

  // Sets the places of what is neither input nor output, for tiles of up to `count` elements. `scratch` has room for
  // scratch_count() values of count * widest_bytes() bytes.
  void PlaceScratch(char* scratch, int64_t count, Place* places) const;
  // Runs all instructions on `count` elements from `begin` on.
  Status RunTile(const Place* places, int64_t begin, int64_t count) const;

  // Whether `columns` of the inputs may be elements that stand for runs; `scalars` are single elements.
  bool TakesRuns(uint64_t columns, uint64_t scalars) const;

  int scratch_count() const { return scratch_count_; }
  // How many are worth handing to another thread.
  int64_t elements_per_chunk() const { return elements_per_chunk_; }

  // Of an element: 16 where there are complex numbers of doubles, else 8.
  int64_t widest_bytes() const { return widest_bytes_; }
  static constexpr int64_t kWidestBytes = 16;

 private:
  Status ParseInstructions(const char* text);
  void AssignScratch();
  void ChooseChunk();

  int64_t widest_bytes_ = 8;
  int input_count_ = 0;
  int scratch_count_ = 0;
  int64_t elements_per_chunk_ = 0;
  std::vector<Instruction> instructions_;
  std::vector<int32_t> outputs_;
  std::vector<DType> types_;         // of each register; inputs as their first reader takes them
  std::vector<int32_t> last_read_;   // instruction that reads a register last
  std::vector<int32_t> set_by_;      // instruction that sets a register
  std::vector<int32_t> output_of_;   // the output a register is, or -1
  std::vector<int32_t> scratch_of_;  // the scratch tile a register lies in, or -1
};

}  // namespace stillflow
