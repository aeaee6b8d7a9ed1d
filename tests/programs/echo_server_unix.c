// A forking echo server with eight clients over a Unix socket.
// e2e: varies bound
#include "echo_server.h"

int main(void) { return echo_server(unix_name("echo.socket")); }
