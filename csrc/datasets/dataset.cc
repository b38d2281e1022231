#include "datasets/dataset.h"

namespace stillflow {
namespace {

// Whether some tensor could have both shapes.
bool AreCompatible(const PartialShape& a, const PartialShape& b) {
  if (a.rank < 0 || b.rank < 0) return true;
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i) {
    if (a.dims[i] >= 0 && b.dims[i] >= 0 && a.dims[i] != b.dims[i]) return false;
  }
  return true;
}

}  // namespace

Status IteratorContext::CheckRun() const {
  return ShouldStop(run) ? Error(Code::kCancelled, "The run was cancelled") : Status();
}

void Dataset::VisitTensors(const std::function<void(const Tensor&)>& visit) const {
  for (const DatasetPtr& input : inputs_) input->VisitTensors(visit);
}

void Dataset::SaveSeeds(PositionWriter* writer) const {
  for (const DatasetPtr& input : inputs_) input->SaveSeeds(writer);
}

DatasetPtr Dataset::WithSavedSeeds(PositionReader* reader) const {
  std::vector<DatasetPtr> inputs;
  for (const DatasetPtr& input : inputs_) inputs.push_back(input->WithSavedSeeds(reader));
  return inputs == inputs_ ? shared_from_this() : WithInputs(std::move(inputs));
}

std::string Dataset::Structure() const {
  std::string text;
  AppendStructure(&text);
  return text;
}

void Dataset::AppendStructure(std::string* text) const {
  *text += type();
  if (inputs_.empty()) *text += "<" + TextOf(spec_.types) + ">";
  for (size_t i = 0; i < inputs_.size(); ++i) {
    *text += i == 0 ? "(" : ", ";
    inputs_[i]->AppendStructure(text);
  }
  if (!inputs_.empty()) *text += ")";
}

int64_t BatchCount(int64_t elements, int64_t batch_size, bool drops_remainder) {
  if (elements < 0) return elements;
  return elements / batch_size + (drops_remainder || elements % batch_size == 0 ? 0 : 1);
}

int64_t RepeatedCount(int64_t elements, int64_t count) {
  if (count == 0 || elements == 0) return 0;
  if (count < 0) return kInfiniteCardinality;
  if (elements < 0) return elements;
  int64_t total = 0;
  return __builtin_mul_overflow(elements, count, &total) ? kUnknownCardinality : total;
}

Status CheckSpec(const TupleSpec& expected, const TupleSpec& found) {
  if (expected.size() != found.size()) {
    return STILLFLOW_INVALID_ARGUMENT("Number of components does not match: expected %d types but got %d.",
                                      static_cast<int>(expected.size()), static_cast<int>(found.size()));
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected.types[i] != found.types[i]) {
      return STILLFLOW_INVALID_ARGUMENT("Data type mismatch at component %d: expected %s but got %s.",
                                        static_cast<int>(i), Name(expected.types[i]), Name(found.types[i]));
    }
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!AreCompatible(expected.shapes[i], found.shapes[i])) {
      return STILLFLOW_INVALID_ARGUMENT("Incompatible shapes at component %d: expected %s but got %s.",
                                        static_cast<int>(i), TextOf(expected.shapes[i]).c_str(),
                                        TextOf(found.shapes[i]).c_str());
    }
  }
  return Status();
}

Status KeepTensor(const Services& services, const Tensor& tensor, Tensor* made) {
  if (!tensor.buffer->is_borrowed) {
    *made = tensor;
    Retain(tensor.buffer);
    return Status();
  }
  STILLFLOW_RETURN_IF_ERROR(Allocate(services, tensor.dtype, Shape(tensor), made));
  CopyElements(tensor, 0, tensor.count, made, 0);
  return Status();
}

}  // namespace stillflow
