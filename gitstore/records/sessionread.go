package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// ReadSessionMeta reads which conversation a record holds; ErrNoEntry if none.
func ReadSessionMeta(s *shadow.Store, record gitstore.ID) (SessionMeta, error) {
	data, err := s.RecordFile(record, sessionMeta)
	if err != nil {
		return SessionMeta{}, err
	}
	return parseSessionMeta(data)
}

// SessionReader streams the recorded bytes of a conversation. Not safe for
// concurrent use.
type SessionReader struct {
	// Meta is the record's. The reader gives exactly the bytes [0, Length) of
	// the agent's file, or if Inherited is set [Inherited.Length, Length): the
	// caller makes the part before from the record that Inherited names.
	Meta SessionMeta

	store  *shadow.Store
	file   io.ReaderAt // nil, or what may hold the same bytes
	stray  bool        // a file was given that does not
	chunks []chunk     // that are left
	all    []chunk
	data   []byte
	buffer []byte  // for what file holds
	kept   *Chunks // nil: none are
}

// Chunks keeps the chunks that were read last, so that parts of a conversation that are near
// each other are read and proved once. It is for one reader at a time.
type Chunks struct {
	kept [16]struct {
		id   gitstore.ID
		data []byte
	}
	next  int
	spare []byte // for what a file holds
}

// find gives a chunk that is kept.
func (k *Chunks) find(id gitstore.ID) ([]byte, bool) {
	for i := range k.kept {
		if one := &k.kept[i]; one.id == id && len(one.data) > 0 {
			return one.data, true
		}
	}
	return nil, false
}

// keep keeps a chunk in the place of the one that was read first, whose bytes it gives.
func (k *Chunks) keep(id gitstore.ID, data []byte) (dropped []byte) {
	one := &k.kept[k.next]
	k.next = (k.next + 1) % len(k.kept)
	dropped, one.id, one.data = one.data, id, data
	return dropped
}

// Again is a reader of the same from its beginning, beside no file. It has what was kept.
func (r *SessionReader) Again(kept *Chunks) *SessionReader {
	return &SessionReader{Meta: r.Meta, store: r.store, chunks: r.all, all: r.all, kept: kept}
}

// Beside has the reader take bytes from file where those prove to be what was
// recorded: hashing is several times faster than inflating. It is the agent's
// own file as a rule, and may be any and change at any time.
func (r *SessionReader) Beside(file io.ReaderAt) { r.file = file }

// Strayed reports whether the file that Beside gave was found not to hold what was
// recorded, in what was read so far.
func (r *SessionReader) Strayed() bool { return r.stray }

// From leaves out what the reader would give before offset, as far as whole
// chunks go, and returns where it begins. It is called before Read.
func (r *SessionReader) From(offset int64) int64 {
	if len(r.chunks) == 0 {
		return r.Meta.Length
	}
	n := len(r.chunks) - 1
	for n > 0 && r.chunks[n].offset > offset {
		n--
	}
	r.chunks = r.chunks[n:]
	return r.chunks[0].offset
}

// OpenSession reads the conversation of a record; ErrNoEntry if it has none. A
// missing or damaged chunk is an error of Read, never an early io.EOF.
func OpenSession(s *shadow.Store, record gitstore.ID) (*SessionReader, error) {
	c, err := s.Commit(record)
	if err != nil {
		return nil, err
	}
	t := NewTree(s, c.Tree)
	meta, err := t.SessionMeta()
	if err != nil {
		return nil, err
	}
	chunks, err := t.chunkTail(meta, 0)
	if err != nil {
		return nil, err
	}
	start := meta.Length
	if len(chunks) > 0 {
		start = chunks[0].offset
	}
	want := int64(0)
	if meta.Inherited != nil {
		want = meta.Inherited.Length
	}
	if start != want {
		return nil, fmt.Errorf("session of record %s: %w", record, gitstore.Damaged("chunks begin at %d, not at %d", start, want))
	}
	return &SessionReader{Meta: meta, store: s, chunks: chunks, all: chunks}, nil
}

// GoesOnIn reports whether a file goes on from what was recorded. Its first bytes and the
// last ones that were recorded are believed, whatever was read before.
func (r *SessionReader) GoesOnIn(file io.ReaderAt) bool {
	var last chunk
	if len(r.all) > 0 {
		last = r.all[len(r.all)-1]
	}
	for _, c := range []chunk{{size: r.Meta.HeadLength, id: r.Meta.Head}, last} {
		proof := gitstore.NewVerifier(gitstore.TypeBlob, c.size)
		n, err := io.Copy(proof, io.NewSectionReader(file, c.offset, c.size))
		if c.size > 0 && (err != nil || n < c.size || gitstore.ID(proof.Sum(nil)) != c.id) {
			return false
		}
	}
	return true
}

// Regain writes the chunks of a record's conversation that can't be read again,
// where the agent's file still holds them.
func Regain(s *shadow.Store, batch *shadow.Batch, record gitstore.ID, file io.ReaderAt, lost map[gitstore.ID]bool) error {
	r, err := OpenSession(s, record)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, part := range r.chunks {
		if !lost[part.id] {
			continue
		}
		data := make([]byte, part.size)
		if _, err := file.ReadAt(data, part.offset); err != nil || gitstore.HashObject(gitstore.TypeBlob, data) != part.id {
			continue // the agent wrote it anew, or it was torn
		}
		if _, err := batch.Blob(data); err != nil {
			return err
		}
	}
	return nil
}

// Read implements io.Reader.
func (r *SessionReader) Read(p []byte) (int, error) {
	for len(r.data) == 0 {
		if len(r.chunks) == 0 {
			return 0, io.EOF
		}
		data, err := r.read(r.chunks[0])
		if err != nil {
			return 0, err
		}
		r.data, r.chunks = data, r.chunks[1:]
	}
	n := copy(p, r.data)
	r.data = r.data[n:]
	return n, nil
}

// read gives the bytes of a chunk, valid until the next.
func (r *SessionReader) read(c chunk) ([]byte, error) {
	if r.kept == nil {
		return r.readProved(c)
	}
	if data, ok := r.kept.find(c.id); ok && int64(len(data)) == c.size {
		return data, nil
	}
	r.buffer = r.kept.spare
	data, err := r.readProved(c)
	if r.kept.spare = r.buffer; err == nil {
		r.kept.spare = r.kept.keep(c.id, data)
	}
	return data, err
}

func (r *SessionReader) readProved(c chunk) ([]byte, error) {
	if data, ok := r.readFile(c); ok {
		return data, nil
	}
	r.stray = r.stray || r.file != nil
	r.file = nil // it was rewritten there: what follows is elsewhere, if anywhere
	return chunkData(r.store, c)
}

func chunkData(s *shadow.Store, c chunk) ([]byte, error) {
	data, err := s.Blob(c.id)
	if err == nil && int64(len(data)) != c.size {
		err = gitstore.AboutObject(c.id, gitstore.Damaged("chunk at %d has %d bytes, not %d", c.offset, len(data), c.size))
	}
	return data, err
}

// readFile reads a chunk from the file, and reports whether it is there.
func (r *SessionReader) readFile(c chunk) ([]byte, bool) {
	// A damaged record may name any size.
	if r.file == nil || c.size > 2*longestLine {
		return nil, false
	}
	r.buffer = slices.Grow(r.buffer[:0], int(c.size))[:c.size]
	if n, _ := r.file.ReadAt(r.buffer, c.offset); int64(n) < c.size {
		return nil, false
	}
	proof := gitstore.NewVerifier(gitstore.TypeBlob, c.size)
	proof.Write(r.buffer)
	return r.buffer, gitstore.ID(proof.Sum(nil)) == c.id
}

// HeldBy reports whether a file of that length holds, from its beginning, all
// that was recorded. Something may follow there. It takes the reader's place.
func (r *SessionReader) HeldBy(ctx context.Context, file io.ReaderAt, length int64) (bool, error) {
	if length < r.Meta.Length {
		return false, nil
	}
	if in := r.Meta.Inherited; in != nil {
		if same, err := in.begins(file, length); err != nil || !same {
			return false, err
		}
	}
	r.Beside(file)
	for _, c := range r.chunks {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if _, ok := r.readFile(c); !ok {
			return false, nil
		}
	}
	return true, nil
}

// Check proves what is left to read without giving it: every chunk is there,
// and as long as its place says. Chunks that are in good with that length were
// proved before, and the others are added, so that checking all records of a
// mission reads each chunk once.
func (r *SessionReader) Check(good map[gitstore.ID]int64) error {
	for _, c := range r.chunks {
		if size, known := good[c.id]; known && size == c.size {
			continue
		}
		if _, err := chunkData(r.store, c); err != nil {
			return err
		}
		good[c.id] = c.size
	}
	return nil
}

// SideFile is a file that belongs to a session beside its conversation.
type SideFile struct {
	// Name is its slash-separated place below session/side.
	Name string
	// Known is the id of its content where that is known, as by its stat data: it is
	// not read where the record holds just that.
	Known gitstore.ID
	// Executable is kept with its content.
	Executable bool
	// Open gives the bytes and how many of them are to be stored.
	Open func() (io.ReadCloser, int64, error)
}

// SetSides makes the record hold exactly these side files, and returns the ids of
// their contents; new content goes to b. A file that shrinks while it is read is read
// again, twice.
func (t *Tree) SetSides(b *shadow.Batch, sides []SideFile) ([]gitstore.ID, error) {
	have := map[string]gitstore.TreeEntry{}
	if err := t.walkSides("", func(name string, e gitstore.TreeEntry) { have[name] = e }); err != nil {
		return nil, err
	}
	ids := make([]gitstore.ID, len(sides))
	for i, side := range sides {
		mode := gitstore.ModeFile
		if side.Executable {
			mode = gitstore.ModeExec
		}
		entry := have[side.Name]
		delete(have, side.Name)
		if entry.Mode == mode && entry.ID == side.Known {
			ids[i] = side.Known
			continue
		}
		var err error
		if ids[i], err = storeSide(b, side); err != nil {
			return nil, fmt.Errorf("record side file %s: %w", side.Name, err)
		}
		if err := t.PutEntry(sessionSides+"/"+side.Name, mode, ids[i]); err != nil {
			return nil, err
		}
	}
	for name := range have {
		if err := t.Remove(sessionSides + "/" + name); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func storeSide(b *shadow.Batch, side SideFile) (gitstore.ID, error) {
	var id gitstore.ID
	var err error
	for range 3 {
		var r io.ReadCloser
		var size int64
		if r, size, err = side.Open(); err != nil {
			return gitstore.ID{}, err
		}
		id, err = b.BlobFrom(io.LimitReader(r, size), size)
		r.Close()
		if !errors.Is(err, gitstore.ErrSizeChanged) {
			break
		}
	}
	return id, err
}

func (t *Tree) walkSides(dir string, fn func(name string, e gitstore.TreeEntry)) error {
	at := sessionSides
	if dir != "" {
		at += "/" + dir
		dir += "/"
	}
	entries, err := t.List(at)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Mode.IsDir() {
			fn(dir+e.Name, e)
		} else if err := t.walkSides(dir+e.Name, fn); err != nil {
			return err
		}
	}
	return nil
}

// StoredSide is a side file in a record.
type StoredSide struct {
	Name       string
	ID         gitstore.ID
	Executable bool
}

// SessionSides lists the side files of a record, by name; Blob and BlobReader
// give their content.
func SessionSides(s *shadow.Store, record gitstore.ID) ([]StoredSide, error) {
	c, err := s.Commit(record)
	if err != nil {
		return nil, err
	}
	var out []StoredSide
	err = NewTree(s, c.Tree).walkSides("", func(name string, e gitstore.TreeEntry) {
		out = append(out, StoredSide{Name: name, ID: e.ID, Executable: e.Mode == gitstore.ModeExec})
	})
	slices.SortFunc(out, func(a, b StoredSide) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return out, err
}
