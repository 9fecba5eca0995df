/* FMI 3, Co-Simulation: what goes in comes out at once, arrays of three, texts, bytes and 64-bit integers; and a counter
 * on a clock that ticks every 0.1 s: `count` adds what `add` is at the tick, `when` is its time. Where a step has passed
 * 0.35 s, an output clock ticks, twice at one instant, and `alarm` is the time plus the number of the tick. */
#include <stdlib.h>
#include <string.h>

#include "fmi3Functions.h"

enum { VECTOR_IN = 1, VECTOR_OUT, TEXT_IN, TEXT_OUT, DATA_IN, DATA_OUT, LONG_IN, LONG_OUT, CLOCK, ADD, COUNT, WHEN, ALARM_CLOCK, ALARM };
typedef struct {
    double t, vector[3], add, count, when;
    char text[64];
    unsigned char data[64];
    size_t size;
    fmi3Int64 number;
    int ticking, event, alarms, alarming;
} relay;

const char *fmi3GetVersion(void) { return fmi3Version; }
fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String path, fmi3Boolean visible,
                                         fmi3Boolean logging, fmi3Boolean events, fmi3Boolean early,
                                         const fmi3ValueReference wanted[], size_t n, fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update) {
    (void)name, (void)token, (void)path, (void)visible, (void)logging, (void)early, (void)wanted, (void)n;
    (void)environment, (void)log, (void)update;
    return events ? calloc(1, sizeof(relay)) : NULL; /* clocks need event mode */
}
void fmi3FreeInstance(fmi3Instance c) { free(c); }
fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String names[]) {
    (void)c, (void)on, (void)n, (void)names;
    return fmi3OK;
}
fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean td, fmi3Float64 tol, fmi3Float64 start, fmi3Boolean sd,
                                       fmi3Float64 stop) {
    (void)td, (void)tol, (void)sd, (void)stop;
    ((relay *)c)->t = start;
    return fmi3OK;
}
fmi3Status fmi3ExitInitializationMode(fmi3Instance c) { return ((relay *)c)->event = 1, fmi3OK; }
fmi3Status fmi3EnterEventMode(fmi3Instance c) { return ((relay *)c)->event = 1, fmi3OK; }
fmi3Status fmi3EnterStepMode(fmi3Instance c) {
    relay *r = c;
    r->event = r->ticking = 0;
    return fmi3OK;
}
fmi3Status fmi3Terminate(fmi3Instance c) { return c ? fmi3OK : fmi3Error; }
fmi3Status fmi3Reset(fmi3Instance c) { return c ? fmi3OK : fmi3Error; }
fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Clock values[]) {
    relay *r = c;
    if (!r->event || n != 1 || vr[0] != CLOCK) return fmi3Error;
    r->ticking = values[0];
    return fmi3OK;
}
fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Clock values[]) {
    relay *r = c;
    if (!r->event || n != 1 || vr[0] != ALARM_CLOCK) return fmi3Error;
    values[0] = r->alarming;
    return fmi3OK;
}
fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *more, fmi3Boolean *end, fmi3Boolean *nominals,
                                    fmi3Boolean *values, fmi3Boolean *next, fmi3Float64 *time) {
    relay *r = c;
    int again = r->alarming && r->alarms < 2;
    *more = *end = *nominals = *values = *next = fmi3False;
    *time = 0.0;
    *more = again;
    r->alarming = again;
    r->alarms += again;
    return fmi3OK;
}
fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean no, fmi3Boolean *event, fmi3Boolean *end,
                      fmi3Boolean *early, fmi3Float64 *last) {
    (void)no;
    relay *r = c;
    *event = *end = *early = fmi3False;
    r->t = *last = t + h;
    if (r->t > 0.35 && !r->alarms) *event = r->alarming = r->alarms = 1;
    return fmi3OK;
}
fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 values[], size_t m) {
    relay *r = c;
    for (size_t i = 0, k = 0; i < n && k < m; i++) {
        if (vr[i] == VECTOR_IN || vr[i] == VECTOR_OUT) {
            memcpy(values + k, r->vector, sizeof r->vector);
            k += 3;
        } else if (vr[i] == COUNT || vr[i] == WHEN) {
            if (!r->ticking) return fmi3Error; /* clocked variables exist at ticks only */
            if (vr[i] == COUNT) r->count += r->add, r->when = r->t;
            values[k++] = vr[i] == COUNT ? r->count : r->when;
        } else if (vr[i] == ALARM) {
            if (!r->event || !r->alarming) return fmi3Error;
            values[k++] = r->t + r->alarms;
        } else
            values[k++] = vr[i] == ADD ? r->add : r->t;
    }
    return fmi3OK;
}
fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 values[], size_t m) {
    relay *r = c;
    for (size_t i = 0, k = 0; i < n && k < m; i++) {
        if (vr[i] == VECTOR_IN) {
            memcpy(r->vector, values + k, sizeof r->vector);
            k += 3;
        } else if (vr[i] != ADD || !r->ticking)
            return fmi3Error;
        else
            r->add = values[k++];
    }
    return fmi3OK;
}
fmi3Status fmi3GetInt64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Int64 values[], size_t m) {
    (void)vr, (void)m;
    for (size_t i = 0; i < n; i++) values[i] = ((relay *)c)->number;
    return fmi3OK;
}
fmi3Status fmi3SetInt64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Int64 values[], size_t m) {
    (void)vr, (void)n, (void)m;
    ((relay *)c)->number = values[0];
    return fmi3OK;
}
fmi3Status fmi3GetString(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3String values[], size_t m) {
    (void)vr, (void)m;
    for (size_t i = 0; i < n; i++) values[i] = ((relay *)c)->text;
    return fmi3OK;
}
fmi3Status fmi3SetString(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3String values[], size_t m) {
    (void)vr, (void)n, (void)m;
    strncpy(((relay *)c)->text, values[0], 63);
    return fmi3OK;
}
fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n, size_t sizes[], fmi3Binary values[], size_t m) {
    (void)vr, (void)m;
    for (size_t i = 0; i < n; i++) sizes[i] = ((relay *)c)->size, values[i] = ((relay *)c)->data;
    return fmi3OK;
}
fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const size_t sizes[],
                         const fmi3Binary values[], size_t m) {
    (void)vr, (void)n, (void)m;
    relay *r = c;
    r->size = sizes[0] < 64 ? sizes[0] : 64;
    memcpy(r->data, values[0], r->size);
    return fmi3OK;
}
