/* allocations.c - the n-th allocation fails, for n = 1, 2, ... until none is left to fail, through whole lives of FMUs and
 * through the kernel's creation functions.
 *
 * Linked with --wrap for malloc, calloc and realloc, and with AddressSanitizer, which tells what is not freed. A call whose
 * allocation fails returns an error and logs a reason; nothing has changed, and the same call made again succeeds. Of a
 * step nothing is promised but that Reset brings the instance back. */
#include "fmi.h"
#ifndef PARTNER
#include "blocks.h"
#include "bough.h"
#endif

static long count, fail_at, failures;
static int armed, failed;

static int fails(void) {
  if (!armed || ++count != fail_at) return 0;
  failures++;
  return failed = 1;
}
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t n, size_t size) { return fails() ? NULL : __real_calloc(n, size); }
void *__wrap_realloc(void *p, size_t size) { return fails() ? NULL : __real_realloc(p, size); }

static double reference_run[KINDS][PROBES];

/* ---- calls of a life; each returns a status */
typedef struct {
  handle it;
  int me;
  snapshot taken, read;
  unsigned char *bytes;
  size_t size;
  double time;
} life;
typedef int (*call)(life *l);

static int do_create(life *l) { return (l->it = create(l->me, token, resources, 0)) ? OK : ERROR; }
static int do_enter(life *l) { return enter(l->it, 0, 0.0, 0.0, 0, 0.0); }
static int do_exit(life *l) { return (int)F(ExitInitializationMode)(l->it); }
static int do_step(life *l) {
  if (!l->me) return step(l->it, l->time, 0.01, &l->time);
  const int status = update_discrete(l->it);
  return status == OK ? (int)F(EnterContinuousTimeMode)(l->it) : status;
}
static int do_values(life *l) {
  double x[PROBES];
  reference vr[PROBES];
  for (reference i = 0; i < PROBES; i++) vr[i] = i;
  return get_real(l->it, vr, PROBES, x);
}
static int do_take(life *l) { return (int)STATE(Get, )(l->it, &l->taken); }
static int do_write(life *l) {
  int status = (int)STATE(Serialized, Size)(l->it, l->taken, &l->size);
  if (!l->bytes) l->bytes = __real_malloc(l->size);
  return status == OK ? (int)STATE(Serialize, )(l->it, l->taken, (void *)l->bytes, l->size) : status;
}
static int do_read(life *l) { return deserialize(l->it, l->bytes, l->size, &l->read); }
static int do_restore(life *l) { return (int)STATE(Set, )(l->it, l->read); }
static int do_reset(life *l) {
  l->time = 0.0;
  return (int)F(Reset)(l->it);
}
#ifndef PARTNER
static int do_derivative(life *l) {
  const reference z[] = {2, 3}, v[] = {1};
  double seed[] = {1.0, 2.0}, out[2];
  return directional(l->it, z, 2, v, 1, seed, out);
}
static int do_adjoint(life *l) {
#if FMI_VERSION == 3
  const reference z[] = {2, 3}, v[] = {1};
  double seed[] = {1.0, 2.0}, out[2];
  return (int)fmi3GetAdjointDerivative(l->it, z, 2, v, 1, seed, 2, out, 1);
#else
  (void)l;
  return OK;
#endif
}
static int do_rates(life *l) {
  const reference z[] = {2, 3};
  const integer order[] = {1, 1};
  double out[2];
  if (l->me) return OK;
#if FMI_VERSION == 3
  return (int)fmi3GetOutputDerivatives(l->it, z, 2, order, out, 2);
#else
  return (int)fmi2GetRealOutputDerivatives(l->it, z, 2, order, out);
#endif
}
#endif

static const struct {
  call call;
  const char *name;
} calls[] = {
    {do_create, "instantiate"}, {do_values, "get"}, {do_enter, "enter initialization"}, {do_exit, "exit initialization"},
    {do_take, "get state before a run"}, {do_step, "step"}, {do_values, "get"}, {do_take, "get state"},
    {do_write, "serialize"}, {do_read, "deserialize"}, {do_restore, "set state"},
#ifndef PARTNER
    {do_derivative, "directional derivative"}, {do_adjoint, "adjoint derivative"}, {do_rates, "output derivatives"},
#endif
    {do_reset, "reset"},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* the call whose allocation has just failed: refused with a reason, and it can be made again */
static void check_refusal(life *l, int i, int status, long told, const unsigned char *before, size_t before_size) {
  size_t size;
  const int is_step = calls[i].call == do_step;
  if (status != ERROR && !(is_step && status == DISCARD)) fail(calls[i].name);
  if (messages == told) fail("an allocation failed, and no message came");
  if (!strstr(last_message, "memory")) fail("the message does not speak of memory");
  if (is_step) {
    if (do_reset(l) != OK) fail("no reset after a step without memory");
    standard_run(l->it, l->me, (double[PROBES]){0});
    if (do_reset(l) != OK || do_enter(l) != OK || do_exit(l) != OK) fail("no second run");
  } else if (before) {
    unsigned char *after = state_of(l->it, &size);
    if (size != before_size || memcmp(before, after, size) != 0) fail("a call without memory changed the instance");
    free(after);
  }
  if (calls[i].call(l) != OK) fail("the same call, with memory, fails");
}

static void live(int me) {
  life l = {0};
  l.me = me, count = 0, failed = 0;
  for (int i = 0; i < CALLS; i++) {
    size_t size = 0;
    unsigned char *before = l.it ? state_of(l.it, &size) : NULL;
    const long told = messages;
    const int already = failed;
    armed = 1;
    const int status = calls[i].call(&l);
    armed = 0;
    if (failed && !already)
      check_refusal(&l, i, status, told, before, size);
    else if (status != OK)
      fail(calls[i].name);
    free(before);
  }
  double out[PROBES];
  standard_run(l.it, me, out);
  if (memcmp(out, reference_run[me], sizeof out) != 0) fail("after a lack of memory an instance runs differently");
  (void)STATE(Free, )(l.it, &l.taken), (void)STATE(Free, )(l.it, &l.read);
  free(l.bytes);
  F(FreeInstance)(l.it);
}

#ifndef PARTNER
/* the kernel's own creation functions: no memory is a status, and nothing is left behind */
static void create_kernel(const test_block *block) {
  static const bough_sim_options options = {BOUGH_RK4, 1e-6, 1e-8, 1e-3, 0.0};
  bough_model *model = NULL;
  bough_data *data[3] = {NULL, NULL, NULL};
  bough_sim *sim = NULL;
  count = 0, failed = 0, armed = 1;
  bough_status status = bough_model_create(block->words, block->size, &model);
  for (int lanes = BOUGH_LANES_ONE; status == BOUGH_OK && lanes <= BOUGH_LANES_TANGENT; lanes += 2)
    status = bough_data_create(model, lanes, &data[lanes]);
  if (status == BOUGH_OK) status = bough_sim_create(model, data[0], &options, &sim);
  armed = 0;
  if (status != (failed ? BOUGH_NO_MEMORY : BOUGH_OK)) fail("the kernel does not say that there is no memory");
  bough_sim_free(sim);
  for (int i = 0; i < 3; i++) bough_data_free(data[i]);
  bough_model_free(model);
}
#endif

int main(void) {
  read_environment();
  for (int me = 0; me < KINDS; me++) {
    handle it = create(me, token, resources, 0);
    if (!it) fail("no instance");
    standard_run(it, me, reference_run[me]);
    F(FreeInstance)(it);
    for (fail_at = 1, failed = 1; failed; fail_at++) live(me);
  }
  const long calls_failed = failures;
#ifndef PARTNER
  for (int i = 0; i < BLOCKS; i++)
    for (fail_at = 1, failed = 1; failed; fail_at++) create_kernel(blocks + i);
#endif
  printf("%ld of FMUs, %ld of the kernel\n", calls_failed, failures - calls_failed);
  return 0;
}
