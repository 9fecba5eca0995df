/* state.c - snapshots: one pointer-free block with everything an instance remembers.
 *   0 "BOUGHSNP"  8 u64 size  16 token hash  24 u64 CRC-32 of what follows  32 the run's size  then bough_clock, arrays, the run
 * The checksum is made when a snapshot is serialized and looked at when it comes back: in memory, where masters save and restore
 * at every step, it would cost more than the copy. */
#include <stdlib.h>
#include <string.h>

#include "inside.h"

typedef struct {
  char magic[8];
  uint64_t size, token, crc;
  int64_t sim_bytes; /* of the run; it has the solver's settings of the clock */
  bough_clock now;
} snapshot;

static uint64_t hash(const char *s) {
  uint64_t h = UINT64_C(1469598103934665603);
  for (; *s; s++) h = (h ^ (unsigned char)*s) * UINT64_C(1099511628211);
  return h;
}

static size_t sim_bytes(const bough_instance *f) { return f->sim ? bough_sim_state_size(f->sim) : 0; }

static size_t state_size(const bough_instance *f) {
  return sizeof(snapshot) + f->array_count * sizeof(double) + sim_bytes(f);
}

static uint64_t checksum(const unsigned char *state, size_t size) {
  const size_t first = offsetof(snapshot, crc) + sizeof(uint64_t);
  return bough_crc32(state + first, size - first);
}

/* The first look, before anything else is read: is it a state at all, and of the size it says? */
static int head_ok(const void *state, size_t size, snapshot *head) {
  if (size < sizeof *head) return 0;
  memcpy(head, state, sizeof *head);
  return memcmp(head->magic, "BOUGHSNP", 8) == 0 && head->size == size;
}

static void refuse(bough_instance *f) {
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: this is not a state of model '%s' in this kind of run, or it is damaged. Nothing is "
          "changed.", f->function, f->resource->model_name);
}

static bough_instance_status save(const bough_instance *f, unsigned char *state, size_t size) {
  snapshot head;
  memset(&head, 0, sizeof head);
  memcpy(head.magic, "BOUGHSNP", 8);
  head.size = size, head.token = hash(f->resource->token), head.sim_bytes = (int64_t)sim_bytes(f);
  head.now = f->now;
  memcpy(state, &head, sizeof head);
  memcpy(state + sizeof head, f->arrays, f->array_count * sizeof(double));
  if (f->sim && bough_sim_save(f->sim, state + sizeof head + f->array_count * sizeof(double), sim_bytes(f)) != BOUGH_OK)
    return INSTANCE_ERROR;
  return INSTANCE_OK;
}

/* A clock that an instance can have: the checksum keeps accidents out, this keeps nonsense out whatever comes. */
#define BOUGH_CLOCK(type, member, check) \
  static int member##_ok(type x) { return check; }
#include "fields.def"
static int clock_ok(const bough_instance *f, const bough_clock *now) {
#define BOUGH_CLOCK(type, member, check) \
  if (!member##_ok(now->member)) return 0;
#include "fields.def"
  const int64_t before = AT_INSTANTIATED | AT_INITIALIZATION, ended = AT_FAILED | AT_TERMINATED;
  const int64_t known = before | ended | (!f->now.cosimulation ? AT_EVENT | AT_CONTINUOUS : f->event_mode ? AT_STEP | AT_EVENT : AT_STEP);
  if ((now->state & known) != now->state) return 0;
  if (now->cosimulation != f->now.cosimulation || now->running != !(now->state & before)) return 0;
  if (now->stop_defined ? !(now->stop_time >= now->start_time) : now->stop_time != 0.0) return 0;
  return !now->cosimulation || (now->start_time <= now->input_time && now->input_time <= now->time);
}

/* Does the run stand at finite positions and speeds? What failed need not. */
static int run_ok(const bough_instance *f, bough_sim *sim, const bough_clock *now) {
  double *q = f->work, *u = q + f->nq;
  if (now->state == AT_FAILED || now->state == AT_TERMINATED) return 1;
  if (bough_sim_advance(sim, now->time, 0, NULL, NULL, q, u) != BOUGH_OK) return 0; /* it is there already */
  for (int i = 0; i < f->nq + f->nu; i++)
    if (!bough_finite(q[i])) return 0;
  return 1;
}

/* What checks find: a state of this instance, something else, or no memory to see, which is in the log by then. */
typedef enum { NOT_OURS, OURS, NO_MEMORY } finding;
static finding no_memory(bough_instance *f) { return bough_instance_no_memory(f), NO_MEMORY; }

/* The run that belongs to a checked state; null if it has none. The kernel's parameters are those of the state afterwards. */
static finding read_run(bough_instance *f, const snapshot *head, const unsigned char *bytes, bough_sim **sim) {
  *sim = NULL;
  if (head->sim_bytes == 0) return OURS;
  if (!f->model || f->partner) return NOT_OURS; /* partners have no run */
  const bough_sim_options options = bough_instance_sim_options(&head->now);
  const bough_status made = bough_sim_create(f->model, f->data, &options, sim);
  if (made == BOUGH_NO_MEMORY) return no_memory(f);
  if (made != BOUGH_OK) return NOT_OURS;
  const size_t size = bough_sim_state_size(*sim);
  unsigned char *before = malloc(size); /* the kernel's parameters as they are, bytes that nobody sets included */
  finding found = before ? NOT_OURS : no_memory(f);
  if (before && bough_sim_save(*sim, before, size) == BOUGH_OK &&
      bough_sim_restore(*sim, bytes, (size_t)head->sim_bytes) == BOUGH_OK) {
    found = bough_sim_time(*sim) == head->now.time && run_ok(f, *sim, &head->now) ? OURS : NOT_OURS;
    if (found != OURS) bough_sim_restore(*sim, before, size);
  }
  free(before);
  if (found == OURS) return OURS;
  bough_sim_free(*sim);
  *sim = NULL;
  return found;
}

/* Is it a state of this instance? On success `head` is filled, and `arrays` are its arrays, for the caller to free. */
static finding check(bough_instance *f, const unsigned char *state, size_t size, snapshot *head, double **arrays) {
  const size_t bytes = f->array_count * sizeof(double);
  *arrays = NULL;
  if (!head_ok(state, size, head) || head->token != hash(f->resource->token)) return NOT_OURS;
  if (size - sizeof *head < bytes || head->sim_bytes < 0 || (uint64_t)head->sim_bytes != size - sizeof *head - bytes) return NOT_OURS;
  if (!clock_ok(f, &head->now)) return NOT_OURS;
  if (head->sim_bytes > 0 && !head->now.running) return NOT_OURS;
  *arrays = malloc(bytes + sizeof(double)); /* aligned, as bytes from outside need not be */
  if (!*arrays) return no_memory(f);
  memcpy(*arrays, state + sizeof *head, bytes);
  return f->type->state_fits(f, &head->now, *arrays) ? OURS : NOT_OURS;
}

static bough_instance_status restore(bough_instance *f, const unsigned char *state, size_t size) {
  snapshot head;
  double *arrays;
  bough_sim *sim = NULL;
  finding found = check(f, state, size, &head, &arrays);
  if (found == OURS) found = read_run(f, &head, state + (size - (size_t)head.sim_bytes), &sim);
  if (found == OURS) {
    bough_sim_free(f->sim);
    f->sim = sim;
    if (sim) f->sim_options = bough_instance_sim_options(&head.now);
    f->now = head.now;
    memcpy(f->arrays, arrays, f->array_count * sizeof(double));
    f->dynamics_fresh = f->sensors_fresh = 0;
  } else if (found == NOT_OURS)
    refuse(f);
  if (arrays) f->type->state_taken(f); /* the run has brought its parameters; those of the instance hold */
  free(arrays);
  return found == OURS ? INSTANCE_OK : INSTANCE_ERROR;
}

/* ---- boxes: the size, then the snapshot */
typedef struct {
  size_t size;
} box_head;
static unsigned char *bytes_of(void *box) { return (unsigned char *)box + sizeof(box_head); }

static bough_instance_status resize(bough_instance *f, void **box, size_t size) {
  box_head *b = *box;
  if (b && b->size == size) return INSTANCE_OK;
  b = size <= SIZE_MAX - sizeof *b ? realloc(b, sizeof *b + size) : NULL;
  if (!b) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: no memory for a state of %lu bytes", f->function, (unsigned long)size);
    return INSTANCE_ERROR;
  }
  b->size = size;
  *box = b;
  return INSTANCE_OK;
}

bough_instance_status bough_instance_state_get(bough_instance *f, void **box) {
  if (bough_instance_missing(f, box, 1)) return INSTANCE_ERROR;
  const size_t size = state_size(f);
  const bough_instance_status status = resize(f, box, size);
  return status == INSTANCE_OK ? save(f, bytes_of(*box), size) : status;
}
bough_instance_status bough_instance_state_set(bough_instance *f, void *box) {
  if (bough_instance_missing(f, box, 1)) return INSTANCE_ERROR;
  return restore(f, bytes_of(box), ((box_head *)box)->size);
}
bough_instance_status bough_instance_state_free(void **box) {
  if (!box) return INSTANCE_OK;
  free(*box);
  *box = NULL;
  return INSTANCE_OK;
}
bough_instance_status bough_instance_state_size(bough_instance *f, void *box, size_t *size) {
  if (bough_instance_missing(f, box, 1) || bough_instance_missing(f, size, 1)) return INSTANCE_ERROR;
  *size = ((box_head *)box)->size;
  return INSTANCE_OK;
}
bough_instance_status bough_instance_state_write(bough_instance *f, void *box, void *bytes, size_t size) {
  if (bough_instance_missing(f, box, 1) || bough_instance_missing(f, bytes, size)) return INSTANCE_ERROR;
  const size_t need = ((box_head *)box)->size;
  if (size < need) {
    bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: %lu bytes are given, %lu are needed", f->function, (unsigned long)size,
            (unsigned long)need);
    return INSTANCE_ERROR;
  }
  memcpy(bytes, bytes_of(box), need);
  const uint64_t crc = checksum(bytes, need);
  memcpy((unsigned char *)bytes + offsetof(snapshot, crc), &crc, sizeof crc);
  return INSTANCE_OK;
}
bough_instance_status bough_instance_state_read(bough_instance *f, const void *bytes, size_t size, void **box) {
  if (bough_instance_missing(f, bytes, size) || bough_instance_missing(f, box, 1)) return INSTANCE_ERROR;
  snapshot head;
  if (!head_ok(bytes, size, &head) || head.crc != checksum(bytes, size)) { /* no more is read than there is */
    refuse(f);
    return INSTANCE_ERROR;
  }
  void *made = NULL; /* what the host's handle held before is not ours to look at: it may be anything */
  const bough_instance_status status = resize(f, &made, size);
  if (status != INSTANCE_OK) return status;
  memcpy(bytes_of(made), bytes, size);
  *box = made;
  return INSTANCE_OK;
}
