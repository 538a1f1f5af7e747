package servicetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// Open gives the Service under test on a home. It ends with the test.
type Open func(t testing.TB, home home.Home) missions.Service

// Check is one promise of the contract.
type Check struct {
	Name string
	run  func(*desk)
}

// Checks are the whole contract.
func Checks() []Check {
	return []Check{
		{"missions are made, listed, named and removed", missionsLive},
		{"requests that make no sense are told apart", badRequests},
		{"snapshots are taken and read", snapshotsRead},
		{"pins name snapshots", pinsName},
		{"restore, undo and redo", restoreAndBack},
		{"a refusal carries its plan", refusalCarriesPlan},
		{"a fork lives on its own", forkLives},
		{"a fork comes home", forkComesHome},
		{"forks are merged", forksMerged},
		{"the work of a mission is listed", workListed},
		{"lines have authors", linesHaveAuthors},
		{"what was done is found", workFound},
		{"sessions are imported", sessionsImported},
		{"missions go to a remote and come from it", missionsCarried},
		{"old snapshots are pruned", oldSnapshotsPruned},
		{"forks are compared", forksCompared},
		{"a fork reports to its parent", forkReports},
		{"an agent is launched, kept, waited for and stopped", agentLives},
		{"hooks are installed, asked for and uninstalled", hooksInstalled},
		{"hook events make a mission", hookEvents},
		{"status, doctor and projects look at everything", looks},
		{"progress is told while a call runs, and not after", progressTold},
		{"a call ends with its context", contextEnds},
		{"calls at once do not disturb each other", callsAtOnce},
	}
}

// Run holds an implementation to the contract.
func Run(t *testing.T, open Open) {
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			for _, problem := range c.Try(t, open) {
				t.Error(problem)
			}
		})
	}
}

// Try runs one check on a fresh home and workspace, and returns what is wrong.
func (c Check) Try(t testing.TB, open Open) []error {
	t.Helper()
	user := t.TempDir()
	d := &desk{user: user, dir: filepath.Join(user, "work"), vars: map[string]string{
		"HOME": user, "PATH": os.Getenv("PATH"), "SHELL": "/bin/sh",
	}}
	if err := os.Mkdir(d.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	home, err := home.Open(filepath.Join(user, "home"))
	if err != nil {
		t.Fatal(err)
	}
	d.Service = open(t, home)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	d.ctx = ctx
	c.run(d)
	return d.problems
}

// desk is where a check works: a Service, a workspace, and what was wrong.
type desk struct {
	missions.Service
	ctx       context.Context
	user, dir string
	vars      map[string]string
	problems  []error
}

func (d *desk) caller() missions.Caller {
	return missions.Caller{Cwd: d.dir, Env: d.vars, Binary: "/usr/bin/umbra"}
}

// wrong notes a broken promise.
func (d *desk) wrong(format string, args ...any) {
	d.problems = append(d.problems, fmt.Errorf(format, args...))
}

// ok notes an error where none belongs, and reports whether there was none.
func (d *desk) ok(what string, err error) bool {
	if err != nil {
		d.wrong("%s: %w", what, err)
	}
	return err == nil
}

// refuses checks that a call failed as it must: the kind, and a message.
func (d *desk) refuses(what string, kind missions.Kind, err error) *missions.Error {
	var e *missions.Error
	switch {
	case err == nil:
		d.wrong("%s: no error, want %s", what, kind)
	case !errors.As(err, &e):
		d.wrong("%s: %T is no *missions.Error: %w", what, err, err)
	case e.Kind != kind || e.Message == "":
		d.wrong("%s: %s %q, want %s", what, e.Kind, e.Message, kind)
	}
	return e
}

func (d *desk) write(name, content string) {
	path := filepath.Join(d.dir, name)
	d.ok("write", os.MkdirAll(filepath.Dir(path), 0o755))
	d.ok("write", os.WriteFile(path, []byte(content), 0o644))
}

// holds checks a file of the workspace; "" is none.
func (d *desk) holds(name, content string) {
	got, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil && content == "" {
		return
	}
	if d.ok("read", err); string(got) != content {
		d.wrong("%s holds %q, want %q", name, got, content)
	}
}

func (d *desk) mission(name string) missions.Mission {
	m, err := d.NewMission(d.ctx, missions.NewMissionRequest{Caller: d.caller(), Name: name, Command: []string{"sh"}})
	d.ok("new mission "+name, err)
	return m
}

func (d *desk) snapshot(text string) missions.Entry {
	e, err := d.Snapshot(d.ctx, missions.SnapshotRequest{Caller: d.caller(), Message: text})
	d.ok("snapshot", err)
	return e
}

// hook plays one event of Claude Code.
func (d *desk) hook(event string, fields map[string]any) missions.HookResult {
	const session = "11111111-1111-4111-8111-111111111111"
	all := map[string]any{
		"session_id": session, "cwd": d.dir, "hook_event_name": event,
		"transcript_path": filepath.Join(d.user, session+".jsonl"),
	}
	for k, v := range fields {
		all[k] = v
	}
	payload, err := json.Marshal(all)
	d.ok(event, err)
	r, err := d.Hook(d.ctx, missions.HookRequest{Caller: d.caller(), Agent: "claude", Payload: payload})
	d.ok(event, err)
	if r.Problem != "" {
		d.wrong("%s: %s", event, r.Problem)
	}
	return r
}
