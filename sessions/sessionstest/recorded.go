package sessionstest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// A Recording is what scripts/clients/record has written of one version of an agent.
type Recording struct {
	Adapter sessions.Adapter
	Dir     string
	Apart   bool             // the client's own fork holds only what came since
	Env     sessions.Environ // of its hooks
	Endless bool             // without a terminal its hooks tell of no session's end
	Mute    bool             // without a terminal it writes nothing of a refusal of its model's service
}

// Recorded fails t where the adapter does not find in a recording what was talked
// about.
func Recorded(t *testing.T, of Recording) {
	t.Helper()
	r := recording{t, of}
	talk := r.read("talk", sessions.StateIdle)
	r.prompts("talk", talk, "first PLATYPUS", "second", "third")
	if len(talk.Turns) == 3 {
		r.tools(talk)
		r.outputs(talk)
	}
	refused := sessions.StateError
	if of.Mute {
		refused = sessions.StateRunning
	}
	failed := r.read("failed", refused)
	r.prompts("failed", failed, "begin", "fail")
	if n := len(failed.Turns); n > 0 && !of.Mute && !strings.HasSuffix(sessions.BriefRefusal(failed.Turns[n-1].Refusal), "no such model") {
		r.Errorf("failed: the refusal is %q", failed.Turns[n-1].Refusal)
	}
	r.prompts("interrupted", r.read("interrupted", sessions.StateInterrupted, sessions.StateRunning), "begin", "wait")
	if _, err := os.Stat(filepath.Join(of.Dir, "forked.jsonl")); err == nil {
		want := []string{"first PLATYPUS", "second", "third", "fourth"}
		if of.Apart {
			want = want[3:]
		}
		r.prompts("forked", r.read("forked", sessions.StateIdle), want...)
	}
	r.hooks()
}

type recording struct {
	*testing.T
	Recording
}

func (r recording) file(name string) []byte {
	r.Helper()
	b, err := os.ReadFile(filepath.Join(r.Dir, name+".jsonl"))
	if err != nil {
		r.Fatal(err)
	}
	return b
}

// read reads a conversation, which is in one of these states; as far as it can be
// gone on from, it is rewritten and read again as the same.
func (r recording) read(name string, states ...sessions.State) sessions.Conversation {
	r.Helper()
	s, problems := Subject{Adapter: r.Adapter, Transcript: r.file(name)}, &report{}
	c := s.read(problems, s.Transcript)
	if !slices.Contains(states, c.State) || c.Bad > 0 || c.Torn || c.ID == "" || c.Cwd != "/tmp/dev/w" {
		r.Errorf("%s: session %q in %s is %s, %d bad lines, torn %t", name, c.ID, c.Cwd, c.State, c.Bad, c.Torn)
	}
	cut, err := r.Adapter.Cut(bytes.NewReader(s.Transcript))
	if err != nil {
		r.Fatalf("%s: cut: %v", name, err)
	}
	to := sessions.Rewrite{OldID: c.ID, NewID: otherID, OldCwd: c.Cwd, NewCwd: "/srv/fork", OldRoot: c.Cwd, NewRoot: "/srv/fork"}
	moved := s.rewrite(problems, s.Transcript, cut.Length, to)
	if bytes.Contains(moved, []byte(c.ID)) || bytes.Contains(moved, []byte(`"/tmp/dev/w/`)) {
		r.Errorf("%s: rewritten it still names its source", name)
	}
	kept, again := s.read(problems, s.Transcript[:cut.Length]), s.read(problems, moved)
	if again.ID != otherID || again.Cwd != to.NewCwd || len(again.Turns) != len(kept.Turns) || again.State != kept.State {
		r.Errorf("%s: rewritten it is session %q in %s, %s, with %d turns of %d", name, again.ID, again.Cwd, again.State, len(again.Turns), len(kept.Turns))
	}
	for _, problem := range problems.problems {
		r.Errorf("%s: %v", name, problem)
	}
	return c
}

func (r recording) prompts(name string, c sessions.Conversation, begin ...string) {
	r.Helper()
	got := prompts(c)
	for i, prompt := range got {
		if i >= len(begin) || !strings.HasPrefix(prompt, begin[i]) {
			r.Errorf("%s: prompt %d is %q", name, i+1, prompt)
		}
	}
	if len(got) != len(begin) {
		r.Errorf("%s: %d prompts, want %d", name, len(got), len(begin))
	}
}

// tools: in the first turn a file is written and a command run; in the second two
// commands, beside each other, of which one ends with an error, which not every
// client takes for a failure, and a call that fails; in the third none.
func (r recording) tools(talk sessions.Conversation) {
	r.Helper()
	for i, want := range []string{"notes.txt, pwd; cat /tmp/dev/w/notes.txt", "echo par, exit 3, none.txt failed", ""} {
		var got []string
		for _, tool := range talk.Turns[i].Tools {
			is := strings.TrimPrefix(tool.Target, "/tmp/dev/w/")
			if tool.Failed && is != "exit 3" {
				is += " failed"
			}
			if !tool.Done || tool.ID == "" || tool.Name == "" {
				is += " not told whole"
			}
			got = append(got, is)
		}
		if strings.Join(got, ", ") != want {
			r.Errorf("turn %d has the tools %q, want %q", i+1, got, want)
		}
	}
}

// outputs: what a tool gave back is kept where it is asked for, and not otherwise.
func (r recording) outputs(talk sessions.Conversation) {
	r.Helper()
	kept := r.Adapter.Follow()
	kept.(sessions.OutputKeeping).KeepOutput()
	kept.Feed(r.file("talk"))
	for i, turn := range kept.Conversation().Turns {
		for j, tool := range turn.Tools {
			if tool.Target == "echo par" && (!strings.Contains(tool.Output, "par") || tool.OutputStop <= 0 || tool.OutputStop > turn.Stop-turn.Start) {
				r.Errorf("turn %d: %s gave back %q, at %d", i+1, tool.Target, tool.Output, tool.OutputStop)
			}
			if talk.Turns[i].Tools[j].Output != "" {
				r.Errorf("turn %d: the output of %s is kept though nobody asked", i+1, tool.Target)
			}
		}
	}
}

// hooks: each event that was told is understood, and there is one of each kind that
// a turn with a tool has.
func (r recording) hooks() {
	r.Helper()
	seen := map[sessions.Kind]bool{}
	for payload := range bytes.Lines(r.file("hooks")) {
		e, err := r.Adapter.(sessions.Hooked).Event(r.Env, "", bytes.TrimSpace(payload))
		if err != nil && !errors.Is(err, sessions.ErrBadPayload) || err == nil && (e.SessionID == "" || e.Cwd != "/tmp/dev/w") {
			r.Errorf("the hook said %s, understood as %+v, %v", payload, e, err)
		}
		seen[e.Kind] = seen[e.Kind] || err == nil
	}
	for _, kind := range []sessions.Kind{sessions.KindSessionStart, sessions.KindPrompt, sessions.KindToolBefore, sessions.KindToolAfter, sessions.KindStop, sessions.KindSessionEnd} {
		if !seen[kind] && !(r.Endless && kind == sessions.KindSessionEnd) {
			r.Errorf("no hook told of %s", kind)
		}
	}
}
