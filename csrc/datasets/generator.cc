// Data sets whose elements a function makes of nothing but what an earlier call gave: generators of the program.
#include "datasets/functional.h"

namespace stillflow {
namespace {

class GeneratorDataset final : public DatasetOf<GeneratorDataset> {
 public:
  GeneratorDataset(TupleSpec spec, CapturedFunctionPtr init, CapturedFunctionPtr next, CapturedFunctionPtr finalize)
      : DatasetOf(std::move(spec)), init_(std::move(init)), next_(std::move(next)), finalize_(std::move(finalize)) {}
  const char* type() const override { return "Generator"; }

  Status MakeIterator(IteratorContext* context, const Place& place, IteratorPtr* iterator) const override {
    const Place own = place.Child(type());
    BoundFunction init;
    BoundFunction next;
    BoundFunction finalize;
    STILLFLOW_RETURN_IF_ERROR(init.Bind(context, own.Child("init"), init_));
    STILLFLOW_RETURN_IF_ERROR(next.Bind(context, own.Child("next"), next_));
    STILLFLOW_RETURN_IF_ERROR(finalize.Bind(context, own.Child("finalize"), finalize_));
    *iterator = std::make_unique<It>(std::move(init), std::move(next), std::move(finalize));
    return Status();
  }
  void VisitTensors(const std::function<void(const Tensor&)>& visit) const override {
    for (const auto& function : {init_, next_, finalize_}) function->VisitTensors(visit);
  }

 private:
  class It final : public Iterator {
   public:
    It(BoundFunction init, BoundFunction next, BoundFunction finalize)
        : init_(std::move(init)), next_(std::move(next)), finalize_(std::move(finalize)) {}

    // The program is told that nobody will ask for more.
    ~It() override {
      if (phase_ != kRunning) return;
      RunOptions options{};
      options.host = host_;
      RunContext run{};
      run.session = session_;
      run.options = &options;
      IteratorContext context{&run, services_};
      Tuple ignored;
      const Status unheard = finalize_.Call(&context, state_, &ignored);
    }

    Status Next(IteratorContext* context, Tuple* element, bool* is_end) override {
      if (phase_ == kNew) STILLFLOW_RETURN_IF_ERROR(Begin(context));
      *is_end = phase_ == kOver;
      if (*is_end) return Status();
      ++calls_;
      Status status = next_.Call(context, state_, element);
      if (status.code() != Code::kOutOfRange) return status;
      *is_end = true;
      phase_ = kOver;
      Tuple ignored;
      return NotTheEnd(finalize_.Call(context, state_, &ignored), "Generator");
    }

    // What the program's generator is like cannot be told, so it is begun anew and brought to the same place.
    Status Save(IteratorContext*, PositionWriter* writer) override {
      writer->Int(phase_);
      writer->Int(calls_);
      return Status();
    }
    Status Restore(IteratorContext* context, PositionReader* reader) override {
      const auto phase = static_cast<Phase>(reader->IntIn(kNew, kOver));
      const int64_t calls = reader->IntIn(0, INT64_MAX);
      STILLFLOW_RETURN_IF_ERROR(reader->status());
      if (phase != kRunning) {
        phase_ = phase;
        calls_ = calls;
        return Status();
      }
      const std::string state = next_.SaveState();
      STILLFLOW_RETURN_IF_ERROR(Begin(context));
      while (calls_ < calls && phase_ == kRunning) {
        STILLFLOW_RETURN_IF_ERROR(context->CheckRun());
        Tuple ignored;
        bool is_end = false;
        const Status status = Next(context, &ignored, &is_end);
        if (context->run->stop != Code::kOk) return Error(context->run->stop, "The run was cancelled");
      }
      if (!next_.RestoreState(state)) reader->Fail();
      return reader->status();
    }

   private:
    enum Phase { kNew, kRunning, kOver };

    Status Begin(IteratorContext* context) {
      session_ = context->run->session;
      services_ = context->services;
      host_ = context->run->options->host;
      STILLFLOW_RETURN_IF_ERROR(NotTheEnd(init_.Call(context, Tuple(), &state_), "Generator"));
      phase_ = kRunning;
      return Status();
    }

    const BoundFunction init_;
    const BoundFunction next_;
    const BoundFunction finalize_;
    Session* session_ = nullptr;
    const Services* services_ = nullptr;
    HostFunction host_ = nullptr;
    Phase phase_ = kNew;
    int64_t calls_ = 0;  // of `next`
    Tuple state_;
  };

  CapturedFunctionPtr init_;
  CapturedFunctionPtr next_;
  CapturedFunctionPtr finalize_;
};

}  // namespace

DatasetPtr MakeGeneratorDataset(TupleSpec spec, CapturedFunctionPtr init, CapturedFunctionPtr next,
                                CapturedFunctionPtr finalize) {
  return std::make_shared<GeneratorDataset>(std::move(spec), std::move(init), std::move(next), std::move(finalize));
}

}  // namespace stillflow
