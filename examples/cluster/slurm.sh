#!/bin/sh
# A conversion as a Slurm job array: plan here, make parts on 8 nodes, finish when all of them are done.
#
#   examples/cluster/slurm.sh /shared/model.safetensors /shared/model.gguf --quantize q4_k
#
# Inputs, output and this folder lie on a file system that all nodes share; or use s3:// addresses. A worker that fails or is killed is tried
# three times, and Slurm starts it on another node when its node is lost: what is done stays done. TARE is how tare is called on the nodes,
# WORKERS how many there are.
set -eu
: "${TARE:=tare}" "${WORKERS:=8}"
job=$(pwd)/job-$$.json
$TARE plan "$@" -o "$job"
# The share of a task follows from SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT.
try="$TARE work '$job'"
work=$(sbatch --parsable --requeue --array=1-"$WORKERS" --job-name=tare-work --output="$job.%a.log" --wrap="$try || $try || $try")
sbatch --parsable --dependency=afterok:"$work" --job-name=tare-finish --output="$job.finish.log" --wrap="$TARE finish '$job'"
