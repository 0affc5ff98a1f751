#!/usr/bin/env bash
# One job on two schedulers: a batch script for Slurm, a TFJob for Kubeflow.
#
#     examples/schedulers.sh manifests
#     sbatch manifests/job.sbatch
#     kubectl apply -f manifests/job.yaml
#
# Both run a chief, three workers, two parameter servers and an evaluator; what sets TF_CONFIG is the
# scheduler, and the program is the same as on one machine.
set -euo pipefail
mkdir -p "$1"
job=(--workers=3 --ps=2 --evaluator --name=census)
program=(python examples/census_wide_deep.py /shared/runs/census)
estimator-train manifest --platform=slurm "${job[@]}" --time=04:00:00 -- "${program[@]}" \
  > "$1/job.sbatch"
estimator-train manifest --platform=kubeflow "${job[@]}" --image=training:1 -- "${program[@]}" \
  > "$1/job.yaml"
