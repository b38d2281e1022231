// guarded.h: what the functions of stillflow.h have in common: how failures cross, and what handles stand for.
#pragma once

#include <cstring>
#include <exception>
#include <new>

#include "kernel_api/abi.h"
#include "runtime/capi/stillflow.h"
#include "runtime/executor/session.h"

struct sf_session {
  explicit sf_session(int threads) : session(threads) {}
  stillflow::Session session;
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
