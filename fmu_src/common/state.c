/* state.c - snapshots: one pointer-free block with everything an instance remembers.
 *   0 "BOUGHSNP"  8 u64 size  16 token hash  24 u64 CRC-32 of what follows  32 the run's size and settings  then fmu_clock,
 *   arrays, the run */
#include <stdlib.h>
#include <string.h>

#include "fmu.h"

typedef struct {
  char magic[8];
  uint64_t size, token, crc;
  int64_t sim_bytes, sim_method; /* the run, and the settings that it was made with */
  double sim_step, sim_tolerance, sim_max_step;
  fmu_clock now;
} snapshot;

static uint64_t hash(const char *s) {
  uint64_t h = UINT64_C(1469598103934665603);
  for (; *s; s++) h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
  return h;
}

static size_t sim_bytes(const fmu_instance *f) { return f->sim ? bough_sim_state_size(f->sim) : 0; }

static size_t state_size(const fmu_instance *f) {
  return sizeof(snapshot) + f->array_count * sizeof(double) + sim_bytes(f);
}

static uint64_t checksum(const unsigned char *state, size_t size) {
  const size_t first = offsetof(snapshot, crc) + sizeof(uint64_t);
  return fmu_crc32(state + first, size - first);
}

static fmu_status save(const fmu_instance *f, unsigned char *state, size_t size) {
  snapshot head;
  memset(&head, 0, sizeof head);
  memcpy(head.magic, "BOUGHSNP", 8);
  head.size = size, head.token = hash(f->resource->token), head.sim_bytes = (int64_t)sim_bytes(f);
  head.sim_method = f->sim_options.method, head.sim_step = f->sim_options.step;
  head.sim_tolerance = f->sim_options.rtol, head.sim_max_step = f->sim_options.step_max;
  head.now = f->now;
  memcpy(state, &head, sizeof head);
  memcpy(state + sizeof head, f->arrays, f->array_count * sizeof(double));
  if (f->sim && bough_sim_save(f->sim, state + sizeof head + f->array_count * sizeof(double), sim_bytes(f)) != BOUGH_OK)
    return FMU_ERROR;
  head.crc = checksum(state, size);
  memcpy(state, &head, sizeof head);
  return FMU_OK;
}

/* A clock that an instance can have: the checksum keeps accidents out, this keeps indices in range whatever comes. */
static int clock_ok(const fmu_clock *now) {
  int known = 0;
  for (int bit = AT_INSTANTIATED; bit < AT_ANY; bit *= 2) known |= now->state == bit;
  return known && now->state != AT_INTERMEDIATE && now->input_order >= 0 && now->input_order <= INPUT_ORDERS &&
         fmu_finite(now->time) && fmu_finite(now->input_time);
}

static fmu_status restore(fmu_instance *f, const unsigned char *state, size_t size) {
  snapshot head;
  const size_t arrays = f->array_count * sizeof(double);
  int ok = size >= sizeof head;
  if (ok) memcpy(&head, state, sizeof head);
  ok = ok && memcmp(head.magic, "BOUGHSNP", 8) == 0 && head.size == size && head.token == hash(f->resource->token) && head.crc == checksum(state, size) &&
       head.sim_bytes >= 0 && sizeof head + arrays + (uint64_t)head.sim_bytes == size &&
       head.now.cosimulation == f->now.cosimulation && clock_ok(&head.now);
  if (!ok) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: this is not a state of model '%s' in this kind of run, or it is damaged. Nothing is "
            "changed.", f->function, f->resource->model_name);
    return FMU_ERROR;
  }
  bough_sim *sim = NULL;
  const bough_sim_options options = {(int)head.sim_method, head.sim_tolerance, 0.0, head.sim_step, head.sim_max_step, 0};
  if (head.sim_bytes > 0) { /* a run with the settings it had then */
    if (bough_sim_create(f->model, f->data, &options, &sim) != BOUGH_OK ||
        bough_sim_restore(sim, state + sizeof head + arrays, (size_t)head.sim_bytes) != BOUGH_OK) {
      bough_sim_free(sim);
      fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: the state cannot be restored", f->function);
      return FMU_ERROR;
    }
  }
  bough_sim_free(f->sim);
  f->sim = sim;
  f->sim_options = options;
  f->now = head.now;
  memcpy(f->arrays, state + sizeof head, arrays);
  if (!sim) f->now.changed |= CHANGED_PARAMETERS; /* parameters go to the kernel again; a run brings its own */
  f->dynamics_fresh = f->sensors_fresh = 0;
  return FMU_OK;
}

/* ---- boxes: the size, then the snapshot */
typedef struct {
  size_t size;
} box_head;
static unsigned char *bytes_of(void *box) { return (unsigned char *)box + sizeof(box_head); }

static fmu_status resize(fmu_instance *f, void **box, size_t size) {
  box_head *b = *box;
  if (b && b->size == size) return FMU_OK;
  b = realloc(b, sizeof *b + size);
  if (!b) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: no memory for a state of %lu bytes", f->function, (unsigned long)size);
    return FMU_ERROR;
  }
  b->size = size;
  *box = b;
  return FMU_OK;
}

fmu_status fmu_state_get(fmu_instance *f, void **box) {
  if (fmu_missing(f, box, 1)) return FMU_ERROR;
  const size_t size = state_size(f);
  const fmu_status status = resize(f, box, size);
  return status == FMU_OK ? save(f, bytes_of(*box), size) : status;
}
fmu_status fmu_state_set(fmu_instance *f, void *box) {
  if (fmu_missing(f, box, 1)) return FMU_ERROR;
  return restore(f, bytes_of(box), ((box_head *)box)->size);
}
fmu_status fmu_state_free(void **box) {
  if (!box) return FMU_OK;
  free(*box);
  *box = NULL;
  return FMU_OK;
}
fmu_status fmu_state_size(fmu_instance *f, void *box, size_t *size) {
  if (fmu_missing(f, box, 1) || fmu_missing(f, size, 1)) return FMU_ERROR;
  *size = ((box_head *)box)->size;
  return FMU_OK;
}
fmu_status fmu_state_write(fmu_instance *f, void *box, void *bytes, size_t size) {
  if (fmu_missing(f, box, 1) || fmu_missing(f, bytes, size)) return FMU_ERROR;
  const size_t need = ((box_head *)box)->size;
  if (size < need) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: %lu bytes are given, %lu are needed", f->function, (unsigned long)size,
            (unsigned long)need);
    return FMU_ERROR;
  }
  memcpy(bytes, bytes_of(box), need);
  return FMU_OK;
}
fmu_status fmu_state_read(fmu_instance *f, const void *bytes, size_t size, void **box) {
  if (fmu_missing(f, bytes, size) || fmu_missing(f, box, 1)) return FMU_ERROR;
  const fmu_status status = resize(f, box, size);
  if (status == FMU_OK && size > 0) memcpy(bytes_of(*box), bytes, size);
  return status;
}
