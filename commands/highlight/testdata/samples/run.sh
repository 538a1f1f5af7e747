#!/bin/bash
# Runs it.
set -euo pipefail
name=${1:-"world $(date +%s)"}
if [[ $name == w* && -f "$HOME/.x" ]]; then
	cat <<EOF
hello $name
EOF
fi
for i in {1..3}; do echo "$i" 'single $x' $((i + 1)) >&2; done
