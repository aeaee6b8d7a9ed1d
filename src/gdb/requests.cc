#include "pastcone/gdb/requests.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>

#include "pastcone/gdb/hex.h"
#include "pastcone/gdb/packets.h"
#include "pastcone/gdb/registers.h"
#include "pastcone/gdb/signals.h"
#include "pastcone/gdb/thread_storage.h"

namespace pastcone::gdb {
namespace {

// gdb shows the number alone; these tell the reader of `set debug remote 1` what kind it was.
constexpr const char* kMalformed = "E01";
constexpr const char* kRefused = "E02";  // by the target
constexpr const char* kNoThread = "E03";
constexpr const char* kNoMemory = "E0e";  // EFAULT
constexpr const char* kOk = "OK";
constexpr const char* kUnknown = "";

constexpr size_t kMostMemory = kPacketSize / 2 - 16;  // two digits for each byte

std::string answer_for(const Status& status) { return status ? kOk : kRefused; }

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return escaped;
}

/// One action of vCont: c, CSIG, s, SSIG, t or rBEGIN,END, and whom it is for.
std::optional<Resume> parse_action(std::string_view text) {
  Fields fields(text);
  Resume action;
  bool signal = false;
  if (fields.skip("c") || (signal = fields.skip("C"))) {
    action.kind = Resume::Kind::kContinue;
  } else if (fields.skip("s") || (signal = fields.skip("S"))) {
    action.kind = Resume::Kind::kStep;
  } else if (fields.skip("t")) {
    action.kind = Resume::Kind::kStay;
  } else if (fields.skip("r")) {
    action.kind = Resume::Kind::kRange;
    action.begin = fields.number();
    fields.expect(",");
    action.end = fields.number();
  } else {
    return std::nullopt;
  }
  if (signal) {
    uint64_t number = fields.number();
    action.signal = number < 256 ? linux_signal(static_cast<int>(number)) : 0;
  }
  if (fields.skip(":")) action.thread = std::max(fields.thread(), 0);
  if (!fields.at_end()) return std::nullopt;
  return action;
}

}  // namespace

std::optional<std::string> Requests::answer(std::string_view packet) {
  if (packet.empty()) return kUnknown;
  Fields fields(packet.substr(1));
  switch (packet[0]) {
    case '?':
      return stop_reply();
    case 'D':
      leave_ = Leave::kDetached;
      return kOk;
    case 'G':
      return put_registers(fields);
    case 'H':
      return select(fields);
    case 'M':
      return put_memory(fields, false);
    case 'P':
      return put_register(fields);
    case 'Q':
    case 'q':
      return query(packet);
    case 'T':
      return alive(fields);
    case 'X':
      return put_memory(fields, true);
    case 'Z':
      return point(fields, true);
    case 'g':
      return get_registers();
    case 'k':
      leave_ = Leave::kKilled;
      return std::nullopt;
    case 'm':
      return get_memory(fields);
    case 'p':
      return get_register(fields);
    case 'v':
      return verbose(packet);
    case 'z':
      return point(fields, false);
    default:
      return kUnknown;
  }
}

std::string Requests::query(std::string_view packet) {
  Fields fields(packet);
  // gdb says that it knows swbreak and hwbreak since 7.10, and all others of these are its own choice.
  if (fields.skip("qSupported")) {
    return fmt::format(
        "PacketSize={:x};QStartNoAckMode+;swbreak+;hwbreak+;vContSupported+;qXfer:features:read+;"
        "qXfer:auxv:read+;qXfer:exec-file:read+;qXfer:threads:read+",
        kPacketSize);
  }
  if (packet == "QStartNoAckMode") {
    without_acknowledgements_ = true;
    return kOk;
  }
  if (packet == "qC") return fmt::format("QC{:x}", target_.current());
  if (packet == "qfThreadInfo") return thread_list();
  if (packet == "qsThreadInfo") return "l";  // the first answer has named all
  if (fields.skip("qThreadExtraInfo,")) return thread_extra(fields);
  if (fields.skip("qAttached")) return "1";  // leaving means to detach, not to kill
  if (fields.skip("qSymbol:")) return symbol(fields);
  if (fields.skip("qGetTLSAddr:")) return thread_local_address(fields);
  if (fields.skip("qXfer:")) return transfer(fields);
  return kUnknown;
}

std::string Requests::verbose(std::string_view packet) {
  Fields fields(packet);
  if (packet == "vCont?") return "vCont;c;C;s;S;t;r";
  if (fields.skip("vCont;")) return resume(fields);
  if (fields.skip("vKill;")) {
    leave_ = Leave::kKilled;
    return kOk;
  }
  return kUnknown;
}

bool Requests::exists(pid_t thread) {
  std::vector<pid_t> all = target_.threads();
  return std::find(all.begin(), all.end(), thread) != all.end();
}

// Hg: whose registers. Hc is of the time before vCont.
std::string Requests::select(Fields fields) {
  bool registers = fields.skip("g");
  if (!registers) fields.expect("c");
  pid_t thread = fields.thread();
  if (!fields.at_end()) return kMalformed;
  if (thread > 0 && !exists(thread)) return kNoThread;
  if (registers) thread_ = std::max(thread, 0);
  return kOk;
}

std::string Requests::alive(Fields fields) {
  pid_t thread = fields.thread();
  if (!fields.at_end()) return kMalformed;
  return exists(thread) ? kOk : kNoThread;
}

std::string Requests::get_registers() {
  Result<Registers> registers = target_.registers(thread());
  return registers ? to_hex(all_registers(*registers)) : kRefused;
}

std::string Requests::put_registers(Fields fields) {
  std::optional<Bytes> bytes = from_hex(fields.rest());
  if (!bytes) return kMalformed;
  Result<Registers> registers = target_.registers(thread());
  if (!registers) return kRefused;
  if (!set_all_registers(*registers, *bytes)) return kMalformed;
  return answer_for(target_.set_registers(thread(), *registers));
}

std::string Requests::get_register(Fields fields) {
  uint64_t number = fields.number();
  if (!fields.at_end() || number >= register_count()) return kMalformed;
  Result<Registers> registers = target_.registers(thread());
  return registers ? to_hex(register_bytes(*registers, number)) : kRefused;
}

std::string Requests::put_register(Fields fields) {
  uint64_t number = fields.number();
  fields.expect("=");
  std::optional<Bytes> bytes = from_hex(fields.rest());
  if (fields.failed() || !bytes || number >= register_count()) return kMalformed;
  Result<Registers> registers = target_.registers(thread());
  if (!registers) return kRefused;
  if (!set_register(*registers, number, *bytes)) return kMalformed;
  return answer_for(target_.set_registers(thread(), *registers));
}

std::string Requests::get_memory(Fields fields) {
  uint64_t address = fields.number();
  fields.expect(",");
  uint64_t size = fields.number();
  if (!fields.at_end()) return kMalformed;
  if (size == 0) return kUnknown;
  size = std::min<uint64_t>(size, kMostMemory);
  Result<std::vector<uint8_t>> bytes = target_.read(address, size);
  if (!bytes || bytes->empty()) return kNoMemory;
  return to_hex(ByteView(*bytes).first(std::min<size_t>(bytes->size(), size)));
}

std::string Requests::put_memory(Fields fields, bool binary) {
  uint64_t address = fields.number();
  fields.expect(",");
  uint64_t size = fields.number();
  fields.expect(":");
  if (fields.failed()) return kMalformed;
  std::optional<Bytes> bytes;
  if (binary) {
    ByteView raw = as_bytes(fields.rest());
    bytes.emplace(raw.begin(), raw.end());
  } else {
    bytes = from_hex(fields.rest());
  }
  if (!bytes || bytes->size() != size) return kMalformed;
  if (size == 0) return kOk;  // gdb asks in this way whether X is known
  return target_.write(address, *bytes) ? kOk : kNoMemory;
}

std::string Requests::point(Fields fields, bool insert) {
  uint64_t kind = fields.number();
  fields.expect(",");
  uint64_t address = fields.number();
  fields.expect(",");
  uint64_t size = fields.number();
  if (!fields.at_end() || size > UINT32_MAX) return kMalformed;
  if (kind > static_cast<uint64_t>(PointKind::kAccess)) return kUnknown;
  auto what = static_cast<PointKind>(kind);
  auto bytes = static_cast<uint32_t>(size);
  return answer_for(insert ? target_.insert(what, address, bytes) : target_.remove(what, address, bytes));
}

std::string Requests::resume(Fields fields) {
  std::vector<Resume> how;
  do {
    std::optional<Resume> action = parse_action(fields.until(';'));
    if (!action) return kMalformed;
    how.push_back(*action);
  } while (!fields.rest().empty());
  stop_ = target_.resume(how);
  return stop_reply();
}

// gdb takes it that the thread of the stop is the one selected from then on.
std::string Requests::stop_reply() {
  thread_ = 0;
  if (stop_.ended) {
    bool signaled = WIFSIGNALED(*stop_.ended);
    int number = signaled ? gdb_signal(WTERMSIG(*stop_.ended)) : WEXITSTATUS(*stop_.ended);
    return fmt::format("{}{:02x}", signaled ? 'X' : 'W', number);
  }
  std::string text = fmt::format("T{:02x}", gdb_signal(stop_.signal));
  if (stop_.point) {
    switch (*stop_.point) {
      case PointKind::kBreak:
        text += "swbreak:;";
        break;
      case PointKind::kHardBreak:
        text += "hwbreak:;";
        break;
      case PointKind::kWrite:
        text += fmt::format("watch:{:x};", stop_.address);
        break;
      case PointKind::kRead:
        text += fmt::format("rwatch:{:x};", stop_.address);
        break;
      case PointKind::kAccess:
        text += fmt::format("awatch:{:x};", stop_.address);
        break;
    }
  }
  thread_ = stop_.thread > 0 ? stop_.thread : target_.current();
  return text + fmt::format("thread:{:x};", thread_);
}

std::string Requests::thread_list() {
  std::string text;
  for (pid_t thread : target_.threads()) text += fmt::format("{}{:x}", text.empty() ? 'm' : ',', thread);
  return text.empty() ? "l" : text;
}

std::string Requests::thread_extra(Fields fields) {
  pid_t thread = fields.thread();
  if (!fields.at_end()) return kMalformed;
  if (!exists(thread)) return kNoThread;
  return to_hex(as_bytes(target_.thread_name(thread)));
}

// gdb offers to look for symbols whenever it has read a file (":"), and tells the value of one it was asked
// for.
std::string Requests::symbol(Fields fields) {
  std::string name = to_hex(as_bytes(kModuleIdField));
  if (fields.rest() == ":") return module_id_field_ ? kOk : "qSymbol:" + name;
  if (fields.skip(":")) return kOk;  // not found
  uint64_t address = fields.number();
  fields.expect(":" + name);
  if (!fields.at_end()) return kMalformed;
  module_id_field_ = address;
  return kOk;
}

std::string Requests::thread_local_address(Fields fields) {
  pid_t thread = fields.thread();
  fields.expect(",");
  uint64_t offset = fields.number();
  fields.expect(",");
  uint64_t module = fields.number();
  if (!fields.at_end()) return kMalformed;
  auto block = thread_block(target_, thread, module, module_id_field_);
  if (block && !*block) target_.miss_thread_storage();
  return block && *block ? fmt::format("{:x}", **block + offset) : kNoMemory;
}

// OBJECT:read:ANNEX:OFFSET,LENGTH. 'm' and 'l' say whether there is more.
std::string Requests::transfer(Fields fields) {
  std::string_view object = fields.until(':');
  if (fields.until(':') != "read") return kUnknown;
  std::string_view annex = fields.until(':');
  uint64_t offset = fields.number();
  fields.expect(",");
  uint64_t length = fields.number();
  if (!fields.at_end()) return kMalformed;

  std::string content;
  if (object == "features") {
    if (annex != "target.xml") return "E00";
    content = target_description();
  } else if (object == "auxv") {
    content = as_text(target_.auxv());
  } else if (object == "exec-file") {
    content = target_.program().string();
  } else if (object == "threads") {
    content = "<?xml version=\"1.0\"?>\n<threads>\n";
    for (pid_t thread : target_.threads()) {
      content +=
          fmt::format("<thread id=\"{:x}\" name=\"{}\"/>\n", thread, xml_text(target_.thread_name(thread)));
    }
    content += "</threads>\n";
  } else {
    return kUnknown;
  }
  if (offset > content.size()) return kMalformed;
  std::string part = content.substr(offset, std::min<uint64_t>(length, kPacketSize - 16));
  return (offset + part.size() < content.size() ? "m" : "l") + part;
}

}  // namespace pastcone::gdb
