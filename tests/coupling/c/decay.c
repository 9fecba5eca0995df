/* der(x) = -k x + u, y = x, as an FMU for Model Exchange only (FMI 2). At t = 0.5 s, a time event, x jumps by one; where x
 * falls below `floor`, a state event, `low` counts. */
#include <math.h>
#include <stdlib.h>

#include "fmi2Functions.h"

typedef struct {
    double t, x, k, u, floor;
    int jumped, low, below;
} decay;
enum { X, DER, U, K, FLOOR, LOW };

const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char *fmi2GetVersion(void) { return fmi2Version; }
fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *host, fmi2Boolean visible, fmi2Boolean logging) {
    (void)name, (void)guid, (void)resources, (void)host, (void)visible, (void)logging;
    decay *d = type == fmi2ModelExchange ? calloc(1, sizeof *d) : NULL;
    if (d) d->x = 1.0, d->k = 2.0, d->floor = 0.5;
    return d;
}
void fmi2FreeInstance(fmi2Component c) { free(c); }
fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String names[]) {
    (void)c, (void)on, (void)n, (void)names;
    return fmi2OK;
}
fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean td, fmi2Real tol, fmi2Real start, fmi2Boolean sd, fmi2Real stop) {
    (void)td, (void)tol, (void)sd, (void)stop;
    ((decay *)c)->t = start;
    return fmi2OK;
}
fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return c ? fmi2OK : fmi2Error; }
fmi2Status fmi2ExitInitializationMode(fmi2Component c) { return c ? fmi2OK : fmi2Error; }
fmi2Status fmi2EnterEventMode(fmi2Component c) { return c ? fmi2OK : fmi2Error; }
fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) { return c ? fmi2OK : fmi2Error; }
fmi2Status fmi2Terminate(fmi2Component c) { return c ? fmi2OK : fmi2Error; }
fmi2Status fmi2Reset(fmi2Component c) { return c ? fmi2OK : fmi2Error; }
fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
    decay *d = c;
    info->newDiscreteStatesNeeded = info->terminateSimulation = info->nominalsOfContinuousStatesChanged = fmi2False;
    info->valuesOfContinuousStatesChanged = fmi2False;
    if (!d->jumped && d->t >= 0.5 - 1e-12) {
        d->jumped = 1, d->x += 1.0;
        info->valuesOfContinuousStatesChanged = fmi2True;
    }
    if (!d->below && d->x < d->floor) d->low++;
    d->below = d->x < d->floor;
    info->nextEventTimeDefined = d->jumped ? fmi2False : fmi2True;
    info->nextEventTime = 0.5;
    return fmi2OK;
}
fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no, fmi2Boolean *enter, fmi2Boolean *end) {
    (void)c, (void)no;
    *enter = *end = fmi2False;
    return fmi2OK;
}
fmi2Status fmi2SetTime(fmi2Component c, fmi2Real t) {
    ((decay *)c)->t = t;
    return fmi2OK;
}
fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t n) {
    (void)n;
    ((decay *)c)->x = x[0];
    return fmi2OK;
}
fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t n) {
    (void)n;
    x[0] = ((decay *)c)->x;
    return fmi2OK;
}
fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real x[], size_t n) {
    (void)c, (void)n;
    x[0] = 1.0;
    return fmi2OK;
}
static double rate(const decay *d) { return -d->k * d->x + d->u; }
fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real dx[], size_t n) {
    (void)n;
    dx[0] = rate(c);
    return fmi2OK;
}
fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real z[], size_t n) {
    const decay *d = c;
    if (n) z[0] = d->x - d->floor + (d->below ? -1e-9 : 1e-9);
    return fmi2OK;
}
fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real value[]) {
    const decay *d = c;
    for (size_t i = 0; i < n; i++)
        value[i] = vr[i] == X ? d->x : vr[i] == DER ? rate(d) : vr[i] == U ? d->u : vr[i] == K ? d->k : d->floor;
    return fmi2OK;
}
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real value[]) {
    decay *d = c;
    for (size_t i = 0; i < n; i++) *(vr[i] == X ? &d->x : vr[i] == U ? &d->u : vr[i] == K ? &d->k : &d->floor) = value[i];
    return fmi2OK;
}
fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer value[]) {
    (void)vr;
    for (size_t i = 0; i < n; i++) value[i] = ((decay *)c)->low;
    return fmi2OK;
}
#define NOT(name, ...) \
    fmi2Status name(fmi2Component c, __VA_ARGS__) { return c ? fmi2Error : fmi2Fatal; }
NOT(fmi2SetInteger, const fmi2ValueReference vr[], size_t n, const fmi2Integer v[])
NOT(fmi2GetBoolean, const fmi2ValueReference vr[], size_t n, fmi2Boolean v[])
NOT(fmi2SetBoolean, const fmi2ValueReference vr[], size_t n, const fmi2Boolean v[])
NOT(fmi2GetString, const fmi2ValueReference vr[], size_t n, fmi2String v[])
NOT(fmi2SetString, const fmi2ValueReference vr[], size_t n, const fmi2String v[])
NOT(fmi2GetFMUstate, fmi2FMUstate *s)
NOT(fmi2SetFMUstate, fmi2FMUstate s)
NOT(fmi2FreeFMUstate, fmi2FMUstate *s)
NOT(fmi2SerializedFMUstateSize, fmi2FMUstate s, size_t *n)
NOT(fmi2SerializeFMUstate, fmi2FMUstate s, fmi2Byte b[], size_t n)
NOT(fmi2DeSerializeFMUstate, const fmi2Byte b[], size_t n, fmi2FMUstate *s)
NOT(fmi2GetDirectionalDerivative, const fmi2ValueReference z[], size_t nz, const fmi2ValueReference v[], size_t nv,
    const fmi2Real dv[], fmi2Real dz[])
