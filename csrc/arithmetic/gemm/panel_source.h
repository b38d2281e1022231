// panel_source.h: an operand of a product that is never stored as a matrix.
//
// A product reads lines along k: the rows of a, the columns of b. Of an operand that is computed (the patches of an
// image, numbers that are widened) it asks for panels instead, some neighbouring lines for a part of k, as it comes
// to them, and keeps each in cache for as long as it multiplies with it. So the operand as a whole is never stored.
//
// What a source must keep to:
//   - Element l of line i is the same number whenever it is asked for, whatever panel it is part of.
//   - It says nothing about the order of arithmetic: the product goes through k in ascending order, with one
//     accumulator for each element of c and one fused multiply-add for each k (gemm.h). Panels, like blocks and
//     threads, only choose which elements are computed when.
//   - Copy is called by several threads at once, and writes nothing but the panel. It allocates nothing.
//   - A panel of a has up to kMostPanelLines lines and some kilobytes of each; one of b is a few vectors of lines
//     wide. Costly steps (from a line's number to its place in an image) belong in front of the innermost loop.
#pragma once

#include "kernel_api/kernel.h"

namespace stillflow {

template <typename T>
class PanelSource {
 public:
  // How a panel lies in memory: in the order in which the source has its elements, so that copying is all it does.
  enum class Order {
    kAlongK,     // element (i, l) of a panel, both counted from its first, at to[i * stride + l]
    kAlongLines  // at to[l * stride + i]
  };
  static constexpr int64_t kMostPanelLines = 96;

  explicit PanelSource(Order order) : order_(order) {}
  PanelSource(const PanelSource&) = delete;
  PanelSource& operator=(const PanelSource&) = delete;

  Order order() const { return order_; }

  // Writes elements [k.begin, k.end) of lines [lines.begin, lines.end), none of which lies outside of the operand.
  virtual void Copy(Range lines, Range k, T* to, int64_t stride) const = 0;

 protected:
  ~PanelSource() = default;

 private:
  const Order order_;
};

}  // namespace stillflow
