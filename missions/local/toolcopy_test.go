package local

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
)

// toolBench has a tool that Umbra does not know, whose conversation is lines of JSON, and
// programs that cut and rewrite it.
type toolBench struct {
	*testBench
	talk string
}

const (
	cutsCall   = `sed '${/"call"/d;}'`
	toldOf     = `told() { sed -n "s/.*\"$1\": \"\(.*\)\".*/\1/p" description.json; }` + "\n"
	rewritesIt = toldOf + `sed -e "s|$(told old_workspace)|$(told new_workspace)|g" -e "s|$(told old_session)|$(told new_session)|g"`
)

// newToolBench has had two turns with its tool: one, and two with a call of a tool.
func newToolBench(t *testing.T) *toolBench {
	b := &toolBench{testBench: newBench(t)}
	b.local.Adapters = projects.Agents()
	b.talk = filepath.Join(b.user, "talks", "talk-one.jsonl")
	b.local.Library.Callbacks.After = func(time.Duration) <-chan time.Time { return nil }
	b.says("")
	b.tells("session-start", "")
	b.tells("prompt", `"prompt":"one"`)
	b.write("a.txt", "one\n")
	b.says(`{"session":"talk-one","say":"one is in %s/a.txt"}`+"\n", b.dir)
	b.tells("idle", "")
	b.tells("prompt", `"prompt":"two"`)
	b.says(`{"session":"talk-one","call":"write %s/a.txt"}`+"\n", b.dir)
	b.write("b.txt", "made meanwhile\n")
	b.tells("tool-before", `"tool":{"name":"write"}`)
	b.write("a.txt", "two\n")
	b.says(`{"session":"talk-one","say":"two is in %s/a.txt"}`+"\n", b.dir)
	b.tells("idle", "")
	b.program("cut", cutsCall)
	b.program("rewrite", rewritesIt)
	return b
}

func (b *toolBench) tells(event, more string) {
	b.Helper()
	if more != "" {
		more = "," + more
	}
	payload := fmt.Sprintf(`{"session":"talk-one","event":%q,"agent":"talker","transcript":%q,"resume":["talker","{transcript}"]%s}`, event, b.talk, more)
	r, err := b.local.Hook(context.Background(), missions.HookRequest{Caller: b.caller(), Agent: "generic", Payload: []byte(payload)})
	if err != nil || r.Problem != "" {
		b.Fatalf("%s: %v %s", event, err, r.Problem)
	}
}

func (b *toolBench) says(format string, args ...any) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(b.talk), 0o700); err != nil {
		b.Fatal(err)
	}
	f, err := os.OpenFile(b.talk, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, format, args...); err != nil {
		b.Fatal(err)
	}
}

// program configures a program of the user's, the script body.
func (b *toolBench) program(call, body string) {
	b.Helper()
	path := filepath.Join(b.user, "programs", call)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		b.Fatal(err)
	}
	lines := []string{"other /nowhere", "talker " + path}
	if call == "cut" {
		b.local.Desk.Config.Tools.Cut = lines
	} else {
		b.local.Desk.Config.Tools.Rewrite = lines
	}
}

func (b *toolBench) file(path string) string {
	b.Helper()
	p, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return string(p)
}

// nothingCopied: no copy of a conversation is left, nor a directory for one.
func (b *toolBench) nothingCopied() {
	b.Helper()
	for _, pattern := range []string{filepath.Join(b.home, "agents", "generic", "*"), filepath.Join(b.user, "umbra", "*", "*")} {
		if left, _ := filepath.Glob(pattern); len(left) > 0 {
			b.Errorf("left: %q", left)
		}
	}
}

// said is what the conversation of a mission says of a turn, as it should be there.
func said(m missions.Mission, turn string) string {
	return fmt.Sprintf(`{"session":%q,"say":"%s is in %s/a.txt"}`+"\n", m.SessionID, turn, m.Workspace)
}

// TestToolCopies: forks of now, of a turn and of a moment in one have conversations of their
// own, which begin no call that is not finished; so has a restore.
func TestToolCopies(t *testing.T) {
	t.Parallel()
	b := newToolBench(t)
	source, m := b.file(b.talk), b.only()
	call := func(f missions.Mission) string {
		return fmt.Sprintf(`{"session":%q,"call":"write %s/a.txt"}`+"\n", f.SessionID, f.Workspace)
	}
	now := b.forkAt(m.Name, "now")
	if got, want := b.file(now.SessionPath), said(now, "one")+call(now)+said(now, "two"); got != want || now.SessionID == "talk-one" {
		t.Errorf("a fork of now: %s\nwant %s", got, want)
	}
	past := b.forkAt(m.Name+"@1", "past")
	if got, want := b.file(past.SessionPath), said(past, "one"); got != want {
		t.Errorf("a fork of turn 1: %s\nwant %s", got, want)
	}
	within := b.forkAt(m.Name+"@2.1", "within")
	if got, want := b.file(within.SessionPath), said(within, "one"); got != want {
		t.Errorf("a fork of a call: %s\nwant %s", got, want)
	}
	b.program("cut", "exit 1")
	b.program("rewrite", "exit 1") // what is kept needs no program
	for _, f := range []missions.Mission{now, past, within} {
		if err := os.Remove(f.SessionPath); err != nil {
			t.Fatal(err)
		}
	}
	b.healthy()
	if _, err := b.local.Launch(context.Background(), missions.LaunchRequest{Caller: b.caller(), Mission: past.ID, Resume: true}); err != nil || b.file(past.SessionPath) != said(past, "one") {
		t.Errorf("a copy that was lost comes back as %s: %v", b.file(past.SessionPath), err)
	}
	b.program("cut", cutsCall)
	b.program("rewrite", rewritesIt)
	if _, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: m.Name + "@2.1", Force: true}); err != nil {
		t.Fatal(err)
	}
	restored := b.status(m.ID)
	if got, want := b.file(restored.SessionPath), said(restored, "one"); got != want || restored.SessionID == "talk-one" || b.read("a.txt") != "one\n" {
		t.Errorf("a restore: %s\nwant %s", got, want)
	}
	if b.file(b.talk) != source {
		t.Error("the source is another")
	}
	b.healthy()
}

func (b *toolBench) status(id string) missions.Mission {
	b.Helper()
	m, err := b.local.Mission(context.Background(), missions.MissionRequest{Caller: b.caller(), Name: id})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// TestToolCopyFails: where a program does not do what it should there is no fork, no
// restore, and no copy.
func TestToolCopyFails(t *testing.T) {
	t.Parallel()
	over := make(chan time.Time)
	close(over)
	for name, tt := range map[string]struct {
		body, want string
		change     func(*toolBench)
	}{
		"fails": {"cat; echo 'no such format' >&2; exit 3", "no such format", func(*toolBench) {}},
		"hangs": {"mkfifo fifo; cat fifo", "had not ended", func(b *toolBench) {
			b.local.Library.Callbacks.After = func(time.Duration) <-chan time.Time { return over }
		}},
		"too much":          {"cat; cat /dev/zero", "gave more than", func(b *toolBench) { b.local.Library.Callbacks.MoreBytes = 100 }},
		"nothing":           {"cat >/dev/null", "gave nothing", func(*toolBench) {}},
		"gone":              {"cat", "can't be started", func(b *toolBench) { b.local.Desk.Config.Tools.Rewrite = []string{"talker /nowhere/at/all"} }},
		"writes the source": {"cat; echo mine >TALK", "was changed while", func(*toolBench) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newToolBench(t)
			b.program("rewrite", strings.ReplaceAll(tt.body, "TALK", b.talk))
			b.local.Desk.Config.Tools.Cut = nil
			tt.change(b)
			source, m := b.file(b.talk), b.only()
			_, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: m.Name + "@1", Name: "away"})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("fork: %v", err)
			}
			if name == "writes the source" {
				b.nothingCopied()
				return
			}
			for _, alone := range []bool{false, true} {
				_, err = b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: m.Name + "@1", Force: true, ConversationOnly: alone})
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("restore: %v", err)
				}
			}
			after := b.only()
			if b.read("a.txt") != "two\n" || after.SessionID != "talk-one" || b.file(b.talk) != source {
				t.Errorf("it is not as it was: %+v", after)
			}
			b.nothingCopied()
			b.healthy()
		})
	}
}

// TestToolCopyCutOff: a restore that was killed before it changed a file leaves no copy, and
// needs no program to be taken back.
func TestToolCopyCutOff(t *testing.T) {
	t.Parallel()
	for name, placed := range map[string]bool{"before the copy": false, "after it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newToolBench(t)
			m := b.only()
			b.cutOff(m.Name, m.Name+"@1", func(w *restores.RestoreWork) error {
				if !placed {
					return nil
				}
				path := w.Doc.Conversation.Path
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					return err
				}
				return os.WriteFile(path, []byte("{}\n"), 0o600)
			})
			b.program("rewrite", "exit 1")
			if _, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Message: "after"}); err != nil {
				t.Fatal(err)
			}
			if after := b.only(); after.SessionID != "talk-one" || b.read("a.txt") != "two\n" {
				t.Errorf("%+v", after)
			}
			b.nothingCopied()
			b.healthy()
		})
	}
}

// TestNoToolPrograms: a tool that nobody has programs for is copied as before, byte for byte.
func TestNoToolPrograms(t *testing.T) {
	t.Parallel()
	b := newToolBench(t)
	b.local.Desk.Config.Tools.Cut, b.local.Desk.Config.Tools.Rewrite = nil, []string{"other /nowhere"}
	fork := b.forkAt(b.only().Name, "now")
	if b.file(fork.SessionPath) != b.file(b.talk) {
		t.Error("a copy is another")
	}
	record, err := b.local.FindMission(context.Background(), b.caller(), fork.ID, addresses.InAnyProject)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := record.Project.Store.RecordFile(record.Record, "session/meta.json")
	var meta struct{ Inherited json.RawMessage }
	if err = orElse(err, json.Unmarshal(doc, &meta)); err != nil || meta.Inherited == nil {
		t.Errorf("its bytes are kept twice: %s %v", doc, err)
	}
}

func orElse(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
