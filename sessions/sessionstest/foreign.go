package sessionstest

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

// checkForeign is what is left of the contract where a conversation is bytes that
// nobody can read: all of them are kept, and none is changed.
func (s Subject) checkForeign(r *report, a sessions.Foreign) {
	if a.Name() == "" || a.Runs(s.Command) || a.Runs(nil) {
		r.bad("%q: takes %q for its own", a.Name(), s.Command)
	}
	if path := a.Path(s.Env, s.Cwd, otherID); !strings.HasPrefix(path, a.Root(s.Env)+"/") || path == a.Path(s.Env, s.Cwd, s.ID) {
		r.bad("path %s of a session is not its own, or outside the store", path)
	}
	if _, err := a.Open(a.Path(s.Env, s.Cwd, otherID)); !errors.Is(err, sessions.ErrNoSession) {
		r.bad("opening no session: %v", err)
	}
	for end := range s.Transcript {
		s.checkBytes(r, s.Transcript[:end+1])
	}
	if _, err := a.Cut(strings.NewReader("")); !errors.Is(err, sessions.ErrEmptyCut) {
		r.bad("nothing is cut with error %v", err)
	}
	if _, installs := as[sessions.Installing](s.Adapter); installs {
		r.bad("hooks are installed for a tool that calls them by itself")
	}
}

func (s Subject) checkBytes(r *report, b []byte) {
	size := int64(len(b))
	cut, err := s.Adapter.Cut(bytes.NewReader(b))
	if err != nil || cut.Length != size || cut.Events != bytes.Count(b, []byte("\n")) || cut.Dropped != 0 {
		r.bad("%d bytes are cut at %+v, %v", size, cut, err)
	}
	if a, cuts := as[sessions.EndCutting](s.Adapter); cuts {
		if end, told, err := a.CutEnd(bytes.NewReader(b[size/2:]), size/2); err != nil || !told || end.Length != size {
			r.bad("%d bytes are cut from their end at %+v, told %t, %v", size, end, told, err)
		}
	}
	to := sessions.Rewrite{OldID: s.ID, NewID: otherID, OldCwd: s.Cwd, NewCwd: "/x", OldRoot: s.Cwd, NewRoot: "/x"}
	for version := range s.Adapter.RewriteVersion() + 1 {
		to.Version = version
		if got := s.rewrite(r, s.Transcript, size, to); !bytes.Equal(got, b) {
			r.bad("%d bytes are rewritten to %q", size, got)
		}
	}
	for _, to.Version = range []int{-1, s.Adapter.RewriteVersion() + 1} {
		if err := s.Adapter.Rewrite(io.Discard, bytes.NewReader(b), size, to); !errors.Is(err, sessions.ErrRewriteVersion) {
			r.bad("rewritten as by version %d: %v", to.Version, err)
		}
	}
	if c := s.read(r, b); c.Length != int64(bytes.LastIndexByte(b, '\n')+1) || c.Torn == bytes.HasSuffix(b, []byte("\n")) || len(c.Turns) > 0 {
		r.bad("%d bytes are read as %+v", size, c)
	}
}

// checkTold is a launch of a tool that has said how it is resumed, or has not.
func (s Subject) checkTold(r *report, a sessions.Foreign) {
	how := []string{"/opt/tool", "--from={transcript}", "{session}", "{}"}
	o := sessions.Launch{Command: s.Command, SessionID: s.ID, Resume: true, Resumption: sessions.Resumption{How: how, Transcript: "/c o/py"}}
	want := []string{"/opt/tool", "--from=/c o/py", s.ID, "{}"}
	if cmd, err := a.Launch(o); err != nil || cmd.SessionID != s.ID || !slices.Equal(cmd.Argv, want) {
		r.bad("a tool is resumed by %q in session %q, %v", cmd.Argv, cmd.SessionID, err)
	}
	for _, how := range [][]string{nil, {}, {"/opt/tool", "{session}"}} {
		o.Resumption.How = how
		if cmd, err := a.Launch(o); a.Resumable(how) || err != nil || cmd.SessionID != "" || !slices.Equal(cmd.Argv, s.Command) {
			r.bad("a tool that is resumed by %q is launched by %q, %v", how, cmd.Argv, err)
		}
	}
	o.Resumption.How, o.Fresh = []string{"x", "{transcript}"}, true
	if cmd, err := a.Launch(o); err != nil || !slices.Equal(cmd.Argv, s.Command) {
		r.bad("a command that was given for this launch became %q, %v", cmd.Argv, err)
	}
}
