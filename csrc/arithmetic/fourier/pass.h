// pass.h: one pass of a Fourier transform.
#pragma once

#include "arithmetic/fourier/plan.h"

namespace stillflow::fourier {

// For each group p and k < radix, y[k] of the radix elements x[j] = from[(p + groups j) stride + q] is the sum of
// e^(-2 pi i j k / radix) x[j], times the twiddle of p and k; it goes to to[(radix p + k) stride + q].
template <typename R>
struct PassCall {
  int64_t radix;
  int64_t groups;
  int64_t stride;
  const R* twiddles;  // of k = 1, ...: `groups` real parts, then as many imaginary parts
  const R* roots;     // `radix` cosines, then as many sines
  Planes<R> from;
  Planes<R> to;
};

// R: float or double.
template <typename R>
void RunPass(const PassCall<R>& call);

}  // namespace stillflow::fourier
