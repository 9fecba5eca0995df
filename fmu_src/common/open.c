/* open.c - what every FMU does alike, mechanism or partner: read its resource, find variables, keep its clock. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fmu.h"

#ifdef BOUGH_FMU_EMBEDDED
/* Source-code FMUs carry the resource as a C array: no file system is needed. */
#define EMBEDDED_PASTE2(a, b) a##b
#define EMBEDDED_PASTE(a, b) EMBEDDED_PASTE2(a, b)
#define EMBEDDED(name) EMBEDDED_PASTE(BOUGH_FMU_EMBEDDED, name)
extern const unsigned char EMBEDDED(resource)[];
extern const unsigned long EMBEDDED(resource_size);
static unsigned char *load(fmu_instance *f, const char *location, size_t *size) {
  (void)location;
  *size = (size_t)EMBEDDED(resource_size);
  unsigned char *bytes = malloc(*size);
  if (bytes)
    memcpy(bytes, EMBEDDED(resource), *size);
  else
    fmu_no_memory(f);
  return bytes;
}
#else
static unsigned char *load(fmu_instance *f, const char *location, size_t *size) {
  if (!location || !*location) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "instantiation: the host gave no resource location. Cure: pass the path or file "
            "URI of the FMU's unpacked 'resources' folder.");
    return NULL;
  }
  char *path = fmu_resource_path(location);
  unsigned char *bytes = path ? fmu_read_file(path, size) : NULL;
  if (!path || (!bytes && *size > 0))
    fmu_no_memory(f);
  else if (!bytes)
    fmu_log(f, FMU_ERROR, LOG_ERROR, "instantiation: cannot read '%s' (resource location '%s'). Cure: unpack the FMU "
            "completely, and pass the location of its 'resources' folder.", path, location);
  free(path);
  return bytes;
}
#endif

static int read_resource(fmu_instance *f, const char *token, const char *location) {
  size_t size = 0;
  const char *why = "";
  f->bytes = load(f, location, &size);
  if (!f->bytes) return 0;
  f->resource = fmu_resource_read(f->bytes, size, &why);
  if (!f->resource && !why) return fmu_no_memory(f) == FMU_OK;
  if (!f->resource) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "instantiation: resources/model.bough is damaged: %s. Cure: build the FMU again.", why);
    return 0;
  }
  if (!token || strcmp(token, f->resource->token) == 0) return 1;
  fmu_log(f, FMU_ERROR, LOG_ERROR, "instantiation: the token '%s' of the host is not '%s' of the model. Cure: use the "
          "modelDescription.xml and the resources of one and the same FMU.", token, f->resource->token);
  return 0;
}

fmu_instance *fmu_open(const char *name, const char *token, const char *location, int cosimulation, int log_mask,
                       fmu_log_fn log, void *host) {
  fmu_instance *f = calloc(1, sizeof *f);
  if (!f) {
    if (log) log(host, FMU_ERROR, "logStatusError", FMU_NO_INSTANCE);
    return NULL;
  }
  f->log = log, f->host = host, f->log_mask = LOG_DEFAULT | log_mask; /* what ends an instantiation is always told */
  f->function = "instantiation";
  f->now.cosimulation = cosimulation;
  const char *given = name ? name : "";
  f->name = malloc(strlen(given) + 1);
  if (f->name)
    strcpy(f->name, given);
  else
    fmu_no_memory(f);
  if (f->name && read_resource(f, token, location)) return f;
  fmu_free(f);
  return NULL;
}

static const char *const type_names[] = {"real", "integer", "boolean"};

const fmu_variable *fmu_find(fmu_instance *f, uint32_t vr, fmu_type type) {
  if (vr >= (uint32_t)f->resource->n_variables) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: there is no value reference %lu; the model has 0 to %d. Cure: take value "
            "references from this FMU's modelDescription.xml.", f->function, (unsigned long)vr,
            f->resource->n_variables - 1);
    return NULL;
  }
  const fmu_variable *v = f->resource->variable + vr;
  if (v->type == (int)type) return v;
  fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: '%s' (value reference %lu) is of type %s, not %s.", f->function, v->name,
          (unsigned long)vr, type_names[v->type], type_names[type]);
  return NULL;
}

size_t fmu_slots(fmu_instance *f, const uint32_t *vr, size_t count, int *bad) {
  size_t sum = 0;
  *bad = 0;
  for (size_t i = 0; i < count; i++) {
    const fmu_variable *v = fmu_find(f, vr[i], TYPE_REAL);
    if (!v)
      *bad = 1;
    else
      sum += (size_t)v->count;
  }
  return sum;
}

fmu_status fmu_setup(fmu_instance *f, double start, int tolerance_defined, double tolerance, int stop_defined,
                     double stop) {
  if (!fmu_finite(start) || (stop_defined && !(stop >= start)) || (tolerance_defined && !(tolerance >= 0.0 && tolerance < 1.0))) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: start %g, stop %g, tolerance %g. Expected a finite start, stop >= start and a "
            "tolerance between 0 and 1.", f->function, start, stop, tolerance);
    return FMU_ERROR;
  }
  f->now.time = f->now.start_time = f->now.input_time = start;
  f->now.stop_defined = stop_defined != 0, f->now.stop_time = stop_defined ? stop : 0.0;
  if (tolerance_defined && tolerance > 0.0 && f->now.cosimulation && !f->now.tolerance_set)
    f->now.solver_tolerance = tolerance > TOLERANCE_LEAST ? tolerance : TOLERANCE_LEAST;
  return FMU_OK;
}

fmu_status fmu_terminate(fmu_instance *f) {
  f->now.state = AT_TERMINATED;
  return FMU_OK;
}

int fmu_wrong_step(fmu_instance *f, double time, double step) {
  const double slack = 1e-9 * (1.0 + fabs(f->now.time));
  if (!fmu_finite(time) || !fmu_finite(step) || !(step > 0.0)) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: communication point %g s with step size %g s; expected finite numbers and a "
            "positive step.", f->function, time, step);
    return 1;
  }
  if (fabs(time - f->now.time) > slack) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: the communication point is %.17g s, but the instance is at %.17g s. Cure: step "
            "without gaps, or restore a state first.", f->function, time, f->now.time);
    return 1;
  }
  if (f->now.stop_defined && time + step > f->now.stop_time + slack) {
    fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: the step ends at %.17g s, beyond the stop time %.17g s.", f->function, time + step,
            f->now.stop_time);
    return 1;
  }
  return 0;
}

bough_sim_options fmu_sim_options(const fmu_clock *now) {
  bough_sim_options options;
  memset(&options, 0, sizeof options);
  options.method = (int)now->solver_method;
  options.rtol = now->solver_tolerance; /* no absolute tolerance: every coordinate is judged by its own motion */
  options.step_max = now->solver_max_step;
  const int stepping = bough_method_about(options.method)->stepping; /* the number is checked where it is set */
  if (stepping == BOUGH_STEP_FIXED) options.step = now->solver_step > 0.0 ? now->solver_step : 1e-3;
  if (stepping == BOUGH_STEP_EITHER) options.step = now->solver_step;
  return options;
}
