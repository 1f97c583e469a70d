#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <seqtrain/predict/answer_writer.hpp>

namespace seqtrain::predict {
namespace {

const std::vector<float> three_logits{1, 2, 0.5F};
const Task choice_of_one{.labels = {"a", "b,c", "d"}};
const Task choice_of_several{.labels = {"a", "b,c", "d"}, .problem_type = ProblemType::multi_label};
const Task a_number{.labels = {"LABEL_0"}, .problem_type = ProblemType::regression};
const Prediction the_choice{{1}, {0.25, 0.625, 0.125}, three_logits};
const Prediction the_choices{{1, 2}, {0.25, 0.75, 0.625}, three_logits};
const Prediction the_number{{}, {0.1}, {0.1F}};
const std::vector<data::KeptValue> kept_values{{"x \"y\""}, {"12", true}, {"null", true}};
const InputError wrong_record{"bad, very", {.object = "in", .line = 4}};

TEST(AnswerWriter, PutsValuesOfTheInputFirst) {
  const AnswerWriter writer{choice_of_one, {.top_k = 1, .keep = {"id", "label", "n"}}};
  EXPECT_EQ(writer.header(), "");
  const std::string begin = R"({"id":"x \"y\"","input_label":12,"n":null,)";
  EXPECT_EQ(writer.answer(writer.begin(kept_values), the_choice, 7),
            begin + R"("label":"b,c","scores":{"b,c":0.625}})");
  EXPECT_EQ(writer.error(writer.begin(kept_values), wrong_record),
            begin + R"("error":"in:4: bad, very","line":4})");
  EXPECT_EQ(writer.error(writer.begin({}), wrong_record),
            R"({"error":"in:4: bad, very","line":4})");
}

TEST(AnswerWriter, SaysThatATextGetsNoLabel) {
  const AnswerWriter above{choice_of_one, {.top_k = 1, .min_score = 0.63}};
  EXPECT_EQ(above.answer("", the_choice, 1),
            R"({"label":null,"abstained":true,"scores":{"b,c":0.625}})");
  const AnswerWriter equal{choice_of_one, {.top_k = 1, .min_score = 0.625}};
  EXPECT_EQ(equal.answer("", the_choice, 1), R"({"label":"b,c","scores":{"b,c":0.625}})");
  const AnswerWriter csv{choice_of_one,
                         {.format = AnswerFormat::csv, .top_k = 1, .min_score = 0.63}};
  EXPECT_EQ(csv.answer("", the_choice, 1), ",0.625,");
}

TEST(AnswerWriter, WritesTheUncertaintyAndTheLine) {
  const AnswerWriter writer{choice_of_one, {.top_k = 1, .uncertainty = Uncertainty::margin}};
  EXPECT_EQ(writer.answer("", the_choice, 7),
            R"({"line":7,"uncertainty":0.625,"label":"b,c","scores":{"b,c":0.625}})");
}

TEST(AnswerWriter, NamesValuesOfTheInputUnlikeTheColumnsOfATable) {
  const AnswerWriter writer{choice_of_one,
                            {.format = AnswerFormat::csv, .keep = {"score_a", "score_x"}}};
  EXPECT_EQ(writer.header(),
            "input_score_a,score_x,label,score,score_a,\"score_b,c\",score_d,error\n");
}

/// Returns the kinds and values of the cells of a row.
std::string cells_of(const std::string& row, std::size_t count) {
  data::RowReader reader{row};
  EXPECT_TRUE(reader.next());
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    using Kind = data::TableCell::Kind;
    const auto cell = reader.cell();
    if (cell.kind == Kind::integer) text += std::to_string(cell.integer);
    if (cell.kind == Kind::real) text += std::to_string(cell.real).substr(0, 5);
    for (const auto each : cell.texts) text.append(each).append("+");
    if (cell.kind != Kind::floats) text += cell.text;
    text += "|";
  }
  return text;
}

TEST(AnswerWriter, WritesTypedRows) {
  AnswerOptions options{.format = AnswerFormat::parquet, .min_score = 0.63, .keep = {"id", "n"}};
  const AnswerWriter one{choice_of_one, options};
  EXPECT_EQ(one.line_end(), "");
  EXPECT_EQ(one.columns().size(), 8U);
  EXPECT_EQ(one.columns()[4],
            (data::TableColumn{.name = "score_a", .type = data::ColumnType::real}));
  const auto begin = one.begin(std::span{kept_values}.first(2));
  EXPECT_EQ(cells_of(one.answer(begin, the_choice, 7), 8), "x \"y\"|12||0.625|0.250|0.625|0.125||");
  EXPECT_EQ(cells_of(one.error(one.begin({}), wrong_record), 8), "|||||||in:4: bad, very|");
  options = {.format = AnswerFormat::parquet, .top_k = 2, .uncertainty = Uncertainty::margin};
  const AnswerWriter several{choice_of_several, options};
  EXPECT_EQ(cells_of(several.answer(several.begin({}), the_choices, 7), 8),
            "7|0.750|b,c+d+|b,c|0.750|d|0.625||");
  EXPECT_EQ(cells_of(several.error(several.begin({}), wrong_record), 8),
            "4|||||||in:4: bad, very|");
  const AnswerWriter number{a_number, {.format = AnswerFormat::parquet}};
  EXPECT_EQ(cells_of(number.answer(number.begin({}), the_number, 7), 2), "0.100||");
  const Task embeds{.pooling = "mean", .embedding_size = 3};
  const AnswerWriter embedding{embeds, {.format = AnswerFormat::parquet}};
  EXPECT_EQ(embedding.columns().front(),
            (data::TableColumn{"embedding", data::ColumnType::floats, 3}));
  EXPECT_EQ(cells_of(embedding.answer(embedding.begin({}), {.logits = three_logits}, 7), 2), "||");
}

/// Returns the header, an answer and an error.
std::string csv_of(const Task& task, const Prediction& prediction, AnswerOptions options) {
  options.format = AnswerFormat::csv;
  const AnswerWriter writer{task, options};
  const std::vector<data::KeptValue> values{kept_values.begin(),
                                            kept_values.begin() + std::ssize(options.keep)};
  return writer.header() + writer.answer(writer.begin(values), prediction, 7) + "\n" +
         writer.error(writer.begin(values), wrong_record) + "\n";
}

TEST(AnswerWriter, WritesCsv) {
  EXPECT_EQ(csv_of(choice_of_one, the_choice, {.keep = {"id", "score", "n"}}),
            "id,input_score,n,label,score,score_a,\"score_b,c\",score_d,error\n"
            "\"x \"\"y\"\"\",12,,\"b,c\",0.625,0.25,0.625,0.125,\n"
            "\"x \"\"y\"\"\",12,,,,,,,\"in:4: bad, very\"\n");
  EXPECT_EQ(csv_of(choice_of_one, the_choice, {.top_k = 2, .uncertainty = Uncertainty::margin}),
            "line,uncertainty,label,score,label_2,score_2,error\n"
            "7,0.625,\"b,c\",0.625,a,0.25,\n"
            "4,,,,,,\"in:4: bad, very\"\n");
  EXPECT_EQ(csv_of(choice_of_several, the_choices, {}),
            "labels,score_a,\"score_b,c\",score_d,error\n"
            "\"b,c,d\",0.25,0.75,0.625,\n"
            ",,,,\"in:4: bad, very\"\n");
  EXPECT_EQ(csv_of(choice_of_several, the_choices, {.top_k = 9}),
            "labels,label_1,score_1,label_2,score_2,label_3,score_3,error\n"
            "\"b,c,d\",\"b,c\",0.75,d,0.625,a,0.25,\n"
            ",,,,,,,\"in:4: bad, very\"\n");
  EXPECT_EQ(csv_of(a_number, the_number, {}), "value,error\n0.1,\n,\"in:4: bad, very\"\n");
  const Task numbers{.labels = {"b,c", "d"}, .problem_type = ProblemType::regression};
  const Prediction values{{}, {0.1, 3}, {0.1F, 3}};
  EXPECT_EQ(csv_of(numbers, values, {.keep = {"d"}}),
            "input_d,\"b,c\",d,error\n\"x \"\"y\"\"\",0.1,3,\n"
            "\"x \"\"y\"\"\",,,\"in:4: bad, very\"\n");
}

TEST(AnswerWriter, NamesNoTwoColumnsAlike) {
  const auto header = [](std::vector<std::string> targets, AnswerOptions options) {
    options.format = AnswerFormat::csv;
    const Task task{.labels = std::move(targets), .problem_type = ProblemType::regression};
    return AnswerWriter{task, options}.header();
  };
  EXPECT_EQ(header({"line", "error", "a"}, {.line = true}),
            "line,value_line,value_error,a,error\n");
  EXPECT_EQ(header({"error", "value_error"}, {}), "value_value_error,value_error,error\n");
  EXPECT_EQ(header({"a", "a"}, {}), "a,value_a,error\n");
  EXPECT_EQ(header({"a", "b"}, {.keep = {"a", "input_a"}}), "input_input_a,input_a,a,b,error\n");
  const AnswerWriter json{choice_of_one, {.top_k = 1, .keep = {"label", "input_label"}}};
  EXPECT_EQ(json.answer(json.begin(std::span{kept_values}.subspan(1)), the_choice, 7),
            R"({"input_input_label":12,"input_label":null,"label":"b,c","scores":{"b,c":0.625}})");
}

}  // namespace
}  // namespace seqtrain::predict
