/* fmu_timer.c - a C master around an FMI 2 FMU, side by side with the bare kernel doing the same steps.
 *   fmu_timer LIBRARY RESOURCES GUID BLOCK STEPS ROUNDS IN.. OUT..   (seven value references each)
 * prints the least microseconds per communication step of 1 ms: the FMU with seven inputs set and seven outputs read,
 * the FMU without them, and the kernel alone. Setting and reading includes the accelerations behind the outputs. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bough.h"
#include "fmi2Functions.h"

enum { PORTS = 7 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void quiet(fmi2ComponentEnvironment e, fmi2String n, fmi2Status s, fmi2String c, fmi2String m, ...) {
  (void)e, (void)n, (void)c;
  if (s > fmi2Warning) fprintf(stderr, "%s\n", m);
}
#define FUNCTION(name) name##TYPE *name = (name##TYPE *)dlsym(library, #name)

static double run_fmu(void *library, const char *resources, const char *guid, int steps, int exchange,
                      const fmi2ValueReference *in, const fmi2ValueReference *out) {
  FUNCTION(fmi2Instantiate);
  FUNCTION(fmi2SetupExperiment);
  FUNCTION(fmi2EnterInitializationMode);
  FUNCTION(fmi2ExitInitializationMode);
  FUNCTION(fmi2SetReal);
  FUNCTION(fmi2GetReal);
  FUNCTION(fmi2DoStep);
  FUNCTION(fmi2FreeInstance);
  const fmi2CallbackFunctions callbacks = {quiet, calloc, free, NULL, NULL};
  fmi2Component c = fmi2Instantiate("timer", fmi2CoSimulation, guid, resources, &callbacks, fmi2False, fmi2False);
  if (!c) exit(2);
  double tau[PORTS] = {0}, phi[PORTS];
  fmi2SetupExperiment(c, fmi2False, 0, 0, fmi2False, 0);
  fmi2EnterInitializationMode(c);
  fmi2ExitInitializationMode(c);
  const double began = now();
  for (int i = 0; i < steps; i++) {
    if (exchange) {
      for (int k = 0; k < PORTS; k++) tau[k] = (k < 3 ? 2.0 : 0.2) * sin(6.28 * 1e-3 * i + k); /* held for a step */
      fmi2SetReal(c, in, PORTS, tau);
    }
    if (fmi2DoStep(c, 1e-3 * i, 1e-3, fmi2True) != fmi2OK) exit(3);
    if (exchange) fmi2GetReal(c, out, PORTS, phi);
  }
  const double spent = now() - began;
  fmi2FreeInstance(c);
  return spent / steps;
}

static double run_kernel(const bough_model *model, bough_data *data, const double *q0, const double *u0, int steps) {
  const bough_sim_options options = {BOUGH_DOPRI5, 1e-6, 0.0, 0.0, 0.0, 0};
  bough_sim *sim;
  const bough_sizes sizes = bough_model_sizes(model);
  double *q = malloc(sizeof(double) * (size_t)(sizes.nq + sizes.nu)), *u = q + sizes.nq;
  if (bough_sim_create(model, data, &options, &sim) != BOUGH_OK || bough_sim_start(sim, 0.0, q0, u0) != BOUGH_OK) exit(4);
  const double began = now();
  for (int i = 0; i < steps; i++) {
    const double end = 1e-3 * i + 1e-3;
    bough_sim_disturb(sim);
    while (bough_sim_time(sim) < end)
      if (bough_sim_step(sim, end, NULL, NULL, q, u) != BOUGH_OK) exit(5);
  }
  const double spent = now() - began;
  bough_sim_free(sim);
  free(q);
  return spent / steps;
}

int main(int argc, char **argv) {
  if (argc != 7 + 2 * PORTS) return 1;
  void *library = dlopen(argv[1], RTLD_NOW);
  FILE *file = fopen(argv[4], "rb");
  if (!library || !file) return 1;
  fseek(file, 0, SEEK_END);
  const size_t size = (size_t)ftell(file);
  rewind(file);
  void *block = malloc(size);
  bough_model *model;
  bough_data *data;
  if (fread(block, 1, size, file) != size || bough_model_create(block, size, &model) != BOUGH_OK ||
      bough_data_create(model, BOUGH_LANES_ONE, &data) != BOUGH_OK)
    return 1;
  fmi2ValueReference in[PORTS], out[PORTS];
  for (int k = 0; k < PORTS; k++) in[k] = (unsigned)atoi(argv[7 + k]), out[k] = (unsigned)atoi(argv[7 + PORTS + k]);
  const bough_sizes sizes = bough_model_sizes(model);
  double *zero = calloc((size_t)(sizes.nq + sizes.nu) + 1, sizeof(double));
  const int steps = atoi(argv[5]), rounds = atoi(argv[6]);
  double best[3] = {1e9, 1e9, 1e9};
  for (int r = 0; r < rounds; r++) {
    const double t[3] = {run_fmu(library, argv[2], argv[3], steps, 1, in, out),
                         run_fmu(library, argv[2], argv[3], steps, 0, in, out),
                         run_kernel(model, data, zero, zero, steps)};
    for (int i = 0; i < 3; i++) best[i] = t[i] < best[i] ? t[i] : best[i];
  }
  printf("%.4f %.4f %.4f\n", 1e6 * best[0], 1e6 * best[1], 1e6 * best[2]);
  return 0;
}
