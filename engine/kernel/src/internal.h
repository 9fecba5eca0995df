/* internal.h - what the kernel's files know of each other. */
#ifndef BOUGH_INTERNAL_H
#define BOUGH_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "bough.h"

/* BOUGH_PLAIN_C: C99 without GNU attributes and without complex numbers, as compilers of controllers and Microsoft's have it.
 * Directional derivatives are then differences: tangent.c. */
#if defined(BOUGH_PLAIN_C) || defined(_MSC_VER) || defined(__TINYC__) || defined(__STDC_NO_COMPLEX__)
#define BOUGH_NO_COMPLEX
#endif

enum { BOUGH_TERMS_MAX = 16 }; /* of a coupling */

/* A closed loop: a closure between two frames on nodes. */
typedef struct {
  int node;        /* -1: ground */
  const double *p; /* [3] origin from the node, m, node axes */
  const double *Q; /* [9] its axes -> node axes */
} bough_end;
typedef struct {
  int type;          /* index of bough_closure_types */
  int row0;          /* its first row among all constraints */
  bough_end a, b;    /* first and second frame */
  const double *T;   /* [3][3] three orthonormal vectors: axes of both frames, the closure's own axis last */
  const double *first, *second; /* [3] axes of a universal closure, in the first and in the second frame */
  double value;      /* rod: length; rolling: radius; universal: first . second */
} bough_closure;
/* What a row of a closure asks: constraints/closure.inl */
typedef enum { ROW_SLIDE, ROW_TURN, ROW_ANGLE, ROW_UNIVERSAL, ROW_ROD, ROW_ROLL } bough_row_ask;
typedef struct {
  unsigned char kind, axis; /* bough_row_ask; row of T */
  unsigned char turns;      /* in rad, not m */
} bough_row_kind;
typedef struct {
  int rows; /* 0: no closure has this type */
  bough_row_kind row[6];
} bough_closure_type;
enum { BOUGH_CLOSURE_TYPES = 12 }; /* codes of hinge types, then rod, slot, plane, rolling */
extern const bough_closure_type bough_closure_types[BOUGH_CLOSURE_TYPES];

/* A linear relation of coordinates of one-DOF hinges. */
typedef struct {
  int row, terms;
  int body[BOUGH_TERMS_MAX];
  const double *factor; /* [terms] */
  double offset;
} bough_coupling;

/* What acts between two frames on nodes: elements/, one law per file. */
typedef enum { ELEMENT_SPRING, ELEMENT_ACTUATOR, ELEMENT_BUSHING, ELEMENT_CONTACT, ELEMENT_LOAD, ELEMENT_WHEEL } bough_element_law;
typedef struct {
  int constants; /* numbers that the model block brings for it, tables not counted */
  int values;    /* that it tells: s, v, f; of a bushing three each, then phi, w, tau; of a wheel its momentum */
  int acts;
} bough_element_type;
enum { BOUGH_ELEMENT_TYPES = 6, BOUGH_ELEMENT_VALUES = 18 };
extern const bough_element_type bough_element_types[BOUGH_ELEMENT_TYPES];
typedef struct {
  int type;        /* bough_element_law */
  int input;       /* row of the loads that it takes, or -1 */
  int n1, n2;      /* points of a spring's tables; n1 of a wheel: its body */
  int value0;      /* where its values begin */
  bough_end a, b;  /* first and second frame */
  const double *c; /* constants; their order stands in the law's file */
} bough_element;

/* A hinge DOF with friction, a limit, or both; and a geared rotor with its shaft: elements/drives.h. */
enum { STOP_NONE = 0, STOP_GIVES = 1, STOP_HARD = 2, STOP_LATCH = 3, STOP_COUNT };
typedef struct {
  int dof, q;  /* speed, and coordinate (-1: a turn of a quaternion, which has no limit) */
  int stop;    /* STOP_... */
  double coulomb, still, stribeck; /* N.m or N: in motion, at rest (zero: no friction); rad/s or m/s */
  double lower, upper;             /* rad or m; 1e300: none */
  double k, d;                     /* of a limit that gives, N.m/rad and N.m.s/rad, or N/m and N.s/m */
  double e;                        /* restitution of one that does not */
} bough_drive;
typedef struct {
  int dof[2], q[2];    /* of the rotor and of the hinge */
  double ratio, k, d;  /* rotor over hinge; at the hinge */
  double play, offset; /* at the hinge, rad or m: of the flanks; of rotor/ratio - hinge where the shaft is slack */
} bough_gear;

/* What all the kernel knows of a hinge type: part of its record in hinges/. */
typedef struct {
  int nq, nu;     /* number of coordinates and of speeds */
  int constants;  /* numbers that the model block brings for it */
  int slides;     /* translations, which come first: the outboard origin moves in the inboard frame */
  int quaternion; /* first of the four coordinates of a quaternion, and of the three speeds that turn it; -1: there is none,
                   * and the rates of the coordinates are the speeds */
  int advances;   /* its rotation moves the outboard origin in the inboard frame */
  int revolute;   /* it turns about z and does nothing else: the hinge that the sweeps are fastest for */
} bough_hinge_facts;

/* How the articulated sweep treats a body. */
typedef enum {
  PATH_RIGID = 0,
  PATH_TWO_PORT = 1, /* ruthless body with at most one outboard hinge: modes eliminated at set-up, (76)-(78) */
  PATH_GENERAL = 2   /* any flexible body: (63)-(64) as printed */
} bough_path;

/* A named node. Vectors and matrices in the kernel's axes of its body; matrices are row-major, tables of modes have a
 * record for each. */
typedef struct {
  int body;
  const double *l0;  /* [3] undeformed position from the body frame, m */
  const double *R0;  /* [9] node axes -> body axes, undeformed */
  const double *Lam; /* [nm][3] modal rotation, rad */
  const double *Gam; /* [nm][3] modal translation, m */
  const double *H;   /* [nm][nm][3] derivative of Gam by xi_s, s first; null unless the body is stiffened */
} bough_node;

/* Rigid-body inertia about the origin of a frame, in its axes. */
typedef struct {
  double m;     /* mass, kg */
  double mp[3]; /* first moment, kg.m */
  double J[6];  /* xx yy zz xy xz yz, kg.m^2 */
} bough_inertia;

/* Constants of the two-port elimination (ruthless), seen from the attach node and from the outboard hinge. At the
 * port, vectors are in the inboard axes of the outboard hinge and in the order wx wy vx vy vz wz: the hinge axis last.
 * Without an outboard hinge all are zero. */
typedef struct {
  double Theta[21]; /* lower triangle, Theta Theta' = Pi Pi' = Omega */
  double Psi[36];   /* B' - F Pi'; from here on the outward sweep needs it */
  double Pi[];      /* [nm][6] influence of the modes on the port; then [nm][3] its rotations alone: bough_port_turns */
} bough_two_port;

/* Points that carry inertia at full fidelity: sweeps/points.inl. Numbers of points are multiples of four; the last may have
 * no weight. */
typedef struct {
  int rows;             /* weighted points with second-order motion, geometric stiffening; 0: tables have the translations */
  int bends;            /* records of H */
  int turning;          /* nodes with rotary inertia; 0: tables have it */
  double c;             /* kg^1/2, root of the mass, all in the first row */
  double J_rest[6];     /* kg.m^2, what no point has: of all that turns into itself, and (no rows) of translations */
  const double *L0;     /* [3][rows] weighted positions from F */
  const double *moves;  /* [nm] which components of the rows a mode moves: 1, 2, 4, added up */
  const double *G;      /* [nm][3][rows] weighted shapes */
  const double *H;      /* [bends] modes r >= s, component, [rows] */
  const double *Lam;    /* [nm][3][turning] rotations, rad */
  const double *J;      /* [6][turning] xx yy zz xy xz yz about the node, undeformed, kg.m^2 */
} bough_points;

/* What the sweeps touch of every body comes first: what all of them need fills one line of memory, and 64 divides the
 * size of the whole. */
typedef struct {
  int parent;         /* index, -1 for ground */
  int q0, u0;         /* first coordinate, first speed */
  int qm, um;         /* first modal coordinate, first modal speed */
  int nm;             /* number of modes */
  int only_child;     /* the child if there is exactly one, else -1 */
  int last_child;     /* the one with the highest index, -1 if there is none: the first to hand over, inward */
  int port_node;      /* node of the parent that carries this body's hinge, -1 on ground */
  int attach_node;    /* node that carries this body's own hinge when modes move it there, else -1 */
  unsigned char hinge;        /* code of the hinge type: hinges/hinges.inl */
  unsigned char nh;           /* speeds of the hinge, 0..6 */
  unsigned char revolute;     /* bough_hinge_facts.revolute */
  unsigned char in_passing;   /* no child, or the only one comes next: see choose_places */
  unsigned char port_stored;  /* influence of the parent's modes depends on more than the port's attitude: it is stored */
  unsigned char user_basis;   /* eta = T xi with T not the identity */
  unsigned char full_damping; /* damping is a matrix in xi, not a diagonal */
  unsigned char two_port_ok;  /* two_port constants are there */
  const bough_two_port *two_port;
  const double *F0;   /* [nm][6] M^rf at zero deflection; angular, linear */
  double Q[9];        /* inboard axes -> parent's axes, undeformed */
  double l[3];        /* inboard origin from the parent's frame, parent's axes, m, undeformed */
  double wheel[3];    /* stored angular momentum, N.m.s */
  const double *k;    /* [nm] modal stiffness in xi. Equal bodies share the tables of their modes */
  const double *d;    /* [nm] or [nm*nm] modal damping in xi */
  const double *N0;   /* [nm][6] centrifugal: b_eta = N w2, w2 = (xx, yy, zz, xy, xz, yz) of omega */
  const double *Meff; /* [21] ruthless: M^rr - F F', packed lower triangle */
  int children;       /* number of hinges this body carries */
  int load_first, load_count; /* range in the model's table of load nodes */
  int slides, quaternion;     /* as in bough_hinge_facts */
  unsigned char rotary;       /* tables: F1 is not antisymmetric and Z is there, rotary inertia of nodes or second-order motion */
  unsigned char ruthless;     /* inertia, and frames in the dynamics, at zero deflection */
  unsigned char stiffened;    /* geometric stiffening: the nodes' H are there, and E1 or rows of points */
  const double *r;    /* [3] inboard origin from the port node, parent's axes, undeformed */
  const double *hinge_constants; /* what the hinge type says, in inboard axes */
  const double *axes; /* [9] kernel's axes -> the user's outboard axes */
  const bough_inertia *inertia; /* at zero deflection */
  const double *T;    /* [nm*nm] eta = T xi */
  const double *Tinv; /* [nm*nm] */
  const double *Mff0; /* [nm*nm] M^ff of the tables, with unclamped modes or points that turn; the identity otherwise */
  const double *NF1;  /* full or stiffened: derivatives of N and of F's angular part, by pairs of modes: tables_add */
  const double *E1;   /* [nm][nm][3] stiffened: derivatives of F's linear part by xi_s, s first */
  const double *Z;    /* [nm*(nm+1)/2][nm] full and rotary: derivative of M^ff, packed lower triangle, by xi_q */
  const bough_points *points; /* null: tables have all of the inertia */
} bough_body;

/* [nm][3] rotations of the port by the modes of a two-port, inboard axes of its outboard hinge */
static inline const double *bough_port_turns(const bough_body *b) { return b->two_port->Pi + 6 * b->nm; }

/* Where the theory of a flexible body ends: watch.c. As the block has it, in the user's axes of the attach node. */
enum { BOUGH_WATCHED = 2 };
typedef struct {
  double spin[6];    /* warn where w' S w > 1; xx yy zz xy xz yz; zero: no limit */
  double whirl[6];   /* the same for ruthless bodies */
  double first;      /* rad/s, first frequency with the attach node held */
  double axis[3];    /* from the attach node to the far end; zero: no axis */
  double axial;      /* N, load along the axis, of either sign */
  double buckling;   /* N */
  double length;     /* m */
  double deflection; /* m */
  double inertia;    /* m, deflection up to which the inertia is positive */
  double undamped;   /* 1: say so at the start */
  double shape[];    /* [BOUGH_WATCHED][nm][3] displacement of the watched points by eta */
} bough_limits;

struct bough_model {
  int nb, nq, nu, n_nodes, n_loads, nm_max;
  int nm_points; /* most modes of a body with points */
  const bough_body *body;
  const bough_node *node;
  const int *load_node; /* sorted by body */
  const double *gravity, *damping, *stiffness, *rest, *armature, *held;
  int n_closures, n_couplings, n_rows; /* n_rows: of both */
  const bough_closure *closure;
  const bough_coupling *coupling;
  const int *row_owner; /* [n_rows] closure, or n_closures + coupling */
  double length;        /* m, of the mechanism: turns rad into m where rows are compared */
  int n_load_rows;      /* rows of loads: of load nodes, then of elements */
  int n_elements, n_element_values;
  int acting;           /* an element exerts something, or there is a field */
  const bough_element *element;
  const double *field;  /* gravity of a point mass: mu (m3/s2), centre (3, m); or null */
  const bough_limits *const *limits; /* [nb] null of rigid bodies; null if there are no others */
  const int *attach;                 /* [nb] node that carries a flexible body's hinge, -1 of rigid ones */
  int n_drives, n_gears, n_modes;
  const bough_drive *drive;
  const bough_gear *gear;
  size_t memory;
};

/* What a sweep may not change: parameters of a data object and switches of one call. */
typedef struct {
  const bough_model *model;
  const double *gravity;     /* [3] */
  const double *damping;     /* [nu] */
  const double *stiffness;   /* [nu] */
  const double *rest;        /* [nu] */
  const double *hinge_mass;  /* [nu] armature, plus the implicit terms of a Rosenbrock stage */
  const bough_inertia *inertia; /* [nb] */
  const double *modal_scale; /* [nb] */
  const unsigned char *held; /* [nu] */
  const unsigned char *path; /* [nb] bough_path */
  double h1, h2;             /* gamma h and (gamma h)^2 of a Rosenbrock stage, zero otherwise */
  double elastic;            /* 1, or 0 to leave modal elasticity out */
  int kinematic;             /* frames of ruthless bodies, too, are those of the present deflection */
  int keep;                  /* P, z and accelerations of every body are kept: choose_places */
  const struct bough_soft *soft; /* what an implicit stage adds to M beyond the tree, or null */
} bough_sweep;

/* One instance of the forward sweep, the hot one; arrays are of the instance's `real`. */
typedef struct {
  size_t (*work_size)(const bough_model *model);
  void (*work_layout)(const bough_model *model, void *work);
  void (*forward)(const bough_sweep *s, void *work, const void *q, const void *u, const void *tau,
                  const void *motion, const void *loads, void *udot, void *force, void *reaction);
  int (*singular_body)(const void *work, int lane);
} bough_forward_ops;

/* Stiffness and damping between bodies in an implicit stage, M + W' W: constraints/soft.inl. */
enum { BOUGH_SOFT_MOST = 256 };
typedef struct bough_soft {
  int count, most;    /* rows that act now, and at most */
  double *W, *Y;      /* [most][nu] scaled rows; their whitened innovations */
  double *A;          /* [most][most] 1 + W X W', X the answer of the mechanism to forces; then its Cholesky factor */
  double *B, *T;      /* [most][rows] W M^-1 J', and what it is in the factor of J M^-1 J' */
  double *x;          /* [most] */
  int (*body)[2];     /* [most] where a row acts, -1: ground */
} bough_soft;
/* types.c: rows that an element can have, and a model */
int bough_soft_rows_of_element(const bough_element *element);
int bough_soft_rows_of(const bough_model *model);

/* What a constrained answer x of the tree, J x + target = 0, is to bring about: closures that stay closed; speeds or positions
 * that close them. */
typedef enum { TARGET_ACCELERATION, TARGET_SPEED, TARGET_POSITION } bough_target;
/* A forward sweep with multipliers; arrays are of the instance's `real`, null as in bough_point and bough_values. */
typedef struct {
  const void *q, *u, *rate_u; /* rate_u: speeds that TARGET_SPEED corrects, where the sweep itself is at rest; else null */
  const void *tau, *motion, *loads;
  void *udot, *force, *reaction, *closure, *coupling;
  double pull; /* 1/s, of TARGET_ACCELERATION: gddot + 2 pull gdot + pull^2 g = 0; zero: gddot = 0 */
  double singular; /* squared sine below which a row is dropped; zero: rounding */
  const struct bough_branch *branch; /* of TARGET_SPEED and TARGET_POSITION: null for none */
  const bough_soft *soft;            /* of TARGET_ACCELERATION: null for none */
} bough_constrained;
/* Where two branches of motion meet rows vanish from J, and the motion's own branch is kept by what takes their place there,
 * their derivatives along it: constraints.c. */
typedef struct bough_branch {
  double *row;          /* [rows][nu] in place of rows of J, m/s */
  double *rate;         /* [rows] what is left of J u there: it is their g */
  unsigned char *turned; /* [rows] which */
} bough_branch;
/* The work space of the constraints, of one state; rows are scaled. */
typedef struct {
  const double *J, *g, *rate, *bias, *scale;
  int rank;
  double least; /* smallest pivot of the last factorization */
} bough_constraint_view;

/* Motions of nodes, as bough_values has them; of the instance's `real`, null where not wanted. */
typedef struct {
  void *pose, *velocity, *acceleration, *local, *deflection;
} bough_motions;

/* What the elements left: generalized forces [nu], and wrenches on all that is outboard of each hinge [nb][6], O axes; of the
 * instance's `real`. */
typedef struct {
  const void *tau, *through;
} bough_element_view;

/* One instance of all other sweeps, on the same workspace. */
typedef struct {
  void (*inverse)(const bough_sweep *s, void *work, const void *q, const void *u, const void *udot,
                  const void *loads, void *tau);
  void (*mass_matrix)(const bough_sweep *s, void *work, const void *q, const void *zero, void *M);
  void (*factors)(const bough_sweep *s, void *work, const void *q, const void *zero, void *L, void *D);
  void (*node_motion)(const bough_sweep *s, void *work, const void *q, const void *u, const void *udot, int count,
                      const int *nodes, const bough_motions *out);
  void (*energy)(const bough_sweep *s, void *work, const void *q, const void *u, void *energy, void *momentum);
  size_t (*constraint_layout)(const bough_model *model, void *memory);
  void (*constraint_rows)(const bough_sweep *kinematic, void *work, void *constraints, const void *q, const void *u);
  void (*constrained)(const bough_forward_ops *ops, const bough_sweep *s, const bough_sweep *kinematic, void *work,
                      void *constraints, const bough_constrained *in, bough_target target);
  size_t (*element_layout)(const bough_model *model, void *memory);
  void (*elements)(const bough_sweep *kinematic, void *work, void *elements, const void *q, const void *u, const void *loads,
                   void *values, void *energy);
  bough_element_view (*element_view)(const void *elements);
} bough_other_ops;
/* soft.inl: rows W of everything stiff between bodies at (q, u), for a stage of gamma h = gh, and f -= K dq + D du of the same.
 * `kin` is the sweep of node kinematics; flank [gears]: sides that touch. */
void bough_soft_rows(bough_soft *soft, const bough_sweep *kin, void *work, const double *flank, double gh, const double *q,
                     const double *u, const double *dq, const double *du, double *f);
bough_constraint_view bough_constraints_of(const void *constraints);
/* the row at a place of the last factorization, and whether it was dropped as dependent */
int bough_row_at(const void *constraints, int place, int *dropped);
/* Row `place` >= rank of the order of pivots, as it depends on those before it: sum of N [rows] times rows of J is almost zero. */
void bough_dependence(const bough_model *m, const void *constraints, int place, double *N);
/* J u [rows] of complex constraints, scaled; the scales */
const void *bough_constraint_rates(const void *constraints, const double **scale);

extern const bough_forward_ops bough_forward_ops_one_base, bough_forward_ops_four_base, bough_forward_ops_tangent_base;
extern const bough_other_ops bough_other_ops_one_base, bough_other_ops_tangent_base;
#if (defined(__x86_64__) || defined(_M_X64)) && !defined(BOUGH_NO_V3)
#define BOUGH_HAS_V3 1
extern const bough_forward_ops bough_forward_ops_one_v3, bough_forward_ops_four_v3;
#else
#define BOUGH_HAS_V3 0
#endif

/* The CPU and the operating system offer AVX2 and FMA. */
int bough_cpu_has_v3(void);

struct bough_data {
  const bough_model *model;
  /* parameters, from `gravity` to `held`: everything that bough_data_set can change */
  double *gravity;            /* [3] m/s^2 */
  double *damping, *stiffness, *rest, *armature; /* [nu] */
  double *hinge_mass;         /* [nu] armature; a Rosenbrock step adds its own terms for a while */
  bough_inertia *inertia;     /* [nb] */
  double *modal_scale;        /* [nb] factor on the modal damping */
  double *mode;               /* [modes] of friction, limits and gears: elements/drives.h */
  unsigned char *held;        /* [nu] */
  size_t parameter_bytes;     /* of all these */
  /* what follows from them and from the model */
  unsigned char *path;         /* [nb] bough_path of the forward sweep */
  unsigned char *path_general; /* [nb] bough_path of all others: no two-ports */
  unsigned char *none_held;    /* [nu] zeros */
  double *zero;                /* [nu] zeros, for a system at rest */
  double *udot;                /* [nu] accelerations that bough_evaluate needs and its caller does not want */
  /* workspace; null where it was not asked for */
  void *work_one, *work_four, *work_tangent;              /* of the sweeps */
  double *lanes_q, *lanes_u, *lanes_tau, *lanes_udot;     /* [n][4] batch: four states side by side */
  void *tangent_buffer;                                   /* complex copies of arguments and values: tangent.c */
  double *speed_change, *speed_answer;                    /* [nu] bough_stop_impulse: changes given, changes found */
  void *constraints, *constraints_tangent;                /* of loops and couplings */
  bough_soft soft;                                        /* of implicit stages */
  void *elements, *elements_tangent;                      /* of forces between nodes and of a field */
  double *tau_all;                                        /* [nu] applied forces with those of the elements */
  double *projected;                                      /* [nq + nu] bough_project */
  bough_branch branch;                                    /* ... where branches meet */
  double *dependence, *turning, *ahead;                   /* [rows]; [rows][nu]; [nq] */
  double pull;                                            /* 1/s, with which accelerations draw open loops shut: zero where
                                                           * states are projected, bough_stabilization where an importer
                                                           * integrates */
  double *drive_tau, *drive_motion, *drive_force, *drive_udot; /* [nu] drives: inputs and outputs of a sweep in which they act */
  double *drive_need, *drive_need_rate, *mode_before;     /* [drives] force that held it, and its derivative; [modes] */
  double *answers;                                        /* settle.c */
  int *answer_places;                                     /* [2 drives] */
  unsigned char *drive_held;                              /* [nu] */
  int memory_of_modes;                                    /* modes are kept from one evaluation to the next: bough_data_remember */
  const bough_forward_ops *one, *four;
  int isa;
  bough_where where;
  size_t memory;
  /* watch.c; null without flexible bodies */
  unsigned char *told;     /* [nb] bits of bough_warning_kind */
  double *spin_bound;      /* [nb] rad/s */
  double *spin_seen;       /* [nb] rad/s, bound at the last look */
  bough_warning *warning;  /* [nb * BOUGH_WARN_KINDS] */
  int n_warnings, warnings_read;
};

/* watch.c: compare a state, or reactions, with the limits of the model; forget what was told */
void bough_watch_state(bough_data *data, double t, const double *q, const double *u);
void bough_watch_reaction(bough_data *data, double t, const double *reaction);
void bough_watch_reset(bough_data *data);

/* data.c: the sweep's view of a data object */
bough_sweep bough_data_sweep(const bough_data *data);
/* data.c: the same for node kinematics: deformed frames at either fidelity */
bough_sweep bough_data_kinematic_sweep(const bough_data *data);
/* data.c: choose each body's path from the model and the held DOFs */
void bough_data_choose_paths(bough_data *data);
/* data.c: status of the last sweep in the given lane: pivots, then finiteness of udot */
bough_status bough_data_check(bough_data *data, const bough_forward_ops *ops, const void *work, int lane,
                              const double *udot);
/* hinges.c: facts of a hinge type by its code; null if there is none */
const bough_hinge_facts *bough_hinge(int type);
/* point.c: the forward sweep `s` at a point, which must have q and u; force and reaction may be null. All single
 * evaluations, implicit stages of integrators among them, go through here. */
bough_status bough_sweep_forward(bough_data *data, const bough_sweep *s, const bough_point *at, const bough_values *values);
/* point.c: what elements exert at a point, into d->elements; values [element_values] and energy [2] (field, springs; added) may
 * be null */
void bough_elements_at(bough_data *data, const bough_point *at, double *values, double *energy);
/* the same without friction, limits and gears */
bough_status bough_sweep_bare(bough_data *data, const bough_sweep *s, const bough_point *at, const bough_values *values);
/* dynamics.c: inverse dynamics without friction, limits and gears */
bough_status bough_inverse_bare(bough_data *data, const double *q, const double *u, const double *udot, const double *loads,
                                double *tau);
/* settle.c: numbers that bough_data.answers has room for */
size_t bough_answers_count(const bough_model *model);
/* the same of the tree alone, loops and couplings open */
bough_status bough_sweep_tree(bough_data *data, const bough_sweep *s, const bough_point *at, double *udot, double *force,
                              double *reaction);
/* data.c: a sweep over the system at rest: inertia only; no DOF is held where `all_free` */
bough_sweep bough_data_inertia_sweep(const bough_data *data, int all_free);
/* constraints.c: largest residual of positions (m, rad) and of speeds (per second), and the constraint that has the former */
bough_status bough_largest_residual(const bough_model *model, bough_data *data, const double *q, const double *u, double *g,
                                    double *rate, int *owner);
/* hinges.c: qdot = N(q) u */
void bough_position_rates(const bough_model *model, const double *q, const double *u, double *qdot);
/* hinges.c: dqdot += N(dq) u where N depends on q: qdot = N(q) u is linear in each */
void bough_position_rates_turned(const bough_model *model, const double *dq, const double *u, double *dqdot);
/* tangent.c: bytes of the complex copies that directional derivatives need */
size_t bough_tangent_bytes(const bough_model *model);
/* body index that owns speed i */
int bough_body_of_speed(const bough_model *model, int i);

/* Not NaN and not infinite, without a library call. */
static inline int bough_finite(double x) { return x - x == 0.0; }

/* Round up to a multiple of 64 bytes, the alignment of everything carved out of one allocation. */
static inline size_t bough_align(size_t n) { return (n + 63) & ~(size_t)63; }
void *bough_allocate(size_t size); /* 64-byte aligned, zeroed; null if there is no memory */
void bough_release(void *p);

#endif
