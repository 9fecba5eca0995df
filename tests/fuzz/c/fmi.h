/* fmi.h - FMI 2 and FMI 3 under one set of names, for the programs of this folder.
 *
 * FMI_VERSION is 2 or 3; PARTNER is defined for motors and controllers. The environment says which FMU:
 *   BOUGH_RESOURCES  its unpacked 'resources' folder     BOUGH_TOKEN   its guid or instantiation token
 *   BOUGH_STATES     number of continuous states         BOUGH_INPUTS  a character per variable, 1 for an input */
#ifndef FUZZ_FMI_H
#define FUZZ_FMI_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if FMI_VERSION == 2
#include "fmi2Functions.h"
typedef fmi2Component handle;
typedef fmi2Real real;
typedef fmi2Boolean boolean;
typedef fmi2Integer integer;
typedef unsigned reference;
typedef void *snapshot;
#define F(name) fmi2##name
#define STATE(before, after) fmi2##before##FMUstate##after
#else
#include "fmi3Functions.h"
typedef fmi3Instance handle;
typedef double real;
typedef fmi3Boolean boolean;
typedef fmi3Int32 integer;
typedef fmi3ValueReference reference;
typedef fmi3FMUState snapshot;
#define F(name) fmi3##name
#define STATE(before, after) fmi3##before##FMUState##after
#endif

#ifdef PARTNER /* co-simulation only, and fewer variables */
enum { PROBES = 18, KINDS = 1 };
#else
enum { PROBES = 40, KINDS = 2 };
#endif
enum { OK = 0, DISCARD = 2, ERROR = 3 };

static const char *resources, *token, *inputs;
static size_t n_states;
static _Thread_local long messages; /* that have been logged */
static _Thread_local int not_allowed; /* the last one refuses a call in this state */
static _Thread_local char last_message[256];
static int (*want_early)(void); /* whether to ask for an early return now */

/* Damaged numbers may ask for a million internal steps, and rightly get them: FMI 3 lets a host end a step before. */
static int internal_steps;
static int after_some(void) { return ++internal_steps > 200; }

static void fail(const char *what) {
  fprintf(stderr, "fuzz: %s; last message: %s\n", what, last_message);
  abort();
}

static const char *environment(const char *name) {
  const char *value = getenv(name);
  if (!value) fail(name);
  return value;
}
static void read_environment(void) {
  resources = environment("BOUGH_RESOURCES"), token = environment("BOUGH_TOKEN"), inputs = environment("BOUGH_INPUTS");
  n_states = (size_t)atoi(environment("BOUGH_STATES"));
}

static void heard(int status, const char *category, const char *text) {
  if (status < 0 || status > 4 || !category || !*category || !text || !*text) fail("a message is not one");
  if (strstr(text, "(null)")) fail(text);
  not_allowed = strstr(text, "not allowed") != NULL;
  snprintf(last_message, sizeof last_message, "%s", text);
  messages++;
}
#if FMI_VERSION == 2
static void logger(void *host, const char *name, fmi2Status status, const char *category, const char *text, ...) {
  (void)host, (void)name;
  heard((int)status, category, text);
}
static const fmi2CallbackFunctions callbacks = {logger, NULL, NULL, NULL, NULL};
#else
static void logger(void *host, fmi3Status status, const char *category, const char *text) {
  (void)host;
  heard((int)status, category, text);
}
static void update(void *host, double time, bool set, bool get, bool finished, bool can, bool *early, double *early_time) {
  (void)host, (void)set, (void)get, (void)finished;
  *early = can && want_early && want_early();
  *early_time = time;
}
#endif

static handle create(int me, const char *with_token, const char *where, int early) {
#if FMI_VERSION == 2
  (void)early;
  return fmi2Instantiate("it", me ? fmi2ModelExchange : fmi2CoSimulation, with_token, where, &callbacks, fmi2False, fmi2True);
#else
  if (me) return fmi3InstantiateModelExchange("it", with_token, where, false, true, NULL, logger);
  return fmi3InstantiateCoSimulation("it", with_token, where, false, true, false, early != 0, NULL, 0, NULL, logger,
                                     early ? update : NULL);
#endif
}

static int enter(handle it, int tolerance_defined, double tolerance, double start, int stop_defined, double stop) {
#if FMI_VERSION == 2
  const int status = (int)fmi2SetupExperiment(it, tolerance_defined, tolerance, start, stop_defined, stop);
  return status == OK ? (int)fmi2EnterInitializationMode(it) : status;
#else
  return (int)fmi3EnterInitializationMode(it, tolerance_defined != 0, tolerance, start, stop_defined != 0, stop);
#endif
}
static int get_real(handle it, const reference *vr, size_t n, double *x) {
#if FMI_VERSION == 2
  return (int)fmi2GetReal(it, vr, n, x);
#else
  return (int)fmi3GetFloat64(it, vr, n, x, n);
#endif
}
static int set_real(handle it, const reference *vr, size_t n, const double *x) {
#if FMI_VERSION == 2
  return (int)fmi2SetReal(it, vr, n, x);
#else
  return (int)fmi3SetFloat64(it, vr, n, x, n);
#endif
}
static int step(handle it, double time, double h, double *reached) {
#if FMI_VERSION == 2
  const int status = (int)fmi2DoStep(it, time, h, fmi2True);
  *reached = status == OK ? time + h : time;
  return status;
#else
  bool event, terminate, early;
  return (int)fmi3DoStep(it, time, h, true, &event, &terminate, &early, reached);
#endif
}
static int update_discrete(handle it) {
#if FMI_VERSION == 2
  fmi2EventInfo info;
  return (int)fmi2NewDiscreteStates(it, &info);
#else
  bool flag[5];
  double time;
  return (int)fmi3UpdateDiscreteStates(it, flag, flag + 1, flag + 2, flag + 3, flag + 4, &time);
#endif
}

/* ---- what must be possible whatever came before */
static void standard_run(handle it, int me, double *out) {
  reference vr[PROBES];
  double reached = 0.0;
  for (reference i = 0; i < PROBES; i++) vr[i] = i;
  if (enter(it, 0, 0.0, 0.0, 0, 0.0) != OK || F(ExitInitializationMode)(it) != OK) fail("a legal initialization failed");
  if (me) {
    if (update_discrete(it) != OK || F(EnterContinuousTimeMode)(it) != OK) fail("legal event handling failed");
  } else if (step(it, 0.0, 0.01, &reached) != OK || reached != 0.01)
    fail("a legal step failed");
  if (get_real(it, vr, PROBES, out) != OK) fail("getting values failed");
}

static unsigned char *state_of(handle it, size_t *size) {
  snapshot s = NULL;
  if (STATE(Get, )(it, &s) != OK || STATE(Serialized, Size)(it, s, size) != OK) fail("no snapshot");
  unsigned char *bytes = malloc(*size);
  if (STATE(Serialize, )(it, s, (void *)bytes, *size) != OK || STATE(Free, )(it, &s) != OK) fail("no bytes of a snapshot");
  return bytes;
}

static int deserialize(handle it, const unsigned char *bytes, size_t size, snapshot *s) {
#if FMI_VERSION == 2
  return (int)fmi2DeSerializeFMUstate(it, (const char *)bytes, size, s);
#else
  return (int)fmi3DeserializeFMUState(it, bytes, size, s);
#endif
}
static int directional(handle it, const reference *z, size_t nz, const reference *v, size_t nv, const double *seed, double *out) {
#if FMI_VERSION == 2
  return (int)fmi2GetDirectionalDerivative(it, z, nz, v, nv, seed, out);
#else
  return (int)fmi3GetDirectionalDerivative(it, z, nz, v, nv, seed, nv, out, nz);
#endif
}

#endif
