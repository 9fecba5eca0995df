/* two.c - two FMUs of source code in one program: steps both in turn, prints every output at every point.
 * FIRST and SECOND are their model identifiers, <X>_GUID, <X>_COUNT, <X>_OUTPUTS and <X>_INPUT what their descriptions say. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fmi2FunctionTypes.h"

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define DECLARE(model)                                               \
  extern fmi2InstantiateTYPE PASTE(model, _fmi2Instantiate);         \
  extern fmi2SetupExperimentTYPE PASTE(model, _fmi2SetupExperiment); \
  extern fmi2EnterInitializationModeTYPE PASTE(model, _fmi2EnterInitializationMode); \
  extern fmi2ExitInitializationModeTYPE PASTE(model, _fmi2ExitInitializationMode);   \
  extern fmi2SetRealTYPE PASTE(model, _fmi2SetReal);                 \
  extern fmi2GetRealTYPE PASTE(model, _fmi2GetReal);                 \
  extern fmi2DoStepTYPE PASTE(model, _fmi2DoStep);                   \
  extern fmi2TerminateTYPE PASTE(model, _fmi2Terminate);             \
  extern fmi2FreeInstanceTYPE PASTE(model, _fmi2FreeInstance)
DECLARE(FIRST);
DECLARE(SECOND);

static void logger(fmi2ComponentEnvironment e, fmi2String name, fmi2Status s, fmi2String category, fmi2String text, ...) {
  (void)e, (void)s, (void)category;
  fprintf(stderr, "%s: %s\n", name, text);
}
static const fmi2CallbackFunctions callbacks = {logger, calloc, free, NULL, NULL};

#define CHECK(call)                     \
  if ((call) != fmi2OK) {               \
    fprintf(stderr, "%s failed\n", #call); \
    return 1;                           \
  }
#define OPEN(model, c, guid, input)                                                                        \
  fmi2Component c = PASTE(model, _fmi2Instantiate)("it", fmi2CoSimulation, guid, NULL, &callbacks, 0, 0);  \
  if (!c) return 1;                                                                                        \
  CHECK(PASTE(model, _fmi2SetupExperiment)(c, 0, 0.0, 0.0, 0, 0.0))                                        \
  CHECK(PASTE(model, _fmi2EnterInitializationMode)(c))                                                     \
  {                                                                                                        \
    const fmi2ValueReference vr = input;                                                                   \
    const double torque = 0.3;                                                                             \
    CHECK(PASTE(model, _fmi2SetReal)(c, &vr, 1, &torque))                                                  \
  }                                                                                                        \
  CHECK(PASTE(model, _fmi2ExitInitializationMode)(c))
#define STEP(model, c, outputs, count, t)                             \
  {                                                                   \
    double values[count];                                             \
    CHECK(PASTE(model, _fmi2DoStep)(c, t, 0.01, fmi2True))            \
    CHECK(PASTE(model, _fmi2GetReal)(c, outputs, count, values))      \
    for (int i = 0; i < count; i++) printf("%.17g ", values[i]);      \
    printf("\n");                                                     \
  }
#define CLOSE(model, c)                        \
  CHECK(PASTE(model, _fmi2Terminate)(c))       \
  PASTE(model, _fmi2FreeInstance)(c)

int main(void) {
  const fmi2ValueReference first[] = FIRST_OUTPUTS, second[] = SECOND_OUTPUTS;
  OPEN(FIRST, a, FIRST_GUID, FIRST_INPUT)
  OPEN(SECOND, b, SECOND_GUID, SECOND_INPUT)
  for (int i = 0; i < 20; i++) {
    STEP(FIRST, a, first, FIRST_COUNT, 0.01 * i)
    STEP(SECOND, b, second, SECOND_COUNT, 0.01 * i)
  }
  CLOSE(FIRST, a);
  CLOSE(SECOND, b);
  return 0;
}
