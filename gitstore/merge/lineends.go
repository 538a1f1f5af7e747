package merge

import (
	"bytes"
	"io"
	"path"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/records"
)

// LineEnd is by what the lines of a text end.
type LineEnd string

// The ends of lines. One is not known where there is no line, or both are.
const (
	EndUnknown LineEnd = ""
	EndLF      LineEnd = "LF"
	EndCRLF    LineEnd = "CRLF"
)

// LineEndOf looks at all lines of a text.
func LineEndOf(text []byte) LineEnd {
	all, carried := bytes.Count(text, []byte("\n")), bytes.Count(text, []byte("\r\n"))
	switch {
	case all == 0 || carried != 0 && carried != all:
		return EndUnknown
	case carried == 0:
		return EndLF
	}
	return EndCRLF
}

// as gives a text with these line ends.
func (e LineEnd) as(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if e == EndCRLF {
		text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	}
	return text
}

// Texts are what a merge has of one file.
type Texts struct{ Base, Ours, Theirs []byte }

// Align gives texts of which each side has changed the base the same line ends, where one has
// written the file with others than before, as an agent or an editor may: else each line would
// conflict. These are the ends of ours. They are those of theirs if it has changed nothing
// else, which would be lost, or if it decides. Texts that are no such are as they were.
func (t Texts) Align(theirsDecides bool) Texts {
	ours, theirs := LineEndOf(t.Ours), LineEndOf(t.Theirs)
	isText := func(text []byte) bool { return !bytes.Contains(text[:min(len(text), mostLooked)], []byte{0}) }
	switch {
	case ours == EndUnknown || theirs == EndUnknown, ours == theirs && (len(t.Base) == 0 || LineEndOf(t.Base) == ours),
		bytes.Equal(t.Ours, t.Base), bytes.Equal(t.Theirs, t.Base), !isText(t.Base), !isText(t.Ours), !isText(t.Theirs):
		return t
	}
	base := EndLF.as(t.Base)
	changedEndsAlone := bytes.Equal(EndLF.as(t.Theirs), base) && !bytes.Equal(EndLF.as(t.Ours), base)
	to := ours
	if theirsDecides || changedEndsAlone {
		to = theirs
	}
	return Texts{Base: to.as(t.Base), Ours: to.as(t.Ours), Theirs: to.as(t.Theirs)}
}

// mostLooked is how much of a file is looked at for what no text has, as git does.
const mostLooked = 8000

// mostAligned is how large a file may be whose line ends are set aside.
const mostAligned = 16 << 20

// alignLineEnds gives the sides the same line ends in files that each has changed.
func (m *merger) alignLineEnds() error {
	ours, err := m.changesTo(m.sides.Ours)
	if err != nil {
		return err
	}
	theirs, err := m.changesTo(m.sides.Theirs)
	if err != nil {
		return err
	}
	decides := theirs.haveAttributes() && !ours.haveAttributes()
	batch := m.store.NewBatch()
	defer batch.Discard()
	sides := [3]*gitstore.ID{&m.sides.Base, &m.sides.Ours, &m.sides.Theirs}
	trees := [3]*records.Tree{}
	for i, side := range sides {
		trees[i] = records.NewTree(m.store, *side)
	}
	changed := false
	for at, their := range theirs {
		mine, both := ours[at]
		entries := [3]gitstore.TreeEntry{mine.From, mine.To, their.To}
		if !both || mine.To.ID == their.To.ID {
			continue
		}
		texts, ok, err := m.readTexts(entries)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		aligned := texts.Align(decides)
		was, is := [3][]byte{texts.Base, texts.Ours, texts.Theirs}, [3][]byte{aligned.Base, aligned.Ours, aligned.Theirs}
		for i, e := range entries {
			if bytes.Equal(was[i], is[i]) {
				continue
			}
			id, err := batch.Blob(is[i])
			if err == nil {
				err = trees[i].PutEntry(at, e.Mode, id)
			}
			if err != nil {
				return err
			}
			changed = true
		}
	}
	if !changed {
		return nil
	}
	for i, side := range sides {
		if *side, err = trees[i].Write(batch); err != nil {
			return err
		}
	}
	return batch.Flush(m.ctx)
}

// haveAttributes reports whether a side has changed what Git is told of files, line ends among
// that: it means them.
func (c changes) haveAttributes() bool {
	for at := range c {
		if path.Base(at) == ".gitattributes" {
			return true
		}
	}
	return false
}

// readTexts reads what may be texts: the base may be nothing. ok is false where one is no
// regular file, or too large.
func (m *merger) readTexts(entries [3]gitstore.TreeEntry) (t Texts, ok bool, err error) {
	for i, text := range []*[]byte{&t.Base, &t.Ours, &t.Theirs} {
		e := entries[i]
		if e.ID.IsZero() && i == 0 {
			continue
		}
		if !isRegular(e) {
			return t, false, nil
		}
		if *text, ok, err = m.readBlob(e.ID); err != nil || !ok {
			return t, false, err
		}
	}
	return t, true, nil
}

func (m *merger) readBlob(id gitstore.ID) (text []byte, ok bool, err error) {
	content, size, err := m.store.BlobReader(id)
	if err != nil {
		return nil, false, err
	}
	defer content.Close()
	if size > mostAligned {
		return nil, false, nil
	}
	text, err = io.ReadAll(content)
	return text, err == nil, err
}
