#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <seqtrain/log/format.hpp>
#include <seqtrain/page/html/frame.hpp>
#include <seqtrain/page/html/table.hpp>
#include <seqtrain/page/html/text.hpp>
#include <seqtrain/report/table.hpp>
#include <seqtrain/run/cross_validation.hpp>
#include <seqtrain/run/label_errors.hpp>

namespace seqtrain::page {

/// The content is all that the page of a cross-validation shows.
struct CrossValidationContent {
  std::string name;                 ///< the name of the cross-validation's directory
  std::string file;                 ///< the training file, which was divided
  const run::CrossValidation& all;  ///< the figures of the folds
  const std::vector<run::DoubtfulLabel>& label_errors;  ///< the least likely label comes first
  const std::vector<run::EqualText>& equal_texts;       ///< sorted by their groups
  std::size_t examples = 0;  ///< the number of examples in the training file
  bool texts = true;         ///< whether the page shows the texts of examples
};

/// Returns rows with the mean and the standard deviation of each figure, and its value in each fold
/// if `each` is set.
[[nodiscard]] inline report::Rows fold_rows(const run::CrossValidation& all, bool each) {
  report::Rows rows{{std::to_string(all.folds) + " folds", "mean", "deviation"}};
  for (std::size_t fold = 1; fold <= all.folds && each; ++fold) {
    rows.front().push_back("fold " + std::to_string(fold));
  }
  const auto add = [&](const std::vector<run::FoldFigure>& figures, const std::string& before) {
    for (const run::FoldFigure& figure : figures) {
      rows.push_back(
          {before + figure.name, log::fixed(figure.mean(), 4), log::fixed(figure.deviation(), 4)});
      if (!each) continue;
      for (const double value : figure.each) rows.back().push_back(html::number(value));
    }
  };
  add(all.figures, "");
  add(all.baseline, "simple models: ");
  return rows;
}

namespace detail {

inline constexpr std::size_t most_listed = 200;
inline constexpr std::size_t most_text = 300;

/// Returns the text of an example, or both, for a cell.
template <class Example>
std::string shown_texts(const Example& one) {
  std::string text = html::cut(one.text, most_text);
  if (one.pair) text += " | " + html::cut(*one.pair, most_text);
  return text;
}

inline std::string listed(std::size_t count) {
  return count <= most_listed ? "" : " The first " + std::to_string(most_listed) + " are here.";
}

inline std::string label_error_section(const CrossValidationContent& page) {
  std::string out = "<section id=\"label-errors\"><h2>Labels that are probably wrong</h2>\n";
  if (page.label_errors.empty()) return out + "<p>None was found.</p></section>\n";
  report::Rows rows{{"row", "label", "its score", "suggested", "its score"}};
  if (page.texts) rows.front().emplace_back("text");
  for (const auto& one :
       std::span{page.label_errors}.first(std::min(most_listed, page.label_errors.size()))) {
    rows.push_back({std::to_string(one.row), one.label, log::fixed(one.score, 3), one.suggested,
                    log::fixed(one.suggested_score, 3)});
    if (page.texts) rows.back().push_back(shown_texts(one));
  }
  return out + "<p>Examples: " + std::to_string(page.label_errors.size()) +
         ". To a model that has not learned from them they look confidently like another label. "
         "The least likely label comes first; label_errors.csv has all of them." +
         listed(page.label_errors.size()) + "</p>\n" +
         html::table(rows, "Labels that are probably wrong") + "</section>\n";
}

inline std::string equal_text_section(const CrossValidationContent& page) {
  if (page.equal_texts.empty()) return {};
  report::Rows rows{{"text no.", "row", "label"}};
  if (page.texts) rows.front().emplace_back("text");
  for (const auto& one :
       std::span{page.equal_texts}.first(std::min(most_listed, page.equal_texts.size()))) {
    rows.push_back({std::to_string(one.group), std::to_string(one.row), one.label});
    if (page.texts) rows.back().push_back(shown_texts(one));
  }
  return "<section id=\"equal-texts\"><h2>Equal texts with different labels</h2>\n<p>Texts: " +
         std::to_string(page.all.equal_texts) + "; equal_texts.csv has all examples." +
         listed(page.equal_texts.size()) + "</p>\n" +
         html::table(rows, "Equal texts with different labels") + "</section>\n";
}

}  // namespace detail

/// Returns the page of a cross-validation.
[[nodiscard]] inline std::string cross_validation_page(const CrossValidationContent& page) {
  std::string body = html::element("h1", "Cross-validation " + page.name);
  body +=
      "<p>" + html::escaped(page.file) + " was divided into " + std::to_string(page.all.folds) +
      " parts. For each, a model learned from the others and was evaluated on it; fold-1 and so "
      "on have the pages of these runs.</p>\n";
  body += "<section id=\"figures\"><h2>Figures</h2>\n" +
          html::table(fold_rows(page.all, true), "Figures of the folds");
  const std::string warning = run::left_out_warning(page.all.left_out, page.examples);
  if (!warning.empty()) body += html::element("p", warning + ".");
  body += "</section>\n";
  body += detail::label_error_section(page) + detail::equal_text_section(page);
  return html::framed(page.name, body);
}

}  // namespace seqtrain::page
