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
// of the demo. Only the README's first two commands are left out: other tests and
// the gate run them. The commands of docs/cli.md have a test of their own.
func TestReadme(t *testing.T) {
	var text []byte
	for _, name := range []string{"README.md", "docs/concepts.md", "docs/troubleshooting.md"} {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, page...)
	}
	source, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	script := "set -e\ncd " + source + "\n"
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	for _, block := range blocks {
		for line := range strings.Lines(block[1]) {
			script += "echo '$ '" + shellQuoted(strings.TrimSpace(line)) + "\n" + strings.TrimSuffix(line, "\n") + "\n"
		}
	}
	if len(blocks) < 14 {
		t.Fatalf("the pages have %d blocks of commands", len(blocks))
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
	agent := "#!/bin/sh\nexec umbra scripted-agent \"$@\"\n"
	if err := os.WriteFile(filepath.Join(home, "bin", "claude"), []byte(agent), 0o755); err != nil {
		t.Fatal(err)
	}
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
		"GOPATH=" + goEnv("GOPATH"), "GOCACHE=" + goEnv("GOCACHE"), "GOMODCACHE=" + goEnv("GOMODCACHE"), "GOFLAGS=-buildvcs=false",
		"GIT_CONFIG_NOSYSTEM=1",
	}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	return said.String()
}

func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
