# bash completion for umbra, written by: umbra completion bash

_umbra() {
	local answer how
	COMPREPLY=()
	answer=$("${1/#\~/$HOME}" complete bash --breaks="$COMP_WORDBREAKS" --listing="$COMP_TYPE" --width="${COLUMNS:-80}" \
		-- "${COMP_LINE:0:COMP_POINT}" 2>/dev/null) || return 0
	mapfile -t COMPREPLY <<<"$answer"
	how=${COMPREPLY[0]}
	COMPREPLY=("${COMPREPLY[@]:1}")
	compopt -o nosort 2>/dev/null # bash 4.4 and newer
	case " $how " in *" files "*) compopt -o default ;; esac
	case " $how " in *" dirs "*) compopt -o dirnames ;; esac
	case " $how " in *" paths "*) compopt -o filenames ;; esac
	case " $how " in *" nospace "*) compopt -o nospace ;; esac
}
complete -F _umbra umbra
