// serialize_tensor: in[0] any tensor; out[0] a serialized TensorProto.
#include "kernels/parsing/tensor_message.h"

namespace stillflow {
namespace {

Status SerializeTensor(const KernelCall& call) {
  if (call.in[0]->dtype == DType::kResource) return UnsupportedType("SerializeTensor", call.in[0]->dtype);
  return SetScalarString(call, SerializedTensor(*call.in[0]));
}

}  // namespace

STILLFLOW_KERNELS(parsing, serialize_tensor){{"serialize_tensor", "tensor", Guarded<SerializeTensor>}, {}};

}  // namespace stillflow
