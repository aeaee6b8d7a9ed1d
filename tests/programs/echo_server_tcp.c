// A forking echo server with eight clients over TCP.
// e2e: varies bound
#include "echo_server.h"

int main(void) { return echo_server(loopback(AF_INET, 0)); }
