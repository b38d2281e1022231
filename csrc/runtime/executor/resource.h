// resource.h: what kernels of a session share beyond a run: queues, readers, iterators, and how tensors name them.
//
// A handle is a scalar of type kResource whose element is the resource's number, or, for the first versions of
// TensorFlow's ops, a vector of two strings: container and name. Both are plain data that any kernel may copy; what
// they name is looked up when it is used, so a handle that is stale, of another session or made up is an error.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>

#include "kernel_api/abi.h"

namespace stillflow {

class Resource {
 public:
  virtual ~Resource() = default;
  // Resources of one kind share their names: "queue", "reader", ...
  virtual const char* kind() const = 0;
};

// The resources of a session, or of a container that sessions share.
class ResourceTable {
 public:
  // What has a shared name is looked up and made in `shared`, if there is one, which must live as long.
  explicit ResourceTable(ResourceTable* shared = nullptr) : shared_(shared) {}

  // What a node that declares a resource says of it. Without a shared name it belongs to the node alone.
  struct Name {
    std::string container;
    std::string name;
    bool is_private = false;
  };
  using Make = std::function<Status(const Name& name, std::shared_ptr<Resource>* made)>;

  // The name that a node's attributes give: the shared one, or "_<number>_<node>" with a number that no other
  // resource of the process has. Empty `container` is "localhost".
  static Name NameOf(const std::string& container, const std::string& shared_name, const std::string& node_name);

  // Finds the resource of that kind and name, or makes it. `make` must not use the table.
  Status FindOrMake(const char* kind, const Name& name, const Make& make, std::shared_ptr<Resource>* resource,
                    int64_t* number);

  // Null if there is none.
  std::shared_ptr<Resource> Find(int64_t number);
  std::shared_ptr<Resource> Find(const char* kind, const Name& name);

  // Forgets a resource; whoever uses it keeps it until then. False if there is none.
  bool Erase(int64_t number);
  bool Erase(const char* kind, const Name& name);

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // kind, container, name
  struct Entry {
    std::shared_ptr<Resource> resource;
    Key key;
  };

  ResourceTable* const shared_;
  std::mutex mutex_;
  std::unordered_map<int64_t, Entry> entries_;
  std::map<Key, int64_t> numbers_;
};

}  // namespace stillflow
