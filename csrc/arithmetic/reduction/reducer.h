// reducer.h: what a reduction does with elements of a type, behind functions that know neither.
//
// Results are what elements are combined to: floats of 16-bit floats, elements of others.
#pragma once

#include "arithmetic/reduction/rows.h"
#include "kernel_api/kernel.h"

namespace stillflow {

enum class Reduction { kSum, kMean, kProd, kMax, kMin, kAll, kAny, kEuclideanNorm, kHalfOfSquares };

struct Reducer {
  int64_t element_bytes;
  int64_t result_bytes;
  bool makes_elements;  // results are elements already: Finish need not be called

  // results[i] = the combination of run range.begin + i of the rows.
  void (*combine_runs)(const Rows& rows, const void* elements, Range range, void* results);

  // results[j] = the combination of column j of up to kRowsPerRun rows, `stride` elements apart. If `is_fetched`,
  // what comes next is read soon and lies in no cache.
  void (*combine_rows)(const void* elements, int64_t rows, int64_t stride, int64_t width, bool is_fetched,
                       void* results);

  // The same of `runs_at_once` adjacent runs of rows, of `most_narrow` elements at most; null if there is no such
  // way.
  void (*combine_narrow_runs)(const void* elements, int64_t width, bool is_fetched, void* results);
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
