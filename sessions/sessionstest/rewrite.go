package sessionstest

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func (s Subject) rewrite(r *report, b []byte, length int64, to sessions.Rewrite) []byte {
	var out bytes.Buffer
	if err := s.Adapter.Rewrite(&out, bytes.NewReader(b), length, to); err != nil {
		r.bad("rewrite: %v", err)
	}
	return out.Bytes()
}

func (s Subject) checkRewrite(r *report) {
	const place = "/srv/forks of mine/ü"
	all := int64(len(s.Transcript))
	to := sessions.Rewrite{OldID: s.ID, NewID: otherID, OldCwd: s.Cwd, NewCwd: place, OldRoot: s.Cwd, NewRoot: place}
	back := sessions.Rewrite{OldID: otherID, NewID: s.ID, OldCwd: place, NewCwd: s.Cwd, OldRoot: place, NewRoot: s.Cwd}
	same := sessions.Rewrite{OldID: s.ID, NewID: s.ID, OldCwd: s.Cwd, NewCwd: s.Cwd, OldRoot: s.Cwd, NewRoot: s.Cwd}

	if got := s.rewrite(r, s.Transcript, all, same); !bytes.Equal(got, s.Transcript) {
		r.bad("a rewrite to the same place changes the session")
	}
	moved := s.rewrite(r, s.Transcript, all, to)
	if bytes.Count(moved, []byte("\n")) != bytes.Count(s.Transcript, []byte("\n")) {
		r.bad("a rewrite changes the number of lines")
	}
	if got := s.rewrite(r, moved, int64(len(moved)), back); !bytes.Equal(got, s.Transcript) {
		r.bad("rewritten there and back, the session differs")
	}
	c := s.read(r, moved)
	if c.ID != otherID || c.Cwd != place || len(c.Turns) != len(s.Prompts) || c.State != sessions.StateIdle {
		r.bad("a rewritten session is %s in %s with %d turns, %s", c.ID, c.Cwd, len(c.Turns), c.State)
	}
	for _, t := range c.Turns {
		for _, tool := range t.Tools {
			if strings.Contains(tool.Target, s.Cwd) {
				r.bad("a rewritten call of %s still goes to %s", tool.Name, tool.Target)
			}
		}
	}
	s.checkRenamed(r, to)
	torn := append(slices.Clone(s.Transcript), s.Unanswered[:len(s.Unanswered)/2]...)
	torn = torn[:bytes.LastIndexByte(torn, '\n')+7]
	if got := s.rewrite(r, torn, int64(len(torn)), same); len(got) == 0 || got[len(got)-1] != '\n' || !bytes.HasPrefix(torn, got) {
		r.bad("a torn last line is not dropped")
	}
	first := int64(bytes.IndexByte(s.Transcript, '\n') + 1)
	if got := s.rewrite(r, s.Transcript, first+5, same); !bytes.Equal(got, s.Transcript[:first]) {
		r.bad("a rewrite reads %d bytes, %d were asked for", len(got), first)
	}
}

// checkRenamed rewrites a session that calls its workspace by another name than
// its root's: by that of a symbolic link to it.
func (s Subject) checkRenamed(r *report, to sessions.Rewrite) {
	to.OldName, to.NewName, to.OldRoot = to.OldRoot, to.NewRoot, "/srv/what it is"
	renamed := s.rewrite(r, s.Transcript, int64(len(s.Transcript)), to)
	c := s.read(r, renamed)
	if c.Cwd != to.NewCwd {
		r.bad("a session of a link's directory is rewritten to %s", c.Cwd)
	}
	for _, t := range c.Turns {
		for _, text := range t.Texts {
			if strings.Contains(text.Text, s.Cwd) {
				r.bad("a session of a link's directory still says %q", text.Text)
			}
		}
		for _, tool := range t.Tools {
			if strings.Contains(tool.Target, s.Cwd) {
				r.bad("a rewritten call of %s still goes to the link's %s", tool.Name, tool.Target)
			}
		}
	}
}

func (s Subject) checkSides(r *report) {
	a, sided := as[sessions.Sided](s.Adapter)
	if !sided {
		return
	}
	to := sessions.Rewrite{OldID: s.ID, NewID: otherID, OldCwd: s.Cwd, NewCwd: s.Cwd + "/x"}
	open := func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("x")), nil }
	for _, name := range []string{"../x", "/etc/passwd", "a/../../x", ""} {
		if files, err := a.PlaceSides(s.Env, []string{name}, open, to); err == nil && len(files) > 0 {
			r.bad("a side file named %q is placed at %s", name, files[0].Path)
		}
	}
	sides, err := a.Sides(s.Env, sessions.Session{ID: otherID, Path: s.Adapter.Path(s.Env, s.Cwd, otherID), Cwd: s.Cwd})
	if err != nil || len(sides) > 0 {
		r.bad("a session without files has the side files %v, %v", sides, err)
	}
}

// Joined fails t where Rewrite does not find a path behind a flag and in a diff.
func Joined(t *testing.T, a sessions.Adapter) {
	t.Helper()
	const line = `{"type":"text","text":"cc -I/old/w/x\n+++ b/old/w/y\n+/old/w/z"}` + "\n"
	var out bytes.Buffer
	to := sessions.Rewrite{OldID: "a", NewID: "b", OldRoot: "/old/w", NewRoot: "/new"}
	if err := a.Rewrite(&out, strings.NewReader(line), int64(len(line)), to); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, strings.ReplaceAll(line, "/old/w", "/new")) {
		t.Errorf("%s became %s", line, got)
	}
}
