// rows.cc: where the operands of a program over rows lie.
#include "arithmetic/elementwise/rows.h"

#include <algorithm>

namespace stillflow {

RowRunner::RowRunner(const ElementwiseProgram& program, const RowOperand* operands, int64_t width, int64_t first_row)
    : program_(program), width_(width) {
  constexpr int64_t kMostElements = 1024;
  constexpr int64_t kElementsPerLine = 64;
  tile_ = std::min(width, kMostElements);
  if (program.scratch_count() > 0) {
    int64_t fitting = kScratchBytes / (ElementwiseProgram::kWidestBytes * program.scratch_count());
    if (fitting > kElementsPerLine) fitting -= fitting % kElementsPerLine;
    tile_ = std::min(tile_, fitting);
  }
  const int input_count = program.input_count();
  for (int i = 0; i < input_count + static_cast<int>(program.outputs().size()); ++i) {
    const RowOperand& operand = operands[i];
    const int32_t number = i < input_count ? i : program.outputs()[i - input_count];
    char* const row = operand.data + first_row * operand.row_bytes;
    places_[number] = {row, static_cast<int32_t>(operand.step), operand.step == 0, 0};
    if (operand.row_bytes != 0) moving_[moving_count_++] = {number, operand.row_bytes};
  }
  program.PlaceScratch(scratch_, tile_, places_);
}

}  // namespace stillflow
