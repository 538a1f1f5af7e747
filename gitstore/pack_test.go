package gitstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLargeIndexIsReadInPlace: more objects than an index held in memory has.
func TestLargeIndexIsReadInPlace(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	b := s.NewBatch()
	defer b.Discard()
	const n = 45_000
	ids := make([]ID, n)
	for i := range ids {
		ids[i] = must[ID](t)(b.Blob(binary.BigEndian.AppendUint32(nil, uint32(i))))
	}
	noErr(t, b.Flush(ctx))
	packs := s.current()[0].packs
	if len(packs) != 1 || packs[0].whole != nil || packs[0].count() != n {
		t.Fatalf("%d packs", len(packs))
	}
	for i := 0; i < n; i += 7 {
		if got := must[[]byte](t)(s.Blob(ids[i])); binary.BigEndian.Uint32(got) != uint32(i) {
			t.Fatalf("object %d is %x", i, got)
		}
		absent := ids[i]
		absent[19] ^= 1
		if ok := must[bool](t)(s.hasQuick(absent)); ok {
			t.Fatalf("%s is found", absent)
		}
	}
	_, err := s.Git(ctx, "verify-pack", packs[0].base+".idx")
	noErr(t, err)
}

// TestLargeOffsets: packs over 2 GiB keep offsets in a table of their own.
func TestLargeOffsets(t *testing.T) {
	dir := t.TempDir()
	p := &packWriter{}
	want := map[ID]int64{}
	for i, off := range []int64{12, 1<<31 - 1, 1 << 31, 1<<31 + 5, 1 << 40} {
		id := testID(byte(i))
		want[id] = off
		p.entries = append(p.entries, packEntry{id: id, offset: off, crc: uint32(i)})
	}
	base := filepath.Join(dir, "pack-x")
	idx := p.index(make([]byte, 20))
	noErr(t, os.WriteFile(base+".idx", idx, 0o600))
	noErr(t, os.WriteFile(base+".pack", nil, 0o600))
	fi, err := os.Stat(base + ".idx")
	noErr(t, err)
	got, err := openPack(base, fi, &fileCache{max: 2})
	noErr(t, err)
	out, err := RunGit(context.Background(), GitCommand{Dir: dir, Stdin: bytes.NewReader(idx), Args: []string{"show-index", "--object-format=sha1"}})
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
	s, ctx := newStore(t), context.Background()
	young, old := filepath.Join(s.packDir(), "tmp_pack_young"), filepath.Join(s.packDir(), "tmp_pack_old")
	unnamed := filepath.Join(s.packDir(), "pack-0000.pack")
	for _, path := range []string{young, old, unnamed} {
		noErr(t, os.WriteFile(path, []byte("x"), 0o600))
	}
	past := time.Now().Add(-2 * foreignTempAge)
	noErr(t, os.Chtimes(old, past, past))
	noErr(t, os.Chtimes(unnamed, past, past))
	live, err := s.newPack()
	noErr(t, err)
	defer live.discard()
	dead, err := s.newPack()
	noErr(t, err)
	dead.file.Close()
	stats := must[SweepStats](t)(s.Sweep(ctx))
	if stats.Temporary != 3 {
		t.Errorf("%+v", stats)
	}
	for path, want := range map[string]bool{young: true, old: false, unnamed: false, live.file.Name(): true, dead.file.Name(): false} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestBrokenIndexHidesNoOtherObject(t *testing.T) {
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
