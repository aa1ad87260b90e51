#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks which folder includes which: the one-way order of the folders, and the few files that may
# see SQLite, GSL and CUDA. Prints TAP, one line a rule; a breach names file, line and include.
#
# usage: layers.sh [TOP]      (default: $WEIR_SOURCE, else the folder above this script)

top=${1:-${WEIR_SOURCE:-$(dirname "$0")/..}}
cd "$top" || exit 1

# Folder, then the folders whose headers it may include beside its own.
order='
base
graph base
store base graph
traces base graph
policies base graph
sim base graph policies
kernels
replay base graph kernels
judge base graph store
cmd base graph store traces policies sim kernels replay judge
'
# Includes by pattern, then the only files (shell patterns) that may have them.
reserved='
sqlite3.h store/*|traces/nsys*.c|traces/nsys*.h
gsl/* sim/sample.c|replay/fit.c|replay/fit_curve.c|judge/*|cmd/main.c
cu*.h replay/cuda*.c|kernels/*.cu
'

n=0
failed=0
tap() { # tap BREACHES WHAT
    n=$((n + 1))
    if [ -z "$1" ]; then
        echo "ok $n - $2"
    else
        failed=1
        echo "not ok $n - $2"
        echo "$1" | sed 's/^/# /'
    fi
}

# All includes of the sources: FILE LINE KIND NAME, KIND being " or <.
sources=$(for folder in base graph store traces policies sim kernels replay judge cmd; do
    find "$folder" -name '*.[ch]' -o -name '*.cu' -o -name '*.def'
done | LC_ALL=C sort)
includes=$(
    for file in $sources; do
        sed -n '/^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]/{
            =
            s/^[^"<]*\(["<]\)\([^">]*\).*/\1 \2/p
        }' "$file" | paste -d ' ' - - | sed "s|^|$file |"
    done
)

echo "1..$(($(echo "$order" | grep -c .) + $(echo "$reserved" | grep -c .) + 4))"

while read -r folder allowed; do
    [ -n "$folder" ] || continue
    tap "$(echo "$includes" | awk -v folder="$folder" -v allowed=" $folder $allowed " '
        $3 == "\"" && index($1, folder "/") == 1 && index($4, "/") {
            split($4, part, "/")
            if (!index(allowed, " " part[1] " "))
                print $1 ":" $2 ": " folder "/ includes " $4 "; it may include:" allowed
        }')" "$folder/ includes only: $folder${allowed:+ $allowed}"
done <<EOF
$order
EOF

while read -r pattern files; do
    [ -n "$pattern" ] || continue
    breaches=$(echo "$includes" | while read -r file line _ name; do
        # shellcheck disable=SC2254  # the pattern is meant as one
        case $name in
        $pattern) ;;
        *) continue ;;
        esac
        rest=$files
        while [ -n "$rest" ]; do
            one=${rest%%|*}
            case $rest in *'|'*) rest=${rest#*|} ;; *) rest= ;; esac
            # shellcheck disable=SC2254
            case $file in $one) continue 2 ;; esac
        done
        echo "$file:$line: includes $name, which only $files may"
    done)
    tap "$breaches" "$pattern only in $files"
done <<EOF
$reserved
EOF

tap "$(echo "$includes" | awk '$3 == "\"" && !index($4, "/") && $4 != "" {
        print $1 ":" $2 ": includes " $4 "; name its folder" }')" \
    'includes of our own name their folder'

tap "$(echo "$includes" | awk '$4 ~ /_internal\.h$/ {
        split($1, from, "/"); split($4, to, "/")
        if (from[1] != to[1]) print $1 ":" $2 ": includes " $4 ", which is private to " to[1] "/" }')" \
    'x_internal.h stays in its folder'

# A .c file with a header of its own name includes that header before any other.
tap "$(for file in $sources; do
        case $file in *.c) ;; *) continue ;; esac
        header=${file%.c}.h
        [ -e "$header" ] || continue
        first=$(echo "$includes" | awk -v f="$file" '$1 == f { print $4; exit }')
        [ "$first" = "$header" ] || echo "$file: the first include is ${first:-none}, not $header"
    done)" 'a .c file includes its own header first'

# Every source opens with its licence; what a plug-in includes is under MIT.
tap "$(for file in $sources; do
        case $file in
        base/error.h | graph/id.h | policies/policy.h) licence=MIT ;;
        *) licence=GPL-3.0-or-later ;;
        esac
        head -n 1 "$file" | grep -q "SPDX-License-Identifier: $licence \*/\$" ||
            echo "$file: the first line must be /* SPDX-License-Identifier: $licence */"
    done)" 'sources open with their licence'

exit $failed
