// substr: parts of strings, by position and length in bytes or in UTF-8 characters.
//
//   in[0] strings; in[1] int32 or int64 positions, negative ones from the end; in[2] lengths, of the same shape
//   attr unit: "BYTE" or "UTF8_CHAR"; out[0] strings of the broadcast shape
#include <algorithm>

#include "kernel_api/broadcast.h"
#include "kernels/guarded.h"

namespace stillflow {
namespace {

using io::Bytes;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

int64_t CharacterCount(Bytes text) {
  return std::count_if(text.data, text.data + text.size, [](char c) { return !IsContinuation(c); });
}

// Where character `number` begins, or the end. Bytes that continue nothing belong to what stands before them.
size_t CharacterOffset(Bytes text, int64_t number) {
  size_t at = 0;
  while (at < text.size && IsContinuation(text.data[at])) ++at;
  for (; number > 0 && at < text.size; --number) {
    ++at;
    while (at < text.size && IsContinuation(text.data[at])) ++at;
  }
  return at;
}

// False if the position lies outside.
bool Cut(Bytes text, int64_t position, int64_t length, bool is_utf8, Bytes* part) {
  const int64_t size = is_utf8 ? CharacterCount(text) : static_cast<int64_t>(text.size);
  if (position < -size || position > size) return false;
  if (position < 0) position += size;
  length = length < 0 ? size - position : std::min(length, size - position);
  if (!is_utf8) {
    *part = {text.data + position, static_cast<size_t>(length)};
    return true;
  }
  const size_t begin = CharacterOffset(text, position);
  const Bytes rest = {text.data + begin, text.size - begin};
  const size_t end = length == size - position ? rest.size : CharacterOffset(rest, length);
  *part = {rest.data, end};
  return true;
}

Status Substr(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& positions = *call.in[1];
  const Tensor& lengths = *call.in[2];
  const bool is_utf8 = call.attrs[0].size == 9;
  if (!(Shape(positions) == Shape(lengths))) {
    return STILLFLOW_INVALID_ARGUMENT("pos and len should have the same shape, got: %s vs. %s",
                                      ShapeText(positions).c_str(), ShapeText(lengths).c_str());
  }
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(BroadcastTwo(Shape(input), Shape(positions), &shape));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, shape));
  if (call.out[0]->count == 0) return Status();
  BroadcastWalk text_walk(Shape(input), shape, 0);
  BroadcastWalk position_walk(Shape(positions), shape, 0);
  for (int64_t i = 0; i < call.out[0]->count; ++i, text_walk.Next(), position_walk.Next()) {
    const Bytes text = StringAt(input, text_walk.index());
    const int64_t source = position_walk.index();
    const int64_t position = IntAt(positions, source);
    Bytes part;
    if (!Cut(text, position, IntAt(lengths, source), is_utf8, &part)) {
      const std::string which = is_utf8 ? "" : " b'" + Text(text) + "'";
      return STILLFLOW_INVALID_ARGUMENT("pos %lld out of range for string%s at index %lld",
                                        static_cast<long long>(position), which.c_str(), static_cast<long long>(i));
    }
    if (!SetString(call, call.out[0], i, part.data, static_cast<int64_t>(part.size))) return OutOfScratch();
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(strings, substr){{"substr", "input, pos, len | unit", Guarded<Substr>}, {}};

}  // namespace stillflow
