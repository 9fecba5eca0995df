/* fmu.h - what the adapters of FMI 2 and FMI 3 share besides instance.h: the resource of an FMU, found and read. */
#ifndef BOUGH_FMU_H
#define BOUGH_FMU_H

#include "instance.h"

/* ---- load.c */
/* An instance of the model at `location`, ready for calls. On failure logs through the call back and returns null. */
bough_instance *fmu_instantiate(const char *token, const char *location, int cosimulation, int log_mask, bough_log_fn log,
                                void *host);

/* ---- location.c */
/* A path from a file URI (file:/x, file:///x, file://localhost/x, percent-encoded) or from a plain path, with
 * "/model.bough" added; null without memory. The caller frees. */
char *fmu_resource_path(const char *location);
/* The bytes of a file and their number; null if it cannot be read (*size is 0) or there is no memory for it (*size is not). */
unsigned char *fmu_read_file(const char *path, size_t *size);

#endif
