#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Puts the page of `cozbpf plot` together from user/report/html/ and Chart.js, or that of `cozbpf
# blocks report` without Chart.js. Prints it as a C header: page_head or blocks_head, and page_tail
# or blocks_tail, which follows the data. The page's own policy forbids the network and all scripts
# and styles except its own, which it names by their hashes.
# usage: scripts/embed-page.sh page CHART_JS
#        scripts/embed-page.sh blocks
set -euo pipefail
html=$(cd "$(dirname "$0")/../user/report/html" && pwd)
page=$1 library=${2:-}
[ "$page" != page ] || [ -r "$library" ] || {
	echo "embed-page: error: there is no '$library'" >&2
	echo "embed-page: hint: run 'sudo scripts/install-deps.sh build'" \
		"(package libjs-chart.js), or say 'make CHART_JS=FILE'" >&2
	exit 1
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The text between the tags is hashed byte for byte. Command substitution would remove the newlines
# at the end, so nothing may be lost on the way.
element() { # TAG FILE...: writes $dir/TAG and prints its hash as the policy has it
	local tag=$1 bytes
	shift
	cat "$@" >"$dir/text"
	if grep -qi "</$tag\|<!--" "$dir/text"; then
		echo "embed-page: error: '$*' would end its element" >&2
		exit 1
	fi
	bytes=$(sha256sum "$dir/text" | cut -d' ' -f1 | sed 's/../\\x&/g')
	# shellcheck disable=SC2059 # the bytes are the format
	printf "'sha256-%s'" "$(printf "$bytes" | base64)"
	{ printf '<%s>' "$tag" && cat "$dir/text" && printf '</%s>\n' "$tag"; } >>"$dir/$tag"
}

case $page in
page)
	title='cozbpf: causal profile'
	style=$(element style "$html/page.css")
	ours=("$html"/{theme,model,chart,card,overview,words,page}.js)
	scripts="$(element script "$library") $(element script "${ours[@]}")"
	;;
blocks)
	title='cozbpf: blocks'
	style=$(element style "$html/page.css" "$html/blocks.css")
	scripts=$(element script "$html"/{theme,blocks_words,blocks_pictures,blocks}.js)
	;;
esac
policy="default-src 'none'; script-src $scripts; style-src $style; img-src data:;"
policy+=" base-uri 'none'; form-action 'none'"

# A line that holds nothing but @NAME@ is replaced. Both pages have the same head.
while IFS= read -r line; do
	case $line in
	@POLICY@) printf '<meta http-equiv="Content-Security-Policy" content="%s">\n' "$policy" ;;
	@STYLE@) cat "$dir/style" ;;
	@DATA@) printf '<script type="application/json" id="data">@DATA@</script>\n' ;;
	@SCRIPTS@) cat "$dir/script" ;;
	*) printf '%s\n' "$line" ;;
	esac
done < <(sed -e "/^@HEAD@\$/{r $html/head.html" -e d -e '}' \
	-e "/^@THEME@\$/{r $html/theme.html" -e d -e '}' "$html/$page.html" |
	sed "s/@TITLE@/$title/") >"$dir/page"

bytes() { # NAME
	echo "static const unsigned char $1[] = {"
	od -An -v -tu1 | sed 's/ *\([0-9][0-9]*\)/\1,/g'
	echo '};'
}

sed '/@DATA@<\/script>$/,$d' "$dir/page" >"$dir/head"
printf '<script type="application/json" id="data">' >>"$dir/head"
sed '1,/@DATA@<\/script>$/d' "$dir/page" >"$dir/tail"
bytes "${page}_head" <"$dir/head"
{ printf '</script>\n' && cat "$dir/tail"; } | bytes "${page}_tail"
