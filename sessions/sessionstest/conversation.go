package sessionstest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

const otherID = "0f0e0d0c-0b0a-4908-8706-050403020100"

func (s Subject) checkIdentity(r *report) {
	a := s.Adapter
	if a.Name() == "" || !a.Runs(s.Command) || a.Runs(nil) || a.Runs([]string{"/bin/some-other-program"}) {
		r.bad("%q: takes %q for its own or another's", a.Name(), s.Command)
	}
	one := a.Path(s.Env, s.Cwd, s.ID)
	if !strings.HasPrefix(one, a.Root(s.Env)) || one == a.Path(s.Env, s.Cwd, otherID) || one != a.Path(s.Env, s.Cwd, s.ID) {
		r.bad("path %s of a session is not its own, or outside the store", one)
	}
	if _, err := a.Open(a.Path(s.Env, s.Cwd, otherID)); !errors.Is(err, sessions.ErrNoSession) {
		r.bad("opening no session: %v", err)
	}
	if a, registers := as[sessions.Registering](a); registers {
		if pid, ok := a.Live(s.Env, otherID); ok {
			r.bad("process %d has no session open", pid)
		}
	}
}

// checkPlace begins a session, as a fork does: it is put where Path says, and
// found there from then on.
func (s Subject) checkPlace(r *report) {
	a, at := s.Adapter, time.Date(2026, 1, 31, 23, 59, 58, 7e6, time.UTC)
	id := a.NewID(otherID, at)
	if id == "" || id == a.NewID("11111111-2222-4333-8444-555555555555", at) {
		r.bad("two new sessions have the id %q", id)
	}
	path := a.Path(s.Env, s.Cwd, id)
	text := s.rewrite(r, s.Transcript, int64(len(s.Transcript)), sessions.Rewrite{
		OldID: s.ID, NewID: id, OldCwd: s.Cwd, NewCwd: s.Cwd, OldRoot: s.Cwd, NewRoot: s.Cwd, Now: at,
	})
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, text, 0o600)); err != nil {
		r.bad("place a session: %v", err)
		return
	}
	if again := a.Path(s.Env, s.Cwd, id); again != path {
		r.bad("a session put at %s is looked for at %s", path, again)
	}
	if one, err := a.Open(path); err != nil || one.ID != id || one.Cwd != s.Cwd || one.Path != path || one.Size != int64(len(text)) {
		r.bad("session %s at %s is opened as %+v, %v", id, path, one, err)
	}
	if err := os.Remove(path); err != nil {
		r.bad("take it away: %v", err)
	}
}

func (s Subject) read(r *report, b []byte) sessions.Conversation {
	c, err := sessions.ReadConversation(s.Adapter, bytes.NewReader(b))
	if err != nil {
		r.bad("read: %v", err)
	}
	return c
}

func prompts(c sessions.Conversation) []string {
	var out []string
	for _, t := range c.Turns {
		out = append(out, t.Prompt)
	}
	return out
}

func (s Subject) checkRead(r *report) {
	whole := s.read(r, s.Transcript)
	if whole.ID != s.ID || whole.Cwd != s.Cwd || !slices.Equal(prompts(whole), s.Prompts) {
		r.bad("read session %s in %s with prompts %q", whole.ID, whole.Cwd, prompts(whole))
	}
	if whole.State != sessions.StateIdle || whole.Torn || whole.Bad != 0 || whole.Length != int64(len(s.Transcript)) {
		r.bad("a finished conversation is %s, torn %t, %d bad lines, length %d of %d", whole.State, whole.Torn, whole.Bad, whole.Length, len(s.Transcript))
	}
	for i, t := range whole.Turns {
		if !t.Done || t.Start >= t.Stop || t.Stop > whole.Length || i > 0 && t.Start < whole.Turns[i-1].Stop {
			r.bad("turn %d is [%d, %d), done %t", i+1, t.Start, t.Stop, t.Done)
		}
	}
	waiting := s.read(r, slices.Concat(s.Transcript, s.Unanswered))
	if waiting.State != sessions.StateRunning || len(waiting.Turns) != len(s.Prompts)+1 || waiting.Turns[len(s.Prompts)].Done {
		r.bad("a prompt without an answer leaves it %s with %d turns", waiting.State, len(waiting.Turns))
	}
	torn := s.read(r, append(slices.Clone(s.Transcript), s.Unanswered[:len(s.Unanswered)/2]...))
	if !torn.Torn || torn.Length >= int64(len(s.Transcript)+len(s.Unanswered)/2) {
		r.bad("a torn line is not seen: length %d", torn.Length)
	}
	foreign := slices.Concat([]byte("no line of the agent's\n"), s.Transcript, []byte(`{"half`+"\n"), bytes.Repeat([]byte("x"), 2<<20), []byte("\n"))
	if c := s.read(r, foreign); c.Bad != 3 || !slices.Equal(prompts(c), s.Prompts) || c.State != sessions.StateIdle {
		r.bad("with three foreign lines: %d bad, %s, prompts %q", c.Bad, c.State, prompts(c))
	}
	if c := s.read(r, nil); c.State != sessions.StateEmpty || len(c.Turns) > 0 {
		r.bad("nothing reads as %+v", c)
	}
}

func (s Subject) checkFollow(r *report) {
	want := s.read(r, s.Transcript)
	for _, size := range []int{13, 1 << 16} {
		f := s.Adapter.Follow()
		for at := 0; at < len(s.Transcript); at += size {
			f.Feed(s.Transcript[at:min(at+size, len(s.Transcript))])
		}
		if got := f.Conversation(); !reflect.DeepEqual(got, want) {
			r.bad("followed in pieces of %d, the conversation differs", size)
		}
	}
}

// checkResumed reads on from the beginning of each turn, as whoever has counted
// those before does.
func (s Subject) checkResumed(r *report) {
	if _, replaces := as[sessions.Replacing](s.Adapter); replaces {
		return
	}
	whole := s.read(r, s.Transcript)
	for i, begin := range whole.Turns {
		f := s.Adapter.Follow()
		f.Feed(s.Transcript[begin.Start:])
		got := f.Conversation().Turns
		want := slices.Clone(whole.Turns[i:])
		for j := range want {
			want[j].Start, want[j].Stop = want[j].Start-begin.Start, want[j].Stop-begin.Start
		}
		if !reflect.DeepEqual(got, want) {
			r.bad("followed from turn %d on, its turns differ: %+v, want %+v", i+1, got, want)
		}
	}
}

func (s Subject) checkCut(r *report) {
	var last int64
	end := 0
	for _, line := range bytes.SplitAfter(slices.Concat(s.Transcript, s.Unanswered), []byte("\n")) {
		end += len(line)
		b := slices.Concat(s.Transcript, s.Unanswered)[:end]
		cut, err := s.Adapter.Cut(bytes.NewReader(b))
		if (cut.Length == 0) != errors.Is(err, sessions.ErrEmptyCut) || err != nil && cut.Length > 0 {
			r.bad("cut at %d with error %v", cut.Length, err)
		}
		switch {
		case cut.Length < last || cut.Length > int64(end):
			r.bad("with %d bytes cut at %d, before at %d", end, cut.Length, last)
			return
		case cut.Length > last:
			s.checkKept(r, b[:cut.Length], cut)
		}
		s.checkCutEnd(r, b, cut)
		last = cut.Length
	}
	if last == 0 || last > int64(len(s.Transcript)) {
		r.bad("a prompt without an answer is kept: cut at %d of %d", last, len(s.Transcript))
	}
	if _, err := s.Adapter.Cut(bytes.NewReader(s.Unanswered)); !errors.Is(err, sessions.ErrEmptyCut) {
		r.bad("a lone prompt is cut with error %v", err)
	}
}

// checkCutEnd compares a cut with those found from the conversation's end alone.
func (s Subject) checkCutEnd(r *report, b []byte, whole sessions.Cut) {
	a, cuts := as[sessions.EndCutting](s.Adapter)
	if !cuts {
		return
	}
	for from := 0; from < len(b); from += max(1, len(b)/4) {
		cut, told, err := a.CutEnd(bytes.NewReader(b[from:]), int64(from))
		if err != nil {
			r.bad("cut from %d on with error %v", from, err)
		}
		if told && (cut.Length != whole.Length || cut.Dropped != whole.Dropped || !reflect.DeepEqual(cut.Open, whole.Open)) {
			r.bad("cut from %d on at %d, from the beginning at %d", from, cut.Length, whole.Length)
		}
	}
}

// checkKept judges the bytes that a cut keeps.
func (s Subject) checkKept(r *report, kept []byte, cut sessions.Cut) {
	if kept[len(kept)-1] != '\n' || cut.Events != bytes.Count(kept, []byte("\n")) {
		r.bad("a cut at %d keeps %d lines, says %d", len(kept), bytes.Count(kept, []byte("\n")), cut.Events)
	}
	c := s.read(r, kept)
	for _, t := range c.Turns {
		for _, tool := range t.Tools {
			if open(tool) {
				r.bad("a cut at %d keeps the call %s without its result", len(kept), tool.ID)
			}
		}
	}
	if n := len(c.Turns); n == 0 || len(c.Turns[n-1].Tools) == 0 && len(c.Turns[n-1].Texts) == 0 {
		r.bad("a cut at %d ends with a prompt", len(kept))
	}
	if again, err := s.Adapter.Cut(bytes.NewReader(kept)); err != nil || again.Length != int64(len(kept)) || len(again.Open) > 0 {
		r.bad("a cut of a cut: %+v, %v", again, err)
	}
}
