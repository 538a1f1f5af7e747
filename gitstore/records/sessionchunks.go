package records

import (
	"bytes"
	"errors"
	"io"

	"github.com/umbra-vcs/umbra/gitstore"
)

const (
	// chunkSize is what a chunk grows to; appending 10 KiB re-stores one chunk
	// in 2 ms at 256 KiB, in 8 ms at 1 MiB.
	chunkSize = 256 << 10
	// longestLine is where a line that does not end is cut all the same.
	longestLine = 16 << 20
	// headSize is how much of the file's beginning is compared each time.
	headSize = chunkSize
	// mergeCount neighbouring chunks of one class are merged into one of the
	// next, so each byte is stored once for each class.
	mergeCount = 16
	// mostSmall of one class are merged in a turn too, so that a turn without end
	// does not make the record's trees grow without end.
	mostSmall = 16 * mergeCount
	// tailChunks is how many of the last chunks a merge concerns at least.
	tailChunks = 4 * mergeCount
)

// chunkClass sorts chunks by size; full ones, the last class, are left alone.
// They begin at half of chunkSize, since chunks end at line ends.
func chunkClass(size int64) int {
	switch {
	case size < 4<<10:
		return 0
	case size < 64<<10:
		return 1
	case size < chunkSize/2:
		return 2
	}
	return 3
}

// append stores [at, Length) as chunks: whole lines in runs of about chunkSize,
// then what is left of a torn line.
func (w *sessionWriter) append() error {
	r := io.NewSectionReader(w.src.File, w.at, w.src.Length-w.at)
	var rest []byte
	for w.at+int64(len(rest)) < w.src.Length {
		n := min(chunkSize, w.src.Length-w.at-int64(len(rest)))
		old := len(rest)
		rest = append(rest, make([]byte, n)...)
		if _, err := io.ReadFull(r, rest[old:]); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = ErrSessionChanged
			}
			return err
		}
		cut := lineEnd(rest)
		if cut == 0 && len(rest) >= longestLine {
			cut = len(rest)
		}
		if cut == 0 {
			continue
		}
		if err := w.put(rest[:cut]); err != nil {
			return err
		}
		rest = append([]byte(nil), rest[cut:]...)
	}
	if err := w.merge(); errors.Is(err, errRewritten) {
		// Then the believed bytes are not the file's: compare them all, keep
		// what agrees and store the rest anew.
		w.meta.Length, w.meta.Torn = w.at, 0
		if err := w.compareAll(w.at); err != nil {
			return err
		}
		return w.append()
	} else if err != nil {
		return err
	}
	w.meta.Torn = int64(len(rest))
	if len(rest) == 0 {
		return nil
	}
	return w.put(rest)
}

// put stores the next chunk.
func (w *sessionWriter) put(data []byte) error {
	id, err := w.batch.Blob(data)
	if err != nil {
		return err
	}
	c := chunk{offset: w.at, size: int64(len(data)), id: id}
	w.chunks = append(w.chunks, c)
	w.at += c.size
	return w.tree.PutEntry(c.path(), gitstore.ModeFile, id)
}

// merge joins the last chunks wherever enough of one class have come together,
// from the smallest class up. In a turn somebody waits for it: there only what
// merges into one chunk at most is done at once.
func (w *sessionWriter) merge() error {
	for class := range 3 {
		enough := mergeCount
		if class > 0 && !w.src.Idle {
			enough = mostSmall
		}
		from, count := len(w.chunks), 0
		for from > 0 && chunkClass(w.chunks[from-1].size) <= class {
			from--
			if chunkClass(w.chunks[from].size) == class {
				count++
			}
		}
		if count < enough {
			continue
		}
		if err := w.mergeFrom(from); err != nil {
			return err
		}
	}
	return nil
}

// errRewritten is returned by merge where the file differs from a chunk that was
// believed to be its content.
var errRewritten = errors.New("the session file was rewritten in the middle")

// mergeFrom replaces the chunks from there on by ones of chunkSize. Their bytes
// come from the file and are compared first.
func (w *sessionWriter) mergeFrom(from int) error {
	old := w.chunks[from:]
	start, end := old[0].offset, w.at
	data := make([]byte, end-start)
	if _, err := io.ReadFull(io.NewSectionReader(w.src.File, start, end-start), data); err != nil {
		return ErrSessionChanged
	}
	for _, c := range old {
		part := data[c.offset-start:][:c.size]
		if gitstore.HashFast(gitstore.TypeBlob, part) != c.id {
			return errRewritten
		}
	}
	for _, c := range old {
		if err := w.tree.Remove(c.path()); err != nil {
			return err
		}
	}
	w.chunks, w.at = w.chunks[:from:from], start
	for len(data) > 0 {
		cut := len(data)
		if cut > chunkSize {
			if cut = lineEnd(data[:chunkSize]); cut == 0 {
				if cut = bytes.IndexByte(data, '\n') + 1; cut == 0 {
					cut = len(data)
				}
			}
		}
		if err := w.put(data[:cut]); err != nil {
			return err
		}
		data = data[cut:]
	}
	return nil
}
