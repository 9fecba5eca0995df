/* standalone.c - runs a fuzz target where libFuzzer is not installed: every file given, then mutations of them. It knows no
 * coverage. Arguments as libFuzzer has them, of which it understands few:
 *   target [-runs=N] [-seed=N] FILE_OR_FOLDER...    an input that ends the program is left in finding.bin */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *count, char ***argument);
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

enum { FILES = 20000, ROOM = 1 << 20 };
typedef struct {
  uint8_t *bytes;
  size_t size;
} input;
static input corpus[FILES];
static size_t n_corpus;
static unsigned state = 1;
static char artifact[1000] = "finding.bin";

static unsigned next(unsigned most) {
  state = state * 1664525u + 1013904223u;
  return most ? (state >> 8) % most : 0;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) {
  const unsigned way = next(5);
  if (size == 0 || (way == 0 && size < most)) { /* one more byte */
    if (size >= most) return size;
    const size_t at = next((unsigned)size + 1);
    memmove(data + at + 1, data + at, size - at);
    data[at] = (uint8_t)next(256);
    return size + 1;
  }
  const size_t at = next((unsigned)size);
  if (way == 1) { /* some bytes less */
    const size_t count = 1 + next((unsigned)(size - at < 16 ? size - at : 16));
    memmove(data + at, data + at + count, size - at - count);
    return size - count;
  }
  if (way == 2) data[at] ^= (uint8_t)(1u << next(8));
  else data[at] = (uint8_t)next(256);
  return size;
}

static int add_file(const char *path) {
  FILE *file = fopen(path, "rb");
  static uint8_t buffer[ROOM];
  if (!file || n_corpus == FILES) return 0;
  const size_t size = fread(buffer, 1, ROOM, file);
  fclose(file);
  input *one = corpus + n_corpus++;
  one->bytes = malloc(size + 1), one->size = size;
  memcpy(one->bytes, buffer, size);
  return 1;
}

static void add(const char *path) {
  DIR *folder = opendir(path);
  if (!folder) {
    if (!add_file(path)) fprintf(stderr, "cannot read %s\n", path), exit(2);
    return;
  }
  for (struct dirent *entry; (entry = readdir(folder));) {
    char name[2000];
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    if (entry->d_name[0] != '.') add(name);
  }
  closedir(folder);
}

/* from memory of its own size, so that reading beyond the end is seen; left in a file while it runs */
static void run(const uint8_t *bytes, size_t size, int keep) {
  uint8_t *exact = malloc(size ? size : 1);
  memcpy(exact, bytes, size);
  FILE *file = keep ? fopen(artifact, "wb") : NULL;
  if (file) fwrite(bytes, 1, size, file), fclose(file);
  LLVMFuzzerTestOneInput(exact, size);
  free(exact);
}

int main(int count, char **argument) {
  long runs = 0, done = 0;
  for (int i = 1; i < count; i++) {
    if (strncmp(argument[i], "-runs=", 6) == 0) runs = atol(argument[i] + 6);
    else if (strncmp(argument[i], "-seed=", 6) == 0) state = (unsigned)atol(argument[i] + 6);
    else if (strncmp(argument[i], "-artifact_prefix=", 17) == 0) snprintf(artifact, sizeof artifact, "%sfinding", argument[i] + 17);
    else if (argument[i][0] != '-') add(argument[i]);
  }
  if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&count, &argument);
  for (size_t i = 0; i < n_corpus; i++, done++) run(corpus[i].bytes, corpus[i].size, 0);
  uint8_t *work = malloc(ROOM);
  for (; done < runs; done++) {
    const input *from = corpus + next((unsigned)n_corpus);
    size_t size = n_corpus ? from->size : 0;
    const size_t most = size < 4096 ? 4096 : size;
    if (n_corpus) memcpy(work, from->bytes, size);
    if (LLVMFuzzerCustomMutator)
      size = LLVMFuzzerCustomMutator(work, size, most, next(1u << 24));
    else
      for (unsigned k = 1 + next(6); k > 0; k--) size = LLVMFuzzerMutate(work, size, most);
    run(work, size, 1);
  }
  free(work);
  for (size_t i = 0; i < n_corpus; i++) free(corpus[i].bytes);
  remove(artifact);
  fprintf(stderr, "stat::number_of_executed_units: %ld\n", done);
  return 0;
}
