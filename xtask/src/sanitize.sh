#!/bin/bash
# Every case of the self-test, at the smallest sizes, under compute-sanitizer: each in a process of its own.
# Usage: bash sanitize.sh [TOOL...]    with SECONDS_A_CASE, CASES (a pattern) and SHARD=i/n to divide the work.
set -u
cd "$(dirname "$0")"
tools=${*:-@TOOLS@}
limit=${SECONDS_A_CASE:-@SECONDS@}
pattern=${CASES:-.}
shard=${SHARD:-0/1}
chmod +x trioxide
mkdir -p logs
if ! command -v compute-sanitizer >/dev/null; then
    echo "skipped: compute-sanitizer is not on the path: it comes with the CUDA toolkit"
    exit 0
fi
# The case of all launches counts on the others in the same process.
mapfile -t cases < <(./trioxide selftest --tiny --list | grep -v '^launches ' | cut -c14- | grep -E -- "$pattern" |
    awk -v i="${shard%/*}" -v n="${shard#*/}" 'NR % n == i % n')
echo "${#cases[@]} cases by $tools, at most $limit s each"
failed=0
ended=0
for tool in $tools; do
    for i in "${!cases[@]}"; do
        log="logs/$tool-${shard%/*}-$i.log"
        start=$SECONDS
        timeout "$limit" compute-sanitizer --tool "$tool" --error-exitcode 86 \
            ./trioxide selftest --tiny --device cuda --only "${cases[$i]}" >"$log" 2>&1
        status=$?
        case $status in
        0) word=ok ended=$((ended + 1)) ;;
        124) word="NOT ENDED" failed=$((failed + 1)) ;;
        86) word=FINDING failed=$((failed + 1)) ended=$((ended + 1)) ;;
        *) word="FAILED ($status)" failed=$((failed + 1)) ended=$((ended + 1)) ;;
        esac
        printf '%-10s %-12s %4d s  %s\n' "$tool" "$word" $((SECONDS - start)) "${cases[$i]}"
    done
done
echo "$ended runs ended, $failed with findings, failures or without an end (logs/)"
[ "$failed" = 0 ]
