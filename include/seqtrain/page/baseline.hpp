#pragma once

#include <string>

#include <seqtrain/page/facts.hpp>
#include <seqtrain/page/html/table.hpp>
#include <seqtrain/page/html/text.hpp>

namespace seqtrain::page {

/// Returns the section of a page that compares the run's model with simple ones.
[[nodiscard]] inline std::string baseline_section(const PageContent& page) {
  if (page.baseline.empty()) return {};
  std::string out = "<section id=\"baseline\"><h2>Beside simple models</h2>\n" +
                    html::table(page.baseline, "Figures of this model and of simple ones");
  if (!page.baseline_note.empty()) {
    out += "<p><strong>Note:</strong> " + html::escaped(page.baseline_note) + ".</p>";
  }
  return out + "</section>\n";
}

}  // namespace seqtrain::page
