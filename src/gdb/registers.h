// The registers of x86-64 as gdb knows them: which there are (target.xml), and their bytes in a `g` packet.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "pastcone/base/bytes.h"
#include "pastcone/gdb/target.h"

namespace pastcone::gdb {

/// The answer to qXfer:features:read:target.xml. Registers are numbered in its order, from 0.
const std::string& target_description();

/// How many there are.
size_t register_count();
/// The bytes of one, in memory's order, as gdb wants it; number < register_count().
Bytes register_bytes(const Registers& registers, size_t number);
/// False: wrong size.
bool set_register(Registers& registers, size_t number, ByteView bytes);

/// All of them, one behind the other.
Bytes all_registers(const Registers& registers);
bool set_all_registers(Registers& registers, ByteView bytes);

}  // namespace pastcone::gdb
