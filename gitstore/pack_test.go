package gitstore

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // see below
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/scripts/hazards"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// indexed gives a pack that has an index of these entries and no content.
func indexed(t *testing.T, entries []packEntry) (*pack, []byte) {
	t.Helper()
	base := filepath.Join(t.TempDir(), "pack-x")
	idx := (&packWriter{entries: entries}).index(make([]byte, 20))
	noErr(t, os.WriteFile(base+".idx", idx, 0o600))
	noErr(t, os.WriteFile(base+".pack", nil, 0o600))
	p, err := openPack(base, must[os.FileInfo](t)(os.Stat(base+".idx")), &fileCache{max: 2})
	noErr(t, err)
	return p, idx
}

// TestLargeIndexIsReadInPlace: more objects than an index held in memory has,
// many of them in one bucket.
func TestLargeIndexIsReadInPlace(t *testing.T) {
	t.Parallel()
	const n = 60_000
	entries := make([]packEntry, n)
	for i := range entries {
		id := ID(sha1.Sum(binary.BigEndian.AppendUint32(nil, uint32(i)))) //nolint:gosec // any distinct ids
		if i%2 == 0 {
			id[0] = 7
		}
		entries[i] = packEntry{id: id, offset: int64(12 + i)}
	}
	p, _ := indexed(t, slices.Clone(entries))
	if p.whole != nil || p.count() != n {
		t.Fatalf("%d objects, held in memory: %v", p.count(), p.whole != nil)
	}
	for i := 0; i < n; i += 11 {
		e := entries[i]
		if at, ok, err := p.find(e.id); !ok || err != nil || at != e.offset {
			t.Fatalf("%s: %d %v %v", e.id, at, ok, err)
		}
		absent := e.id
		absent[19] ^= 1
		if _, ok, err := p.find(absent); ok || err != nil {
			t.Fatalf("%s is found: %v", absent, err)
		}
	}
}

// TestLargeOffsets: packs over 2 GiB keep offsets in a table of their own.
func TestLargeOffsets(t *testing.T) {
	t.Parallel()
	var entries []packEntry
	want := map[ID]int64{}
	for i, off := range []int64{12, 1<<31 - 1, 1 << 31, 1<<31 + 5, 1 << 40} {
		id := testID(byte(i))
		want[id] = off
		entries = append(entries, packEntry{id: id, offset: off, crc: uint32(i)})
	}
	got, idx := indexed(t, entries)
	out, err := git.Run(context.Background(), git.Command{Dir: t.TempDir(), Stdin: bytes.NewReader(idx), Args: []string{"show-index", "--object-format=sha1"}})
	noErr(t, err)
	for id, off := range want {
		at, ok, err := got.find(id)
		if !ok || err != nil || at != off {
			t.Errorf("%s: %d %v %v, want %d", id, at, ok, err, off)
		}
		if !strings.Contains(string(out), fmt.Sprintf("%d %s", off, id)) {
			t.Errorf("git does not see %d %s", off, id)
		}
	}
}

func TestSweepLeavesOthersWork(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	in := func(name string) string { return filepath.Join(s.packDir(), name) }
	past := time.Now().Add(-2 * foreignTempAge)
	for _, name := range []string{"tmp_pack_young", "tmp_pack_old", ".tmp-1-pack-old.idx", "pack-0000.pack", "pack-0001.pack"} {
		noErr(t, os.WriteFile(in(name), []byte("x"), 0o600))
		if name != "tmp_pack_young" {
			noErr(t, os.Chtimes(in(name), past, past))
		}
	}
	left := func() int { return len(must[[]string](t)(filepath.Glob(in("tmp_pack_*")))) }
	before := left()
	indexing := exec.Command("git", "--git-dir", s.Dir(), "index-pack", "--stdin")
	stdin, err := indexing.StdinPipe()
	noErr(t, err)
	noErr(t, indexing.Start())
	_, err = stdin.Write([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x09")) // and no more of it
	noErr(t, err)
	for deadline := time.Now().Add(patience.Of(time.Minute)); left() == before && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	noErr(t, indexing.Process.Kill())
	_ = indexing.Wait()
	hazards.Shown(t, hazards.H24, left() == before+1, "a git that is killed while it writes a pack leaves `tmp_pack_*` for good")
	hazards.Held(t, hazards.H24, "what killed processes left is named, and removed when nobody can be writing it any more")
	for _, name := range must[[]string](t)(filepath.Glob(in("tmp_pack_*"))) {
		if filepath.Base(name) != "tmp_pack_young" {
			noErr(t, os.Chtimes(name, past, past))
		}
	}
	noErr(t, os.WriteFile(filepath.Join(s.dir, unverifiedDir, "pack-0001"), nil, 0o600)) // being borrowed
	live, err := s.newPack()
	noErr(t, err)
	defer live.discard()
	dead, err := s.newPack()
	noErr(t, err)
	dead.file.Close()
	if problems := must[[]Problem](t)(s.Check(ctx)); len(problems) != 2 || !strings.Contains(problems[0].Message, "pack-0000: its index is gone") ||
		problems[1].Invariant != "I6" || !strings.HasPrefix(problems[1].Message, "5 temporary files") {
		t.Errorf("check: %+v", problems)
	}
	stats := must[SweepStats](t)(s.Sweep(ctx))
	if stats.Temporary != 5 {
		t.Errorf("%+v", stats)
	}
	// A pack that was being borrowed is swept at once, since nobody holds it.
	for path, want := range map[string]bool{
		in("tmp_pack_young"): true, in("tmp_pack_old"): false, in(".tmp-1-pack-old.idx"): false,
		in("pack-0000.pack"): true, in("pack-0001.pack"): false, live.file.Name(): true, dead.file.Name(): false,
	} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	var later []string
	noErr(t, s.eachLeftover(ctx, time.Now().Add(2*foreignTempAge), func(path string, _ int64) error {
		later = append(later, filepath.Base(path))
		return nil
	}))
	if got := strings.Join(later, " "); got != "tmp_pack_young" {
		t.Errorf("two hours later: %s", got)
	}
}

func TestBrokenIndexHidesNoOtherObject(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	b := s.NewBatch()
	defer b.Discard()
	id := must[ID](t)(b.Blob([]byte("loose")))
	noErr(t, b.Flush(ctx))
	noErr(t, os.WriteFile(filepath.Join(s.packDir(), "pack-1.idx"), []byte("nonsense"), 0o600))
	noErr(t, os.WriteFile(filepath.Join(s.packDir(), "pack-1.pack"), []byte("nonsense"), 0o600))
	again := must[*Store](t)(Open(s.Dir()))
	defer again.Close()
	if ok, err := again.Has(id); !ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
	if got := must[[]byte](t)(again.Blob(id)); string(got) != "loose" {
		t.Errorf("%q", got)
	}
	if ok, err := again.Has(testID(3)); ok || err == nil {
		t.Errorf("absence was claimed beside a broken index: %v %v", ok, err)
	}
}
