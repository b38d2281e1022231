#include "io/histogram.h"

#include <algorithm>

#include "io/message_writer.h"

namespace stillflow::io {
namespace {

enum { kMin = 1, kMax = 2, kNum = 3, kSum = 4, kSumSquares = 5, kBucketLimit = 6, kBucket = 7 };

// Limits grow by a tenth from 1e-12 to 1e20, on either side of 0.
std::vector<double> BucketLimits() {
  std::vector<double> positive;
  for (double limit = 1e-12; limit < 1e20; limit *= 1.1) positive.push_back(limit);
  positive.push_back(std::numeric_limits<double>::max());
  std::vector<double> limits;
  for (auto limit = positive.rbegin(); limit != positive.rend(); ++limit) limits.push_back(-*limit);
  limits.push_back(0);
  limits.insert(limits.end(), positive.begin(), positive.end());
  return limits;
}

Bytes BytesOfDoubles(const std::vector<double>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

const std::vector<double>& Limits() {
  static const std::vector<double> limits = BucketLimits();
  return limits;
}

}  // namespace

Histogram::Histogram() : counts_(Limits().size()) {}

void Histogram::Add(double value) {
  const std::vector<double>& limits = Limits();
  const size_t index = std::upper_bound(limits.begin(), limits.end(), value) - limits.begin();
  counts_[std::min(index, counts_.size() - 1)] += 1;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  num_ += 1;
  sum_ += value;
  sum_squares_ += value * value;
}

std::string Histogram::Serialized() const {
  const std::vector<double>& limits = Limits();
  std::vector<double> kept_limits, kept_counts;
  for (size_t i = 0; i < counts_.size();) {
    const double count = counts_[i];
    double end = limits[i++];
    while (count == 0 && i < counts_.size() && counts_[i] == 0) end = limits[i++];
    kept_limits.push_back(end);
    kept_counts.push_back(count);
  }
  std::string message;
  MessageWriter writer(&message);
  writer.DoubleUnlessZero(kMin, min_);
  writer.DoubleUnlessZero(kMax, max_);
  writer.DoubleUnlessZero(kNum, num_);
  writer.DoubleUnlessZero(kSum, sum_);
  writer.DoubleUnlessZero(kSumSquares, sum_squares_);
  writer.Field(kBucketLimit, BytesOfDoubles(kept_limits));
  writer.Field(kBucket, BytesOfDoubles(kept_counts));
  return message;
}

}  // namespace stillflow::io
