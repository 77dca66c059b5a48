#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Callers on arm64, of a program without frame pointers: 60 and 140 of 300 units are below light()
# and heavy(), 100 below a recursion of 20 frames (callers.c). Some hundreds of samples: 0.1 is four
# deviations.
# shellcheck source-path=SCRIPTDIR source=guest.sh
. "$(dirname "$0")/guest.sh"

run 0 "$tool" -v --no-tui -P progress --inclusive --fixed-line heavy --fixed-speedup 0 \
	-o "$dir/p.coz" -- "$held/callers" 6000
says "callers': [1-9][0-9]* rows"
# count FUNCTION: samples of it or below it
count() {
	sed -nE "s/^samples.location=callers:$1 \(inclusive\).count=([0-9]+).*/\1/p" "$dir/p.coz" |
		tail -n 1
}
all=$(($(count light) + $(count heavy) + $(count recurse)))
check "there are samples ($all)" is $all '>=' 300
for part in light:60 heavy:140 recurse:100; do
	share=$(awk -v n="$(count ${part%:*})" -v all=$all 'BEGIN { print n / all }')
	check "${part%:*}: $share" is "$(awk -v a="$share" -v b="${part#*:}" \
		'BEGIN { d = a - b / 300; print d < 0 ? -d : d }')" '<=' 0.1
done
all_of_main=$(count main)
check "all of work() is in main(): $(count work) of $all_of_main" is \
	"$((20 * $(count work)))" '>=' $((19 * all_of_main))
finish
