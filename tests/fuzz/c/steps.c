/* steps.c - many communication steps, BOUGH_STEPS of them, on one instance: time does not drift, nothing overflows, values
 * stay finite, and after the first steps nothing is allocated. Linked with --wrap for malloc, calloc and realloc. */
#include "fmi.h"

static long allocations;
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size) { return allocations++, __real_malloc(size); }
void *__wrap_calloc(size_t n, size_t size) { return allocations++, __real_calloc(n, size); }
void *__wrap_realloc(void *p, size_t size) { return allocations++, __real_realloc(p, size); }

int main(void) {
  read_environment();
  const long steps = atol(environment("BOUGH_STEPS"));
  const double h = 1e-3;
  double x[PROBES], reached;
  reference vr[PROBES];
  for (reference i = 0; i < PROBES; i++) vr[i] = i;
  handle it = create(0, token, resources, 0);
  if (!it || enter(it, 0, 0.0, 0.0, 0, 0.0) != OK || F(ExitInitializationMode)(it) != OK) fail("no run");
  long after_first = 0;
  for (long n = 0; n < steps; n++) {
    if (step(it, (double)n * h, h, &reached) != OK) fail("a step failed");
    if (n % 1000 == 0 || n + 1 == steps) {
      if (get_real(it, vr, PROBES, x) != OK) fail("no values");
      for (int i = 0; i < PROBES; i++)
        if (!isfinite(x[i])) fail("a value is not finite");
      if (fabs(x[0] - (double)(n + 1) * h) > 1e-9 * (1.0 + x[0])) fail("time drifts"); /* the first variable is time */
    }
    if (n == 10) after_first = allocations;
  }
  if (steps > 10 && allocations != after_first) fail("steps allocate");
  F(FreeInstance)(it);
  printf("%ld steps\n", steps);
  return 0;
}
