// TCP over IPv4: blocks of growing size, each answered by its hash.
// e2e: varies
#include "tcp_exchange.h"

int main(void) { return tcp_exchange(AF_INET); }
