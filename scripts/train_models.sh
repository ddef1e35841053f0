#!/bin/sh
# Re-makes the shipped models, and those the accuracy page compares them with, two trainings at a time on one core each, and evaluates them:
#   scripts/train_models.sh [NAME...]           default: all of the list below
# Interrupted trainings go on where they stopped; finished models and evaluations are left alone. PENN: the program (default build/penn).
set -eu
cd "$(dirname "$0")/.."
penn=${PENN:-build/penn}

# SYSTEM, lengths, budget on one core, further options
recipe() {
  case $1 in
    soup)       echo "soup      200:5000 --minutes 45" ;;
    oup)        echo "oup       200:5000 --minutes 75" ;;
    dvdp)       echo "dvdp      200:2000 --minutes 45" ;;
    cfhn-x1x2)  echo "cfhn:x1x2 500:2000 --steps 11000 --coordinates box" ;;
    cfhn-x1)    echo "cfhn:x1   500:2000 --steps 13000 --coordinates box" ;;
    cfhn-mean)  echo "cfhn:mean 500:2000 --minutes 40 --coordinates box" ;;
    airfoil)    echo "airfoil   300:2000 --minutes 32 --coordinates D_gauss,D_levy,alpha" ;;
    soup-paper) echo "soup      1000 --minutes 45 --preset paper --batch 64 --validation 2000" ;;
    oup-paper)  echo "oup       1000 --minutes 45 --preset paper --batch 64 --validation 2000" ;;
    oup-45)     echo "oup       200:5000 --minutes 45" ;;
    soup-quarter) echo "soup    200:5000 --minutes 11.25" ;;
    dvdp-full-10)     echo "dvdp 500 --minutes 10 --recalibration 0" ;;
    dvdp-diagonal-10) echo "dvdp 500 --minutes 10 --recalibration 0 --covariance diagonal" ;;
    dvdp-diagonal-30) echo "dvdp 500 --minutes 10 --recalibration 0 --covariance diagonal --components 30" ;;
    *) echo "$0: unknown model '$1'; known are: $all" >&2; exit 2 ;;
  esac
}
folder() {
  case $1 in
    soup-quarter | oup-45 | oup-paper) echo out/models ;;  # for comparison, not shipped
    dvdp-*)    echo gallery/models ;;  # the same, where `penn reproduce tab3 -o gallery` finds them
    *)         echo models ;;
  esac
}
lengths_to_evaluate() { # the paper's among them
  case $1 in
    soup | soup-quarter) echo 200 1000 5000 ;;
    oup)        echo 200 1000 5000 10000 ;;  # the last beyond its training
    dvdp)       echo 200 500 2000 ;;
    dvdp-*)     echo 500 ;;
    cfhn-*)     echo 1500 ;;
    *)          echo 1000 ;;
  esac
}
all="soup oup dvdp cfhn-x1x2 cfhn-x1 cfhn-mean airfoil soup-quarter soup-paper oup-45 oup-paper dvdp-full-10 dvdp-diagonal-10 dvdp-diagonal-30"

train() { # name system lengths options...
  model=$(folder "$1")/$1.safetensors system=$2 lengths=$3
  shift 3
  if [ -e "$model" ]; then return; fi
  if [ -e "$model.checkpoint" ]; then "$penn" train "$system" -o "$model" --threads 1 --resume
  else "$penn" train "$system" -o "$model" --threads 1 --length "$lengths" "$@"
  fi
}

evaluate() { # name length
  result=models/evaluations/$1-$2.json status=0
  if [ -e "$result" ]; then return; fi
  "$penn" evaluate "$(folder "$1")/$1.safetensors" -n 20000 --length "$2" --seed 1 --json "$result.part" || status=$?
  [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || { rm -f "$result.part"; exit "$status"; }  # 3: the calibration failed, which the result says
  mv "$result.part" "$result"
}

if [ "${1:-}" = --one ]; then
  # shellcheck disable=SC2046  # the recipe is words
  train "$2" $(recipe "$2")
  exit
fi
[ $# -gt 0 ] || set -- $all
for name in "$@"; do recipe "$name" >/dev/null; done
mkdir -p models/evaluations out/models gallery/models
failed=0
printf '%s\n' "$@" | xargs -P 2 -n 1 scripts/train_models.sh --one || failed=$?
for name in "$@"; do
  [ -e "$(folder "$name")/$name.safetensors" ] || continue  # its training failed, or was interrupted
  for length in $(lengths_to_evaluate "$name"); do evaluate "$name" "$length"; done
done
exit "$failed"
