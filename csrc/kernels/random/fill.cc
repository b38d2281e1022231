// random_uniform, random_uniform_int, random_standard_normal, truncated_normal: a tensor of random numbers.
//
//   in[0]  shape   int32 | int64 vector
//   in[1]  minval  random_uniform_int: an integer scalar, and in[2] maxval likewise, above it
//   out[0] output  of that shape; attr dtype, or minval's type
//   state  the node's stream, of which each run takes 256 blocks per element
//
// stateless_...: the same with a `seed` (int32 | int64 [2]) after the shape, which names a stream, and no state.
// generator_...: the same with a variable (int64 [3]: counter and key) and an algorithm (1: Philox) before the shape.
// ..._full_int: integers of which all are equally likely.
// generator_skip: moves a generator on by as much as `delta` elements do.
//
// The output consists of groups of four elements, or of two for 64-bit types. Group g reads block g of the run;
// for truncated_normal it has 64 blocks for each element, and reads as many as it needs. So an element depends on
// its own position alone, not on the tensor's size nor on chunks.
#include <algorithm>
#include <string>

#include "arithmetic/random/box_muller.h"
#include "arithmetic/random/generator.h"
#include "arithmetic/random/stream.h"

namespace stillflow {
namespace {

constexpr int64_t kGroupsPerChunk = 8192;
constexpr int64_t kGroupsPerTile = 256;  // 4 KiB of words

// Elements of a group: what one block makes.
template <typename T>
constexpr int kGroup = sizeof(T) == 8 ? 2 : 4;

// Calls fill(first group, count, elements) for tiles of the output; `elements` has room for whole groups.
template <typename T, typename Fill>
Status FillGroups(const KernelCall& call, const Fill& fill) {
  T* const to = MutableData<T>(*call.out[0]);
  const int64_t count = call.out[0]->count;
  const int64_t groups = count / kGroup<T> + (count % kGroup<T> != 0);
  return ForEachChunk(call, groups, kGroupsPerChunk, [&](Range chunk) {
    for (int64_t group = chunk.begin; group < chunk.end; group += kGroupsPerTile) {
      const int64_t tile = std::min(kGroupsPerTile, chunk.end - group);
      const int64_t first = group * kGroup<T>;
      if (first + tile * kGroup<T> <= count) {
        fill(group, tile, to + first);
      } else {
        T whole[kGroupsPerTile * kGroup<T>];
        fill(group, tile, whole);
        std::copy_n(whole, count - first, to + first);
      }
    }
  });
}

// Where the numbers come from.
enum class Source { kNode, kSeed, kGenerator };

// Where the inputs begin that follow the shape and the source.
constexpr int FirstBound(Source source) { return source == Source::kNode ? 1 : (source == Source::kSeed ? 2 : 3); }

template <Source kSource>
Status AllocateForShape(const KernelCall& call, DType dtype) {
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[kSource == Source::kGenerator ? 2 : 0], &shape));
  return AllocateOutput(call, 0, dtype, shape);
}

// The position from which the output is filled.
template <Source kSource>
Status FindBase(const KernelCall& call, sf_philox* base) {
  if constexpr (kSource == Source::kSeed) return StatelessStream(*call.in[1], base);
  if constexpr (kSource == Source::kGenerator) return TakeFromGenerator(call, call.out[0]->count, base);
  *base = TakeBlocks(call, call.out[0]->count);
  return Status();
}

// Going back does not borrow from the counter's upper half.
Status SkipGenerator(const KernelCall& call) {
  sf_philox base;
  return TakeFromGenerator(call, IntAt(*call.in[2], 0), &base);
}

// ---- Uniform ------------------------------------------------------------------------------------------------

template <typename T>
void UniformFromWords(const uint32_t* __restrict words, int64_t count, T* __restrict to) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<T, float>) {
      to[i] = UniformFloat(words[i]);
    } else if constexpr (std::is_same_v<T, double>) {
      to[i] = UniformDouble(words[2 * i], words[2 * i + 1]);
    } else {
      // As many bits as the type's mantissa has; the result is exact.
      const uint32_t mantissa = words[i] & (std::is_same_v<T, Half> ? 0x3FFu : 0x7Fu);
      constexpr float kScale = std::is_same_v<T, Half> ? 0x1p-10f : 0x1p-7f;
      to[i] = Narrow<T>(static_cast<float>(static_cast<int32_t>(mantissa)) * kScale);
    }
  }
}

template <Source kSource>
Status RandomUniform(const KernelCall& call) {
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  STILLFLOW_RETURN_IF_ERROR(AllocateForShape<kSource>(call, dtype));
  sf_philox base;
  STILLFLOW_RETURN_IF_ERROR(FindBase<kSource>(call, &base));
  return ForType<float, double, Half, BFloat16>("RandomUniform", dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return FillGroups<T>(call, [&](int64_t group, int64_t groups, T* to) {
      uint32_t words[kGroupsPerTile * SF_PHILOX_WORDS];
      sf_philox_fill(sf_philox_skip(base, group), groups, words);
      UniformFromWords(words, groups * kGroup<T>, to);
    });
  });
}

// ---- Integers -----------------------------------------------------------------------------------------------

// minval + word mod range, in exact double arithmetic: no vector instruction divides integers. The quotient is
// the true one or one more.
void IntsFromWords(const uint32_t* __restrict words, int64_t count, uint32_t minval, uint32_t range,
                   int32_t* __restrict to) {
  constexpr double kHalf = 0x1p31;  // shifted by this, words are signed and convert in one instruction
  const double divisor = range;
  const double reciprocal = 1.0 / divisor;
  for (int64_t i = 0; i < count; ++i) {
    const double word = static_cast<double>(static_cast<int32_t>(words[i] ^ 0x80000000u)) + kHalf;
    const double rest = word - RoundSmall(word * reciprocal) * divisor;
    const double remainder = rest < 0 ? rest + divisor : rest;
    to[i] =
        static_cast<int32_t>(minval + (static_cast<uint32_t>(static_cast<int32_t>(remainder - kHalf)) ^ 0x80000000u));
  }
}

// The same with the upper half of a product for the quotient, which is the true one or one less.
void IntsFromWords(const uint32_t* words, int64_t count, uint64_t minval, uint64_t range, int64_t* to) {
  const uint64_t reciprocal = UINT64_MAX / range;
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t word = static_cast<uint64_t>(words[2 * i + 1]) << 32 | words[2 * i];
    const auto quotient = static_cast<uint64_t>(static_cast<unsigned __int128>(word) * reciprocal >> 64);
    const uint64_t rest = word - quotient * range;
    to[i] = static_cast<int64_t>(minval + (rest >= range ? rest - range : rest));
  }
}

template <Source kSource>
Status RandomUniformInt(const KernelCall& call) {
  constexpr int kBounds = FirstBound(kSource);
  const Tensor& minval = *call.in[kBounds];
  const Tensor& maxval = *call.in[kBounds + 1];
  for (const Tensor* bound : {&minval, &maxval}) {
    if (bound->rank != 0) {
      return STILLFLOW_INVALID_ARGUMENT("%s must be 0-D, got shape %s", bound == &minval ? "minval" : "maxval",
                                        ShapeText(*bound).c_str());
    }
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateForShape<kSource>(call, minval.dtype));
  if (call.out[0]->count == 0 && kSource != Source::kGenerator) return Status();
  return ForType<int32_t, int64_t, uint32_t, uint64_t>("RandomUniformInt", minval.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using Unsigned = std::make_unsigned_t<T>;
    using Signed = std::make_signed_t<T>;
    const T low = *Data<T>(minval);
    const T high = *Data<T>(maxval);
    if (low >= high) {
      return STILLFLOW_INVALID_ARGUMENT("Need minval < maxval, got %s >= %s", std::to_string(low).c_str(),
                                        std::to_string(high).c_str());
    }
    const Unsigned range = static_cast<Unsigned>(high) - static_cast<Unsigned>(low);
    sf_philox base;
    STILLFLOW_RETURN_IF_ERROR(FindBase<kSource>(call, &base));
    return FillGroups<T>(call, [&](int64_t group, int64_t groups, T* to) {
      uint32_t words[kGroupsPerTile * SF_PHILOX_WORDS];
      sf_philox_fill(sf_philox_skip(base, group), groups, words);
      IntsFromWords(words, groups * kGroup<T>, static_cast<Unsigned>(low), range, reinterpret_cast<Signed*>(to));
    });
  });
}

// All of a type's values: the words as they are, the first of two being the lower half.
template <Source kSource>
Status RandomFullInt(const KernelCall& call) {
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  STILLFLOW_RETURN_IF_ERROR(AllocateForShape<kSource>(call, dtype));
  sf_philox base;
  STILLFLOW_RETURN_IF_ERROR(FindBase<kSource>(call, &base));
  return ForType<int32_t, int64_t, uint32_t, uint64_t>("RandomUniformFullInt", dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return FillGroups<T>(call, [&](int64_t group, int64_t groups, T* to) {
      uint32_t words[kGroupsPerTile * SF_PHILOX_WORDS];
      sf_philox_fill(sf_philox_skip(base, group), groups, words);
      for (int64_t i = 0; i < groups * kGroup<T>; ++i) {
        if constexpr (sizeof(T) == 4) {
          to[i] = static_cast<T>(words[i]);
        } else {
          to[i] = static_cast<T>(static_cast<uint64_t>(words[2 * i + 1]) << 32 | words[2 * i]);
        }
      }
    });
  });
}

// ---- Normal -------------------------------------------------------------------------------------------------

template <typename T>
void Round(const Wide<T>* from, int64_t count, T* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = Narrow<T>(from[i]);
}

template <Source kSource>
Status RandomStandardNormal(const KernelCall& call) {
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  STILLFLOW_RETURN_IF_ERROR(AllocateForShape<kSource>(call, dtype));
  sf_philox base;
  STILLFLOW_RETURN_IF_ERROR(FindBase<kSource>(call, &base));
  return ForType<float, double, Half, BFloat16>("RandomStandardNormal", dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return FillGroups<T>(call, [&](int64_t group, int64_t groups, T* to) {
      uint32_t words[kGroupsPerTile * SF_PHILOX_WORDS];
      sf_philox_fill(sf_philox_skip(base, group), groups, words);
      if constexpr (std::is_same_v<T, Wide<T>>) {
        BoxMuller(words, groups * kGroup<T> / 2, to);
      } else {
        Wide<T> wide[kGroupsPerTile * kGroup<T>];
        BoxMuller(words, groups * kGroup<T> / 2, wide);
        Round(wide, groups * kGroup<T>, to);
      }
    });
  });
}

// ---- Truncated normal ---------------------------------------------------------------------------------------

template <typename W>
bool IsNear(W z) {
  return std::abs(z) < W{2};
}

// Whether all normals of a group lie within two standard deviations.
template <typename W>
bool AreAllNear(const W* normals) {
  bool are_near = true;
  for (int i = 0; i < kGroup<W>; ++i) are_near &= IsNear(normals[i]);
  return are_near;
}

// Fills a group from its first block on; `normals` are those of that block.
template <typename W>
void FillTruncated(sf_philox position, const W* normals, W* to) {
  W next[kGroup<W>];
  std::copy_n(normals, kGroup<W>, next);
  int filled = 0;
  while (true) {
    for (const W z : next) {
      if (IsNear(z)) to[filled++] = z;
      if (filled == kGroup<W>) return;
    }
    position = sf_philox_skip(position, 1);
    uint32_t words[SF_PHILOX_WORDS];
    sf_philox_fill(position, 1, words);
    BoxMuller(words, kGroup<W> / 2, next);
  }
}

template <typename W>
void TruncatedGroups(sf_philox position, int64_t groups, W* to) {
  constexpr int64_t kStride = kBlocksPerElement * kGroup<W> / 4;
  uint32_t words[kGroupsPerTile * SF_PHILOX_WORDS];
  W normals[kGroupsPerTile * kGroup<W>];
  sf_philox_fill_strided(position, kStride, groups, words);
  BoxMuller(words, groups * kGroup<W> / 2, normals);
  for (int64_t g = 0; g < groups; ++g) {
    const W* group = normals + g * kGroup<W>;
    if (AreAllNear(group)) {  // 83 % of the groups of four
      std::copy_n(group, kGroup<W>, to + g * kGroup<W>);
    } else {
      FillTruncated(sf_philox_skip(position, g * kStride), group, to + g * kGroup<W>);
    }
  }
}

template <Source kSource>
Status TruncatedNormal(const KernelCall& call) {
  const auto dtype = static_cast<DType>(call.attrs[0].i);
  STILLFLOW_RETURN_IF_ERROR(AllocateForShape<kSource>(call, dtype));
  sf_philox base;
  STILLFLOW_RETURN_IF_ERROR(FindBase<kSource>(call, &base));
  return ForType<float, double, Half, BFloat16>("TruncatedNormal", dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return FillGroups<T>(call, [&](int64_t group, int64_t groups, T* to) {
      constexpr int64_t kStride = kBlocksPerElement * kGroup<T> / 4;
      const auto blocks = static_cast<unsigned __int128>(group) * kStride;
      const sf_philox position =
          sf_philox_skip_wide(base, static_cast<uint64_t>(blocks), static_cast<uint64_t>(blocks >> 64));
      if constexpr (std::is_same_v<T, Wide<T>>) {
        TruncatedGroups(position, groups, to);
      } else {
        Wide<T> wide[kGroupsPerTile * kGroup<T>];
        TruncatedGroups(position, groups, wide);
        Round(wide, groups * kGroup<T>, to);
      }
    });
  });
}

}  // namespace

STILLFLOW_KERNELS(random, fill){
    {"random_uniform", "shape | dtype", RandomUniform<Source::kNode>},
    {"random_uniform_int", "shape, minval, maxval", RandomUniformInt<Source::kNode>},
    {"random_standard_normal", "shape | dtype", RandomStandardNormal<Source::kNode>},
    {"truncated_normal", "shape | dtype", TruncatedNormal<Source::kNode>},
    {"stateless_random_uniform", "shape, seed | dtype", RandomUniform<Source::kSeed>},
    {"stateless_random_uniform_int", "shape, seed, minval, maxval", RandomUniformInt<Source::kSeed>},
    {"stateless_random_normal", "shape, seed | dtype", RandomStandardNormal<Source::kSeed>},
    {"stateless_truncated_normal", "shape, seed | dtype", TruncatedNormal<Source::kSeed>},
    {"random_uniform_full_int", "shape | dtype", RandomFullInt<Source::kNode>},
    {"generator_uniform", "resource, algorithm, shape | dtype", RandomUniform<Source::kGenerator>},
    {"generator_uniform_int", "resource, algorithm, shape, minval, maxval", RandomUniformInt<Source::kGenerator>},
    {"generator_uniform_full_int", "resource, algorithm, shape | dtype", RandomFullInt<Source::kGenerator>},
    {"generator_standard_normal", "resource, algorithm, shape | dtype", RandomStandardNormal<Source::kGenerator>},
    {"generator_truncated_normal", "resource, algorithm, shape | dtype", TruncatedNormal<Source::kGenerator>},
    {"generator_skip", "resource, algorithm, delta", SkipGenerator},
    {}};

}  // namespace stillflow
