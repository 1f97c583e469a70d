# shellcheck shell=bash
# Functions of submit.sh and deploy.sh: messages, commands that a dry run prints, and checks before
# anything costs money. Needs bash, the tools of POSIX and gcloud.

# shellcheck disable=SC2034  # the scripts use it
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dry_run=false

# stop PROBLEM [COMMAND...]: prints the problem and the command that solves it, and ends the script.
stop() {
  printf 'error: %s\n' "$1" >&2
  shift
  if (($# > 0)); then
    printf 'To run:\n' >&2
    printf '  %s\n' "$@" >&2
  fi
  exit 2
}

# Prints a command in the syntax of a shell, without a line end. If a word ends in $NAME, which `ask`
# has set, the shell expands it.
print_command() {
  local word name text='' quote="'\\''"
  for word; do
    name=
    if [[ $word =~ ^(--[a-z-]+=)(.*)$ ]]; then
      name=${BASH_REMATCH[1]}
      word=${BASH_REMATCH[2]}
    fi
    if [[ $word =~ ^[A-Za-z0-9_./:=,@%+-]+$ ]]; then
      text+=" $name$word"
    elif [[ $word =~ ^\$[A-Z]+$ ]]; then
      text+=" $name\"$word\""
    else
      text+=" $name'${word//\'/$quote}'"
    fi
  done
  printf '%s' "${text# }"
}

# run COMMAND...: prints the command and runs it; a dry run only prints it.
run() {
  if $dry_run; then
    print_command "$@"
    echo
  else
    printf '+ %s\n' "$(print_command "$@")" >&2
    "$@"
  fi
}

# ask NAME COMMAND...: puts what the command prints into the variable NAME. In a dry run the
# variable is its own name, so that later commands show where the value goes.
ask() {
  local name=$1 value
  shift
  if $dry_run; then
    printf '%s=%s(%s)\n' "$name" '$' "$(print_command "$@")"
    printf -v "$name" '%s' "\$$name"
  else
    value=$("$@") || return
    printf -v "$name" '%s' "$value"
  fi
}

# run_for NAME COMMAND...: prints the command, runs it and puts what it prints into NAME.
run_for() {
  $dry_run || printf '+ %s\n' "$(print_command "${@:2}")" >&2
  ask "$@"
}

# note TEXT: a line for the reader, a comment among the commands of a dry run.
note() {
  if $dry_run; then printf '# %s\n' "$1"; else printf '%s\n' "$1"; fi
}

# set_defaults TAG: sets PROJECT, REGION and IMAGE_URI unless the caller has. TAG is the image's.
set_defaults() {
  REGION=${REGION:-us-central1}
  PROJECT=${PROJECT:-${CLOUDSDK_CORE_PROJECT:-}}
  if [[ -z $PROJECT ]] && $dry_run; then
    print_command gcloud config get-value project
    echo
    PROJECT=PROJECT_ID
  elif [[ -z $PROJECT ]]; then
    PROJECT=$(gcloud config get-value project 2>/dev/null) || true
  fi
  if [[ -z $PROJECT || $PROJECT == "(unset)" ]]; then
    stop "no project is set" "gcloud config set project PROJECT_ID"
  fi
  # A project of an organization may be named example.com:name.
  IMAGE_URI=${IMAGE_URI:-$REGION-docker.pkg.dev/${PROJECT//:/\/}/seqtrain/seqtrain:$1}
  only_plain PROJECT REGION IMAGE_URI
}

# Values are put into job files, so they must not contain characters with a meaning there.
only_plain() {
  local name
  for name; do
    [[ ${!name} =~ ^[A-Za-z0-9._:/@=-]+$ ]] || stop "$name is not usable: '${!name}'"
  done
}

check_account() {
  command -v gcloud >/dev/null || $dry_run || stop "gcloud is missing: see https://cloud.google.com/sdk"
  ask ACCOUNT gcloud auth list --filter=status:ACTIVE --format='value(account)'
  [[ -n $ACCOUNT ]] || stop "gcloud has no account" "gcloud auth login"
}

# Looks up an image in Artifact Registry. gcloud cannot look up images in other registries.
find_image() {
  [[ $IMAGE_URI == *-docker.pkg.dev/* ]] || return 0
  ask DIGEST gcloud artifacts docker images describe "$IMAGE_URI" --project="$PROJECT" \
    --format='value(image_summary.digest)'
}

# check_place URI [COMMAND]: stops unless a file or folder exists. COMMAND would create it.
check_place() {
  local uri=$1
  shift
  if $dry_run; then
    run gcloud storage ls "$uri" --project="$PROJECT"
  else
    gcloud storage ls "$uri" --project="$PROJECT" >/dev/null || stop "$uri is not there" "$@"
  fi
}
