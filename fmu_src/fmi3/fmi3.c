/* fmi3.c - FMI 3.0 for Co-Simulation and Model Exchange: a thin adapter over bough_instance_src/common. */
#include <stdlib.h>
#include <string.h>

#include "fmi3Functions.h"
#include "fmu.h"

typedef struct {
  bough_instance *f;
  fmi3InstanceEnvironment environment;
  fmi3LogMessageCallback log;
  fmi3IntermediateUpdateCallback update;
  int early_allowed;
  int64_t events; /* that had come when the step began */
} component;

static void log_out(void *host, bough_instance_status status, const char *category, const char *text) {
  const component *c = host;
  if (c->log) c->log(c->environment, (fmi3Status)status, category, text);
}

static bough_instance *enter(fmi3Instance handle, bough_call call, const char *function) {
  component *c = handle;
  return c && bough_instance_allowed(c->f, call, function) ? c->f : NULL;
}
#define ENTER(call)                                 \
  bough_instance *f = enter(c, call, __func__);       \
  if (!f) return fmi3Error

const char *fmi3GetVersion(void) { return fmi3Version; }

static component *instantiate(fmi3String token, fmi3String path, int cosimulation, fmi3Boolean logging,
                              fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
  component *c = calloc(1, sizeof *c);
  if (!c) {
    if (log) log(environment, fmi3Error, "logStatusError", BOUGH_NO_INSTANCE);
    return NULL;
  }
  c->environment = environment, c->log = log;
  c->f = fmu_instantiate(token ? token : "", path, cosimulation,
                    logging ? LOG_DEFAULT | LOG_EVENTS : LOG_DEFAULT, log_out, c);
  if (c->f) return c;
  free(c);
  return NULL;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String path, fmi3Boolean visible,
                                          fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback log) {
  (void)name, (void)visible;
  return instantiate(token, path, 0, logging, environment, log);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String path, fmi3Boolean visible,
                                         fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return,
                                         const fmi3ValueReference intermediate[], size_t n_intermediate,
                                         fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                         fmi3IntermediateUpdateCallback update) {
  (void)name, (void)visible, (void)intermediate, (void)n_intermediate;
  component *c = instantiate(token, path, event_mode ? 2 : 1, logging, environment, log);
  if (c) c->update = update, c->early_allowed = early_return;
  return c;
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String path, fmi3Boolean visible,
                                               fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                               fmi3LogMessageCallback log, fmi3ClockUpdateCallback clock,
                                               fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock) {
  (void)name, (void)token, (void)path, (void)visible, (void)logging, (void)clock, (void)lock, (void)unlock;
  if (log) log(environment, fmi3Error, "logStatusError", "fmi3InstantiateScheduledExecution: this FMU offers co-simulation "
               "and model exchange, not scheduled execution.");
  return NULL;
}

void fmi3FreeInstance(fmi3Instance c) {
  if (!c) return;
  bough_instance_free(((component *)c)->f);
  free(c);
}

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t count, const fmi3String categories[]) {
  ENTER(CALL_SET_DEBUG);
  return (fmi3Status)bough_instance_set_logging(f, on, count, categories);
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean tolerance_defined, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean stop_defined, fmi3Float64 stop) {
  ENTER(CALL_ENTER_INITIALIZATION);
  const bough_instance_status status = bough_instance_setup(f, start, tolerance_defined, tolerance, stop_defined, stop);
  return status == INSTANCE_OK ? (fmi3Status)bough_instance_enter_initialization(f) : (fmi3Status)status;
}
fmi3Status fmi3ExitInitializationMode(fmi3Instance c) {
  ENTER(CALL_EXIT_INITIALIZATION);
  return (fmi3Status)bough_instance_exit_initialization(f);
}
fmi3Status fmi3EnterEventMode(fmi3Instance c) {
  ENTER(CALL_ENTER_EVENT);
  return (fmi3Status)bough_instance_enter_event(f);
}
fmi3Status fmi3Terminate(fmi3Instance c) {
  ENTER(CALL_TERMINATE);
  return (fmi3Status)bough_instance_terminate(f);
}
fmi3Status fmi3Reset(fmi3Instance c) {
  ENTER(CALL_RESET);
  return (fmi3Status)bough_instance_reset(f);
}

/* ---- variables */
/* does the number of values agree with the variables asked for? */
static int wrong_count(bough_instance *f, size_t used, size_t given) {
  if (used == given) return 0;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: the variables have %lu values, but %lu are given", bough_instance_function(f), (unsigned long)used,
          (unsigned long)given);
  return 1;
}
/* sum of the variables' sizes; -1 (as size_t) if one is wrong */
static size_t total(bough_instance *f, bough_type type, const fmi3ValueReference vr[], size_t count) {
  size_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    const bough_variable *v = bough_instance_find(f, vr[i], type);
    if (!v) return (size_t)-1;
    sum += (size_t)v->count;
  }
  return sum;
}
static int bad_call(bough_instance *f, bough_type type, const fmi3ValueReference vr[], size_t count, const void *values, size_t n) {
  if (bough_instance_missing(f, vr, count) || bough_instance_missing(f, values, n)) return 1;
  const size_t sum = total(f, type, vr, count);
  return sum == (size_t)-1 || wrong_count(f, sum, n);
}

static fmi3Status worse(fmi3Status a, bough_instance_status b) { return (fmi3Status)b > a ? (fmi3Status)b : a; }
typedef bough_instance_status (*set_fn)(bough_instance *, const bough_variable *, const double *);
static const set_fn check_then_set[] = {bough_instance_check, bough_instance_set}; /* all are checked before the first is set */

fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Float64 values[], size_t n) {
  ENTER(CALL_GET);
  if (bad_call(f, TYPE_REAL, vr, count, values, n)) return fmi3Error;
  for (size_t i = 0; i < count; i++) {
    const bough_variable *v = bough_instance_find(f, vr[i], TYPE_REAL);
    const bough_instance_status status = bough_instance_get(f, v, values);
    if (status != INSTANCE_OK) return (fmi3Status)status;
    values += v->count;
  }
  return fmi3OK;
}
fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Float64 values[], size_t n) {
  ENTER(CALL_SET);
  if (bad_call(f, TYPE_REAL, vr, count, values, n)) return fmi3Error;
  fmi3Status worst = fmi3OK;
  for (int pass = 0; pass < 2 && worst == fmi3OK; pass++) {
    const fmi3Float64 *value = values;
    for (size_t i = 0; i < count; i++) {
      const bough_variable *v = bough_instance_find(f, vr[i], TYPE_REAL);
      worst = worse(worst, check_then_set[pass](f, v, value));
      value += v->count;
    }
  }
  return worst;
}
fmi3Status fmi3GetInt32(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Int32 values[], size_t n) {
  ENTER(CALL_GET);
  if (bad_call(f, TYPE_INTEGER, vr, count, values, n)) return fmi3Error;
  for (size_t i = 0; i < count; i++) {
    double x = 0.0;
    const bough_instance_status status = bough_instance_get(f, bough_instance_find(f, vr[i], TYPE_INTEGER), &x);
    if (status != INSTANCE_OK) return (fmi3Status)status;
    values[i] = (fmi3Int32)x;
  }
  return fmi3OK;
}
fmi3Status fmi3SetInt32(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Int32 values[], size_t n) {
  ENTER(CALL_SET);
  if (bad_call(f, TYPE_INTEGER, vr, count, values, n)) return fmi3Error;
  fmi3Status worst = fmi3OK;
  for (int pass = 0; pass < 2 && worst == fmi3OK; pass++)
    for (size_t i = 0; i < count; i++) {
      const double x = values[i];
      worst = worse(worst, check_then_set[pass](f, bough_instance_find(f, vr[i], TYPE_INTEGER), &x));
    }
  return worst;
}
/* Int64 is the type of enumerations */
fmi3Status fmi3GetInt64(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Int64 values[], size_t n) {
  ENTER(CALL_GET);
  if (bad_call(f, TYPE_ENUMERATION, vr, count, values, n)) return fmi3Error;
  for (size_t i = 0; i < count; i++) {
    double x = 0.0;
    const bough_instance_status status = bough_instance_get(f, bough_instance_find(f, vr[i], TYPE_ENUMERATION), &x);
    if (status != INSTANCE_OK) return (fmi3Status)status;
    values[i] = (fmi3Int64)x;
  }
  return fmi3OK;
}
fmi3Status fmi3SetInt64(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Int64 values[], size_t n) {
  ENTER(CALL_SET);
  if (bad_call(f, TYPE_ENUMERATION, vr, count, values, n)) return fmi3Error;
  fmi3Status worst = fmi3OK;
  for (int pass = 0; pass < 2 && worst == fmi3OK; pass++)
    for (size_t i = 0; i < count; i++) {
      const double x = (double)values[i];
      worst = worse(worst, check_then_set[pass](f, bough_instance_find(f, vr[i], TYPE_ENUMERATION), &x));
    }
  return worst;
}
fmi3Status fmi3GetBoolean(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Boolean values[], size_t n) {
  ENTER(CALL_GET);
  if (bad_call(f, TYPE_BOOLEAN, vr, count, values, n)) return fmi3Error;
  for (size_t i = 0; i < count; i++) {
    double x = 0.0;
    const bough_instance_status status = bough_instance_get(f, bough_instance_find(f, vr[i], TYPE_BOOLEAN), &x);
    if (status != INSTANCE_OK) return (fmi3Status)status;
    values[i] = x != 0.0;
  }
  return fmi3OK;
}
fmi3Status fmi3SetBoolean(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Boolean values[], size_t n) {
  ENTER(CALL_SET);
  if (bad_call(f, TYPE_BOOLEAN, vr, count, values, n)) return fmi3Error;
  fmi3Status worst = fmi3OK;
  for (int pass = 0; pass < 2 && worst == fmi3OK; pass++)
    for (size_t i = 0; i < count; i++) {
      const double x = values[i] ? 1.0 : 0.0;
      worst = worse(worst, check_then_set[pass](f, bough_instance_find(f, vr[i], TYPE_BOOLEAN), &x));
    }
  return worst;
}

/* Types that no variable has: an empty call is fine, any other is an error. */
static fmi3Status no_such_type(fmi3Instance c, bough_call call, const char *function, size_t count) {
  bough_instance *f = enter(c, call, function);
  if (!f) return fmi3Error;
  if (count == 0) return fmi3OK;
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: the model has no variables of this type", function);
  return fmi3Error;
}
#define NO_TYPE(Name)                                                                                                \
  fmi3Status fmi3Get##Name(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3##Name values[], size_t n) { \
    (void)vr, (void)values, (void)n;                                                                                 \
    return no_such_type(c, CALL_GET, __func__, count);                                                               \
  }                                                                                                                  \
  fmi3Status fmi3Set##Name(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3##Name values[],   \
                           size_t n) {                                                                               \
    (void)vr, (void)values, (void)n;                                                                                 \
    return no_such_type(c, CALL_SET, __func__, count);                                                               \
  }
NO_TYPE(Float32)
NO_TYPE(Int8)
NO_TYPE(UInt8)
NO_TYPE(Int16)
NO_TYPE(UInt16)
NO_TYPE(UInt32)
NO_TYPE(UInt64)
NO_TYPE(String)
fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t count, size_t sizes[], fmi3Binary values[], size_t n) {
  (void)vr, (void)sizes, (void)values, (void)n;
  return no_such_type(c, CALL_GET, __func__, count);
}
fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const size_t sizes[],
                         const fmi3Binary values[], size_t n) {
  (void)vr, (void)sizes, (void)values, (void)n;
  return no_such_type(c, CALL_SET, __func__, count);
}
fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Clock values[]) {
  (void)vr, (void)values;
  return no_such_type(c, CALL_GET, __func__, count);
}
fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Clock values[]) {
  (void)vr, (void)values;
  return no_such_type(c, CALL_SET, __func__, count);
}
fmi3Status fmi3GetIntervalDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Float64 intervals[],
                                  fmi3IntervalQualifier qualifiers[]) {
  (void)vr, (void)intervals, (void)qualifiers;
  return no_such_type(c, CALL_GET, __func__, count);
}
fmi3Status fmi3GetIntervalFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3UInt64 counters[],
                                   fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[]) {
  (void)vr, (void)counters, (void)resolutions, (void)qualifiers;
  return no_such_type(c, CALL_GET, __func__, count);
}
fmi3Status fmi3GetShiftDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Float64 shifts[]) {
  (void)vr, (void)shifts;
  return no_such_type(c, CALL_GET, __func__, count);
}
fmi3Status fmi3GetShiftFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3UInt64 counters[],
                                fmi3UInt64 resolutions[]) {
  (void)vr, (void)counters, (void)resolutions;
  return no_such_type(c, CALL_GET, __func__, count);
}
fmi3Status fmi3SetIntervalDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Float64 intervals[]) {
  (void)vr, (void)intervals;
  return no_such_type(c, CALL_SET, __func__, count);
}
fmi3Status fmi3SetIntervalFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3UInt64 counters[],
                                   const fmi3UInt64 resolutions[]) {
  (void)vr, (void)counters, (void)resolutions;
  return no_such_type(c, CALL_SET, __func__, count);
}
fmi3Status fmi3SetShiftDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Float64 shifts[]) {
  (void)vr, (void)shifts;
  return no_such_type(c, CALL_SET, __func__, count);
}
fmi3Status fmi3SetShiftFraction(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3UInt64 counters[],
                                const fmi3UInt64 resolutions[]) {
  (void)vr, (void)counters, (void)resolutions;
  return no_such_type(c, CALL_SET, __func__, count);
}
fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time) {
  (void)clock, (void)time;
  return no_such_type(c, CALL_SET, __func__, 1);
}

/* Dependencies are constant and stand in modelDescription.xml. */
static fmi3Status in_the_xml(fmi3Instance c, const char *function) {
  bough_instance *f = enter(c, CALL_STRUCTURE, function);
  if (f) bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: dependencies do not change: read them in modelDescription.xml "
                 "(providesPerElementDependencies is false)", function);
  return fmi3Error;
}
fmi3Status fmi3GetNumberOfVariableDependencies(fmi3Instance c, fmi3ValueReference vr, size_t *count) {
  (void)vr, (void)count;
  return in_the_xml(c, __func__);
}
fmi3Status fmi3GetVariableDependencies(fmi3Instance c, fmi3ValueReference dependent, size_t elements[],
                                       fmi3ValueReference independents[], size_t of_independents[],
                                       fmi3DependencyKind kinds[], size_t count) {
  (void)dependent, (void)elements, (void)independents, (void)of_independents, (void)kinds, (void)count;
  return in_the_xml(c, __func__);
}

/* ---- state */
fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state) {
  ENTER(CALL_STATE);
  return (fmi3Status)bough_instance_state_get(f, state);
}
fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state) {
  ENTER(CALL_STATE);
  return (fmi3Status)bough_instance_state_set(f, state);
}
fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state) {
  ENTER(CALL_STATE);
  (void)f;
  return (fmi3Status)bough_instance_state_free(state);
}
fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size) {
  ENTER(CALL_STATE);
  return (fmi3Status)bough_instance_state_size(f, state, size);
}
fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte out[], size_t size) {
  ENTER(CALL_STATE);
  return (fmi3Status)bough_instance_state_write(f, state, out, size);
}
fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte in[], size_t size, fmi3FMUState *state) {
  ENTER(CALL_STATE);
  return (fmi3Status)bough_instance_state_read(f, in, size, state);
}

/* ---- derivatives */
typedef bough_instance_status (*derivative_fn)(bough_instance *, const uint32_t *, size_t, const uint32_t *, size_t, const double *, double *);

static fmi3Status derivative(bough_instance *f, derivative_fn run, int adjoint, const fmi3ValueReference unknowns[],
                             size_t n_unknowns, const fmi3ValueReference knowns[], size_t n_knowns, const fmi3Float64 seed[],
                             size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity) {
  if (bough_instance_missing(f, unknowns, n_unknowns) || bough_instance_missing(f, knowns, n_knowns) || bough_instance_missing(f, seed, n_seed) ||
      bough_instance_missing(f, sensitivity, n_sensitivity))
    return fmi3Error;
  const size_t u = total(f, TYPE_REAL, unknowns, n_unknowns), k = total(f, TYPE_REAL, knowns, n_knowns);
  if (u == (size_t)-1 || k == (size_t)-1 || wrong_count(f, adjoint ? u : k, n_seed) || wrong_count(f, adjoint ? k : u, n_sensitivity))
    return fmi3Error;
  return (fmi3Status)run(f, unknowns, n_unknowns, knowns, n_knowns, seed, sensitivity);
}
fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t n_unknowns,
                                        const fmi3ValueReference knowns[], size_t n_knowns, const fmi3Float64 seed[],
                                        size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity) {
  ENTER(CALL_DERIVATIVE);
  return derivative(f, bough_instance_directional, 0, unknowns, n_unknowns, knowns, n_knowns, seed, n_seed, sensitivity, n_sensitivity);
}
fmi3Status fmi3GetAdjointDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t n_unknowns,
                                    const fmi3ValueReference knowns[], size_t n_knowns, const fmi3Float64 seed[],
                                    size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity) {
  ENTER(CALL_DERIVATIVE);
  return derivative(f, bough_instance_adjoint, 1, unknowns, n_unknowns, knowns, n_knowns, seed, n_seed, sensitivity, n_sensitivity);
}

/* ---- no structural parameters: configuration mode changes nothing */
static fmi3Status no_configuration(fmi3Instance c, const char *function) {
  bough_instance *f = enter(c, CALL_STRUCTURE, function);
  if (f) bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: the model has no structural parameters", function);
  return fmi3Error;
}
fmi3Status fmi3EnterConfigurationMode(fmi3Instance c) { return no_configuration(c, __func__); }
fmi3Status fmi3ExitConfigurationMode(fmi3Instance c) { return no_configuration(c, __func__); }

fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c) {
  ENTER(CALL_NEW_STATES);
  (void)f;
  return fmi3OK;
}
fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *need_update, fmi3Boolean *terminate,
                                    fmi3Boolean *nominals_changed, fmi3Boolean *values_changed, fmi3Boolean *next_defined,
                                    fmi3Float64 *next_time) {
  ENTER(CALL_NEW_STATES);
  if (bough_instance_missing(f, need_update, 1) || bough_instance_missing(f, terminate, 1) || bough_instance_missing(f, nominals_changed, 1) ||
      bough_instance_missing(f, values_changed, 1) || bough_instance_missing(f, next_defined, 1) || bough_instance_missing(f, next_time, 1))
    return fmi3Error;
  int jumped = 0;
  const bough_instance_status status = bough_instance_update(f, &jumped);
  *need_update = *terminate = *nominals_changed = fmi3False;
  *next_defined = bough_instance_next_event(f, next_time) ? fmi3True : fmi3False;
  *values_changed = jumped ? fmi3True : fmi3False;
  return (fmi3Status)status;
}

/* ---- Model Exchange */
fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c) {
  ENTER(CALL_ENTER_CONTINUOUS);
  return (fmi3Status)bough_instance_enter_continuous(f);
}
fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean no_set_before, fmi3Boolean *enter_event,
                                       fmi3Boolean *terminate) {
  ENTER(CALL_COMPLETED_STEP);
  (void)no_set_before;
  if (bough_instance_missing(f, enter_event, 1) || bough_instance_missing(f, terminate, 1)) return fmi3Error;
  int event = 0;
  const bough_instance_status status = bough_instance_completed_step(f, &event);
  *enter_event = event ? fmi3True : fmi3False;
  *terminate = fmi3False;
  return (fmi3Status)status;
}
fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 time) {
  ENTER(CALL_SET_TIME);
  return (fmi3Status)bough_instance_set_time(f, time);
}
fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t count) {
  ENTER(CALL_SET_CONTINUOUS);
  return (fmi3Status)bough_instance_set_states(f, x, count);
}
fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 derivatives[], size_t count) {
  ENTER(CALL_GET_DERIVATIVES);
  return (fmi3Status)bough_instance_get_rates(f, derivatives, count);
}
fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 indicators[], size_t count) {
  ENTER(CALL_GET_DERIVATIVES);
  if (bough_instance_missing(f, indicators, count)) return fmi3Error;
  return (fmi3Status)bough_instance_indicators(f, indicators, count);
}
fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t count) {
  ENTER(CALL_GET_CONTINUOUS);
  return (fmi3Status)bough_instance_get_states(f, x, count);
}
fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominals[], size_t count) {
  ENTER(CALL_GET_NOMINALS);
  return (fmi3Status)bough_instance_get_nominals(f, nominals, count);
}
fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *count) {
  ENTER(CALL_STRUCTURE);
  if (bough_instance_missing(f, count, 1)) return fmi3Error;
  *count = bough_instance_indicator_count(f);
  return fmi3OK;
}
fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *count) {
  ENTER(CALL_STRUCTURE);
  if (bough_instance_missing(f, count, 1)) return fmi3Error;
  *count = (size_t)bough_instance_states(f);
  return fmi3OK;
}

/* ---- Co-Simulation */
fmi3Status fmi3EnterStepMode(fmi3Instance c) {
  const component *self = c;
  const int events = self && self->f && bough_instance_event_mode(self->f);
  ENTER(events ? CALL_NEW_STATES : CALL_STEP);
  if (events) return (fmi3Status)bough_instance_enter_step(f);
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: there is no event mode in co-simulation to come back from", bough_instance_function(f));
  return fmi3Error;
}
fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Int32 orders[],
                                    fmi3Float64 values[], size_t n) {
  ENTER(CALL_OUTPUT_DERIVATIVE);
  if (bough_instance_missing(f, orders, count) || bad_call(f, TYPE_REAL, vr, count, values, n)) return fmi3Error;
  for (size_t i = 0; i < count; i++)
    if (orders[i] < 1) {
      bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: derivative %d of an output; orders count from 1", bough_instance_function(f), (int)orders[i]);
      return fmi3Error;
    }
  const bough_instance_status status = bough_instance_output_rates(f, vr, count, values);
  for (size_t i = 0; i < count && status == INSTANCE_OK; i++) {
    const size_t size = (size_t)bough_instance_find(f, vr[i], TYPE_REAL)->count;
    if (orders[i] > 1) memset(values, 0, size * sizeof *values); /* as the standard has it for orders that an FMU does not know */
    values += size;
  }
  return (fmi3Status)status;
}

/* after every internal step: the host may look, and may ask to return early; it is told of an event by an early return */
static int intermediate(void *user, double time) {
  component *c = user;
  fmi3Boolean early = fmi3False;
  fmi3Float64 early_time = time;
  if (c->early_allowed && bough_instance_events(c->f) != c->events) return 1;
  if (c->update) c->update(c->environment, time, fmi3True, fmi3True, fmi3True, c->early_allowed != 0, &early, &early_time);
  return c->early_allowed && early;
}
fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 time, fmi3Float64 step, fmi3Boolean no_set_before,
                      fmi3Boolean *event_needed, fmi3Boolean *terminate, fmi3Boolean *early_return, fmi3Float64 *last_time) {
  ENTER(CALL_STEP);
  (void)no_set_before;
  if (bough_instance_missing(f, event_needed, 1) || bough_instance_missing(f, terminate, 1) || bough_instance_missing(f, early_return, 1) || bough_instance_missing(f, last_time, 1))
    return fmi3Error;
  component *self = c;
  *event_needed = *terminate = *early_return = fmi3False;
  self->events = bough_instance_events(f);
  const int looks = self->update || (self->early_allowed && bough_instance_indicator_count(f) > 0);
  const bough_instance_status status = bough_instance_step(f, time, step, looks ? intermediate : NULL, self, last_time);
  *early_return = status == INSTANCE_OK && *last_time < time + step;
  double next;
  if (status == INSTANCE_OK && bough_instance_event_mode(f) && bough_instance_next_event(f, &next))
    *event_needed = next <= *last_time + 1e-9 * (1.0 + step) ? fmi3True : fmi3False;
  return (fmi3Status)status;
}
