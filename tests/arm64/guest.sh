# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# What the scripts of this folder share; sourced, not run. They run in an emulated machine
# (tests/vm/run.sh), and their programs are cross-built.
# shellcheck source-path=SCRIPTDIR source=../e2e/lib.sh
. "${BASH_SOURCE[0]%/*}/../e2e/lib.sh"
# shellcheck disable=SC2034 # for the scripts
fixtures=${BUILD:-build}/tests/e2e/fixtures held=${BUILD:-build}/tests/arm64

# leads LINE: the line that the report in $dir/err ranks first, three checks. It has 60 % of the
# work, so removing it gains 0.6. An emulator is slow and irregular, hence 0.3 to 0.85: a wrong sign
# or a missing baseline does not pass.
leads() {
	local leading='' slope=''
	read -r leading slope < <(sed -nE 's/^ +1 +([^ ]+) +\+?([-0-9.]+) .*/\1 \2/p' "$dir/err")
	check "the hot line leads: $leading" [ "$leading" = "$1" ]
	check "its slope, $slope, is near 0.6" is "${slope:-none}" '>=' 0.3
	check "and not above" is "${slope:-none}" '<=' 0.85
}

# mode_is MODE: how $dir/p.coz says that pauses were told.
mode_is() {
	local mode
	mode=$(sed -nE 's/^startup\t.*\<pause=([a-z]+).*/\1/p' "$dir/p.coz")
	check "pauses in mode $1" [ "$mode" = "$1" ]
}
