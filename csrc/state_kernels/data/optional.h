// optional.h: a value that there may be or not, as variant tensors hold it.
#pragma once

#include <memory>

#include "datasets/variant.h"

namespace stillflow {

struct OptionalVariant final : VariantValue {
  explicit OptionalVariant(std::unique_ptr<const Tuple> held);
  const std::unique_ptr<const Tuple> value;  // null if there is none
};

}  // namespace stillflow
