/* log.c - messages by category, formatted before the call back. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fmu.h"

static const struct {
  const char *name;
  int bit;
} categories[] = {{"logStatusError", LOG_ERROR},     {"logStatusFatal", LOG_FATAL}, {"logStatusDiscard", LOG_DISCARD},
                  {"logStatusWarning", LOG_WARNING}, {"logEvents", LOG_EVENTS},     {"logAll", LOG_ALL}};

#ifdef _WIN32
/* ucrtbase.dll has no vsnprintf, only what headers make it from. */
static void format_text(char *text, size_t size, const char *format, va_list arguments) {
  __stdio_common_vsprintf(2, text, size, format, NULL, arguments); /* 2: cut and end as C99 says */
}
#else
static void format_text(char *text, size_t size, const char *format, va_list arguments) {
  vsnprintf(text, size, format, arguments);
}
#endif

void fmu_format(char *text, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  format_text(text, size, format, arguments);
  va_end(arguments);
}

void fmu_log(fmu_instance *f, fmu_status status, int category, const char *format, ...) {
  char text[2048];
  if (category == LOG_ERROR && status == FMU_DISCARD) category = LOG_DISCARD;
  if (!f->log || !(f->log_mask & (category | LOG_ALL))) return;
  va_list arguments;
  va_start(arguments, format);
  format_text(text, sizeof text, format, arguments);
  va_end(arguments);
  const char *name = "logAll";
  for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
    if (categories[i].bit == category) name = categories[i].name;
  f->log(f->host, status, name, text);
}

fmu_status fmu_no_memory(fmu_instance *f) {
  fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: there is no memory. Cure: " FMU_NO_MEMORY_CURE ".", f->function);
  return FMU_ERROR;
}

fmu_status fmu_set_logging(fmu_instance *f, int on, size_t count, const char *const *wanted) {
  int mask = 0;
  if (fmu_missing(f, wanted, count)) return FMU_ERROR;
  for (size_t i = 0; i < count; i++) {
    int bit = 0;
    for (size_t j = 0; j < sizeof categories / sizeof *categories; j++)
      if (wanted[i] && strcmp(wanted[i], categories[j].name) == 0) bit = categories[j].bit;
    if (!bit) {
      fmu_log(f, FMU_ERROR, LOG_ERROR, "%s: there is no log category '%s'", f->function, wanted[i] ? wanted[i] : "");
      return FMU_ERROR;
    }
    mask |= bit;
  }
  f->log_mask = !on ? 0 : count ? mask : LOG_DEFAULT | LOG_EVENTS | LOG_ALL;
  return FMU_OK;
}
