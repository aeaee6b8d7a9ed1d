// The trace files of "trace only the messages that race" (Zhang and Zhang, after Netzer and Miller): what
// would have to be kept of this run so that it could be run again, all other messages going where they went
// by themselves. A line is a record, with tabs in between:
//
//   file  SPN  SESN  RPN  RESN  send  receive
//
// TF files have what was received by one process, by number of the receive; CTF files the same records by
// sender and number of the send. As in the paper: SPN, RPN are sender and receiver, SESN and RESN number the
// event among the sends and receives of its process, from 1. A process is a thread here: threads are numbered
// from 0 as in `sql "SELECT thread FROM threads"`. Making and accepting a connection are a send and a
// receive. The last two columns say which events these are. A message that nobody received and nobody may has
// RPN -1, and is in a CTF file only.
#pragma once

#include "pastcone/exports/labels.h"
#include "pastcone/exports/out.h"

namespace pastcone::exports {

/// TF files of the receivers and CTF files of the senders that are wanted. `on_the_fly`: by the paper's own
/// test, which a process can do as it runs (on_the_fly.h), for messages on channels; else exactly those that
/// race.
Status write_p3(const Subject& subject, bool on_the_fly, Out& out);

}  // namespace pastcone::exports
