// histogram.h: how often numbers come, as HistogramProto messages say it.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace stillflow::io {

class Histogram {
 public:
  Histogram();

  void Add(double value);
  // The message. Empty buckets that lie together become one.
  std::string Serialized() const;

 private:
  std::vector<double> counts_;
  double min_ = std::numeric_limits<double>::max();
  double max_ = -std::numeric_limits<double>::max();
  double num_ = 0;
  double sum_ = 0;
  double sum_squares_ = 0;
};

}  // namespace stillflow::io
