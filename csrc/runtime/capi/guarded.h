// guarded.h: what the functions of stillflow.h have in common: how failures cross, and what handles stand for.
#pragma once

#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "kernel_api/abi.h"
#include "runtime/capi/stillflow.h"
#include "runtime/executor/session.h"

struct sf_session {
  sf_session(int threads, std::shared_ptr<stillflow::Container> container) : session(threads, std::move(container)) {}
  stillflow::Session session;
};

struct sf_container {
  std::shared_ptr<stillflow::Container> container = std::make_shared<stillflow::Container>();
};

namespace stillflow {

inline int32_t Report(const Status& status, char** message) {
  if (!status.ok()) *message = strdup(status.message());
  return static_cast<int32_t>(status.code());
}

// Runs `body`, turning what it throws into a code and a message.
template <typename Body>
int32_t Guarded(char** message, Body body) {
  *message = nullptr;
  try {
    return Report(body(), message);
  } catch (const std::bad_alloc&) {
    return Report(Status(Code::kResourceExhausted, strdup("Out of memory")), message);
  } catch (const std::exception& error) {
    return Report(Status(Code::kInternal, strdup(error.what())), message);
  }
}

}  // namespace stillflow
