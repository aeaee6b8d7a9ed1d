#!/bin/bash
# scripts/fuzz.sh SECONDS: builds every fuzzer with clang, AddressSanitizer and UBSan into build-fuzz/, and runs each
# for that long. Inputs found so far are kept in build-fuzz/corpus/NAME, seeds are made by the build, inputs
# that fail go to build-fuzz/failures/. The last line is "N passed, N failed", counted in fuzzers.
seconds=${1:?how many seconds for each fuzzer?}
root=$(CDPATH='' cd -P -- "${BASH_SOURCE[0]%/*}/.." && pwd) || exit 1
. "$root/scripts/setup.sh" || exit 1

finish() {
  echo "$1 passed, $2 failed"
  exit $(( $2 > 0 ))
}

if ! command -v clang++ >/dev/null; then
  echo "FAIL: clang is not installed; ./test does that"
  finish 0 1
fi
choose_build -fuzz
run_build -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DPASTCONE_FUZZ=ON -DPASTCONE_BENCH=OFF \
  -DPASTCONE_SANITIZE=address,undefined,fuzzer-no-link -- fuzzers || finish 0 1

shopt -s nullglob
fuzzers=("$build"/bin/*_fuzzer)
if (( ${#fuzzers[@]} == 0 )); then
  echo "FAIL: the build made no fuzzer in $build/bin"
  finish 0 1
fi

# run_fuzzer PROGRAM: one line, and the end of its log if it failed.
run_fuzzer() {
  local name=${1##*/} seeds log=$1.log
  local corpus=$build/corpus/$name
  mkdir -p "$corpus" "$build/failures"
  seeds=$build/fuzz/${name%_fuzzer}_corpus  # made by the build
  [[ -d $seeds ]] || seeds=
  if UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 "$1" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=10 \
    -artifact_prefix="$build/failures/$name-" "$corpus" ${seeds:+"$seeds"} >"$log" 2>&1 </dev/null; then
    echo "PASS $name: $(grep -m 1 '^Done ' "$log")"
  else
    tail -n 40 "$log"
    echo "FAIL $name (the input is in $build/failures)"
    return 1
  fi
}

jobs=()
failed=0
for fuzzer in "${fuzzers[@]}"; do
  if (( ${#jobs[@]} >= $(nproc) )); then
    wait "${jobs[0]}" || failed=$(( failed + 1 ))
    jobs=("${jobs[@]:1}")
  fi
  run_fuzzer "$fuzzer" &
  jobs+=($!)
done
for job in "${jobs[@]}"; do
  wait "$job" || failed=$(( failed + 1 ))
done
finish $(( ${#fuzzers[@]} - failed )) "$failed"
