// serialize_tensor: in[0] any tensor but of handles and variants; out[0] a serialized TensorProto.
#include "kernels/parsing/tensor_message.h"

namespace stillflow {
namespace {

Status SerializeTensor(const KernelCall& call) {
  const DType dtype = call.in[0]->dtype;
  if (dtype == DType::kResource || dtype == DType::kVariant) return UnsupportedType("SerializeTensor", dtype);
  return SetScalarString(call, SerializedTensor(*call.in[0]));
}

}  // namespace

STILLFLOW_KERNELS(parsing, serialize_tensor){{"serialize_tensor", "tensor", Guarded<SerializeTensor>}, {}};

}  // namespace stillflow
