#pragma once

#include <string_view>

namespace seqtrain::serve {

/// The HTML page at `/`, on which users try a text. It loads nothing from other servers.
inline constexpr std::string_view page_html = R"html(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>seqtrain</title>
<link rel="icon" href="data:,">
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
  body { max-width: 42rem; margin: 2rem auto; padding: 0 1rem }
  textarea { box-sizing: border-box; width: 100%; font: inherit; padding: .5rem }
  label { display: block; margin-top: 1rem }
  button { font: inherit; padding: .4rem 1.2rem; margin: 1rem 0 }
  .row { display: grid; grid-template-columns: 10rem 1fr 4.5rem; gap: .75rem; margin: .3rem 0 }
  .name { overflow-wrap: anywhere }
  .bar { background: #8883; border-radius: .2rem }
  .bar div { background: #36c; border-radius: .2rem; height: 100%; min-width: 1px }
  .score { text-align: right; font-variant-numeric: tabular-nums }
  #model, #labels, #time { color: #888; overflow-wrap: anywhere }
  .error { color: #c33 }
  #words p { overflow-wrap: anywhere; white-space: pre-wrap; line-height: 1.9 }
  #words .note { color: #888 }
  .for, .against { border-radius: .2rem; padding: .1rem 0 }
  .for { background: rgb(0 114 178 / var(--share)) }
  .against { background: rgb(213 94 0 / var(--share)); text-decoration: underline dotted }
</style>
<h1>Try a text</h1>
<p id="model"></p>
<p id="labels"></p>
<form id="form">
  <label>Text <textarea id="text" rows="4" required autofocus
    placeholder="For example: The staff were friendly, but the room was cold."></textarea></label>
  <label>Second text, if the model takes pairs <textarea id="pair" rows="2"></textarea></label>
  <button>Classify</button> <button id="explain">Which words decided?</button>
</form>
<div id="answer" role="status"></div>
<div id="words"></div>
<p id="time"></p>
<script>
const at = id => document.getElementById(id);
const make = (name, text) => {
  const made = document.createElement("div");
  made.className = name;
  made.textContent = text;
  return made;
};
let raw_scores = false;
fetch("info").then(r => r.json()).then(info => {
  raw_scores = info.problem_type == "regression";
  at("model").textContent = info.error || info.model_id + " (" + info.model_dtype + ")";
  const names = Object.values(info.model_type?.classifier?.id2label || {}), most = 20;
  if (names.length == 0) return;
  const more = names.length > most ? ", and " + (names.length - most) + " more" : "";
  at("labels").textContent = "Labels: " + names.slice(0, most).join(", ") + more;
}).catch(() => {});
const ask = async (path, body) => {
  const response = await fetch(path, {
    method: "POST",
    headers: {"Content-Type": "application/json"},
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return [answer, response.headers.get("x-total-time") + " ms"];
};
const show_scores = answer => {
  for (const {label, score} of answer) {
    const row = make("row", ""), bar = make("bar", ""), fill = make("", "");
    fill.style.width = 100 * Math.min(1, Math.max(0, score)) + "%";
    bar.append(fill);
    row.append(make("name", label), bar, make("score", score.toFixed(4)));
    at("answer").append(row);
  }
};
// Returns a text whose words are the darker the greater their shares are.
const coloured = (text, words, most) => {
  const characters = [...text], shown = document.createElement("p");
  let done = 0;
  for (const {start, end, share} of words) {
    const word = document.createElement("span");
    word.className = share < 0 ? "against" : "for";
    word.style.setProperty("--share", .65 * Math.abs(share) / most);
    word.title = (share < 0 ? "" : "+") + share.toFixed(3);
    word.textContent = characters.slice(start, end).join("");
    shown.append(characters.slice(done, start).join(""), word);
    done = end;
  }
  shown.append(characters.slice(done).join(""));
  return shown;
};
const show_words = (texts, {explanations}) => {
  for (const {label, logit, baseline, words} of explanations) {
    const most = Math.max(1e-9, ...words.map(word => Math.abs(word.share)));
    at("words").append(make("name", label === undefined ? "The value" : label));
    texts.forEach((text, i) =>
      at("words").append(coloured(text, words.filter(word => !!word.of_second == i), most)));
    at("words").append(make("note", "Blue words raise the logit, from " + baseline.toFixed(3) +
      " without words to " + logit.toFixed(3) + "; orange, underlined words lower it. Point at a " +
      "word to see its share."));
  }
};
at("form").addEventListener("submit", async event => {
  event.preventDefault();
  const pair = at("pair").value, texts = [at("text").value].concat(pair ? pair : []);
  const inputs = pair ? texts : texts[0];
  at("answer").replaceChildren();
  at("words").replaceChildren();
  at("time").textContent = "";
  try {
    const [answer, time] = await ask("predict", {inputs, raw_scores, truncate: true});
    show_scores(answer);
    at("time").textContent = time;
    if (event.submitter?.id != "explain") return;
    const [explained, longer] = await ask("explain", {inputs});
    show_words(texts, explained);
    at("time").textContent = longer;
  } catch (error) {
    at("answer").append(make("error", error.message));
  }
});
</script>
</html>
)html";

}  // namespace seqtrain::serve
