// row_update.h: rows of a table changed by rows of updates, several of which may fall on one row.
//
// Updates of one row apply in their order, whatever threads make them, so the result does not depend on these.
#pragma once

#include "kernel_api/kernel.h"

namespace stillflow {

// What an update makes of an element. Integers wrap around; the caller makes sure that none is divided by 0.
enum class RowOperation { kSet, kAdd, kSubtract, kMultiply, kDivide, kMinimum, kMaximum };

// Changes row rows[i] of a table by row numbers[i] of the updates, for i = 0, ..., count - 1. Rows have `width`
// elements; those of the updates are `stride` elements apart. Floats that are added or subtracted are multiplied by
// *scale first, unless that is null.
using RowFunction = void (*)(void* table, const int64_t* rows, const void* updates, const int64_t* numbers,
                             int64_t count, int64_t width, int64_t stride, const void* scale);

// Null if elements of that type are not changed so. Numbers of all real types are; booleans are added, which makes
// their disjunction; and elements of any type are set.
RowFunction RowFunctionOf(RowOperation operation, DType type);

// `count` updates of `width` elements; update i changes row rows[i] of the table, or nothing if that is negative.
// Updates are `update_stride` elements apart: 0 means that all are the same.
struct RowUpdates {
  void* table;
  const int64_t* rows;
  int64_t count;
  int64_t width;
  const void* updates;
  int64_t update_stride;
  const void* scale = nullptr;
};

// Fails, naming `kernel`, if there is no RowFunction.
Status UpdateRows(const KernelCall& call, const char* kernel, RowOperation operation, DType type,
                  const RowUpdates& work);

}  // namespace stillflow
