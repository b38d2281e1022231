#include "datasets/captured_function.h"

namespace stillflow {
namespace {

class StateLegacy final : public Legacy {
 public:
  const std::shared_ptr<FunctionState>& state() const { return state_; }

  Status Save(PositionWriter* writer) override {
    writer->String(state_->Save());
    return Status();
  }
  Status Restore(const Services&, PositionReader* reader) override {
    if (!state_->Restore(reader->String())) reader->Fail();
    return reader->status();
  }

 private:
  const std::shared_ptr<FunctionState> state_ = std::make_shared<FunctionState>();
};

}  // namespace

Status CapturedFunction::Make(const Services& services, std::shared_ptr<const Function> function,
                              const Tensor* const* captured, int32_t count,
                              std::shared_ptr<const CapturedFunction>* made) {
  auto result = std::make_shared<CapturedFunction>();
  result->function_ = std::move(function);
  result->captured_.Reset(count);
  for (int32_t i = 0; i < count; ++i) {
    if (captured[i]->buffer == nullptr) {
      result->captured_[i] = *captured[i];  // a variable, which lasts as long as the session
    } else {
      STILLFLOW_RETURN_IF_ERROR(KeepTensor(services, *captured[i], &result->captured_[i]));
    }
  }
  *made = std::move(result);
  return Status();
}

bool CapturedFunction::ReadsVariables() const {
  for (const DType type : function_->input_types()) {
    if (type == DType::kRef) return true;
  }
  for (size_t i = 0; i < captured_.size(); ++i) {
    if (captured_[i].buffer == nullptr) return true;
  }
  return false;
}

void CapturedFunction::VisitTensors(const std::function<void(const Tensor&)>& visit) const {
  for (size_t i = 0; i < captured_.size(); ++i) {
    if (captured_[i].buffer != nullptr && captured_[i].dtype != DType::kVariant) visit(captured_[i]);
  }
}

Status BoundFunction::Bind(IteratorContext* context, const Place& place, CapturedFunctionPtr captured) {
  captured_ = std::move(captured);
  if (!is_stateful()) return Status();
  std::shared_ptr<StateLegacy> legacy;
  const auto make = [] { return std::make_shared<StateLegacy>(); };
  STILLFLOW_RETURN_IF_ERROR(place.FindOrMakeState<StateLegacy>(*context->services, make, &legacy));
  state_ = legacy->state();
  return Status();
}

Status BoundFunction::Call(IteratorContext* context, const Tuple& element, Tuple* result) const {
  return CallWith(state_.get(), context, element, result);
}

Status BoundFunction::CallWith(FunctionState* state, IteratorContext* context, const Tuple& element,
                               Tuple* result) const {
  const Function& function = captured_->function();
  const Tuple& captured = captured_->captured();
  std::vector<const Tensor*> in;
  in.reserve(element.size() + captured.size());
  for (size_t i = 0; i < element.size(); ++i) in.push_back(&element[i]);
  for (size_t i = 0; i < captured.size(); ++i) in.push_back(&captured[i]);
  Tuple made(function.output_types().size());
  std::vector<Tensor*> out;
  out.reserve(made.size());
  for (size_t i = 0; i < made.size(); ++i) out.push_back(&made[i]);
  STILLFLOW_RETURN_IF_ERROR(
      function.Call(context->run, state, in.data(), static_cast<int32_t>(in.size()), out.data()));
  *result = std::move(made);
  return Status();
}

std::string BoundFunction::SaveState() const { return state_ == nullptr ? std::string() : state_->Save(); }

bool BoundFunction::RestoreState(const std::string& bytes) const {
  return state_ == nullptr ? bytes.empty() : state_->Restore(bytes);
}

}  // namespace stillflow
