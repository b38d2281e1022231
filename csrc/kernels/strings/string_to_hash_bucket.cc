// string_to_hash_bucket: which of some buckets each string belongs to.
//
//   string_to_hash_bucket         in[0] strings; attrs num_buckets, kind: 0 Hash64, 1 Fingerprint64
//   string_to_hash_bucket_strong  in[0] strings; attrs num_buckets, key: two numbers, of which the hash depends
//
// out[0] int64, of the same shape.
#include "io/fingerprint.h"
#include "kernels/guarded.h"

namespace stillflow {
namespace {

template <typename Hash>
Status Buckets(const KernelCall& call, const Hash& hash) {
  constexpr int64_t kStringsPerChunk = 1024;
  const Tensor& strings = *call.in[0];
  const int64_t buckets = call.attrs[0].i;
  if (buckets < 1) return STILLFLOW_INVALID_ARGUMENT("num_buckets must be at least 1");
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, Shape(strings)));
  auto* out = MutableData<int64_t>(*call.out[0]);
  return ForEachChunk(call, strings.count, kStringsPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      out[i] = static_cast<int64_t>(hash(StringAt(strings, i)) % static_cast<uint64_t>(buckets));
    }
  });
}

Status Plain(const KernelCall& call) { return Buckets(call, call.attrs[1].i == 0 ? io::Hash64 : io::Fingerprint64); }

Status Strong(const KernelCall& call) {
  if (call.attrs[1].size != 2) return STILLFLOW_INVALID_ARGUMENT("Key must have 2 elements");
  const auto* key = static_cast<const uint64_t*>(call.attrs[1].data);
  return Buckets(call, [key](io::Bytes bytes) { return io::KeyedHash64(bytes, key[0], key[1]); });
}

}  // namespace

STILLFLOW_KERNELS(strings, string_to_hash_bucket){
    {"string_to_hash_bucket", "input | num_buckets, hash: legacy fast", Plain},
    {"string_to_hash_bucket_strong", "input | num_buckets, key", Strong},
    {}};

}  // namespace stillflow
