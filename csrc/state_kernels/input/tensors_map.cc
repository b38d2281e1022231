// add_sparse_to_tensors_map, add_many_sparse_to_tensors_map, take_many_sparse_from_tensors_map: sparse tensors kept
// under numbers, so that queues can hold them.
//
//   add        in[0..2] indices int64[n, rank], values [n], shape int64[rank]; out[0] an int64 scalar; of many, which
//              are the rows of a sparse tensor, int64[rows]; attrs container, shared_name, node_name
//   take_many  in[0] numbers, int64[k]; out[0..2] the sparse tensor of which they are rows, as large as the largest
//   of
//              each size; they are forgotten; attrs container, shared_name, node_name
#include <algorithm>
#include <map>
#include <vector>

#include "collections/tuple.h"
#include "kernel_api/sparse_tensor.h"
#include "kernels/guarded.h"
#include "state_kernels/handle.h"

namespace stillflow {
namespace {

enum MapAttr { kContainer, kSharedName, kNodeName };

struct SparseRow {
  Tuple parts;  // indices, values
  std::vector<int64_t> dims;
};

class TensorsMap final : public Resource {
 public:
  static constexpr char kKind[] = "sparse tensors map";
  const char* kind() const override { return kKind; }

  int64_t Add(SparseRow row) {
    const std::lock_guard<std::mutex> guard(mutex_);
    rows_[next_] = std::move(row);
    return next_++;
  }
  bool Take(int64_t number, SparseRow* row) {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto found = rows_.find(number);
    if (found == rows_.end()) return false;
    *row = std::move(found->second);
    rows_.erase(found);
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<int64_t, SparseRow> rows_;
  int64_t next_ = 0;
};

Status FindMap(const KernelCall& call, std::shared_ptr<TensorsMap>* map, std::string* text) {
  const Attr* attrs = call.attrs;
  // Without a shared name the map has the node's, by which others find it.
  const Attr& name = attrs[kSharedName].size > 0 ? attrs[kSharedName] : attrs[kNodeName];
  const auto key = ResourceTable::NameOf(StringOf(attrs[kContainer]), StringOf(name), "");
  *text = key.name;
  std::shared_ptr<Resource> found;
  int64_t number = 0;
  STILLFLOW_RETURN_IF_ERROR(call.run->session->resources()->FindOrMake(
      TensorsMap::kKind, key,
      [](const ResourceTable::Name&, std::shared_ptr<Resource>* made) {
        *made = std::make_shared<TensorsMap>();
        return Status();
      },
      &found, &number));
  *map = std::static_pointer_cast<TensorsMap>(found);
  return Status();
}

Status AddSparse(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckSparseTensor(*call.in[0], *call.in[1], *call.in[2]));
  std::shared_ptr<TensorsMap> map;
  std::string name;
  STILLFLOW_RETURN_IF_ERROR(FindMap(call, &map, &name));
  const TupleSpec spec{{DType::kInt64, call.in[1]->dtype}, {}};
  SparseRow row;
  STILLFLOW_RETURN_IF_ERROR(MakeTuple(*call.services, spec, call.in, &row.parts));
  const auto* dims = Data<int64_t>(*call.in[2]);
  row.dims.assign(dims, dims + call.in[2]->count);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, Shape()));
  *MutableData<int64_t>(*call.out[0]) = map->Add(std::move(row));
  return Status();
}

// The entries `places` of a sparse tensor, without their first index.
Status MakeRow(const KernelCall& call, const std::vector<int64_t>& places, SparseRow* row) {
  const Tensor &indices = *call.in[0], &values = *call.in[1], &shape = *call.in[2];
  const int64_t rank = shape.count;
  Shape entries, table;
  entries.Add(static_cast<int64_t>(places.size()));
  table = entries;
  table.Add(rank - 1);
  row->parts = Tuple(2);
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, DType::kInt64, table, &row->parts[0]));
  STILLFLOW_RETURN_IF_ERROR(Allocate(*call.services, values.dtype, entries, &row->parts[1]));
  auto* to = MutableData<int64_t>(row->parts[0]);
  for (size_t i = 0; i < places.size(); ++i) {
    to = std::copy_n(Data<int64_t>(indices) + places[i] * rank + 1, rank - 1, to);
    CopyElements(values, places[i], 1, &row->parts[1], static_cast<int64_t>(i));
  }
  row->dims.assign(Data<int64_t>(shape) + 1, Data<int64_t>(shape) + rank);
  return Status();
}

Status AddManySparse(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckSparseTensor(*call.in[0], *call.in[1], *call.in[2]));
  const int64_t rank = call.in[2]->count;
  const auto* dims = Data<int64_t>(*call.in[2]);
  if (rank < 2) {
    return STILLFLOW_INVALID_ARGUMENT("Rank of input SparseTensor should be > 1, but saw rank: %lld",
                                      static_cast<long long>(rank));
  }
  if (dims[0] < 0) return STILLFLOW_INVALID_ARGUMENT("Dimension %lld must be >= 0", static_cast<long long>(dims[0]));
  std::shared_ptr<TensorsMap> map;
  std::string name;
  STILLFLOW_RETURN_IF_ERROR(FindMap(call, &map, &name));
  Shape rows;
  rows.Add(dims[0]);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, rows));
  std::vector<std::vector<int64_t>> places(dims[0]);
  for (int64_t i = 0; i < call.in[0]->dims[0]; ++i) {
    const int64_t row = Data<int64_t>(*call.in[0])[i * rank];
    if (row < 0 || row >= dims[0]) {
      return STILLFLOW_INVALID_ARGUMENT("Received unexpected column value in indices: %lld is not in [0, %lld)",
                                        static_cast<long long>(row), static_cast<long long>(dims[0]));
    }
    places[row].push_back(i);
  }
  for (int64_t i = 0; i < dims[0]; ++i) {
    SparseRow row;
    STILLFLOW_RETURN_IF_ERROR(MakeRow(call, places[i], &row));
    MutableData<int64_t>(*call.out[0])[i] = map->Add(std::move(row));
  }
  return Status();
}

Status TakeMany(const KernelCall& call) {
  const Tensor& numbers = *call.in[0];
  if (numbers.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("sparse_handles should be a vector but received shape %s",
                                      ShapeText(numbers).c_str());
  }
  std::shared_ptr<TensorsMap> map;
  std::string name;
  STILLFLOW_RETURN_IF_ERROR(FindMap(call, &map, &name));
  const auto dtype = static_cast<DType>(call.attrs[3].i);
  std::vector<SparseRow> rows(numbers.count);
  std::vector<int64_t> dims;
  int64_t entries = 0;
  for (int64_t i = 0; i < numbers.count; ++i) {
    const int64_t number = Data<int64_t>(numbers)[i];
    if (!map->Take(number, &rows[i])) {
      return STILLFLOW_INVALID_ARGUMENT("Unable to find SparseTensor: %lld in map: %s",
                                        static_cast<long long>(number), name.c_str());
    }
    if (rows[i].parts[1].dtype != dtype) {
      return STILLFLOW_INVALID_ARGUMENT("dtype mismatch for SparseTensor[%lld]: expected %s but got %s",
                                        static_cast<long long>(i), Name(dtype), Name(rows[i].parts[1].dtype));
    }
    if (i == 0) dims = rows[i].dims;
    if (rows[i].dims.size() != dims.size()) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Inconsistent rank across SparseTensors: rank prior to SparseTensor[%lld] was: %d but rank of "
          "SparseTensor[%lld] is: %d",
          static_cast<long long>(i), static_cast<int>(dims.size()), static_cast<long long>(i),
          static_cast<int>(rows[i].dims.size()));
    }
    for (size_t d = 0; d < dims.size(); ++d) dims[d] = std::max(dims[d], rows[i].dims[d]);
    entries += rows[i].parts[1].count;
  }
  dims.insert(dims.begin(), numbers.count);
  const auto rank = static_cast<int64_t>(dims.size());
  Shape vector, table, shape;
  vector.Add(entries);
  table = vector;
  table.Add(rank);
  shape.Add(rank);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt64, table));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, dtype, vector));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 2, DType::kInt64, shape));
  std::copy(dims.begin(), dims.end(), MutableData<int64_t>(*call.out[2]));
  auto* to = MutableData<int64_t>(*call.out[0]);
  int64_t at = 0;
  for (int64_t i = 0; i < numbers.count; ++i) {
    const Tensor& values = rows[i].parts[1];
    const auto* from = Data<int64_t>(rows[i].parts[0]);
    for (int64_t entry = 0; entry < values.count; ++entry, from += rank - 1) {
      *to++ = i;
      to = std::copy_n(from, rank - 1, to);
    }
    CopyElements(values, 0, values.count, call.out[1], at);
    at += values.count;
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(input, tensors_map){
    {"add_sparse_to_tensors_map", "indices, values, shape | container, shared_name, node_name", Guarded<AddSparse>},
    {"add_many_sparse_to_tensors_map", "indices, values, shape | container, shared_name, node_name",
     Guarded<AddManySparse>},
    {"take_many_sparse_from_tensors_map", "handles | container, shared_name, node_name, dtype", Guarded<TakeMany>},
    {}};

}  // namespace stillflow
