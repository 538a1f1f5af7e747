package local

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/claude"
)

// TestForkOfOneOfTwo: where two live missions work, which one is forked is not guessed.
func TestForkOfOneOfTwo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("one")
	b.mission("two")
	fork := func(from string) error {
		_, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: from})
		return err
	}
	if err := fork(""); err != nil {
		t.Errorf("of two that have no agent the newest: %v", err)
	}
	b.tell("one", missions.AgentLaunched{HasHooks: true})
	if err := fork("@start"); err != nil {
		t.Errorf("of the live one: %v", err)
	}
	b.tell("two", missions.AgentLaunched{HasHooks: true})
	for _, from := range []string{"", "@start"} {
		b.fails("a fork of "+from, fork(from), missions.KindAmbiguous)
	}
	if err := fork("one@start"); err != nil {
		t.Errorf("of the one that is named: %v", err)
	}
}

// TestFork forks a mission from now and from a past turn: files, conversation
// and history are those of the moment, and the source stays as it was.
func TestFork(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("please write the file", "a.txt", "one\n")
	c.takeTurn("again", "a.txt", "two\n")
	before, err := os.ReadFile(c.transcript)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		from, file  string
		turns, last int
	}{{"", "two\n", 2, 2}, {"@1", "one\n", 1, 1}, {"@2.0", "one\n", 1, 2}, {"@start", "zero\n", 0, 0}} {
		t.Run("from "+tt.from, func(t *testing.T) {
			result, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: tt.from})
			if err != nil {
				t.Fatal(err)
			}
			fork := result.Missions[0]
			got, err := os.ReadFile(filepath.Join(fork.Workspace, "a.txt"))
			if err != nil || string(got) != tt.file {
				t.Errorf("the fork's file: %q %v", got, err)
			}
			if fork.State != missions.StateInitializing || fork.Parent == nil || fork.Turn != tt.last || !strings.HasPrefix(fork.Workspace, b.user) {
				t.Errorf("fork: %+v", fork)
			}
			if tt.turns == 0 {
				if fork.SessionID != "" {
					t.Errorf("a conversation without a word: %s", fork.SessionID)
				}
				return
			}
			f, err := os.Open(fork.SessionPath)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			conversation, err := sessions.ReadConversation(claude.Adapter{}, f)
			if err != nil || len(conversation.Turns) != tt.turns || conversation.ID != fork.SessionID || conversation.Cwd != fork.Workspace {
				t.Errorf("the fork's conversation: %+v %v", conversation, err)
			}
			// What the record holds is the placed file, byte for byte.
			m, err := b.local.MissionByID(fork.ID)
			if err != nil {
				t.Fatal(err)
			}
			r, _, err := b.local.OpenRecordedConversation(m.Project, m.Record)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, r); err != nil {
				t.Errorf("the fork's recorded conversation: %v", err)
			}
		})
	}
	if after, err := os.ReadFile(c.transcript); err != nil || string(after) != string(before) {
		t.Errorf("the source's conversation has changed: %v", err)
	}
	d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(d.Problems) > 0 {
		t.Errorf("doctor: %+v %v", d.Problems, err)
	}
}

// TestLostForkIsMadeAgain removes a fork's directory behind Umbra's back: it is
// made again in its place, on its own branch.
func TestLostForkIsMadeAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.git("init", "-q")
	b.git("add", ".")
	b.git("commit", "-q", "-m", "first")
	b.mission("parent")
	result, err := b.local.Fork(t.Context(), missions.ForkRequest{Caller: b.caller(), From: "parent", Name: "child"})
	if err != nil {
		t.Fatal(err)
	}
	child := result.Missions[0]
	if err := os.RemoveAll(child.Workspace); err != nil {
		t.Fatal(err)
	}
	m, err := b.local.MissionByID(child.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.RecreateMission(t.Context(), m, missions.LaunchRequest{Caller: b.caller()}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(child.Workspace, "a.txt"))
	if err != nil || string(got) != "one\n" {
		t.Errorf("the file: %q %v", got, err)
	}
	if m, err = b.local.MissionByID(child.ID); err != nil || m.Binding.Branch != "umbra/child" || m.Binding.Workspace != child.Workspace {
		t.Errorf("bound to %+v, %v", m.Binding, err)
	}
}

// TestForkHasTheLastWords forks a source whose conversation went on after its
// newest snapshot, without a change of files.
func TestForkHasTheLastWords(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("write it", "a.txt", "one\n")
	c.say(c.line("user", "x1", "", `"thanks"`), c.line("assistant", "x2", "x1", `[{"type":"text","text":"welcome"}]`))
	result, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller()})
	if err != nil {
		t.Fatal(err)
	}
	talk, err := os.ReadFile(result.Missions[0].SessionPath)
	if err != nil || !strings.Contains(string(talk), "welcome") {
		t.Errorf("the fork's conversation lacks the last words: %v\n%s", err, talk)
	}
	b.healthy()
}

// TestForkHandsItsStatCacheOver: what the fork wrote need not be read by the
// first capture of its workspace.
func TestForkHandsItsStatCacheOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("d/a.txt", "content\n")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(b.dir, "d/a.txt"), old, old); err != nil {
		t.Fatal(err)
	}
	b.mission("source")
	result, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "source"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.local.MissionByID(result.Missions[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	root, err := restores.OpenWorkspace(m)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	scanner, err := capture.OpenScanner(capture.Workspace{Root: m.Binding.Workspace, Identity: root.Identity()},
		b.local.Home.StatCacheFile(m.Binding.Identity.FileIdentity), m.Project.Generation())
	if err != nil {
		t.Fatal(err)
	}
	st, err := root.Lstat("d/a.txt")
	if err != nil {
		t.Fatal(err)
	}
	id, ok := scanner.Known().Content("d/a.txt", &st)
	if !ok || id != gitstore.HashObject(gitstore.TypeBlob, []byte("content\n")) {
		t.Errorf("the stat cache says %s, %v", id, ok)
	}
}

// TestForkCountAllOrNothing makes none of several forks where one can't be made.
func TestForkCountAllOrNothing(t *testing.T) {
	t.Parallel()
	for name, inTheWay := range map[string]func(b *testBench, next string){
		"a name": func(b *testBench, _ string) { b.fork("t-2") },
		"a directory": func(b *testBench, next string) {
			b.put(filepath.Join(next, "mine"), "precious\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.git("init", "-q")
			b.write("a.txt", "one\n")
			b.git("add", ".")
			b.git("commit", "-qm", "first")
			b.mission("work")
			first := b.fork("first")
			inTheWay(b, filepath.Join(filepath.Dir(first.Workspace), "t-2"))
			list := func() string {
				all, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
				if err != nil {
					t.Fatal(err)
				}
				text := b.git("worktree", "list") + b.git("branch", "--list")
				for _, m := range all {
					text += m.Name + "\n"
				}
				return text
			}
			before := list()
			for range 2 {
				r, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work", Name: "t", Count: 3})
				b.fails("in the way of the second", err, missions.KindConflict)
				if !strings.Contains(err.Error(), "t-2") || len(r.Missions) > 0 {
					t.Errorf("%v, with %+v", err, r.Missions)
				}
			}
			if after := list(); after != before {
				t.Errorf("left:\n%s\nbefore:\n%s", after, before)
			}
			b.healthy()
		})
	}
}

func (b *testBench) fork(name string) missions.Mission {
	b.Helper()
	return b.forkAt("work", name)
}

// forkAt forks a moment.
func (b *testBench) forkAt(moment, name string) missions.Mission {
	b.Helper()
	r, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: moment, Name: name})
	if err != nil {
		b.Fatal(err)
	}
	return r.Missions[0]
}
