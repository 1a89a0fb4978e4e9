#!/bin/sh
# A conversion with GNU parallel, on this machine or on others that share a file system:
#
#   examples/cluster/parallel.sh /shared/model.safetensors /shared/model.gguf --quantize q4_k
#   PARALLEL="--sshlogin node1,node2 --jobs 1" WORKERS=2 examples/cluster/parallel.sh …
#
# TARE is how tare is called, WORKERS how many workers there are. Each part is tried three times; what is done stays done.
set -eu
: "${TARE:=tare}" "${WORKERS:=4}"
job=$(pwd)/job-$$.json
$TARE plan "$@" -o "$job"
seq "$WORKERS" | parallel --retries 3 "$TARE work '$job' --part {}/$WORKERS"
$TARE finish "$job"
rm "$job"
