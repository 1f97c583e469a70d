#pragma once

#include <string>
#include <string_view>

#include <seqtrain/page/html/text.hpp>

namespace seqtrain::page::html {

/// The page's style sheet, for light and dark screens and for paper.
inline constexpr std::string_view style = R"css(
:root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--faint:#667;--line:#d8dce2;--soft:#f4f6f8;
--cell:#0b62a8;--right:#00744f;--link:#0b57b0;--c0:#0072b2;--c1:#c44e00;--c2:#00805f;--c3:#b0508a;
--c4:#8a6d00;--c5:#2f8fc4;--c6:#7a3fb0;--c7:#555}
@media (prefers-color-scheme:dark){:root{--back:#14171b;--text:#e6e9ee;
--faint:#9aa3ad;--line:#363c44;
--soft:#1d2127;--cell:#5aa9e6;--right:#3fbf94;--link:#7db7ff;--c0:#5ab4f0;--c1:#ff9350;--c2:#3fc9a0;
--c3:#e893c4;--c4:#e6c34a;--c5:#8fd3ff;--c6:#c39bf0;--c7:#b5bcc5}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1rem 1.25rem 4rem;
background:var(--back);color:var(--text);
font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;margin:.5rem 0;overflow-wrap:anywhere}
h2{margin:2.5rem 0 .5rem;font-size:1.25rem;
border-bottom:1px solid var(--line)}h3{font-size:1rem}a{color:var(--link)}
nav a{margin-right:1rem}.skip{position:absolute;left:-99rem}.skip:focus{position:static}
:focus-visible{outline:3px solid var(--c1);outline-offset:2px}
figure{margin:1.25rem 0;min-width:0}figcaption{font-weight:600}
svg{max-width:100%;height:auto;display:block}
svg text{font:11.5px system-ui,sans-serif;fill:var(--text)}.axes text{fill:var(--faint)}
.axes path{stroke:var(--line);fill:none}.axes .base{stroke:var(--faint)}
.line{fill:none;stroke-width:2;stroke-linejoin:round}.faint{stroke:var(--faint);fill:none;
stroke-dasharray:3 4}.mark{stroke:var(--faint);stroke-dasharray:5 3}
.cell{fill:var(--cell)}.cell.right{fill:var(--right)}
svg text.strong{fill:var(--back);font-weight:600}
svg a:focus-visible .cell{stroke:var(--c1);stroke-width:3}
.s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}
.s4{stroke:var(--c4);stroke-dasharray:7 3}.s5{stroke:var(--c5);stroke-dasharray:2 3}
.s6{stroke:var(--c6);stroke-dasharray:9 3 2 3}.s7{stroke:var(--c7);stroke-dasharray:4 2}
.f0{fill:var(--c0)}.f1{fill:var(--c1)}.f2{fill:var(--c2)}.f3{fill:var(--c3)}.f4{fill:var(--c4)}
.f5{fill:var(--c5)}.f6{fill:var(--c6)}.f7{fill:var(--c7)}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(26rem,100%),1fr));gap:0 2rem}
.scroll{overflow:auto;max-height:36rem;margin:.75rem 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}
caption{text-align:left;font-weight:600;padding:.25rem 0}
th,td{padding:.25rem .7rem;border-bottom:1px solid var(--line);text-align:right;vertical-align:top;
overflow-wrap:break-word}
thead th{position:sticky;top:0;background:var(--soft)}tbody th{font-weight:400}
th:first-child,td:first-child,#example-table td,#example-table th,#run td{
text-align:left}
th button{all:unset;cursor:pointer}th button:focus-visible{outline:3px solid var(--c1)}
tr:target{background:var(--soft);outline:2px solid var(--c1)}
.text{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate}#example-table td:last-child{
min-width:22rem}hr{border:0;border-top:1px dashed var(--line)}
.for,.against{--share:.5;border-radius:.2rem}
.for{background:rgb(0 114 178/calc(.6*var(--share)))}
.against{background:rgb(213 94 0/calc(.6*var(--share)));text-decoration:underline dotted}
summary{cursor:pointer;color:var(--faint)}summary .text{color:var(--text)}
pre{background:var(--soft);padding:.75rem;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere}
form{display:flex;gap:1rem;flex-wrap:wrap;align-items:baseline}form[hidden],tr[hidden]{display:none}
select,input{font:inherit;max-width:14rem}.status{color:var(--faint)}
@media print{:root{--back:#fff;--text:#000;--faint:#444;--soft:#fff}
nav,form,.skip{display:none!important}
.scroll{max-height:none;overflow:visible}figure,tr{break-inside:avoid}body{max-width:none}}
)css";

/// The page's script, which filters and sorts tables. The page can be read without it.
inline constexpr std::string_view script = R"js(
(() => {
  const table = document.getElementById('example-table'), byId = i => document.getElementById(i);
  const form = document.querySelector('form.js');
  if (table && form) {
    form.hidden = false;
    const gold = byId('filter-gold'), said = byId('filter-said'), text = byId('filter-text');
    const rows = [...table.tBodies[0].rows];
    const has = (list, wanted) => !wanted || list.split(' ').includes(wanted);
    const filter = () => {
      const words = text.value.toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = !(has(row.dataset.gold, gold.value) && has(row.dataset.said, said.value) &&
                       row.textContent.toLowerCase().includes(words));
        shown += !row.hidden;
      }
      byId('shown').textContent = shown + ' of ' + rows.length;
    };
    form.addEventListener('input', filter);
    form.addEventListener('submit', event => event.preventDefault());
    for (const link of document.querySelectorAll('[data-cell]')) {
      link.addEventListener('click', () => {
        if (link.closest('#dev') === null) return;
        [gold.value, said.value] = link.dataset.cell.split('-');
        text.value = '';
        filter();
      });
    }
    filter();
  }
  for (const sorted of document.querySelectorAll('table.sortable')) {
    const heads = sorted.tHead ? [...sorted.tHead.rows[0].cells] : [];
    heads.forEach((head, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => {
        const up = head.getAttribute('aria-sort') !== 'ascending';
        heads.forEach(other => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
        const key = row => row.cells[column] ? row.cells[column].textContent : '';
        const number = value => parseFloat(value.replaceAll(',', ''));
        const body = sorted.tBodies[0];
        body.append(...[...body.rows].sort((a, b) => {
          const x = key(a), y = key(b), nx = number(x), ny = number(y);
          const order = isNaN(nx) || isNaN(ny) ? x.localeCompare(y) : nx - ny;
          return up ? order : -order;
        }));
      });
    });
  }
})();
)js";

/// Returns an HTML page with this body. Its content security policy forbids it to fetch anything.
[[nodiscard]] inline std::string framed(std::string_view title, std::string_view body) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
      "'none'\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n";
  out += element("title", title) + "\n<style>";
  out += style;
  out += "</style></head><body>\n";
  out += body;
  out += "<script>";
  out += script;
  return out + "</script></body></html>\n";
}

}  // namespace seqtrain::page::html
