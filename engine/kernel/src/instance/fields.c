/* fields.c - what fields.def says of a mechanism's variables, as functions: how many numbers a kind has and where they are. */
#include "inside.h"

/* which kinds exist, and whether a variable of that kind may have this type and role */
int bough_mechanism_kind_ok(int kind, int type, int role) {
  switch (kind) {
    case KIND_TIME: return type == TYPE_REAL && role == ROLE_INDEPENDENT;
#define BOUGH_STATE(number, KIND, member, count) \
    case KIND_##KIND: return type == TYPE_REAL && (role == ROLE_OUTPUT || role == ROLE_LOCAL);
#define BOUGH_INPUT(number, KIND, member, count) \
    case KIND_##KIND: return type == TYPE_REAL && role == ROLE_INPUT;
#define BOUGH_PARAMETER(number, KIND, member, count, wanted, range, kernel) \
    case KIND_##KIND: return type == TYPE_##wanted && role == ROLE_TUNABLE;
#define BOUGH_VALUE(number, KIND, member, count, wanted, when) \
    case KIND_##KIND: return type == TYPE_##wanted && (role == ROLE_OUTPUT || role == ROLE_LOCAL);
#define BOUGH_SETTING(number, KIND, member, wanted, range) \
    case KIND_##KIND: return type == TYPE_##wanted && role == ROLE_FIXED;
#include "fields.def"
    default: return 0;
  }
}

int bough_field_count(const bough_instance *f, int kind) {
  const bough_sizes sizes = bough_model_sizes(f->model), *n = &sizes;
  const int sensors = f->resource->n_sensors;
  switch (kind) {
#define BOUGH_STATE(number, KIND, member, count) \
    case KIND_##KIND: return count;
#define BOUGH_INPUT(number, KIND, member, count) \
    case KIND_##KIND: return count;
#define BOUGH_PARAMETER(number, KIND, member, count, type, range, kernel) \
    case KIND_##KIND: return count;
#define BOUGH_VALUE(number, KIND, member, count, type, when) \
    case KIND_##KIND: return count;
#define BOUGH_DISCRETE(number, KIND, member, count, kernel) \
    case KIND_##KIND: return count;
#include "fields.def"
    default: return 1;
  }
}

double *bough_field(const bough_instance *f, const bough_variable *v) {
  switch (v->kind) {
#define BOUGH_STATE(number, KIND, member, count) \
    case KIND_##KIND: return f->member + v->index;
#define BOUGH_INPUT(number, KIND, member, count) \
    case KIND_##KIND: return f->member + v->index;
#define BOUGH_PARAMETER(number, KIND, member, count, type, range, kernel) \
    case KIND_##KIND: return f->member + v->index;
#define BOUGH_VALUE(number, KIND, member, count, type, when) \
    case KIND_##KIND: return f->member + v->index;
#include "fields.def"
    default: return NULL;
  }
}

int bough_field_input(const bough_instance *f, const bough_variable *v) { return (int)(bough_field(f, v) - f->inputs); }
