/* host.c - the smallest master: loads the FMU library beside it, runs it for a second, prints numbers as bits.
 *
 * In the environment: FMU_LIBRARY, FMU_TOKEN, FMU_LOCATION, and as value references parted by blanks
 * FMU_NUMBERS (an input, the solver's method, its step) and FMU_OUTPUTS. A location that is no URI may be percent-encoded
 * all the same: it is decoded here, because the environment of Windows loses what is not in its code page. The outputs come twice: with rk4 and with dopri5. Compiled for Linux (x86-64, aarch64) and Windows, for FMI 2 and for FMI 3. On Windows nothing but kernel32.dll
 * and ucrtbase.dll is linked, and nothing of their headers used. */
#include <stddef.h>

#ifdef _WIN32
__declspec(dllimport) void *LoadLibraryA(const char *name);
__declspec(dllimport) void *GetProcAddress(void *library, const char *name);
__declspec(dllimport) void ExitProcess(unsigned code);
__declspec(dllimport) char *getenv(const char *name);
__declspec(dllimport) int puts(const char *text);
int _fltused = 0;
static void *load(const char *name) { return LoadLibraryA(name); }
static void *find(void *library, const char *name) { return GetProcAddress(library, name); }
#else
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static void *load(const char *name) { return dlopen(name, RTLD_NOW); }
static void *find(void *library, const char *name) { return dlsym(library, name); }
#endif

#include "fmi2FunctionTypes.h"
#include "fmi3FunctionTypes.h"

enum { MOST = 200, STEPS = 100 };
static unsigned outputs[MOST];
static size_t n_outputs;
static void *library;

static void print_bits(double x) {
  char text[17];
  unsigned long long bits;
  const unsigned char *from = (const unsigned char *)&x;
  unsigned char *to = (unsigned char *)&bits;
  for (size_t i = 0; i < sizeof bits; i++) to[i] = from[i];
  for (int i = 0; i < 16; i++) text[i] = "0123456789abcdef"[(bits >> (60 - 4 * i)) & 15];
  text[16] = 0;
  puts(text);
}

static void log2_out(void *environment, const char *name, fmi2Status status, const char *category, const char *text, ...) {
  (void)environment, (void)name, (void)category;
  if (status > fmi2Warning) puts(text);
}
static void log3_out(void *environment, fmi3Status status, const char *category, const char *text) {
  (void)environment, (void)category;
  if (status > fmi3Warning) puts(text);
}

static unsigned read_number(const char **text) {
  unsigned n = 0;
  while (**text == ' ') ++*text;
  while (**text >= '0' && **text <= '9') n = 10 * n + (unsigned)(*(*text)++ - '0');
  return n;
}

static unsigned input, method, step_size;

static int hex(char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

static const char *decoded(const char *from) {
  static char text[4096];
  size_t n = 0;
  while (*from && n + 1 < sizeof text) {
    if (*from == '%')
      text[n++] = (char)(16 * hex(from[1]) + hex(from[2])), from += 3;
    else
      text[n++] = *from++;
  }
  text[n] = 0;
  return text;
}

static int run2(const char *token, const char *location, int solver) {
  const fmi2CallbackFunctions callbacks = {log2_out, NULL, NULL, NULL, NULL};
  double x[MOST], torque = 0.3, small = 1e-4;
  fmi2InstantiateTYPE *create = (fmi2InstantiateTYPE *)find(library, "fmi2Instantiate");
  if (!create) return 10;
  void *it = create("it", fmi2CoSimulation, token, location, &callbacks, 0, 0);
  if (!it) return 11;
  if (((fmi2SetRealTYPE *)find(library, "fmi2SetReal"))(it, &input, 1, &torque) ||
      ((fmi2SetRealTYPE *)find(library, "fmi2SetReal"))(it, &step_size, 1, &small) ||
      ((fmi2SetIntegerTYPE *)find(library, "fmi2SetInteger"))(it, &method, 1, &solver) ||
      ((fmi2SetupExperimentTYPE *)find(library, "fmi2SetupExperiment"))(it, 1, 1e-10, 0.0, 0, 0.0) ||
      ((fmi2EnterInitializationModeTYPE *)find(library, "fmi2EnterInitializationMode"))(it) ||
      ((fmi2ExitInitializationModeTYPE *)find(library, "fmi2ExitInitializationMode"))(it))
    return 12;
  for (int i = 0; i < STEPS; i++)
    if (((fmi2DoStepTYPE *)find(library, "fmi2DoStep"))(it, i * (1.0 / STEPS), 1.0 / STEPS, 1)) return 13;
  if (((fmi2GetRealTYPE *)find(library, "fmi2GetReal"))(it, outputs, n_outputs, x)) return 14;
  for (size_t i = 0; i < n_outputs; i++) print_bits(x[i]);
  ((fmi2FreeInstanceTYPE *)find(library, "fmi2FreeInstance"))(it);
  return 0;
}

static int run3(const char *token, const char *location, int solver) {
  double x[MOST], torque = 0.3, small = 1e-4, reached;
  fmi3Boolean event, terminate, early;
  fmi3InstantiateCoSimulationTYPE *create = (fmi3InstantiateCoSimulationTYPE *)find(library, "fmi3InstantiateCoSimulation");
  if (!create) return 20;
  void *it = create("it", token, decoded(location), 0, 0, 0, 0, NULL, 0, NULL, log3_out, NULL);
  if (!it) return 21;
  if (((fmi3SetFloat64TYPE *)find(library, "fmi3SetFloat64"))(it, &input, 1, &torque, 1) ||
      ((fmi3SetFloat64TYPE *)find(library, "fmi3SetFloat64"))(it, &step_size, 1, &small, 1) ||
      ((fmi3SetInt32TYPE *)find(library, "fmi3SetInt32"))(it, &method, 1, &solver, 1) ||
      ((fmi3EnterInitializationModeTYPE *)find(library, "fmi3EnterInitializationMode"))(it, 1, 1e-10, 0.0, 0, 0.0) ||
      ((fmi3ExitInitializationModeTYPE *)find(library, "fmi3ExitInitializationMode"))(it))
    return 22;
  for (int i = 0; i < STEPS; i++)
    if (((fmi3DoStepTYPE *)find(library, "fmi3DoStep"))(it, i * (1.0 / STEPS), 1.0 / STEPS, 1, &event, &terminate, &early,
                                                        &reached))
      return 23;
  if (((fmi3GetFloat64TYPE *)find(library, "fmi3GetFloat64"))(it, outputs, n_outputs, x, n_outputs)) return 24;
  for (size_t i = 0; i < n_outputs; i++) print_bits(x[i]);
  ((fmi3FreeInstanceTYPE *)find(library, "fmi3FreeInstance"))(it);
  return 0;
}

static int run(void) {
  const char *name = getenv("FMU_LIBRARY"), *token = getenv("FMU_TOKEN"), *location = getenv("FMU_LOCATION");
  const char *numbers = getenv("FMU_NUMBERS"), *wanted = getenv("FMU_OUTPUTS");
  if (!name || !token || !location || !numbers || !wanted) return 2;
  input = read_number(&numbers), method = read_number(&numbers), step_size = read_number(&numbers);
  library = load(name);
  if (!library) return 3;
  while (*wanted && n_outputs < MOST) outputs[n_outputs++] = read_number(&wanted);
  int (*one)(const char *, const char *, int) = find(library, "fmi2Instantiate") ? run2 : run3;
  const int status = one(token, location, 0);
  return status ? status : one(token, location, 1);
}

#ifdef _WIN32
void start(void);
void start(void) { ExitProcess((unsigned)run()); }
#else
int main(void) { return run(); }
#endif
