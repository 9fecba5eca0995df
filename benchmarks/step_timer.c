/* step_timer.c - time of every single exchange with an FMU (FMI 2, Co-Simulation): inputs set, a step, outputs read.
 *   step_timer LIBRARY RESOURCES GUID STEP COUNT SIZE METHOD_REF METHOD STEP_REF SOLVER_STEP IN.. -- OUT..   (value references)
 * Prints for each exchange the nanoseconds on the clock and those that the thread computed. `exchange` is a function of its
 * own so that callgrind can count the instructions of each call: --toggle-collect=exchange --dump-after=exchange. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fmi2FunctionTypes.h"

enum { PORTS = 32 };
#define FUNCTION(name) static name##TYPE *name
FUNCTION(fmi2Instantiate);
FUNCTION(fmi2SetupExperiment);
FUNCTION(fmi2EnterInitializationMode);
FUNCTION(fmi2ExitInitializationMode);
FUNCTION(fmi2SetReal);
FUNCTION(fmi2SetInteger);
FUNCTION(fmi2GetReal);
FUNCTION(fmi2DoStep);

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}
static void quiet(fmi2ComponentEnvironment e, fmi2String n, fmi2Status s, fmi2String c, fmi2String m, ...) {
  (void)e, (void)n, (void)c;
  if (s > fmi2Warning) fprintf(stderr, "%s\n", m);
}

/* One communication step. */
__attribute__((noinline)) int exchange(fmi2Component c, double t, double h, const fmi2ValueReference *in, size_t n_in, const double *u,
                                       const fmi2ValueReference *out, size_t n_out, double *y) {
  return fmi2SetReal(c, in, n_in, u) > fmi2Warning || fmi2DoStep(c, t, h, fmi2True) > fmi2Warning || fmi2GetReal(c, out, n_out, y) > fmi2Warning;
}

int main(int argc, char **argv) {
  static const fmi2CallbackFunctions callbacks = {quiet, calloc, free, NULL, NULL};
  fmi2ValueReference in[PORTS], out[PORTS];
  size_t n_in = 0, n_out = 0;
  if (argc < 12) return 2;
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
#define FIND(name) name = (name##TYPE *)dlsym(library, #name)
  FIND(fmi2Instantiate), FIND(fmi2SetupExperiment), FIND(fmi2EnterInitializationMode), FIND(fmi2ExitInitializationMode);
  FIND(fmi2SetReal), FIND(fmi2SetInteger), FIND(fmi2GetReal), FIND(fmi2DoStep);
  const double h = atof(argv[4]), size = atof(argv[6]), solver_step = atof(argv[10]);
  const int count = atoi(argv[5]), method = atoi(argv[8]);
  int k = 11;
  for (; k < argc && strcmp(argv[k], "--") && n_in < PORTS; k++) in[n_in++] = (fmi2ValueReference)atoi(argv[k]);
  for (k++; k < argc && n_out < PORTS; k++) out[n_out++] = (fmi2ValueReference)atoi(argv[k]);
  fmi2Component c = fmi2Instantiate("timer", fmi2CoSimulation, argv[3], argv[2], &callbacks, fmi2False, fmi2False);
  if (!c) return 2;
  const fmi2ValueReference method_ref = (fmi2ValueReference)atoi(argv[7]), step_ref = (fmi2ValueReference)atoi(argv[9]);
  if (fmi2SetInteger(c, &method_ref, 1, &method) || (solver_step > 0 && fmi2SetReal(c, &step_ref, 1, &solver_step))) return 2;
  if (fmi2SetupExperiment(c, fmi2False, 0, 0, fmi2False, 0) || fmi2EnterInitializationMode(c) || fmi2ExitInitializationMode(c)) return 3;
  double u[PORTS], y[PORTS], *wall = malloc(sizeof(double) * (size_t)count), *cpu = malloc(sizeof(double) * (size_t)count);
  if (!wall || !cpu) return 2;
  for (int i = 0; i < count; i++) {
    for (size_t j = 0; j < n_in; j++) u[j] = size * sin(0.037 * i + (double)j);
    const double w = now(CLOCK_MONOTONIC), s = now(CLOCK_THREAD_CPUTIME_ID);
    if (exchange(c, i * h, h, in, n_in, u, out, n_out, y)) return 4;
    cpu[i] = now(CLOCK_THREAD_CPUTIME_ID) - s, wall[i] = now(CLOCK_MONOTONIC) - w;
  }
  for (int i = 0; i < count; i++) printf("%.0f %.0f\n", wall[i], cpu[i]);
  return 0;
}
