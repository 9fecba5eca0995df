/* mutate.h - mutations of blocks, resources and snapshots that leave size and checksum right.
 *
 * A checksum keeps accidents out; what lies behind it must stand by itself. The target defines `seal`, which sets size and
 * checksum right; the fuzzer then gets past them and looks for what is wrong with the content. */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
static void seal(unsigned char *data, size_t size);

static uint32_t crc32_of(const unsigned char *p, size_t size) {
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < size; i++) {
    crc ^= p[i];
    for (int k = 0; k < 8; k++) crc = (crc & 1) ? 0xedb88320u ^ (crc >> 1) : crc >> 1;
  }
  return crc ^ 0xffffffffu;
}

/* block or resource: u64 size at 16, u32 CRC at 24 of what follows byte 32 */
static void seal_file(unsigned char *p, size_t size) {
  if (size < 64) return;
  const uint64_t total = size;
  const uint32_t crc = crc32_of(p + 32, size - 32);
  memcpy(p + 16, &total, 8), memcpy(p + 24, &crc, 4);
}

static unsigned draw(unsigned *seed, unsigned most) { /* 0 .. most - 1 */
  *seed = *seed * 1664525u + 1013904223u;
  return most ? (*seed >> 8) % most : 0;
}

static void change_int(unsigned char *place, unsigned *seed) {
  static const int32_t some[] = {-2147483647 - 1, -1, 0, 1, 2, 3, 7, 1000, 10000000, 2147483647};
  int32_t value;
  memcpy(&value, place, 4);
  const unsigned way = draw(seed, 14);
  value = way < 10 ? some[way] : way == 10 ? (int32_t)((uint32_t)value + 1u) : way == 11 ? (int32_t)((uint32_t)value - 1u)
          : way == 12 ? (int32_t)draw(seed, 64) : (int32_t)((uint32_t)value ^ (1u << draw(seed, 32)));
  memcpy(place, &value, 4);
}

static void change_real(unsigned char *place, unsigned *seed) {
  static const double some[] = {0.0, 1.0, -1.0, 1e300, 1e-300, 1e9, -1e9, 1e-22, NAN, INFINITY, 5e-324, 0.5};
  double value;
  memcpy(&value, place, 8);
  const unsigned way = draw(seed, 16);
  value = way < 12 ? some[way] : way == 12 ? -value : way == 13 ? 1e6 * value : way == 14 ? 1e-6 * value : nextafter(value, 0.0);
  memcpy(place, &value, 8);
}

/* Whole numbers in front, reals behind, or whatever the fuzzer thinks of; `first`: where the content begins. */
static size_t mutate(uint8_t *data, size_t size, size_t most, unsigned seed, size_t first) {
  const unsigned times = 1 + draw(&seed, 3);
  for (unsigned n = 0; n < times; n++) {
    const unsigned way = draw(&seed, 8);
    if (size < first + 16 || way < 2)
      size = LLVMFuzzerMutate(data, size, most);
    else if (way < 5) /* the beginning has the counts and indices */
      change_int(data + first + 4 * draw(&seed, (unsigned)((size - first) / (way < 4 ? 16 : 4))), &seed);
    else if (way < 7)
      change_real(data + first + 8 * draw(&seed, (unsigned)((size - first) / 8)), &seed);
    else {
      const size_t words = (size - first) / 8, count = 1 + draw(&seed, 8);
      const size_t from = draw(&seed, (unsigned)words), to = draw(&seed, (unsigned)words);
      if (from + count <= words && to + count <= words) memmove(data + first + 8 * to, data + first + 8 * from, 8 * count);
    }
  }
  if (draw(&seed, 16)) seal(data, size);
  return size;
}

#endif
