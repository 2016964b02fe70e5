#!/bin/sh
# Runs trioxide's self-test and benchmarks where this folder lies: ./run.sh [selftest | FAMILY]...
# Without words: all of them. DEVICE=cpu ./run.sh weld   takes another device than the first GPU.
# Results: results/*.json; the same as text in results/tables.txt, and each step's outcome in results/log.txt.
set -u
cd "$(dirname "$0")" || exit 1
DEVICE="${DEVICE:-cuda}"
TRIOXIDE_COMMIT="@COMMIT@"
export TRIOXIDE_COMMIT
# The driver keeps the compiled kernels here: each run is a process of its own.
CUDA_CACHE_PATH="${CUDA_CACHE_PATH:-$PWD/cache}"
export CUDA_CACHE_PATH
mkdir -p results

# The driver's library is not on the loader's path in some containers: look where it usually lies.
has_driver() {
    ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1' && return 0
    echo "${LD_LIBRARY_PATH:-}" | tr ':' '\n' | while read -r folder; do
        [ -n "$folder" ] && [ -e "$folder/libcuda.so.1" ] && exit 1
    done
    [ $? -eq 1 ]
}
if [ "$DEVICE" != cpu ] && ! has_driver; then
    for folder in /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib64 /usr/local/nvidia/lib64 \
        /usr/local/nvidia/lib /usr/local/cuda/compat /usr/lib/wsl/lib /run/opengl-driver/lib /opt/nvidia/lib64; do
        if [ -e "$folder/libcuda.so.1" ]; then
            LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
            export LD_LIBRARY_PATH
            break
        fi
    done
fi

if [ $# -eq 0 ]; then
    set -- selftest
    for plan in plans/*.txt; do
        name="${plan#plans/}"
        set -- "$@" "${name%.txt}"
    done
fi

failures=0
# step FILE COMMAND: adds what the command prints to the file, says how long it took, and goes on when it fails.
step() {
    file="$1"
    shift
    start=$(date +%s)
    echo "+ $*"
    if "$@" >>"$file"; then outcome=ok; else outcome=FAILED; fi
    echo "  $outcome, $(($(date +%s) - start)) s"
    [ "$outcome" = ok ]
}
{
    ./trioxide devices
    command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -q >results/nvidia-smi.txt 2>&1
    for word in "$@"; do
        if [ "$word" = selftest ]; then
            step results/selftest.txt ./trioxide selftest --device "$DEVICE" || failures=$((failures + 1))
        elif [ -e "plans/$word.txt" ]; then
            while read -r program arguments; do
                [ "$program" = trioxide ] || continue
                # The words of a plan hold no spaces.
                # shellcheck disable=SC2086
                step results/tables.txt ./trioxide $arguments --device "$DEVICE" </dev/null ||
                    failures=$((failures + 1))
            done <"plans/$word.txt"
        else
            echo "there is no plan plans/$word.txt: choose from selftest $(cd plans && ls | sed 's/\.txt$//' | tr '\n' ' ')"
            failures=$((failures + 1))
        fi
    done
    echo "failures: $failures"
    echo "$failures" >results/failures.txt
} 2>&1 | tee results/log.txt
[ "$(cat results/failures.txt)" = 0 ]
