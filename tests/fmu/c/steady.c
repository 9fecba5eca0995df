/* steady.c - counts allocations of an FMU (FMI 2, Co-Simulation) after its initialization: there are to be none.
 *
 * steady LIBRARY RESOURCES GUID STEP COUNT INPUT... -- PARAMETER=VALUE... -- OUTPUT...    by value reference
 * Prints the number of allocations in COUNT steps with inputs that change and outputs that are read; ends with 0. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
extern void *__libc_memalign(size_t, size_t);
static int counting;
static long count;
void *malloc(size_t n) { count += counting; return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { count += counting; return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { count += counting; return __libc_realloc(p, n); }
void free(void *p) { count += counting && p; __libc_free(p); }
void *aligned_alloc(size_t a, size_t n) { count += counting; return __libc_memalign(a, n); }
int posix_memalign(void **p, size_t a, size_t n) { count += counting; *p = __libc_memalign(a, n); return 0; }

typedef unsigned int reference;
static void log_it(void *env, const char *name, int status, const char *category, const char *text, ...) {
  (void)env, (void)name, (void)category;
  if (status > 1) fprintf(stderr, "%s\n", text);
}
static void *take(size_t n, size_t m) { count += counting; return __libc_calloc(n, m); }
static void give(void *p) { __libc_free(p); }
typedef struct { void (*log)(void *, const char *, int, const char *, const char *, ...); void *(*take)(size_t, size_t); void (*give)(void *); void *finished, *env; } callbacks;

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) fprintf(stderr, "no %s\n", name), exit(2);
  return found;
}
#define CALL(name, type, ...) ((int (*) type)symbol(library, name))(__VA_ARGS__)

int main(int argc, char **argv) {
  static const callbacks call = {log_it, take, give, NULL, NULL};
  reference in[64], out[64];
  int n_in = 0, n_out = 0, k = 6;
  if (argc < 6) return 2;
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
  void *it = ((void *(*)(const char *, int, const char *, const char *, const callbacks *, int, int))symbol(library, "fmi2Instantiate"))(
      "steady", 1, argv[3], argv[2], &call, 0, 1);
  if (!it) return 2;
  for (; k < argc && strcmp(argv[k], "--"); k++) in[n_in++] = (reference)atoi(argv[k]);
  for (k++; k < argc && strcmp(argv[k], "--"); k++) {
    const reference vr = (reference)atoi(argv[k]);
    const char *equals = strchr(argv[k], '=');
    const double real = atof(equals + 2);
    const int whole = atoi(equals + 2);
    const int status = equals[1] == 'i' ? CALL("fmi2SetInteger", (void *, const reference *, size_t, const int *), it, &vr, 1, &whole)
                                        : CALL("fmi2SetReal", (void *, const reference *, size_t, const double *), it, &vr, 1, &real);
    if (status) return 2;
  }
  for (k++; k < argc; k++) out[n_out++] = (reference)atoi(argv[k]);
  if (CALL("fmi2SetupExperiment", (void *, int, double, double, int, double), it, 0, 0.0, 0.0, 0, 0.0)) return 2;
  if (CALL("fmi2EnterInitializationMode", (void *), it) || CALL("fmi2ExitInitializationMode", (void *), it)) return 2;
  const double h = atof(argv[4]);
  const int steps = atoi(argv[5]);
  double value[64];
  int (*set)(void *, const reference *, size_t, const double *) = (int (*)(void *, const reference *, size_t, const double *))symbol(library, "fmi2SetReal");
  int (*get)(void *, const reference *, size_t, double *) = (int (*)(void *, const reference *, size_t, double *))symbol(library, "fmi2GetReal");
  int (*step)(void *, double, double, int) = (int (*)(void *, double, double, int))symbol(library, "fmi2DoStep");
  counting = 1;
  for (int i = 0; i < steps; i++) {
    for (int j = 0; j < n_in; j++) value[j] = 0.1 * sin(0.37 * i + j);
    if (set(it, in, (size_t)n_in, value) || step(it, i * h, h, 1) || get(it, out, (size_t)n_out, value)) return counting = 0, 2;
  }
  counting = 0;
  printf("%ld %.17g\n", count, n_out ? value[0] : 0.0);
  return count != 0;
}
