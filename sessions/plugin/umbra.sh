#!/bin/sh
# Runs umbra for a plugin of Claude Code or Codex, wherever umbra was installed: an agent
# that was started from a desktop has another PATH than a shell.
umbra=$(command -v umbra) || umbra=
for dir in "$GOBIN" "${GOPATH:-$HOME/go}/bin" "$HOME/.local/bin" /usr/local/bin /opt/homebrew/bin /home/linuxbrew/.linuxbrew/bin; do
	[ -n "$umbra" ] && break
	[ -n "$dir" ] && [ -f "$dir/umbra" ] && [ -x "$dir/umbra" ] && umbra=$dir/umbra
done
[ -n "$umbra" ] && exec "$umbra" "$@"

# What is missing is said once a session.
missing='The plugin umbra finds no program umbra, so nothing is kept. Install it: https://github.com/umbra-vcs/umbra#readme'
case "$1" in
hook)
	case "$(cat)" in
	*'"SessionStart"'*) printf '{"systemMessage": "%s"}\n' "$missing" ;;
	esac
	;;
*)
	echo "$missing" >&2
	exit 1
	;;
esac
