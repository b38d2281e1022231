// accumulator.h: sums of gradients that wait until there are enough of them, and what of them is saved.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "arithmetic/math/element.h"
#include "runtime/executor/event.h"
#include "runtime/executor/resource.h"
#include "runtime/executor/run_context.h"
#include "state_kernels/spec_attrs.h"

namespace stillflow {

inline long long Long(int64_t value) { return static_cast<long long>(value); }

// A sum of gradients: rows with numbers, or, dense, one row without.
struct Sum {
  Shape shape;                   // of the values
  std::vector<char> values;      // as elements of the accumulator's type
  std::vector<int64_t> indices;  // of rows
  std::vector<int64_t> counts;   // of gradients that have them
};

struct AccumulatorOptions {
  DType dtype;
  PartialShape shape;
  bool is_mean, is_sparse;
};

// ---- Sums as bytes ------------------------------------------------------------------------------------------------
//
// The numbers of the type, the step, the gradients, the rank and the sizes; those of values (in bytes), indices and
// counts, each followed by what it counts.

inline void AppendNumber(std::string* bytes, int64_t number) {
  bytes->append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <typename T>
void AppendAll(std::string* bytes, const std::vector<T>& all) {
  AppendNumber(bytes, static_cast<int64_t>(all.size()));
  bytes->append(reinterpret_cast<const char*>(all.data()), all.size() * sizeof(T));
}

inline std::string Written(DType dtype, int64_t step, int64_t count, const Sum& sum) {
  std::string bytes;
  for (const int64_t number : {static_cast<int64_t>(dtype), step, count, int64_t{sum.shape.rank}}) {
    AppendNumber(&bytes, number);
  }
  for (int i = 0; i < sum.shape.rank; ++i) AppendNumber(&bytes, sum.shape.dims[i]);
  AppendAll(&bytes, sum.values);
  AppendAll(&bytes, sum.indices);
  AppendAll(&bytes, sum.counts);
  return bytes;
}

inline bool TakeNumber(const std::string& bytes, size_t* at, int64_t* number) {
  if (bytes.size() - *at < sizeof *number) return false;
  std::memcpy(number, bytes.data() + *at, sizeof *number);
  *at += sizeof *number;
  return true;
}

template <typename T>
bool TakeAll(const std::string& bytes, size_t* at, std::vector<T>* all) {
  int64_t size;
  if (!TakeNumber(bytes, at, &size)) return false;
  if (size < 0 || static_cast<uint64_t>(size) > (bytes.size() - *at) / sizeof(T)) return false;
  all->resize(static_cast<size_t>(size));
  if (size > 0) std::memcpy(all->data(), bytes.data() + *at, static_cast<size_t>(size) * sizeof(T));
  *at += static_cast<size_t>(size) * sizeof(T);
  return true;
}

// Whether the bytes are a sum that an accumulator with these options may hold.
inline bool Read(const std::string& bytes, const AccumulatorOptions& options, int64_t* step, int64_t* count,
                 Sum* sum) {
  size_t at = 0;
  int64_t dtype, rank, size = ElementBytes(options.dtype);
  if (!TakeNumber(bytes, &at, &dtype) || !TakeNumber(bytes, &at, step) || !TakeNumber(bytes, &at, count) ||
      !TakeNumber(bytes, &at, &rank) || dtype != static_cast<int64_t>(options.dtype) || *count <= 0 || rank < 0 ||
      rank > kMaxRank) {
    return false;
  }
  for (int64_t i = 0; i < rank; ++i) {
    int64_t dim;
    if (!TakeNumber(bytes, &at, &dim) || dim < 0 || __builtin_mul_overflow(size, dim, &size)) return false;
    sum->shape.Add(dim);
  }
  if (!TakeAll(bytes, &at, &sum->values) || !TakeAll(bytes, &at, &sum->indices) ||
      !TakeAll(bytes, &at, &sum->counts) || at != bytes.size() || static_cast<int64_t>(sum->values.size()) != size) {
    return false;
  }
  if (!options.is_sparse) return sum->indices.empty() && sum->counts.empty();
  return rank > 0 && static_cast<int64_t>(sum->indices.size()) == sum->shape.dims[0] &&
         sum->counts.size() == sum->indices.size();
}

class Accumulator final : public Resource {
 public:
  static constexpr const char* kKind = "accumulator";
  explicit Accumulator(const AccumulatorOptions& options) : options_(options) {}
  const char* kind() const override { return kKind; }
  const AccumulatorOptions& options() const { return options_; }

  // Adds a gradient that is of the right type and shape by itself, unless it is of an earlier step.
  Status Apply(int64_t step, Sum gradient) {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (step < step_) return Status();
    if (count_ > 0) {
      STILLFLOW_RETURN_IF_ERROR(CheckSameShape(gradient.shape));
      STILLFLOW_RETURN_IF_ERROR(Add(gradient));
    } else {
      sum_ = std::move(gradient);
    }
    ++count_;
    Serve();
    return Status();
  }

  Status Take(RunContext* run, int64_t required, Sum* sum, int64_t* count) {
    Attempt attempt;
    attempt.required = required;
    bool is_done;
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      attempts_.push_back(&attempt);
      Serve();
      is_done = attempt.is_done;
    }
    if (!is_done && !WaitFor(run, &attempt.event)) {
      const std::lock_guard<std::mutex> guard(mutex_);
      if (!attempt.is_done) {
        attempts_.erase(std::find(attempts_.begin(), attempts_.end(), &attempt));
        return Error(Code::kCancelled, "TakeGrad operation was cancelled");
      }
    }
    *sum = std::move(attempt.sum);
    *count = attempt.count;
    return Status();
  }

  void SetStep(int64_t step) {
    const std::lock_guard<std::mutex> guard(mutex_);
    step_ = step;
  }
  int64_t count() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return count_;
  }

  // What waits here, for a checkpoint; empty if nothing does.
  std::string Save() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return count_ == 0 ? std::string() : Written(options_.dtype, step_, count_, sum_);
  }

  // Whether `bytes` are what an accumulator of this type saved; then they wait here.
  bool Restore(const std::string& bytes) {
    Sum sum;
    int64_t step, count;
    if (!Read(bytes, options_, &step, &count, &sum)) return false;
    const std::lock_guard<std::mutex> guard(mutex_);
    step_ = step;
    count_ = count;
    sum_ = std::move(sum);
    Serve();
    return true;
  }

 private:
  struct Attempt {
    int64_t required = 0;
    bool is_done = false;
    Sum sum;
    int64_t count = 0;
    Event event;
  };

  void Serve() {
    while (!attempts_.empty() && count_ >= attempts_.front()->required) {
      Attempt* attempt = attempts_.front();
      attempts_.pop_front();
      attempt->sum = std::move(sum_);
      attempt->count = count_;
      sum_ = Sum();
      count_ = 0;
      ++step_;
      attempt->is_done = true;
      attempt->event.Set(Event::State::kDone);
    }
  }

  Status CheckSameShape(const Shape& shape) const {
    if (!options_.is_sparse) {
      if (shape == sum_.shape) return Status();
      return STILLFLOW_INVALID_ARGUMENT("Shape mismatch: expected %s, got %s", ShapeText(sum_.shape).c_str(),
                                        ShapeText(shape).c_str());
    }
    if (shape.rank != sum_.shape.rank) {
      return STILLFLOW_INVALID_ARGUMENT("Shape mismatch: expected values rank %d, got %d", sum_.shape.rank,
                                        shape.rank);
    }
    for (int i = 1; i < shape.rank; ++i) {
      if (shape.dims[i] != sum_.shape.dims[i]) {
        return STILLFLOW_INVALID_ARGUMENT("Shape mismatch: expected values dim %d to be %lld, got %lld", i,
                                          Long(sum_.shape.dims[i]), Long(shape.dims[i]));
      }
    }
    return Status();
  }

  template <typename T>
  static void AddElements(const char* from, int64_t count, char* to) {
    using Arithmetic = ElementArithmetic<T>;
    for (int64_t i = 0; i < count; ++i) {
      T a, b;
      std::memcpy(&a, to + i * sizeof(T), sizeof a);
      std::memcpy(&b, from + i * sizeof(T), sizeof b);
      a = Arithmetic::Store(Arithmetic::Add(Arithmetic::Load(a), Arithmetic::Load(b)));
      std::memcpy(to + i * sizeof(T), &a, sizeof a);
    }
  }

  Status Add(const Sum& gradient) {
    return ForType<float, double, Half>("Accumulator", options_.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if (!options_.is_sparse) {
        AddElements<T>(gradient.values.data(), gradient.shape.Count(), sum_.values.data());
        return Status();
      }
      Merge<T>(gradient);
      return Status();
    });
  }

  // Goes through the rows of both as if their numbers rose, as TensorFlow does.
  template <typename T>
  void Merge(const Sum& gradient) {
    const int64_t row_size = gradient.shape.Count(1, gradient.shape.rank);
    const auto row_bytes = static_cast<int64_t>(row_size * sizeof(T));
    Sum merged;
    merged.shape = gradient.shape;
    const auto take = [&](const Sum& sum, size_t i) {
      merged.indices.push_back(sum.indices[i]);
      merged.counts.push_back(sum.counts[i]);
      const char* row = sum.values.data() + static_cast<int64_t>(i) * row_bytes;
      merged.values.insert(merged.values.end(), row, row + row_bytes);
    };
    size_t i = 0, j = 0;
    while (i < sum_.indices.size() || j < gradient.indices.size()) {
      const bool has_i = i < sum_.indices.size(), has_j = j < gradient.indices.size();
      if (has_i && has_j && sum_.indices[i] == gradient.indices[j]) {
        take(sum_, i);
        merged.counts.back() += gradient.counts[j];
        AddElements<T>(gradient.values.data() + static_cast<int64_t>(j) * row_bytes, row_size,
                       merged.values.data() + merged.values.size() - row_bytes);
        ++i, ++j;
      } else if (has_i && (!has_j || sum_.indices[i] < gradient.indices[j])) {
        take(sum_, i++);
      } else {
        take(gradient, j++);
      }
    }
    merged.shape.dims[0] = static_cast<int64_t>(merged.indices.size());
    sum_ = std::move(merged);
  }

  const AccumulatorOptions options_;
  std::mutex mutex_;
  Sum sum_;
  int64_t count_ = 0, step_ = 0;
  std::deque<Attempt*> attempts_;
};

}  // namespace stillflow
