package sessionstest

import (
	"bytes"
	"io"
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
)

func cutFaults() []fault {
	wrong := func(how func(whole, []byte, sessions.Cut) sessions.Cut) func(whole, Subject) sessions.Adapter {
		return func(w whole, _ Subject) sessions.Adapter { return miscuts{w, how} }
	}
	all := wrong(func(_ whole, b []byte, _ sessions.Cut) sessions.Cut { return cutAt(b, len(b)) })
	return []fault{
		{"a prompt without an answer is kept", Subject.checkCut, all},
		{"ends with a prompt", Subject.checkCut, all},
		{"a lone prompt is cut", Subject.checkCut, all},
		{"without its result", Subject.checkCut, func(w whole, s Subject) sessions.Adapter {
			if !s.leavesCallsOpen() {
				return nil
			}
			return miscuts{w, keepsCalls}
		}},
		{"lines, says", Subject.checkCut, wrong(func(_ whole, _ []byte, cut sessions.Cut) sessions.Cut {
			cut.Events++
			return cut
		})},
		{"with error", Subject.checkCut, func(w whole, _ Subject) sessions.Adapter { return cutsNothing{w} }},
		{"a cut of a cut", Subject.checkCut, wrong(func(_ whole, _ []byte, cut sessions.Cut) sessions.Cut {
			cut.Open = []sessions.Tool{{ID: "x"}}
			return cut
		})},
		{"bytes cut at", Subject.checkCut, wrong(func(_ whole, b []byte, cut sessions.Cut) sessions.Cut {
			if cut.Length < int64(len(b)) {
				return cutAt(b, int(cut.Length/2))
			}
			return cut
		})},
		{"on with error", Subject.checkCut, func(w whole, _ Subject) sessions.Adapter { return endless{w} }},
		{"on at", Subject.checkCut, func(w whole, _ Subject) sessions.Adapter { return guessesEnd{w} }},
	}
}

type (
	miscuts struct {
		whole
		how func(whole, []byte, sessions.Cut) sessions.Cut
	}
	cutsNothing struct{ whole }
	endless     struct{ whole }
	guessesEnd  struct{ whole }
)

func (a miscuts) Cut(r io.Reader) (sessions.Cut, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return sessions.Cut{}, err
	}
	cut, err := a.whole.Cut(bytes.NewReader(b))
	if cut = a.how(a.whole, b, cut); cut.Length > 0 {
		err = nil
	}
	return cut, err
}

func cutAt(b []byte, length int) sessions.Cut {
	return sessions.Cut{Length: int64(length), Events: bytes.Count(b[:length], []byte("\n"))}
}

// leavesCallsOpen reports whether a call can be seen before its result is there.
func (s Subject) leavesCallsOpen() bool {
	for end, c := range s.Transcript {
		if c != '\n' {
			continue
		}
		turns := s.read(&report{}, s.Transcript[:end+1]).Turns
		if n := len(turns); n > 0 && slices.ContainsFunc(turns[n-1].Tools, open) {
			return true
		}
	}
	return false
}

func open(t sessions.Tool) bool { return !t.Done && t.Agent == "" }

// keepsCalls cuts behind a call that has no result yet.
func keepsCalls(a whole, b []byte, cut sessions.Cut) sessions.Cut {
	c, err := sessions.ReadConversation(a, bytes.NewReader(b))
	if err != nil || len(c.Turns) == 0 {
		return cut
	}
	if slices.ContainsFunc(c.Turns[len(c.Turns)-1].Tools, open) {
		return cutAt(b, len(b))
	}
	return cut
}

func (a cutsNothing) Cut(r io.Reader) (sessions.Cut, error) {
	cut, err := a.whole.Cut(r)
	if cut.Length == 0 {
		err = nil
	}
	return cut, err
}

func (endless) CutEnd(io.Reader, int64) (sessions.Cut, bool, error) {
	return sessions.Cut{}, false, io.ErrUnexpectedEOF
}

func (guessesEnd) CutEnd(_ io.Reader, from int64) (sessions.Cut, bool, error) {
	return sessions.Cut{Length: from}, true, nil
}
