// Reads trace.pack: finds its records, verifies them, unpacks them. Works on bytes of any origin: whatever is
// in them, it neither crashes nor allocates more than a few records' worth at a time. What the chunks in the
// records mean is recording.h's business.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "pastcone/base/bytes.h"
#include "pastcone/base/result.h"
#include "pastcone/trace/format.h"

namespace pastcone {

/// How much of a recording is verified when it is opened.
enum class Check {
  kAll,     ///< everything
  kAsRead,  ///< what is needed to find things; the rest when it is read
};

class PackReader {
 public:
  struct Record {
    uint64_t offset;  ///< of its header in the pack
    uint32_t chunks, table, packed, raw;
  };
  /// Called for each valid chunk of a valid record: record number, the chunk's header, where in the unpacked
  /// record its bytes begin. False ends the scan.
  using ChunkVisitor = std::function<bool(uint32_t, const format::ChunkHeader&, uint32_t)>;

  /// `pack` must outlive the reader. An empty pack has no records.
  static Result<PackReader> open(ByteView pack);

  /// Walks all records. Damage is described in `damage`, one line each; what is behind it is still found where
  /// possible. A torn record at the end is damage only if the recording is `complete`.
  void scan(Check check, bool complete, const ChunkVisitor& visit, std::vector<std::string>& damage);

  const std::vector<Record>& records() const { return records_; }

  /// The content of a record found by scan(), verified. Keeps some. May be called from several threads.
  Result<std::shared_ptr<const Bytes>> unpack(uint32_t record) const;

 private:
  /// Unpacked records, up to some size: whoever opens a recording reads it more than once.
  struct Cache {
    std::mutex mutex;
    std::unordered_map<uint32_t, std::shared_ptr<const Bytes>> records;
    std::deque<uint32_t> order;  ///< oldest first
    size_t bytes = 0;

    void keep(uint32_t record, std::shared_ptr<const Bytes> raw);
  };

  explicit PackReader(ByteView pack) : pack_(pack), cache_(std::make_unique<Cache>()) {}
  struct Content {
    std::vector<format::ChunkHeader> table;
    std::shared_ptr<const Bytes> raw;  ///< none if only the table was asked for
    std::string wrong;                 ///< empty if it is not
  };
  /// Finds the records that are all there; gives in words what ends them too early, if something does.
  std::string find_records(bool complete);
  Content read(const Record& record, Check check) const;

  ByteView pack_;
  std::vector<Record> records_;
  std::unique_ptr<Cache> cache_;
};

}  // namespace pastcone
