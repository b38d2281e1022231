// stats.h: statistics that are kept while elements are made.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "datasets/dataset.h"
#include "io/histogram.h"
#include "runtime/executor/resource.h"

namespace stillflow {

class StatsAggregator final : public Resource, public Statistics {
 public:
  static constexpr char kKind[] = "stats_aggregator";
  const char* kind() const override { return kKind; }

  void AddToHistogram(const std::string& name, double value) override;

  // A Summary message of everything.
  std::string Summary() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, io::Histogram> histograms_;
};

// The elements of `input`, about which the aggregator is told, with names that begin with `prefix`.
DatasetPtr MakeSetStatsDataset(TupleSpec spec, DatasetPtr input, std::shared_ptr<StatsAggregator> aggregator,
                               std::string prefix);
// The same elements; how long each takes, in microseconds, or how many bytes it has, is told under the name `tag`.
DatasetPtr MakeLatencyStatsDataset(TupleSpec spec, DatasetPtr input, std::string tag);
DatasetPtr MakeBytesStatsDataset(TupleSpec spec, DatasetPtr input, std::string tag);

}  // namespace stillflow
