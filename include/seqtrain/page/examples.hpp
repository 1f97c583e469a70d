#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <seqtrain/page/facts.hpp>
#include <seqtrain/page/html/figures.hpp>
#include <seqtrain/page/html/text.hpp>
#include <seqtrain/report/table.hpp>

namespace seqtrain::page {

namespace detail {

/// A cell of the confusion matrix: a gold label and a predicted one.
using Cell = std::pair<std::size_t, std::size_t>;

inline Cell cell_of(const run::Predictions& predictions, const predict::Task& task, std::size_t i) {
  return {static_cast<std::size_t>(predictions.gold[i]),
          predict::chosen(predictions.logits_of(i), task)[0]};
}

/// Returns escaped text, cut to at most `bytes` bytes.
inline std::string escaped_at_most(std::string_view text, std::size_t bytes) {
  std::string out = html::escaped(html::cut(text, bytes));
  for (std::size_t raw = bytes; out.size() > bytes + 16 && raw > 8;) {
    raw = raw * bytes / out.size();
    out = html::escaped(html::cut(text, raw));
  }
  return out;
}

/// Returns escaped text, folded if it is longer than `bytes` bytes.
inline std::string folded(std::string_view text, std::size_t bytes) {
  constexpr std::size_t long_text = 280, shown = 140;
  const std::string whole = escaped_at_most(text, bytes);
  if (text.size() <= long_text) return "<bdi class=\"text\">" + whole + "</bdi>";
  return "<details><summary><bdi class=\"text\">" + escaped_at_most(text, shown) +
         "</bdi></summary><bdi class=\"text\">" + whole + "</bdi></details>";
}

/// Returns text whose words are the darker the greater their shares in a logit are, escaped. It is
/// cut before the word that would end past `bytes` bytes.
inline std::string coloured(std::string_view text, const predict::Explanation& explanation,
                            bool of_second, std::size_t bytes) {
  double most = 0;
  for (const auto& word : explanation.words) most = std::max(most, std::abs(word.share));
  std::string out = "<bdi class=\"text\">";
  std::size_t done = 0;
  for (const auto& [second, begin, end, share] : explanation.words) {
    if (second != of_second) continue;
    if (end > std::min(bytes, text.size())) break;
    out += html::escaped(text.substr(done, begin - done)) + "<span class=\"" +
           (share < 0 ? "against" : "for") + "\"" +
           html::attribute("style",
                           "--share:" + html::number(most > 0 ? std::abs(share) / most : 0, 2)) +
           html::attribute("title", (share < 0 ? "" : "+") + log::fixed(share, 3)) + ">" +
           html::escaped(text.substr(begin, end - begin)) + "</span>";
    done = end;
  }
  return out + html::escaped(html::cut(text.substr(done), bytes - std::min(bytes, done))) +
         "</bdi>";
}

inline std::string text_cell(const ExampleText& example, std::size_t bytes) {
  const auto shown = [&](std::string_view text, bool of_second) {
    const bool has_words = example.words && !example.words->words.empty();
    return has_words ? coloured(text, *example.words, of_second, bytes) : folded(text, bytes);
  };
  std::string out = shown(example.text, false);
  if (example.pair) out += "<hr>" + shown(*example.pair, true);
  if (const auto& passage = example.passage) {
    out += "<hr>Window " + std::to_string(passage->index + 1) + " of " +
           std::to_string(passage->count) + " decided";
    if (!passage->text.empty()) out += ": " + folded(passage->text, bytes);
  }
  return out;
}

inline std::string names_of(const std::vector<std::size_t>& labels, const predict::Task& task) {
  std::string out;
  for (const std::size_t label : labels) {
    out += (out.empty() ? "" : ", ") + html::cut(metrics::shown_label(task.labels, label), 40);
  }
  return out.empty() ? "–" : html::cut(out, 200);
}

/// Returns a table cell with the highest scores of an example.
inline std::string scores_cell(std::span<const float> logits, const predict::Task& task) {
  const auto scores = predict::scores(logits, task);
  std::string out;
  for (const std::size_t label : predict::greatest(scores, 3)) {
    out += (out.empty() ? "" : "<br>") +
           html::escaped(html::cut(metrics::shown_label(task.labels, label), 40)) + "&nbsp;" +
           log::fixed(scores[label], 3);
  }
  return out;
}

/// Returns the HTML of a number, or of the numbers of the first targets by their names.
inline std::string values_cell(std::span<const float> values, const predict::Task& task) {
  constexpr std::size_t most = 5;
  if (values.size() == 1) return html::number(values[0]);
  std::string out;
  for (std::size_t k = 0; k < std::min(values.size(), most); ++k) {
    out += (k == 0 ? "" : "<br>") +
           html::escaped(html::cut(metrics::shown_label(task.labels, k), 40)) + "&nbsp;" +
           html::number(values[k]);
  }
  return values.size() > most ? out + "<br>…" : out;
}

/// Returns the HTML of a field that filters the list by a label, which JavaScript shows.
inline std::string label_filter(const std::string& name, const std::string& title,
                                const predict::Task& task) {
  constexpr std::size_t most_options = 1000;
  std::string out =
      "<label>" + title + " <select id=\"filter-" + name + "\"><option value=\"\">any</option>";
  for (std::size_t i = 0; i < std::min(task.labels.size(), most_options); ++i) {
    out += "<option value=\"" + std::to_string(i) + "\">" +
           html::escaped(html::cut(metrics::shown_label(task.labels, i), 40)) + "</option>";
  }
  return out + "</select></label> ";
}

inline std::string ids(const std::vector<std::size_t>& labels) {
  std::string out;
  for (const std::size_t label : labels) out += (out.empty() ? "" : " ") + std::to_string(label);
  return out;
}

inline const ExampleText* text_of(const PageContent& page, std::int64_t row) {
  const auto wanted = static_cast<std::size_t>(row);
  const auto found = std::ranges::lower_bound(page.texts, wanted, {}, &ExampleText::row);
  return found == page.texts.end() || found->row != wanted ? nullptr : &*found;
}

inline std::string example_row(const PageContent& page, std::size_t i, std::size_t bytes) {
  const run::Predictions& predictions = *page.dev;
  const auto& task = page.facts->task;
  const bool regression = task.problem_type == ProblemType::regression;
  const auto gold = predictions.gold_labels(i);
  const auto said = predict::chosen(predictions.logits_of(i), task);
  const ExampleText* const text = text_of(page, predictions.rows[i]);
  const std::int64_t record = text != nullptr ? text->record : predictions.rows[i] + 1;
  std::string out = "<tr id=\"example-" + std::to_string(i) + "\" data-gold=\"" + ids(gold) +
                    "\" data-said=\"" + ids(said) + "\"><th scope=\"row\">" +
                    std::to_string(record) + "</th><td>" + log::fixed(predictions.loss(i), 3) +
                    "</td>";
  if (regression) {
    out += "<td>" + values_cell(predictions.targets_of(i), task) + "</td><td>" +
           values_cell(predictions.logits_of(i), task) + "</td>";
  } else {
    out += "<td><bdi>" + html::escaped(names_of(gold, task)) + "</bdi></td><td><bdi>" +
           html::escaped(names_of(said, task)) + "</bdi></td><td>" +
           scores_cell(predictions.logits_of(i), task) + "</td>";
  }
  if (text != nullptr && page.facts->texts) out += "<td>" + text_cell(*text, bytes) + "</td>";
  return out + "</tr>\n";
}

}  // namespace detail

/// The dev examples that a page lists: those with the highest loss, and for each confusion those
/// with the highest loss.
class ChosenExamples {
 public:
  static constexpr std::size_t highest = 50, of_cell = 3, most = 200;

  ChosenExamples(const run::Predictions& predictions, const predict::Task& task) {
    std::vector<std::pair<double, std::size_t>> losses;
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      const double loss = predictions.loss(i);
      if (!std::isnan(loss)) losses.emplace_back(loss, i);
    }
    std::ranges::sort(losses, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    const bool has_cells = predictions.problem_type == ProblemType::single_label &&
                           predictions.labels() <= report::most_matrix_labels;
    std::map<detail::Cell, std::size_t> taken;
    for (std::size_t place = 0; place < losses.size() && chosen_.size() < most; ++place) {
      const std::size_t i = losses[place].second;
      if (has_cells) {
        const auto cell = detail::cell_of(predictions, task, i);
        if (place >= highest && taken[cell] >= of_cell) continue;
        if (++taken[cell] == 1) first_of_cell_[cell] = i;
      } else if (place >= highest) {
        break;
      }
      chosen_.push_back(i);
    }
  }

  /// Returns the indices of the chosen predictions, by descending loss.
  [[nodiscard]] const std::vector<std::size_t>& indices() const { return chosen_; }

  /// Returns the address on the page of a confusion's first example, or an empty string.
  [[nodiscard]] std::string link(std::size_t gold, std::size_t said) const {
    const auto found = first_of_cell_.find({gold, said});
    return found == first_of_cell_.end() ? "" : "#example-" + std::to_string(found->second);
  }

 private:
  std::vector<std::size_t> chosen_;
  std::map<detail::Cell, std::size_t> first_of_cell_;
};

/// Returns the section of a page that lists the examples with the highest loss. Their texts take at
/// most `text_bytes` bytes in all.
[[nodiscard]] inline std::string examples_section(const PageContent& page,
                                                  const ChosenExamples& chosen,
                                                  std::size_t text_bytes) {
  const auto& task = page.facts->task;
  const bool regression = task.problem_type == ProblemType::regression;
  if (chosen.indices().empty()) return {};
  std::string out =
      "<section id=\"examples\"><h2>Dev examples with the highest loss</h2>\n<p>The first " +
      std::to_string(std::min(ChosenExamples::highest, chosen.indices().size())) +
      " have the highest loss of all" +
      (regression ? "" : "; after them come the worst of each confusion") +
      ". “Row” is the number of the record in " + html::escaped(page.facts->dev.file) + ".</p>";
  const bool has_words = std::ranges::any_of(
      page.texts, [](const ExampleText& text) { return text.words.has_value(); });
  if (has_words) {
    out += "<p>In the first texts, <span class=\"for\">blue words</span> raise the " +
           std::string{predict::has_several_values(task) ? "predicted value of the first target"
                       : regression                      ? "predicted value"
                                                         : "logit of the predicted label"} +
           " and <span class=\"against\">orange ones</span> lower it; each tells its share if you "
           "point at it.</p>";
  }
  if (!regression) {
    out += "<form class=\"js\" hidden aria-label=\"Filter\">" +
           detail::label_filter("gold", "Gold", task) +
           detail::label_filter("said", "Predicted", task) +
           "<label>Text <input id=\"filter-text\" type=\"search\"></label> <output id=\"shown\" "
           "role=\"status\"></output></form>";
  }
  out +=
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Examples\"><table "
      "class=\"sortable\" id=\"example-table\"><thead><tr><th scope=\"col\">row</th><th "
      "scope=\"col\">loss</th><th scope=\"col\">gold</th><th scope=\"col\">predicted</th>";
  if (!regression) out += "<th scope=\"col\">scores</th>";
  if (page.facts->texts && !page.texts.empty()) out += "<th scope=\"col\">text</th>";
  out += "</tr></thead><tbody>\n";
  const bool has_passages = std::ranges::any_of(
      page.texts, [](const ExampleText& text) { return text.passage.has_value(); });
  const std::size_t texts = chosen.indices().size() * (has_passages ? 3 : 2);
  const std::size_t each = std::min<std::size_t>(4000, text_bytes / texts);
  for (const std::size_t i : chosen.indices()) out += detail::example_row(page, i, each);
  return out + "</tbody></table></div></section>\n";
}

}  // namespace seqtrain::page
