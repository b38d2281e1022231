/* stillflow.h: the whole boundary between the engine and Python. Opaque handles, plain data, no Python.
 *
 * Functions that can fail return an error code of TensorFlow's (0 is success) and put a message, to be freed
 * with sf_free, into `message`. Nothing throws, prints or aborts. Unless a comment says otherwise the caller
 * keeps owning what it passes and owns what it gets.
 */
#ifndef STILLFLOW_H_
#define STILLFLOW_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sf_kernels sf_kernels;
typedef struct sf_container sf_container;
typedef struct sf_session sf_session;
typedef struct sf_program sf_program;
typedef struct sf_variable sf_variable;
typedef struct sf_buffer sf_buffer;

enum { SF_MAX_RANK = 16 };

/* A tensor whose elements lie in C order at `data`; `buffer` keeps them alive. */
typedef struct sf_tensor {
  void* data;
  sf_buffer* buffer;
  int64_t count;
  int32_t dtype; /* TensorFlow's DataType */
  int32_t rank;
  int64_t dims[SF_MAX_RANK];
} sf_tensor;

typedef struct sf_outcome {
  int32_t code;  /* 0, or TensorFlow's error code */
  int32_t step;  /* the step that failed, or -1 */
  int32_t part;  /* which of the nodes fused into that step */
  char* message; /* owned by the caller */
} sf_outcome;

/* What host_call steps call, on the thread that runs: fills `out` (the dtypes are what is expected, the buffers null)
 * with tensors of one reference, or returns an error code and a message from malloc. */
typedef int32_t (*sf_host_function)(void* arg, const char* name, int64_t name_size, const sf_tensor* const* in,
                                    int32_t in_count, sf_tensor* const* out, int32_t out_count, char** message);

/* When a step ran, in nanoseconds since 1970, and the size of what it made; zeros for one that did not run. */
typedef struct sf_step_trace {
  int64_t start_nanos;
  int64_t end_nanos;
  int64_t output_bytes;
} sf_step_trace;

/* `poll` is called about every 50 ms of a run on the thread that runs; true cancels the run. Null: it is not. */
typedef struct sf_run_options {
  bool (*poll)(void* arg);
  void* arg;
  int64_t timeout_nanos; /* 0: none */
  sf_host_function host; /* null: host_call steps fail */
  sf_step_trace* trace;  /* an entry for each step in order, or null */
} sf_run_options;

void sf_free(void* memory);

/* Kernel libraries; the engine's own kernels come with each. */
const char* const* sf_supported_isas(void);
int32_t sf_kernels_open(const char* path, sf_kernels** kernels, char** message); /* never closed */
int32_t sf_kernels_count(const sf_kernels* kernels);
const char* sf_kernels_name(const sf_kernels* kernels, int32_t kernel);
const char* sf_kernels_parameters(const sf_kernels* kernels, int32_t kernel);

/* Buffers. An allocated buffer has one reference; null when memory is exhausted. */
sf_buffer* sf_buffer_allocate(int64_t bytes, void** data);
void sf_buffer_retain(sf_buffer* buffer);
void sf_buffer_release(sf_buffer* buffer);
bool sf_buffer_is_unique(const sf_buffer* buffer); /* one reference, and memory of the engine's own */
/* A buffer of `count` string cells, all empty; set them with sf_string_set before anyone reads. */
sf_buffer* sf_strings_allocate(int64_t count, void** data);
bool sf_string_set(void* data, int64_t index, const char* bytes, int64_t size);
const char* sf_string_get(const void* data, int64_t index, int64_t* size);
void sf_allocator_statistics(int64_t* used_bytes, int64_t* cached_bytes);

/* Sessions, and the containers of variables and resources with shared names that they may have in common. */
sf_container* sf_container_new(void);
void sf_container_free(sf_container* container);                      /* sessions keep what is in it */
sf_session* sf_session_new(int32_t threads, sf_container* container); /* null: one of its own */
void sf_session_free(sf_session* session);                            /* closes it; its programs must be gone */
void sf_session_close(sf_session* session);
sf_variable* sf_session_variable(sf_session* session, const char* place, const char* name, int32_t dtype,
                                 int32_t rank, const int64_t* dims); /* rank -1: unknown; owned by the session's
                                                          container; null if it is there with another type */
void sf_variable_clear(sf_variable* variable);                       /* as before its first assignment */
/* Random ops in order of their names; false past the last. The name stays valid. */
bool sf_session_random_state(sf_session* session, int64_t index, const char** name, uint64_t* key,
                             uint64_t* counter_low, uint64_t* counter_high);
/* The op need not have been planned yet. */
int32_t sf_session_set_random_state(sf_session* session, const char* name, uint64_t key, uint64_t counter_low,
                                    uint64_t counter_high, char** message);
/* Calls visit(arg, name, bytes, size) for the states that kernels save, in order of names. */
int32_t sf_session_save_op_states(sf_session* session, char** message,
                                  void (*visit)(void* arg, const char* name, const char* bytes, int64_t size),
                                  void* arg);
/* Now, or when the op is planned. Fails if an op's state is of another kind or size. */
int32_t sf_session_restore_op_state(sf_session* session, const char* name, const char* bytes, int64_t size,
                                    char** message);

/* Frees a resource of that kind and name, and the state of the op of that name, which declares it and must not run
   again. */
void sf_session_forget_resource(sf_session* session, const char* kind, const char* name);

/* The values of some variables at one instant, kept without copying them. */
typedef struct sf_snapshot sf_snapshot;
sf_snapshot* sf_snapshot_take(sf_variable* const* variables, int32_t count); /* owned; the session outlives it */
void sf_snapshot_restore(const sf_snapshot* snapshot);                       /* as often as wanted */
void sf_snapshot_free(sf_snapshot* snapshot);
/* The number of dimensions of a variable's value now, and their sizes; -1 if it has no value. */
int32_t sf_variable_shape(sf_variable* variable, int64_t* dims);

/* Checkpoints of either format. */
typedef struct sf_checkpoint sf_checkpoint;
int32_t sf_checkpoint_open(const char* prefix, sf_checkpoint** checkpoint, char** message);
void sf_checkpoint_free(sf_checkpoint* checkpoint);
bool sf_checkpoint_is_v2(const sf_checkpoint* checkpoint);
/* Tensors in order of their names; false past the last. What is pointed to stays valid. */
bool sf_checkpoint_tensor(const sf_checkpoint* checkpoint, int64_t index, const char** name, int64_t* name_size,
                          int32_t* dtype, int32_t* rank, const int64_t** dims, int64_t* slice_count);
/* A slice of one as text, "0,3:-"; freed by the caller. */
char* sf_checkpoint_slice(const sf_checkpoint* checkpoint, int64_t index, int64_t slice);
/* `shape_and_slice` is empty for all of it. The result has one reference. */
int32_t sf_checkpoint_read(const sf_checkpoint* checkpoint, const char* name, int64_t name_size,
                           const char* shape_and_slice, sf_tensor* result, char** message);
/* Checks all checksums. */
int32_t sf_checkpoint_verify(const sf_checkpoint* checkpoint, char** message);

/* Writes a checkpoint, which appears at `finish`, or not at all. */
typedef struct sf_checkpoint_writer sf_checkpoint_writer;
int32_t sf_checkpoint_writer_open(const char* prefix, sf_checkpoint_writer** writer, char** message);
void sf_checkpoint_writer_free(sf_checkpoint_writer* writer);
int32_t sf_checkpoint_writer_add(sf_checkpoint_writer* writer, const char* name, int64_t name_size,
                                 const char* shape_and_slice, const sf_tensor* value, char** message);
int32_t sf_checkpoint_writer_finish(sf_checkpoint_writer* writer, char** message);

/* Keeps strings for the next checkpoint that the session writes at `prefix`, which gets them as further tensors. */
int32_t sf_session_set_note(sf_session* session, const char* prefix, const char* key, const char* bytes, int64_t size,
                            char** message);
void sf_session_clear_notes(sf_session* session, const char* prefix);

/* Programs. Build one, then run it from any number of threads. */
/* The body of a function is not run itself, and each caller of the function has states of its own for its steps. */
sf_program* sf_program_new(sf_session* session, const sf_kernels* kernels, int32_t slot_count, bool is_body);
void sf_program_free(sf_program* program);
void sf_program_constant(sf_program* program, int32_t slot, const sf_tensor* value); /* takes the reference */
void sf_program_reference(sf_program* program, int32_t slot, sf_variable* variable);
/* A step is described attribute by attribute, and added by sf_program_step. */
void sf_program_attr_int(sf_program* program, int64_t value);
void sf_program_attr_float(sf_program* program, double value);
void sf_program_attr_bytes(sf_program* program, const void* data, int64_t bytes, int64_t size);
/* Shares `body`, which has been built and may be freed. A type for each of its feeds and fetches; 1000 is a variable.
 */
void sf_program_attr_function(sf_program* program, const sf_program* body, const char* name, bool is_stateful,
                              const int32_t* input_types, const int32_t* output_types);
void sf_program_random_state(sf_program* program, const char* name, int64_t seed, int64_t seed2);
void sf_program_op_state(sf_program* program, const char* name);
/* A node that the step stands for, for messages; of a function's body. */
void sf_program_part(sf_program* program, const char* name);
/* The step runs if all these cells are live; see runtime/executor/program.h. */
void sf_program_guard(sf_program* program, const int32_t* cells, int32_t count);
int32_t sf_program_step(sf_program* program, int32_t kernel, const int32_t* in, int32_t in_count, const int32_t* out,
                        int32_t out_count, uint64_t dying, const int32_t* releases, int32_t release_count,
                        char** message);
int32_t sf_program_step_count(const sf_program* program);
void sf_program_feeds(sf_program* program, const int32_t* slots, int32_t count);
void sf_program_fetches(sf_program* program, const int32_t* slots, int32_t count);
/* Of a program with branches: the number of cells, and those without which a fetch has no value. A run then fails
 * with a message about fetch number `label`. */
void sf_program_cells(sf_program* program, int32_t count);
void sf_program_fetch_guard(sf_program* program, int32_t label, const int32_t* cells, int32_t count);
/* Of a program with steps that may wait: the steps [first, end), in order, which run together where one is overtaken.
 * `after` are earlier units that wait and that this one depends on, `loosely_after` those that it comes after because
 * of what both use. */
void sf_program_unit(sf_program* program, int32_t first, int32_t end, bool is_loop, bool waits, const int32_t* after,
                     int32_t after_count, const int32_t* loosely_after, int32_t loosely_after_count);
/* A feed without a buffer wraps memory that the caller keeps unchanged during the call. Every result has a
 * reference for the caller, or no buffer when the run failed. A result that is (a view of) such a feed comes
 * back with that memory and no buffer. */
sf_outcome sf_program_run(sf_program* program, const sf_tensor* feeds, sf_tensor* results,
                          const sf_run_options* options);

void sf_after_fork_in_child(void);

#ifdef __cplusplus
}
#endif

#endif /* STILLFLOW_H_ */
