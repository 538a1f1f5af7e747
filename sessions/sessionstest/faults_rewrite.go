package sessionstest

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

func rewriteFaults() []fault {
	other := func(how func(*sessions.Rewrite)) func(whole, Subject) sessions.Adapter {
		return func(w whole, _ Subject) sessions.Adapter { return rewritesOther{w, how} }
	}
	edited := func(how func([]byte) []byte) func(whole, Subject) sessions.Adapter {
		return func(w whole, _ Subject) sessions.Adapter { return edits{w, how} }
	}
	return []fault{
		{"rewrite: ", Subject.checkRewrite, func(w whole, _ Subject) sessions.Adapter { return rewritesNone{w} }},
		{"to the same place changes the session", Subject.checkRewrite, edited(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(":"), []byte(": ")) })},
		{"changes the number of lines", Subject.checkRewrite, edited(func(b []byte) []byte { return append(b, '\n') })},
		{"there and back, the session differs", Subject.checkRewrite, edited(func(b []byte) []byte { return append(b, '\n') })},
		{"a rewritten session is", Subject.checkRewrite, other(func(to *sessions.Rewrite) { to.NewID = to.OldID })},
		{"a rewritten session is", Subject.checkRewrite, other(func(to *sessions.Rewrite) { to.NewCwd, to.NewRoot = to.OldCwd, to.OldRoot })},
		{"still goes to", Subject.checkRewrite, other(func(to *sessions.Rewrite) { to.NewRoot, to.NewName = to.OldRoot, to.OldName })},
		{"a session of a link's directory is rewritten to", Subject.checkRewrite, other(func(to *sessions.Rewrite) {
			if to.OldName != "" {
				to.NewCwd, to.OldName, to.NewName = to.OldCwd, "", ""
			}
		})},
		{"a session of a link's directory still says", Subject.checkRewrite, func(w whole, s Subject) sessions.Adapter {
			if !s.saysPlace() {
				return nil
			}
			return rewritesOther{w, forgetsName}
		}},
		{"still goes to the link's", Subject.checkRewrite, other(forgetsName)},
		{"a torn last line is not dropped", Subject.checkRewrite, func(w whole, _ Subject) sessions.Adapter { return copiesAll{w} }},
		{"bytes, ", Subject.checkRewrite, func(w whole, _ Subject) sessions.Adapter { return readsOn{w} }},
	}
}

// saysPlace reports whether something that was said names the workspace.
func (s Subject) saysPlace() bool {
	for _, t := range s.read(&report{}, s.Transcript).Turns {
		if slices.ContainsFunc(t.Texts, func(text sessions.Text) bool { return strings.Contains(text.Text, s.Cwd) }) {
			return true
		}
	}
	return false
}

func forgetsName(to *sessions.Rewrite) { to.OldName, to.NewName = "", "" }

type (
	rewritesNone  struct{ whole }
	rewritesOther struct {
		whole
		how func(*sessions.Rewrite)
	}
	edits struct {
		whole
		how func([]byte) []byte
	}
	copiesAll struct{ whole }
	readsOn   struct{ whole }
)

func (rewritesNone) Rewrite(io.Writer, io.Reader, int64, sessions.Rewrite) error {
	return io.ErrUnexpectedEOF
}

func (a rewritesOther) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	a.how(&to)
	return a.whole.Rewrite(w, r, length, to)
}

func (a edits) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	var out bytes.Buffer
	if err := a.whole.Rewrite(&out, r, length, to); err != nil {
		return err
	}
	_, err := w.Write(a.how(out.Bytes()))
	return err
}

func (a copiesAll) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	if to.OldID != to.NewID {
		return a.whole.Rewrite(w, r, length, to)
	}
	_, err := io.CopyN(w, r, length)
	return err
}

func (a readsOn) Rewrite(w io.Writer, r io.Reader, _ int64, to sessions.Rewrite) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return a.whole.Rewrite(w, bytes.NewReader(b), int64(len(b)), to)
}
