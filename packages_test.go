package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// refused is a function of the shell: a command that must fail, as "!" alone does not demand.
const refused = `set -e
refused() {
	if "$@" 2>/dev/null; then
		echo "not refused: $*"
		exit 1
	fi
}
`

// TestNpm installs what scripts/packages makes for npm, with a program that says what it was
// called with: under its own name where npm runs the package's script, and by node where it
// does not; what is removed leaves nothing.
func TestNpm(t *testing.T) {
	if testing.Short() {
		t.Skip("needs npm, as the real agents do")
	}
	source, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	machine := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if machine == "" {
		machine = runtime.GOARCH
	}
	system := runtime.GOOS + "-" + machine
	program := filepath.Join(home, "dist", runtime.GOOS+"_"+runtime.GOARCH, "umbra")
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$0\" \"$@\"\nexit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, home, strings.NewReplacer("SOURCE", shellQuoted(source), "SYSTEM", system).Replace(refused+`cd SOURCE
scripts/packages 1.2.3 ~/dist ~/packages
scripts/packages 1.2.3 ~/dist ~/packages
refused scripts/packages 1.2 ~/dist ~/packages
refused scripts/packages 1.2.3 ~/dist ~/dist
refused scripts/packages 1.2.3 ~/packages/npm/umbra ~/other
cd ~/packages/npm
npm pack --silent --pack-destination ~ ./SYSTEM >/dev/null
# The registry that would have the other package is a file here.
sed -i "s#\"@umbra-vcs/SYSTEM\": \"1.2.3\"#\"@umbra-vcs/SYSTEM\": \"file:$HOME/umbra-vcs-SYSTEM-1.2.3.tgz\"#" umbra/package.json
npm pack --silent --pack-destination ~ ./umbra >/dev/null
for scripts in '' --ignore-scripts; do
	npm install --silent --offline --global $scripts --prefix ~/global ~/umbra-vcs-umbra-1.2.3.tgz
	code=0
	said=$(~/global/bin/umbra log -n 3) || code=$?
	[ $code = 7 ]
	case "$said" in
	*/umbra" log -n 3") ;;
	*) echo "$said"; exit 1 ;;
	esac
	case "$scripts$(head -n 1 ~/global/bin/umbra)" in
	'#!/bin/sh' | '--ignore-scripts#!/usr/bin/env node') ;;
	*) head -n 1 ~/global/bin/umbra; exit 1 ;;
	esac
	npm uninstall --silent --offline --global --prefix ~/global @umbra-vcs/umbra
	[ -z "$(find ~/global -type f)" ]
done
`))
}

// TestFormula: Homebrew's formula names each archive with its sum, and is not made without.
func TestFormula(t *testing.T) {
	source, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	sums := ""
	for i, system := range []string{"linux_amd64", "linux_arm64", "darwin_amd64", "darwin_arm64"} {
		program := filepath.Join(home, "dist", system, "umbra")
		if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		sums += strings.Repeat(string(rune('a'+i)), 64) + "  umbra_1.2.3_" + system + ".tar.gz\n"
	}
	for name, text := range map[string]string{"dist/checksums.txt": sums, "torn.txt": sums[:len(sums)-80]} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(t, home, refused+`cd `+shellQuoted(source)+`
scripts/packages 1.2.3 ~/dist ~/packages
[ "$(ls ~/packages/npm | tr '\n' ' ')" = "darwin-arm64 darwin-x64 linux-arm64 linux-x64 umbra " ]
cp ~/torn.txt ~/dist/checksums.txt
refused scripts/packages 1.2.3 ~/dist ~/other
`)
	formula, err := os.ReadFile(filepath.Join(home, "packages", "umbra.rb"))
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{
		"class Umbra < Formula", "on_linux do", "on_intel do", "/v1.2.3/umbra_1.2.3_linux_amd64.tar.gz", `sha256 "aaaa`,
		"on_arm do", "_linux_arm64", `"bbbb`, "on_macos do", "_darwin_amd64", `"cccc`, "_darwin_arm64", `"dddd`, "def install",
	} {
		next := strings.Index(string(formula)[at:], want)
		if next < 0 {
			t.Fatalf("no %s behind %q in\n%s", want, string(formula)[:at], formula)
		}
		at += next
	}
}
