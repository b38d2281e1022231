// rows.h: elementwise programs over rows of matrices, which may be blocks of the columns of wider ones.
#pragma once

#include "arithmetic/elementwise/program.h"

namespace stillflow {

// Where an input or output of a program has its rows.
struct RowOperand {
  char* data;         // the first row
  int64_t row_bytes;  // to the next one; 0: all rows have the same
  int64_t step;       // bytes to the next element; 0: one element stands for all of a row
};

// The rows of one chunk.
class RowRunner {
 public:
  RowRunner(const ElementwiseProgram& program, const RowOperand* operands, int64_t width, int64_t first_row);

  // Runs the program over the next row.
  Status RunRow() {
    for (int64_t column = 0; column < width_; column += tile_) {
      STILLFLOW_RETURN_IF_ERROR(program_.RunTile(places_, column, tile_ < width_ - column ? tile_ : width_ - column));
    }
    for (int i = 0; i < moving_count_; ++i) places_[moving_[i].number].base += moving_[i].bytes;
    return Status();
  }

  static int64_t RowsPerChunk(const ElementwiseProgram& program, int64_t width) {
    const int64_t rows = program.elements_per_chunk() / width;
    return rows < 1 ? 1 : rows;
  }

 private:
  // What a row's intermediate values take of the first-level cache.
  static constexpr int64_t kScratchBytes = 32 << 10;
  static_assert(kScratchBytes / ElementwiseProgram::kWidestBytes >= ElementwiseProgram::kMostRegisters,
                "a tile holds at least one element of every value");

  // A register whose place is another one for each row.
  struct Moving {
    int32_t number;
    int64_t bytes;
  };

  const ElementwiseProgram& program_;
  const int64_t width_;
  int64_t tile_;
  int moving_count_ = 0;
  ElementwiseProgram::Place places_[ElementwiseProgram::kMostRegisters];
  Moving moving_[ElementwiseProgram::kMostRegisters];
  alignas(64) char scratch_[kScratchBytes];
};

// Runs the program over `rows` rows of `width` elements, from several threads. `operands` are the program's inputs,
// then its outputs. Every element depends on its own operands alone, so chunks and tiles do not matter.
inline Status RunRows(const KernelCall& call, const ElementwiseProgram& program, const RowOperand* operands,
                      int64_t rows, int64_t width) {
  if (width == 0) return Status();
  return ForEachChunk(call, rows, RowRunner::RowsPerChunk(program, width), [&](Range range) {
    RowRunner runner(program, operands, width, range.begin);
    for (int64_t row = range.begin; row < range.end; ++row) STILLFLOW_RETURN_IF_ERROR(runner.RunRow());
    return Status();
  });
}

}  // namespace stillflow
