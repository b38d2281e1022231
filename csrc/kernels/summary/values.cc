// scalar_summary, histogram_summary, tensor_summary, named_tensor_summary, merge_summary: values as serialized
// Summary messages.
//
//   scalar_summary     in[0] tags, strings; in[1] values of the same shape
//   histogram_summary  in[0] tag, a scalar; in[1] values, all finite
//   tensor_summary     in[0] tag, a scalar; in[1] any tensor; in[2] a serialized SummaryMetadata
//   named_tensor_summary  in[0] any tensor; attr node_name
//   merge_summary      in[0...] strings, each a serialized Summary; no tag may occur twice
//
// out[0] is a string scalar. Sums of histograms go over the elements in their order, in double.
#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "arithmetic/math/scalar.h"
#include "io/histogram.h"
#include "kernels/guarded.h"
#include "kernels/parsing/tensor_message.h"
#include "kernels/summary/messages.h"

namespace stillflow {
namespace {

using io::Bytes;
using io::MessageWriter;
using io::WireReader;
using io::WireType;

// Field numbers of Summary and Summary.Value.
enum { kSummaryValue = 1 };
enum { kTag = 1, kSimpleValue = 2, kHisto = 5, kNodeName = 7, kTensor = 8, kMetadata = 9 };

Status ScalarTag(const Tensor& tag, const char* message) {
  return tag.rank == 0 ? Status() : STILLFLOW_INVALID_ARGUMENT("%s", message);
}

template <typename Body>
Status ForReals(const char* name, DType dtype, const Body& body) {
  return ForType<float, double, int32_t, uint8_t, int16_t, int8_t, int64_t, BFloat16, uint16_t, Half, uint32_t,
                 uint64_t>(name, dtype, body);
}

// ---- Scalars ------------------------------------------------------------------------------------------------------

}  // namespace

Status AppendScalar(const std::string& tag, const Tensor& values, int64_t index, std::string* summary) {
  std::string value;
  MessageWriter writer(&value);
  writer.FieldUnlessEmpty(kTag, tag);
  STILLFLOW_RETURN_IF_ERROR(ForReals("ScalarSummary", values.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (kIsFloating<T>) {
      writer.Float(kSimpleValue, static_cast<float>(Widen(Data<T>(values)[index])));
    } else {
      writer.Float(kSimpleValue, static_cast<float>(Data<T>(values)[index]));
    }
    return Status();
  }));
  MessageWriter(summary).Field(kSummaryValue, value);
  return Status();
}

namespace {

Status ScalarSummary(const KernelCall& call) {
  const Tensor& tags = *call.in[0];
  const Tensor& values = *call.in[1];
  if (!(Shape(tags) == Shape(values))) {
    const std::string tag = tags.count == 1 ? " (tag '" + Text(StringAt(tags, 0)) + "')" : "";
    return STILLFLOW_INVALID_ARGUMENT("tags and values not the same shape: %s != %s%s", ShapeText(tags).c_str(),
                                      ShapeText(values).c_str(), tag.c_str());
  }
  std::string summary;
  for (int64_t i = 0; i < values.count; ++i) {
    STILLFLOW_RETURN_IF_ERROR(AppendScalar(Text(StringAt(tags, i)), values, i, &summary));
  }
  return SetScalarString(call, summary);
}

}  // namespace

// ---- Histograms ---------------------------------------------------------------------------------------------------

Status AppendHistogram(const std::string& tag, const Tensor& values, std::string* summary) {
  io::Histogram histogram;
  STILLFLOW_RETURN_IF_ERROR(ForReals("HistogramSummary", values.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    for (int64_t i = 0; i < values.count; ++i) {
      double value;
      if constexpr (kIsFloating<T>) {
        value = static_cast<double>(Widen(Data<T>(values)[i]));
        if (value != value) return STILLFLOW_INVALID_ARGUMENT("Nan in summary histogram for: %s", tag.c_str());
        if (value - value != 0) {
          return STILLFLOW_INVALID_ARGUMENT("Infinity in summary histogram for: %s", tag.c_str());
        }
      } else {
        value = static_cast<double>(Data<T>(values)[i]);
      }
      histogram.Add(value);
    }
    return Status();
  }));
  std::string value;
  MessageWriter writer(&value);
  writer.FieldUnlessEmpty(kTag, tag);
  writer.Field(kHisto, histogram.Serialized());
  MessageWriter(summary).Field(kSummaryValue, value);
  return Status();
}

// ---- Tensors ------------------------------------------------------------------------------------------------------

Status AppendTensor(const std::string& tag, const Tensor& tensor, const Bytes* metadata, std::string* summary) {
  if (tensor.dtype == DType::kResource) return UnsupportedType("TensorSummaryV2", tensor.dtype);
  std::string value;
  MessageWriter writer(&value);
  writer.FieldUnlessEmpty(kTag, tag);
  writer.Field(kTensor, SerializedTensor(tensor));
  if (metadata != nullptr) writer.Field(kMetadata, *metadata);
  MessageWriter(summary).Field(kSummaryValue, value);
  return Status();
}

namespace {

Status HistogramSummary(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(ScalarTag(*call.in[0], "tags must be scalar"));
  std::string summary;
  STILLFLOW_RETURN_IF_ERROR(AppendHistogram(Text(StringAt(*call.in[0], 0)), *call.in[1], &summary));
  return SetScalarString(call, summary);
}

Status TensorSummary(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(ScalarTag(*call.in[0], "tag must be scalar"));
  STILLFLOW_RETURN_IF_ERROR(ScalarTag(*call.in[2], "serialized_summary_metadata must be scalar"));
  const Bytes metadata = StringAt(*call.in[2], 0);
  if (!io::IsMessage(metadata)) {
    return STILLFLOW_INVALID_ARGUMENT("Could not parse serialized_summary_metadata as a SummaryMetadata");
  }
  std::string summary;
  STILLFLOW_RETURN_IF_ERROR(AppendTensor(Text(StringAt(*call.in[0], 0)), *call.in[1], &metadata, &summary));
  return SetScalarString(call, summary);
}

// From before tags: the value has the name of the node.
Status NamedTensorSummary(const KernelCall& call) {
  const Tensor& tensor = *call.in[0];
  if (tensor.dtype == DType::kResource) return UnsupportedType("TensorSummary", tensor.dtype);
  std::string value;
  MessageWriter writer(&value);
  writer.FieldUnlessEmpty(kNodeName, std::string(static_cast<const char*>(call.attrs[0].data), call.attrs[0].size));
  writer.Field(kTensor, SerializedTensor(tensor));
  std::string summary;
  MessageWriter(&summary).Field(kSummaryValue, value);
  return SetScalarString(call, summary);
}

// ---- Several in one -----------------------------------------------------------------------------------------------

// The tag of a Summary.Value. False if the bytes are none.
bool TagOf(Bytes value, std::string* tag) {
  WireReader reader(value);
  while (reader.NextField()) {
    if (reader.Is(kTag, WireType::kBytes)) {
      *tag = reader.LengthDelimited().ToString();
    } else {
      reader.Skip();
    }
  }
  return reader.ok();
}

Status AddSummary(Bytes summary, std::set<std::string>* tags, std::string* merged) {
  WireReader reader(summary);
  while (reader.NextField()) {
    if (!reader.Is(kSummaryValue, WireType::kBytes)) {
      reader.Skip();
      continue;
    }
    const Bytes value = reader.LengthDelimited();
    std::string tag;
    if (!reader.ok() || !TagOf(value, &tag)) break;
    if (!tag.empty() && !tags->insert(tag).second) {
      return STILLFLOW_INVALID_ARGUMENT("Duplicate tag %s found in summary inputs", tag.c_str());
    }
    MessageWriter(merged).Field(kSummaryValue, value);
  }
  if (!reader.ok() || !reader.done()) return STILLFLOW_INVALID_ARGUMENT("Could not parse one of the summary inputs");
  return Status();
}

Status MergeSummary(const KernelCall& call) {
  std::set<std::string> tags;
  std::string merged;
  for (int i = 0; i < call.in_count; ++i) {
    for (int64_t j = 0; j < call.in[i]->count; ++j) {
      STILLFLOW_RETURN_IF_ERROR(AddSummary(StringAt(*call.in[i], j), &tags, &merged));
    }
  }
  return SetScalarString(call, merged);
}

}  // namespace

STILLFLOW_KERNELS(summary, values){
    {"scalar_summary", "tags, values", Guarded<ScalarSummary>},
    {"histogram_summary", "tag, values", Guarded<HistogramSummary>},
    {"tensor_summary", "tag, tensor, serialized_summary_metadata", Guarded<TensorSummary>},
    {"named_tensor_summary", "tensor | node_name", Guarded<NamedTensorSummary>},
    {"merge_summary", "inputs...", Guarded<MergeSummary>},
    {}};

}  // namespace stillflow
