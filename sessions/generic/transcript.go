package generic

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/umbra-vcs/umbra/sessions"
)

// Follow implements sessions.Adapter.
func (Adapter) Follow() sessions.Follower { return &follower{} }

type follower struct{ lines, length, torn int64 }

func (f *follower) Feed(p []byte) {
	f.lines += int64(bytes.Count(p, []byte("\n")))
	f.length += int64(len(p))
	if end := bytes.LastIndexByte(p, '\n'); end >= 0 {
		f.torn = int64(len(p) - end - 1)
	} else {
		f.torn += int64(len(p))
	}
}

// Write is Feed.
func (f *follower) Write(p []byte) (int, error) {
	f.Feed(p)
	return len(p), nil
}

// Conversation is idle at its end: what its tool does, hooks tell.
func (f *follower) Conversation() sessions.Conversation {
	c := sessions.Conversation{Events: int(f.lines), Length: f.length - f.torn, Torn: f.torn > 0, State: sessions.StateIdle}
	if f.length == 0 {
		c.State = sessions.StateEmpty
	}
	return c
}

// Cut keeps all that was there: a moment's bytes are those of its snapshot.
func (a Adapter) Cut(r io.Reader) (sessions.Cut, error) {
	var f follower
	n, err := io.Copy(&f, r)
	switch {
	case err != nil:
		return sessions.Cut{}, fmt.Errorf("read session: %w", err)
	case n == 0:
		return sessions.Cut{}, sessions.ErrEmptyCut
	}
	return sessions.Cut{Length: n, Events: int(f.lines)}, nil
}

// CutEnd implements sessions.Adapter.
func (a Adapter) CutEnd(r io.Reader, from int64) (sessions.Cut, bool, error) {
	cut, err := a.Cut(r)
	if errors.Is(err, sessions.ErrEmptyCut) {
		return sessions.Cut{}, false, nil
	}
	cut.Length += from
	return cut, err == nil, err
}

// rewriteVersion is that of a plain copy.
const rewriteVersion = 1

// RewriteVersion implements sessions.Adapter.
func (Adapter) RewriteVersion() int { return rewriteVersion }

// Rewrite copies: of bytes whose meaning is not known none is changed. So paths in
// them go on naming the workspace they were written in.
func (Adapter) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	if err := to.Known(rewriteVersion); err != nil {
		return err
	}
	if _, err := io.Copy(w, io.LimitReader(r, length)); err != nil {
		return fmt.Errorf("copy session: %w", err)
	}
	return nil
}
