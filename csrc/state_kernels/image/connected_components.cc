// connected_components: which pixels hang together.
//
//   in[0]   images[images, rows, columns] of numbers, bools or strings
//   out[0]  int64 of the same shape: 0 where the image is zero or empty; else a number of the component, which the
//           neighbors above, below, left and right of the same value belong to: 1 + the place of its first pixel
#include <vector>

#include "kernels/guarded.h"

namespace stillflow {
namespace {

enum Bond : uint8_t { kIsSet = 1, kLikeLeft = 2, kLikeAbove = 4 };

template <typename T>
struct Pixels {
  const T* data;
  bool IsSet(int64_t i) const { return data[i] != T(0); }
  bool AreAlike(int64_t i, int64_t j) const { return data[i] == data[j]; }
};

template <>
struct Pixels<Half> {
  const Half* data;
  static constexpr uint16_t kMagnitude = 0x7FFF;
  static constexpr uint16_t kInfinity = 0x7C00;
  bool IsSet(int64_t i) const { return (data[i].bits & kMagnitude) != 0; }
  // NaN is like nothing; zeros of both signs are not asked for.
  bool AreAlike(int64_t i, int64_t j) const {
    return data[i].bits == data[j].bits && (data[i].bits & kMagnitude) <= kInfinity;
  }
};

struct Texts {
  StringCell* const* data;
  bool IsSet(int64_t i) const { return data[i] != nullptr && data[i]->size > 0; }
  bool AreAlike(int64_t i, int64_t j) const { return AreEqual(data[i], data[j]); }
};

// Which neighbors of the pixels before them are like them.
template <typename Values>
void FindBonds(const Values& values, int64_t count, int64_t rows, int64_t columns, uint8_t* bonds) {
  for (int64_t i = 0; i < count; ++i) {
    bonds[i] = 0;
    if (!values.IsSet(i)) continue;
    bonds[i] = kIsSet;
    if (i % columns > 0 && values.AreAlike(i, i - 1)) bonds[i] |= kLikeLeft;
    if (i / columns % rows > 0 && values.AreAlike(i, i - columns)) bonds[i] |= kLikeAbove;
  }
}

Status FindBonds(const Tensor& images, uint8_t* bonds) {
  const auto find = [&](const auto& values) {
    FindBonds(values, images.count, images.dims[1], images.dims[2], bonds);
    return Status();
  };
  if (images.dtype == DType::kString) return find(Texts{Data<StringCell*>(images)});
  return ForType<int64_t, int32_t, uint16_t, int16_t, uint8_t, int8_t, Half, float, double, bool>(
      "ImageConnectedComponents", images.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return find(Pixels<T>{Data<T>(images)});
      });
}

// The first pixel of a component; the way to it is halved.
int64_t FirstOf(int64_t* parents, int64_t i) {
  while (parents[i] != i) {
    parents[i] = parents[parents[i]];
    i = parents[i];
  }
  return i;
}

void Join(int64_t* parents, int64_t i, int64_t j) {
  i = FirstOf(parents, i);
  j = FirstOf(parents, j);
  parents[std::max(i, j)] = std::min(i, j);
}

Status ConnectedComponents(const KernelCall& call) {
  const Tensor& images = *call.in[0];
  if (images.rank != 3) return STILLFLOW_INVALID_ARGUMENT("Input images must have rank 3");
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, Shape(images)));
  std::vector<uint8_t> bonds(static_cast<size_t>(images.count));
  STILLFLOW_RETURN_IF_ERROR(FindBonds(images, bonds.data()));
  auto* const components = MutableData<int64_t>(*call.out[0]);
  for (int64_t i = 0; i < images.count; ++i) {
    components[i] = i;
    if ((bonds[i] & kLikeLeft) != 0) Join(components, i, i - 1);
    if ((bonds[i] & kLikeAbove) != 0) Join(components, i, i - images.dims[2]);
  }
  // First pixels come before the others, which point to places of before their components' numbers.
  for (int64_t i = images.count - 1; i >= 0; --i) components[i] = FirstOf(components, i);
  for (int64_t i = 0; i < images.count; ++i) components[i] = bonds[i] == 0 ? 0 : components[i] + 1;
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(image, connected_components){{"connected_components", "image", Guarded<ConnectedComponents>}, {}};

}  // namespace stillflow
