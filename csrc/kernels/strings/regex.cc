// regex_replace, regex_full_match: regular expressions over strings, one by one.
//
//   regex_replace            in[0] strings; in[1] a pattern; in[2] what to put in place of matches: \1 is group 1, \0
//   all,
//                            \\ a backslash; attr replace_global: whether of all or of the first; out[0] strings
//   static_regex_replace     in[0] strings; attrs pattern, rewrite, replace_global; out[0] strings
//   regex_full_match         in[0] strings; in[1] a pattern; out[0] bool: whether it matches the whole string
//   static_regex_full_match  in[0] strings; attr pattern; out[0] bool
#include "kernels/guarded.h"
#include "regex/program.h"

namespace stillflow {
namespace {

using io::Bytes;

constexpr int64_t kStringsPerChunk = 64;

Status Compiled(Bytes pattern, regex::Program* program) {
  std::string error;
  if (regex::Compile(pattern.data, pattern.size, program, &error)) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Invalid pattern: %s, error: %s", Text(pattern).c_str(), error.c_str());
}

// The highest group in a rewrite.
int HighestGroup(Bytes rewrite) {
  int highest = 0;
  for (size_t i = 0; i + 1 < rewrite.size; ++i) {
    if (rewrite.data[i] != '\\') continue;
    const char c = rewrite.data[++i];
    if (c >= '0' && c <= '9') highest = std::max(highest, c - '0');
  }
  return highest;
}

// Appends a rewrite with the groups of a match put in. False where a backslash is followed by something else: what
// stands before it is there, as it is in TensorFlow.
bool AppendRewrite(Bytes rewrite, Bytes text, const regex::Matcher& matcher, std::string* result) {
  for (size_t i = 0; i < rewrite.size; ++i) {
    const char c = rewrite.data[i];
    if (c != '\\') {
      result->push_back(c);
      continue;
    }
    const char next = ++i < rewrite.size ? rewrite.data[i] : '\0';
    if (next >= '0' && next <= '9') {
      const int group = next - '0';
      const int64_t begin = matcher.group_begin(group), end = matcher.group_end(group);
      if (begin >= 0 && end > begin) result->append(text.data + begin, end - begin);
    } else if (next == '\\') {
      result->push_back('\\');
    } else {
      return false;
    }
  }
  return true;
}

void ReplaceFirst(Bytes text, Bytes rewrite, regex::Matcher* matcher, std::string* result) {
  const bool is_found = matcher->Search(text.data, text.size, 0);
  const size_t begin = is_found ? matcher->group_begin(0) : text.size;
  const size_t end = is_found ? matcher->group_end(0) : text.size;
  result->assign(text.data, begin);
  if (is_found && !AppendRewrite(rewrite, text, *matcher, result)) {
    result->assign(text.data, text.size);
    return;
  }
  result->append(text.data + end, text.size - end);
}

void ReplaceAll(Bytes text, Bytes rewrite, regex::Matcher* matcher, std::string* result) {
  size_t at = 0;
  int64_t last_end = -1;
  while (at <= text.size && matcher->Search(text.data, text.size, at)) {
    const int64_t begin = matcher->group_begin(0), end = matcher->group_end(0);
    result->append(text.data + at, begin - at);
    if (begin == last_end && end == begin) {
      // No empty match where the last one ended: on to the next character.
      at = begin;
      if (at == text.size) return;
      int32_t rune;
      const size_t length = regex::DecodeRune(text.data + at, text.size - at, &rune);
      result->append(text.data + at, length);
      at += length;
      continue;
    }
    AppendRewrite(rewrite, text, *matcher, result);
    at = end;
    last_end = end;
  }
  if (at < text.size) result->append(text.data + at, text.size - at);
}

Status Replace(const KernelCall& call, Bytes pattern, Bytes rewrite, bool is_global) {
  const Tensor& input = *call.in[0];
  regex::Program program;
  STILLFLOW_RETURN_IF_ERROR(Compiled(pattern, &program));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, Shape(input)));
  const int group_count = 1 + HighestGroup(rewrite);
  return ForEachChunk(call, input.count, kStringsPerChunk, [&](Range range) {
    return CatchingOutOfMemory([&] {
      regex::Matcher matcher(program, group_count);
      std::string result;
      for (int64_t i = range.begin; i < range.end; ++i) {
        result.clear();
        (is_global ? ReplaceAll : ReplaceFirst)(StringAt(input, i), rewrite, &matcher, &result);
        if (!SetString(call, call.out[0], i, result.data(), static_cast<int64_t>(result.size())))
          return OutOfScratch();
      }
      return Status();
    });
  });
}

Status FullMatch(const KernelCall& call, Bytes pattern) {
  const Tensor& input = *call.in[0];
  regex::Program program;
  STILLFLOW_RETURN_IF_ERROR(Compiled(pattern, &program));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kBool, Shape(input)));
  bool* out = MutableData<bool>(*call.out[0]);
  return ForEachChunk(call, input.count, kStringsPerChunk, [&](Range range) {
    return CatchingOutOfMemory([&] {
      regex::Matcher matcher(program, 0);
      for (int64_t i = range.begin; i < range.end; ++i) {
        const Bytes text = StringAt(input, i);
        out[i] = matcher.MatchesAll(text.data, text.size);
      }
      return Status();
    });
  });
}

Status CheckScalar(const Tensor& tensor, const char* what) {
  if (tensor.rank == 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s must be scalar, but received %s", what, ShapeText(tensor).c_str());
}

Bytes BytesOfAttr(const Attr& attr) { return {static_cast<const char*>(attr.data), static_cast<size_t>(attr.size)}; }

Status RegexReplace(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[1], "Pattern"));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[2], "Rewrite"));
  return Replace(call, StringAt(*call.in[1], 0), StringAt(*call.in[2], 0), call.attrs[0].i != 0);
}

Status StaticRegexReplace(const KernelCall& call) {
  return Replace(call, BytesOfAttr(call.attrs[0]), BytesOfAttr(call.attrs[1]), call.attrs[2].i != 0);
}

Status RegexFullMatch(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[1], "Pattern"));
  return FullMatch(call, StringAt(*call.in[1], 0));
}

Status StaticRegexFullMatch(const KernelCall& call) { return FullMatch(call, BytesOfAttr(call.attrs[0])); }

}  // namespace

STILLFLOW_KERNELS(strings, regex){
    {"regex_replace", "input, pattern, rewrite | replace_global", Guarded<RegexReplace>},
    {"static_regex_replace", "input | pattern, rewrite, replace_global", Guarded<StaticRegexReplace>},
    {"regex_full_match", "input, pattern", Guarded<RegexFullMatch>},
    {"static_regex_full_match", "input | pattern", Guarded<StaticRegexFullMatch>},
    {}};

}  // namespace stillflow
