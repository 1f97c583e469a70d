#include <string>

#include <gtest/gtest.h>

#include <seqtrain/text/normalizers/html_fixes.hpp>

namespace seqtrain::text {
namespace {

// word_marks_test.cpp compares whole texts with Python.

TEST(HtmlFixes, LeavePlainTextAlone) {
  EXPECT_EQ(fix_html(""), "");
  EXPECT_EQ(fix_html("Fish & chips; 5 < 6, #1."), "Fish & chips; 5 < 6, #1.");
}

TEST(HtmlFixes, EndLinesAndShortenDots) {
  EXPECT_EQ(fix_html("one<br /><br />two\\nthree"), "one\n\ntwo\nthree");
  EXPECT_EQ(fix_html("wait...what....."), "wait …what …..");
  EXPECT_EQ(fix_html("3 @.@ 5 <unk>"), "3.5 xxunk");
}

TEST(HtmlFixes, ReadReferencesByNumber) {
  EXPECT_EQ(fix_html("&#233;&#xe9;&#XE9"), "ééé");
  EXPECT_EQ(fix_html("&#150;&#xD800;&#99999999999;"), "–\uFFFD\uFFFD");
  EXPECT_EQ(fix_html("a&#1;&#xFDD0;&#x1FFFE;b"), "ab");
  EXPECT_EQ(fix_html("&#; &#x; &#xg;"), "&#; &#x; &#xg;");
}

TEST(HtmlFixes, ReadReferencesByName) {
  EXPECT_EQ(fix_html("&laquo;&Eacute;t&eacute&raquo; &rsquo;"), "«Été» ’");
  EXPECT_EQ(fix_html("&hellip &unknown; &; &"), "&hellip &unknown; &; &");
  EXPECT_EQ(fix_html("&yumlx &lt"), "ÿx <");
}

TEST(HtmlFixes, TakeWhatLostItsAmpersand) {
  EXPECT_EQ(fix_html("it#39;s quot;goodquot; amp; cheap"), "it's 'good' & cheap");
}

}  // namespace
}  // namespace seqtrain::text
