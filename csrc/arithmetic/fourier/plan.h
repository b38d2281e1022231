// plan.h: discrete Fourier transforms of one length.
//
// A length without large prime factors is transformed by Stockham's self-sorting algorithm, a pass for each factor,
// those of 4 before all others. Other lengths are made a convolution of a power of two (Bluestein, "A linear
// filtering approach to the computation of discrete Fourier transform", IEEE Trans. Audio Electroacoust. 18, 1970),
// which needs double for transforms of floats too.
//
// Several transforms are done side by side: element i of transform j lies at i * width + j. Each goes through the
// same operations in the same order whatever lies beside it, so that its bits depend on its elements and length
// alone.
//
// Errors, relative to the root of the mean square of the results: below 2 units for each factor of the length, and 40
// units of double in a convolution.
#pragma once

#include <memory>
#include <vector>

#include "kernel_api/kernel.h"

namespace stillflow {

// Complex numbers, real and imaginary parts in an array each.
template <typename R>
struct Planes {
  R* re;
  R* im;
};

template <typename R>
class FourierPlan {
 public:
  // Whether a length is transformed by passes alone; else R must be double.
  static bool HasSmallFactors(int64_t length);

  explicit FourierPlan(int64_t length);
  ~FourierPlan();

  int64_t length() const { return length_; }
  // How many elements of each transform the arrays have room for.
  int64_t room() const;

  // Transforms `width` arrays at `data`, e^(-2 pi i j k / length) being the exponents' sign, and returns where the
  // results are: there or at `other`. Both are overwritten.
  Planes<R> Run(Planes<R> data, Planes<R> other, int64_t width) const;

 private:
  struct Pass {
    int64_t radix;
    int64_t groups;    // the length that is left, divided by the radix
    int64_t twiddles;  // where in numbers_: for each output but the first, real and imaginary parts for each group
    int64_t roots;     // where in numbers_: cosines and sines of multiples of 2 pi / radix
  };
  struct Convolution;

  Planes<R> Convolve(Planes<R> data, Planes<R> other, int64_t width) const;
  void RunPass(const Pass& pass, int64_t stride, Planes<R> from, Planes<R> to) const;

  int64_t length_;
  std::vector<Pass> passes_;
  std::vector<R> numbers_;
  std::unique_ptr<Convolution> convolution_;
};

// e^(-2 pi i numerator / denominator) for 0 <= numerator <= denominator, each part within 1 ulp.
Complex128 UnitRoot(int64_t numerator, int64_t denominator);

}  // namespace stillflow
