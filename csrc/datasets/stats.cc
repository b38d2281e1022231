// Data sets that tell what making their elements takes: set_stats_aggregator, latency_stats, bytes_produced_stats.
#include "datasets/stats.h"

#include <chrono>

#include "io/message_writer.h"

namespace stillflow {
namespace {

// An iterator that brings what another does.
class PassingIterator : public Iterator {
 public:
  explicit PassingIterator(IteratorPtr input) : input_(std::move(input)) {}
  Status Save(IteratorContext* context, PositionWriter* writer) override { return input_->Save(context, writer); }
  Status Restore(IteratorContext* context, PositionReader* reader) override {
    return input_->Restore(context, reader);
  }

 protected:
  const IteratorPtr input_;
};

// ---- The aggregator of what lies below ----------------------------------------------------------------------------

class WithPrefix final : public Statistics {
 public:
  WithPrefix(std::shared_ptr<StatsAggregator> aggregator, const std::string& prefix)
      : aggregator_(std::move(aggregator)), prefix_(prefix.empty() ? prefix : prefix + "::") {}
  void AddToHistogram(const std::string& name, double value) override {
    aggregator_->AddToHistogram(prefix_ + name, value);
  }

 private:
  const std::shared_ptr<StatsAggregator> aggregator_;
  const std::string prefix_;
};

class SetStatsDataset final : public DatasetOf<SetStatsDataset> {
 public:
  SetStatsDataset(TupleSpec spec, DatasetPtr input, std::shared_ptr<Statistics> statistics)
      : DatasetOf(std::move(spec), {std::move(input)}), statistics_(std::move(statistics)) {}
  const char* type() const override { return "SetStatsAggregator"; }
  int64_t Cardinality() const override { return input().Cardinality(); }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    IteratorContext own = *context;
    own.statistics = statistics_.get();
    IteratorPtr input;
    STILLFLOW_RETURN_IF_ERROR(this->input().MakeIterator(&own, place.Child(type()), &input));
    *iterator = std::make_unique<It>(*this, std::move(input));
    return Status();
  }

 private:
  class It final : public PassingIterator {
   public:
    It(const SetStatsDataset& dataset, IteratorPtr input) : PassingIterator(std::move(input)), dataset_(dataset) {}
    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      IteratorContext own = *context;
      own.statistics = dataset_.statistics_.get();
      return input_->Next(&own, element, is_end);
    }

   private:
    const SetStatsDataset& dataset_;
  };

  std::shared_ptr<Statistics> statistics_;
};

// ---- What is told -------------------------------------------------------------------------------------------------

double BytesOfElement(const Tuple& element) {
  double bytes = 0;
  for (size_t i = 0; i < element.size(); ++i) {
    const Tensor& component = element[i];
    bytes += static_cast<double>(component.count * ElementBytes(component.dtype));
    for (int64_t k = 0; component.dtype == DType::kString && k < component.count; ++k) {
      const StringCell* cell = Data<StringCell*>(component)[k];
      if (cell != nullptr) bytes += static_cast<double>(cell->size);
    }
  }
  return bytes;
}

enum class Measure { kLatency, kBytes };

class MeasuredDataset final : public DatasetOf<MeasuredDataset> {
 public:
  MeasuredDataset(TupleSpec spec, DatasetPtr input, Measure measure, std::string tag)
      : DatasetOf(std::move(spec), {std::move(input)}), measure_(measure), tag_(std::move(tag)) {}
  const char* type() const override { return measure_ == Measure::kLatency ? "LatencyStats" : "BytesProducedStats"; }
  int64_t Cardinality() const override { return input().Cardinality(); }
  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    return MakeOverInput<It>(context, place, iterator);
  }

 private:
  class It final : public PassingIterator {
   public:
    It(const MeasuredDataset& dataset, IteratorPtr input) : PassingIterator(std::move(input)), dataset_(dataset) {}
    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      const auto begin = std::chrono::steady_clock::now();
      STILLFLOW_RETURN_IF_ERROR(input_->Next(context, element, is_end));
      if (*is_end || context->statistics == nullptr) return Status();
      const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
      const bool is_latency = dataset_.measure_ == Measure::kLatency;
      context->statistics->AddToHistogram(dataset_.tag_, is_latency ? taken.count() : BytesOfElement(*element));
      return Status();
    }

   private:
    const MeasuredDataset& dataset_;
  };

  Measure measure_;
  std::string tag_;
};

}  // namespace

void StatsAggregator::AddToHistogram(const std::string& name, double value) {
  const std::lock_guard<std::mutex> guard(mutex_);
  histograms_[name].Add(value);
}

std::string StatsAggregator::Summary() const {
  enum { kSummaryValue = 1, kTag = 1, kHisto = 5 };
  const std::lock_guard<std::mutex> guard(mutex_);
  std::string summary;
  for (const auto& entry : histograms_) {
    std::string value;
    io::MessageWriter writer(&value);
    writer.FieldUnlessEmpty(kTag, entry.first);
    writer.Field(kHisto, entry.second.Serialized());
    io::MessageWriter(&summary).Field(kSummaryValue, value);
  }
  return summary;
}

DatasetPtr MakeSetStatsDataset(TupleSpec spec, DatasetPtr input, std::shared_ptr<StatsAggregator> aggregator,
                               std::string prefix) {
  auto statistics = std::make_shared<WithPrefix>(std::move(aggregator), prefix);
  return std::make_shared<SetStatsDataset>(std::move(spec), std::move(input), std::move(statistics));
}

DatasetPtr MakeLatencyStatsDataset(TupleSpec spec, DatasetPtr input, std::string tag) {
  return std::make_shared<MeasuredDataset>(std::move(spec), std::move(input), Measure::kLatency, std::move(tag));
}

DatasetPtr MakeBytesStatsDataset(TupleSpec spec, DatasetPtr input, std::string tag) {
  return std::make_shared<MeasuredDataset>(std::move(spec), std::move(input), Measure::kBytes, std::move(tag));
}

}  // namespace stillflow
