package usergit

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// debugEntry is one entry as `git ls-files --stage --debug -z` prints it.
var debugEntry = regexp.MustCompile(`(\d{6}) ([0-9a-f]+) (\d)\t([^\x00]*)\x00` +
	`  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n  dev: (\d+)\tino: (\d+)\n  uid: (\d+)\tgid: (\d+)\n  size: (\d+)\tflags: ([0-9a-f]+)\n`)

// sameAsLsFiles holds the index against git's own reading of it.
func (r *testRepo) sameAsLsFiles() *Index {
	r.t.Helper()
	index, err := r.discover().Index()
	if err != nil {
		r.t.Fatal(err)
	}
	out := r.git("ls-files", "--stage", "--debug", "--sparse", "-z") + "\n"
	matches := debugEntry.FindAllStringSubmatch(out, -1)
	if rest := debugEntry.ReplaceAllString(out, ""); strings.TrimSpace(rest) != "" {
		r.t.Fatalf("ls-files says more: %q", rest)
	}
	var want []string
	for _, m := range matches {
		var flags uint32
		if _, err := fmt.Sscanf(m[14], "%x", &flags); err != nil {
			r.t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("%q %s %s %s valid=%v skip=%v intent=%v %s", m[4], m[1], m[2], m[3],
			flags&(1<<15) != 0, flags&(1<<30) != 0, flags&(1<<29) != 0, strings.Join(m[5:14], " ")))
	}
	var got []string
	for _, e := range index.Entries {
		s := e.Stat
		got = append(got, fmt.Sprintf("%q %s %s %d valid=%v skip=%v intent=%v %d %d %d %d %d %d %d %d %d", e.Path, e.Mode, e.ID, e.Stage,
			e.Flags.AssumeValid, e.Flags.SkipWorktree, e.Flags.IntentToAdd,
			s.CtimeSec, s.CtimeNsec, s.MtimeSec, s.MtimeNsec, s.Dev, s.Ino, s.UID, s.GID, s.Size))
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		r.t.Fatalf("we read\n%s\ngit reads\n%s", a, b)
	}
	return index
}

func TestIndexVersions(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		for _, version := range []string{"2", "3", "4"} {
			t.Run(format+" "+version, func(t *testing.T) {
				r := newRepo(t, "--object-format="+format)
				if index := r.sameAsLsFiles(); len(index.Entries) != 0 || !index.ModTime.IsZero() {
					t.Errorf("without an index file: %+v", index)
				}
				r.git("config", "index.version", version)
				r.conflict()
				for i := range 30 {
					r.write(fmt.Sprintf("dir%d/%s", i%3, strings.Repeat("n", i)+"x"), fmt.Sprint(i))
				}
				r.git("add", ".")
				// Longer than the length that an entry can note.
				long := strings.Repeat(strings.Repeat("n", 250)+"/", 17) + "x"
				r.git("update-index", "--add", "--cacheinfo", "100644,"+r.git("rev-parse", "other:f")+","+long)
				r.git("commit", "-q", "-m", "all")
				r.git("update-index", "--skip-worktree", long)
				r.fails("merge", "other")
				r.git("update-index", "--assume-unchanged", "dir1/nx")
				if version == "2" {
					r.git("update-index", "--no-skip-worktree", long)
				} else {
					r.git("update-index", "--skip-worktree", "dir2/nnx")
					r.write("intended", "x")
					r.git("add", "-N", "intended")
				}
				r.git("update-index", "--force-remove", "dir0/x")
				if header, err := os.ReadFile(filepath.Join(r.dir, ".git/index")); err != nil || fmt.Sprint(header[7]) != version {
					t.Errorf("the index has version %d (%v)", header[7], err)
				}
				index := r.sameAsLsFiles()
				if got := len(index.Lookup("f")); got != 3 {
					t.Errorf("%d stages of f", got)
				}
				if index.ModTime.IsZero() {
					t.Error("no modification time")
				}
				r.untouched()
			})
		}
	}
}

func TestTracked(t *testing.T) {
	r := newRepo(t)
	for _, path := range []string{"a", "dir/x", "dir-a", "dir/y/z", "dir.b/q"} {
		r.write(path, "x")
	}
	r.write("intended", "x")
	r.git("add", "a", "dir", "dir-a", "dir.b")
	r.git("add", "-N", "intended")
	index := r.sameAsLsFiles()
	for path, want := range map[string]bool{
		"a": true, "dir/x": true, "dir": false, "dir/y": false, "dir/y/z": true, "intended": true, "b": false, "zz": false, "": false,
	} {
		if got := index.Tracks(path); got != want {
			t.Errorf("tracks %q: %v", path, got)
		}
	}
	for path, want := range map[string]bool{
		"dir": true, "dir/y": true, "dir/x": false, "di": false, "a": false, "dir.b": true, "zz": false,
	} {
		if got := index.TracksBelow(path); got != want {
			t.Errorf("tracks below %q: %v", path, got)
		}
	}
}

// Random edits of a split index, which git writes as changes to a shared one.
func TestSplitIndex(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r := newRepo(t, "--object-format="+format)
			for i := range 200 {
				r.write(fmt.Sprintf("d%d/f%d", i%7, i), fmt.Sprint(i))
			}
			r.git("add", ".")
			r.git("commit", "-q", "-m", "all")
			r.git("config", "splitIndex.maxPercentChange", "100")
			r.git("update-index", "--split-index")
			random := rand.New(rand.NewSource(1))
			for round := range 15 {
				var removed, added strings.Builder
				for range 1 + random.Intn(20) {
					i := random.Intn(220)
					path := fmt.Sprintf("d%d/f%d", i%7, i)
					if random.Intn(3) == 0 {
						fmt.Fprintln(&removed, path)
						continue
					}
					r.write(path, fmt.Sprint("changed", round))
					fmt.Fprintln(&added, path)
				}
				r.gitIn(removed.String(), "update-index", "--force-remove", "--stdin")
				r.gitIn(added.String(), "update-index", "--add", "--stdin")
				r.sameAsLsFiles()
			}
			data, err := os.ReadFile(filepath.Join(r.dir, ".git/index"))
			if err != nil || !strings.Contains(string(data), "link") {
				t.Errorf("the index is not split (%v)", err)
			}
			r.untouched()
			shared, err := filepath.Glob(filepath.Join(r.dir, ".git/sharedindex.*"))
			if err != nil || len(shared) == 0 {
				t.Fatalf("no shared index: %v", err)
			}
			for _, path := range shared {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := r.discover().Index(); err == nil {
				t.Error("a missing shared index is no error")
			}
		})
	}
}

func TestSparseIndex(t *testing.T) {
	r := newRepo(t)
	for _, path := range []string{"top", "in/a", "out/a", "out/deep/b", "out2/c"} {
		r.write(path, path)
	}
	r.git("add", ".")
	r.git("commit", "-q", "-m", "all")
	r.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
	index := r.sameAsLsFiles()
	if !index.Sparse || len(index.Lookup("out/")) != 1 {
		t.Fatalf("not sparse: %+v", index)
	}
	head, err := r.discover().Head()
	if err != nil {
		t.Fatal(err)
	}
	if staged, err := Staged(r.objects(), r.tree(head), index); err != nil || len(staged) != 0 {
		t.Errorf("staged: %+v, %v", staged, err)
	}
	full, err := index.Expand(r.objects())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range full.Entries {
		got = append(got, fmt.Sprintf("%s %v", e.Path, e.Flags.SkipWorktree))
	}
	if want := "[in/a false out/a true out/deep/b true out2/c true top false]"; fmt.Sprint(got) != want {
		t.Errorf("expanded: %v, want %s", got, want)
	}
	if full.Sparse || !full.Tracks("out/deep/b") {
		t.Error("the expanded index still stands for directories")
	}
	r.untouched()
	// HEAD moves on under the sparse directories.
	r.git("commit", "-q", "--allow-empty", "-m", "before")
	blob := r.git("rev-parse", "HEAD:top")
	tree := strings.Fields(r.git("ls-tree", "-d", "HEAD", "out"))[2]
	changed := r.gitIn(fmt.Sprintf("100644 blob %s\ta\n100644 blob %s\tnew\n", blob, blob), "mktree")
	top := r.gitIn(strings.Replace(r.git("ls-tree", "HEAD")+"\n", tree, changed, 1), "mktree")
	id, err := ParseID(top)
	if err != nil {
		t.Fatal(err)
	}
	staged, err := Staged(r.objects(), id, index)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := changes(staged), "[modified out/a added out/deep/b deleted out/new]"; got != want {
		t.Errorf("staged: %s, want %s", got, want)
	}
}

func TestDamagedIndex(t *testing.T) {
	r := newRepo(t)
	r.commit("a", "1")
	r.commit("b", "2")
	path := filepath.Join(r.dir, ".git/index")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(good) {
		bad := append([]byte(nil), good...)
		bad[n] ^= 0xff
		for _, data := range [][]byte{bad, good[:n]} {
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadIndex(path, SHA1); !isDamaged(err) {
				t.Fatalf("byte %d: %v", n, err)
			}
		}
	}
	if err := os.WriteFile(path, append(append([]byte(nil), good[:len(good)-20]...), make([]byte, 20)...), 0o666); err != nil {
		t.Fatal(err)
	}
	if index, err := ReadIndex(path, SHA1); err != nil || len(index.Entries) != 2 {
		t.Errorf("with index.skipHash: %v", err)
	}
	body := append(append([]byte(nil), good[:len(good)-20]...), "newx\x00\x00\x00\x00"...)
	if err := os.WriteFile(path, append(body, make([]byte, 20)...), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadIndex(path, SHA1); !isUnsupported(err) {
		t.Errorf("an unknown mandatory extension: %v", err)
	}
}

// A large index is read whenever it changes; see the performance targets.
func BenchmarkReadIndex(b *testing.B) {
	var body bytes.Buffer
	body.WriteString("DIRC\x00\x00\x00\x02")
	const count = 100_000
	body.Write(binary.BigEndian.AppendUint32(nil, count))
	for i := range count {
		path := fmt.Sprintf("src/package%05d/file%06d.go", i/20, i)
		entry := make([]byte, (62+len(path)+8)&^7)
		binary.BigEndian.PutUint32(entry[24:], uint32(ModeFile))
		binary.BigEndian.PutUint16(entry[60:], uint16(len(path)))
		copy(entry[62:], path)
		body.Write(entry)
	}
	path := filepath.Join(b.TempDir(), "index")
	sum := sha1.Sum(body.Bytes())
	if err := os.WriteFile(path, append(body.Bytes(), sum[:]...), 0o666); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if index, err := ReadIndex(path, SHA1); err != nil || len(index.Entries) != count {
			b.Fatal(err)
		}
	}
}

func FuzzDecodeIndex(f *testing.F) {
	// Two entries of version 4 with a cache tree and, in the second seed, a
	// link with an empty bitmap of deletions.
	entries, err := hex.DecodeString("444952430000000400000002" +
		strings.Repeat("00", 24) + "000081a4" + strings.Repeat("00", 12) + strings.Repeat("11", 20) + "0001" + "006100" +
		strings.Repeat("00", 24) + "000081a4" + strings.Repeat("00", 12) + strings.Repeat("22", 20) + "0001" + "016200")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(append([]byte(nil), entries...), "TREE\x00\x00\x00\x06\x00-1 0\n"...), false)
	f.Add(append(append([]byte(nil), entries...), "link\x00\x00\x00\x2c"+strings.Repeat("\x01", 20)+
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"+"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"...), false)
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00"), true)
	f.Fuzz(func(t *testing.T, body []byte, long bool) {
		format := SHA1
		if long {
			format = SHA256
		}
		x, err := decodeIndex(body, format)
		if err != nil {
			return
		}
		if x.link != nil {
			for _, base := range [][]Entry{nil, x.entries} {
				if merged, err := x.link.apply(base, x.entries); err == nil && len(merged) > len(base)+len(x.entries) {
					t.Fatal("merged to more than there was")
				}
			}
			return
		}
		if disorder(x.entries) != "" {
			return
		}
		index := &Index{Entries: x.entries, Sparse: x.sparse, trees: x.trees}
		for _, e := range x.entries {
			if !index.Tracks(e.Path) {
				t.Fatalf("%q is not found", e.Path)
			}
		}
		if !index.Sparse {
			if staged, err := Staged(nil, ID{}, index); err != nil || len(staged) != len(x.entries) {
				t.Fatalf("%d staged of %d: %v", len(staged), len(x.entries), err)
			}
		}
	})
}
