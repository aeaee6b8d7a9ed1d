// TCP over IPv6: blocks of growing size, each answered by its hash.
// e2e: varies needs=ipv6
#include "tcp_exchange.h"

int main(void) { return tcp_exchange(AF_INET6); }
