#include "arithmetic/gemm/complex_gemm.h"

#include "arithmetic/math/scalar.h"

namespace stillflow {
namespace {

// Copies elements at(i, l) of a panel in the order of the source.
template <typename R, typename At>
STILLFLOW_INLINE void CopyPanel(bool is_along_k, Range lines, Range k, R* to, int64_t stride, const At& at) {
  const Range outer = is_along_k ? lines : k;
  const Range inner = is_along_k ? k : lines;
  for (int64_t i = outer.begin; i < outer.end; ++i) {
    R* const row = to + (i - outer.begin) * stride;
    for (int64_t j = inner.begin; j < inner.end; ++j) row[j - inner.begin] = is_along_k ? at(i, j) : at(j, i);
  }
}

// The rows of a, parts by turns.
template <typename R>
class PartsOfRows final : public PanelSource<R> {
 public:
  explicit PartsOfRows(const ComplexView<R>& view)
      : PanelSource<R>(view.column_stride <= view.row_stride ? PanelSource<R>::Order::kAlongK
                                                             : PanelSource<R>::Order::kAlongLines),
        view_(view) {}

  void Copy(Range lines, Range k, R* to, int64_t stride) const override {
    const R sign = view_.is_conjugate ? R{-1} : R{1};
    const ComplexView<R> view = view_;
    CopyPanel(
        this->order() == PanelSource<R>::Order::kAlongK, lines, k, to,
        stride, [=](int64_t i, int64_t l) __attribute__((always_inline)) {
          const Complex<R> element = view.data[i * view.row_stride + (l >> 1) * view.column_stride];
          return (l & 1) != 0 ? sign * element.im : element.re;
        });
  }

 private:
  const ComplexView<R> view_;
};

// The columns of b, two for each: that of the real parts of c, and that of the imaginary ones.
template <typename R>
class PartsOfColumns final : public PanelSource<R> {
 public:
  explicit PartsOfColumns(const ComplexView<R>& view)
      : PanelSource<R>(view.row_stride < view.column_stride ? PanelSource<R>::Order::kAlongK
                                                            : PanelSource<R>::Order::kAlongLines),
        view_(view) {}

  void Copy(Range lines, Range k, R* to, int64_t stride) const override {
    const R sign = view_.is_conjugate ? R{-1} : R{1};
    const ComplexView<R> view = view_;
    CopyPanel(
        this->order() == PanelSource<R>::Order::kAlongK, lines, k, to,
        stride, [=](int64_t j, int64_t l) __attribute__((always_inline)) {
          const Complex<R> element = view.data[(l >> 1) * view.row_stride + (j >> 1) * view.column_stride];
          const R im = (l & 1) != 0 ? -sign * element.im : sign * element.im;
          return ((j ^ l) & 1) != 0 ? im : element.re;
        });
  }

 private:
  const ComplexView<R> view_;
};

}  // namespace

template <typename R>
Status ComplexGemm(const KernelCall& call, int64_t m, int64_t n, int64_t k, ComplexView<R> a, ComplexView<R> b,
                   Complex<R>* c, int64_t ldc, bool accumulate) {
  const PartsOfRows<R> rows(a);
  const PartsOfColumns<R> columns(b);
  const bool is_plain = a.column_stride == 1 && !a.is_conjugate;
  const auto* const parts = reinterpret_cast<const R*>(a.data);
  const gemm::Lines<R> lines =
      is_plain ? gemm::Lines<R>{parts, 2 * a.row_stride, 1, nullptr} : gemm::LinesOf<R>(rows);
  return gemm::Multiply<R>(call, m, 2 * n, 2 * k, lines, gemm::LinesOf<R>(columns), reinterpret_cast<R*>(c), 2 * ldc,
                           accumulate, 0);
}

template Status ComplexGemm<float>(const KernelCall&, int64_t, int64_t, int64_t, ComplexView<float>,
                                   ComplexView<float>, Complex64*, int64_t, bool);
template Status ComplexGemm<double>(const KernelCall&, int64_t, int64_t, int64_t, ComplexView<double>,
                                    ComplexView<double>, Complex128*, int64_t, bool);

}  // namespace stillflow
