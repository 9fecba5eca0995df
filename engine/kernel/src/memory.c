/* memory.c - one aligned, zeroed allocation per object. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

void *bough_allocate(size_t size) {
  if (size > SIZE_MAX - 128) return NULL;
  char *raw = malloc(size + 128);
  if (!raw) return NULL;
  char *p = raw + 64 + sizeof(void *);
  p -= (uintptr_t)p % 64; /* 64-byte aligned, with room in front for the address to free */
  memcpy(p - sizeof(void *), &raw, sizeof(void *));
  memset(p, 0, size);
  return p;
}

void bough_release(void *p) {
  if (!p) return;
  void *raw;
  memcpy(&raw, (char *)p - sizeof(void *), sizeof(void *));
  free(raw);
}
