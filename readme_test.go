package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme types the commands of the README, and of the pages that go on from
// it, in order, in one shell on a machine where Claude Code is the scripted agent
// of the demo; then those that stand within the README's sentences.
func TestReadme(t *testing.T) {
	script := "set -e\n"
	typed := func(line string) {
		script += "echo '$ '" + shellQuoted(strings.TrimSpace(line)) + "\n" + strings.TrimSuffix(line, "\n") + "\n"
	}
	blocks := 0
	for _, page := range []string{"README.md", "docs/concepts.md", "docs/forks.md", "docs/landing.md", "docs/troubleshooting.md"} {
		for _, b := range blocksOf(t, page) {
			for line := range strings.Lines(b.text) {
				typed(line)
			}
			blocks++
		}
	}
	if blocks < 13 {
		t.Fatalf("the pages have %d blocks of commands", blocks)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]string{ // what a person gives them: a terminal, an event, a mission
		"umbra timeline":     `printf q | script -qec "umbra timeline login" /dev/null`,
		"umbra hook generic": `echo '{"event": "session-end", "session": "s"}' | umbra hook generic --strict`,
		"umbra undo":         "umbra undo login",
	}
	sentences := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(string(readme), "")
	for _, m := range regexp.MustCompile("`(umbra [^`]+)`").FindAllStringSubmatch(sentences, -1) {
		line := m[1]
		if how, ok := given[line]; ok {
			line = how
		}
		typed(line)
	}
	home := readmeHome(t)
	script += "umbra daemon stop\nfor s in ~/.local/share/umbra/projects/*/shadow.git; do git --git-dir=\"$s\" fsck --full; done\n"
	said := run(t, home, script)
	for _, want := range []string{"1 deleted", "resumed: I remember 1 prompt", "all is well", "├─ other", "second-try is back"} {
		if !strings.Contains(said, want) {
			t.Errorf("the README's commands do not say %q:\n%s", want, said)
		}
	}
}

// readmeHome is a person's home directory with a repository and an agent in it.
func readmeHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	for _, dir := range []string{"bin", "code/app", "tmp"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, does := range map[string]string{
		"claude": `exec umbra scripted-agent "$@"`, "codex": "exit 0", "make": `echo "made $1" >made.txt`,
	} {
		if err := os.WriteFile(filepath.Join(home, "bin", name), []byte("#!/bin/sh\n"+does+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	source, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// What the README clones is what is here, committed or not.
	run(t, home, `mkdir published
cd `+shellQuoted(source)+`
git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -T - -cf - 2>/dev/null | tar -xf - -C ~/published
cd ~/published
git init -q -b main
git add .
git -c user.name=a -c user.email=a@example.com commit -qm source
git config --global user.name a
git config --global user.email a@example.com
git config --global url."$HOME/published".insteadOf https://github.com/umbra-vcs/umbra`)
	run(t, home, "cd ~/code/app && git init -q -b main && echo '# app' >README.md && git add . && git -c user.name=a -c user.email=a@example.com commit -qm begin")
	return home
}

// run runs a script of the shell that must succeed, and returns what it says.
func run(t *testing.T, home, script string) string {
	t.Helper()
	goEnv := func(name string) string {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Env = []string{
		"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "TMPDIR=" + filepath.Join(home, "tmp"), "LC_ALL=C.UTF-8",
		"CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"), "GOBIN=" + filepath.Join(home, "bin"),
		"GOPATH=" + goEnv("GOPATH"), "GOCACHE=" + goEnv("GOCACHE"), "GOMODCACHE=" + goEnv("GOMODCACHE"), "GOFLAGS=-buildvcs=false -trimpath", "CGO_ENABLED=0",
		"GIT_CONFIG_NOSYSTEM=1",
	}
	cmd.Dir = home
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	return said.String()
}

func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
