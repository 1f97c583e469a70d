#!/usr/bin/env python3
"""Writes word_marks.json: texts, their normal forms and words by Python's regular expressions.

The rules are those that fastai applies by default before it cuts a text into words, one regular
expression each.
"""
import html
import json
import re
from pathlib import Path

TEXTS = [
    "", " ", "a", "A", "I am here", "Hello World", "USA and U.S. of A", "McDonald eats", "iPhone X",
    "Wow!!!! That is soooo good...", "1000000 times", "a  b   c", "------", "aaa", "aabb", "ééé!",
    "no no no", "no no no!", "no no no no yes", "No no no no", "so so", "a a a ab", "a a a, b",
    "no no no yes yes yes yes", "x no\tno\n no. x", "don't don't don't", "ha ha ha ha",
    "very very veryy very very very", " go go go", "go go go ", "1 1 1 1", "ja_1 ja_1 ja_1\u00a0x",
    "and/or #tag C:\\dir", "a / b", "//", "###", "A/B", "TEXT/Text",
    "École ÉCOLE Élan über ÜBER Straße", "Привет МИР", "日本語 text", "naïve CAFÉ Café",
    "A1 1A B-52 X! \"Quoted\" (Paren) 'Single'", "WHAT?! What?!", "line\nbreak\r\n\tTab",
    "<br /><br />This was GREAT!!!!!!", "xxmaj xxunk", "e\u0301tude", "it's 3.14", "a_b __init__",
    "it&#39;s &quot;good&quot; &amp; cheap&nbsp;!", "it#39;s quot;goodquot;", "one\\ntwo \\\"three\\\"",
    "wait... <unk> 3 @.@ 14 up @-@ to", "caf&eacute; &Eacute;T&Eacute; &lt;b&gt; &laquo;o&raquo; &eacutet&eacute",
    "&#233;&#xE9;&#XE9 &#8217;&#128;&#x81;&#0;&#xD800;&#1114112;&#99999999999;&#11;&#127;&#xFFFF;.",
    "&hellip;&mdash;&rsquo;&apos;&oelig;&euro; &hellip &apos", "& && &; &# &#; &#x; &#xg; &a; &unknown; &ampx; &lt",
    "<BR /><br/><br />x", "a....b", "\u2003wide\u2003space", "😀😀😀 ok", "I I I", "II II II x", "Ⅳ chapter",
    "1½ cups, x² and ¼ mile", "½ ½ ½ ok", "no no no½", "①② ③",
]


MESSES = {
    "#39;": "'", "amp;": "&", "#146;": "'", "nbsp;": " ", "#36;": "$", "\\n": "\n", "quot;": "'",
    "<br />": "\n", '\\"': '"', "<unk>": "xxunk", " @.@ ": ".", " @-@ ": "-", "...": " …",
}


def marked(text):
    for messy, plain in MESSES.items():
        text = text.replace(messy, plain)
    text = html.unescape(text)
    text = re.sub(r"(\S)(\1{2,})", lambda m: f" xxrep {len(m[2]) // len(m[1]) + 1} {m[1]} ", text)
    text = re.sub(
        r"(?:\s|^)(\w+)\s+((?:\1\s+)+)\1(\s|\W|$)",
        lambda m: f" xxwrep {len(m[2].split()) + 2} {m[1]} {m[3]}",
        text,
    )
    text = re.sub(r"([/#\\])", r" \1 ", text)
    text = re.sub(r" {2,}", " ", text)
    capitals = lambda mark: lambda m: m[1] + (mark + " " if len(m[2]) > 1 else "") + m[2].lower()
    text = re.sub(r"(\s|^)([A-Z]+[^a-z\s]*)(?=(\s|$))", capitals("xxup"), text)
    text = re.sub(r"(\s|^)([A-Z][^A-Z\s]*)(?=(\s|$))", capitals("xxmaj"), text)
    return text.lower()


def words(text):
    # Every ideograph, here those between 一 and 鿿, is a word by itself, like each character that is not \w.
    return re.findall(r"[一-鿿]|(?:(?![一-鿿])[\w\u0300-\u036f])+|\S", text)


if __name__ == "__main__":
    cases = [{"text": t, "marked": marked(t), "words": words(marked(t))} for t in TEXTS]
    path = Path(__file__).parent / "word_marks.json"
    path.write_text(json.dumps(cases, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
