package commands

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDemo runs the demo as a person on a fresh machine would, and holds it to
// what it claims; then it types the commands that the demo ends with.
func TestDemo(t *testing.T) {
	t.Parallel()
	t.Run("in a clone", func(t *testing.T) {
		clone := t.TempDir()
		writeFiles(t, clone, map[string]string{
			"go.mod": "module github.com/umbra-vcs/umbra\n\ngo 1.26.0\n", "README.md": "# Umbra\n\nwords\n", "main.go": "package main\n",
		})
		shell(t, os.Environ(), clone, "git init -q -b main && git add . && git -c user.name=a -c user.email=a@example.com commit -qm begin && cd . && mkdir sub")
		before := fingerprint(t, clone)
		d := runsDemo(t, filepath.Join(clone, "sub"))
		if !strings.Contains(d.said, "a clone of "+clone) {
			t.Error("it does not say what it cloned")
		}
		d.check(t, "# greet\n\nIt greets.\n")
		if fingerprint(t, clone) != before {
			t.Error("the repository that was cloned has changed")
		}
	})
	t.Run("outside", func(t *testing.T) {
		d := runsDemo(t, t.TempDir())
		d.check(t, "# greet\n\nIt greets.\n")
		isRecorded(t, d.said)
	})
}

// isRecorded: the session that the README shows has the steps and the commands of
// the demo as it is now.
func isRecorded(t *testing.T, said string) {
	t.Helper()
	cast, err := os.ReadFile("../docs/demo.cast")
	if err != nil {
		t.Fatal(err)
	}
	var recorded strings.Builder
	for line := range strings.Lines(string(cast)) {
		var fields []any
		if json.Unmarshal([]byte(line), &fields) == nil && len(fields) == 3 {
			fmt.Fprint(&recorded, fields[2])
		}
	}
	colour, step := regexp.MustCompile(`\x1b\[[0-9;]*m`), regexp.MustCompile(`(?m)^(?:\d+\. .*|\$ umbra .*|  umbra .*  \S.*)$`)
	now := step.FindAllString(said, -1)
	then := step.FindAllString(strings.ReplaceAll(colour.ReplaceAllString(recorded.String(), ""), "\r", ""), -1)
	if len(now) < 12 || strings.Join(now, "\n") != strings.Join(then, "\n") {
		t.Errorf("docs/demo.cast is of another demo: go run ./scripts/cast\nnow:\n%s\nthen:\n%s", strings.Join(now, "\n"), strings.Join(then, "\n"))
	}
}

// demoRun is a demo that was run.
type demoRun struct {
	dir  string
	said string
	env  []string // of the person: nothing of the demo's
}

func runsDemo(t *testing.T, cwd string, flags ...string) demoRun {
	t.Helper()
	temp, home := t.TempDir(), t.TempDir()
	d := demoRun{env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + temp, "LC_ALL=C.UTF-8",
		"UMBRA_MISSION=none-of-its-business", "CLAUDECODE=1", "GIT_DIR=/nonexistent",
	}}
	d.said = shell(t, d.env, cwd, strings.Join(append([]string{"umbra demo"}, flags...), " "))
	entries, err := os.ReadDir(temp)
	if err != nil || len(entries) != 1 {
		t.Fatalf("the demo left %v in the temporary directory, %v", entries, err)
	}
	d.dir = filepath.Join(temp, entries[0].Name())
	if said := shell(t, append(d.env, "UMBRA_HOME="+filepath.Join(d.dir, "umbra-home")), cwd, "umbra daemon status"); !strings.Contains(said, "does not run") {
		t.Errorf("a daemon is left: %s", said)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("the demo left %v in HOME, %v", left, err)
	}
	return d
}

// check holds the demo's claims against what is there.
func (d demoRun) check(t *testing.T, readme string) {
	t.Helper()
	repository := filepath.Join(d.dir, "repository")
	forks, err := filepath.Glob(filepath.Join(d.dir, "forks", "*", "french"))
	if err != nil || len(forks) != 1 {
		t.Fatalf("forks are %v, %v", forks, err)
	}
	for file, want := range map[string]string{
		filepath.Join(repository, "greet.sh"):    "#!/bin/sh\necho \"Hello, ${1:-world}!\"\n",
		filepath.Join(repository, "README.md"):   readme,
		filepath.Join(forks[0], "greet.sh"):      "#!/bin/sh\necho \"Bonjour, ${1:-world}\"\n",
		filepath.Join(forks[0], "greet_test.sh"): "#!/bin/sh\n[ \"$(sh greet.sh Ada)\" = \"Bonjour, Ada\" ] && echo ok\n",
	} {
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v, want %q", file, got, err, want)
		}
	}
	if _, err := os.Lstat(filepath.Join(repository, "greet_test.sh")); !os.IsNotExist(err) {
		t.Errorf("the undo left greet_test.sh: %v", err)
	}
	for _, want := range []string{
		"resumed: I remember 2 prompts", "(I remember 3 prompts.)", "(I remember 4 prompts.)",
		"1 created, 0 deleted", "1 deleted", " · undo to", " · restore to demo@2", "| * ",
	} {
		if !strings.Contains(d.said, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	d.typeOn(t)
}

// TestLongDemo: the longer demo has turns enough, and ways to find the one that broke its test:
// each command that it ends with works, and names that turn or leads to it.
func TestLongDemo(t *testing.T) {
	t.Parallel()
	clone := t.TempDir() // it is not asked for here
	writeFiles(t, clone, map[string]string{"go.mod": "module github.com/umbra-vcs/umbra\n"})
	shell(t, os.Environ(), clone, "git init -q && git add . && git -c user.name=a -c user.email=a@example.com commit -qm begin")
	d := runsDemo(t, clone, "--long")
	prompts := strings.Count(d.said, "\n  > ")
	if prompts < 12 || strings.Count(d.said, "✗") != 1 || !strings.Contains(d.said, "✗ Bash sh test.sh\n") {
		t.Errorf("%d prompts:\n%s", prompts, d.said)
	}
	for _, key := range []string{"Z", "/", "b", "f"} {
		if !strings.Contains(d.said, "\n    "+key+"  ") {
			t.Errorf("the key %s is not shown:\n%s", key, d.said)
		}
	}
	for line, wants := range map[string][]string{
		"umbra log":    {"turn 14  run the test before we ship it", "turn 9  tidy up total.sh"},
		"umbra search": {"till@2.0 ", "take off ten percent"},
		"umbra blame":  {"till@9", "tidy up total.sh", `[ "$sum" -gt 1000 ]`},
		"umbra bisect": {"till@9 is the first bad one: turn 9: tidy up total.sh", `+[ "$sum" -gt 1000 ]`, "umbra fork till@8"},
	} {
		command := regexp.MustCompile(`(?m)^  ` + line + `.*?(?:  |$)`).FindString(d.said)
		if command == "" {
			t.Errorf("it does not say to type %s", line)
			continue
		}
		said := shell(t, d.env[:4], "/", fmt.Sprintf(". %[1]s/env\ncd %[1]s/repository\n%s", d.dir, command))
		for _, want := range wants {
			if !strings.Contains(said, want) {
				t.Errorf("%s does not say %q:\n%s", command, want, said)
			}
		}
	}
	said := shell(t, d.env[:4], "/", fmt.Sprintf(". %[1]s/env\ncd %[1]s/repository\numbra restore till@8 && sh test.sh && umbra doctor && . %[1]s/leave", d.dir))
	if !strings.Contains(said, "all is well") {
		t.Errorf("the state before the bad turn: %s", said)
	}
}

// typeOn types the commands that the demo ends with, in one shell. The last one
// takes the demo away, after the repositories were checked.
func (d demoRun) typeOn(t *testing.T) {
	t.Helper()
	_, rest, ok := strings.Cut(d.said, "then type what you like:\n")
	const mark = "=== " // in front of what each says
	var script strings.Builder
	script.WriteString("set -e\nbefore=$(pwd; export | grep -v PWD)\n")
	lines := 0
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "  ") {
			continue
		}
		command := regexp.MustCompile(` {2,}.*| *$`).ReplaceAllString(strings.TrimSpace(line), "")
		if strings.HasSuffix(command, "/leave") {
			fmt.Fprintf(&script, "[ $(umbra mission ls --json | grep -c '\"can_fork\"') = 3 ]\n")
			fmt.Fprintf(&script, "for s in %s/umbra-home/projects/*/shadow.git; do git --git-dir=\"$s\" fsck --full; done\n", d.dir)
			fmt.Fprintf(&script, "git -C %s/repository fsck --full\n", d.dir)
		}
		if command != "" {
			lines++
			fmt.Fprintf(&script, "echo '%s%s'\n%s </dev/null\n", mark, strings.TrimSpace(line), command)
		}
	}
	if !ok || lines < 8 {
		t.Fatalf("the demo ends with %d commands:\n%s", lines, rest)
	}
	script.WriteString("[ \"$(pwd; export | grep -v PWD)\" = \"$before\" ] && ! set | grep UMBRA_DEMO && echo as before\n")
	env := append([]string{"UMBRA_HOME=/of the person"}, d.env[:4]...)
	said := shell(t, env, "/usr", script.String())
	for _, want := range []string{"resumed: I remember 1 prompt\n", "resumed: I remember 4 prompts\n", "all is well", "Bonjour", "as before\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("the commands typed do not say %q:\n%s", want, said)
		}
	}
	for part := range strings.SplitSeq(said, mark) {
		line, shown, _ := strings.Cut(part, "\n")
		if strings.Contains(line, "what changed") && !strings.Contains(shown, "diff --git") {
			t.Errorf("%q does not show what changed:\n%s", line, shown)
		}
	}
	if _, err := os.Lstat(d.dir); !os.IsNotExist(err) {
		t.Errorf("the last command leaves %s: %v", d.dir, err)
	}
}

// shell runs a script that must succeed, and returns what it says.
func shell(t *testing.T, env []string, dir, script string) string {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir, cmd.Env = dir, env
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, said.String())
	}
	return said.String()
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// fingerprint changes if a file below dir does.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(sum, path, info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum.Write(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}
