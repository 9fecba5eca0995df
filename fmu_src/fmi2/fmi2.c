/* fmi2.c - FMI 2.0 for Co-Simulation and Model Exchange: a thin adapter over bough_instance_src/common. */
#include <stdlib.h>
#include <string.h>

#include "fmi2Functions.h"
#include "fmu.h"

typedef struct {
  bough_instance *f;
  fmi2CallbackFunctions callbacks;
  char *name; /* of the instance, for messages */
  double last_time; /* where the last step got to */
} component;

/* `#` and `%` mean something in FMI 2 messages: doubled, they stand for themselves. */
static void log_out(void *host, bough_instance_status status, const char *category, const char *text) {
  const component *c = host;
  char escaped[4096];
  size_t n = 0;
  if (!c->callbacks.logger) return;
  for (; *text && n + 3 < sizeof escaped; text++) {
    if (*text == '%' || *text == '#') escaped[n++] = *text;
    escaped[n++] = *text;
  }
  escaped[n] = 0;
  c->callbacks.logger(c->callbacks.componentEnvironment, c->name, (fmi2Status)status, category, escaped);
}

/* the instance, if the call is allowed now */
static bough_instance *enter(fmi2Component handle, bough_call call, const char *function) {
  component *c = handle;
  return c && bough_instance_allowed(c->f, call, function) ? c->f : NULL;
}
#define ENTER(call)                                        \
  bough_instance *f = enter(c, call, __func__);              \
  if (!f) return fmi2Error

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String location,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging) {
  (void)visible;
  const size_t length = name ? strlen(name) : 0;
  component *c = calloc(1, sizeof *c);
  char *copy = c ? calloc(length + 1, 1) : NULL;
  if (!copy) {
    free(c);
    if (functions && functions->logger)
      functions->logger(functions->componentEnvironment, name ? name : "", fmi2Error, "logStatusError", BOUGH_NO_INSTANCE);
    return NULL;
  }
  if (functions) c->callbacks = *functions;
  if (length) memcpy(copy, name, length);
  c->name = copy;
  c->f = fmu_instantiate(guid ? guid : "", location, type == fmi2CoSimulation,
                         logging ? LOG_DEFAULT | LOG_EVENTS : LOG_DEFAULT, log_out, c);
  if (c->f) return c;
  fmi2FreeInstance(c);
  return NULL;
}

void fmi2FreeInstance(fmi2Component c) {
  if (!c) return;
  bough_instance_free(((component *)c)->f);
  free(((component *)c)->name);
  free(c);
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t count, const fmi2String categories[]) {
  ENTER(CALL_SET_DEBUG);
  return (fmi2Status)bough_instance_set_logging(f, on, count, categories);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean stop_defined, fmi2Real stop) {
  ENTER(CALL_SETUP);
  return (fmi2Status)bough_instance_setup(f, start, tolerance_defined, tolerance, stop_defined, stop);
}
fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
  ENTER(CALL_ENTER_INITIALIZATION);
  return (fmi2Status)bough_instance_enter_initialization(f);
}
fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
  ENTER(CALL_EXIT_INITIALIZATION);
  ((component *)c)->last_time = bough_instance_time(f);
  return (fmi2Status)bough_instance_exit_initialization(f);
}
fmi2Status fmi2Terminate(fmi2Component c) {
  ENTER(CALL_TERMINATE);
  return (fmi2Status)bough_instance_terminate(f);
}
fmi2Status fmi2Reset(fmi2Component c) {
  ENTER(CALL_RESET);
  return (fmi2Status)bough_instance_reset(f);
}

/* ---- variables */
static fmi2Status worse(fmi2Status a, bough_instance_status b) { return (fmi2Status)b > a ? (fmi2Status)b : a; }
typedef bough_instance_status (*set_fn)(bough_instance *, const bough_variable *, const double *);
static const set_fn check_then_set[] = {bough_instance_check, bough_instance_set}; /* all are checked before the first is set */

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Real value[]) {
  ENTER(CALL_GET);
  if (bough_instance_missing(f, vr, count) || bough_instance_missing(f, value, count)) return fmi2Error;
  for (size_t i = 0; i < count; i++) {
    const bough_variable *v = bough_instance_find(f, vr[i], TYPE_REAL);
    const bough_instance_status status = v ? bough_instance_get(f, v, value + i) : INSTANCE_ERROR;
    if (status != INSTANCE_OK) return (fmi2Status)status;
  }
  return fmi2OK;
}
/* integers and booleans are both int in FMI 2 */
static fmi2Status get_int(bough_instance *f, bough_type type, const fmi2ValueReference vr[], size_t count, int value[]) {
  if (bough_instance_missing(f, vr, count) || bough_instance_missing(f, value, count)) return fmi2Error;
  for (size_t i = 0; i < count; i++) {
    double x = 0.0;
    const bough_variable *v = bough_instance_find(f, vr[i], type);
    const bough_instance_status status = v ? bough_instance_get(f, v, &x) : INSTANCE_ERROR;
    if (status != INSTANCE_OK) return (fmi2Status)status;
    value[i] = (int)x;
  }
  return fmi2OK;
}
static fmi2Status set_int(bough_instance *f, bough_type type, const fmi2ValueReference vr[], size_t count, const int value[]) {
  fmi2Status worst = fmi2OK;
  if (bough_instance_missing(f, vr, count) || bough_instance_missing(f, value, count)) return fmi2Error;
  for (int pass = 0; pass < 2 && worst == fmi2OK; pass++)
    for (size_t i = 0; i < count; i++) {
      const double x = type == TYPE_BOOLEAN ? value[i] != 0 : value[i];
      const bough_variable *v = bough_instance_find(f, vr[i], type);
      worst = worse(worst, v ? check_then_set[pass](f, v, &x) : INSTANCE_ERROR);
    }
  return worst;
}
fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Integer value[]) {
  ENTER(CALL_GET);
  return get_int(f, TYPE_INTEGER, vr, count, value);
}
fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Boolean value[]) {
  ENTER(CALL_GET);
  return get_int(f, TYPE_BOOLEAN, vr, count, value);
}
static fmi2Status no_strings(bough_instance *f, const char *function, size_t count) {
  if (count == 0) return fmi2OK;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: the model has no string variables", function);
  return fmi2Error;
}
fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2String value[]) {
  ENTER(CALL_GET);
  (void)vr, (void)value;
  return no_strings(f, __func__, count);
}
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Real value[]) {
  ENTER(CALL_SET);
  fmi2Status worst = fmi2OK;
  if (bough_instance_missing(f, vr, count) || bough_instance_missing(f, value, count)) return fmi2Error;
  for (int pass = 0; pass < 2 && worst == fmi2OK; pass++)
    for (size_t i = 0; i < count; i++) {
      const bough_variable *v = bough_instance_find(f, vr[i], TYPE_REAL);
      worst = worse(worst, v ? check_then_set[pass](f, v, value + i) : INSTANCE_ERROR);
    }
  return worst;
}
fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Integer value[]) {
  ENTER(CALL_SET);
  return set_int(f, TYPE_INTEGER, vr, count, value);
}
fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Boolean value[]) {
  ENTER(CALL_SET);
  return set_int(f, TYPE_BOOLEAN, vr, count, value);
}
fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2String value[]) {
  ENTER(CALL_SET);
  (void)vr, (void)value;
  return no_strings(f, __func__, count);
}

/* ---- state */
fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) {
  ENTER(CALL_STATE);
  return (fmi2Status)bough_instance_state_get(f, state);
}
fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
  ENTER(CALL_STATE);
  const bough_instance_status status = bough_instance_state_set(f, state);
  ((component *)c)->last_time = bough_instance_time(f);
  return (fmi2Status)status;
}
fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
  ENTER(CALL_STATE);
  (void)f;
  return (fmi2Status)bough_instance_state_free(state);
}
fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
  ENTER(CALL_STATE);
  return (fmi2Status)bough_instance_state_size(f, state, size);
}
fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte out[], size_t size) {
  ENTER(CALL_STATE);
  return (fmi2Status)bough_instance_state_write(f, state, out, size);
}
fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte in[], size_t size, fmi2FMUstate *state) {
  ENTER(CALL_STATE);
  return (fmi2Status)bough_instance_state_read(f, in, size, state);
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t n_unknown,
                                        const fmi2ValueReference known[], size_t n_known, const fmi2Real dknown[],
                                        fmi2Real dunknown[]) {
  ENTER(CALL_DERIVATIVE);
  if (bough_instance_missing(f, unknown, n_unknown) || bough_instance_missing(f, known, n_known) || bough_instance_missing(f, dknown, n_known) || bough_instance_missing(f, dunknown, n_unknown))
    return fmi2Error;
  return (fmi2Status)bough_instance_directional(f, unknown, n_unknown, known, n_known, dknown, dunknown);
}

/* ---- Model Exchange */
fmi2Status fmi2EnterEventMode(fmi2Component c) {
  ENTER(CALL_ENTER_EVENT);
  return (fmi2Status)bough_instance_enter_event(f);
}
fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
  ENTER(CALL_NEW_STATES);
  if (bough_instance_missing(f, info, 1)) return fmi2Error;
  int jumped = 0;
  const bough_instance_status status = bough_instance_update(f, &jumped);
  memset(info, 0, sizeof *info);
  info->valuesOfContinuousStatesChanged = jumped ? fmi2True : fmi2False;
  info->nextEventTimeDefined = bough_instance_next_event(f, &info->nextEventTime) ? fmi2True : fmi2False;
  return (fmi2Status)status;
}
fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
  ENTER(CALL_ENTER_CONTINUOUS);
  return (fmi2Status)bough_instance_enter_continuous(f);
}
fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_set_before, fmi2Boolean *enter_event,
                                       fmi2Boolean *terminate) {
  ENTER(CALL_COMPLETED_STEP);
  (void)no_set_before;
  if (bough_instance_missing(f, enter_event, 1) || bough_instance_missing(f, terminate, 1)) return fmi2Error;
  int event = 0;
  const bough_instance_status status = bough_instance_completed_step(f, &event);
  *enter_event = event ? fmi2True : fmi2False;
  *terminate = fmi2False;
  return (fmi2Status)status;
}
fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) {
  ENTER(CALL_SET_TIME);
  return (fmi2Status)bough_instance_set_time(f, time);
}
fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t count) {
  ENTER(CALL_SET_CONTINUOUS);
  return (fmi2Status)bough_instance_set_states(f, x, count);
}
fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t count) {
  ENTER(CALL_GET_DERIVATIVES);
  return (fmi2Status)bough_instance_get_rates(f, derivatives, count);
}
fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real indicators[], size_t count) {
  ENTER(CALL_GET_DERIVATIVES);
  if (bough_instance_missing(f, indicators, count)) return fmi2Error;
  return (fmi2Status)bough_instance_indicators(f, indicators, count);
}
fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t count) {
  ENTER(CALL_GET_CONTINUOUS);
  return (fmi2Status)bough_instance_get_states(f, x, count);
}
fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t count) {
  ENTER(CALL_GET_NOMINALS);
  return (fmi2Status)bough_instance_get_nominals(f, nominals, count);
}

/* ---- Co-Simulation */
fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                       const fmi2Integer order[], const fmi2Real value[]) {
  ENTER(CALL_INPUT_DERIVATIVE);
  fmi2Status worst = fmi2OK;
  if (bough_instance_missing(f, vr, count) || bough_instance_missing(f, order, count) || bough_instance_missing(f, value, count)) return fmi2Error;
  for (size_t i = 0; i < count; i++) {
    const bough_variable *v = bough_instance_find(f, vr[i], TYPE_REAL);
    worst = worse(worst, v ? bough_instance_input_derivative(f, v, order[i], value + i) : INSTANCE_ERROR);
  }
  return worst;
}
fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                        const fmi2Integer order[], fmi2Real value[]) {
  ENTER(CALL_OUTPUT_DERIVATIVE);
  if (bough_instance_missing(f, vr, count) || bough_instance_missing(f, order, count) || bough_instance_missing(f, value, count)) return fmi2Error;
  for (size_t i = 0; i < count; i++)
    if (order[i] < 1) {
      bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: derivative %d of an output; orders count from 1", __func__, order[i]);
      return fmi2Error;
    }
  const bough_instance_status status = bough_instance_output_rates(f, vr, count, value);
  for (size_t i = 0; i < count && status == INSTANCE_OK; i++)
    if (order[i] > 1) value[i] = 0.0; /* as the standard has it for orders that an FMU does not know */
  return (fmi2Status)status;
}
fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean no_set_before) {
  ENTER(CALL_STEP);
  (void)no_set_before;
  return (fmi2Status)bough_instance_step(f, time, step, NULL, NULL, &((component *)c)->last_time);
}
fmi2Status fmi2CancelStep(fmi2Component c) {
  ENTER(CALL_STEP_STATUS);
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: steps are finished when fmi2DoStep returns: there is none to cancel", __func__);
  return fmi2Error;
}
fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value) {
  ENTER(CALL_STEP_STATUS);
  if (bough_instance_missing(f, value, 1)) return fmi2Error;
  if (kind != fmi2DoStepStatus) return fmi2Discard;
  *value = bough_instance_state(f) == AT_FAILED ? fmi2Discard : fmi2OK;
  return fmi2OK;
}
fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value) {
  ENTER(CALL_STEP_STATUS);
  if (bough_instance_missing(f, value, 1)) return fmi2Error;
  if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
  *value = ((component *)c)->last_time;
  return fmi2OK;
}
fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value) {
  ENTER(CALL_STEP_STATUS);
  (void)f, (void)kind, (void)value;
  return fmi2Discard;
}
fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value) {
  ENTER(CALL_STEP_STATUS);
  if (bough_instance_missing(f, value, 1)) return fmi2Error;
  if (kind != fmi2Terminated) return fmi2Discard;
  *value = fmi2False;
  return fmi2OK;
}
fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value) {
  ENTER(CALL_STEP_STATUS);
  if (bough_instance_missing(f, value, 1)) return fmi2Error;
  if (kind != fmi2PendingStatus) return fmi2Discard;
  *value = "";
  return fmi2OK;
}
