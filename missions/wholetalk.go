package missions

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/sessions"
)

// A conversation in which its user went back is in several files, of which each
// goes on from a part of another (sessions.Segmented). A record holds the newest as
// its session, byte for byte, and the others as side files; what is read, cut and
// copied is the whole.

// earlier are a conversation's earlier files, by what the later ones call them.
type earlier struct {
	of   sessions.Segmented
	open map[string]func() (io.ReadCloser, error)
}

// add takes in a side file, if it is an earlier file of the conversation.
func (e *earlier) add(side string, open func() (io.ReadCloser, error)) {
	segment := e.of.Segment(side)
	if segment == "" {
		return
	}
	if e.open == nil {
		e.open = map[string]func() (io.ReadCloser, error){}
	}
	e.open[segment] = open
}

// join puts what a conversation's newest file goes on from before it. Of every file
// only the first line is read, until the whole is.
func (e earlier) join(j *joined) error {
	if len(e.open) == 0 {
		return nil
	}
	var parts []io.Reader
	for rest := j.Reader; ; {
		lines := bufio.NewReaderSize(rest, 64<<10)
		first, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		segment, length := e.of.Base(first)
		open := e.open[segment]
		if open == nil {
			parts = append(parts, io.MultiReader(bytes.NewReader(first), lines))
			break
		}
		delete(e.open, segment) // files that name each other in a ring come to an end
		file, err := open()
		if err != nil {
			return err
		}
		j.closers = append(j.closers, file)
		j.shift += length - int64(len(first))
		parts, rest = append(parts, lines), io.LimitReader(file, length)
	}
	slices.Reverse(parts)
	if n := len(parts) - 1; n > 0 {
		j.before = io.MultiReader(parts[:n]...)
	}
	j.Reader = io.MultiReader(parts...)
	return nil
}

// joinRecorded puts before a record's session what it goes on from.
func (l *Local) joinRecorded(p *project, record gitstore.ID, agent string, j *joined) error {
	of, ok := l.adapter(agent).(sessions.Segmented)
	if !ok {
		return nil
	}
	sides, err := p.store.SessionSides(record)
	if err != nil {
		return err
	}
	e := earlier{of: of}
	for _, side := range sides {
		e.add(side.Name, func() (io.ReadCloser, error) {
			r, _, err := p.store.BlobReader(side.ID)
			return r, err
		})
	}
	return e.join(j)
}

// shiftOf is by how much what a record holds as its session stands later in the
// whole conversation.
func (l *Local) shiftOf(p *project, plan *talkPlan) (int64, error) {
	if _, ok := l.adapter(plan.source.Agent).(sessions.Segmented); !ok {
		return 0, nil
	}
	j, _, err := l.sessionBeside(p, plan.record, "")
	if err != nil {
		return 0, err
	}
	return j.shift, j.Close()
}

// openTalk opens the whole conversation as the agent's own files hold it now, and
// says how long the newest of them is. fs.ErrNotExist if there is none.
func (l *Local) openTalk(m *loaded, a sessions.Adapter) (*joined, int64, error) {
	m.seekSession(a)
	f, info, err := disk.OpenRegular(m.bind.Session)
	if err != nil {
		return nil, 0, err
	}
	j := &joined{Reader: f, closers: []io.Closer{f}}
	if of, ok := a.(sessions.Segmented); ok {
		err = joinPresent(m, a, earlier{of: of}, j)
	}
	if err != nil {
		return nil, 0, errors.Join(err, j.Close())
	}
	return j, info.Size(), nil
}

// joinPresent puts before the agent's newest file what that goes on from.
func joinPresent(m *loaded, a sessions.Adapter, e earlier, j *joined) error {
	sides, err := m.sidesNow(a)
	if err != nil {
		return err
	}
	for _, side := range sides {
		e.add(side.Name, func() (io.ReadCloser, error) {
			f, _, err := disk.OpenRegular(side.Path)
			return f, err
		})
	}
	return e.join(j)
}

// session is the mission's, for its adapter.
func (m *loaded) session() sessions.Session {
	return sessions.Session{ID: m.stored.Session, Path: m.bind.Session, Cwd: m.cwd()}
}

// linesBefore counts the lines of a mission's conversation that are in earlier files
// than its newest, less the one by which that names them.
func (l *Local) linesBefore(m *loaded) (lineCounter, error) {
	var lines lineCounter
	err := l.readBefore(m, &lines)
	return max(0, lines-1), err
}

// readBefore reads what the mission's conversation has in earlier files than its
// newest, if anything.
func (l *Local) readBefore(m *loaded, w io.Writer) error {
	a := l.adapter(m.Agent)
	if _, ok := a.(sessions.Segmented); !ok {
		return nil
	}
	j, _, err := l.openTalk(m, a)
	if err != nil {
		return err
	}
	defer j.Close()
	if j.before != nil {
		_, err = io.Copy(w, j.before)
	}
	return err
}
