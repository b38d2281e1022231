// assert, print, print_v2, string_format: values shown to people.
//
//   assert         in[0] a bool scalar; in[1...] what the error shows if it is false; attr summarize
//   print          in[0] array; in[1...] what is written to stderr; attrs message, first_n, summarize;
//                  out[0] in[0]; of one node and session the first first_n runs write, or all if that is negative
//   print_v2       in[0] string scalar; attrs output_stream, end
//   string_format  in[0...] arrays; attrs template, placeholder, summarize; out[0] the template with the arrays in
//                  the places of the placeholders
//
// What is written is one call of fwrite, so that the lines of several threads do not mix.
#include <new>

#include "kernels/strings/tensor_text.h"

namespace stillflow {
namespace {

Status Assert(const KernelCall& call) {
  if (call.in[0]->count != 1) {
    return STILLFLOW_INVALID_ARGUMENT("In[0] should be a scalar: %s", ShapeText(*call.in[0]).c_str());
  }
  if (*Data<bool>(*call.in[0])) return Status();
  Text text;
  text.Append("assertion failed: ");
  for (int i = 1; i < call.in_count; ++i) {
    text.Append(i > 1 ? " [" : "[");
    AppendSummary(*call.in[i], call.attrs[0].i, &text);
    text.Append("]");
  }
  return STILLFLOW_INVALID_ARGUMENT("%.*s", static_cast<int>(text.size()), text.bytes());
}

// ---- print --------------------------------------------------------------------------------------------------------

Status NewCounter(const Attr*, void** state) {
  *state = new (std::nothrow) std::atomic<int64_t>(0);
  return *state == nullptr ? OutOfScratch() : Status();
}
void FreeCounter(void* state) { delete static_cast<std::atomic<int64_t>*>(state); }

void Write(FILE* stream, const Text& text) {
  std::fwrite(text.bytes(), 1, text.size(), stream);
  std::fflush(stream);
}

void AppendAttr(const Attr& attr, Text* text) { text->Append(static_cast<const char*>(attr.data), attr.size); }

Status Print(const KernelCall& call) {
  Alias(call, 0, 0, Shape(*call.in[0]));
  const int64_t most = call.attrs[1].i;
  if (most >= 0 && static_cast<std::atomic<int64_t>*>(call.state)->fetch_add(1) >= most) return Status();
  Text text;
  AppendAttr(call.attrs[0], &text);
  for (int i = 1; i < call.in_count; ++i) {
    text.Append("[");
    AppendSummary(*call.in[i], call.attrs[2].i, &text);
    text.Append("]");
  }
  text.Append("\n");
  Write(stderr, text);
  return Status();
}

bool Is(const Attr& attr, const char* name) {
  return static_cast<size_t>(attr.size) == std::strlen(name) && std::memcmp(attr.data, name, attr.size) == 0;
}

Status PrintV2(const KernelCall& call) {
  if (call.in[0]->rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Input is expected to be scalar, but got %s", ShapeText(*call.in[0]).c_str());
  }
  constexpr char kFile[] = "file://";
  const Attr& stream = call.attrs[0];
  Text text;
  if (Is(stream, "log(info)")) text.Append("INFO: ");
  if (Is(stream, "log(warning)")) text.Append("WARNING: ");
  if (Is(stream, "log(error)")) text.Append("ERROR: ");
  if (const StringCell* cell = *Data<StringCell*>(*call.in[0])) text.Append(cell->bytes, cell->size);
  AppendAttr(call.attrs[1], &text);
  if (stream.size >= 7 && std::memcmp(stream.data, kFile, 7) == 0) {
    Text path;
    path.Append(static_cast<const char*>(stream.data) + 7, stream.size - 7);
    path.Append("", 1);
    FILE* file = std::fopen(path.bytes(), "a");
    if (file == nullptr) return STILLFLOW_INVALID_ARGUMENT("File '%s' cannot be opened", path.bytes());
    Write(file, text);
    std::fclose(file);
    return Status();
  }
  if (!Is(stream, "stdout") && !Is(stream, "stderr") &&
      (stream.size < 4 || std::memcmp(stream.data, "log(", 4) != 0)) {
    return STILLFLOW_INVALID_ARGUMENT("Unknown output stream: %.*s", static_cast<int>(stream.size),
                                      static_cast<const char*>(stream.data));
  }
  Write(Is(stream, "stdout") ? stdout : stderr, text);
  return Status();
}

// ---- string_format ------------------------------------------------------------------------------------------------

Status StringFormat(const KernelCall& call) {
  const auto* from = static_cast<const char*>(call.attrs[0].data);
  const auto* const end = from + call.attrs[0].size;
  const auto* const placeholder = static_cast<const char*>(call.attrs[1].data);
  const int64_t size = call.attrs[1].size;
  Text text;
  int next = 0;
  while (from < end) {
    const bool is_place = size > 0 && end - from >= size && std::memcmp(from, placeholder, size) == 0;
    if (!is_place) {
      text.Append(from++, 1);
      continue;
    }
    if (next == call.in_count) {
      return STILLFLOW_INVALID_ARGUMENT("Number of placeholders in the template is larger than that of inputs: %d",
                                        call.in_count);
    }
    AppendEnds(*call.in[next++], 0, call.attrs[2].i, 0, &text);
    from += size;
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, Shape()));
  return SetString(call, call.out[0], 0, text.bytes(), text.size()) ? Status() : OutOfScratch();
}

}  // namespace

STILLFLOW_KERNELS(strings, print){
    {"assert", "condition, data... | summarize", Assert},
    {"print", "input, data... | message, first_n, summarize", Print, nullptr, nullptr, NewCounter, FreeCounter},
    {"print_v2", "input | output_stream, end", PrintV2},
    {"string_format", "inputs... | template, placeholder, summarize", StringFormat},
    {}};

}  // namespace stillflow
