/* bough.h - order-N dynamics of trees of rigid and flexible bodies.
 *
 * The one public header of the kernel. The algorithms are those of A. Jain and G. Rodriguez, "Recursive
 * Flexible Multibody System Dynamics Using Spatial Operators", J. Guidance, Control and Dynamics 15 (1992)
 * 1453-1466; numbers in parentheses are its equations. NOTATION.md maps symbols to names.
 *
 * Memory: a model and a data object each own one allocation made at creation; nothing is allocated, and no
 * global is written, afterwards. A model is immutable and may be shared by any number of data objects and
 * threads; a data object belongs to one thread at a time.
 * Units: SI and radians. Spatial vectors have six numbers, the angular part first. Quaternions are x, y, z, w.
 */
#ifndef BOUGH_H
#define BOUGH_H

#include <stddef.h>
#include <stdint.h>

#ifndef BOUGH_API
#if defined(_WIN32) || defined(BOUGH_PLAIN_C) || !defined(__GNUC__)
#define BOUGH_API
#else
#define BOUGH_API __attribute__((visibility("default")))
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define BOUGH_BLOCK_VERSION 8

typedef enum {
  BOUGH_OK = 0,
  BOUGH_NO_MEMORY,      /* an allocation failed */
  BOUGH_BAD_BLOCK,      /* the model block is not one, is damaged, or has another version */
  BOUGH_BAD_ARGUMENT,   /* a null pointer, an index or a size out of range */
  BOUGH_SINGULAR,       /* an articulated inertia is not positive: where.body */
  BOUGH_NOT_FINITE,     /* NaN or infinity came out: where.body */
  BOUGH_STEP_TOO_SMALL, /* the integrator cannot meet its tolerance: where.time */
  BOUGH_STOPPED,        /* the caller's input function asked to stop */
  BOUGH_PAUSED,         /* not an error: as many attempts as options.pause allows are made; call again to go on */
  BOUGH_OPEN            /* a loop or a coupling cannot be kept closed: where.constraint */
} bough_status;

/* What happened and where: index of the body (-1 if none), time (s), and 1 + the index of the constraint (0 if none; loops
 * first, then couplings). */
typedef struct {
  int body;
  double time;
  int constraint;
} bough_where;

typedef struct bough_model bough_model;
typedef struct bough_data bough_data;

/* One line of English for a status. Never null. */
BOUGH_API const char *bough_status_text(bough_status status);

/* ---- model: a checked copy of a model block (see model_block.c for the layout) */
BOUGH_API bough_status bough_model_create(const void *block, size_t size, bough_model **model);
BOUGH_API void bough_model_free(bough_model *model);
typedef struct {
  int nq, nu;    /* position coordinates, generalized speeds */
  int bodies;
  int nodes;     /* named ones, all bodies */
  int loads;     /* rows of loads: nodes that take a load, then elements with inputs */
  int elements, element_values; /* forces between nodes, and the numbers that they tell */
  int loops, couplings;
  int rows;      /* equations of loops and couplings, in their order */
  int drives;    /* hinge DOFs with friction or limits */
  int modes;     /* numbers that friction, limits and gears remember */
  int indicators; /* event functions of theirs */
  size_t memory; /* bytes */
} bough_sizes;
BOUGH_API bough_sizes bough_model_sizes(const bough_model *model); /* zeros for null */
/* First coordinate and speed of a body's hinge, and how many of each. */
typedef struct {
  int q0, nq, u0, nu;
} bough_range;
BOUGH_API bough_range bough_model_hinge(const bough_model *model, int body);

/* ---- data: parameters that may change, and workspace */
enum { BOUGH_LANES_ONE = 0, BOUGH_LANES_BATCH = 1, BOUGH_LANES_TANGENT = 2 };
BOUGH_API bough_status bough_data_create(const bough_model *model, int lanes, bough_data **data);
BOUGH_API void bough_data_free(bough_data *data);
BOUGH_API size_t bough_data_memory(const bough_data *data);
BOUGH_API bough_where bough_data_where(const bough_data *data); /* of the last status that was not BOUGH_OK */
BOUGH_API int bough_data_isa(const bough_data *data);           /* 0 baseline, 1 x86-64-v3 */
BOUGH_API bough_status bough_data_set_isa(bough_data *data, int isa);

/* Parameters: arrays indexed like u unless said otherwise. Set copies in, get copies out. */
typedef enum {
  BOUGH_GRAVITY,   /* [3] m/s^2, inertial frame */
  BOUGH_DAMPING,   /* [nu] hinge DOFs: N.m.s/rad or N.s/m; entries of modes are ignored */
  BOUGH_STIFFNESS, /* [nu] hinge DOFs: N.m/rad or N/m */
  BOUGH_REST,      /* [nu] hinge DOFs: rad or m */
  BOUGH_ARMATURE,  /* [nu] hinge DOFs: kg.m^2 or kg */
  BOUGH_HELD,      /* [nu] non-zero: the acceleration is given and the force is found */
  BOUGH_INERTIA,   /* [bodies][10] mass, first moment (3), Jxx Jyy Jzz Jxy Jxz Jyz about the frame; kernel axes */
  BOUGH_MODAL_DAMPING_SCALE, /* [bodies] factor on the modal damping matrix, 1 at creation */
  BOUGH_MODE       /* [modes] what friction, limits and gears remember; of use once bough_data_remember is on */
} bough_parameter;
BOUGH_API bough_status bough_data_set(bough_data *data, bough_parameter which, const double *values, int count);
BOUGH_API bough_status bough_data_get(const bough_data *data, bough_parameter which, double *values, int count);
/* All parameters of another data object, of the same model or one made from the same block. */
BOUGH_API bough_status bough_data_copy(bough_data *data, const bough_data *from);

/* ---- the seam: everything that follows from a point of the state space, by articulated bodies, (63)-(64), and node kinematics
 * that are exact for the deformed frames at either fidelity */
typedef struct {
  double t;            /* s; where a failure says it happened */
  const double *q, *u; /* [nq], [nu] */
  const double *tau;   /* [nu] applied generalized forces; springs, dampers, elasticity and gravity are the system's own */
  const double *motion; /* [nu] accelerations of held DOFs */
  const double *loads;  /* [loads][6] torque and force at each load node, inertial frame; of elements: torque and force in
                         * node axes, or the force of an actuator, N, and five numbers that do not count */
  const double *udot;   /* [nu] accelerations where they are known: no dynamics are computed, and udot, force and reaction
                         * cannot be asked for; null: they follow from the rest */
} bough_point; /* null where zero; q and u of the point itself must be there */

typedef struct {
  double *qdot;         /* [nq] */
  double *udot;         /* [nu] */
  double *force;        /* [nu] tau of free DOFs, the force that was needed of held ones */
  double *reaction;     /* [bodies][6] torque and force that the inboard side exerts on the body through its hinge, at the
                         * outboard frame's origin, in the outboard frame's (the user's) axes */
  double *pose;         /* [count][7] position and quaternion of the nodes asked for, inertial frame */
  double *velocity;     /* [count][6] angular then linear, inertial frame */
  double *acceleration; /* [count][6] the same; gravity is not in it */
  double *local;        /* [count][9] velocity, angular velocity and specific force (acceleration less gravity), node axes */
  double *deflection;   /* [count][6] how modes move (m) and turn (rad) the node, the user's body axes; zero on rigid bodies */
  double *closure;      /* [loops][6] torque and force that the first side of a loop exerts on the second, at the origin and
                         * in the axes of the second frame; of redundant ones the smallest share */
  double *coupling;     /* [couplings] multiplier: force on a coordinate over its factor */
  double *element;      /* [element_values] of forces between nodes, one after the other: distance s (m), its rate v (m/s), the
                         * force f (N) along increasing s; of a bushing s, v, f, phi, w, tau, three each, in the axes of the
                         * first frame; of a contact s is the gap; of a wheel its momentum (N.m.s) */
  double *friction;     /* [drives] force that friction exerts, N.m or N */
  double *sticking;     /* [drives] 1: friction holds the DOF at rest, 0: it does not; no derivatives */
  double *contact;      /* [drives] limit that the DOF touches: -1 lower, 1 upper, 0 none; no derivatives */
  double *indicator;    /* [indicators] event functions of bough_indicators, each with its hysteresis */
} bough_values; /* null where not wanted */

/* The values at a point; only what they need is computed. */
BOUGH_API bough_status bough_evaluate(const bough_model *model, bough_data *data, const bough_point *at, int count,
                                      const int *nodes, const bough_values *values);
/* The same at `rows` points: all arrays hold one row after the other, but loads and t, which are those of all rows. Stops
 * at the first point that fails; what comes before it is done. */
BOUGH_API bough_status bough_evaluate_rows(const bough_model *model, bough_data *data, int rows, const bough_point *at,
                                           int count, const int *nodes, const bough_values *values);
/* dz = derivative of the values at `at` along `direction`, to the last digits (complex step). `data` is made with
 * BOUGH_LANES_TANGENT; neither point may give udot. */
BOUGH_API bough_status bough_directional(const bough_model *model, bough_data *data, const bough_point *at,
                                         const bough_point *direction, int count, const int *nodes,
                                         const bough_values *dz);
/* dtau [nu] = derivative along `direction` of the forces that udot takes at `at` (inverse dynamics): q, u, udot and loads
 * count, the rest does not. No pivot is needed, so that it is there where the inertia is singular. `data` as above. */
BOUGH_API bough_status bough_inverse_directional(const bough_model *model, bough_data *data, const bough_point *at,
                                                 const bough_point *direction, double *dtau);
/* Accelerations of `count` states without given motion and loads, stored one after the other: four at a time share the
 * vector lanes. `data` is made with BOUGH_LANES_BATCH. */
BOUGH_API bough_status bough_forward_dynamics_batch(const bough_model *model, bough_data *data, int count,
                                                    const double *q, const double *u, const double *tau,
                                                    double *udot);

/* ---- other algorithms, for `count` states stored one after the other. They stop at the first that fails; what comes before
 * it is done. Arguments are those of a bough_point; motion and loads may be null, loads are the same for all states. */

/* Composite-body forward dynamics, (46) and (50), with a dense Cholesky factorization.
 * work: [nu*nu + nu] doubles. */
BOUGH_API bough_status bough_forward_composite(const bough_model *model, bough_data *data, int count, const double *q,
                                               const double *u, const double *tau, const double *motion,
                                               const double *loads, double *work, double *udot);
/* Newton-Euler inverse dynamics, (45). */
BOUGH_API bough_status bough_inverse_dynamics(const bough_model *model, bough_data *data, int count, const double *q,
                                              const double *u, const double *udot, const double *loads,
                                              double *tau);
/* Mass matrix by composite bodies, (50), row-major [nu*nu], armature included. */
BOUGH_API bough_status bough_mass_matrix(const bough_model *model, bough_data *data, int count, const double *q,
                                         double *M);
/* Innovations factorization, (51) and (54): M = L D L', both dense row-major [nu*nu]; L has a unit block
 * diagonal, D is block diagonal with a block for each body's modes and one for its hinge. L is lower block
 * triangular when bodies are numbered tip to base, as in the paper; here, base to tip, it is upper. */
BOUGH_API bough_status bough_mass_factors(const bough_model *model, bough_data *data, int count, const double *q,
                                          double *L, double *D);
/* x = M^-1 y by (56): one inward and one outward sweep. */
BOUGH_API bough_status bough_mass_solve(const bough_model *model, bough_data *data, int count, const double *q,
                                        const double *y, double *x);
/* Energy [count][4]: kinetic, gravitational, elastic and spring energy, J. Momentum [count][6]: angular about the inertial
 * origin, then linear, inertial frame. Either may be null. */
BOUGH_API bough_status bough_energy(const bough_model *model, bough_data *data, int count, const double *q,
                                    const double *u, double *energy, double *momentum);

/* ---- loops and couplings: rows g(q) = 0 and J u = 0, in m and rad */

/* Residuals g [rows] and J u [rows], Jdot u [rows], and J [rows][nu]; each may be null. Rows of rolling without slip have no g. */
BOUGH_API bough_status bough_residuals(const bough_model *model, bough_data *data, const double *q, const double *u, double *g,
                                       double *rate, double *bias, double *J);
/* Rank of J on the DOFs that are not held, and the rows [rows] that say nothing new (may be null). */
BOUGH_API bough_status bough_freedom(const bough_model *model, bough_data *data, const double *q, int *rank,
                                     unsigned char *redundant);
/* Close the loops from a state near by: positions, then speeds, nearest in the measure of M; held DOFs stay. BOUGH_OPEN: more
 * than 1e-10 is left. */
BOUGH_API bough_status bough_project(const bough_model *model, bough_data *data, double *q, double *u);
/* drate [rows] = derivative of J u along dq [nq], u constant, exact. `data` is made with BOUGH_LANES_TANGENT. */
BOUGH_API bough_status bough_rate_directional(const bough_model *model, bough_data *data, const double *q, const double *u,
                                              const double *dq, double *drate);
/* Constraint that a row belongs to, loops first; -1: there is no such row. *turns (may be null): it is in rad. */
BOUGH_API int bough_row_owner(const bough_model *model, int row, int *turns);

/* ---- warnings before the theory ends: modes are linear, and the answer is wrong where a body leaves the limits of its modes */
typedef enum {
  BOUGH_WARN_SPIN,       /* it turns near its first frequency without geometric stiffening: rad/s, first frequency rad/s */
  BOUGH_WARN_WHIRL,      /* the same of a ruthless body, whose gyroscopic terms are left out */
  BOUGH_WARN_AXIAL,      /* it is loaded along its axis without geometric stiffening: N (positive presses), buckling load N */
  BOUGH_WARN_DEFLECTION, /* it bends by more than a tenth of its length: m, limit m */
  BOUGH_WARN_INERTIA,    /* it bends so far that its inertia is about to lose its positive pivots: m, limit m */
  BOUGH_WARN_UNDAMPED,   /* its modes are ruthless and undamped: first frequency rad/s, 0 */
  BOUGH_WARN_KINDS
} bough_warning_kind;
typedef struct {
  int kind, body;
  double t;            /* s */
  double value, limit; /* what was passed, and what it is compared with */
  double length;       /* m, of the body */
} bough_warning;
/* Compare a state, or reactions [bodies][6] as bough_evaluate gives them, with the limits; either may be null. Runs do it
 * themselves after every accepted step, and bough_sim_record at every row. */
BOUGH_API bough_status bough_data_watch(const bough_model *model, bough_data *data, double t, const double *q, const double *u,
                                        const double *reaction);
/* The next warning that was not fetched yet: 1, or 0 if there is none. Each body gives each kind once. */
BOUGH_API int bough_data_warning(bough_data *data, bough_warning *warning);
/* One line of English: what, the number that was passed, and the cure. */
BOUGH_API void bough_warning_text(const bough_warning *warning, const char *body, char *text, size_t size);
/* ---- friction, limits and gears. Each remembers a mode: what sticks, slips and in which direction, touches, has latched.
 * Without memory the modes follow from the state at every evaluation: what moves slips, what is at rest sticks as far as
 * forces let it. With memory they change at events only. */
BOUGH_API bough_status bough_data_remember(bough_data *data, int on);
/* Modes that the point asks for, where events have come: speeds jump where a rigid limit is hit. q and u are those of `at`,
 * and may change. *changed (may be null): q, u or a mode is another. `fresh`: whatever the modes were before. */
BOUGH_API bough_status bough_settle(const bough_model *model, bough_data *data, const bough_point *at, double *q, double *u,
                                    int fresh, int *changed);
/* Event functions [indicators] at a point: each is positive until its mode has to change. One evaluation. */
BOUGH_API bough_status bough_indicators(const bough_model *model, bough_data *data, const bough_point *at, double *z);

/* ---- changes of state and parameters */

/* Speeds after the held DOFs marked in `stop` [nu] are brought to rest at once by an impulse in their hinges: momentum
 * of everything else is kept, other held DOFs keep their speed. Loops and couplings stay closed. */
BOUGH_API bough_status bough_stop_impulse(const bough_model *model, bough_data *data, const double *q,
                                          const unsigned char *stop, double *u);
/* Mass, mass centre and inertia about it (Ixx Iyy Izz Ixy Ixz Iyz) of a rigid body, in the user's axes. */
BOUGH_API bough_status bough_data_set_rigid(bough_data *data, int body, double mass, const double com[3],
                                            const double inertia[6]);
/* Scale every quaternion in q to unit length. */
BOUGH_API void bough_normalize(const bough_model *model, double *q);

/* ---- time integration */
typedef enum { BOUGH_RK4 = 0, BOUGH_DOPRI5 = 1, BOUGH_ROSENBROCK2 = 2, BOUGH_RADAU5 = 3, BOUGH_AUTO = 4 } bough_method;
/* what options.step means to a method: the step; the step, or if zero an adaptive one; the first step */
typedef enum { BOUGH_STEP_FIXED = 0, BOUGH_STEP_EITHER = 1, BOUGH_STEP_ADAPTIVE = 2 } bough_stepping;
typedef struct {
  const char *name;
  const char *note; /* what it is for, in two words */
  int order;        /* of the result; errors that steer the step fall with h to this power */
  int stepping;     /* bough_stepping */
} bough_method_facts;
/* Facts of a method by its number; null: there is none, and none after it. */
BOUGH_API const bough_method_facts *bough_method_about(int method);

typedef struct bough_sim bough_sim;

/* Inputs at time t and state q [nq], u [nu] of a stage: change tau [nu], motion [nu] and loads [loads][6], which hold what
 * bough_sim_set_inputs gave. A non-zero return stops the run. */
typedef int (*bough_input_fn)(void *user, double t, const double *q, const double *u, double *tau, double *motion,
                              double *loads);

typedef struct {
  int method;      /* bough_method */
  double rtol;     /* relative tolerance; DOPRI5, and ROSENBROCK2 when step is zero */
  double atol;     /* absolute tolerance of positions; that of speeds, per second, is a hundred times as much. Zero: each
                    * coordinate is judged by the size of its own motion (tolerance.c) */
  double step;     /* s, fixed step; DOPRI5: first step (zero: chosen) */
  double step_max; /* s, no step is longer; zero: no bound */
  int64_t pause;   /* bough_sim_advance returns BOUGH_PAUSED after so many attempts at a step; zero: never */
} bough_sim_options;

typedef struct {
  int64_t steps, rejected, evaluations;
} bough_sim_counts;

/* The run evaluates with `data`, which must outlive it; parameters set there hold from the next step on. */
BOUGH_API bough_status bough_sim_create(const bough_model *model, bough_data *data, const bough_sim_options *options,
                                        bough_sim **sim);
BOUGH_API void bough_sim_free(bough_sim *sim);
/* Start (or restart) at time t with state q, u. */
BOUGH_API bough_status bough_sim_start(bough_sim *sim, double t, const double *q, const double *u);
/* Inputs from now on, as polynomials in the time since `t`: values[j] is the j-th derivative, j = 0 .. order, of tau [nu],
 * motion [nu] and loads [loads][6], one after the other. They hold until the next call. Where an input jumps or bends, end a
 * step there and call this: a step never looks across the change. */
enum { BOUGH_INPUT_ORDERS = 3 };
BOUGH_API bough_status bough_sim_set_inputs(bough_sim *sim, double t, int order, const double *values);
/* Advance to time t; q and u get the state there. Adaptive methods may have stepped beyond t (dense output)
 * unless `exact` is set, in which case the last step ends at t. */
BOUGH_API bough_status bough_sim_advance(bough_sim *sim, double t, int exact, bough_input_fn input, void *user,
                                         double *q, double *u);
/* One internal step that ends at `limit` at the latest; q and u get the state it reached. */
BOUGH_API bough_status bough_sim_step(bough_sim *sim, double limit, bough_input_fn input, void *user, double *q,
                                      double *u);
/* Rows of a run: where it is at each of the times, and everything that follows. Inputs are linear from one knot to the next,
 * and steps end at the knots. All arrays hold one row after the other. */
typedef struct {
  const double *times;               /* s, rising */
  int knot_count;
  const double *knots;               /* [knot_count] s, rising: start, where an input jumps or bends, end */
  int input_count;                   /* inputs that are not zero */
  const int *places;                 /* [input_count] where they are among tau [nu], motion [nu] and loads [loads][6] */
  const double *input_values, *input_slopes; /* [input_count][knot_count] just after each knot */
  double *work;                      /* [2][2*nu + 6*loads] zeros at the first call */
  int count;                         /* nodes that are looked at */
  const int *nodes;
  double *q, *u, *motion, *loads;    /* state and inputs, where one jumps as it is afterwards */
  bough_values values;               /* all but qdot */
} bough_rows;
/* Record rows from *row to `end`, and count on *row; *piece is -1 at the first call. BOUGH_PAUSED: call again to go on. */
BOUGH_API bough_status bough_sim_record(bough_sim *sim, const bough_rows *rows, int end, int *row, int *piece);
/* The run ends at t: dense output does not look beyond it, where inputs may not be defined. */
BOUGH_API void bough_sim_set_stop(bough_sim *sim, double t);
/* Inputs or parameters have jumped: forget the rate kept from the last step. */
BOUGH_API void bough_sim_disturb(bough_sim *sim);
/* Change the state in place (time stays). */
BOUGH_API bough_status bough_sim_set(bough_sim *sim, const double *q, const double *u);
/* Everything that a run remembers, parameters included, as a pointer-free block of this many bytes: a run restored from
 * it, in this process or another of the same build, continues bit for bit. A block whose times, counters or orders no run
 * can have is refused, and nothing is changed. */
BOUGH_API size_t bough_sim_state_size(const bough_sim *sim);
BOUGH_API bough_status bough_sim_save(const bough_sim *sim, void *state, size_t size);
BOUGH_API bough_status bough_sim_restore(bough_sim *sim, const void *state, size_t size);
BOUGH_API double bough_sim_time(const bough_sim *sim);
BOUGH_API bough_sim_counts bough_sim_get_counts(const bough_sim *sim);
BOUGH_API bough_where bough_sim_where(const bough_sim *sim);
BOUGH_API int64_t bough_sim_events(const bough_sim *sim); /* of friction, limits and gears, so far */
/* Of each coordinate, q then u, [nq + nu]: largest distance from its start value so far, and absolute tolerance. */
BOUGH_API bough_status bough_sim_excursion(const bough_sim *sim, double *size, double *floor);

#ifdef __cplusplus
}
#endif
#endif
