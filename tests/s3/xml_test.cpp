#include <string>

#include <gtest/gtest.h>

#include <seqtrain/core/error.hpp>
#include <seqtrain/s3/xml.hpp>

namespace seqtrain::s3 {
namespace {

TEST(Xml, GivesElementsAndTheirTexts) {
  const auto root = XmlReader::parse(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- a > comment -->\n"
      "<List xmlns='http://s3/' a=\"1\"><Name>a&amp;b&lt;&gt;&quot;&apos;</Name>"
      "<Empty/><Key >x<!-- y -->z</Key ><Raw><![CDATA[<&]]></Raw><N>&#65;&#x20AC;&#x1F600;</N>"
      "</List>\n");
  EXPECT_EQ(root.name, "List");
  EXPECT_EQ(root.children.size(), 5U);
  EXPECT_EQ(root.text_of("Name"), "a&b<>\"'");
  EXPECT_EQ(root.text_of("Key"), "xz");
  EXPECT_EQ(root.text_of("Raw"), "<&");
  EXPECT_EQ(root.text_of("N"), "A\u20ac\U0001f600");
  EXPECT_EQ(root.text_of("Empty"), "");
  EXPECT_EQ(root.text_of("absent"), "");
  EXPECT_EQ(root.find("absent"), nullptr);
}

TEST(Xml, RefusesWhatIsBroken) {
  for (const char* text : {"",
                           "text",
                           "<",
                           "<a",
                           "<a>",
                           "<a></b>",
                           "<a><b></a></b>",
                           "<a/><b/>",
                           "<a/>x",
                           "<a b></a>",
                           "<a b=c/>",
                           "<a b='<'/>",
                           "<a b='c/>",
                           "<a>&b;</a>",
                           "<a>&</a>",
                           "<a>&#;</a>",
                           "<a>&#0;</a>",
                           "<a>&#xD800;</a>",
                           "<a>&#x110000;</a>",
                           "<a>&#99999999999;</a>",
                           "<a><!-- </a>",
                           "<a><![CDATA[</a>",
                           "<?xml",
                           "<a></a b>",
                           "</a>"}) {
    EXPECT_THROW(XmlReader::parse(text), InputError) << text;
  }
}

TEST(Xml, HasNoDocumentTypesAndSoNoEntitiesOfTheirOwn) {
  EXPECT_THROW(XmlReader::parse("<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>"), InputError);
  EXPECT_THROW(XmlReader::parse("<a><!ENTITY b \"c\"></a>"), InputError);
}

TEST(Xml, HasAtMostSoManyElements) {  // each takes more memory than its text
  const auto list_of = [](int count) {
    std::string text = "<a>";
    for (int i = 0; i < count; ++i) text += "<b/>";
    return text + "</a>";
  };
  EXPECT_EQ(XmlReader::parse(list_of(20'000)).children.size(), 20'000U);
  EXPECT_THROW(XmlReader::parse(list_of(1'000'000)), InputError);
}

TEST(Xml, IsAtMost16Deep) {
  std::string begin, end;
  for (int i = 0; i < 16; ++i) begin += "<a>", end += "</a>";
  EXPECT_NO_THROW(XmlReader::parse(begin + end));
  EXPECT_THROW(XmlReader::parse("<a>" + begin + end + "</a>"), InputError);
}

}  // namespace
}  // namespace seqtrain::s3
