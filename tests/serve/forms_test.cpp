#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <seqtrain/serve/forms.hpp>

namespace seqtrain::serve::forms {
namespace {

constexpr const char* url_encoded = "application/x-www-form-urlencoded";
constexpr const char* multipart = "multipart/form-data; boundary=x1";

std::string part(const std::string& name, const std::string& value, const std::string& more = "") {
  return "--x1\r\nContent-Disposition: form-data; name=\"" + name + "\"" + more + "\r\n\r\n" +
         value + "\r\n";
}

TEST(FieldOfAForm, IsDataOrBody) {
  EXPECT_EQ(field_of(url_encoded, "data=a+good%20film%21"), "a good film!");
  EXPECT_EQ(field_of(url_encoded, "x=1&body=two&y"), "two");
  EXPECT_EQ(field_of(url_encoded, "body=two&data=one&data=three"), "one");
  EXPECT_EQ(field_of(url_encoded, "data=%C3%A9%zz%4"), "\xC3\xA9%zz%4");
  EXPECT_EQ(field_of(url_encoded, "data=&body=two"), "two");
  EXPECT_EQ(field_of(url_encoded, "data="), "");
  EXPECT_EQ(field_of(multipart, part("data", "a\r\nb") + "--x1--\r\n"), "a\r\nb");
  EXPECT_EQ(field_of(multipart, part("file", "no") + part("body", "yes") + "--x1--"), "yes");
  EXPECT_EQ(field_of("Multipart/Form-Data; charset=utf-8; boundary=\"x1\"",
                     "preamble\r\n" + part("data", "", "; filename=\"a;b.txt\"") + "--x1--"),
            "");
}

TEST(FieldOfAForm, IsAbsentFromOtherBodies) {
  EXPECT_EQ(field_of("", "data=a"), std::nullopt);
  EXPECT_EQ(field_of("application/json", "data=a"), std::nullopt);
  EXPECT_EQ(field_of(url_encoded, "plain text, as curl -d sends it"), std::nullopt);
  EXPECT_EQ(field_of(url_encoded, R"(["a=b"])"), std::nullopt);
}

TEST(FieldOfAForm, IsMissedInADamagedForm) {
  const std::string good = part("data", "a") + "--x1--";
  EXPECT_THROW((void)field_of("multipart/form-data", good), HttpError);
  EXPECT_THROW((void)field_of("multipart/form-data; boundary=y", good), HttpError);
  EXPECT_THROW((void)field_of(multipart, part("file", "a") + "--x1--"), HttpError);
  for (std::size_t size = 0; size < good.size() - 2; ++size) {
    EXPECT_THROW((void)field_of(multipart, good.substr(0, size)), HttpError) << size;
  }
}

TEST(Charset, MustBeUtf8) {
  for (const char* good : {"", "text/plain", "text/plain; charset=UTF-8",
                           "application/json;charset=\"utf8\"", "text/plain; charset=us-ascii"}) {
    EXPECT_NO_THROW(check_charset(good)) << good;
  }
  EXPECT_THROW(check_charset("text/plain; charset=iso-8859-1"), HttpError);
  EXPECT_THROW(check_charset("text/plain; x=y; Charset=\"UTF-16\""), HttpError);
}

}  // namespace
}  // namespace seqtrain::serve::forms
