#!/bin/bash
# Cases of the self-test, at the smallest sizes, under compute-sanitizer: each in a process of its own.
# Usage: bash sanitize.sh [-j RUNS] [-f FILE] [TOOL...]
#   -j RUNS  as many at once (1)
#   -f FILE  only the cases that FILE names, one a line: logs/left-0 lists the cases that are left after a run
#   TOOL     some of: @TOOLS@ (all)
# In the environment: SECONDS_A_CASE; CASES, a pattern of names; SHARD=i/n, each n-th case from i on.
set -u
runs=1
file=
while getopts j:f: option; do
    case $option in
    j) runs=$OPTARG ;;
    f) file=$(realpath "$OPTARG") ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
cd "$(dirname "$0")" || exit 1
tools=${*:-@TOOLS@}
export limit=${SECONDS_A_CASE:-@SECONDS@}
shard=${SHARD:-0/1}
for tool in $tools; do
    if [[ " @TOOLS@ " != *" $tool "* ]]; then
        echo "$tool is no tool: use some of @TOOLS@"
        exit 2
    fi
done
if [[ -n $file && ! -r $file ]]; then
    echo "$file cannot be read: name a file of cases"
    exit 2
fi
if ! command -v compute-sanitizer >/dev/null; then
    echo "skipped: compute-sanitizer is not on the path: it comes with the CUDA toolkit"
    exit 0
fi
chmod +x trioxide
mkdir -p logs
# The case of all launches relies on the other cases in the same process.
mapfile -t cases < <(./trioxide selftest --tiny --list | grep -v '^launches ' | cut -c14- | grep -E -- "${CASES:-.}" |
    if [ -n "$file" ]; then grep -Fx -f "$file"; else cat; fi |
    awk -v i="${shard%/*}" -v n="${shard#*/}" 'NR % n == i % n')
export results="logs/results-${shard%/*}"
left="logs/left-${shard%/*}"
: >"$results"
echo "${#cases[@]} cases by $tools, $runs at once, at most $limit s each"

# Runs a case with a tool; writes a line to the results, and one to the terminal.
run() {
    local tool=$1 name=$2 log start=$SECONDS status word
    log=logs/$tool-$(printf %s "$name" | tr -c 'A-Za-z0-9' _).log
    timeout "$limit" compute-sanitizer --tool "$tool" --error-exitcode 86 \
        ./trioxide selftest --tiny --device cuda --only "$name" >"$log" 2>&1
    status=$?
    case $status in
    0) word=ok ;;
    124) word="NOT ENDED" ;;
    86) word=FINDING ;;
    *) word="FAILED ($status)" ;;
    esac
    printf '%s\t%s\t%s\n' "$tool" "$word" "$name" >>"$results"
    printf '%-10s %-12s %4d s  %s\n' "$tool" "$word" $((SECONDS - start)) "$name"
}
export -f run
for tool in $tools; do
    for name in "${cases[@]}"; do
        printf '%s\0%s\0' "$tool" "$name"
    done
done | xargs -0 -r -n 2 -P "$runs" bash -c 'run "$@"' run
for tool in $tools; do
    count() { awk -F '\t' -v tool="$tool" -v word="$1" '$1 == tool && $2 ~ word' "$results" | wc -l; }
    echo "$tool: $(count '^ok$') ok, $(count FINDING) with findings, $(count FAILED) failed, $(count 'NOT ENDED') not ended"
done
awk -F '\t' '$2 != "ok" { print $3 }' "$results" | sort -u >"$left"
[ ! -s "$left" ] && [ "$(wc -l <"$results")" = $((${#cases[@]} * $(wc -w <<<"$tools"))) ]
