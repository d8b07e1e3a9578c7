# say.sh - how the end-to-end scripts judge; to be sourced from the top of the tree. Each
# function prints one line, `ok - NAME` or `FAIL - NAME: why`, as tests/run.sh counts them.
say() { # say CODE NAME DETAIL
  if [ "$1" -eq 0 ]; then echo "ok - $2"; else echo "FAIL - $2: $3"; fi
}
skip() { echo "skip - $1: $2"; }
is() { # is GOT WANTED NAME
  if [ "$1" = "$2" ]; then echo "ok - $3"; else echo "FAIL - $3: got $1, wanted $2"; fi
}
has() { # has FILE TEXT NAME
  if grep -qF -- "$2" "$1"; then echo "ok - $3"; else echo "FAIL - $3: '$2' is not in: $(tail -n 5 "$1")"; fi
}
