// Which stage a runtime was built for, as a note in its file: the tool looks before it starts one. Included by what is such a
// runtime.
#pragma once

#include <cstdint>

#include "stage_version.h"

namespace pastcone::stage {

struct BuildNote {
  uint32_t name_size, size, type;
  char name[12];
  uint32_t version;
};
inline constexpr BuildNote kBuildNote{9, sizeof(uint32_t), 1, "pastcone", PASTCONE_STAGE_VERSION};

}  // namespace pastcone::stage

#define PASTCONE_BUILD_NOTE                          \
  [[gnu::section(".note.pastcone"), gnu::aligned(4), \
    gnu::used]] static const pastcone::stage::BuildNote build_note = pastcone::stage::kBuildNote;
