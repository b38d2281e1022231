// reducer.h: a reduction of elements of some type, as a table of functions.
//
// Elements are converted to one of four types (worked_type.h), in which they are combined; results are of that type
// until they are finished.
#pragma once

#include "arithmetic/reduction/rows.h"
#include "kernel_api/kernel.h"

namespace stillflow {

enum class Reduction { kSum, kMean, kProd, kMax, kMin, kAll, kAny, kEuclideanNorm, kHalfOfSquares };

struct Reducer {
  int64_t element_bytes;
  int64_t result_bytes;
  Conversion convert;   // of elements, if they are not worked on as they are
  bool makes_elements;  // results are elements already: Finish need not be called

  Elements At(const void* data) const { return {static_cast<const char*>(data), element_bytes, convert}; }

  // results[i] = the combination of run range.begin + i of the rows.
  void (*combine_runs)(const Rows& rows, const Elements& elements, Range range, void* results);

  // results[j] = the combination of column j of up to kRowsPerRun rows, `stride` elements apart.
  void (*combine_rows)(const Elements& elements, int64_t rows, int64_t stride, int64_t width, void* results);

  // The same of `runs_at_once` adjacent runs of rows, of `most_narrow` elements at most.
  void (*combine_narrow_runs)(const Elements& elements, int64_t width, void* results);
  int64_t runs_at_once;
  int64_t most_narrow;

  // Combines results 0, `stride`, ..., `width` of each, into the first.
  void (*combine_tree)(void* results, int64_t count, int64_t stride, int64_t width);

  // Makes elements of results, each of which stands for `combined` elements.
  void (*finish)(const void* results, int64_t count, int64_t combined, void* elements);
};

// For TensorFlow's types, and of booleans for all and any. Norms of integers are made of squares, which are summed.
Status FindReducer(Reduction reduction, DType dtype, Reducer* reducer);

}  // namespace stillflow
