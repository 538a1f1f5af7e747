package conversations

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// A conversation in which its user went back is in several files, of which each
// goes on from a part of another (sessions.Segmented). A record holds the newest as
// its session, byte for byte, and the others as side files; what is read, cut and
// copied is the whole.

// earlierFiles are a conversation's earlier files, by what the later ones call them.
type earlierFiles struct {
	adapter sessions.Segmented
	openers map[string]func() (io.ReadCloser, error)
}

// add takes in a side file, if it is an earlier file of the conversation.
func (e *earlierFiles) add(side string, open func() (io.ReadCloser, error)) {
	segment := e.adapter.Segment(side)
	if segment == "" {
		return
	}
	if e.openers == nil {
		e.openers = map[string]func() (io.ReadCloser, error){}
	}
	e.openers[segment] = open
}

// join puts what a conversation's newest file goes on from before it. Of every file
// only the first line is read, until the whole is.
func (e earlierFiles) join(j *conversationReader) error {
	if len(e.openers) == 0 {
		return nil
	}
	var parts []io.Reader
	for rest := j.Reader; ; {
		lines := bufio.NewReaderSize(rest, 64<<10)
		first, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		segment, length := e.adapter.Base(first)
		open := e.openers[segment]
		if open == nil {
			parts = append(parts, io.MultiReader(bytes.NewReader(first), lines))
			break
		}
		delete(e.openers, segment) // files that name each other in a ring come to an end
		file, err := open()
		if err != nil {
			return err
		}
		j.closers = append(j.closers, file)
		j.offsetInWhole += length - int64(len(first))
		parts, rest = append(parts, lines), io.LimitReader(file, length)
	}
	slices.Reverse(parts)
	if n := len(parts) - 1; n > 0 {
		j.earlierPart = io.MultiReader(parts[:n]...)
	}
	j.Reader = io.MultiReader(parts...)
	return nil
}

// joinEarlierRecorded puts before a record's session what it goes on from.
func (l *Library) joinEarlierRecorded(p *projects.Project, record gitstore.ID, agent string, j *conversationReader) error {
	of, ok := l.Adapter(agent).(sessions.Segmented)
	if !ok {
		return nil
	}
	sides, err := records.SessionSides(p.Store, record)
	if err != nil {
		return err
	}
	e := earlierFiles{adapter: of}
	for _, side := range sides {
		e.add(side.Name, func() (io.ReadCloser, error) {
			r, _, err := p.Store.BlobReader(side.ID)
			return r, err
		})
	}
	return e.join(j)
}

// offsetInConversation is by how much what a record holds as its session stands later in the
// whole conversation.
func (l *Library) offsetInConversation(p *projects.Project, plan *ConversationPlan) (int64, error) {
	if _, ok := l.Adapter(plan.SourceMeta.Agent).(sessions.Segmented); !ok {
		return 0, nil
	}
	j, _, err := l.openConversationWithFile(p, plan.Record, "")
	if err != nil {
		return 0, err
	}
	return j.offsetInWhole, j.Close()
}

// openPresentConversation opens the whole conversation as the agent's own files hold it now, and
// says how long the newest of them is. fs.ErrNotExist if there is none.
func (l *Library) openPresentConversation(m *projects.Mission, a sessions.Adapter) (*conversationReader, int64, error) {
	FindSessionFile(m, a)
	f, info, err := disk.OpenRegular(m.Binding.SessionPath)
	if err != nil {
		return nil, 0, err
	}
	j := &conversationReader{Reader: f, closers: []io.Closer{f}}
	if of, ok := a.(sessions.Segmented); ok {
		err = joinEarlierPresent(m, a, earlierFiles{adapter: of}, j)
	}
	if err != nil {
		return nil, 0, errors.Join(err, j.Close())
	}
	return j, info.Size(), nil
}

// joinEarlierPresent puts before the agent's newest file what that goes on from.
func joinEarlierPresent(m *projects.Mission, a sessions.Adapter, e earlierFiles, j *conversationReader) error {
	sides, err := SidesNow(m, a)
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

// countEarlierLines counts the lines of a mission's conversation that are in earlier files
// than its newest, less the one by which that names them.
func (l *Library) countEarlierLines(m *projects.Mission) (lineCounter, error) {
	var lines lineCounter
	err := l.readEarlierFiles(m, &lines)
	return max(0, lines-1), err
}

// readEarlierFiles reads what the mission's conversation has in earlier files than its
// newest, if anything.
func (l *Library) readEarlierFiles(m *projects.Mission, w io.Writer) error {
	a := l.Adapter(m.Agent)
	if _, ok := a.(sessions.Segmented); !ok {
		return nil
	}
	j, _, err := l.openPresentConversation(m, a)
	if err != nil {
		return err
	}
	defer j.Close()
	if j.earlierPart != nil {
		_, err = io.Copy(w, j.earlierPart)
	}
	return err
}
