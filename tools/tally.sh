# Source this script. It adds up the tests of several commands.
passed=0 failed=0 skipped=0 failures=

# tally NAME COMMAND...: runs the command and adds the counts that it printed last. A command that
# prints no counts is one test.
tally() {
  local counts='^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$'
  local name=$1 log status start=$SECONDS
  shift
  echo "== $name"
  log=$(mktemp)
  "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  if [[ $(grep -E "$counts" "$log" | tail -n 1) =~ $counts ]]; then
    ((passed += BASH_REMATCH[1], failed += BASH_REMATCH[2], skipped += BASH_REMATCH[4]))
    ((status == 0 || BASH_REMATCH[2] > 0 || ++failed))
  else
    ((status == 0 ? ++passed : ++failed))
  fi
  ((status == 0)) || failures+="in $name: $*"$'\n'$(tac "$log" | sed "/^== failures$/q" | head -n 200 | tac)$'\n'
  rm -f "$log"
  echo "== $name took $((SECONDS - start)) s"
}

# Prints the failures again after a line `== failures`, then the sums as `N passed, N failed`. Fails if a
# test has failed.
tally_end() {
  ((failed == 0)) || printf '== failures\n%s' "$failures"
  echo "$passed passed, $failed failed$( ((skipped)) && echo ", $skipped skipped")"
  ((failed == 0))
}
