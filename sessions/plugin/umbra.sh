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
	event=$(cat)
	case "$event" in
	*'"SessionStart"'*) printf '{"systemMessage": "%s"}\n' "$missing" ;;
	*'"hook_event_name":"WorktreeCreate"'*) # nobody else makes it: as the agent would
		name=$(printf '%s\n' "$event" | sed -n 's/.*"name" *: *"\([A-Za-z0-9._\/-]*\)".*/\1/p' | tr / +)
		dir=$(git rev-parse --show-toplevel)/.claude/worktrees/$name
		[ -n "$name" ] || exit 1
		[ -e "$dir/.git" ] || git worktree add -q -b "worktree-$name" "$dir" >&2 || git worktree add -q "$dir" "worktree-$name" >&2 || exit 1
		printf '%s\n' "$dir"
		;;
	*'"hook_event_name":"WorktreeRemove"'*) exit 1 ;;
	esac
	;;
*)
	echo "$missing" >&2
	exit 1
	;;
esac
