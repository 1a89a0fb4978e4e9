// Quantizes the f32 values of a file with a libggml, and prints the processor time of the fastest round in seconds.
//   ggml-quantize LIBRARY TYPE COLUMNS ROUNDS FILE WEIGHTED
// TYPE is the number that GGUF files have for it. WEIGHTED is 1 for importance weights, all of them 1.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef size_t (*quantize_fn)(int, const float *, void *, int64_t, int64_t, int64_t, const float *);

static int fail(const char *what) {
  fprintf(stderr, "error: %s\n", what);
  return 1;
}

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  if (argc != 7) return fail("LIBRARY TYPE COLUMNS ROUNDS FILE WEIGHTED");
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) return fail(dlerror());
  quantize_fn quantize = (quantize_fn)dlsym(library, "ggml_quantize_chunk");
  if (!quantize) return fail("the library has no ggml_quantize_chunk; name libggml-base");
  const int type = atoi(argv[2]);
  const int64_t columns = atoll(argv[3]);
  const int rounds = atoi(argv[4]);

  FILE *file = fopen(argv[5], "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) return fail("the file cannot be read");
  const long size = ftell(file);
  rewind(file);
  float *values = malloc(size);
  // No type takes more room than the values do.
  void *blocks = malloc(size);
  if (!values || !blocks || fread(values, 1, size, file) != (size_t)size) return fail("the file cannot be read");
  fclose(file);
  float *weights = NULL;
  if (atoi(argv[6])) {
    weights = malloc(columns * sizeof(float));
    if (!weights) return fail("there is no memory");
    for (int64_t i = 0; i < columns; i++) weights[i] = 1;
  }
  // Tables of the types that search are made once.
  void (*init)(int) = (void (*)(int))dlsym(library, "ggml_quantize_init");
  if (init) init(type);

  double best = 1e30;
  for (int i = 0; i < rounds; i++) {
    const double start = processor_seconds();
    quantize(type, values, blocks, 0, size / 4 / columns, columns, weights);
    const double taken = processor_seconds() - start;
    if (taken < best) best = taken;
  }
  printf("%.9f\n", best);
  return 0;
}
