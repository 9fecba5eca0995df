/* location.c - find and read resources/model.bough wherever the host says it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmu.h"

static int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static int is_drive(const char *s) {
  const char c = (char)(s[0] | 0x20);
  return c >= 'a' && c <= 'z' && (s[1] == ':' || s[1] == '|');
}

char *fmu_resource_path(const char *location) {
  static const char file[] = "/model.bough";
  const char *s = location;
  const int uri = (s[0] | 0x20) == 'f' && (s[1] | 0x20) == 'i' && (s[2] | 0x20) == 'l' && (s[3] | 0x20) == 'e' && s[4] == ':';
  int host = 0;
  if (uri) {
    s += 5;
    if (s[0] == '/' && s[1] == '/') { /* an authority: empty, localhost, or a Windows share */
      s += 2;
      if (strncmp(s, "localhost/", 10) == 0)
        s += 9;
      else if (is_drive(s)) /* file://C:/x, as some hosts send it */
        ;
      else if (s[0] != '/')
        host = 1;
    }
    if (s[0] == '/' && is_drive(s + 1)) s++; /* file:///C:/x */
  }
  char *path = malloc(strlen(s) + sizeof file + 2), *p = path;
  if (!path) return NULL;
  if (host) *p++ = '/', *p++ = '/';
  for (; *s; s++) {
    const int high = uri && *s == '%' ? hex(s[1]) : -1, low = high >= 0 ? hex(s[2]) : -1;
    if (low >= 0)
      *p++ = (char)(16 * high + low), s += 2;
    else
      *p++ = *s;
  }
  while (p > path + 1 && (p[-1] == '/' || p[-1] == '\\')) p--;
  memcpy(p, file, sizeof file);
  return path;
}

#ifdef _WIN32
/* UTF-8 to UTF-16: Windows names of files */
static FILE *open_file(const char *path) {
  wchar_t *wide = malloc((strlen(path) + 1) * sizeof *wide), *w = wide;
  if (!wide) return NULL;
  for (const unsigned char *s = (const unsigned char *)path; *s;) {
    unsigned long c = *s++;
    const int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
    if (more) c &= 0x3fu >> more;
    for (int i = 0; i < more && (*s & 0xc0) == 0x80; i++) c = (c << 6) | (*s++ & 0x3fu);
    if (c >= 0x10000) {
      *w++ = (wchar_t)(0xd800 + ((c - 0x10000) >> 10));
      c = 0xdc00 + ((c - 0x10000) & 0x3ff);
    }
    *w++ = (wchar_t)c;
  }
  *w = 0;
  FILE *file = _wfopen(wide, L"rb");
  free(wide);
  return file;
}
#else
static FILE *open_file(const char *path) { return fopen(path, "rb"); }
#endif

unsigned char *fmu_read_file(const char *path, size_t *size) {
  FILE *file = open_file(path);
  unsigned char *bytes = NULL;
  *size = 0;
  if (!file) return NULL;
  if (fseek(file, 0, SEEK_END) == 0) {
    const long length = ftell(file);
    const long most = 0x7fffffffL - 1; /* a folder has a length, too: the largest there is */
    if (length > 0 && length < most && fseek(file, 0, SEEK_SET) == 0) bytes = malloc((size_t)length);
    if (length > 0 && length < most) *size = (size_t)length;
    if (bytes && fread(bytes, 1, (size_t)length, file) != (size_t)length) {
      free(bytes);
      bytes = NULL;
      *size = 0;
    }
  }
  fclose(file);
  return bytes;
}
