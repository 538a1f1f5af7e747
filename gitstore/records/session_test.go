package records

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

func TestSessionIsReadBack(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(9, 1))
	l := &sessionLog{t: t, s: storetest.New(t)}
	var file []byte
	for i := range 120 {
		switch {
		case i == 60:
			file = append(file, line(rnd, 1<<20)...)
		case i == 100:
			for range 30 {
				file = append(file, line(rnd, 40<<10)...)
			}
		default:
			file = append(file, line(rnd, rnd.IntN(6000))...)
		}
		torn := append([]byte(nil), file...)
		if i%3 == 0 {
			torn = append(torn, bytes.TrimSuffix(line(rnd, 100), []byte("\n"))...)
		}
		meta, err := l.append(source(torn, i%7 != 0))
		storetest.NoErr(t, err)
		if meta.Generation != 1 {
			t.Fatalf("generation %d after an append", meta.Generation)
		}
		if i%20 == 0 {
			l.check(torn)
		}
		if i == 119 {
			l.check(torn)
		}
	}
	chunks := storetest.Must[[]chunk](t)(NewTree(l.s, storetest.Must[*gitstore.Record](t)(l.s.Record(l.record)).Tree).chunkTail(storetest.Must[SessionMeta](t)(ReadSessionMeta(l.s, l.record)), 0))
	// Small chunks before each of the two big appends stay apart.
	if limit := len(file)/chunkSize + 3*3*mergeCount; len(chunks) > limit {
		t.Errorf("%d chunks for %d bytes", len(chunks), len(file))
	}
	storetest.Fsck(t, l.s)
}

// TestSessionReadBeside: whatever the file holds by now, what was recorded is
// read; and the file is read where it still holds that.
func TestSessionReadBeside(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 2))
	var recorded []byte
	for len(recorded) < 5*chunkSize {
		recorded = append(recorded, line(rnd, rnd.IntN(6000))...)
	}
	changed := func(at int) []byte {
		data := bytes.Clone(recorded)
		data[at] ^= 1
		return data
	}
	for name, c := range map[string]struct {
		file  []byte
		taken bool // all of it from the file
	}{
		"the same":             {recorded, true},
		"appended":             {append(bytes.Clone(recorded), "more\n"...), true},
		"another beginning":    {changed(3), false},
		"another middle":       {changed(len(recorded) / 2), false},
		"another end":          {changed(len(recorded) - 2), false},
		"shorter":              {recorded[:len(recorded)-1], false},
		"empty":                {nil, false},
		"something in between": {append([]byte("x"), recorded...), false},
	} {
		t.Run(name, func(t *testing.T) {
			l := &sessionLog{t: t, s: storetest.New(t)}
			storetest.Must[SessionMeta](t)(l.append(source(recorded, false)))
			r := storetest.Must[*SessionReader](t)(OpenSession(l.s, l.record))
			r.Beside(bytes.NewReader(c.file))
			if got := storetest.Must[[]byte](t)(io.ReadAll(r)); !bytes.Equal(got, recorded) {
				t.Fatalf("read %d bytes, want %d; first difference at %d", len(got), len(recorded), firstDifference(got, recorded))
			}
			if taken := r.file != nil; taken != c.taken || r.Strayed() == taken {
				t.Errorf("read from the file to the end: %v, want %v", taken, c.taken)
			}
		})
	}
}

// TestSessionReadFrom: the end of a conversation is read from a chunk on that
// begins no later than was asked.
func TestSessionReadFrom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 5))
	l := &sessionLog{t: t, s: storetest.New(t)}
	if _, err := l.append(source(nil, false)); err != nil {
		t.Fatal(err)
	}
	if from := storetest.Must[*SessionReader](t)(OpenSession(l.s, l.record)).From(7); from != 0 {
		t.Errorf("nothing is read from %d on", from)
	}
	var file []byte
	for len(file) < 5*chunkSize {
		file = append(file, line(rnd, rnd.IntN(6000))...)
	}
	file = append(file, "torn"...)
	storetest.Must[SessionMeta](t)(l.append(source(file, false)))
	for offset := int64(0); offset <= int64(len(file)); offset += chunkSize / 3 {
		r := storetest.Must[*SessionReader](t)(OpenSession(l.s, l.record))
		from := r.From(offset)
		if from > offset || offset-from > chunkSize || from > 0 && file[from-1] != '\n' {
			t.Errorf("asked for %d, read from %d", offset, from)
		}
		if got := storetest.Must[[]byte](t)(io.ReadAll(r)); !bytes.Equal(got, file[from:]) {
			t.Errorf("from %d on %d bytes are read, of %d", from, len(got), len(file))
		}
	}
}

func TestSessionCostsWhatWasAppended(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(9, 2))
	l := &sessionLog{t: t, s: storetest.New(t)}
	file := line(rnd, 1<<20)
	_, err := l.append(source(file, false))
	storetest.NoErr(t, err)
	l.stored = 0
	const appends, size = 150, 1000
	naive := hazards.NewNaive(t, t.TempDir())
	for n := range 5 {
		storetest.NoErr(t, os.WriteFile(filepath.Join(naive.Work, "talk.jsonl"), slices.Concat(file, line(rnd, size*(n+1))), 0o600))
		naive.Save()
	}
	stored, err := strconv.Atoi(regexp.MustCompile(`size: (\d+)`).FindStringSubmatch(naive.Git("count-objects", "-v"))[1])
	storetest.NoErr(t, err)
	one, err := hazards.Git(naive.Work, "hash-object", "talk.jsonl")
	storetest.NoErr(t, err)
	whole := storetest.Must[os.FileInfo](t)(os.Stat(filepath.Join(naive.Dir, "objects", one[:2], one[2:])))
	hazards.Shown(t, hazards.H23, int64(stored)<<10 > 4*whole.Size(), "`git add` of the transcript at each event reads and stores the whole of it each time")
	hazards.Held(t, hazards.H23, "an event costs what was appended since the last one")
	for range appends {
		file = append(file, line(rnd, size)...)
		_, err := l.append(source(file, true))
		storetest.NoErr(t, err)
	}
	// Meta and the trees of a record are about 1.5 KiB; content is stored at
	// most once for each class of chunks.
	if per := l.stored / appends; per > 4*size+4000 {
		t.Errorf("%d bytes stored for each append of %d", per, size)
	}
	l.check(file)
}

func TestSessionRewritten(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(9, 3))
	l := &sessionLog{t: t, s: storetest.New(t)}
	var file []byte
	for range 600 {
		file = append(file, line(rnd, 2000)...)
	}
	_, err := l.append(source(file, false))
	storetest.NoErr(t, err)
	step := func(name string, data []byte, same bool, generation int) {
		t.Helper()
		meta, err := l.append(source(data, same))
		storetest.NoErr(t, err)
		if meta.Generation != generation {
			t.Errorf("%s: generation %d, want %d", name, meta.Generation, generation)
		}
		l.check(data)
	}
	step("nothing new", file, true, 1)
	step("another inode, same bytes", file, false, 1)
	pruned := append([]byte(nil), file[:500_000]...)
	step("shorter", pruned, true, 2)
	changed := append([]byte(nil), file...)
	changed[10] = '!'
	step("head rewritten", changed, true, 3)
	tail := append([]byte(nil), changed...)
	tail[len(tail)-10] = '!'
	step("tail rewritten", append(tail, line(rnd, 10)...), true, 4)
	middle := append([]byte(nil), tail...)
	middle = append(middle, line(rnd, 10)...)
	middle[600_000] = '!'
	step("middle rewritten, whole file compared", middle, false, 5)
	step("empty", nil, true, 6)
	step("one torn line", []byte("torn"), true, 6)
	step("torn line completed", []byte("torn and done\n"), true, 6)

	other := source([]byte("another\n"), true)
	other.SessionID = "s2"
	meta, err := l.append(other)
	storetest.NoErr(t, err)
	if meta.Generation != 1 {
		t.Errorf("new session has generation %d", meta.Generation)
	}
	l.check([]byte("another\n"))
}

// TestSessionMergesWhenIdle: in a turn what is appended is stored once, while that
// does not go on for too long; when the agent waits, small chunks are merged.
func TestSessionMergesWhenIdle(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(9, 6))
	l := &sessionLog{t: t, s: storetest.New(t)}
	file := line(rnd, 300<<10)
	chunks := func() int {
		r := storetest.Must[*SessionReader](t)(OpenSession(l.s, l.record))
		return len(r.chunks)
	}
	say := func(size int, idle bool) {
		t.Helper()
		file = append(file, line(rnd, size)...)
		src := source(file, true)
		src.Idle = idle
		storetest.Must[SessionMeta](t)(l.append(src))
	}
	say(1, true)
	begin := chunks()
	const turn, size = 40, 10 << 10
	l.stored = 0
	for range turn {
		say(size, false)
	}
	// Beside them meta and trees, which grow with the chunks that are not merged.
	if got := chunks(); got != begin+turn || l.stored > turn*(size+10_000) {
		t.Errorf("in a turn %d chunks became %d, %d bytes stored for %d", begin, got, l.stored, turn*size)
	}
	l.check(file)
	say(1, true)
	if got := chunks(); got > begin+mergeCount {
		t.Errorf("%d chunks are left when the agent waits", got)
	}
	l.check(file)
	for range mostSmall + mergeCount {
		say(size, false)
	}
	if got := chunks(); got > mostSmall/2 {
		t.Errorf("%d chunks in a turn without end", got)
	}
	l.check(file)
	storetest.Fsck(t, l.s)
}

// TestSessionHeldBy: a file that was appended to holds what was recorded; one that
// was rewritten anywhere or became shorter does not.
func TestSessionHeldBy(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(9, 7))
	part, own := line(rnd, 3*chunkSize), line(rnd, chunkSize)
	for range 100 {
		own = append(own, line(rnd, 5000)...)
	}
	own = append(own, "torn"...)
	recorded := append(bytes.Clone(part), own...)
	inherits := source(recorded, false)
	proof := NewInheritedProof()
	_, _ = proof.Write(part)
	inherits.Inherited = &Inherited{SourceLength: 1}
	proof.Describe(inherits.Inherited)
	for name, src := range map[string]SessionSource{"all its own": source(recorded, false), "inherited in part": inherits} {
		l := &sessionLog{t: t, s: storetest.New(t)}
		storetest.Must[SessionMeta](t)(l.append(src))
		held := func(file []byte) bool {
			r := storetest.Must[*SessionReader](t)(OpenSession(l.s, l.record))
			return storetest.Must[bool](t)(r.HeldBy(t.Context(), bytes.NewReader(file), int64(len(file))))
		}
		if !held(recorded) || !held(append(bytes.Clone(recorded), "and done\n"...)) {
			t.Errorf("%s: a file that was appended to does not hold what was recorded", name)
		}
		for _, at := range []int{0, len(part) - 2, len(part), len(part) + len(own)/2, len(recorded) - 1} {
			other := bytes.Clone(recorded)
			other[at] ^= 1
			if held(other) {
				t.Errorf("%s: a file that is another at %d holds what was recorded", name, at)
			}
		}
		if held(recorded[:len(recorded)-1]) || held(nil) {
			t.Errorf("%s: a shorter file holds what was recorded", name)
		}
		r := storetest.Must[*SessionReader](t)(OpenSession(l.s, l.record))
		ended, end := context.WithCancel(t.Context())
		end()
		if _, err := r.HeldBy(ended, bytes.NewReader(recorded), int64(len(recorded))); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: given up with %v", name, err)
		}
	}
}

func TestSessionMergeFindsRewrite(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(9, 4))
	l := &sessionLog{t: t, s: storetest.New(t)}
	file := line(rnd, 300<<10)
	for i := range 40 {
		file = append(file, line(rnd, 1000)...)
		if i == 10 {
			file[len(file)-5000] = '!'
		}
		_, err := l.append(source(file, true))
		storetest.NoErr(t, err)
	}
	if meta := l.check(file); meta.Generation != 2 {
		t.Errorf("generation %d", meta.Generation)
	}
}

func TestSessionShrinksWhileRead(t *testing.T) {
	t.Parallel()
	l := &sessionLog{t: t, s: storetest.New(t)}
	src := source([]byte("a\nb\n"), false)
	src.Length = 10
	if _, err := l.append(src); !errors.Is(err, ErrSessionChanged) {
		t.Errorf("got %v", err)
	}
}

// TestSessionCheckedOnce proves each chunk once, over all records of a growing
// conversation: one that was proved is not read again.
func TestSessionCheckedOnce(t *testing.T) {
	t.Parallel()
	l := &sessionLog{t: t, s: storetest.New(t)}
	rnd := rand.New(rand.NewPCG(1, 1))
	var data []byte
	var records []gitstore.ID
	for i := range 40 {
		data = append(data, line(rnd, 200)...)
		_, err := l.append(source(data, i > 0))
		storetest.NoErr(t, err)
		records = append(records, l.record)
	}
	good := map[gitstore.ID]int64{}
	for _, r := range records {
		s, err := OpenSession(l.s, r)
		storetest.NoErr(t, err)
		storetest.NoErr(t, s.Check(good))
	}
	var size int64
	for _, n := range good {
		size += n
	}
	if size > 12*int64(len(data)) { // what merging writes again; reading each whole would be 20 times
		t.Errorf("%d bytes of chunks of a conversation of %d", size, len(data))
	}
	last, err := OpenSession(l.s, l.record)
	storetest.NoErr(t, err)
	wrong := last.chunks[0]
	good[wrong.id]++ // not as long as its place says: it is read, and stands
	storetest.NoErr(t, last.Check(good))
	last.chunks[0].size++
	if err := last.Check(map[gitstore.ID]int64{}); err == nil {
		t.Error("a chunk that is too short passes")
	}
}

func TestSides(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	opened := map[string]int{}
	side := func(name, data string, known gitstore.ID) SideFile {
		return SideFile{Name: name, Known: known, Open: func() (io.ReadCloser, int64, error) {
			opened[name]++
			return io.NopCloser(bytes.NewReader([]byte(data))), int64(len(data)), nil
		}}
	}
	b := s.NewBatch()
	defer b.Discard()
	tree := NewTree(s, gitstore.ID{})
	set := func(sides ...SideFile) []gitstore.ID {
		t.Helper()
		return storetest.Must[[]gitstore.ID](t)(tree.SetSides(b, sides))
	}
	ids := set(side("a", "1", gitstore.ID{}), side("sub/b", "2", gitstore.ID{}), side("sub/c", "3", gitstore.ID{}))
	if again := set(side("a", "not read", ids[0]), side("sub/c", "33", gitstore.ID{})); again[0] != ids[0] || again[1] == ids[2] {
		t.Errorf("the ids are %v, and were %v", again, ids)
	}
	id := storetest.Must[gitstore.ID](t)(tree.Write(b))
	rec := storetest.Must[gitstore.ID](t)(s.WriteRecord(b, &gitstore.Record{Tree: id, Kind: gitstore.KindMeta, Author: storetest.Signature(1), At: storetest.Signature(1).When}))
	storetest.NoErr(t, b.Flush(context.Background()))
	var got string
	for _, side := range storetest.Must[[]StoredSide](t)(SessionSides(s, rec)) {
		got += fmt.Sprintf("%s=%s ", side.Name, storetest.Must[[]byte](t)(s.Blob(side.ID)))
	}
	if got != "a=1 sub/c=33 " || opened["a"] != 1 {
		t.Errorf("got %q, opened %v", got, opened)
	}
	set(side("a", "of another session", storetest.Must[gitstore.ID](t)(gitstore.HashBlob(bytes.NewReader([]byte("of another session")), 18))))
	if opened["a"] != 2 {
		t.Error("what the record does not hold was not read")
	}
	program := side("a", "1", ids[0])
	program.Executable = true
	set(program)
	id = storetest.Must[gitstore.ID](t)(tree.Write(b))
	rec = storetest.Must[gitstore.ID](t)(s.WriteRecord(b, &gitstore.Record{Tree: id, Kind: gitstore.KindMeta, Author: storetest.Signature(1), At: storetest.Signature(1).When}))
	storetest.NoErr(t, b.Flush(context.Background()))
	if got := storetest.Must[[]StoredSide](t)(SessionSides(s, rec)); len(got) != 1 || !got[0].Executable {
		t.Errorf("a program among them is kept as %+v", got)
	}
	if _, err := tree.SetSides(b, []SideFile{side("../x", "1", gitstore.ID{})}); err == nil {
		t.Error("a name that leads out was taken")
	}
}

func FuzzSessionMeta(f *testing.F) {
	f.Add([]byte(`{"agent":"claude","session_id":"x","generation":1,"length":10,"torn":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseSessionMeta(data)
		if err == nil && (m.Torn < 0 || m.Length < m.Torn) {
			t.Fatalf("%+v", m)
		}
	})
}
