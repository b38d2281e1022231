// check_numerics, ensure_shape: identities that fail on NaN or infinity, or on another shape.
//
//   check_numerics  in[0] floating array without infinities and NaN; attr message
//   ensure_shape    in[0] array; attrs shape: sizes, -1 for any; -2 alone for any shape; input_name
//   out[0]          in[0]
#include <string>

#include "arithmetic/math/scalar.h"

namespace stillflow {
namespace {

template <typename T>
void FindSpecial(const Tensor& input, bool* has_inf, bool* has_nan) {
  bool inf = false;
  bool nan = false;
  for (int64_t i = 0; i < input.count; ++i) {
    const auto value = Widen(Data<T>(input)[i]);
    const bool is_nan = value != value;
    nan |= is_nan;
    inf |= !is_nan & (value - value != 0);
  }
  *has_inf = inf;
  *has_nan = nan;
}

Status CheckNumerics(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  bool has_inf = false;
  bool has_nan = false;
  STILLFLOW_RETURN_IF_ERROR((ForType<float, double, Half, BFloat16>("CheckNumerics", input.dtype, [&](auto tag) {
    FindSpecial<typename decltype(tag)::type>(input, &has_inf, &has_nan);
    return Status();
  })));
  if (has_inf || has_nan) {
    const char* found = has_inf && has_nan ? "Inf and NaN" : has_inf ? "Inf" : "NaN";
    return STILLFLOW_INVALID_ARGUMENT("%.*s : Tensor had %s values", static_cast<int>(call.attrs[0].size),
                                      static_cast<const char*>(call.attrs[0].data), found);
  }
  Alias(call, 0, 0, Shape(input));
  return Status();
}

Status EnsureShape(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const auto* expected = static_cast<const int64_t*>(call.attrs[0].data);
  const int64_t rank = call.attrs[0].size;
  bool fits = rank == 1 && expected[0] == -2;
  if (!fits) {
    fits = rank == input.rank;
    for (int i = 0; fits && i < input.rank; ++i) fits = expected[i] < 0 || expected[i] == input.dims[i];
  }
  if (!fits) {
    std::string text = "[";
    for (int64_t i = 0; i < rank; ++i) {
      if (i != 0) text += ",";
      text += expected[i] < 0 ? "?" : std::to_string(expected[i]);
    }
    return STILLFLOW_INVALID_ARGUMENT(
        "Shape of tensor %.*s %s is not compatible with expected shape %s].", static_cast<int>(call.attrs[1].size),
        static_cast<const char*>(call.attrs[1].data), ShapeText(input).c_str(), text.c_str());
  }
  Alias(call, 0, 0, Shape(input));
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(array, check){{"check_numerics", "tensor | message", CheckNumerics},
                                {"ensure_shape", "input | shape, input_name", EnsureShape},
                                {}};

}  // namespace stillflow
