"""command_pages.py SEQTRAIN DIRECTORY: writes the manual pages of the command SEQTRAIN and its completions for bash
and zsh into DIRECTORY, from what `seqtrain help` and the `--help` of each subcommand list."""

import gzip
import re
import subprocess
import sys
from pathlib import Path

ENTRY = re.compile(r"  (\S.*?)(?:  +(\S.*))?")
FLAG = re.compile(r"(?:-\w \[ )?(--[a-z][a-z0-9-]*)(?: \])?(.*)")

BASH = """_seqtrain() {
  local word=${COMP_WORDS[COMP_CWORD]} words=
  case $COMP_CWORD,${COMP_WORDS[1]} in
    1,* | 2,help) words='@names@' ;;
@flags@
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _seqtrain seqtrain
"""

ZSH = """#compdef seqtrain
local -a subcommands=(
@names@
)
if ((CURRENT == 2)) || [[ $words[2] == help ]]; then
  _describe subcommand subcommands
  return
fi
shift words
((CURRENT--))
case $words[1] in
@flags@
esac
"""


def sections(said):
    """Returns the parts of a help text after its first line: {title: [[flag or word, explanation], …]}."""
    found = {"Synopsis": []}
    for line in said.splitlines()[1:]:
        if re.match(r"\S.*:$", line):
            found[line[:-1]] = []
        elif entry := ENTRY.fullmatch(line):
            list(found.values())[-1].append([entry[1], (entry[2] or "").strip()])
        elif line.strip():  # the explanation goes on
            last = list(found.values())[-1][-1]
            last[1] = f"{last[1]} {line.strip()}".strip()
    return {title: entries for title, entries in found.items() if entries}


def flags(said):
    """Returns [flag, whether it needs a value, explanation] of each flag."""
    entries = [entry for part in sections(said).values() for entry in part]
    found = [(FLAG.fullmatch(name), text) for name, text in entries]
    return [(flag[1], flag[2] not in ("", " [true|false]"), text) for flag, text in found if flag]


def manual_page(name, version, said, purpose):
    def roff(text):
        return text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("…", "...")

    lines = [f'.TH {name.upper()} 1 "" "{version}"', ".SH NAME", f"{name} \\- {roff(purpose)}"]
    for title, entries in sections(said).items():
        lines.append(f'.SH "{title.upper()}"')
        for entry, text in entries:
            lines += [".TP", f"\\fB{roff(entry)}\\fR", roff(text) or "\\&"]
    return "\n".join(lines) + "\n"


def bash_completion(purposes, tables):
    cases = [f"    *,{name}) [[ $word != -* ]] || words='{' '.join(flag for flag, *_ in table)}' ;;"
             for name, table in tables.items()]
    return BASH.replace("@names@", " ".join(purposes)).replace("@flags@", "\n".join(cases))


def zsh_completion(purposes, tables):
    def quoted(text):
        return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")

    def argument(flag, needs_value, text):
        return f"'{flag}[{quoted(text)}]{':value:_files' if needs_value else ''}'"

    names = [f"  '{name}:{quoted(purpose)}'" for name, purpose in purposes.items()]
    cases = [f"  {name}) _arguments {' '.join(argument(*flag) for flag in table)} '*:file:_files' ;;"
             for name, table in tables.items()]
    return ZSH.replace("@names@", "\n".join(names)).replace("@flags@", "\n".join(cases))


def main(command, directory):
    def say(*words):
        return subprocess.run([command, *words], capture_output=True, text=True, check=True).stdout

    def write(name, data):
        path = Path(directory, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    usage = say("help")
    version = " ".join(say("--version").split()[:2])
    purposes = dict(sections(usage)["Subcommands"])
    pages = {"seqtrain": (usage, usage.splitlines()[0].removeprefix("seqtrain: "))}
    helps = {name: say("help", name) for name in purposes if name != "help"}
    pages.update({f"seqtrain-{name}": (said, purposes[name]) for name, said in helps.items()})
    for name, (said, purpose) in pages.items():
        text = manual_page(name, version, said, purpose)
        write(f"man/man1/{name}.1.gz", gzip.compress(text.encode(), mtime=0))
    tables = {name: flags(said) for name, said in helps.items()}
    write("bash-completion/completions/seqtrain", bash_completion(purposes, tables).encode())
    write("zsh/vendor-completions/_seqtrain", zsh_completion(purposes, tables).encode())


main(*sys.argv[1:])
