// Locales: C.UTF-8 and whatever the environment asks for; multibyte characters and iconv.
// e2e: stable
#include <iconv.h>
#include <langinfo.h>
#include <locale.h>
#include <wchar.h>

#include "common.h"

int main(void) {
  const char* chosen = setlocale(LC_ALL, "C.UTF-8");
  say("locale %s, codeset %s\n", chosen != NULL ? chosen : "none", nl_langinfo(CODESET));
  wchar_t wide[20];
  size_t n = mbstowcs(wide, "a\xc3\xa4\xe2\x82\xac", 20);
  say("characters %zd\n", (ssize_t)n);
  iconv_t convert = iconv_open("ISO-8859-1", "UTF-8");
  if (convert == (iconv_t)-1) {
    say("no conversion: %s\n", strerror(errno));
  } else {
    char in[] = "\xc3\xa4", out[4] = "", *from = in, *to = out;
    size_t left_in = 2, left_out = 3;
    CHECK(iconv(convert, &from, &left_in, &to, &left_out) == 0);
    say("converted to %02x\n", (unsigned char)out[0]);
    iconv_close(convert);
  }
  setlocale(LC_ALL, "");
  say("%s %.2f\n", strerror(ENOENT), 1234.5);
  return 0;
}
