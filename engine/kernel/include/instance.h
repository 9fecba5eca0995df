/* instance.h - a run with variables: what FMI 2, FMI 3, Python and their hosts share.
 *
 * An instance is a mechanism or a partner (motor, controller), made from a resource: a table of variables and a block. It
 * knows variables by their references (places in the table), which call is allowed when, how to step, to save and to go
 * back. It owns everything it uses; there are no globals, so any number of instances may run on any number of threads, one
 * thread per instance at a time. Memory is taken at creation, at the first step, for derivatives and for saved states.
 * What goes wrong is logged through a call back, fully formatted, with the cure; the status is that of the FMI. */
#ifndef BOUGH_INSTANCE_H
#define BOUGH_INSTANCE_H

#include <stddef.h>
#include <stdint.h>

#include "bough.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bough_instance bough_instance;

/* In the order of fmi2Status and fmi3Status. */
typedef enum { INSTANCE_OK, INSTANCE_WARNING, INSTANCE_DISCARD, INSTANCE_ERROR, INSTANCE_FATAL } bough_instance_status;

/* Kinds of variables, from fields.def. */
typedef enum {
  KIND_TIME = 0,
#define BOUGH_STATE(number, KIND, member, count) KIND_##KIND = number,
#define BOUGH_INPUT(number, KIND, member, count) KIND_##KIND = number,
#define BOUGH_PARAMETER(number, KIND, member, count, type, range, kernel) KIND_##KIND = number,
#define BOUGH_VALUE(number, KIND, member, count, type, when) KIND_##KIND = number,
#define BOUGH_SETTING(number, KIND, member, type, range) KIND_##KIND = number,
#define BOUGH_DISCRETE(number, KIND, member, count, kernel) KIND_##KIND = number,
#include "fields.def"
  KIND_PARTNER = 100 /* a number of a partner */
} bough_kind;
typedef enum { TYPE_REAL = 0, TYPE_INTEGER = 1, TYPE_BOOLEAN = 2, TYPE_ENUMERATION = 3 } bough_type;
typedef enum { ROLE_FIXED = 0, ROLE_TUNABLE, ROLE_INPUT, ROLE_OUTPUT, ROLE_LOCAL, ROLE_INDEPENDENT } bough_role;

typedef struct {
  int kind, index, type, role, count;
  int start; /* first slot in the table of start values */
  const char *name;
} bough_variable;

/* ---- states of an instance; bits, so that a table can say where a call is allowed */
enum {
  AT_INSTANTIATED = 1,   /* after instantiation or reset */
  AT_INITIALIZATION = 2, /* between enter and exit initialization mode */
  AT_EVENT = 4,          /* Model Exchange: event mode */
  AT_CONTINUOUS = 8,     /* Model Exchange: continuous-time mode */
  AT_STEP = 16,          /* Co-Simulation: between steps */
  AT_INTERMEDIATE = 32,  /* Co-Simulation, FMI 3: inside the call back of a step */
  AT_FAILED = 64,        /* a step could not be finished */
  AT_TERMINATED = 128,
  AT_ANY = 255
};

/* Calls, whatever their names are in an FMI version. */
typedef enum {
  CALL_SET_DEBUG,
  CALL_SETUP,
  CALL_ENTER_INITIALIZATION,
  CALL_EXIT_INITIALIZATION,
  CALL_TERMINATE,
  CALL_RESET,
  CALL_GET,
  CALL_SET,
  CALL_STATE,
  CALL_DERIVATIVE,
  CALL_ENTER_EVENT,
  CALL_NEW_STATES,
  CALL_ENTER_CONTINUOUS,
  CALL_COMPLETED_STEP,
  CALL_SET_TIME,
  CALL_SET_CONTINUOUS,
  CALL_GET_CONTINUOUS,
  CALL_GET_DERIVATIVES,
  CALL_GET_NOMINALS,
  CALL_STEP,
  CALL_INPUT_DERIVATIVE,
  CALL_OUTPUT_DERIVATIVE,
  CALL_STEP_STATUS,
  CALL_STRUCTURE,
  CALL_COUNT
} bough_call;

/* ---- life */
typedef void (*bough_log_fn)(void *host, bough_instance_status status, const char *category, const char *text);
/* An error whose status is INSTANCE_DISCARD goes out under LOG_DISCARD. */
enum { LOG_ERROR = 1, LOG_WARNING = 2, LOG_EVENTS = 4, LOG_ALL = 8, LOG_DISCARD = 16, LOG_FATAL = 32 };
enum { LOG_DEFAULT = LOG_ERROR | LOG_WARNING | LOG_DISCARD | LOG_FATAL };
#define BOUGH_NO_MEMORY_CURE "free instances that are not needed, or close other programs"
#define BOUGH_NO_INSTANCE "instantiation: there is no memory. Cure: " BOUGH_NO_MEMORY_CURE "." /* before there is one */

typedef struct {
  const void *resource; /* bytes of a model.bough; they are copied */
  size_t size;
  const char *token; /* of the host; null: do not check */
  int cosimulation; /* 0: Model Exchange, 1: Co-Simulation, 2: Co-Simulation with event mode, which sampled partners have */
  int log_mask; /* LOG_...; what ends an instantiation is always logged */
  bough_log_fn log;
  void *host; /* of the call back */
} bough_instance_setting;
/* An instance that is ready for calls. On failure logs through the call back and returns null. */
BOUGH_API bough_instance *bough_instance_create(const bough_instance_setting *setting);
BOUGH_API void bough_instance_free(bough_instance *f);

/* Is `call` allowed now? Sets the function's name for messages; logs and returns 0 if not. */
BOUGH_API int bough_instance_allowed(bough_instance *f, bough_call call, const char *function);
BOUGH_API const char *bough_instance_function(const bough_instance *f); /* the call in progress */
BOUGH_API int bough_instance_state(const bough_instance *f); /* AT_... */
BOUGH_API double bough_instance_time(const bough_instance *f);
BOUGH_API bough_instance_status bough_instance_setup(bough_instance *f, double start, int tolerance_defined, double tolerance,
                                                     int stop_defined, double stop);
BOUGH_API bough_instance_status bough_instance_enter_initialization(bough_instance *f);
BOUGH_API bough_instance_status bough_instance_exit_initialization(bough_instance *f);
/* In initialization mode, of a mechanism: what a run of one's own starts from. Parameters go to `data`, of a model made from
 * the same block, and the start state to q and u: quaternions of length one, locked hinges at rest, loops closed. */
BOUGH_API bough_instance_status bough_instance_hand_over(bough_instance *f, bough_data *data, double *q, double *u);
BOUGH_API bough_instance_status bough_instance_terminate(bough_instance *f);
BOUGH_API bough_instance_status bough_instance_reset(bough_instance *f);

/* ---- variables */
/* The variable of a reference, if it has this type; logs and returns null if not. FMI 2 reads and sets enumerations as
 * integers: they are found as such. */
BOUGH_API const bough_variable *bough_instance_find(bough_instance *f, uint32_t vr, bough_type type);
/* values of one variable, `count` of them; status OK, DISCARD (not finite, out of range) or ERROR */
BOUGH_API bough_instance_status bough_instance_get(bough_instance *f, const bough_variable *v, double *value);
BOUGH_API bough_instance_status bough_instance_set(bough_instance *f, const bough_variable *v, const double *value);
/* what bough_instance_set would say, with its message, but nothing is set: a call that sets several changes all or none */
BOUGH_API bough_instance_status bough_instance_check(bough_instance *f, const bough_variable *v, const double *value);
/* Several variables of any type at once; write changes all of them or none. */
BOUGH_API bough_instance_status bough_instance_read(bough_instance *f, const uint32_t *vr, size_t count, double *values);
BOUGH_API bough_instance_status bough_instance_write(bough_instance *f, const uint32_t *vr, size_t count,
                                                     const double *values);
/* derivative `order` of an input, from its last value on; holds for one step */
BOUGH_API bough_instance_status bough_instance_input_derivative(bough_instance *f, const bough_variable *v, int order,
                                                                const double *value);

/* Inputs that depend on time or state: called at every stage of a step and at every evaluation, on top of what is set; a
 * non-zero return ends the call with an error. Null: none. Derivatives do not see it. Mechanisms only. */
BOUGH_API bough_instance_status bough_instance_set_input(bough_instance *f, bough_input_fn input, void *user);

/* ---- Co-Simulation: to time + step. `reached` is where it got to. The hook (may be null) is called after every internal
 * step, in state AT_INTERMEDIATE; non-zero asks to return early. */
typedef int (*bough_hook)(void *user, double time);
BOUGH_API bough_instance_status bough_instance_step(bough_instance *f, double time, double step, bough_hook hook, void *user,
                                                    double *reached);

/* events of friction, limits and gears that the steps have met so far */
BOUGH_API int64_t bough_instance_events(const bough_instance *f);

/* Event mode of Co-Simulation: steps end at samples, which are taken when discrete states are updated. */
BOUGH_API int bough_instance_event_mode(const bough_instance *f);                  /* is it used? */
BOUGH_API int bough_instance_next_event(const bough_instance *f, double *time);    /* is one known, and when, s */
BOUGH_API bough_instance_status bough_instance_enter_step(bough_instance *f);

/* ---- Model Exchange: continuous states are q, then u */
BOUGH_API int bough_instance_states(const bough_instance *f);
BOUGH_API bough_instance_status bough_instance_enter_event(bough_instance *f);
/* changes set in event mode take place, and modes of friction, limits and gears; *jumped: continuous states have changed */
BOUGH_API bough_instance_status bough_instance_update(bough_instance *f, int *jumped);
/* Event functions of the variables of kind KIND_INDICATOR, in their order: how many, and their values. Each is positive until
 * an event, and has a small distance from zero after it. */
BOUGH_API size_t bough_instance_indicator_count(const bough_instance *f);
BOUGH_API bough_instance_status bough_instance_indicators(bough_instance *f, double *values, size_t count);
BOUGH_API bough_instance_status bough_instance_enter_continuous(bough_instance *f);
/* the importer has made a step; *event: it is to enter event mode, for loops have drifted and the update will close them */
BOUGH_API bough_instance_status bough_instance_completed_step(bough_instance *f, int *event);
BOUGH_API bough_instance_status bough_instance_set_time(bough_instance *f, double time);
BOUGH_API bough_instance_status bough_instance_set_states(bough_instance *f, const double *x, size_t count);
BOUGH_API bough_instance_status bough_instance_get_states(bough_instance *f, double *x, size_t count);
BOUGH_API bough_instance_status bough_instance_get_rates(bough_instance *f, double *rates, size_t count);
BOUGH_API bough_instance_status bough_instance_get_nominals(bough_instance *f, double *nominals, size_t count);

/* ---- derivatives of the unknowns by the knowns along `seed`; arrays of variables with their values one after the other.
 * Knowns are states, inputs, time and tunable parameters. Derivatives by states, inputs and the hinges' springs, dampers and
 * rotors are exact; by other parameters they are differences of order four, good to some ten digits. */
BOUGH_API bough_instance_status bough_instance_directional(bough_instance *f, const uint32_t *unknowns, size_t n_unknowns,
                                                           const uint32_t *knowns, size_t n_knowns, const double *seed,
                                                           double *sensitivity);
BOUGH_API bough_instance_status bough_instance_adjoint(bough_instance *f, const uint32_t *unknowns, size_t n_unknowns,
                                                       const uint32_t *knowns, size_t n_knowns, const double *seed,
                                                       double *sensitivity);
/* time derivatives of outputs */
BOUGH_API bough_instance_status bough_instance_output_rates(bough_instance *f, const uint32_t *vr, size_t count, double *value);

/* ---- pointer-free snapshots in boxes that the host keeps (`void *`, null before the first) */
BOUGH_API bough_instance_status bough_instance_state_get(bough_instance *f, void **box);
BOUGH_API bough_instance_status bough_instance_state_set(bough_instance *f, void *box);
BOUGH_API bough_instance_status bough_instance_state_free(void **box);
BOUGH_API bough_instance_status bough_instance_state_size(bough_instance *f, void *box, size_t *size);
BOUGH_API bough_instance_status bough_instance_state_write(bough_instance *f, void *box, void *bytes, size_t size);
BOUGH_API bough_instance_status bough_instance_state_read(bough_instance *f, const void *bytes, size_t size, void **box);

/* ---- messages. Formats: %s %d %lu, %g with or without a precision, %% */
BOUGH_API void bough_format(char *text, size_t size, const char *format, ...); /* cut to size, zero-terminated */
BOUGH_API void bough_instance_log(bough_instance *f, bough_instance_status status, int category, const char *format, ...);
BOUGH_API bough_instance_status bough_instance_set_logging(bough_instance *f, int on, size_t count,
                                                           const char *const *categories);
/* a null array where there should be `count` values; logs */
BOUGH_API int bough_instance_missing(bough_instance *f, const void *array, size_t count);

#ifdef __cplusplus
}
#endif
#endif
