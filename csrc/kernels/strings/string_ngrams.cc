// string_ngrams: strings that follow each other in a row, joined.
//
//   in[0] strings; in[1] where each row begins [n + 1], int32 or int64
//   attrs separator, ngram_widths, left_pad, right_pad, pad_width (-1: one less than the width),
//   preserve_short_sequences
//   out[0] the joined strings, out[1] where each row's begin [n + 1], of in[1]'s type
#include <algorithm>
#include <vector>

#include "kernels/guarded.h"

namespace stillflow {
namespace {

using io::Bytes;

Bytes BytesOf(const Attr& attr) { return {static_cast<const char*>(attr.data), static_cast<size_t>(attr.size)}; }

// A row of strings with as many pads at both ends as a width asks for.
class PaddedRow {
 public:
  PaddedRow(const Tensor& strings, int64_t begin, int64_t end, const Attr* attrs)
      : strings_(strings),
        begin_(begin),
        size_(end - begin),
        separator_(BytesOf(attrs[0])),
        left_(BytesOf(attrs[2])),
        right_(BytesOf(attrs[3])) {}

  int64_t size() const { return size_; }

  // `width` of the padded strings from position `at` on, with `pads` at either end.
  std::string Joined(int64_t at, int64_t width, int64_t pads) const {
    std::string joined;
    for (int64_t i = 0; i < width; ++i) {
      const int64_t position = at + i - pads;
      const Bytes part = position < 0 ? left_ : position >= size_ ? right_ : StringAt(strings_, begin_ + position);
      if (i > 0) joined.append(separator_.data, separator_.size);
      joined.append(part.data, part.size);
    }
    return joined;
  }

 private:
  const Tensor& strings_;
  int64_t begin_;
  int64_t size_;
  Bytes separator_, left_, right_;
};

void AddNGrams(const PaddedRow& row, const Attr* attrs, std::vector<std::string>* ngrams) {
  const auto* widths = static_cast<const int64_t*>(attrs[1].data);
  const bool keeps_short_rows = attrs[5].i != 0;
  const size_t before = ngrams->size();
  for (int64_t i = 0; i < attrs[1].size; ++i) {
    const int64_t width = widths[i], pads = attrs[4].i < 0 ? width - 1 : std::min(attrs[4].i, width - 1);
    for (int64_t at = 0; at + width <= row.size() + 2 * pads; ++at) ngrams->push_back(row.Joined(at, width, pads));
  }
  // A row that is too short for all widths is kept as a whole.
  if (keeps_short_rows && ngrams->size() == before && row.size() > 0 && attrs[1].size > 0) {
    const int64_t pads = attrs[4].i;
    ngrams->push_back(row.Joined(0, row.size() + 2 * pads, pads));
  }
}

template <typename Index>
Status Join(const KernelCall& call) {
  const Tensor& strings = *call.in[0];
  const auto* splits = Data<Index>(*call.in[1]);
  const int64_t count = call.in[1]->count;
  for (int64_t i = 0; i < count; ++i) {
    const auto split = static_cast<int64_t>(splits[i]);
    if (split < 0 || split > strings.count) {
      return STILLFLOW_INVALID_ARGUMENT("Invalid split value %lld, must be in [0,%lld]",
                                        static_cast<long long>(split), static_cast<long long>(strings.count));
    }
  }
  Shape rows;
  rows.Add(count);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, call.in[1]->dtype, rows));
  std::vector<std::string> ngrams;
  auto* ends = MutableData<Index>(*call.out[1]);
  if (count > 0) ends[0] = 0;
  for (int64_t i = 1; i < count; ++i) {
    AddNGrams(PaddedRow(strings, static_cast<int64_t>(splits[i - 1]), static_cast<int64_t>(splits[i]), call.attrs),
              call.attrs, &ngrams);
    ends[i] = static_cast<Index>(ngrams.size());
  }
  Shape shape;
  shape.Add(static_cast<int64_t>(ngrams.size()));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, shape));
  for (size_t i = 0; i < ngrams.size(); ++i) {
    if (!SetString(call, call.out[0], static_cast<int64_t>(i), ngrams[i].data(),
                   static_cast<int64_t>(ngrams[i].size()))) {
      return OutOfScratch();
    }
  }
  return Status();
}

Status StringNGrams(const KernelCall& call) {
  return call.in[1]->dtype == DType::kInt32 ? Join<int32_t>(call) : Join<int64_t>(call);
}

}  // namespace

STILLFLOW_KERNELS(strings, string_ngrams){
    {"string_ngrams",
     "data, data_splits | separator, ngram_widths, left_pad, right_pad, pad_width, preserve_short_sequences",
     Guarded<StringNGrams>},
    {}};

}  // namespace stillflow
