// dlopen, dlsym, dlclose of a library, and one that is not there.
// e2e: stable
#include <dlfcn.h>

#include "common.h"

int main(void) {
  void* library = dlopen("libm.so.6", RTLD_NOW);
  CHECK(library != NULL);
  double (*cosine)(double) = (double (*)(double))dlsym(library, "cos");
  CHECK(cosine != NULL);
  say("cos(1) = %.15f\n", cosine(1.0));
  Dl_info info;
  CHECK(dladdr((void*)(uintptr_t)cosine, &info) != 0);
  say("found in %s\n", strrchr(info.dli_fname, '/'));
  CHECK(dlclose(library) == 0);
  CHECK(dlopen("libnothing.so.77", RTLD_NOW) == NULL);
  say("%s\n", dlerror());
  return 0;
}
