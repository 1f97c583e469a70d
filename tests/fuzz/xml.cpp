#include <seqtrain/s3/xml.hpp>

#include "fuzz.hpp"

namespace {

using seqtrain::s3::Element;

/// Checks the promises of a document that was accepted.
void check(const Element& element, int depth) {
  seqtrain::fuzz::require(depth < 16 && !element.name.empty());
  for (const auto& child : element.children) check(child, depth + 1);
}

}  // namespace

void seqtrain::fuzz::run(Input input) {
  accepts([&] { check(s3::XmlReader::parse(input.text()), 0); });
}
