#include "pastcone/debug/contents.h"

#include <gtest/gtest.h>

namespace pastcone::debug {
namespace {

using namespace std::string_view_literals;

TEST(Contents, TextIsShownByLines) {
  EXPECT_EQ(contents_text("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "  GET / HTTP/1.1\n  Host: a\n  \n");
  EXPECT_EQ(contents_text("no end"), "  no end\n");
  EXPECT_EQ(contents_text("grün → 🙂"), "  grün → 🙂\n");
  EXPECT_EQ(contents_text(""), "");
}

TEST(Contents, OtherBytesInHexadecimal) {
  EXPECT_EQ(contents_text("I am\1"sv), "  0000  49 20 61 6d 01                                    I am.\n");
  std::string long_one(17, '\0');
  EXPECT_EQ(contents_text(long_one),
            "  0000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  ................\n"
            "  0010  00                                                .\n");
}

TEST(Contents, WhatIsText) {
  EXPECT_TRUE(is_text("a\tb\r\n"));
  EXPECT_FALSE(is_text("\x80"));
  EXPECT_FALSE(is_text("a\x1b[1m")) << "nothing that a terminal obeys";
  EXPECT_FALSE(is_text("\xc3("));
  EXPECT_TRUE(is_text("gr\xc3")) << "cut off in the middle of a character";
}

}  // namespace
}  // namespace pastcone::debug
