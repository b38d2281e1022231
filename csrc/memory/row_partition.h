// row_partition.h: scattered changes to the rows of a table, made by several threads without conflicts.
//
// Rows are partitioned by their numbers, and all changes to a part's rows are made by one thread, in the order in
// which they are given. So the result does not depend on the number of threads.
#pragma once

#include "kernel_api/kernel.h"

namespace stillflow {

// Makes `count` changes: those that `list` numbers, or the first if it is null.
using MakeChanges = void (*)(const void* changes, int64_t count, const int64_t* list);

Status ForRowPartition(const KernelCall& call, const int64_t* rows, int64_t count, int64_t row_bytes,
                       MakeChanges make, const void* changes);

// Change i is made to row rows[i], or to none if that is negative. Calls change(count, list) for each part. A single
// part has no list, and negative rows are among its changes.
template <typename Change>
Status ForRowPartition(const KernelCall& call, const int64_t* rows, int64_t count, int64_t row_bytes,
                       const Change& change) {
  const auto make = [](const void* changes, int64_t some, const int64_t* list) {
    (*static_cast<const Change*>(changes))(some, list);
  };
  return ForRowPartition(call, rows, count, row_bytes, make, &change);
}

}  // namespace stillflow
