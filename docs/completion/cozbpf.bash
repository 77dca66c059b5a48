# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Completion for bash. It asks `cozbpf --help` for commands and options, so it fits the installed
# tool. Only the words that some options take are named here. tests/docs/completion.sh checks it.

# "LETTER NAME METAVAR" for each option of a subcommand; - stands for none.
_cozbpf_options() { # TOOL SUBCOMMAND...
	"$@" --help 2>/dev/null |
		sed -nE 's/^ +(-([A-Za-z]), )?--([a-z][a-z-]*)(\[=[^ ]+)?( ([^ ]+))?(  .*)?$/-\2 --\3 -\6/p'
}

# Words that a subcommand takes for subcommands of its own: its usage says "cozbpf blocks report".
_cozbpf_parts() { # TOOL SUBCOMMAND
	"$1" "$2" --help 2>/dev/null | sed -nE "s/^ {7}cozbpf $2 ([a-z]+) .*/\1/p"
}

_cozbpf_values() { # OPTION METAVAR
	case $1 in
	--sort) compgen -W 'slope max payback impact' -- "$cur" ;;
	--sync) compgen -W 'wake uprobe' -- "$cur" ;;
	--goroutines) compgen -W 'auto off' -- "$cur" ;;
	--peers) compgen -W 'job' -A hostname -- "$cur" ;;
	--range) compgen -W 'run once' -- "$cur" ;;
	--pause) compgen -W 'value write quanta' -- "$cur" ;;
	*) case $2 in
		-FILE | -PATH | -LOG) compgen -f -- "$cur" ;;
		-PID) compgen -W "$(cd /proc && printf '%s ' [0-9]*)" -- "$cur" ;;
		-USER) compgen -u -- "$cur" ;;
		esac ;;
	esac
}

_cozbpf() {
	local tool=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local command=(run) commands known parts='' i letter name metavar options=''
	COMPREPLY=()
	commands=$("$tool" --help 2>/dev/null | sed -nE 's/^  ([a-z]+) .*/\1/p')
	# What follows -- is the command that is profiled.
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} == -- || ${COMP_WORDS[i]} == --- ]]; then
			if declare -F _command_offset >/dev/null; then
				_command_offset $((i + 1))
			else
				mapfile -t COMPREPLY < <(compgen -c -f -- "$cur")
			fi
			return
		fi
	done
	# '=' is a word of its own here.
	if [[ $cur == = ]]; then
		cur=''
	elif [[ $prev == = ]]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	known=" ${commands//$'\n'/ } attach "
	if ((COMP_CWORD > 1)) && [[ $known == *" ${COMP_WORDS[1]} "* ]]; then
		command=("${COMP_WORDS[1]}")
		parts=$(_cozbpf_parts "$tool" "${COMP_WORDS[1]}")
	fi
	if ((COMP_CWORD > 2)) && [[ " ${parts//$'\n'/ } " == *" ${COMP_WORDS[2]} "* ]]; then
		command+=("${COMP_WORDS[2]}")
	fi
	while read -r letter name metavar; do
		options+=" $name"
		[[ $letter != - ]] || letter=$name
		if [[ $metavar != - && ($prev == "$name" || $prev == "$letter") ]]; then
			mapfile -t COMPREPLY < <(_cozbpf_values "$name" "$metavar")
			return
		fi
	done < <(_cozbpf_options "$tool" "${command[@]}")
	if [[ $cur == -* ]]; then
		((COMP_CWORD > 1)) || options+=' --version'
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
	elif ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur")
	else
		((COMP_CWORD == 2)) || parts=''
		mapfile -t COMPREPLY < <(compgen -W "$parts" -f -- "$cur")
	fi
}

complete -o filenames -F _cozbpf cozbpf
