// libFuzzer: any bytes give an error or a report.
#include "pastcone/patch/patch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)pastcone::patch::patch_bytes({data, size}, {.traps = true});
  return 0;
}
