// lookup_table.h: what all tables of values for keys have: a resource that the lookup ops find by its handle.
#pragma once

#include <memory>
#include <string>

#include "io/message_writer.h"
#include "state_kernels/handle.h"

namespace stillflow {

class LookupTable : public Resource {
 public:
  static constexpr const char* kKind = "hash_table";
  LookupTable(DType key_dtype, DType value_dtype) : key_dtype_(key_dtype), value_dtype_(value_dtype) {}
  const char* kind() const override { return kKind; }
  virtual const char* type() const = 0;  // "HashTable"
  DType key_dtype() const { return key_dtype_; }
  DType value_dtype() const { return value_dtype_; }

  // In the place of what is there, if that may be.
  virtual Status Import(const KernelCall& call, const Tensor& keys, const Tensor& values) = 0;
  // Output 0 is the values for the keys, of `fallback` for keys that are not there.
  virtual Status Find(const KernelCall& call, const Tensor& keys, const Tensor& fallback) = 0;
  // Outputs 0 and 1 are all keys and their values.
  virtual Status Export(const KernelCall& call) = 0;
  virtual Status Size(int64_t* size) = 0;
  virtual Status Insert(const KernelCall&, const Tensor&, const Tensor&) { return Unchangeable("insert"); }
  virtual Status Remove(const KernelCall&, const Tensor&) { return Unchangeable("remove"); }

 private:
  Status Unchangeable(const char* verb) const {
    return Error(Code::kUnimplemented, "%s not supported by %s implementations", verb, type());
  }

  const DType key_dtype_, value_dtype_;
};

// Finds or makes the table of a node, and puts its handle into output 0.
template <typename Make>
Status OutputTable(const KernelCall& call, const char* type, DType key, DType value, const Make& make) {
  return OutputHandle<LookupTable>(
      call,
      [&](const ResourceTable::Name&, std::shared_ptr<Resource>* table) {
        *table = make();
        return Status();
      },
      [&](const LookupTable& table) {
        if (std::strcmp(table.type(), type) != 0) {
          return STILLFLOW_INVALID_ARGUMENT("Trying to access resource using the wrong type. Expected %s got %s",
                                            type, table.type());
        }
        if (table.key_dtype() == key && table.value_dtype() == value) return Status();
        return STILLFLOW_INVALID_ARGUMENT("Conflicting key/value dtypes %s->%s with %s-%s for table", Name(key),
                                          Name(value), Name(table.key_dtype()), Name(table.value_dtype()));
      });
}

// Whether TensorFlow has tables of such keys and values.
bool AreTypesOfTable(DType key, DType value);

// "resource, string, int32->": what a node has and what the table is for.
Status CheckTypes(const KernelCall& call, const LookupTable& table, DType key, DType value, const char* separator);

// Element `i` as bytes: those of a number, or of a string.
std::string BytesAt(const Tensor& tensor, int64_t i);
bool StoreAt(const KernelCall& call, Tensor* tensor, int64_t i, const std::string& bytes);

// The same of rows of `width` elements, which begin at element `row * width`.
std::string RowAt(const Tensor& tensor, int64_t row, int64_t width);
bool StoreRow(const KernelCall& call, Tensor* tensor, int64_t row, int64_t width, const std::string& bytes);
// A row of zeros or empty strings.
std::string EmptyRow(DType dtype, int64_t width);

// Reads the attribute that is the shape of one value: a scalar's or a vector's.
Status ValueShapeOf(const Attr& attr, Shape* shape);

// Errors of keys and values that do not fit a table with keys and values of these shapes.
Status CheckKeys(const LookupTable& table, const Tensor& keys, const Shape& key_shape);
Status CheckPairs(const LookupTable& table, const Tensor& keys, const Tensor& values, const Shape& key_shape,
                  const Shape& value_shape);

}  // namespace stillflow
