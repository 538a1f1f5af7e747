package commands

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/umbra-vcs/umbra/scripts/lab"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// The scripts specify the command line: names, flags, exit codes, error texts.
// Each ends with umbra doctor and git fsck --full.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Defer(func() { endLeft(t, "UMBRA_HOME="+filepath.Join(env.WorkDir, "umbra")+"\x00") })
			for _, kv := range [][2]string{
				{"HOME", home}, {"UMBRA_HOME", filepath.Join(env.WorkDir, "umbra")}, {"UMBRA_NO_DAEMON", "1"}, {"SHELL", "/bin/sh"},
				{"XDG_CONFIG_HOME", filepath.Join(home, ".config")}, {"XDG_DATA_HOME", ""}, {"XDG_RUNTIME_DIR", ""}, {"UMBRA_MISSION", ""},
				{"GIT_CONFIG_GLOBAL", filepath.Join(home, ".gitconfig")}, {"GIT_CONFIG_NOSYSTEM", "1"}, {"TERM", "dumb"}, {"PAGER", ""},
				{"CLAUDE_CONFIG_DIR", ""}, {"CLAUDE_PID", "0"}, {"LC_ALL", "C.UTF-8"},
			} {
				env.Setenv(kv[0], kv[1])
			}
			if err := os.MkdirAll(home, 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n"), 0o644)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": scriptCode, "fsck": scriptFsck, "save": scriptSave, "waitfor": scriptWaitFor, "lines": scriptLines, "write": scriptWrite,
			"waitlog": scriptWaitLog, "waitentry": scriptWaitEntry, "gone": scriptGone,
			"example": scriptExample,
		},
	})
}

// endLeft kills the processes of a script that has ended. Those of one that failed would be
// waited for, before anything is said: a keeper leaves an interrupt to its agent.
func endLeft(t *testing.T, variable string) {
	if !patience.Until(time.Minute, func() bool { return lab.Kill(variable) == 0 }) {
		t.Errorf("a script's processes do not end: %v", lab.ProcessesWith(variable))
	}
}

// code N COMMAND…: the command ends with that exit code.
func scriptCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// example FILE: the shell script of that name in docs/agents/generic.md, as a program.
func scriptExample(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: example FILE")
	}
	page, err := os.ReadFile("../docs/agents/generic.md")
	ts.Check(err)
	_, rest, found := strings.Cut(string(page), "```sh\n#!/bin/sh\n# "+filepath.Base(args[0])+" ")
	script, _, ended := strings.Cut(rest, "```\n")
	if !found || !ended {
		ts.Fatalf("docs/agents/generic.md has no script %s", filepath.Base(args[0]))
	}
	script = "#!/bin/sh\n# " + script
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(script), 0o755))
}

// fsck: git fsck --full finds nothing in any shadow repository.
func scriptFsck(ts *testscript.TestScript, neg bool, args []string) {
	repos, err := filepath.Glob(filepath.Join(ts.Getenv("UMBRA_HOME"), "projects", "*", "shadow.git"))
	ts.Check(err)
	if neg || len(args) > 0 || len(repos) == 0 {
		ts.Fatalf("usage: fsck, where there is a shadow repository")
	}
	for _, repo := range repos {
		ts.Check(ts.Exec("git", "--git-dir="+repo, "fsck", "--full", "--no-dangling"))
		if out := ts.ReadFile("stdout") + ts.ReadFile("stderr"); strings.Contains(out, "error") || strings.Contains(out, "missing") || strings.Contains(out, "warning") {
			ts.Fatalf("git fsck in %s: %s", repo, out)
		}
	}
}

// save NAME RE: the first group of RE in the last stdout becomes $NAME.
func scriptSave(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: save NAME RE")
	}
	m := regexp.MustCompile(`(?m)` + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(m) < 2 {
		ts.Fatalf("%s is not in: %s", args[1], ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], m[1])
}

// waitfor FILE: the file appears.
func scriptWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfor FILE")
	}
	if !patience.Until(time.Minute, func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	}) {
		ts.Fatalf("%s does not appear", args[0])
	}
}

// lines N: the last stdout has so many lines.
func scriptLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lines N")
	}
	if got := strings.Count(ts.ReadFile("stdout"), "\n"); strconv.Itoa(got) != args[0] {
		ts.Fatalf("%d lines, want %s:\n%s", got, args[0], ts.ReadFile("stdout"))
	}
}

// write FILE TEXT: the file holds the text and a newline.
func scriptWrite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: write FILE TEXT")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(args[1]+"\n"), 0o644))
}

// waitlog RE: the log of automations matches RE before long.
func scriptWaitLog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitlog RE")
	}
	re, log := regexp.MustCompile(args[0]), []byte(nil)
	if !patience.Until(time.Minute, func() bool {
		log, _ = os.ReadFile(filepath.Join(ts.Getenv("UMBRA_HOME"), "automations.log"))
		return re.Match(log)
	}) {
		ts.Fatalf("%s is not in the log:\n%s", args[0], log)
	}
}

// waitentry RE: the default mission's log matches RE before long.
func scriptWaitEntry(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitentry RE")
	}
	re := regexp.MustCompile(args[0])
	if !patience.Until(time.Minute, func() bool {
		ts.Check(ts.Exec("umbra", "log"))
		return re.MatchString(ts.ReadFile("stdout"))
	}) {
		ts.Fatalf("%s is not in the log", args[0])
	}
}

// gone PID: the process ends before long.
func scriptGone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone PID")
	}
	pid, err := strconv.Atoi(args[0])
	ts.Check(err)
	if !patience.Until(time.Minute, func() bool {
		state, err := os.ReadFile("/proc/" + args[0] + "/stat")
		return syscall.Kill(pid, 0) != nil || err == nil && strings.Contains(string(state), ") Z ")
	}) {
		ts.Fatalf("process %d is still there", pid)
	}
}
