#include "arithmetic/reduction/reducer.h"

#include "arithmetic/math/element.h"
#include "arithmetic/math/root.h"
#include "arithmetic/reduction/widened.h"

namespace stillflow {
namespace {

// ---- From results to elements -------------------------------------------------------------------------------

template <typename T, typename Result, typename Finish>
STILLFLOW_INLINE void FinishEach(const void* results, int64_t count, void* elements, const Finish& finish) {
  const Result* const from = static_cast<const Result*>(results);
  if constexpr (std::is_same_v<T, Half>) {
    constexpr int64_t kAtOnce = 256;
    float finished[kAtOnce];
    for (int64_t begin = 0; begin < count; begin += kAtOnce) {
      const int64_t part = std::min(kAtOnce, count - begin);
      for (int64_t i = 0; i < part; ++i) finished[i] = finish(from[begin + i]);
      NarrowToHalves(finished, part, static_cast<Half*>(elements) + begin);
    }
  } else if constexpr (kIsFloating<T>) {
    T* const to = static_cast<T*>(elements);
    for (int64_t i = 0; i < count; ++i) to[i] = Narrow<T>(finish(from[i]));
  } else {
    T* const to = static_cast<T*>(elements);
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<T>(finish(from[i]));
  }
}

template <typename T>
using ResultOf = decltype(Load(T{}));

template <typename T>
void FinishAsIs(const void* results, int64_t count, int64_t, void* elements) {
  FinishEach<T, ResultOf<T>>(results, count, elements, [](auto x) { return x; });
}
template <typename T>
void FinishMean(const void* results, int64_t count, int64_t combined, void* elements) {
  using Result = ResultOf<T>;
  if constexpr (kIsFloating<T>) {
    const auto divisor = static_cast<Result>(combined);
    FinishEach<T, Result>(results, count, elements, [=](Result x) { return x / divisor; });
  } else {
    using Widest = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    const auto divisor = static_cast<Widest>(std::max<int64_t>(combined, 1));  // sums of nothing are 0
    FinishEach<T, Result>(results, count, elements, [=](Result x) { return static_cast<Widest>(x) / divisor; });
  }
}
template <typename T>
void FinishRoot(const void* results, int64_t count, int64_t, void* elements) {
  using Result = ResultOf<T>;
  using Float = std::conditional_t<kIsFloating<T>, Result, double>;
  FinishEach<T, Result>(results, count, elements, [](Result x) { return Sqrt(static_cast<Float>(x)); });
}
template <typename T>
void FinishHalf(const void* results, int64_t count, int64_t, void* elements) {
  using Result = ResultOf<T>;
  FinishEach<T, Result>(results, count, elements, [](Result x) { return x * Result{0.5}; });
}
void FinishTruths(const void* results, int64_t count, int64_t, void* elements) {
  FinishEach<bool, uint8_t>(results, count, elements, [](uint8_t x) { return x != 0; });
}

// ---- Reducers -----------------------------------------------------------------------------------------------

// Of what signs do not matter for, unsigned integers are combined as signed ones.
template <typename T>
struct SignedOf {
  using type = std::make_signed_t<T>;
};
template <template <typename> class Op, typename T>
constexpr bool kIgnoresSign = std::is_unsigned_v<T> && Op<T>::kWraps;

template <template <typename> class Op, typename T>
Reducer MakeReducer(void (*finish)(const void*, int64_t, int64_t, void*) = nullptr) {
  using Result = ResultOf<T>;
  Reducer reducer = {};
  reducer.element_bytes = sizeof(T);
  reducer.result_bytes = sizeof(Result);
  reducer.makes_elements = finish == nullptr && std::is_same_v<T, Result>;
  reducer.finish = finish != nullptr ? finish : FinishAsIs<T>;
  reducer.most_narrow = kMostNarrow;
  if constexpr (!std::is_same_v<T, Result>) {
    using Wide = Op<float>;
    reducer.combine_runs = CombineWidenedRuns<Wide, T>;
    reducer.combine_rows = CombineWidenedRows<Wide, T>;
    reducer.combine_narrow_runs = CombineWidenedNarrowRuns<Wide, T>;
    reducer.runs_at_once = kRunsAtOnce<float>;
    reducer.combine_tree = CombineTree<Wide, float>;
  } else {
    using Number = typename std::conditional_t<kIgnoresSign<Op, T>, SignedOf<T>, TypeTag<T>>::type;
    using Plain = Op<Number>;
    reducer.combine_runs = CombineRuns<Plain, Number>;
    reducer.combine_rows = CombineRows<Plain, Number>;
    reducer.combine_tree = CombineTree<Plain, Number>;
    if constexpr (kFillsRegisters<T>) {
      reducer.combine_narrow_runs = CombineNarrowRuns<Plain, Number>;
      reducer.runs_at_once = kRunsAtOnce<T>;
    }
  }
  return reducer;
}

template <typename T>
Reducer ReducerOf(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
      return MakeReducer<Sum, T>();
    case Reduction::kMean:
      return MakeReducer<Sum, T>(FinishMean<T>);
    case Reduction::kProd:
      return MakeReducer<Prod, T>();
    case Reduction::kMax:
      return MakeReducer<Max, T>();
    case Reduction::kMin:
      return MakeReducer<Min, T>();
    default:
      break;
  }
  if constexpr (kIsFloating<T>) {
    return MakeReducer<SumOfSquares, T>(reduction == Reduction::kEuclideanNorm ? FinishRoot<T> : FinishHalf<T>);
  } else {
    return MakeReducer<Sum, T>(FinishRoot<T>);
  }
}

}  // namespace

Status FindReducer(Reduction reduction, DType dtype, Reducer* reducer) {
  if (reduction == Reduction::kAll || reduction == Reduction::kAny) {
    const bool is_all = reduction == Reduction::kAll;
    if (dtype != DType::kBool) return UnsupportedType(is_all ? "All" : "Any", dtype);
    *reducer = is_all ? MakeReducer<Min, uint8_t>(FinishTruths) : MakeReducer<Max, uint8_t>(FinishTruths);
    return Status();
  }
  return ForType<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t,
                 uint8_t>("reduction", dtype, [&](auto tag) {
    *reducer = ReducerOf<typename decltype(tag)::type>(reduction);
    return Status();
  });
}

}  // namespace stillflow
