# case.sh - sourced by faults.sh, kills.sh, disk.sh and flips.sh: what they say, what they
# train, and a draw that can be had again.
. tests/say.sh
home=$(pwd)
bin=$(cd "$1" && pwd)/skillopt
form=${SKILLOPT_TEST_FORM:-short}
tmp=$(mktemp -d)
pick() { # pick SHORT LONG FULL
  case $form in short) echo "$1" ;; long) echo "$2" ;; *) echo "$3" ;; esac
}
train() { # train FOLDER [KEY=VALUE...]: 3 steps on 12 items, with the simulated model
  train_folder=$1
  shift
  "$bin" run "$home/configs/houserules/experiment.lua" --quiet env.out_root="$train_folder" \
    env.split_dir="$home/data/houserules" env.limit=12 train.batch_size=4 train.num_epochs=1 \
    gradient.minibatch_size=2 "$@"
}
same() { # same NAME REFERENCE FOLDER...
  same_name=$1
  shift
  "$bin" lua tests/e2e/faults/same.lua "$same_name" "$@"
}
state=${SKILLOPT_TEST_SEED:-7}
draw() { # draw N: sets `drawn` to 0 .. N-1
  state=$(( (state * 1103515245 + 12345) % 2147483648 ))
  drawn=$(( (state / 65536) % $1 ))
}
