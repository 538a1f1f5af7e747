#compdef umbra
# zsh completion for umbra, written by: umbra completion zsh

_umbra() {
	local -a answer how known plain open
	local line value text
	answer=("${(@f)$("${(Q)words[1]}" complete zsh -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
	how=(${=answer[1]})
	for line in "${(@)answer[2,-1]}"; do
		value=${line%%$'\t'*} text=${line#*$'\t'}
		[[ $line == *$'\t'* ]] || text=
		if [[ $value == */ ]]; then
			open+=("$value")
		elif [[ -n $text ]]; then
			known+=("${value//:/\\:}:$text")
		else
			plain+=("$value")
		fi
	done
	(( $#known )) && _describe -V 'umbra' known
	(( $#plain )) && compadd -V umbra -- "${plain[@]}"
	(( $#open )) && compadd -V umbra -S '' -- "${open[@]}"
	[[ ${how[(r)files]} == files ]] && _files
	[[ ${how[(r)dirs]} == dirs ]] && _files -/
	return 0
}

if [[ $funcstack[1] == _umbra ]]; then
	_umbra "$@" # autoloaded from a directory of $fpath
else
	compdef _umbra umbra
fi
