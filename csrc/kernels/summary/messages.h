// messages.h: values as serialized Summary messages, for the ops that return them and for those that write them.
//
// Each function appends values to `summary`. A Status tells what is wrong with the tensor.
#pragma once

#include <string>

#include "io/wire.h"
#include "kernel_api/kernel.h"

namespace stillflow {

// Element `index` of a real tensor.
Status AppendScalar(const std::string& tag, const Tensor& values, int64_t index, std::string* summary);
// How the elements of a real tensor are distributed; all have to be finite.
Status AppendHistogram(const std::string& tag, const Tensor& values, std::string* summary);
// The whole tensor; `metadata` is a serialized SummaryMetadata, or null.
Status AppendTensor(const std::string& tag, const Tensor& tensor, const io::Bytes* metadata, std::string* summary);
// The first `most` images of uint8 or floating [batch, height, width, channels of 1, 3 or 4]. `bad_color` is that of
// pixels that are not finite.
Status AppendImages(const std::string& tag, const Tensor& images, int64_t most, const uint8_t* bad_color,
                    int64_t color_size, std::string* summary);
// The first `most` sounds of float [batch, frames] or [batch, frames, channels].
Status AppendSounds(const std::string& tag, const Tensor& audio, float sample_rate, int64_t most,
                    std::string* summary);

}  // namespace stillflow
