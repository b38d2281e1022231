// as_string: numbers as text, each element as printf writes it.
//
//   in[0] numbers; attrs precision, scientific, shortest, width, fill: one of "", " ", "+", "-" and "0"
//   out[0] strings of the same shape
#include "arithmetic/math/complex.h"
#include "arithmetic/math/scalar.h"
#include "kernels/guarded.h"

namespace stillflow {
namespace {

// Wider than any number; what asks for more only asks for memory.
constexpr int64_t kMostWidth = 4096;

struct Style {
  char flag[2] = {0, 0};
  int width = 0;
  int precision = -1;
  char letter = 'f';
};

template <typename... Values>
std::string Formatted(const Style& style, const char* conversion, Values... values) {
  char format[16];
  std::snprintf(format, sizeof format, "%%%s%s", style.flag, conversion);
  const int size = std::snprintf(nullptr, 0, format, values...);
  std::string text(size, '\0');
  std::snprintf(text.data(), text.size() + 1, format, values...);
  return text;
}

std::string FloatText(const Style& style, double value) {
  const char conversion[] = {'*', '.', '*', style.letter, 0};
  if (value != value) {  // printf tells its sign
    Style plain = style;
    const char flag = style.flag[0];
    if (flag != '-') plain.flag[0] = 0;
    return Formatted(plain, "*s", style.width, flag == '+' ? "+nan" : flag == ' ' ? " nan" : "nan");
  }
  return Formatted(style, conversion, style.width, style.precision, value);
}

Status ReadStyle(const KernelCall& call, Style* style) {
  const DType dtype = call.in[0]->dtype;
  const bool is_float = dtype == DType::kFloat || dtype == DType::kDouble || IsComplex(dtype);
  const int64_t precision = call.attrs[0].i;
  const bool is_scientific = call.attrs[1].i != 0;
  const bool is_shortest = call.attrs[2].i != 0;
  const int64_t width = call.attrs[3].i;
  const Attr& fill = call.attrs[4];
  if (is_scientific && is_shortest) {
    return STILLFLOW_INVALID_ARGUMENT("Cannot select both scientific and shortest notation");
  }
  if (!is_float && (is_scientific || is_shortest)) {
    return STILLFLOW_INVALID_ARGUMENT("scientific and shortest format not supported for datatype %s", Name(dtype));
  }
  if (!is_float && precision >= 0) {
    return STILLFLOW_INVALID_ARGUMENT("precision not supported for datatype %s", Name(dtype));
  }
  if (fill.size > 1) return STILLFLOW_INVALID_ARGUMENT("Fill string must be one or fewer characters");
  if (fill.size == 1) {
    style->flag[0] = *static_cast<const char*>(fill.data);
    if (std::memchr(" +-0", style->flag[0], 4) == nullptr) {
      return STILLFLOW_INVALID_ARGUMENT("Fill argument not supported: \"%c\"", style->flag[0]);
    }
  }
  if (width > kMostWidth || precision > kMostWidth) {
    return STILLFLOW_INVALID_ARGUMENT("width and precision must be at most %lld", static_cast<long long>(kMostWidth));
  }
  // Without a width a "0" fills nothing, and a "-" moves nothing.
  if (width < 0 && (style->flag[0] == '0' || style->flag[0] == '-')) style->flag[0] = 0;
  style->width = static_cast<int>(width < 0 ? 0 : width);
  style->precision = static_cast<int>(precision < 0 ? -1 : precision);
  if (is_scientific) style->letter = 'e';
  if (is_shortest) style->letter = 'g';
  return Status();
}

Status AsString(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  Style style;
  STILLFLOW_RETURN_IF_ERROR(ReadStyle(call, &style));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, Shape(input)));
  return ForType<float, double, Complex64, Complex128, int8_t, int16_t, int32_t, int64_t, bool>(
      "AsString", input.dtype, [&](auto type) {
        using T = typename decltype(type)::type;
        return ForEachChunk(call, input.count, 128, [&](Range range) {
          return CatchingOutOfMemory([&] {
            for (int64_t i = range.begin; i < range.end; ++i) {
              const T value = Data<T>(input)[i];
              std::string text;
              if constexpr (std::is_same_v<T, bool>) {
                text = value ? "true" : "false";
              } else if constexpr (kIsComplex<T>) {
                text = "(" + FloatText(style, value.re) + "," + FloatText(style, value.im) + ")";
              } else if constexpr (kIsFloating<T>) {
                text = FloatText(style, value);
              } else {
                text = Formatted(style, "*lld", style.width, static_cast<long long>(value));
              }
              if (!SetString(call, call.out[0], i, text.data(), static_cast<int64_t>(text.size())))
                return OutOfScratch();
            }
            return Status();
          });
        });
      });
}

}  // namespace

STILLFLOW_KERNELS(strings, as_string){
    {"as_string", "input | precision, scientific, shortest, width, fill", Guarded<AsString>}, {}};

}  // namespace stillflow
