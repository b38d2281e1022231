// dealt_rows.h: rows of a table that are changed by several threads.
//
// Changes of one row are made in the order in which they are given, whatever threads make them: the table's rows are
// dealt out to parts, and one thread makes a part's changes.
#pragma once

#include "kernel_api/kernel.h"

namespace stillflow {

// Makes some changes: those of `list`, or the first `count` if it is null.
using MakeChanges = void (*)(const void* changes, int64_t count, const int64_t* list);

Status ForDealtRows(const KernelCall& call, const int64_t* rows, int64_t count, int64_t row_bytes, MakeChanges make,
                    const void* changes);

// Change i is made to row rows[i], or is left out if that is negative. Calls change(count, list) for each part. Where
// there is one part, which has no list, negative rows are among them.
template <typename Change>
Status ForDealtRows(const KernelCall& call, const int64_t* rows, int64_t count, int64_t row_bytes,
                    const Change& change) {
  const auto make = [](const void* changes, int64_t some, const int64_t* list) {
    (*static_cast<const Change*>(changes))(some, list);
  };
  return ForDealtRows(call, rows, count, row_bytes, make, &change);
}

}  // namespace stillflow
