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
</style>
<h1>Try a text</h1>
<p id="model"></p>
<p id="labels"></p>
<form id="form">
  <label>Text <textarea id="text" rows="4" required autofocus
    placeholder="For example: The staff were friendly, but the room was cold."></textarea></label>
  <label>Second text, if the model takes pairs <textarea id="pair" rows="2"></textarea></label>
  <button>Classify</button>
</form>
<div id="answer" role="status"></div>
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
at("form").addEventListener("submit", async event => {
  event.preventDefault();
  const pair = at("pair").value;
  const inputs = pair ? [at("text").value, pair] : at("text").value;
  at("answer").replaceChildren();
  at("time").textContent = "";
  try {
    const response = await fetch("predict", {
      method: "POST",
      headers: {"Content-Type": "application/json"},
      body: JSON.stringify({inputs, raw_scores, truncate: true}),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error);
    for (const {label, score} of answer) {
      const row = make("row", ""), bar = make("bar", ""), fill = make("", "");
      fill.style.width = 100 * Math.min(1, Math.max(0, score)) + "%";
      bar.append(fill);
      row.append(make("name", label), bar, make("score", score.toFixed(4)));
      at("answer").append(row);
    }
    at("time").textContent = response.headers.get("x-total-time") + " ms";
  } catch (error) {
    at("answer").append(make("error", error.message));
  }
});
</script>
</html>
)html";

}  // namespace seqtrain::serve
