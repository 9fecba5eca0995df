/* An integrator, der(y) = gain u, as an FMU for Co-Simulation (FMI 2) that misbehaves on demand.
 *
 * resources/plan.txt holds one line: PLACE KIND. The place is the call in which it happens; in set, step and get the
 * first one from t = 0.375 s on. When it is freed, and resources/freed.txt is there, it writes into the file that
 * this one names. */
#define _GNU_SOURCE
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fmi2Functions.h"

#define FROM 0.375
#define MEGABYTE ((size_t)1 << 20)

typedef struct {
    char place[32], kind[32], freed[1024];
    const fmi2CallbackFunctions *host;
    double t, u, y, gain;
} integrator;

static volatile int deep;

static int overflow(int level) {
    volatile char frame[4096];
    frame[level % 4096] = (char)level;
    deep = level;
    return overflow(level + 1) + frame[level % 4096];
}

static void *crash(void *nothing) {
    *(volatile int *)nothing = 1;
    return NULL;
}

static void flood(void) {
    char line[1024];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    for (int i = 0; i < 4096; i++) {
        fwrite(line, 1, sizeof line, i % 2 ? stdout : stderr);
    }
    fflush(stdout);
}

static void exhaust(void) {
    const struct rlimit limit = {1024 * MEGABYTE, 1024 * MEGABYTE};
    setrlimit(RLIMIT_AS, &limit);
    for (;;) {
        char *more = malloc(16 * MEGABYTE);
        *(volatile char *)more = 1; /* a null pointer at last */
    }
}

static void spawn_crashing_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, crash, NULL);
    pthread_join(thread, NULL);
}

static void leave_a_copy(void) {
    if (fork() == 0) {
        sleep(1000);
    }
    _exit(0);
}

static void close_from(int first, int last) {
    for (int k = first; k <= last; k++) {
        close(k);
    }
}

static void say(const integrator *m, const char *text) {
    m->host->logger(m->host->componentEnvironment, "m", fmi2Warning, "logStatusWarning", text);
}

static void hang(int busily) {
    fprintf(stderr, "hanging\n");
    while (busily) {
        deep++;
    }
    for (;;) {
        sleep(1000);
    }
}

/* What a call returns: what the plan says, or all is well. */
static fmi2Status act(integrator *m, const char *place) {
    const char *kind = m->kind;
    if (strcmp(place, m->place) || (strchr("sg", place[0]) && m->t < FROM)) {
        return fmi2OK;
    }
    if (!strcmp(kind, "segfault")) *(volatile int *)NULL = 1;
    if (!strcmp(kind, "abort")) abort();
    if (!strcmp(kind, "exit0")) exit(0);
    if (!strcmp(kind, "exit3")) exit(3);
    if (!strcmp(kind, "_exit0")) _exit(0);
    if (!strcmp(kind, "sigterm")) raise(SIGTERM);
    if (!strcmp(kind, "sigkill")) raise(SIGKILL);
    if (!strcmp(kind, "overflow")) return (fmi2Status)overflow(0);
    if (!strcmp(kind, "loop")) hang(1);
    if (!strcmp(kind, "sleep")) hang(0);
    if (!strcmp(kind, "thread")) spawn_crashing_thread();
    if (!strcmp(kind, "memory")) exhaust();
    if (!strcmp(kind, "fork")) leave_a_copy();
    if (!strcmp(kind, "closeall")) close_from(3, 255);
    if (!strcmp(kind, "nan")) m->y = NAN;
    if (!strcmp(kind, "fatal")) return fmi2Fatal;
    if (!strcmp(kind, "error")) return fmi2Error;
    if (!strcmp(kind, "discard")) return fmi2Discard;
    if (!strcmp(kind, "print")) {
        printf("printed by the FMU\n");
        fprintf(stderr, "and to stderr: \xff\xfe\n");
        fflush(stdout);
    }
    if (!strcmp(kind, "flood")) flood();
    if (!strcmp(kind, "chdir") && chdir("/")) return fmi2Error;
    if (!strcmp(kind, "close")) close_from(0, 2);
    if (!strcmp(kind, "stdin") && getchar() != EOF) return fmi2Error;
    if (!strcmp(kind, "litter")) {
        char name[1100];
        snprintf(name, sizeof name, "%s/litter.txt", getenv("TMPDIR"));
        FILE *file = fopen(name, "w");
        if (!file) return fmi2Error;
        fclose(file);
    }
    if (!strcmp(kind, "locale")) setlocale(LC_ALL, "de_DE.UTF-8");
    if (!strcmp(kind, "rounding")) fesetround(FE_UPWARD);
    if (!strcmp(kind, "chatter")) {
        for (;;) {
            say(m, "still here");
        }
    }
    if (!strcmp(kind, "log")) {
        say(m, NULL);
        say(m, "%s%n broken \xff\xfe\x80 %");
        for (int i = 0; i < 20000; i++) {
            say(m, "again");
        }
    }
    return fmi2OK;
}

static void read_line(const char *uri, const char *file, const char *format, char *one, char *other) {
    char path[2048];
    const char *folder = strncmp(uri, "file://", 7) ? uri : uri + 7;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *stream = fopen(path, "r");
    if (stream) {
        if (fscanf(stream, format, one, other) < 1) one[0] = 0;
        fclose(stream);
    }
}

fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                              const fmi2CallbackFunctions *host, fmi2Boolean visible, fmi2Boolean logging) {
    (void)name, (void)type, (void)guid, (void)visible, (void)logging;
    integrator *m = calloc(1, sizeof *m);
    m->host = host;
    m->gain = 1.0;
    read_line(resources, "plan.txt", "%31s %31s", m->place, m->kind);
    read_line(resources, "freed.txt", "%1023s", m->freed, NULL);
    if (!strcmp(m->kind, "null")) return NULL;
    act(m, "instantiate");
    return m;
}

void fmi2FreeInstance(fmi2Component c) {
    integrator *m = c;
    act(m, "free");
    if (m->freed[0]) {
        FILE *file = fopen(m->freed, "w");
        fclose(file);
    }
    free(m);
}

/* Every value as it was when the FMU was made. */
static void forget(integrator *m, const char *place) {
    if (!strcmp(m->place, place) && !strcmp(m->kind, "forget")) m->u = m->y = 0.0, m->gain = 1.0;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean a, fmi2Real b, fmi2Real t, fmi2Boolean d, fmi2Real e) {
    (void)a, (void)b, (void)t, (void)d, (void)e;
    return forget(c, "setup"), fmi2OK;
}
fmi2Status fmi2EnterInitializationMode(fmi2Component c) { return forget(c, "init"), act(c, "init"); }
fmi2Status fmi2Terminate(fmi2Component c) { return act(c, "terminate"); }

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Real x[]) {
    integrator *m = c;
    for (size_t i = 0; i < n; i++) *(r[i] == 3 ? &m->gain : &m->u) = x[i];
    return act(m, "set");
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2Real x[]) {
    integrator *m = c;
    const fmi2Status status = act(m, "get");
    for (size_t i = 0; i < n; i++) {
        x[i] = r[i] == 0 ? m->u : r[i] == 3 ? m->gain : m->y;
    }
    return status;
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean final) {
    integrator *m = c;
    (void)final;
    m->t = t;
    const fmi2Status status = act(m, "step");
    m->y += h * m->gain * m->u;
    m->t = t + h;
    return status;
}

#ifndef MISSING
const char *fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
#endif
const char *fmi2GetVersion(void) { return fmi2Version; }

/* The rest does nothing. */
#define NOTHING(name, ...)                 \
    fmi2Status name(__VA_ARGS__) {         \
        return fmi2OK;                     \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
NOTHING(fmi2SetDebugLogging, fmi2Component c, fmi2Boolean on, size_t n, const fmi2String s[])
NOTHING(fmi2ExitInitializationMode, fmi2Component c)
NOTHING(fmi2Reset, fmi2Component c)
NOTHING(fmi2GetInteger, fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2Integer x[])
NOTHING(fmi2GetBoolean, fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2Boolean x[])
NOTHING(fmi2GetString, fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2String x[])
NOTHING(fmi2SetInteger, fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Integer x[])
NOTHING(fmi2SetBoolean, fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Boolean x[])
NOTHING(fmi2SetString, fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2String x[])
NOTHING(fmi2GetFMUstate, fmi2Component c, fmi2FMUstate *s)
NOTHING(fmi2SetFMUstate, fmi2Component c, fmi2FMUstate s)
NOTHING(fmi2FreeFMUstate, fmi2Component c, fmi2FMUstate *s)
NOTHING(fmi2SerializedFMUstateSize, fmi2Component c, fmi2FMUstate s, size_t *n)
NOTHING(fmi2SerializeFMUstate, fmi2Component c, fmi2FMUstate s, fmi2Byte b[], size_t n)
NOTHING(fmi2DeSerializeFMUstate, fmi2Component c, const fmi2Byte b[], size_t n, fmi2FMUstate *s)
NOTHING(fmi2GetDirectionalDerivative, fmi2Component c, const fmi2ValueReference a[], size_t n,
        const fmi2ValueReference b[], size_t m, const fmi2Real x[], fmi2Real y[])
NOTHING(fmi2SetRealInputDerivatives, fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Integer o[],
        const fmi2Real x[])
NOTHING(fmi2GetRealOutputDerivatives, fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Integer o[],
        fmi2Real x[])
NOTHING(fmi2CancelStep, fmi2Component c)
NOTHING(fmi2GetStatus, fmi2Component c, const fmi2StatusKind k, fmi2Status *x)
NOTHING(fmi2GetRealStatus, fmi2Component c, const fmi2StatusKind k, fmi2Real *x)
NOTHING(fmi2GetIntegerStatus, fmi2Component c, const fmi2StatusKind k, fmi2Integer *x)
NOTHING(fmi2GetBooleanStatus, fmi2Component c, const fmi2StatusKind k, fmi2Boolean *x)
NOTHING(fmi2GetStringStatus, fmi2Component c, const fmi2StatusKind k, fmi2String *x)
