// string_split, string_split_v2: strings cut into parts, as a sparse matrix of a row for each.
//
//   string_split     in[0] strings [n]; in[1] delimiter: each of its characters ends a part, or none: every byte is
//   one
//                    attr skip_empty
//   string_split_v2  in[0] strings [n]; in[1] sep: all of it ends a part, or none: white space does; attr maxsplit
//
// out: int64 indices [parts, 2], parts, int64 [n, most parts of a string]
#include <algorithm>
#include <vector>

#include "kernels/guarded.h"

namespace stillflow {
namespace {

using io::Bytes;

using Parts = std::vector<Bytes>;

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

void SplitAtCharacters(Bytes text, Bytes delimiters, bool skips_empty, Parts* parts) {
  if (delimiters.size == 0) {
    for (size_t i = 0; i < text.size; ++i) parts->push_back({text.data + i, 1});
    return;
  }
  if (text.size == 0) return;
  bool is_end[256] = {};
  for (size_t i = 0; i < delimiters.size; ++i) is_end[static_cast<unsigned char>(delimiters.data[i])] = true;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size; ++i) {
    if (i < text.size && !is_end[static_cast<unsigned char>(text.data[i])]) continue;
    if (i > begin || !skips_empty) parts->push_back({text.data + begin, i - begin});
    begin = i + 1;
  }
}

void SplitAtSpace(Bytes text, int64_t most_splits, Parts* parts) {
  if (most_splits == 0) {
    parts->push_back(text);
    return;
  }
  const char* next = text.data;
  const char* const end = text.data + text.size;
  const auto skip_space = [&] {
    while (next < end && IsSpace(*next)) ++next;
  };
  skip_space();
  for (int64_t splits = 1; next < end; ++splits) {
    const char* const begin = next;
    while (next < end && !IsSpace(*next)) ++next;
    parts->push_back({begin, static_cast<size_t>(next - begin)});
    skip_space();
    // What is left after the last split is a part, even if it is empty: so TensorFlow has it.
    if (most_splits > 0 && splits == most_splits) {
      parts->push_back({next, static_cast<size_t>(end - next)});
      return;
    }
  }
}

void SplitAtText(Bytes text, Bytes separator, int64_t most_splits, Parts* parts) {
  const char* next = text.data;
  const char* const end = text.data + text.size;
  for (int64_t splits = 0; most_splits < 0 || splits < most_splits; ++splits) {
    const char* found = std::search(next, end, separator.data, separator.data + separator.size);
    if (found == end) break;
    parts->push_back({next, static_cast<size_t>(found - next)});
    next = found + separator.size;
  }
  parts->push_back({next, static_cast<size_t>(end - next)});
}

template <typename Cut>
Status Split(const KernelCall& call, const char* name, const Cut& cut) {
  const Tensor& input = *call.in[0];
  if (input.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("input must be a vector, got shape: %s", ShapeText(input).c_str());
  }
  if (call.in[1]->rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("%s must be a scalar, got shape: %s", name, ShapeText(*call.in[1]).c_str());
  }
  Parts parts;
  std::vector<int64_t> ends;
  int64_t most = 0;
  for (int64_t i = 0; i < input.count; ++i) {
    const size_t begin = parts.size();
    cut(StringAt(input, i), StringAt(*call.in[1], 0), &parts);
    ends.push_back(static_cast<int64_t>(parts.size()));
    most = std::max(most, static_cast<int64_t>(parts.size() - begin));
  }
  Shape matrix, vector, pair;
  matrix.Add(static_cast<int64_t>(parts.size()));
  matrix.Add(2);
  vector.Add(static_cast<int64_t>(parts.size()));
  pair.Add(2);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, matrix));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, DType::kString, vector));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 2, DType::kInt64, pair));
  auto* index = MutableData<int64_t>(*call.out[0]);
  int64_t next = 0;
  for (int64_t i = 0; i < input.count; ++i) {
    for (int64_t j = 0; next < ends[i]; ++j, ++next) {
      index[2 * next] = i;
      index[2 * next + 1] = j;
      if (!SetString(call, call.out[1], next, parts[next].data, static_cast<int64_t>(parts[next].size))) {
        return OutOfScratch();
      }
    }
  }
  MutableData<int64_t>(*call.out[2])[0] = input.count;
  MutableData<int64_t>(*call.out[2])[1] = most;
  return Status();
}

Status StringSplit(const KernelCall& call) {
  const bool skips_empty = call.attrs[0].i != 0;
  return Split(call, "delimiter", [skips_empty](Bytes text, Bytes delimiters, Parts* parts) {
    SplitAtCharacters(text, delimiters, skips_empty, parts);
  });
}

Status StringSplitV2(const KernelCall& call) {
  // 0 means the same as none at all, except that white space in front goes.
  const int64_t most_splits = call.attrs[0].i;
  return Split(call, "sep", [most_splits](Bytes text, Bytes separator, Parts* parts) {
    if (separator.size == 0) {
      SplitAtSpace(text, most_splits, parts);
    } else {
      SplitAtText(text, separator, most_splits, parts);
    }
  });
}

}  // namespace

STILLFLOW_KERNELS(strings, string_split){{"string_split", "input, delimiter | skip_empty", Guarded<StringSplit>},
                                         {"string_split_v2", "input, sep | maxsplit", Guarded<StringSplitV2>},
                                         {}};

}  // namespace stillflow
