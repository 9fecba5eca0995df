/* load.c - an instance from the FMU's resource: a file, or an array of a source-code FMU. */
#include <stdlib.h>

#include "fmu.h"

#ifdef BOUGH_FMU_EMBEDDED
/* Source-code FMUs carry the resource as a C array: no file system is needed. */
#define EMBEDDED_PASTE2(a, b) a##b
#define EMBEDDED_PASTE(a, b) EMBEDDED_PASTE2(a, b)
#define EMBEDDED(name) EMBEDDED_PASTE(BOUGH_FMU_EMBEDDED, name)
extern const unsigned char EMBEDDED(resource)[];
extern const unsigned long EMBEDDED(resource_size);

bough_instance *fmu_instantiate(const char *token, const char *location, int cosimulation, int log_mask, bough_log_fn log,
                                void *host) {
  (void)location;
  const bough_instance_setting setting = {EMBEDDED(resource), (size_t)EMBEDDED(resource_size), token, cosimulation,
                                          log_mask, log, host};
  return bough_instance_create(&setting);
}
#else
static void *refuse(bough_log_fn log, void *host, const char *text) {
  if (log) log(host, INSTANCE_ERROR, "logStatusError", text);
  return NULL;
}

static unsigned char *load(const char *location, size_t *size, bough_log_fn log, void *host) {
  if (!location || !*location)
    return refuse(log, host, "instantiation: the host gave no resource location. Cure: pass the path or file URI of the FMU's "
                  "unpacked 'resources' folder.");
  char *path = fmu_resource_path(location);
  unsigned char *bytes = path ? fmu_read_file(path, size) : NULL;
  if (!path || (!bytes && *size > 0))
    refuse(log, host, BOUGH_NO_INSTANCE);
  else if (!bytes) {
    char text[2048];
    bough_format(text, sizeof text, "instantiation: cannot read '%s' (resource location '%s'). Cure: unpack the FMU "
                 "completely, and pass the location of its 'resources' folder.", path, location);
    refuse(log, host, text);
  }
  free(path);
  return bytes;
}

bough_instance *fmu_instantiate(const char *token, const char *location, int cosimulation, int log_mask, bough_log_fn log,
                                void *host) {
  size_t size = 0;
  unsigned char *bytes = load(location, &size, log, host);
  if (!bytes) return NULL;
  const bough_instance_setting setting = {bytes, size, token, cosimulation, log_mask, log, host};
  bough_instance *f = bough_instance_create(&setting);
  free(bytes);
  return f;
}
#endif
