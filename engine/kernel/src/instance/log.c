/* log.c - messages by category, formatted before the call back. */
#include <stdarg.h>
#include <string.h>

#include "inside.h"

static const struct {
  const char *name;
  int bit;
} categories[] = {{"logStatusError", LOG_ERROR},     {"logStatusFatal", LOG_FATAL}, {"logStatusDiscard", LOG_DISCARD},
                  {"logStatusWarning", LOG_WARNING}, {"logEvents", LOG_EVENTS},     {"logAll", LOG_ALL}};

void bough_instance_log(bough_instance *f, bough_instance_status status, int category, const char *format, ...) {
  char text[2048];
  if (category == LOG_ERROR && status == INSTANCE_DISCARD) category = LOG_DISCARD;
  if (!f->log || !(f->log_mask & (category | LOG_ALL))) return;
  va_list arguments;
  va_start(arguments, format);
  bough_format_list(text, sizeof text, format, arguments);
  va_end(arguments);
  const char *name = "logAll";
  for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
    if (categories[i].bit == category) name = categories[i].name;
  f->log(f->host, status, name, text);
}

bough_instance_status bough_instance_no_memory(bough_instance *f) {
  bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: there is no memory. Cure: " BOUGH_NO_MEMORY_CURE ".", f->function);
  return INSTANCE_ERROR;
}

bough_instance_status bough_instance_set_logging(bough_instance *f, int on, size_t count, const char *const *wanted) {
  int mask = 0;
  if (bough_instance_missing(f, wanted, count)) return INSTANCE_ERROR;
  for (size_t i = 0; i < count; i++) {
    int bit = 0;
    for (size_t j = 0; j < sizeof categories / sizeof *categories; j++)
      if (wanted[i] && strcmp(wanted[i], categories[j].name) == 0) bit = categories[j].bit;
    if (!bit) {
      bough_instance_log(f, INSTANCE_ERROR, LOG_ERROR, "%s: there is no log category '%s'", f->function, wanted[i] ? wanted[i] : "");
      return INSTANCE_ERROR;
    }
    mask |= bit;
  }
  f->log_mask = !on ? 0 : count ? mask : LOG_DEFAULT | LOG_EVENTS | LOG_ALL;
  return INSTANCE_OK;
}
