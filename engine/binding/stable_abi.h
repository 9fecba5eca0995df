/* stable_abi.h - the part of Python's stable ABI (abi3) that binding.c uses, declared here.
 *
 * The stable ABI promises these functions and layouts to every CPython from 3.11 on; 3.10 has the same ones (the buffer
 * functions and Py_buffer are there too, only the promise is younger). So the extension needs no Python headers where it is
 * built, a Debian without python3-dev included, and one binary serves every Python. A test compiles this file beside the
 * Python.h of the running Python and compares sizes, offsets and constants.
 */
#ifndef BOUGH_STABLE_ABI_H
#define BOUGH_STABLE_ABI_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define PY_IMPORT __declspec(dllimport) extern
#define PY_EXPORT __declspec(dllexport)
#else
#define PY_IMPORT extern
#define PY_EXPORT __attribute__((visibility("default")))
#endif

typedef intptr_t Py_ssize_t;
typedef struct PyObject PyObject;
typedef struct PyThreadState PyThreadState;

typedef PyObject *(*py_fastcall)(PyObject *self, PyObject *const *arguments, Py_ssize_t count);
typedef PyObject *(*py_method)(PyObject *self, PyObject *arguments);
typedef void (*py_destructor)(PyObject *capsule);

enum { METH_FASTCALL = 0x0080 };
typedef struct {
  const char *ml_name;
  py_method ml_meth; /* a py_fastcall with METH_FASTCALL */
  int ml_flags;
  const char *ml_doc;
} PyMethodDef;

typedef struct {
  struct {
    Py_ssize_t ob_refcnt;
    void *ob_type;
    PyObject *(*m_init)(void);
    Py_ssize_t m_index;
    PyObject *m_copy;
  } m_base;
  const char *m_name;
  const char *m_doc;
  Py_ssize_t m_size;
  PyMethodDef *m_methods;
  void *m_slots, *m_traverse, *m_clear, *m_free;
} PyModuleDef;

enum { PyBUF_WRITABLE = 0x0001, PyBUF_FORMAT = 0x0004, PyBUF_C_CONTIGUOUS = 0x0038 };
typedef struct {
  void *buf;
  PyObject *obj;
  Py_ssize_t len, itemsize;
  int readonly, ndim;
  char *format;
  Py_ssize_t *shape, *strides, *suboffsets;
  void *internal;
} Py_buffer;

PY_IMPORT PyObject _Py_NoneStruct;
PY_IMPORT PyObject *PyExc_TypeError;
PY_IMPORT PyObject *PyExc_ValueError;

PY_IMPORT void Py_IncRef(PyObject *);
PY_IMPORT void Py_DecRef(PyObject *);
PY_IMPORT PyObject *PyModuleDef_Init(PyModuleDef *);
PY_IMPORT PyObject *PyCMethod_New(PyMethodDef *, PyObject *self, PyObject *module, void *type);
PY_IMPORT PyObject *PyCapsule_New(void *, const char *name, py_destructor);
PY_IMPORT void *PyCapsule_GetPointer(PyObject *, const char *name);
PY_IMPORT int PyObject_GetBuffer(PyObject *, Py_buffer *, int flags);
PY_IMPORT void PyBuffer_Release(Py_buffer *);
PY_IMPORT PyObject *PyObject_CallFunctionObjArgs(PyObject *, ...);
PY_IMPORT PyObject *Py_BuildValue(const char *, ...);
PY_IMPORT void *PyLong_AsVoidPtr(PyObject *);
PY_IMPORT long PyLong_AsLong(PyObject *);
PY_IMPORT PyObject *PyErr_Occurred(void);
PY_IMPORT void PyErr_Clear(void);
PY_IMPORT PyObject *PyErr_NoMemory(void);
PY_IMPORT void PyErr_SetString(PyObject *, const char *);
PY_IMPORT void *PyMem_Malloc(size_t);
PY_IMPORT void PyMem_Free(void *);
PY_IMPORT PyThreadState *PyEval_SaveThread(void);
PY_IMPORT void PyEval_RestoreThread(PyThreadState *);

#endif
