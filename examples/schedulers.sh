#!/usr/bin/env bash
# A job for two schedulers: a batch script for Slurm and a TFJob for Kubeflow.
#
#     examples/schedulers.sh manifests
#     sbatch manifests/job.sbatch
#     kubectl apply -f manifests/job.yaml
#
# Both run a chief, three workers, two parameter servers and an evaluator. The scheduler sets
# TF_CONFIG; the program is the same as on a single machine.
set -euo pipefail
mkdir -p "$1"
job=(--workers=3 --ps=2 --evaluator --name=census)
program=(python examples/census_wide_deep.py /shared/runs/census)
estimator-train manifest --platform=slurm "${job[@]}" --time=04:00:00 -- "${program[@]}" \
  > "$1/job.sbatch"
estimator-train manifest --platform=kubeflow "${job[@]}" --image=training:1 -- "${program[@]}" \
  > "$1/job.yaml"
