// segment_ids.h: which segments ids name that must not decrease.
#pragma once

#include "kernel_api/kernel.h"

namespace stillflow {

// How many segments the ids need: one more than the last, or none.
inline Status SegmentsNeeded(const Tensor& ids, int64_t* segments) {
  *segments = ids.count == 0 ? 0 : IntAt(ids, ids.count - 1) + 1;
  if (*segments < (ids.count == 0 ? 0 : 1)) return STILLFLOW_INVALID_ARGUMENT("segment ids must be >= 0");
  return Status();
}

// Whether the ids do not decrease, and are of `segments` segments.
inline Status CheckSegmentIds(const Tensor& ids, int64_t segments) {
  for (int64_t i = 0; i < ids.count; ++i) {
    const int64_t id = IntAt(ids, i);
    if (i + 1 < ids.count && IntAt(ids, i + 1) < id) {
      return STILLFLOW_INVALID_ARGUMENT("segment ids are not increasing");
    }
    if (id < 0 || id >= segments) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Segment id %lld out of range [0, %lld), possibly because 'segment_ids' input is not sorted.",
          static_cast<long long>(id), static_cast<long long>(segments));
    }
  }
  return Status();
}

}  // namespace stillflow
