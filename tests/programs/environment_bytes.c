// The environment to the byte, the arguments, where they lie on the stack, and the auxiliary vector.
// e2e: varies
#include <sys/auxv.h>

#include "common.h"

extern char** environ;

int main(int argc, char** argv) {
  uint32_t hash = HASH_START;
  char* end = argv[0];
  for (char** e = environ; *e != NULL; e++) {
    printf("%s\n", *e);
    hash = hash_bytes(hash, *e, strlen(*e) + 1);
    end = *e + strlen(*e) + 1;
  }
  printf("hash %08x, %d arguments, at %p to %p, argv at %p\n", hash, argc, (void*)argv[0], (void*)end,
         (void*)argv);
  const unsigned long types[] = {AT_HWCAP, AT_PAGESZ, AT_CLKTCK, AT_PHNUM,  AT_BASE,        AT_ENTRY,
                                 AT_UID,   AT_EUID,   AT_SECURE, AT_HWCAP2, AT_MINSIGSTKSZ, AT_SYSINFO_EHDR};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    printf("aux %lu: %lx\n", types[i], getauxval(types[i]));
  printf("program %s\n", (const char*)getauxval(AT_EXECFN));
  CHECK(setenv("ADDED_BY_TEST", "value", 1) == 0 && getenv("ADDED_BY_TEST") != NULL &&
        getenv("LD_PRELOAD_NOT_THERE") == NULL);
  fflush(stdout);
  pid_t pid = fork_checked();
  if (pid == 0) {
    execl("/usr/bin/env", "env", (char*)NULL);
    _exit(127);
  }
  return exit_status(pid);
}
