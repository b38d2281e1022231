// Data sets of random numbers without end: random.
#include "datasets/datasets.h"
#include "datasets/words.h"

namespace stillflow {
namespace {

class RandomDataset final : public DatasetOf<RandomDataset> {
 public:
  RandomDataset(TupleSpec spec, uint64_t seed, uint64_t seed2)
      : DatasetOf(std::move(spec)), seed_(seed), seed2_(seed2) {}
  const char* type() const override { return "Random"; }
  int64_t Cardinality() const override { return kInfiniteCardinality; }
  Status MakeIterator(IteratorContext*, const Place&, IteratorPtr* iterator) const override {
    *iterator = std::make_unique<It>(seed_, seed2_);
    return Status();
  }

 private:
  class It final : public Iterator {
   public:
    It(uint64_t seed, uint64_t seed2) : words_(seed, seed2) {}

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      *is_end = false;
      element->Reset(1);
      STILLFLOW_RETURN_IF_ERROR(Allocate(*context->services, DType::kInt64, Shape(), &(*element)[0]));
      MutableData<int64_t>((*element)[0])[0] = words_.Next();
      return Status();
    }
    Status Save(IteratorContext*, PositionWriter* writer) override {
      words_.Save(writer);
      return Status();
    }
    Status Restore(IteratorContext*, PositionReader* reader) override {
      words_.Restore(reader);
      return reader->status();
    }

   private:
    Words words_;
  };

  uint64_t seed_;
  uint64_t seed2_;
};

}  // namespace

DatasetPtr MakeRandomDataset(TupleSpec spec, uint64_t seed, uint64_t seed2) {
  return std::make_shared<RandomDataset>(std::move(spec), seed, seed2);
}

}  // namespace stillflow
