// walk.h: iteration over the outer dimensions of a strided copy, item by item or line by line.
#pragma once

#include <algorithm>

#include "memory/strided_copy.h"

namespace stillflow {

// The offsets of item `index` in both arrays, then of the items after it; the last dimension moves fastest.
class Walk {
 public:
  Walk(const StridedCopy& copy, int rank, int64_t index) : copy_(copy), rank_(rank) {
    for (int i = rank - 1; i >= 0; --i) {
      position_[i] = index % copy.dims[i];
      index /= copy.dims[i];
      from += position_[i] * copy.from_strides[i];
      to += position_[i] * copy.to_strides[i];
    }
  }

  void Next() {
    for (int i = rank_ - 1; i >= 0; --i) {
      from += copy_.from_strides[i];
      to += copy_.to_strides[i];
      if (++position_[i] < copy_.dims[i]) return;
      from -= copy_.dims[i] * copy_.from_strides[i];
      to -= copy_.dims[i] * copy_.to_strides[i];
      position_[i] = 0;
    }
  }

  // As many items as are left of the last dimension, this one with them, and the step over them.
  int64_t Left() const { return rank_ > 0 ? copy_.dims[rank_ - 1] - position_[rank_ - 1] : 1; }
  void Skip(int64_t items) {
    if (rank_ == 0) return;
    position_[rank_ - 1] += items - 1;
    from += (items - 1) * copy_.from_strides[rank_ - 1];
    to += (items - 1) * copy_.to_strides[rank_ - 1];
    Next();
  }

  int64_t from = 0;
  int64_t to = 0;

 private:
  const StridedCopy& copy_;
  int rank_;
  int64_t position_[StridedCopy::kMostDims];
};

// The runs of the last dimension. Short ones are grouped where the dimension before has few of them: a step of a walk
// would take longer than such a run.
struct Lines {
  explicit Lines(const StridedCopy& copy)
      : copy(copy),
        length(copy.dims[copy.rank - 1]),
        is_grouped(copy.rank > 2 && copy.dims[copy.rank - 2] <= kFewLines && length <= kShortLine),
        outer_rank(copy.rank - (is_grouped ? 2 : 1)),
        per_group(is_grouped ? copy.dims[copy.rank - 2] : 1),
        from_step(is_grouped ? copy.from_strides[copy.rank - 2] : 0),
        to_step(is_grouped ? copy.to_strides[copy.rank - 2] : 0),
        groups(copy.Count() / (length * per_group)),
        from_group_step(outer_rank > 0 ? copy.from_strides[outer_rank - 1] : 0),
        to_group_step(outer_rank > 0 ? copy.to_strides[outer_rank - 1] : 0) {}

  // Calls part(from, to, count) for groups at equal distances, of which there are `count` each time.
  template <typename T, typename Part>
  STILLFLOW_INLINE void ForEachPart(Range range, const T* from, T* to, const Part& part) const {
    Walk walk(copy, outer_rank, range.begin);
    for (int64_t group = range.begin; group < range.end;) {
      const int64_t count = std::min(walk.Left(), range.end - group);
      part(from + walk.from, to + walk.to, count);
      walk.Skip(count);
      group += count;
    }
  }

  // Calls line(from, to) for those of `count` groups at equal distances.
  template <typename T, typename Line>
  STILLFLOW_INLINE void ForEach(const T* from, T* to, int64_t count, const Line& line) const {
    if (!is_grouped) {
      for (int64_t i = 0; i < count; ++i, from += from_group_step, to += to_group_step) line(from, to);
      return;
    }
    for (int64_t i = 0; i < count; ++i, from += from_group_step, to += to_group_step) {
      for (int64_t k = 0; k < per_group; ++k) line(from + k * from_step, to + k * to_step);
    }
  }

  static constexpr int64_t kFewLines = 16;
  static constexpr int64_t kShortLine = 1024;
  const StridedCopy& copy;
  const int64_t length;
  const bool is_grouped;
  const int outer_rank;
  const int64_t per_group;
  const int64_t from_step;
  const int64_t to_step;
  const int64_t groups;
  const int64_t from_group_step;
  const int64_t to_group_step;
};

}  // namespace stillflow
