// Time zones: tzset, localtime, strftime, mktime in several zones, and the present local time.
// e2e: varies
#include "common.h"

int main(void) {
  const char* zones[] = {"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "EST5EDT", NULL};
  for (int i = 0; i < 6; i++) {
    if (zones[i] != NULL) setenv("TZ", zones[i], 1);
    if (zones[i] == NULL) unsetenv("TZ");
    tzset();
    time_t then = 1000000000;
    struct tm parts;
    char text[100];
    CHECK(localtime_r(&then, &parts) != NULL && strftime(text, sizeof text, "%c %Z", &parts) > 0);
    say("%s: %s, back %ld\n", zones[i] != NULL ? zones[i] : "default", text, (long)mktime(&parts));
  }
  time_t now = time(NULL);
  say("now %s", ctime(&now));
  return 0;
}
