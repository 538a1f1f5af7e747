package commands

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// handoverSetup makes the scripted agent a program named claude, in front of
// everything else, and begins a mission with it in a directory of the workspace.
const handoverSetup = `set -e
mkdir -p ../bin ../claude inner
printf '#!/bin/sh\n%sexec umbra scripted-agent "$@"\n' "$1" >../bin/claude
chmod +x ../bin/claude
export PATH=$PWD/../bin:$PATH CLAUDE_CONFIG_DIR=$PWD/../claude
git init -q
cd inner
exec umbra mission new --name live -- claude`

// onHandover has the scripted agent under a keeper on a terminal.
func onHandover(t *testing.T, before string) *pty {
	t.Helper()
	p := onTerminal(t, "bash", "-c", handoverSetup, "bash", before)
	p.expect(`live\r?\n(?s:.*)> `)
	return p
}

// ask gives the agent a prompt and waits for its answer.
func (p *pty) ask(prompt, answer string) {
	p.t.Helper()
	p.typed(prompt + "\n")
	p.expect(answer)
	p.expect("> ")
}

// fails runs umbra, which must end with that code, and returns what it said.
func (p *pty) fails(code int, args ...string) string {
	p.t.Helper()
	cmd := exec.Command("umbra", args...)
	cmd.Dir, cmd.Env = p.cmd.Dir, p.cmd.Env
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != code {
		p.t.Fatalf("umbra %s: %v, want exit code %d\n%s", strings.Join(args, " "), err, code, out)
	}
	return string(out)
}

func (p *pty) notes(want string) {
	p.t.Helper()
	got, err := os.ReadFile(filepath.Join(p.cmd.Dir, "inner", "notes.txt"))
	if err != nil || string(got) != want {
		p.t.Errorf("notes.txt holds %q %v, want %q", got, err, want)
	}
}

// well ends the agent, and looks after everything.
func (p *pty) well() {
	p.t.Helper()
	p.typed("exit\n")
	if code := p.code(); code != 0 {
		p.t.Errorf("exit code %d, want 0; the terminal shows:\n%s", code, p.said.String())
	}
	if out := p.run("mission", "show", "live"); !strings.Contains(out, "exit code 0") {
		p.t.Errorf("mission show: %s", out)
	}
	if out := p.run("doctor"); !strings.Contains(out, "all is well") {
		p.t.Errorf("doctor: %s", out)
	}
}

// TestHandover restores, undoes and redoes beneath an agent on a terminal: each
// time it is there again, on the conversation that it goes on with.
func TestHandover(t *testing.T) {
	t.Parallel()
	p := onHandover(t, "")
	p.ask("alpha", `I remember 1 prompt`)
	p.ask("bravo", `I remember 2 prompts`)
	p.notes("alpha\nbravo\n")

	out := p.run("restore", "live@1")
	if !strings.Contains(out, "the agent goes on from there in its terminal") || strings.Contains(out, "/resume") {
		t.Errorf("restore: %s", out)
	}
	p.expect(`\numbra: restore to live@1; what was typed and not sent is lost; to take it back: umbra undo live\r\n`)
	p.expect(`resumed: I remember 1 prompt\r\n`)
	p.expect("> ")
	p.notes("alpha\n")
	if out := p.run("mission", "show", "live"); !strings.Contains(out, "idle") || !strings.Contains(out, "inner") {
		t.Errorf("mission show: %s", out)
	}

	p.typed("half a thought") // is lost
	if out := p.run("undo", "live", "--json"); !strings.Contains(out, `"how": "relaunched"`) {
		t.Errorf("undo: %s", out)
	}
	p.expect(`\numbra: undo to live@2; .*: umbra redo live\r\n`)
	p.expect(`resumed: I remember 2 prompts\r\n`)
	p.expect("> ")
	p.notes("alpha\nbravo\n")

	p.run("redo", "live")
	p.expect(`\numbra: redo to live@2\.\d; .*: umbra undo live\r\n`)
	p.expect(`resumed: I remember 1 prompt\r\n`)
	p.expect("> ")
	p.notes("alpha\n")

	// Files alone are put back beneath the agent, which is told of it.
	p.ask("charlie", `I remember 2 prompts`)
	if out := p.run("restore", "live@1", "--files-only"); strings.Contains(out, "terminal") {
		t.Errorf("restore of files alone: %s", out)
	}
	p.ask("delta", `\(told by a hook\) Umbra has put files(?s:.*)I remember 3 prompts`)
	p.notes("alpha\ndelta\n")

	// To the start: a new conversation, with the first prompt sent by nobody.
	p.run("restore", "live@start", "--all")
	p.expect(`umbra: restore to live@start; `)
	p.expect("> ")
	p.ask("echo", `I remember 1 prompt`)
	p.well()
}

// TestHandoverInATurn leaves what was asked for in a turn to its end, does it at
// once by force, and is refused otherwise.
func TestHandoverInATurn(t *testing.T) {
	t.Parallel()
	p := onHandover(t, "")
	p.ask("alpha", `I remember 1 prompt`)
	notes, fifo := filepath.Join(p.cmd.Dir, "inner", "notes.txt"), filepath.Join(p.cmd.Dir, "..", "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { readAway(t, fifo) })
	stuck := func() {
		t.Helper()
		if err := errors.Join(os.Remove(notes), os.Symlink(fifo, notes)); err != nil {
			t.Fatal(err)
		}
		p.typed("stuck\n") // its tool waits for a reader
		p.run("mission", "wait", "live", "--state", "running", "--timeout", "1m")
	}
	stuck()
	if out := p.fails(11, "restore", "live@1"); !strings.Contains(out, "--when-idle") {
		t.Errorf("restore in a turn: %s", out)
	}
	p.fails(11, "undo", "live")
	if out := p.run("restore", "live@1", "--when-idle", "--all"); !strings.Contains(out, "the restore happens when it ends") {
		t.Errorf("restore --when-idle: %s", out)
	}
	if said, err := os.ReadFile(fifo); err != nil || string(said) != "stuck\n" {
		t.Fatalf("the tool wrote %q %v", said, err)
	}
	p.expect(`\numbra: restore to live@1; `)
	p.expect(`resumed: I remember 1 prompt\r\n`)
	p.expect("> ")
	p.notes("alpha\n")
	p.run("undo", "live")
	p.expect(`resumed: I remember 2 prompts\r\n`)
	p.expect("> ")
	p.run("redo", "live")
	p.expect(`resumed: I remember 1 prompt\r\n`)
	p.expect("> ")

	stuck()
	p.run("undo", "live", "--when-idle")
	if out := p.run("undo", "live", "--queued"); out != "canceled: the undo that was to happen when the turn of live ends\n" {
		t.Errorf("undo --queued: %s", out)
	}
	if out := p.run("undo", "live", "--when-idle"); !strings.Contains(out, "the undo happens when it ends") {
		t.Errorf("undo --when-idle: %s", out)
	}
	p.run("restore", "live@1", "--force", "--all")
	p.expect(`\numbra: restore to live@1; `)
	p.expect(`resumed: I remember 1 prompt\r\n`)
	p.expect("> ")
	p.notes("alpha\n")
	p.well()
}

// readAway reads what somebody wants to write into a FIFO, if anybody does: a tool
// outlives the agent that a restore by force has ended, and would wait for a reader for ever.
func readAway(t *testing.T, fifo string) {
	t.Helper()
	f, err := os.OpenFile(fifo, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	if _, err := io.Copy(io.Discard, f); err != nil {
		t.Error(err)
	}
}

// TestHandoverOfOneThatStays ends an agent that does not heed SIGTERM, and that
// leaves its terminal as no line could be read in it.
func TestHandoverOfOneThatStays(t *testing.T) {
	t.Parallel()
	p := onHandover(t, `trap "" TERM; test -e ../raw || { touch ../raw; stty raw -echo; }; `)
	p.typed("alpha\n")
	p.expect(`I remember 1 prompt`)
	p.typed("bravo\n")
	p.expect(`I remember 2 prompts`)
	p.run("mission", "wait", "live", "--state", "idle", "--timeout", "1m")
	p.run("restore", "live@1")
	p.expect(`\r\numbra: restore to live@1; .*\r\n`) // the terminal makes lines of it again
	p.expect(`resumed: I remember 1 prompt\r\n`)
	p.well()
}
