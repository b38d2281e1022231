#include "arithmetic/reduction/reducer.h"

#include "arithmetic/math/halves.h"
#include "arithmetic/reduction/columns.h"

namespace stillflow {
namespace {

// ---- From results to elements -------------------------------------------------------------------------------

// What elements of type T are worked on as.
template <typename T>
constexpr auto WorkedOn() {
  if constexpr (kIsFloating<T>) {
    return Wide<T>{};
  } else {
    return std::conditional_t<sizeof(T) == 8, int64_t, int32_t>{};
  }
}
template <typename T>
using ResultOf = decltype(WorkedOn<T>());

template <typename T, typename Finish>
STILLFLOW_INLINE void FinishEach(const void* results, int64_t count, void* elements, const Finish& finish) {
  const auto* const from = static_cast<const ResultOf<T>*>(results);
  if constexpr (std::is_same_v<T, Half>) {
    constexpr int64_t kAtOnce = 256;
    float finished[kAtOnce];
    for (int64_t begin = 0; begin < count; begin += kAtOnce) {
      const int64_t part = std::min(kAtOnce, count - begin);
      for (int64_t i = 0; i < part; ++i) finished[i] = finish(from[begin + i]);
      NarrowToHalves(finished, part, static_cast<Half*>(elements) + begin);
    }
  } else if constexpr (kIsFloating<T>) {
    for (int64_t i = 0; i < count; ++i) static_cast<T*>(elements)[i] = Narrow<T>(finish(from[i]));
  } else {
    for (int64_t i = 0; i < count; ++i) static_cast<T*>(elements)[i] = static_cast<T>(finish(from[i]));
  }
}

template <typename T>
void FinishAsIs(const void* results, int64_t count, int64_t, void* elements) {
  FinishEach<T>(results, count, elements, [](auto x) { return x; });
}
template <typename T>
void FinishMean(const void* results, int64_t count, int64_t combined, void* elements) {
  using Result = ResultOf<T>;
  if constexpr (kIsFloating<T>) {
    const auto divisor = static_cast<Result>(combined);
    FinishEach<T>(results, count, elements, [=](Result x) { return x / divisor; });
  } else {  // of a sum that has wrapped around in T
    using Widest = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    const auto divisor = static_cast<Widest>(std::max<int64_t>(combined, 1));  // sums of nothing are 0
    FinishEach<T>(results, count, elements,
                  [=](Result x) { return static_cast<Widest>(static_cast<T>(x)) / divisor; });
  }
}
template <typename T>
void FinishRoot(const void* results, int64_t count, int64_t, void* elements) {
  using Result = ResultOf<T>;
  FinishEach<T>(results, count, elements, [](Result x) {
    if constexpr (kIsFloating<T>) {
      return Sqrt(x);
    } else {
      return Sqrt(static_cast<double>(static_cast<T>(x)));
    }
  });
}
template <typename T>
void FinishHalf(const void* results, int64_t count, int64_t, void* elements) {
  using Result = ResultOf<T>;
  FinishEach<T>(results, count, elements, [](Result x) { return x * Result{0.5}; });
}
// The largest or smallest of no small integers lies beyond them all.
template <typename T>
void FinishExtremum(const void* results, int64_t count, int64_t, void* elements) {
  using Limits = std::numeric_limits<T>;
  FinishEach<T>(results, count, elements,
                [](int32_t x) { return std::clamp<int32_t>(x, Limits::min(), Limits::max()); });
}
// OrderedAs flips the highest bit.
template <typename T>
void FinishFlipped(const void* results, int64_t count, int64_t, void* elements) {
  constexpr T kHighest = T{1} << (sizeof(T) * 8 - 1);
  FinishEach<T>(results, count, elements, [](ResultOf<T> x) { return static_cast<T>(x) ^ kHighest; });
}
void FinishTruths(const void* results, int64_t count, int64_t, void* elements) {
  FinishEach<bool>(results, count, elements, [](int32_t x) { return x > 0; });
}

using Finish = void (*)(const void*, int64_t, int64_t, void*);

template <typename T>
Finish FinishOf(Reduction reduction) {
  switch (reduction) {
    case Reduction::kMean:
      return FinishMean<T>;
    case Reduction::kEuclideanNorm:
      return FinishRoot<T>;
    case Reduction::kHalfOfSquares:
      if constexpr (kIsFloating<T>) return FinishHalf<T>;
      return nullptr;
    case Reduction::kMax:
    case Reduction::kMin:
      if constexpr (std::is_integral_v<T> && sizeof(T) < 4) return FinishExtremum<T>;
      if constexpr (std::is_unsigned_v<T> && sizeof(T) >= 4) return FinishFlipped<T>;
      return FinishAsIs<T>;
    default:
      return FinishAsIs<T>;
  }
}

// ---- Reducers -----------------------------------------------------------------------------------------------

template <template <typename> class Op, typename T>
void Combine(Reducer* reducer) {
  reducer->combine_runs = CombineRuns<Op<T>, T>;
  reducer->combine_rows = CombineRows<Op<T>, T>;
  reducer->combine_narrow_runs = CombineNarrowRuns<Op<T>, T>;
  reducer->combine_tree = CombineTree<Op<T>, T>;
}

template <typename T>
void CombineBy(Reduction reduction, Reducer* reducer) {
  reducer->result_bytes = sizeof(T);
  reducer->runs_at_once = kRunsAtOnce<T>;
  reducer->most_narrow = kMostNarrow;
  switch (reduction) {
    case Reduction::kProd:
      return Combine<Prod, T>(reducer);
    case Reduction::kMax:
    case Reduction::kAny:
      return Combine<Max, T>(reducer);
    case Reduction::kMin:
    case Reduction::kAll:
      return Combine<Min, T>(reducer);
    case Reduction::kEuclideanNorm:
    case Reduction::kHalfOfSquares:
      if constexpr (kIsFloating<T>) return Combine<SumOfSquares, T>(reducer);
      [[fallthrough]];
    default:
      return Combine<Sum, T>(reducer);
  }
}

}  // namespace

Status FindReducer(Reduction reduction, DType dtype, Reducer* reducer) {
  const bool is_truth = reduction == Reduction::kAll || reduction == Reduction::kAny;
  if (is_truth && dtype != DType::kBool) {
    return UnsupportedType(reduction == Reduction::kAll ? "All" : "Any", dtype);
  }
  *reducer = {};
  reducer->element_bytes = ElementBytes(dtype);
  if (is_truth) {
    reducer->finish = FinishTruths;
  } else {
    STILLFLOW_RETURN_IF_ERROR((ForType<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint64_t,
                                       uint32_t, uint16_t, uint8_t>("reduction", dtype, [&](auto tag) {
      reducer->finish = FinishOf<typename decltype(tag)::type>(reduction);
      return Status();
    })));
  }
  const bool is_ordered = reduction == Reduction::kMax || reduction == Reduction::kMin;
  const WorkedType worked = is_ordered ? OrderedAs(dtype) : CountedAs(dtype);
  reducer->convert = worked.convert;
  reducer->makes_elements =
      reducer->convert == nullptr && (reduction == Reduction::kSum || reduction == Reduction::kProd || is_ordered);
  return ForWorkedType("reduction", dtype, worked, [&](auto tag) {
    CombineBy<typename decltype(tag)::type>(reduction, reducer);
    return Status();
  });
}

}  // namespace stillflow
