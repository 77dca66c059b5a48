#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# `cozbpf lines`: what could be selected, how often a profile has sampled it, and the places that
# can be progress points, each in the form that -P takes.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
as=marked fixture coz -I "$root/include"
fixture usdt "$root/tests/e2e/fixtures/usdt_guarded.c"
work=$(line_of coz WORK)

echo "-- samples of a profile beside the lines"
run 0 "$tool" -q -o "$dir/p.coz" -- "$dir/marked" 1500
run 0 "$tool" lines "$dir/marked"
prints '^ +[0-9]+  /.*/fixtures/coz.c$'
run 0 "$tool" lines -v --profile "$dir/p.coz" "$dir/marked"
samples=$(sed -nE "s|^.*/$work\t[0-9]+\t([0-9]+)$|\1|p" "$dir/out")
recorded=$(sed -nE "s|^samples\tlocation=.*/$work\tcount=([0-9]+)\t.*|\1|p" "$dir/p.coz")
check "as many samples of WORK as in the profile: $samples" [ "$samples" = "$recorded" ]
# Not which line that is: WORK has 0.60 of the time, and 0.53 to 0.61 of the samples. CI saw less
# than half once. The cause is not known.
# Files come by their samples, and each file's lines by theirs.
grep '/fixtures/coz.c:' "$dir/out" >"$dir/lines"
check "the most samples come first" sort -c -s -t '	' -k 3,3nr "$dir/lines"
check "there are several" [ "$(cut -f 3 "$dir/lines" | sort -u | wc -l)" -ge 3 ]
cat "$dir/p.coz" "$dir/p.coz" >"$dir/twice.coz"
run 0 "$tool" lines -v --profile "$dir/twice.coz" "$dir/marked"
both=$(sed -nE "s|^.*/$work\t[0-9]+\t([0-9]+)$|\1|p" "$dir/out")
check "two runs add up" [ "$both" -eq $((2 * samples)) ]
# As report does.
run 1 "$tool" lines --profile "$dir/nosuch.coz" "$dir/marked"
says "cannot open '.*nosuch.coz'" 'writes profile.coz'
run 0 sh -c '"$1" lines -v --profile - "$2" <"$3"' sh "$tool" "$dir/marked" "$dir/p.coz"
prints "/$work	[0-9]+	$samples$"

echo "-- places that can be points"
run 0 "$tool" lines --points "$dir/marked"
prints "^coz.h	progress 'unit', 1 place; found without -P$" '^function	main$'
run 0 "$tool" lines --points "$dir/usdt"
sed -n 's/^usdt\t//p' "$dir/out" >"$dir/specs"
check "the program's probes are listed" [ "$(wc -l <"$dir/specs")" -ge 1 ]
points=()
while read -r spec; do
	points+=(-P "$spec")
done <"$dir/specs"
run 0 "$tool" -q -o "$dir/u.coz" "${points[@]}" -P progress -- "$dir/usdt" 1500
cp "$dir/usdt" "$dir/stripped"
strip -R .note.stapsdt "$dir/stripped"
run 4 "$tool" lines --points "$dir/stripped"
says 'has no markers, no USDT probes and no symbols' 'it is stripped'

echo "-- a small stack, and a name for which the demangler takes 60 kB where the stack can grow"
for limit in '-Ss 900' '-s 9'; do
	name=_Z4long$(printf 'i%.0s' $(seq "${limit#* }"))
	gcc -x c -o "$dir/long" - <<<"
		int f(void) __asm__(\"$name\");
		int f(void) { return 0; }
		int main(void) { return f(); }"
	run 0 bash -c 'ulimit "$1" 64 && exec "${@:2}"' bash "${limit% *}" \
		"$tool" lines --points "$dir/long"
	prints '^function	long'
done
finish
