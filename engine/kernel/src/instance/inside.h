/* inside.h - what is behind instance.h: what all instances have, and the record of functions that tells a mechanism from
 * a partner. */
#ifndef BOUGH_INSIDE_H
#define BOUGH_INSIDE_H

#include <stdarg.h>

#include "instance.h"
#include "internal.h"

/* A resource, read and checked. */
typedef struct {
  int n_variables, n_bodies, n_sensors, n_slots;
  int partner, axes; /* which partner, for how many axes; 0, 0: a mechanism */
  const bough_variable *variable;
  const int *sensor;              /* kernel's node of each sensor */
  const double *start;            /* [n_slots] */
  const double *nominal;          /* [n_slots] size of usual values */
  const char *const *body_name;   /* [n_bodies] */
  const char *const *hinge_name;  /* [n_bodies] */
  const char *token, *model_name;
  const unsigned char *block;
  size_t block_size;
} bough_resource;
/* Reads `bytes` (which must stay alive); null if damaged, with *why in English, or without memory: *why is null. */
bough_resource *bough_resource_read(const unsigned char *bytes, size_t size, const char **why);
uint32_t bough_crc32(const unsigned char *bytes, size_t size);

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
#define CLOCK_REAL double
#define CLOCK_INTEGER int64_t
#define CLOCK_ENUMERATION int64_t
typedef struct {
#define BOUGH_CLOCK(type, member, check) type member;
#define BOUGH_SETTING(number, KIND, member, type, range) CLOCK_##type member;
#include "fields.def"
} bough_clock;

/* What a mechanism and a partner do in their own ways; instance.c calls it. Whatever fails logs. */
typedef struct {
  int (*kind_ok)(int kind, int type, int role); /* may a variable of this kind have this type and role? */
  int (*open)(bough_instance *f);               /* from the resource to start values; 1 if well */
  void (*close)(bough_instance *f);             /* what open took; also after it failed */
  void (*reset)(bough_instance *f);
  bough_instance_status (*enter)(bough_instance *f); /* initialization mode */
  bough_instance_status (*exit)(bough_instance *f);
  bough_instance_status (*apply)(bough_instance *f); /* what has been set takes place */
  bough_instance_status (*evaluate)(bough_instance *f, int sensors);
  bough_instance_status (*get)(bough_instance *f, const bough_variable *v, double *value);
  bough_instance_status (*check)(bough_instance *f, const bough_variable *v, const double *value);
  void (*set)(bough_instance *f, const bough_variable *v, const double *value); /* checked */
  bough_instance_status (*step)(bough_instance *f, double end, bough_hook hook, void *user);
  bough_instance_status (*settle)(bough_instance *f, int *jumped); /* discrete states at an event; null: there are none */
  int (*state_fits)(bough_instance *f, const bough_clock *now, const double *arrays); /* could it have this state? */
  void (*state_taken)(bough_instance *f); /* clock and arrays are another state's: the kernel's parameters follow */
  /* null: not offered */
  double (*next_event)(const bough_instance *f); /* s; only where event mode may be used */
  bough_instance_status (*input_derivative)(bough_instance *f, const bough_variable *v, int order, const double *value);
  bough_instance_status (*directional)(bough_instance *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                       size_t n_knowns, const double *seed, double *sensitivity);
  bough_instance_status (*adjoint)(bough_instance *f, const uint32_t *unknowns, size_t n_unknowns, const uint32_t *knowns,
                                   size_t n_knowns, const double *seed, double *sensitivity);
  bough_instance_status (*output_rates)(bough_instance *f, const uint32_t *vr, size_t count, double *value);
} bough_instance_type;
extern const bough_instance_type bough_mechanism_type, bough_partner_type;
/* The type that a resource asks for. */
static inline const bough_instance_type *bough_type_of(int partner) {
  return partner ? &bough_partner_type : &bough_mechanism_type;
}

struct bough_instance {
  const bough_instance_type *type;
  bough_clock now;
  int nq, nu, n_loads, log_mask;
  int event_mode; /* samples are taken in event mode: of Co-Simulation, if the host uses it, and of Model Exchange */
  const bough_resource *resource;
  unsigned char *bytes; /* of the resource */
  bough_model *model;
  bough_data *data;
  bough_sim *sim;
  bough_sim_options sim_options; /* what the run was made with */
  int dynamics_fresh, sensors_fresh;
  int has_local, has_deflection; /* there are variables of these kinds */
  int inputs_set; /* an input was set: cleared before a step's call back, read after it */
  /* saved arrays, one after the other: of a mechanism states, inputs, inputs_dot, parameters */
  double *arrays;
  size_t array_count;
  double *inputs; /* [inputs_width] all inputs; the members below are parts of it */
  int inputs_width;
  bough_input_fn input; /* what changes inputs at a stage, or null */
  void *input_user;
  double *stage_inputs; /* [inputs_width] at the point of an evaluation, if there is such a function */
  double *inputs_dot; /* [INPUT_ORDERS][inputs_width] their derivatives */
#define BOUGH_STATE(number, KIND, member, count) double *member;
#define BOUGH_INPUT(number, KIND, member, count) double *member;
#define BOUGH_PARAMETER(number, KIND, member, count, type, range, kernel) double *member;
#define BOUGH_VALUE(number, KIND, member, count, type, when) double *member;
#define BOUGH_DISCRETE(number, KIND, member, count, kernel) double *member;
#include "fields.def"
  double *parameters, *values; /* the first of each; values are those of bough_evaluate, value_count in all */
  size_t value_count;
  double *work; /* [nq + nu] */
  /* as the model has them, whatever was set or restored since */
  double *first;        /* [array_count] saved arrays */
  bough_clock first_clock;
  double *closing;      /* [2*(nq + nu)] assembly, where there are loops */
  double *inertia, *held; /* the kernel's, [10*bodies] and [nu] */
  unsigned char *free_slot; /* [array_count] 1: what may differ from `first`; 0: no variable reaches it */
  unsigned char *stop;  /* [nu] */
  struct partner *partner; /* what a partner keeps besides its variables */
  bough_log_fn log;
  void *host;
  const char *function; /* FMI name of the call in progress, for messages */
};

/* ---- log.c */
/* no memory for what the call in progress needs; logs and returns INSTANCE_ERROR */
bough_instance_status bough_instance_no_memory(bough_instance *f);
/* ---- text.c */
/* one number as printf's %.*g writes it, with at most 17 digits; text has room for 32 characters */
void bough_number(char *text, double x, int digits);
void bough_format_list(char *text, size_t size, const char *format, va_list list);

/* ---- calls.c */
const char *bough_instance_state_name(int64_t state);

/* ---- instance.c */
bough_instance_status bough_instance_apply(bough_instance *f);
bough_instance_status bough_instance_evaluate(bough_instance *f, int sensors);

/* ---- of mechanisms. fields.c: which arrays there are */
int bough_field_count(const bough_instance *f, int kind); /* how many numbers there are of a kind */
double *bough_field(const bough_instance *f, const bough_variable *v); /* where they are; null for time and settings */
int bough_field_input(const bough_instance *f, const bough_variable *v); /* place of an input among all inputs */
int bough_mechanism_kind_ok(int kind, int type, int role);
/* values.c */
bough_instance_status bough_mechanism_get(bough_instance *f, const bough_variable *v, double *value);
bough_instance_status bough_mechanism_check(bough_instance *f, const bough_variable *v, const double *value);
void bough_mechanism_set(bough_instance *f, const bough_variable *v, const double *value);
int bough_mechanism_state_fits(bough_instance *f, const bough_clock *now, const double *arrays);
/* evaluate.c */
bough_instance_status bough_mechanism_apply(bough_instance *f);
bough_instance_status bough_mechanism_evaluate(bough_instance *f, int sensors);
void bough_mechanism_state_taken(bough_instance *f);
/* quaternions become of length one; 0 if one is zero, with a message */
int bough_mechanism_fix_quaternions(bough_instance *f, double *q);
bough_status bough_mechanism_set_parameters(bough_instance *f); /* into the kernel */
/* Discrete states as the state asks for them; `fresh`: whatever they were. *jumped (may be null): q or u has changed. */
bough_instance_status bough_mechanism_settle(bough_instance *f, int fresh, int *jumped);
/* discrete states of the kernel into the instance */
void bough_mechanism_keep_modes(bough_instance *f);
/* message for a kernel status: which body, which hinge, when, what to do */
void bough_instance_explain(bough_instance *f, bough_instance_status level, bough_status status, bough_where where,
                            const char *what);
/* where the instance is. Before initialization ends quaternions may have any length: the point then has them scaled to one,
 * in f->work; null positions if one is zero, with a message */
bough_point bough_instance_point(bough_instance *f);
/* warnings of the kernel into the log, by the names of the bodies */
void bough_mechanism_warn(bough_instance *f);
/* a step of the importer's is kept: what has been passed on the way is told */
void bough_mechanism_kept(bough_instance *f);
/* closing.c: loops and couplings */
#define BOUGH_PULL 10.0 /* 1/s, Model Exchange: rates draw open loops shut, without making them stiff */
int bough_mechanism_loops(const bough_instance *f); /* are there any? */
/* start values that close, from those that were written; before the run */
bough_instance_status bough_mechanism_assemble(bough_instance *f);
bough_instance_status bough_mechanism_hand_over(bough_instance *f, bough_data *data, double *q, double *u);
/* has the importer's integration opened them so far that an event is worth it? */
int bough_mechanism_drifted(bough_instance *f);
/* close them at an event; jumped is set where states have changed */
bough_instance_status bough_mechanism_close(bough_instance *f);
/* name of loop or coupling `index` of where.constraint, into text; "" if there is none */
const char *bough_mechanism_constraint(const bough_instance *f, int index, char *text, size_t size);
/* derivatives.c */
bough_instance_status bough_mechanism_directional(bough_instance *f, const uint32_t *unknowns, size_t n_unknowns,
                                                  const uint32_t *knowns, size_t n_knowns, const double *seed,
                                                  double *sensitivity);
bough_instance_status bough_mechanism_adjoint(bough_instance *f, const uint32_t *unknowns, size_t n_unknowns,
                                              const uint32_t *knowns, size_t n_knowns, const double *seed,
                                              double *sensitivity);
bough_instance_status bough_mechanism_output_rates(bough_instance *f, const uint32_t *vr, size_t count, double *value);
/* step.c */
/* the run of a Co-Simulation: all its memory; its start, or none if the first step has to say why; its end */
bough_instance_status bough_mechanism_allocate_run(bough_instance *f);
void bough_mechanism_start_run(bough_instance *f);
void bough_mechanism_drop_run(bough_instance *f);
bough_instance_status bough_mechanism_step(bough_instance *f, double end, bough_hook hook, void *user);
bough_instance_status bough_mechanism_input_derivative(bough_instance *f, const bough_variable *v, int order,
                                                       const double *value);
/* the integrator that the solver's settings ask for */
bough_sim_options bough_instance_sim_options(const bough_clock *now);

#endif
