// patch_axis.h: where the places and the taps of a window meet along one axis, forward and backward.
#pragma once

#include <numeric>

#include "arithmetic/window/axis.h"

namespace stillflow {

// Place p and tap t meet at element p * step + first + t * tap_step.
struct PatchAxis {
  int64_t size = 1;  // of what is under the window
  int64_t places = 1;
  int64_t step = 1;
  int64_t taps = 1;
  int64_t first = 0;
  int64_t tap_step = 1;

  // The places all of whose taps are inside.
  Range Inside() const {
    const int64_t last_tap = (taps - 1) * tap_step;
    const int64_t low = first + std::min<int64_t>(last_tap, 0), high = first + std::max<int64_t>(last_tap, 0);
    const int64_t begin = low >= 0 ? 0 : (-low + step - 1) / step;
    const int64_t end = high >= size ? 0 : (size - 1 - high) / step + 1;
    return {std::min(begin, places), std::max(std::min(begin, places), std::min(end, places))};
  }
};

inline PatchAxis ForwardAxis(const WindowAxis& axis) {
  return {axis.input, axis.output, axis.stride, axis.window, -axis.before, axis.dilation};
}

// Elements of the input that meet the same taps: every stride-th along the axis, from `offset` on. Their places are
// places of the window.
struct PhaseAxis {
  PatchAxis patch;
  int64_t first_tap = 0;
  int64_t tap_stride = 1;
  int64_t offset = 0;
};

inline PhaseAxis BackwardAxis(const WindowAxis& axis, int64_t offset) {
  PhaseAxis phase;
  phase.offset = offset;
  phase.tap_stride = axis.stride / std::gcd(axis.stride, axis.dilation);
  const int64_t position = offset + axis.before;
  const int64_t end = std::min(phase.tap_stride, axis.window);
  int64_t tap = 0;
  while (tap < end && (position - tap * axis.dilation) % axis.stride != 0) ++tap;
  phase.first_tap = tap;
  phase.patch.size = axis.output;
  phase.patch.places = (axis.input - offset + axis.stride - 1) / axis.stride;
  phase.patch.taps = tap < end ? (axis.window - tap + phase.tap_stride - 1) / phase.tap_stride : 0;
  phase.patch.first = (position - tap * axis.dilation) / axis.stride;
  phase.patch.tap_step = -phase.tap_stride * axis.dilation / axis.stride;
  return phase;
}

// How many phases an axis has.
inline int64_t PhaseCount(const WindowAxis& axis) { return std::min(axis.stride, axis.input); }

}  // namespace stillflow
