#include "arithmetic/fourier/pass.h"

#include <algorithm>

#include "arithmetic/math/scalar.h"

namespace stillflow::fourier {
namespace {

// ---- Butterflies: the transform of radix elements in place
// ------------------------------------------------------------

template <int kRadix, typename R>
struct Butterfly;

template <typename R>
struct Butterfly<2, R> {
  STILLFLOW_INLINE static void Run(R (&re)[2], R (&im)[2], const R*) {
    const R x = re[0];
    const R y = im[0];
    re[0] = x + re[1];
    im[0] = y + im[1];
    re[1] = x - re[1];
    im[1] = y - im[1];
  }
};

template <typename R>
struct Butterfly<4, R> {
  STILLFLOW_INLINE static void Run(R (&re)[4], R (&im)[4], const R*) {
    const R even_re = re[0] + re[2];
    const R even_im = im[0] + im[2];
    const R even_less_re = re[0] - re[2];
    const R even_less_im = im[0] - im[2];
    const R odd_re = re[1] + re[3];
    const R odd_im = im[1] + im[3];
    const R odd_less_re = re[1] - re[3];
    const R odd_less_im = im[1] - im[3];
    re[0] = even_re + odd_re;
    im[0] = even_im + odd_im;
    re[1] = even_less_re + odd_less_im;
    im[1] = even_less_im - odd_less_re;
    re[2] = even_re - odd_re;
    im[2] = even_im - odd_im;
    re[3] = even_less_re - odd_less_im;
    im[3] = even_less_im + odd_less_re;
  }
};

// An odd radix: sums and differences of elements j and radix - j have real factors.
template <int kRadix, typename R>
struct Butterfly {
  STILLFLOW_INLINE static void Run(R (&re)[kRadix], R (&im)[kRadix], const R* roots) {
    constexpr int kPairs = kRadix / 2;
    R sum_re[kPairs], sum_im[kPairs], less_re[kPairs], less_im[kPairs];
    for (int j = 0; j < kPairs; ++j) {
      sum_re[j] = re[j + 1] + re[kRadix - 1 - j];
      sum_im[j] = im[j + 1] + im[kRadix - 1 - j];
      less_re[j] = re[j + 1] - re[kRadix - 1 - j];
      less_im[j] = im[j + 1] - im[kRadix - 1 - j];
    }
    const R first_re = re[0];
    const R first_im = im[0];
    for (int j = 0; j < kPairs; ++j) {
      re[0] += sum_re[j];
      im[0] += sum_im[j];
    }
    for (int k = 1; k <= kPairs; ++k) {
      R c_re = first_re, c_im = first_im, d_re = 0, d_im = 0;
      for (int j = 0; j < kPairs; ++j) {
        const int turn = (j + 1) * k % kRadix;
        c_re += roots[turn] * sum_re[j];
        c_im += roots[turn] * sum_im[j];
        d_re += roots[kRadix + turn] * less_re[j];
        d_im += roots[kRadix + turn] * less_im[j];
      }
      re[k] = c_re + d_im;
      im[k] = c_im - d_re;
      re[kRadix - k] = c_re - d_im;
      im[kRadix - k] = c_im + d_re;
    }
  }
};

// ---- Passes of a known radix
// ------------------------------------------------------------------------------------------

// Elements that lie `groups * stride` apart, from `at` on.
template <int kRadix, typename R>
STILLFLOW_INLINE void Load(const PassCall<R>& call, int64_t at, R (&re)[kRadix], R (&im)[kRadix]) {
  const int64_t apart = call.groups * call.stride;
  for (int k = 0; k < kRadix; ++k) {
    re[k] = call.from.re[at + k * apart];
    im[k] = call.from.im[at + k * apart];
  }
}

template <typename R>
STILLFLOW_INLINE void StoreProduct(R re, R im, R factor_re, R factor_im, R* to_re, R* to_im) {
  *to_re = re * factor_re - im * factor_im;
  *to_im = re * factor_im + im * factor_re;
}

// Where elements of a group are next to each other only from pass to pass: along the groups.
template <int kRadix, typename R>
__attribute__((noinline)) void RunAlongGroups(const PassCall<R>& call) {
  const int64_t groups = call.groups;
  R roots[2 * kRadix];
  std::copy_n(call.roots, 2 * kRadix, roots);
#pragma GCC ivdep
  for (int64_t p = 0; p < groups; ++p) {
    R re[kRadix], im[kRadix];
    Load<kRadix>(call, p, re, im);
    Butterfly<kRadix, R>::Run(re, im, roots);
    call.to.re[kRadix * p] = re[0];
    call.to.im[kRadix * p] = im[0];
    for (int k = 1; k < kRadix; ++k) {
      const R* const twiddles = call.twiddles + 2 * (k - 1) * groups;
      StoreProduct(re[k], im[k], twiddles[p], twiddles[groups + p], call.to.re + kRadix * p + k,
                   call.to.im + kRadix * p + k);
    }
  }
}

template <int kRadix, typename R>
__attribute__((noinline)) void RunWithinGroups(const PassCall<R>& call) {
  const int64_t stride = call.stride;
  R roots[2 * kRadix];
  std::copy_n(call.roots, 2 * kRadix, roots);
  for (int64_t p = 0; p < call.groups; ++p) {
    R factor_re[kRadix], factor_im[kRadix];
    for (int k = 1; k < kRadix; ++k) {
      factor_re[k] = call.twiddles[2 * (k - 1) * call.groups + p];
      factor_im[k] = call.twiddles[2 * (k - 1) * call.groups + call.groups + p];
    }
    const int64_t from = p * stride;
    R* const to_re = call.to.re + kRadix * p * stride;
    R* const to_im = call.to.im + kRadix * p * stride;
#pragma GCC ivdep
    for (int64_t q = 0; q < stride; ++q) {
      R re[kRadix], im[kRadix];
      Load<kRadix>(call, from + q, re, im);
      Butterfly<kRadix, R>::Run(re, im, roots);
      to_re[q] = re[0];
      to_im[q] = im[0];
      for (int k = 1; k < kRadix; ++k) {
        StoreProduct(re[k], im[k], factor_re[k], factor_im[k], to_re + k * stride + q, to_im + k * stride + q);
      }
    }
  }
}

template <int kRadix, typename R>
void RunOfRadix(const PassCall<R>& call) {
  call.stride == 1 ? RunAlongGroups<kRadix>(call) : RunWithinGroups<kRadix>(call);
}

// ---- Passes of any odd radix
// --------------------------------------------------------------------------------------------

// The same operations in the same order as Butterfly, for some elements next to each other at a time.
template <typename R>
void RunOfAnyRadix(const PassCall<R>& call) {
  constexpr int64_t kLanes = 64;
  constexpr int64_t kMostPairs = 16;
  const int64_t pairs = call.radix / 2;
  const int64_t apart = call.groups * call.stride;
  R sum_re[kMostPairs][kLanes], sum_im[kMostPairs][kLanes], less_re[kMostPairs][kLanes], less_im[kMostPairs][kLanes];
  int64_t lanes = 0;
  for (int64_t task = 0; task < call.groups * call.stride; task += lanes) {
    const int64_t p = task / call.stride;
    const int64_t q = task % call.stride;
    lanes = std::min(kLanes, call.stride - q);  // of one group, whose twiddles are the same
    const R* const from_re = call.from.re + task;
    const R* const from_im = call.from.im + task;
    R* const to_re = call.to.re + call.radix * p * call.stride + q;
    R* const to_im = call.to.im + call.radix * p * call.stride + q;
    for (int64_t i = 0; i < lanes; ++i) {
      to_re[i] = from_re[i];
      to_im[i] = from_im[i];
    }
    for (int64_t j = 0; j < pairs; ++j) {
      const int64_t below = (j + 1) * apart;
      const int64_t above = (call.radix - 1 - j) * apart;
      for (int64_t i = 0; i < lanes; ++i) {
        sum_re[j][i] = from_re[below + i] + from_re[above + i];
        sum_im[j][i] = from_im[below + i] + from_im[above + i];
        less_re[j][i] = from_re[below + i] - from_re[above + i];
        less_im[j][i] = from_im[below + i] - from_im[above + i];
        to_re[i] += sum_re[j][i];
        to_im[i] += sum_im[j][i];
      }
    }
    for (int64_t k = 1; k <= pairs; ++k) {
      const R* const below = call.twiddles + 2 * (k - 1) * call.groups + p;
      const R* const above = call.twiddles + 2 * (call.radix - k - 1) * call.groups + p;
      for (int64_t i = 0; i < lanes; ++i) {
        R c_re = from_re[i], c_im = from_im[i], d_re = 0, d_im = 0;
        for (int64_t j = 0; j < pairs; ++j) {
          const int64_t turn = (j + 1) * k % call.radix;
          c_re += call.roots[turn] * sum_re[j][i];
          c_im += call.roots[turn] * sum_im[j][i];
          d_re += call.roots[call.radix + turn] * less_re[j][i];
          d_im += call.roots[call.radix + turn] * less_im[j][i];
        }
        StoreProduct(c_re + d_im, c_im - d_re, below[0], below[call.groups], to_re + k * call.stride + i,
                     to_im + k * call.stride + i);
        StoreProduct(c_re - d_im, c_im + d_re, above[0], above[call.groups],
                     to_re + (call.radix - k) * call.stride + i, to_im + (call.radix - k) * call.stride + i);
      }
    }
  }
}

}  // namespace

template <typename R>
void RunPass(const PassCall<R>& call) {
  switch (call.radix) {
    case 2:
      return RunOfRadix<2>(call);
    case 3:
      return RunOfRadix<3>(call);
    case 4:
      return RunOfRadix<4>(call);
    case 5:
      return RunOfRadix<5>(call);
    default:
      return RunOfAnyRadix(call);
  }
}

template void RunPass<float>(const PassCall<float>&);
template void RunPass<double>(const PassCall<double>&);

}  // namespace stillflow::fourier
