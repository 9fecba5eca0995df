/* binding.c - calls of the kernel from Python at the price of a Python call.
 *
 * ctypes takes 20 us for what the kernel does in one. Here a call is a built-in function that holds model, data and sizes:
 * it takes arrays, allocates the answer and calls the kernel. It knows one case, the common one: C-contiguous arrays of
 * float64 with the shapes (n,) or (B, n), all with the same B. For anything else (lists, other types, a row that goes with
 * many, wrong shapes, a state at which the kernel fails) it returns None, and the caller in Python goes the long way by ctypes,
 * where arguments are converted and failures explained. So checks and messages live in one place.
 *
 * The kernel library is opened by Python; its functions come here as addresses. So this file links with nothing, and the
 * library that BOUGH_KERNEL_LIBRARY names is served too. Where the extension is missing, ctypes does all of it.
 */
#include "stable_abi.h"

#include "bough.h"

enum {
  INPUTS = 3, /* arrays that a call takes at most */
  ALONE = 64  /* rows times speeds: a call of at most so many takes some microseconds and keeps Python's lock, which others
               * would hold longer; during longer ones other threads run */
};

/* ---- the kernel's functions that are called here, with the signatures of bough.h */
typedef struct {
  bough_status (*evaluate_rows)(const bough_model *, bough_data *, int, const bough_point *, int, const int *,
                                const bough_values *);
  bough_status (*forward_dynamics_batch)(const bough_model *, bough_data *, int, const double *, const double *,
                                         const double *, double *);
  bough_status (*inverse_dynamics)(const bough_model *, bough_data *, int, const double *, const double *, const double *,
                                   const double *, double *);
  bough_status (*mass_matrix)(const bough_model *, bough_data *, int, const double *, double *);
  bough_status (*mass_solve)(const bough_model *, bough_data *, int, const double *, const double *, double *);
  bough_status (*energy)(const bough_model *, bough_data *, int, const double *, const double *, double *, double *);
} functions;

/* A compiler warns here when a signature above is not that of bough.h; nothing is called, and nothing is linked. */
#define SAME(name) sizeof(((const functions *)0)->name == &bough_##name)
enum {
  SIGNATURES_CHECKED = SAME(evaluate_rows) + SAME(forward_dynamics_batch) + SAME(inverse_dynamics) + SAME(mass_matrix) +
                       SAME(mass_solve) + SAME(energy)
};

/* What all calls share: the functions, and numpy.empty. */
static const char KERNEL[] = "bough.kernel";
typedef struct {
  functions f;
  PyObject *empty;
} kernel;

/* ---- the calls, in the order in which Python numbers them */
enum { FORWARD, INVERSE, MASS_MATRIX, MASS_SOLVE, ENERGY, MOMENTUM, POSITION_RATES, POSE, KINDS };
/* inputs: a letter for each, q for [nq] and u for [nu]; output: columns by the same letters, M for [nu][nu], or a digit */
static const struct {
  char inputs[INPUTS + 1];
  char output;
} SHAPES[KINDS] = {{"quu", 'u'}, {"quu", 'u'}, {"q", 'M'}, {"qu", 'u'}, {"qu", '4'}, {"qu", '6'}, {"qu", 'q'}, {"q", '7'}};

static const char CALL[] = "bough.call";
typedef struct {
  PyObject *shared;     /* capsule of the kernel */
  const kernel *k;
  PyObject *shape;      /* of the answer to one state: what numpy.empty takes */
  const bough_model *model;
  bough_data *data;
  int kind, nq, nu;
  double zero[];        /* [nu] speeds where poses are asked for */
} call;

static Py_ssize_t columns(const call *c, char letter) { return letter == 'q' ? c->nq : letter == 'u' ? c->nu : letter - '0'; }

static bough_status compute(const call *c, int rows, const double *const in[INPUTS], int node, double *out) {
  const functions *f = &c->k->f;
  const bough_model *m = c->model;
  bough_data *d = c->data;
  bough_point at = {.q = in[0], .u = in[1]};
  bough_values values = {.udot = NULL};
  switch (c->kind) {
  case FORWARD:
    if (rows > 1) return f->forward_dynamics_batch(m, d, rows, in[0], in[1], in[2], out);
    at.tau = in[2], values.udot = out;
    break;
  case INVERSE: return f->inverse_dynamics(m, d, rows, in[0], in[1], in[2], NULL, out);
  case MASS_MATRIX: return f->mass_matrix(m, d, rows, in[0], out);
  case MASS_SOLVE: return f->mass_solve(m, d, rows, in[0], in[1], out);
  case ENERGY: return f->energy(m, d, rows, in[0], in[1], out, NULL);
  case MOMENTUM: return f->energy(m, d, rows, in[0], in[1], NULL, out);
  case POSITION_RATES: values.qdot = out; break;
  default: at.u = c->zero, values.pose = out; /* POSE */
  }
  return f->evaluate_rows(m, d, rows, &at, c->kind == POSE, &node, &values);
}

/* ---- arrays */

/* A view of an array as described at the head of this file; 0: it is none, and no error is set. */
static int view_array(PyObject *o, Py_ssize_t n, Py_buffer *view) {
  if (PyObject_GetBuffer(o, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) {
    PyErr_Clear();
    return 0;
  }
  const char *format = view->format;
  if (format && format[0] == 'd' && !format[1] && (view->ndim == 1 || view->ndim == 2) &&
      view->shape[view->ndim - 1] == n && (uintptr_t)view->buf % sizeof(double) == 0)
    return 1;
  PyBuffer_Release(view);
  return 0;
}

/* Views of all arguments with one shape for all; the number of rows, 0: they are something else. Views up to *held are to be
 * released. */
static int view_arguments(const call *c, PyObject *const *arguments, Py_buffer *views, int *held) {
  const char *inputs = SHAPES[c->kind].inputs;
  Py_ssize_t rows = 0;
  for (int i = 0; inputs[i]; i++) {
    if (!view_array(arguments[i], columns(c, inputs[i]), &views[i])) return 0;
    *held = i + 1;
    const Py_ssize_t here = views[i].ndim == 1 ? 1 : views[i].shape[0];
    if (i && (here != rows || views[i].ndim != views[0].ndim)) return 0;
    rows = here;
  }
  return rows > INT32_MAX || (c->kind == POSE && views[0].ndim == 2) ? 0 : (int)rows;
}

/* A new array for the answer. */
static PyObject *new_array(const call *c, int rows, int batch) {
  const char letter = SHAPES[c->kind].output;
  if (!batch) return PyObject_CallFunctionObjArgs(c->k->empty, c->shape, NULL);
  PyObject *shape = letter == 'M' ? Py_BuildValue("(iii)", rows, c->nu, c->nu)
                                  : Py_BuildValue("(in)", rows, columns(c, letter));
  if (!shape) return NULL;
  PyObject *made = PyObject_CallFunctionObjArgs(c->k->empty, shape, NULL);
  Py_DecRef(shape);
  return made;
}

/* ---- one call */
static PyObject *none(void) {
  Py_IncRef(&_Py_NoneStruct);
  return &_Py_NoneStruct;
}

static PyObject *answer(const call *c, int rows, const Py_buffer *views, int inputs, int node) {
  PyObject *made = new_array(c, rows, views[0].ndim == 2);
  Py_buffer out;
  if (!made) return NULL;
  if (PyObject_GetBuffer(made, &out, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)) {
    Py_DecRef(made);
    return NULL;
  }
  const double *in[INPUTS] = {NULL, NULL, NULL};
  for (int i = 0; i < inputs; i++) in[i] = (const double *)views[i].buf;
  bough_status status;
  if ((int64_t)rows * c->nu <= ALONE) {
    status = compute(c, rows, in, node, (double *)out.buf);
  } else {
    PyThreadState *thread = PyEval_SaveThread();
    status = compute(c, rows, in, node, (double *)out.buf);
    PyEval_RestoreThread(thread);
  }
  PyBuffer_Release(&out);
  if (status == BOUGH_OK) return made;
  Py_DecRef(made);
  return none();
}

static PyObject *call_kernel(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  const call *c = (const call *)PyCapsule_GetPointer(self, CALL);
  if (!c) return NULL;
  int inputs = 0, node = 0, held = 0;
  while (SHAPES[c->kind].inputs[inputs]) inputs++;
  if (count != inputs + (c->kind == POSE)) {
    PyErr_SetString(PyExc_TypeError, "another number of arguments than the call takes");
    return NULL;
  }
  if (c->kind == POSE) {
    node = (int)PyLong_AsLong(arguments[inputs]);
    if (node < 0 && PyErr_Occurred()) return NULL;
  }
  Py_buffer views[INPUTS];
  const int rows = view_arguments(c, arguments, views, &held);
  PyObject *result = rows > 0 ? answer(c, rows, views, inputs, node) : none();
  while (held > 0) PyBuffer_Release(&views[--held]);
  return result;
}

static py_method method(py_fastcall f) {
  union {
    py_fastcall fast;
    py_method plain;
  } same = {.fast = f};
  return same.plain;
}

/* ---- making calls */
static void free_call(PyObject *capsule) {
  call *c = (call *)PyCapsule_GetPointer(capsule, CALL);
  if (!c) return;
  Py_DecRef(c->shape);
  Py_DecRef(c->shared);
  PyMem_Free(c);
}

static void free_kernel(PyObject *capsule) {
  kernel *k = (kernel *)PyCapsule_GetPointer(capsule, KERNEL);
  if (!k) return;
  Py_DecRef(k->empty);
  PyMem_Free(k);
}

/* kernel(address of each of `functions`..., numpy.empty) */
static PyObject *make_kernel(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  (void)self;
  enum { COUNT = sizeof(functions) / sizeof(void *) };
  union {
    functions f;
    void *address[COUNT];
  } all;
  if (count != COUNT + 1) {
    PyErr_SetString(PyExc_TypeError, "kernel: another number of functions");
    return NULL;
  }
  for (int i = 0; i < COUNT; i++)
    if (!(all.address[i] = PyLong_AsVoidPtr(arguments[i]))) {
      if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "kernel: a function has no address");
      return NULL;
    }
  kernel *k = (kernel *)PyMem_Malloc(sizeof(kernel));
  if (!k) return PyErr_NoMemory();
  k->f = all.f, k->empty = arguments[COUNT];
  Py_IncRef(k->empty);
  PyObject *capsule = PyCapsule_New(k, KERNEL, free_kernel);
  if (!capsule) {
    Py_DecRef(k->empty);
      PyMem_Free(k);
  }
  return capsule;
}

/* call(kernel, kind, model, data, nq, nu): handles as numbers. The function that comes back must not outlive them. */
static PyObject *make_call(PyObject *self, PyObject *const *arguments, Py_ssize_t count) {
  static PyMethodDef definition = {"call", NULL, METH_FASTCALL, "One function of the kernel, for arrays of float64."};
  (void)self;
  if (count != 6) {
    PyErr_SetString(PyExc_TypeError, "call: expected kernel, kind, model, data, nq, nu");
    return NULL;
  }
  const kernel *k = (const kernel *)PyCapsule_GetPointer(arguments[0], KERNEL);
  const long kind = k ? PyLong_AsLong(arguments[1]) : -1, nq = k ? PyLong_AsLong(arguments[4]) : -1;
  const long nu = k ? PyLong_AsLong(arguments[5]) : -1;
  void *model = k ? PyLong_AsVoidPtr(arguments[2]) : NULL, *data = k ? PyLong_AsVoidPtr(arguments[3]) : NULL;
  if (!model || !data || kind < 0 || kind >= KINDS || nq < 0 || nu < 0 || nq > INT32_MAX || nu > INT32_MAX) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "call: a kind, a handle or a size is out of range");
    return NULL;
  }
  call *c = (call *)PyMem_Malloc(sizeof(call) + (size_t)nu * sizeof(double));
  if (!c) return PyErr_NoMemory();
  c->k = k, c->kind = (int)kind, c->nq = (int)nq, c->nu = (int)nu;
  c->model = (const bough_model *)model, c->data = (bough_data *)data;
  for (long i = 0; i < nu; i++) c->zero[i] = 0.0;
  const char letter = SHAPES[kind].output;
  c->shape = letter == 'M' ? Py_BuildValue("(ii)", c->nu, c->nu) : Py_BuildValue("n", columns(c, letter));
  PyObject *capsule = c->shape ? PyCapsule_New(c, CALL, free_call) : NULL;
  if (!capsule) {
    if (c->shape) Py_DecRef(c->shape);
    PyMem_Free(c);
    return NULL;
  }
  c->shared = arguments[0];
  Py_IncRef(c->shared);
  definition.ml_meth = method(call_kernel);
  PyObject *made = PyCMethod_New(&definition, capsule, NULL, NULL);
  Py_DecRef(capsule);
  return made;
}

PY_EXPORT PyObject *PyInit__binding(void);
PY_EXPORT PyObject *PyInit__binding(void) {
  static PyMethodDef methods[] = {{"kernel", NULL, METH_FASTCALL, NULL}, {"call", NULL, METH_FASTCALL, NULL}, {0}};
  static PyModuleDef module = {.m_base = {.ob_refcnt = 1},
                               .m_name = "_binding",
                               .m_doc = "Calls of the kernel without ctypes; see engine/binding/binding.c.",
                               .m_methods = methods};
  methods[0].ml_meth = method(make_kernel);
  methods[1].ml_meth = method(make_call);
  return PyModuleDef_Init(&module);
}
