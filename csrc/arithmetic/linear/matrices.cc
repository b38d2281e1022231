#include "arithmetic/linear/matrices.h"

namespace stillflow {
namespace {

template <typename R>
R StoredPart(double x) {
  return Narrow<R>(x != x ? std::numeric_limits<double>::quiet_NaN() : x);
}

template <typename T>
void Load(const Tensor& from, int64_t begin, int64_t count, double* to) {
  const T* const elements = Data<T>(from) + begin;
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<double>(Widen(elements[i]));
}
template <typename T>
void Store(const double* from, int64_t count, Tensor* to, int64_t begin) {
  T* const elements = MutableData<T>(*to) + begin;
  for (int64_t i = 0; i < count; ++i) elements[i] = StoredPart<T>(from[i]);
}

}  // namespace

void LoadElements(const Tensor& from, int64_t begin, int64_t count, double* to) {
  switch (from.dtype) {
    case DType::kDouble:
    case DType::kComplex128:
      return Load<double>(from, begin, count, to);
    case DType::kFloat:
    case DType::kComplex64:
      return Load<float>(from, begin, count, to);
    default:
      return Load<Half>(from, begin, count, to);
  }
}

void StoreElements(const double* from, int64_t count, Tensor* to, int64_t begin) {
  switch (to->dtype) {
    case DType::kDouble:
    case DType::kComplex128:
      return Store<double>(from, count, to, begin);
    case DType::kFloat:
    case DType::kComplex64:
      return Store<float>(from, count, to, begin);
    default:
      return Store<Half>(from, count, to, begin);
  }
}

void LoadElements(const Tensor& from, int64_t begin, int64_t count, Complex128* to) {
  LoadElements(from, 2 * begin, 2 * count, reinterpret_cast<double*>(to));
}

void StoreElements(const Complex128* from, int64_t count, Tensor* to, int64_t begin) {
  StoreElements(reinterpret_cast<const double*>(from), 2 * count, to, 2 * begin);
}

void StoreReals(const double* from, int64_t count, Tensor* to, int64_t begin) {
  if (!IsComplex(to->dtype)) return StoreElements(from, count, to, begin);
  for (int64_t i = 0; i < count; ++i) {
    const Complex128 element = {from[i], 0};
    StoreElements(&element, 1, to, begin + i);
  }
}

}  // namespace stillflow
