/* calls.c - call sequences, legal and illegal, from bytes: a fuzz target.
 *
 * Linked with the kernel, the common part (or, with -DPARTNER, what partners have) and one adapter, all with
 * AddressSanitizer and UBSan. Every byte string is a sequence of calls on three instances and four snapshots. After every
 * call: the status is one of the standard's, an error has come with a message, and a call that was not allowed has changed
 * nothing. After every sequence, whatever it was, each instance is reset and runs a standard run to the very bits of a
 * fresh instance. */
#include "fmi.h"

enum { INSTANCES = 3, BOXES = 4, MANY = 6, OPERATIONS = 30 };

static const unsigned char *next_byte, *end_byte;
static struct {
  handle it;
  int me, quiet;
  double time;
} slot[INSTANCES];
static snapshot box[BOXES];
static long sequences, calls, refused;
static double reference_run[KINDS][PROBES];

static unsigned take(void) { return next_byte < end_byte ? *next_byte++ : 0; }
static int now_and_then(void) { return (take() & 7) == 1; }

/* ---- bytes to arguments */
static double number(void) {
  static const double some[] = {0.0, 1.0, -1.0, 0.5, 1e-3, 10.0, -0.25, 0.01, 1e300, 1e-300};
  const unsigned b = take();
  if (b >= 250) return b & 1 ? NAN : b & 2 ? INFINITY : -INFINITY;
  return some[b % 10];
}
static reference variable(void) {
  const unsigned b = take();
  return b == 255 ? 0xffffffffu : b == 254 ? 100000u : b;
}
static size_t variables(reference *vr) {
  const size_t n = take() % (MANY + 1);
  for (size_t i = 0; i < n; i++) vr[i] = variable();
  return n;
}
static void numbers(double *x, size_t n) {
  for (size_t i = 0; i < n; i++) x[i] = number();
}

static int values_call(handle it, unsigned way) {
  reference vr[MANY];
  double x[MANY] = {0};
  integer k[MANY];
  boolean b[MANY];
  const size_t n = variables(vr);
  const int null = take() == 7;
  numbers(x, MANY);
  /* A mass of 1e-300 or a speed of 1e300 is no error, only a run of a million years: such numbers are for inputs. */
  for (size_t i = 0; i < n; i++)
    if (vr[i] < strlen(inputs) && inputs[vr[i]] != '1' && (x[i] == 1e300 || x[i] == 1e-300)) x[i] = 2.0;
  for (int i = 0; i < MANY; i++) k[i] = (integer)(take() % 4) - 1, b[i] = (take() & 1) != 0;
  switch (way) {
    case 0: return get_real(it, null ? NULL : vr, n, x);
    case 1: return set_real(it, vr, n, null ? NULL : x);
#if FMI_VERSION == 2
    case 2: return (int)fmi2GetInteger(it, vr, n, null ? NULL : k);
    case 3: return (int)fmi2SetInteger(it, vr, n, k);
    case 4: return (int)fmi2GetBoolean(it, vr, n, b);
    case 5: return (int)fmi2SetBoolean(it, null ? NULL : vr, n, b);
    default: return take() & 1 ? (int)fmi2GetString(it, vr, n, NULL) : (int)fmi2SetString(it, vr, n, NULL);
#else
    case 2: return (int)fmi3GetInt32(it, vr, n, null ? NULL : k, n);
    case 3: return (int)fmi3SetInt32(it, vr, n, k, take() & 1 ? n : MANY);
    case 4: return (int)fmi3GetBoolean(it, vr, n, b, n);
    case 5: return (int)fmi3SetBoolean(it, null ? NULL : vr, n, b, n);
    default: return take() & 1 ? (int)fmi3GetString(it, vr, n, NULL, n) : (int)fmi3SetFloat32(it, vr, n, NULL, n);
#endif
  }
}

static int derivative_call(handle it, unsigned way) {
  reference z[MANY], v[MANY];
  double seed[MANY], out[MANY];
  const size_t nz = variables(z), nv = variables(v);
  numbers(seed, MANY);
  if (way == 0) return directional(it, z, nz, v, nv, seed, out);
#if FMI_VERSION == 2
  integer order[MANY];
  for (int i = 0; i < MANY; i++) order[i] = (integer)(take() % 5);
  if (way == 1) return (int)fmi2SetRealInputDerivatives(it, v, nv, order, seed);
  return (int)fmi2GetRealOutputDerivatives(it, z, nz, order, out);
#else
  integer order[MANY];
  for (int i = 0; i < MANY; i++) order[i] = 1 + (take() == 3);
  if (way == 1) return (int)fmi3GetAdjointDerivative(it, z, nz, v, nv, seed, nz, out, take() == 9 ? nv + 1 : nv);
  return (int)fmi3GetOutputDerivatives(it, z, nz, order, out, nz);
#endif
}

static int states_call(handle it, unsigned way) {
  double *x = calloc(n_states + 1, sizeof(double));
  const size_t n = take() == 5 ? n_states + 1 : n_states;
  int status = ERROR;
  if (way == 0) {
    for (size_t i = 0; i < n_states; i++) x[i] = take() == 200 ? number() : 0.01 * (double)(take() % 50);
    status = (int)F(SetContinuousStates)(it, x, n);
  } else if (way == 1)
    status = (int)F(GetContinuousStates)(it, x, n);
#if FMI_VERSION == 2
  else if (way == 2)
    status = (int)fmi2GetDerivatives(it, x, n);
#else
  else if (way == 2)
    status = (int)fmi3GetContinuousStateDerivatives(it, x, n);
#endif
  else
    status = take() & 1 ? (int)F(GetNominalsOfContinuousStates)(it, x, n) : (int)F(GetEventIndicators)(it, x, take() & 1);
  free(x);
  return status;
}

static int box_call(handle it, unsigned way) {
  snapshot *s = box + take() % BOXES;
  size_t size = 0;
  if (way == 0) return (int)STATE(Get, )(it, s);
  if (way == 1) return (int)STATE(Set, )(it, *s);
  if (way == 2) return (int)STATE(Free, )(it, s);
  if (!*s || STATE(Serialized, Size)(it, *s, &size) != OK) return ERROR + 10; /* nothing called, or not allowed */
  unsigned char *bytes = malloc(size + 1);
  int status = (int)STATE(Serialize, )(it, *s, (void *)bytes, size - (take() == 1));
  if (status == OK) {
    if (take() & 1) bytes[(take() * 256 + take()) % size] ^= (unsigned char)(1u << (take() % 8));
    const size_t given = take() == 2 ? size / 2 : size;
    snapshot read = (snapshot)(uintptr_t)0x5a5a5a5a; /* whatever a host's handle held before, nobody looks at it */
    status = deserialize(it, bytes, given, &read);
    if (status == OK) {
      STATE(Free, )(it, s);
      *s = read;
    }
  }
  free(bytes);
  return status;
}

static int other_call(handle it, unsigned way) {
#if FMI_VERSION == 2
  fmi2Status status;
  fmi2Real x;
  fmi2Integer k;
  fmi2Boolean b;
  fmi2String s;
  const fmi2StatusKind kind = (fmi2StatusKind)(take() % 5);
  switch (way) {
    case 0: return (int)fmi2GetStatus(it, kind, &status);
    case 1: return (int)fmi2GetRealStatus(it, kind, &x);
    case 2: return (int)fmi2GetIntegerStatus(it, kind, &k);
    case 3: return (int)fmi2GetBooleanStatus(it, kind, &b);
    case 4: return (int)fmi2GetStringStatus(it, kind, &s);
    default: return (int)fmi2CancelStep(it);
  }
#else
  size_t n;
  switch (way) {
    case 0: return (int)fmi3EnterConfigurationMode(it);
    case 1: return (int)fmi3EnterStepMode(it);
    case 2: return (int)fmi3GetNumberOfContinuousStates(it, take() & 1 ? &n : NULL);
    case 3: return (int)fmi3EvaluateDiscreteStates(it);
    case 4: return (int)fmi3GetNumberOfVariableDependencies(it, variable(), &n);
    default: return (int)fmi3ActivateModelPartition(it, variable(), number());
  }
#endif
}

static int logging_call(int i) {
  static const char *const names[] = {"logStatusError", "logEvents", "logAll", "nonsense"};
  const char *wanted[2];
  wanted[0] = names[take() % 4], wanted[1] = take() == 1 ? NULL : names[take() % 4];
  const unsigned n = take() % 3;
  slot[i].quiet = 1; /* from now on errors may be silent */
  return (int)F(SetDebugLogging)(slot[i].it, (take() & 3) != 0, n, n ? wanted : NULL);
}

static int life_call(int i, unsigned op) {
  handle it = slot[i].it;
  boolean enter_event, terminate;
  switch (op) {
    case 0: {
      const double start = (double)(take() % 3);
      slot[i].time = start;
      return take() == 9 ? enter(it, 1, number(), number(), 1, number())
                         : enter(it, 0, 0.0, start, take() & 1, start + 0.05);
    }
    case 1: return (int)F(ExitInitializationMode)(it);
    case 2: return (int)F(Terminate)(it);
    case 3: return (int)F(Reset)(it);
    case 4: return (int)F(EnterEventMode)(it);
    case 5: return update_discrete(it);
    case 6: return (int)F(EnterContinuousTimeMode)(it);
    case 7: return (int)F(CompletedIntegratorStep)(it, 1, take() == 1 ? NULL : &enter_event, &terminate);
    default: return (int)F(SetTime)(it, number());
  }
}

static int step_call(int i) {
  static const double sizes[] = {0.001, 0.01, 0.02, 0.005, 0.0, -1.0, 1e-300, 0.01};
  const double h = take() == 250 ? number() > 0 ? NAN : -INFINITY : sizes[take() % 8];
  const double time = take() == 251 ? number() : slot[i].time;
  double reached = time;
  const int status = step(slot[i].it, time, h, &reached);
  if (status == OK || status == DISCARD) slot[i].time = reached;
  return status;
}

static void create_call(int i) {
  const unsigned how = take();
  if (slot[i].it) F(FreeInstance)(slot[i].it);
  slot[i].me = (int)(how >> 1) % KINDS, slot[i].quiet = 0, slot[i].time = 0.0;
  slot[i].it = create(slot[i].me, how == 77 ? "other" : how == 78 ? NULL : token,
                      how == 79 ? "/nowhere" : how == 80 ? NULL : resources, (int)(how & 1));
  if (!slot[i].it && how != 77 && how != 78 && how != 79 && how != 80) fail("no instance");
}

static int one_call(int i, unsigned op) {
  handle it = slot[i].it;
  if (op < 4) return step_call(i);
  if (op < 13) return life_call(i, op - 4);
  if (op < 20) return values_call(it, op - 13);
  if (op < 23) return derivative_call(it, op - 20);
  if (op < 24) return states_call(it, take() % 4);
  if (op < 26) return box_call(it, take() % 4);
  if (op < 27) return other_call(it, take() % 6);
  if (op < 28) return logging_call(i);
  (void)enter(it, 0, 0.0, 0.0, 0, 0.0); /* forward, however far it goes */
  slot[i].time = 0.0;
  (void)F(ExitInitializationMode)(it), (void)update_discrete(it);
  return (int)F(EnterContinuousTimeMode)(it);
}

static void sequence(const unsigned char *bytes, size_t size) {
  next_byte = bytes, end_byte = bytes + size;
  while (next_byte < end_byte) {
    const unsigned b = take(), op = b % OPERATIONS;
    const int i = (int)(b / OPERATIONS) % INSTANCES;
    if (!slot[i].it || op == OPERATIONS - 1) {
      create_call(i);
      continue;
    }
    size_t before_size, after_size;
    unsigned char *before = state_of(slot[i].it, &before_size);
    const long told = messages;
    not_allowed = 0;
    const int status = one_call(i, op), refusal = not_allowed;
    calls++;
    if (status != ERROR + 10 && (status < OK || status > ERROR)) fail("not a status");
    if (status == ERROR && !slot[i].quiet && messages == told) fail("an error without a message");
    if (status == ERROR && refusal && messages == told + 1) {
      unsigned char *after = state_of(slot[i].it, &after_size);
      if (before_size != after_size || memcmp(before, after, after_size) != 0) fail("a refused call changed the instance");
      free(after);
      refused++;
    }
    free(before);
  }
  for (int i = 0; i < INSTANCES; i++) {
    double out[PROBES];
    if (!slot[i].it) continue;
    if (F(Reset)(slot[i].it) != OK) fail("reset failed");
    standard_run(slot[i].it, slot[i].me, out);
    if (memcmp(out, reference_run[slot[i].me], sizeof out) != 0) fail("a reset instance runs differently");
    for (int b = 0; b < BOXES; b++) (void)STATE(Free, )(slot[i].it, box + b);
    F(FreeInstance)(slot[i].it);
    slot[i].it = NULL;
  }
}

static void summary(void) {
  fprintf(stderr, "%ld sequences, %ld calls, %ld refused\n", sequences, calls, refused);
}

int LLVMFuzzerInitialize(int *count, char ***argument) {
  (void)count, (void)argument;
  read_environment();
  want_early = now_and_then;
  for (int me = 0; me < KINDS; me++) {
    handle it = create(me, token, resources, 0);
    if (!it) fail("no instance");
    standard_run(it, me, reference_run[me]);
    F(FreeInstance)(it);
  }
  atexit(summary);
  return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  sequence(bytes, size);
  sequences++;
  return 0;
}
