/* fmu.h - an FMU instance without the FMI: what the adapters of FMI 2 and FMI 3 share.
 *
 * Knows the kernel (bough.h), not the FMI version. An instance owns everything it uses; there are no globals, so any
 * number of instances may run on any number of threads, one thread per instance at a time. */
#ifndef BOUGH_FMU_H
#define BOUGH_FMU_H

#include <stddef.h>
#include <stdint.h>

#include "bough.h"

/* Not NaN and not infinite, without a library call. */
static inline int fmu_finite(double x) { return x - x == 0.0; }

/* In the order of fmi2Status and fmi3Status. */
typedef enum { FMU_OK, FMU_WARNING, FMU_DISCARD, FMU_ERROR, FMU_FATAL } fmu_status;

/* Kinds of variables; resource.c and engine/bough/mechanism/variable_table.py agree on the numbers. */
typedef enum {
  KIND_TIME = 0,
  KIND_Q = 1,
  KIND_U = 2,
  KIND_QDOT = 3,
  KIND_UDOT = 4,
  KIND_TAU = 5,
  KIND_MOTION = 6,
  KIND_LOAD = 7,
  KIND_FORCE = 8,
  KIND_POSE = 9,
  KIND_VELOCITY = 10,
  KIND_ACCELERATION = 11,
  KIND_REACTION = 12,
  KIND_GRAVITY = 20,
  KIND_DAMPING = 21,
  KIND_STIFFNESS = 22,
  KIND_REST = 23,
  KIND_ARMATURE = 24,
  KIND_MODAL_DAMPING = 25,
  KIND_LOCKED = 26,
  KIND_RIGID = 27,
  KIND_SOLVER_METHOD = 30,
  KIND_SOLVER_STEP = 31,
  KIND_SOLVER_TOLERANCE = 32,
  KIND_SOLVER_MAX_STEP = 33
} fmu_kind;
typedef enum { TYPE_REAL = 0, TYPE_INTEGER = 1, TYPE_BOOLEAN = 2 } fmu_type;
typedef enum { ROLE_FIXED = 0, ROLE_TUNABLE, ROLE_INPUT, ROLE_OUTPUT, ROLE_LOCAL, ROLE_INDEPENDENT } fmu_role;

typedef struct {
  int kind, index, type, role, count;
  int start; /* first slot in the table of start values */
  const char *name;
} fmu_variable;

/* resources/model.bough, read and checked */
typedef struct {
  int n_variables, n_bodies, n_sensors, n_slots;
  int partner, axes; /* which partner, for how many axes; 0, 0: a mechanism */
  const fmu_variable *variable;
  const int *sensor;              /* kernel's node of each sensor */
  const double *start;            /* [n_slots] */
  const char *const *body_name;   /* [n_bodies] */
  const char *const *hinge_name;  /* [n_bodies] */
  const char *token, *model_name;
  const unsigned char *block;
  size_t block_size;
} fmu_resource;
/* Reads `bytes` (which must stay alive); null if damaged, with *why in English, or without memory: *why is null. */
fmu_resource *fmu_resource_read(const unsigned char *bytes, size_t size, const char **why);
uint32_t fmu_crc32(const unsigned char *bytes, size_t size);

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
} fmu_call;

typedef void (*fmu_log_fn)(void *host, fmu_status status, const char *category, const char *text);

/* An error whose status is FMU_DISCARD goes out under LOG_DISCARD. */
enum { LOG_ERROR = 1, LOG_WARNING = 2, LOG_EVENTS = 4, LOG_ALL = 8, LOG_DISCARD = 16, LOG_FATAL = 32 };
enum { LOG_DEFAULT = LOG_ERROR | LOG_WARNING | LOG_DISCARD | LOG_FATAL };
enum { INPUT_ORDERS = BOUGH_INPUT_ORDERS };
#define STEP_LEAST 1e-12 /* s: shorter steps drown in the rounding of the time after the first seconds */
#define TOLERANCE_LEAST 1e-14 /* what rounding lets a step meet; less, and the solver would crawl for ever */

/* What waits to go to the kernel. */
enum {
  CHANGED_PARAMETERS = 1,
  CHANGED_POSITIONS = 2, /* start values: quaternions may need their length set to one */
  CHANGED_INPUTS = 4     /* partners: inputs have been set since the last step */
};


/* What save and restore copy, apart from the arrays and the run itself. */
typedef struct {
  int64_t state, cosimulation, running;
  int64_t changed; /* CHANGED_... */
  int64_t jumped;  /* speeds have jumped since the last update of discrete states */
  double time, input_time;    /* s; when the inputs were set */
  double start_time, stop_time;
  double solver_step, solver_tolerance, solver_max_step;
  int64_t solver_method, stop_defined, input_order;
  int64_t tolerance_set; /* solver.tolerance was set to another value than the model's: it wins over the experiment's */
} fmu_clock;

typedef struct fmu_instance {
  fmu_clock now;
  int nq, nu, n_loads, log_mask;
  const fmu_resource *resource;
  unsigned char *bytes; /* of the resource */
  bough_model *model;
  bough_data *data;
  bough_sim *sim;
  bough_sim_options sim_options; /* what the run was made with */
  int dynamics_fresh, sensors_fresh;
  int inputs_set; /* an input was set: cleared before a step's call back, read after it */
  /* saved arrays, one after the other */
  double *arrays;
  size_t array_count;
  double *q, *u, *tau, *motion, *loads;
  double *inputs_dot;   /* [INPUT_ORDERS][2*nu + 6*loads] derivatives of tau, motion, loads, behind which they lie */
  double *gravity, *damping, *stiffness, *rest, *armature, *modal, *rigid, *locked;
  /* computed */
  double *qdot, *udot, *force, *reaction, *pose, *velocity, *acceleration;
  struct partner *partner; /* what a partner keeps besides its variables */
  double *work;         /* [6*nu + 2*nq + 6*loads + 20] */
  /* as the model has them, whatever was set or restored since */
  double *first;        /* [array_count] saved arrays */
  fmu_clock first_clock;
  double *inertia, *held; /* the kernel's, [10*bodies] and [nu] */
  unsigned char *free_slot; /* [array_count] 1: what may differ from `first`; 0: no variable reaches it */
  unsigned char *stop;  /* [nu] */
  char *name;
  fmu_log_fn log;
  void *host;
  const char *function; /* FMI name of the call in progress, for messages */
} fmu_instance;

/* ---- log.c */
void fmu_format(char *text, size_t size, const char *format, ...); /* cut to size, zero-terminated */
void fmu_log(fmu_instance *f, fmu_status status, int category, const char *format, ...);
/* no memory for what the call in progress needs; logs and returns FMU_ERROR */
fmu_status fmu_no_memory(fmu_instance *f);
#define FMU_NO_MEMORY_CURE "free instances that are not needed, or close other programs"
#define FMU_NO_INSTANCE "instantiation: there is no memory. Cure: " FMU_NO_MEMORY_CURE "." /* before there is a `f` */
fmu_status fmu_set_logging(fmu_instance *f, int on, size_t count, const char *const *categories);

/* ---- calls.c */
/* a null array where there should be `count` values; logs */
int fmu_missing(fmu_instance *f, const void *array, size_t count);
/* not as many values as continuous states; logs */
int fmu_wrong_states(fmu_instance *f, const void *x, size_t count);
/* continuous states in and out, and their rates: q, then u */
fmu_status fmu_set_states(fmu_instance *f, const double *x, size_t count);
fmu_status fmu_get_states(fmu_instance *f, double *x, size_t count);
fmu_status fmu_set_time(fmu_instance *f, double time);
fmu_status fmu_enter_continuous(fmu_instance *f);
fmu_status fmu_get_rates(fmu_instance *f, double *rates, size_t count);
fmu_status fmu_get_nominals(fmu_instance *f, double *nominals, size_t count);
const char *fmu_state_name(int64_t state);
/* is `call` allowed now? Sets the function's name for messages; logs and returns 0 if not. */
int fmu_allowed(fmu_instance *f, fmu_call call, const char *function);

/* ---- location.c */
/* A path from a file URI (file:/x, file:///x, file://localhost/x, percent-encoded) or from a plain path, with
 * "/model.bough" added; null without memory. The caller frees. */
char *fmu_resource_path(const char *location);
/* The bytes of a file and their number; null if it cannot be read (*size is 0) or there is no memory for it (*size is not). */
unsigned char *fmu_read_file(const char *path, size_t *size);

/* ---- open.c: what every FMU does alike */
/* An instance with its resource, and nothing else; `token` null: do not check. On failure logs through the call back and
 * returns null. Messages are on until `log_mask` is set. */
fmu_instance *fmu_open(const char *name, const char *token, const char *location, int cosimulation, int log_mask,
                       fmu_log_fn log, void *host);
const fmu_variable *fmu_find(fmu_instance *f, uint32_t vr, fmu_type type);
size_t fmu_slots(fmu_instance *f, const uint32_t *vr, size_t count, int *bad);
fmu_status fmu_setup(fmu_instance *f, double start, int tolerance_defined, double tolerance, int stop_defined,
                     double stop);
fmu_status fmu_terminate(fmu_instance *f);
/* the integrator that the solver's settings ask for */
bough_sim_options fmu_sim_options(const fmu_clock *now);
/* not a step that can follow now; logs */
int fmu_wrong_step(fmu_instance *f, double time, double step);

/* ---- instance.c: from here on the mechanism; partners (motors, controllers) have functions of the same names */
/* which kinds exist, and whether a variable of that kind may have this type and role */
int fmu_kind_ok(int kind, int type, int role);
/* As `fmu_open`, and ready for calls. */
fmu_instance *fmu_create(const char *name, const char *token, const char *location, int cosimulation, int log_mask,
                         fmu_log_fn log, void *host);
void fmu_free(fmu_instance *f);
fmu_status fmu_reset(fmu_instance *f);
fmu_status fmu_enter_initialization(fmu_instance *f);
fmu_status fmu_exit_initialization(fmu_instance *f);

/* ---- values.c */
/* where the numbers of a variable are; null for time and the solver's settings */
double *fmu_place(fmu_instance *f, const fmu_variable *v);
/* values of one variable, `count` of them; status OK, DISCARD (not finite, out of range) or ERROR */
fmu_status fmu_get(fmu_instance *f, const fmu_variable *v, double *value);
fmu_status fmu_set(fmu_instance *f, const fmu_variable *v, const double *value);
/* what fmu_set would say, with its message, but nothing is set: a call that sets several changes all or none */
fmu_status fmu_check(fmu_instance *f, const fmu_variable *v, const double *value);

/* ---- evaluate.c */
fmu_status fmu_apply(fmu_instance *f);              /* pending parameters and locks into the kernel */
fmu_status fmu_evaluate(fmu_instance *f, int sensors);
/* derivative of the unknowns by the knowns along `seed`; arrays of variables with their values one after the other */
fmu_status fmu_directional(fmu_instance *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                           size_t n_knowns, const double *seed, double *sensitivity);
fmu_status fmu_adjoint(fmu_instance *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                       size_t n_knowns, const double *seed, double *sensitivity);
fmu_status fmu_output_rates(fmu_instance *f, const uint32_t *vr, size_t count, double *value);
/* message for a kernel status: which body, which hinge, when, what to do */
void fmu_explain(fmu_instance *f, fmu_status level, bough_status status, bough_where where, const char *what);

/* ---- step.c */
/* Co-Simulation: to time + step. `reached` is where it got to. The hook (may be null) is called after every internal
 * step; non-zero asks to return early. */
typedef int (*fmu_hook)(void *user, double time);
fmu_status fmu_step(fmu_instance *f, double time, double step, fmu_hook hook, void *user, double *reached);
fmu_status fmu_input_derivative(fmu_instance *f, const fmu_variable *v, int order, const double *value);

/* ---- for snapshots */
/* values.c: could an instance hold these arrays at this clock? Every number through the checks of fmu_set. */
int fmu_state_fits(fmu_instance *f, const fmu_clock *now, const double *arrays);
/* evaluate.c: clock and arrays are another state's: bring the kernel's parameters in line with them */
void fmu_state_taken(fmu_instance *f);

/* ---- state.c: pointer-free snapshots in boxes that the host keeps (`void *`, null before the first) */
fmu_status fmu_state_get(fmu_instance *f, void **box);
fmu_status fmu_state_set(fmu_instance *f, void *box);
fmu_status fmu_state_free(void **box);
fmu_status fmu_state_size(fmu_instance *f, void *box, size_t *size);
fmu_status fmu_state_write(fmu_instance *f, void *box, void *bytes, size_t size);
fmu_status fmu_state_read(fmu_instance *f, const void *bytes, size_t size, void **box);

#endif
