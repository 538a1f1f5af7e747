package shadow

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
)

func FuzzLooseObject(f *testing.F) {
	s := newStore(f)
	b := s.NewBatch()
	id := must[gitstore.ID](f)(b.Blob([]byte("content")))
	noErr(f, b.Flush(context.Background()))
	raw, err := os.ReadFile(filepath.Join(s.Dir(), "objects", id.String()[:2], id.String()[2:]))
	if err == nil {
		f.Add(raw)
	}
	f.Add([]byte("x\x9c\x03\x00\x00\x00\x00\x01"))
	o := s.Objects
	f.Fuzz(func(t *testing.T, raw []byte) {
		kind, data, err := o.decodeLoose(raw)
		if err == nil && kind == 0 {
			t.Fatalf("%d bytes of no type", len(data))
		}
	})
}

// FuzzPack reads every object that a pack and its index, both of somebody
// else's making, say that they have.
func FuzzPack(f *testing.F) {
	s, ctx := newStore(f), context.Background()
	noErr(f, s.UpdateRef(ctx, gitstore.AgentRef(testMission), gitstore.ID{}, lockedCommits(f, s, 1)[0], gitstore.Derived))
	_ = must[[]byte](f)(s.Git(ctx, "repack", "-adfq"))
	packs := must[[]string](f)(filepath.Glob(filepath.Join(s.PackDir(), "pack-*.pack")))
	if len(packs) != 1 {
		f.Fatalf("packs %v", packs)
	}
	pack := must[[]byte](f)(os.ReadFile(packs[0]))
	idx := must[[]byte](f)(os.ReadFile(packs[0][:len(packs[0])-len("pack")] + "idx"))
	f.Add(pack, idx)
	f.Add(pack[:len(pack)/2], idx)
	objects := f.TempDir() // one for all: making it takes longer than reading what is in it
	base := filepath.Join(objects, "pack", "pack-1111111111111111111111111111111111111111")
	noErr(f, os.Mkdir(filepath.Dir(base), 0o700))
	f.Fuzz(func(t *testing.T, pack, idx []byte) {
		// Removed each time: ext4 flushes a file when it is closed that was cut to
		// nothing and written again, which takes ten times as long as all the rest.
		defer os.Remove(base + ".pack")
		defer os.Remove(base + ".idx")
		noErr(t, os.WriteFile(base+".pack", pack, 0o600))
		noErr(t, os.WriteFile(base+".idx", idx, 0o600))
		o, err := openObjectDir(objects)
		if err != nil {
			return
		}
		defer o.Close()
		for at := idxFanout; at+gitstore.IDSize <= len(idx) && at < idxFanout+20*gitstore.IDSize; at += gitstore.IDSize {
			id := gitstore.ID(idx[at : at+gitstore.IDSize])
			kind, data, err := o.Object(id)
			if err == nil && gitstore.HashObject(kind, data) != id {
				t.Fatalf("%s is not what it is named", id)
			}
		}
	})
}

func FuzzAlternates(f *testing.F) {
	f.Add([]byte("../../other/objects\n# comment\n\"quoted\\n\"\n"))
	dir := f.TempDir()
	noErr(f, os.MkdirAll(filepath.Join(dir, "info"), 0o700))
	f.Fuzz(func(t *testing.T, list []byte) {
		for line := range bytes.SplitSeq(list, []byte("\n")) {
			if at := alternateDir(dir, string(line)); at != "" && !filepath.IsAbs(at) {
				t.Fatalf("%q leads to %q", line, at)
			}
		}
	})
}
