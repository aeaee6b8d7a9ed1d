// Rows of the table: files by name, System V and message queues, the machine.
#pragma once

#include "call_table.h"

namespace pastcone::runtime::table {

constexpr void add_file_calls(Table& t) {
  // files
  t.logged(__NR_stat, 2, fixed<1, 144>, path<0>);
  t.logged(__NR_lstat, 2, fixed<1, 144>, path<0>);
  t.logged(__NR_fstat, 2, fixed<1, 144>);
  t.logged(__NR_newfstatat, 4, fixed<2, 144>, path<1>);
  t.logged(__NR_statx, 5, fixed<4, 256>, path<1>);
  t.logged(__NR_statfs, 2, fixed<1, 120>, path<0>);
  t.logged(__NR_fstatfs, 2, fixed<1, 120>);
  t.logged(__NR_ustat, 2, fixed<1, 32>);
  t.logged(__NR_lseek, 3);
  t.logged(__NR_access, 2, nullptr, path<0>);
  t.logged(__NR_faccessat, 3, nullptr, path<1>);
  t.logged(__NR_faccessat2, 4, nullptr, path<1>);
  t.custom(__NR_readlink, 3, handle_readlink, counted<1>, path<0>);
  t.custom(__NR_readlinkat, 4, handle_readlink, counted<2>, path<1>);
  t.logged(__NR_getcwd, 2, counted<0>);
  t.logged(__NR_chdir, 1, nullptr, path<0>);
  t.logged(__NR_fchdir, 1);
  t.logged(__NR_getdents, 3, counted<1>);
  t.logged(__NR_getdents64, 3, counted<1>);
  t.logged(__NR_mkdir, 2, nullptr, path<0>);
  t.logged(__NR_mkdirat, 3, nullptr, path<1>);
  t.logged(__NR_rmdir, 1, nullptr, path<0>);
  t.logged(__NR_rename, 2, nullptr, paths<0, 1>);
  t.logged(__NR_renameat, 4, nullptr, paths<1, 3>);
  t.logged(__NR_renameat2, 5, nullptr, paths<1, 3>);
  t.logged(__NR_link, 2, nullptr, paths<0, 1>);
  t.logged(__NR_linkat, 5, nullptr, paths<1, 3>);
  t.logged(__NR_symlink, 2, nullptr, paths<0, 1>);
  t.logged(__NR_symlinkat, 3, nullptr, paths<0, 2>);
  t.logged(__NR_unlink, 1, nullptr, path<0>);
  t.logged(__NR_unlinkat, 3, nullptr, path<1>);
  t.logged(__NR_mknod, 3, nullptr, path<0>);
  t.logged(__NR_mknodat, 4, nullptr, path<1>);
  t.logged(__NR_chmod, 2, nullptr, path<0>);
  t.logged(__NR_fchmod, 2);
  t.logged(__NR_fchmodat, 3, nullptr, path<1>);
  t.logged(__NR_chown, 3, nullptr, path<0>);
  t.logged(__NR_fchown, 3);
  t.logged(__NR_lchown, 3, nullptr, path<0>);
  t.logged(__NR_fchownat, 5, nullptr, path<1>);
  t.logged(__NR_umask, 1);
  t.logged(__NR_utime, 2, nullptr, path<0>);
  t.logged(__NR_utimes, 2, nullptr, path<0>);
  t.logged(__NR_futimesat, 3, nullptr, path<1>);
  t.logged(__NR_utimensat, 4, nullptr, path<1>);
  t.logged(__NR_truncate, 2, nullptr, path<0>);
  t.custom(__NR_ftruncate, 2, handle_ftruncate);
  t.logged(__NR_fallocate, 4);
  t.logged(__NR_fadvise64, 4);
  t.logged(__NR_readahead, 3);
  t.sleeps(__NR_sync, 0);
  t.sleeps(__NR_syncfs, 1);
  t.sleeps(__NR_fsync, 1);
  t.sleeps(__NR_fdatasync, 1);
  t.sleeps(__NR_sync_file_range, 4);
  t.logged(__NR_setxattr, 5, nullptr, paths<0, 1>);
  t.logged(__NR_lsetxattr, 5, nullptr, paths<0, 1>);
  t.logged(__NR_fsetxattr, 5, nullptr, path<1>);
  t.logged(__NR_getxattr, 4, counted_if_asked<2, 3>, paths<0, 1>);
  t.logged(__NR_lgetxattr, 4, counted_if_asked<2, 3>, paths<0, 1>);
  t.logged(__NR_fgetxattr, 4, counted_if_asked<2, 3>, path<1>);
  t.logged(__NR_listxattr, 3, counted_if_asked<1, 2>, path<0>);
  t.logged(__NR_llistxattr, 3, counted_if_asked<1, 2>, path<0>);
  t.logged(__NR_flistxattr, 3, counted_if_asked<1, 2>);
  t.logged(__NR_removexattr, 2, nullptr, paths<0, 1>);
  t.logged(__NR_lremovexattr, 2, nullptr, paths<0, 1>);
  t.logged(__NR_fremovexattr, 2, nullptr, path<1>);
  t.logged(__NR_inotify_add_watch, 3, nullptr, path<1>);
  t.logged(__NR_inotify_rm_watch, 2);

  // System V, message queues, the machine
  t.logged(__NR_mq_unlink, 1, nullptr, path<0>);
  t.logged(__NR_mq_getsetattr, 3, fixed<2, 64>);
  t.logged(__NR_mq_notify, 2);
  t.logged(__NR_semget, 3);
  t.logged(__NR_semctl, 4, semctl_outs);
  t.logged(__NR_msgget, 2);
  t.logged(__NR_msgctl, 3, msgctl_outs);
  t.logged(__NR_shmget, 3);
  t.logged(__NR_shmctl, 3, shmctl_outs);
  t.logged(__NR_uname, 1, fixed<0, 390>);
  t.logged(__NR_sysinfo, 1, fixed<0, 112>);
  t.logged(__NR_syslog, 3, counted<1>);
  t.logged(__NR_add_key, 5);
  t.logged(__NR_request_key, 4);
  t.logged(__NR_keyctl, 5);
  t.logged(__NR_vhangup, 0);
}

}  // namespace pastcone::runtime::table
