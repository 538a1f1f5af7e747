package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// Where session content stands in a record.
const (
	sessionDir   = "session"
	sessionMeta  = sessionDir + "/meta.json"
	sessionParts = sessionDir + "/chunks"
	sessionSides = sessionDir + "/side"
)

// SessionMeta is session/meta.json of a record: which conversation it holds. The
// content stands in chunks named by their offset, session/chunks/<offset / 16
// MiB>/<rest>, in hexadecimal, each ending at a line end but a torn tail.
type SessionMeta struct {
	Agent     string `json:"agent"`
	SessionID string `json:"session_id"`
	// Generation begins at 1 and grows whenever the agent rewrote its file.
	Generation int `json:"generation"`
	// Length is how many bytes the file held when it was read; Torn how many
	// of them follow the last line end.
	Length int64 `json:"length"`
	Torn   int64 `json:"torn,omitempty"`
	// HeadLength and Head are the size and blob id of the file's first bytes,
	// which tell an appended file from a rewritten one.
	HeadLength int64       `json:"head_length"`
	Head       gitstore.ID `json:"head"`
	// Inherited is set in a fork: the part that is not in the chunks.
	Inherited *Inherited `json:"inherited,omitempty"`
}

// SessionSource is an agent's conversation file to be recorded.
type SessionSource struct {
	Agent     string
	SessionID string
	// File gives the bytes; [0, Length) is recorded, torn tail included.
	File   io.ReaderAt
	Length int64
	// SameFile says that the file is, by device and inode, the one recorded
	// before. Only then is "appended only" believed of its first and its last
	// stored bytes; otherwise the whole file is compared.
	SameFile bool
	// Idle says that the agent waits for its user: small chunks are merged where
	// there are enough of them. In a turn, most of them are left for later.
	Idle bool
	// Inherited marks the first record of a copy that Umbra has written: the file
	// begins with this part, which is not read again.
	Inherited *Inherited
}

// ErrSessionChanged is returned when the conversation file became shorter while
// it was read.
var ErrSessionChanged = errors.New("the session file changed while it was read")

// AppendSession brings the session of a record's tree up to src: the bytes that
// are new become chunks, of which neighbouring small ones are merged now and
// then, so that a conversation costs what was appended and each byte is stored a
// few times at most. A rewritten file begins a new generation, which keeps the
// chunks that still agree at its beginning. Another session id replaces the
// content. New objects go to b. It returns the new meta, which the tree holds.
func (t *Tree) AppendSession(b *shadow.Batch, src SessionSource) (SessionMeta, error) {
	prev, err := t.SessionMeta()
	if err != nil && !errors.Is(err, gitstore.ErrNoEntry) {
		return SessionMeta{}, err
	}
	w := &sessionWriter{tree: t, batch: b, src: src, meta: prev}
	if err != nil || prev.Agent != src.Agent || prev.SessionID != src.SessionID || src.Inherited != nil {
		err = w.begin()
	} else {
		err = w.resume()
	}
	if err == nil {
		err = w.append()
	}
	if err == nil {
		err = w.finish()
	}
	if err != nil {
		return SessionMeta{}, fmt.Errorf("record session %s: %w", src.SessionID, err)
	}
	return w.meta, nil
}

// ContinueSession gives the tree the session that another record holds, so that
// AppendSession stores only what came to its file since, as if none had been between.
func (t *Tree) ContinueSession(record gitstore.ID) error {
	c, err := t.store.Commit(record)
	if err != nil {
		return err
	}
	other := NewTree(t.store, c.Tree)
	if err := other.load(other.root); err != nil {
		return err
	}
	session := other.root.children[sessionDir]
	if session == nil {
		return gitstore.ErrNoEntry
	}
	return t.PutEntry(sessionDir, session.mode, session.id)
}

// SessionMeta reads session/meta.json; ErrNoEntry if the record has no session.
func (t *Tree) SessionMeta() (SessionMeta, error) {
	data, err := t.File(sessionMeta)
	if err != nil {
		return SessionMeta{}, err
	}
	return parseSessionMeta(data)
}

func parseSessionMeta(data []byte) (SessionMeta, error) {
	var m SessionMeta
	if err := json.Unmarshal(data, &m); err != nil {
		return m, fmt.Errorf("%s: %w", sessionMeta, err)
	}
	if m.Torn < 0 || m.Length < m.Torn || m.Inherited != nil && m.Inherited.Length > m.Length {
		return m, fmt.Errorf("%s: lengths do not agree", sessionMeta)
	}
	return m, nil
}

// RemoveSession takes the session out of the record, side files too.
func (t *Tree) RemoveSession() error { return t.Remove(sessionDir) }

// sessionWriter is one AppendSession.
type sessionWriter struct {
	tree  *Tree
	batch *shadow.Batch
	src   SessionSource
	meta  SessionMeta
	// chunks are those that stay, from the first offset on that was needed;
	// at is where the next begins.
	chunks []chunk
	at     int64
	// headKnown is set once the file was seen to begin with meta.Head.
	headKnown bool
}

// begin starts over with no chunks.
func (w *sessionWriter) begin() error {
	if err := w.tree.Remove(sessionParts); err != nil {
		return err
	}
	w.meta = SessionMeta{Agent: w.src.Agent, SessionID: w.src.SessionID, Generation: 1}
	w.chunks, w.at = nil, 0
	if in := w.src.Inherited; in != nil {
		if in.Length > w.src.Length {
			return ErrSessionChanged
		}
		w.meta.Inherited, w.at = in, in.Length
	}
	return nil
}

// resume finds what of the stored content the file still begins with.
func (w *sessionWriter) resume() error {
	whole := w.meta.Length - w.meta.Torn
	if w.src.SameFile && w.src.Length >= whole {
		same, err := w.appendedOnly(whole)
		if err != nil || same {
			return err
		}
	}
	return w.compareAll(whole)
}

// appendedOnly believes that the file was only appended to if its head and its
// last stored chunk are as they were.
func (w *sessionWriter) appendedOnly(whole int64) (bool, error) {
	if w.meta.HeadLength > w.src.Length {
		return false, nil
	}
	if w.meta.HeadLength > 0 {
		id, err := w.hashRange(0, w.meta.HeadLength)
		if err != nil || id != w.meta.Head {
			return false, err
		}
		w.headKnown = true
	}
	tail, err := w.tree.chunkTail(w.meta, tailChunks)
	if err != nil {
		return false, err
	}
	w.chunks, err = w.dropTorn(tail)
	if err != nil {
		return false, err
	}
	if n := len(w.chunks); n > 0 {
		last := w.chunks[n-1]
		id, err := w.hashRange(last.offset, last.size)
		if err != nil || id != last.id {
			return false, err
		}
	}
	w.at = whole
	return true, nil
}

// dropTorn removes the torn tail's chunk, which is always stored anew.
func (w *sessionWriter) dropTorn(chunks []chunk) ([]chunk, error) {
	n := len(chunks)
	if w.meta.Torn == 0 || n == 0 {
		return chunks, nil
	}
	return chunks[:n-1], w.tree.Remove(chunks[n-1].path())
}

// compareAll hashes the file against every chunk and keeps those that agree. If
// one does not, or the file is shorter, a new generation begins.
func (w *sessionWriter) compareAll(whole int64) error {
	w.headKnown = false
	all, err := w.tree.chunkTail(w.meta, 0)
	if err != nil {
		return err
	}
	if all, err = w.dropTorn(all); err != nil {
		return err
	}
	kept, at := 0, int64(0)
	if in := w.meta.Inherited; in != nil {
		same, err := in.begins(w.src.File, w.src.Length)
		if err != nil {
			return err
		}
		if !same {
			generation := w.meta.Generation
			err := w.begin()
			w.meta.Generation = generation + 1
			return err
		}
		at = in.Length
	}
	for ; kept < len(all); kept++ {
		c := all[kept]
		if c.offset+c.size > w.src.Length {
			break
		}
		id, err := w.hashRange(c.offset, c.size)
		if err != nil {
			return err
		}
		if id != c.id {
			break
		}
		at = c.offset + c.size
	}
	for _, c := range all[kept:] {
		if err := w.tree.Remove(c.path()); err != nil {
			return err
		}
	}
	if at < whole {
		w.meta.Generation++
	}
	w.chunks, w.at = all[:kept], at
	return nil
}

// hashRange gives the id that a part of the file has as a blob.
func (w *sessionWriter) hashRange(from, size int64) (gitstore.ID, error) {
	h := gitstore.NewVerifier(gitstore.TypeBlob, size)
	n, err := io.Copy(h, io.NewSectionReader(w.src.File, from, size))
	if err == nil && n < size {
		err = ErrSessionChanged
	}
	if err != nil {
		return gitstore.ID{}, err
	}
	return gitstore.ID(h.Sum(nil)), nil
}

// finish writes the meta.
func (w *sessionWriter) finish() error {
	w.meta.Length = w.src.Length
	length := min(w.meta.Length-w.meta.Torn, headSize)
	if !w.headKnown || length != w.meta.HeadLength {
		head, err := w.hashRange(0, length)
		if err != nil {
			return err
		}
		w.meta.HeadLength, w.meta.Head = length, head
	}
	data, err := json.MarshalIndent(w.meta, "", "  ")
	if err != nil {
		return err
	}
	return w.tree.Put(sessionMeta, append(data, '\n'))
}

// chunk is one stored run of the conversation.
type chunk struct {
	offset, size int64
	id           gitstore.ID
}

// chunkDirBits is how much of an offset names the file; the rest names the
// fan-out directory.
const chunkDirBits = 24

func (c chunk) path() string {
	return fmt.Sprintf("%s/%010x/%06x", sessionParts, c.offset>>chunkDirBits, c.offset&(1<<chunkDirBits-1))
}

func parseChunk(dir, name string) (int64, error) {
	hi, err := strconv.ParseInt(dir, 16, 40)
	if err == nil {
		var lo int64
		if lo, err = strconv.ParseInt(name, 16, 32); err == nil && lo>>chunkDirBits == 0 && hi >= 0 && lo >= 0 {
			return hi<<chunkDirBits | lo, nil
		}
	}
	return 0, fmt.Errorf("%s/%s/%s is no chunk", sessionParts, dir, name)
}

// chunkTail lists the last chunks, at least n of them or all if n is zero, in
// order. Sizes follow from the offsets and the length.
func (t *Tree) chunkTail(meta SessionMeta, n int) ([]chunk, error) {
	dirs, err := t.List(sessionParts)
	if err != nil {
		return nil, err
	}
	end := meta.Length
	var back []chunk
	for i := len(dirs) - 1; i >= 0 && (n == 0 || len(back) < n); i-- {
		names, err := t.List(sessionParts + "/" + dirs[i].Name)
		if err != nil {
			return nil, err
		}
		for j := len(names) - 1; j >= 0; j-- {
			offset, err := parseChunk(dirs[i].Name, names[j].Name)
			if err != nil {
				return nil, err
			}
			if meta.Torn > 0 && len(back) == 0 && offset != meta.Length-meta.Torn {
				return nil, fmt.Errorf("%s: the torn tail's chunk is missing", sessionParts)
			}
			back = append(back, chunk{offset: offset, size: end - offset, id: names[j].ID})
			end = offset
		}
	}
	for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
		back[i], back[j] = back[j], back[i]
	}
	return back, nil
}

// lineEnd returns how many bytes of data end at its last line end.
func lineEnd(data []byte) int { return bytes.LastIndexByte(data, '\n') + 1 }
