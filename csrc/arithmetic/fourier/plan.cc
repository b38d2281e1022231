#include "arithmetic/fourier/plan.h"

#include <algorithm>

#include "arithmetic/fourier/pass.h"
#include "arithmetic/math/trigonometric.h"

namespace stillflow {
namespace {

constexpr int64_t kMostRadix = 31;  // a larger prime takes less time as a convolution

// The radices of a length, those of 4 first; what is left of it is not 1 if it has large factors.
std::vector<int64_t> RadicesOf(int64_t length, int64_t* rest) {
  std::vector<int64_t> radices;
  const auto divide = [&](int64_t radix) {
    for (; length % radix == 0; length /= radix) radices.push_back(radix);
  };
  divide(4);
  divide(2);
  for (int64_t radix = 3; radix <= kMostRadix; radix += 2) divide(radix);
  *rest = length;
  return radices;
}

}  // namespace

// The angle is brought into the first eighth of a turn by integers, where sine and cosine are most precise.
Complex128 UnitRoot(int64_t numerator, int64_t denominator) {
  constexpr double kTwoPi = 0x1.921fb54442d18p2;
  // Eighths of turns, and the rest of the numerator in eighths of the denominator.
  const int64_t eighths = static_cast<int64_t>(static_cast<__int128>(8) * numerator / denominator) & 7;
  const auto rest = static_cast<int64_t>(static_cast<__int128>(8) * numerator % denominator);
  const int64_t from_axis = (eighths & 1) == 0 ? rest : denominator - rest;
  const double angle = kTwoPi * static_cast<double>(from_axis) / (8 * static_cast<double>(denominator));
  const double cosine = Cos(angle);
  const double sine = Sin(angle);
  const bool is_turned = eighths == 1 || eighths == 2 || eighths == 5 || eighths == 6;
  const double x = is_turned ? sine : cosine;
  const double y = is_turned ? cosine : sine;
  return {eighths >= 2 && eighths <= 5 ? -x : x, eighths >= 4 ? y : -y};
}

// ---- Passes
// ---------------------------------------------------------------------------------------------------------

template <typename R>
bool FourierPlan<R>::HasSmallFactors(int64_t length) {
  int64_t rest = 0;
  RadicesOf(length, &rest);
  return rest == 1;
}

template <typename R>
void FourierPlan<R>::RunPass(const Pass& pass, int64_t stride, Planes<R> from, Planes<R> to) const {
  const fourier::PassCall<R> call = {
      pass.radix, pass.groups, stride, numbers_.data() + pass.twiddles, numbers_.data() + pass.roots, from, to};
  fourier::RunPass(call);
}

template <typename R>
Planes<R> FourierPlan<R>::Run(Planes<R> data, Planes<R> other, int64_t width) const {
  if (convolution_ != nullptr) return Convolve(data, other, width);
  int64_t stride = width;
  for (const Pass& pass : passes_) {
    RunPass(pass, stride, data, other);
    std::swap(data, other);
    stride *= pass.radix;
  }
  return data;
}

// ---- Convolution
// ----------------------------------------------------------------------------------------------------

// With c[i] = e^(-pi i i^2 / length), result k is c[k] times the convolution of c[i] x[i] and the conjugate of c.
template <typename R>
struct FourierPlan<R>::Convolution {
  explicit Convolution(int64_t size) : plan(size), chirp(0), filter(0) {}
  FourierPlan<R> plan;
  std::vector<Complex<R>> chirp;
  std::vector<Complex<R>> filter;  // the transform of what is convolved with, over the size
};

namespace {

int64_t ConvolutionSize(int64_t length) {
  int64_t size = 1;
  while (size < 2 * length - 1) size *= 2;
  return size;
}

// Multiplies element i of each transform by factors[i]; conjugates it first if `conjugates`.
template <typename R>
void MultiplyElements(Planes<R> data, int64_t width, const std::vector<Complex<R>>& factors, bool conjugates) {
  const R sign = conjugates ? R{-1} : R{1};
  for (size_t i = 0; i < factors.size(); ++i) {
    const Complex<R> factor = factors[i];
    R* const re = data.re + static_cast<int64_t>(i) * width;
    R* const im = data.im + static_cast<int64_t>(i) * width;
    for (int64_t j = 0; j < width; ++j) {
      const R x = re[j];
      const R y = sign * im[j];
      re[j] = x * factor.re - y * factor.im;
      im[j] = x * factor.im + y * factor.re;
    }
  }
}

}  // namespace

template <typename R>
Planes<R> FourierPlan<R>::Convolve(Planes<R> data, Planes<R> other, int64_t width) const {
  const int64_t used = length_ * width;
  const int64_t size = convolution_->plan.length() * width;
  MultiplyElements(data, width, convolution_->chirp, false);
  std::fill(data.re + used, data.re + size, R{0});
  std::fill(data.im + used, data.im + size, R{0});
  const Planes<R> spectrum = convolution_->plan.Run(data, other, width);
  MultiplyElements(spectrum, width, convolution_->filter, false);
  // The inverse transform is the conjugate of the transform of the conjugate.
  for (int64_t i = 0; i < size; ++i) spectrum.im[i] = -spectrum.im[i];
  const Planes<R> rest = spectrum.re == data.re ? other : data;
  const Planes<R> result = convolution_->plan.Run(spectrum, rest, width);
  MultiplyElements(result, width, convolution_->chirp, true);
  return result;
}

// ---- Making plans
// ---------------------------------------------------------------------------------------------------

template <typename R>
FourierPlan<R>::~FourierPlan() = default;

template <typename R>
int64_t FourierPlan<R>::room() const {
  return convolution_ != nullptr ? convolution_->plan.length() : length_;
}

template <typename R>
FourierPlan<R>::FourierPlan(int64_t length) : length_(length) {
  int64_t rest = 0;
  const std::vector<int64_t> radices = RadicesOf(length, &rest);
  if (rest != 1) {
    const int64_t size = ConvolutionSize(length);
    convolution_ = std::make_unique<Convolution>(size);
    std::vector<R> re(2 * size);
    std::vector<R> im(2 * size);
    for (int64_t i = 0; i < length; ++i) {
      const auto square = static_cast<int64_t>(static_cast<__int128>(i) * i % (2 * length));
      const Complex128 root = UnitRoot(square, 2 * length);
      convolution_->chirp.push_back({static_cast<R>(root.re), static_cast<R>(root.im)});
      for (const int64_t at : {i, (size - i) % size}) {
        re[at] = static_cast<R>(root.re) / static_cast<R>(size);
        im[at] = -static_cast<R>(root.im) / static_cast<R>(size);
      }
    }
    const Planes<R> filter = convolution_->plan.Run({re.data(), im.data()}, {re.data() + size, im.data() + size}, 1);
    for (int64_t i = 0; i < size; ++i) convolution_->filter.push_back({filter.re[i], filter.im[i]});
    return;
  }
  int64_t left = length;
  for (const int64_t radix : radices) {
    const int64_t groups = left / radix;
    const auto twiddles = static_cast<int64_t>(numbers_.size());
    for (int64_t k = 1; k < radix; ++k) {
      for (const bool is_imaginary : {false, true}) {
        for (int64_t group = 0; group < groups; ++group) {
          const Complex128 root = UnitRoot(k * group, left);
          numbers_.push_back(static_cast<R>(is_imaginary ? root.im : root.re));
        }
      }
    }
    const auto roots = static_cast<int64_t>(numbers_.size());
    for (const bool is_imaginary : {false, true}) {
      for (int64_t k = 0; k < radix; ++k) {
        const Complex128 root = UnitRoot(k, radix);
        numbers_.push_back(static_cast<R>(is_imaginary ? -root.im : root.re));
      }
    }
    passes_.push_back({radix, groups, twiddles, roots});
    left = groups;
  }
}

template class FourierPlan<float>;
template class FourierPlan<double>;

}  // namespace stillflow
