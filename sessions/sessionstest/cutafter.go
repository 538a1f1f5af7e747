package sessionstest

import (
	"bytes"
	"errors"
	"io"
	"regexp"

	"github.com/umbra-vcs/umbra/sessions"
)

// anID finds what may be the id of a message.
var anID = regexp.MustCompile(`"(?:uu)?id":"([^"\\]+)"`)

// checkCutAfter cuts after each message: at most where it ends, and there as if nothing had
// followed.
func (s Subject) checkCutAfter(r *report) {
	a, ok := as[sessions.Addressed](s.Adapter)
	if !ok {
		return
	}
	met, ends := map[string]bool{}, map[int64]bool{}
	for _, found := range anID.FindAllSubmatch(s.Transcript, -1) {
		id := string(found[1])
		if met[id] {
			continue
		}
		met[id] = true
		cut, end, err := a.CutAfter(bytes.NewReader(s.Transcript), id)
		if err != nil || end < 0 || end > int64(len(s.Transcript)) {
			r.bad("cut after %s, which ends at %d, with error %v", id, end, err)
			return
		}
		if end == 0 {
			continue
		}
		ends[end] = true
		want, err := s.Adapter.Cut(bytes.NewReader(s.Transcript[:end]))
		if err != nil && !errors.Is(err, sessions.ErrEmptyCut) || cut.Length != want.Length || cut.Events != want.Events {
			r.bad("cut after %s at %d of %d, and where nothing follows at %d (%v)", id, cut.Length, end, want.Length, err)
		}
	}
	if len(ends) < 2*len(s.Prompts) {
		r.bad("no ids of messages: %d of %d prompts and their answers have one", len(ends), len(s.Prompts))
	}
	if cut, end, err := a.CutAfter(bytes.NewReader(s.Transcript), "of-no-message"); cut.Length != 0 || end != 0 || err != nil {
		r.bad("after a message that is not there it is cut at %d of %d (%v)", cut.Length, end, err)
	}
}

func cutAfterFaults() []fault {
	broken := func(how func(sessions.Addressed, []byte, string) (sessions.Cut, int64)) func(whole, Subject) sessions.Adapter {
		return func(w whole, _ Subject) sessions.Adapter {
			if _, ok := as[sessions.Addressed](w); !ok {
				return nil
			}
			return cutsAfter{w, how}
		}
	}
	return []fault{
		{"and where nothing follows", Subject.checkCutAfter, broken(func(a sessions.Addressed, b []byte, id string) (sessions.Cut, int64) {
			cut, end, _ := a.CutAfter(bytes.NewReader(b), id)
			if end > 0 {
				cut = cutAt(b, len(b))
			}
			return cut, end
		})},
		{"no ids of messages", Subject.checkCutAfter, broken(func(sessions.Addressed, []byte, string) (sessions.Cut, int64) {
			return sessions.Cut{}, 0
		})},
		{"after a message that is not there", Subject.checkCutAfter, broken(func(a sessions.Addressed, b []byte, id string) (sessions.Cut, int64) {
			cut, end, _ := a.CutAfter(bytes.NewReader(b), id)
			if end == 0 {
				return cutAt(b, len(b)), 0
			}
			return cut, end
		})},
	}
}

type cutsAfter struct {
	whole
	how func(sessions.Addressed, []byte, string) (sessions.Cut, int64)
}

func (c cutsAfter) CutAfter(r io.Reader, id string) (sessions.Cut, int64, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return sessions.Cut{}, 0, err
	}
	a, _ := as[sessions.Addressed](c.whole)
	cut, end := c.how(a, b, id)
	return cut, end, nil
}
