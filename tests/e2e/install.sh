#!/bin/sh
# install.sh BUILD - the installed tree: complete, runs from everywhere and after a move,
# as a package too, and leaves nothing behind. Below a scratch folder, without root.
set -u
build=$1
here=$(pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0
verdict() { # verdict NAME CODE WHY
  if [ "$2" -eq 0 ]; then
    echo "ok - $1"
  else
    echo "FAIL - $1: $3"
    failures=1
  fi
}
if ! command -v make >/dev/null; then
  echo "skip - the installed tree: no make here"
  exit 0
fi
make_it() { # make_it TARGET...: nothing is built again, the program under test is taken
  MAKEFLAGS='' make --no-print-directory -o "$build/skillopt" MODE="${build#build/}" "$@" \
    >"$folder/make.out" 2>&1
}
listing() { (cd "$1" && find . | LC_ALL=C sort); }

prefix=$folder/home/.local
mkdir -p "$prefix/bin" "$prefix/share/skillopt"
echo "kept" >"$prefix/share/skillopt/of-the-user"
listing "$prefix" >"$folder/before"

make_it install PREFIX="$prefix"
verdict "make install works below a home folder" $? "$(tail -n 3 "$folder/make.out")"

if git rev-parse --git-dir >/dev/null 2>&1; then
  git ls-files lua configs data ckpt | grep -v '/\.' | LC_ALL=C sort >"$folder/shipped"
  (cd "$prefix/share/skillopt" && find lua configs data ckpt -type f 2>/dev/null | LC_ALL=C sort) \
    >"$folder/installed"
  # What is not committed yet is installed, too.
  git ls-files --others --exclude-standard lua configs data ckpt | cat - "$folder/shipped" |
    LC_ALL=C sort >"$folder/tree"
  missing=$(LC_ALL=C comm -3 "$folder/tree" "$folder/installed")
  [ -z "$missing" ]
  verdict "the Lua tree, configs, data and check points are installed, nothing else" $? "$missing"
else
  echo "skip - the Lua tree, configs, data and check points are installed: no checkout here"
fi
for file in bin/skillopt share/man/man1/skillopt.1 share/bash-completion/completions/skillopt \
  share/zsh/site-functions/_skillopt share/doc/skillopt/LICENSE; do
  [ -s "$prefix/$file" ] || echo "$file"
done >"$folder/lacking"
[ ! -s "$folder/lacking" ]
verdict "program, manual, completions and licence are installed" $? "$(cat "$folder/lacking")"

# Away from the source, in a folder that has nothing of it.
mkdir "$folder/work"
cd "$folder/work" || exit 1
bin=$prefix/bin
mkdir "$folder/empty"
HOME=$folder/empty TMPDIR=$folder/empty XDG_CACHE_HOME=$folder/empty "$bin/skillopt" run \
  configs/houserules/experiment.lua train.num_epochs=1 env.limit=20 >"$folder/run.out" 2>&1 && [ -s outputs/houserules/latest/best_skill.md ]
verdict "the shipped example runs from another folder" $? "$(tail -n 3 "$folder/run.out")"

[ "$(ls -A "$folder/work" "$folder/empty" | tr -d '\n')" = "$folder/empty:$folder/work:outputs" ]
verdict "a run writes nothing but its folder" $? "$(ls -A "$folder/work" "$folder/empty")"

"$bin/skillopt" config configs/houserules/experiment.lua env.split_dir >"$folder/config.out" 2>&1
grep -q "data/houserules .*houserules/default.yaml:[0-9]* -> $prefix/share/skillopt/data/houserules\$" \
  "$folder/config.out"
verdict "skillopt config shows where shipped data was found" $? "$(cat "$folder/config.out")"

"$bin/skillopt" config configs/houserules/experiment.lua env.split_dir=data/houserules env.split_dir \
  >"$folder/config.out" 2>&1
! grep -q -e '->' "$folder/config.out"
verdict "a path of the user's own is only looked for in the working directory" $? \
  "$(cat "$folder/config.out")"

"$bin/skillopt-train" configs/houserules/experiment.lua train.num_epochs=1 env.limit=20 \
  >"$folder/train.out" 2>&1 && grep -q 'best skill: outputs/houserules/0001/' "$folder/train.out"
verdict "skillopt-train is skillopt run" $? "$(tail -n 3 "$folder/train.out")"

"$bin/skillopt" eval --help >"$folder/eval.1" 2>&1
code=$?
"$bin/skillopt-eval" --help >"$folder/eval.2" 2>&1
[ $? -eq $code ] && cmp -s "$folder/eval.1" "$folder/eval.2"
verdict "skillopt-eval is skillopt eval" $? "$(head -n 3 "$folder/eval.2")"

"$bin/skillopt-train" --version 2>&1 | grep -q '^skillopt [0-9]'
verdict "the links say their version" $? "$("$bin/skillopt-train" --version 2>&1 | head -n 1)"

# The same run in the working directory's own data wins over the installed.
mkdir -p own/data own/configs
cp -r "$prefix/share/skillopt/data/houserules" own/data/
(cd own && "$bin/skillopt" config configs/houserules/experiment.lua env.split_dir) >"$folder/config.out" 2>&1
! grep -q -e '->' "$folder/config.out"
verdict "what lies in the working directory comes before the installed tree" $? \
  "$(cat "$folder/config.out")"

mv "$prefix" "$folder/moved"
"$folder/moved/bin/skillopt" run configs/houserules/experiment.lua train.num_epochs=1 env.limit=20 \
  >"$folder/again.out" 2>&1 &&
  grep -q 'best skill: outputs/houserules/0001/' "$folder/again.out" &&
  grep -Eq '^([0-9]+) of \1 calls answered by the journal' "$folder/again.out"
verdict "a prefix that was moved continues the run" $? "$(tail -n 3 "$folder/again.out")"
"$folder/moved/bin/skillopt" replay outputs/houserules/latest --verify >"$folder/replay.out" 2>&1
verdict "and replays it" $? "$(cat "$folder/replay.out")"

cp "$folder/moved/bin/skillopt" "$folder/alone"
"$folder/alone" --version >"$folder/alone.out" 2>&1
[ $? -eq 70 ] && grep -q "looked in $folder" "$folder/alone.out"
verdict "a program without its tree says where it looked" $? "$(cat "$folder/alone.out")"

# Completions: every command and the flags of one.
commands=$(cd "$folder/moved/share/skillopt/lua" && ls commands/*.lua envs/*/commands/*.lua |
  sed 's/.*\///; s/\.lua$//')
for shell in bash-completion/completions/skillopt zsh/site-functions/_skillopt; do
  for command in $commands; do
    grep -qE "[ (']$command[ ')]" "$folder/moved/share/$shell" || echo "$shell: $command"
  done
done >"$folder/lacking"
[ -n "$commands" ] && [ ! -s "$folder/lacking" ]
verdict "the completions know every command" $? "$(cat "$folder/lacking")"
if command -v bash >/dev/null; then
  complete_it() { # complete_it WORD...: what bash offers for the last
    bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }; _skillopt
      echo "${COMPREPLY[@]}"' "$folder/moved/share/bash-completion/completions/skillopt" "$@" 2>&1
  }
  [ "$(complete_it skillopt repl)" = replay ] && [ "$(complete_it skillopt replay --ver)" = --verify ] &&
    [ "$(complete_it skillopt run train.num_e)" = train.num_epochs= ] &&
    [ "$(complete_it skillopt-train --num_ep)" = --num_epochs ] &&
    [ "$(complete_it skillopt run --gate_metric so)" = soft ]
  verdict "bash completes commands, flags, keys and values" $? \
    "$(complete_it skillopt repl; complete_it skillopt run train.num_e)"
else
  echo "skip - bash completes commands, flags, keys and values: no bash here"
fi
if command -v zsh >/dev/null; then
  offered() { # offered WORD...: what zsh would choose from for the last
    # shellcheck disable=SC2016
    zsh -fc 'compadd() { print -r -- " $* " }; _files() { }; file=$1; shift; words=("$@")
      CURRENT=$#; . $file' zsh "$folder/moved/share/zsh/site-functions/_skillopt" "$@" 2>&1
  }
  offered skillopt repl | grep -q ' replay ' && offered skillopt replay -- | grep -q ' --verify ' &&
    offered skillopt run t | grep -q ' train.num_epochs= ' &&
    offered skillopt-train -- | grep -q ' --num_epochs ' &&
    offered skillopt run --gate_metric s | grep -q '^ -- hard soft mixed $'
  verdict "zsh completes them, too" $? "$(offered skillopt run --gate_metric s)"
else
  echo "skip - zsh completes them, too: no zsh here"
fi

cd "$here" || exit 1
make_it install PREFIX="$folder/moved" && make_it uninstall PREFIX="$folder/moved"
verdict "make install over an older one, and make uninstall, work" $? "$(tail -n 3 "$folder/make.out")"
listing "$folder/moved" >"$folder/after"
cmp -s "$folder/before" "$folder/after"
verdict "uninstalling leaves what was there before, and nothing else" $? \
  "$(diff "$folder/before" "$folder/after" | head -n 5)"
make_it install PREFIX=/opt/a/b DESTDIR="$folder/dest" && make_it uninstall PREFIX=/opt/a/b DESTDIR="$folder/dest"
[ $? -eq 0 ] && [ "$(cd "$folder/dest" && find . -name b -o -type f)" = "" ]
verdict "a prefix that had to be made is gone, too" $? "$(cd "$folder/dest" && find . | head -n 5)"
make_it uninstall PREFIX="$folder/nowhere"
[ $? -ne 0 ] && grep -q 'nothing is installed' "$folder/make.out"
verdict "uninstalling what is not there is refused" $? "$(cat "$folder/make.out")"
make_it install PREFIX=relative
[ $? -ne 0 ] && grep -q 'must be absolute' "$folder/make.out" && [ ! -d relative ]
verdict "a relative prefix is refused" $? "$(cat "$folder/make.out")"

if command -v dpkg-shlibdeps >/dev/null && command -v dpkg-deb >/dev/null; then
  make_it deb -o need
  deb=$(ls skillopt_*.deb 2>/dev/null)
  [ -n "$deb" ] && mv "$deb" "$folder/"
  verdict "make deb writes a package" $? "$(tail -n 3 "$folder/make.out")"
  deb=$folder/$deb
  dpkg-deb -f "$deb" Depends | tr ',' '\n' >"$folder/depends"
  # Lua stands in the program itself.
  for library in curl yaml uv sqlite3 zstd utf8proc zip ca-certificates libc6; do
    grep -q "$library" "$folder/depends" || echo "$library"
  done >"$folder/lacking"
  [ ! -s "$folder/lacking" ]
  verdict "the package depends on each library" $? "$(cat "$folder/lacking")"
  dpkg-deb -x "$deb" "$folder/unpacked" && (cd "$folder/unpacked" && md5sum --quiet -c <<SUMS
$(dpkg-deb --ctrl-tarfile "$deb" | tar -xO ./md5sums)
SUMS
  ) && cd "$folder/work" && "$folder/unpacked/usr/bin/skillopt" replay outputs/houserules/latest --verify \
    >"$folder/replay.out" 2>&1
  verdict "what the package holds is whole and runs" $? "$(cat "$folder/replay.out")"
  cd "$here" || exit 1
else
  echo "skip - make deb writes a package: no dpkg-shlibdeps (package dpkg-dev) here"
fi

"$build/skillopt" lua packaging/generate.lua man >"$folder/man" && cmp -s "$folder/man" docs/skillopt.1
verdict "docs/skillopt.1 is what the commands declare" $? "run make generated"
"$build/skillopt" lua packaging/generate.lua changelog >"$folder/changelog" &&
  cmp -s "$folder/changelog" CHANGELOG.md
verdict "CHANGELOG.md is what docs/changes holds" $? "run make generated"
if command -v man >/dev/null; then
  LC_ALL=C MANROFFSEQ='' man --warnings -E ASCII -l docs/skillopt.1 >"$folder/page" 2>"$folder/man.err"
  [ ! -s "$folder/man.err" ] && [ -s "$folder/page" ]
  verdict "the manual page is set without warnings" $? "$(head -n 3 "$folder/man.err")"
else
  echo "skip - the manual page is set without warnings: no man here"
fi
exit $failures
