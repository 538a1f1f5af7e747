package objects

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
)

func FuzzLooseObject(f *testing.F) {
	f.Add(must[[]byte](f)(Deflate(gitstore.ObjectHeader(gitstore.TypeBlob, 7), []byte("content"))))
	f.Add([]byte("x\x9c\x03\x00\x00\x00\x00\x01"))
	o := emptyDir(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		kind, data, err := o.DecodeLoose(raw)
		if err == nil && kind == 0 {
			t.Fatalf("%d bytes of no type", len(data))
		}
	})
}

// FuzzPack reads every object that a pack and its index, both of somebody
// else's making, say that they have.
func FuzzPack(f *testing.F) {
	dir := f.TempDir()
	run := func(stdin string, args ...string) string {
		out, err := git.Run(f.Context(), git.Command{Dir: dir, Stdin: strings.NewReader(stdin), Args: args})
		noErr(f, err)
		return string(out)
	}
	run("", "init", "-q", "--bare", ".")
	var ids strings.Builder
	for n := range 8 { // alike, so that most are differences
		ids.WriteString(run(strings.Repeat("line\n", 100)+strconv.Itoa(n), "hash-object", "-w", "--stdin"))
	}
	run(ids.String(), "pack-objects", "-q", "pack")
	packs := must[[]string](f)(filepath.Glob(filepath.Join(dir, "pack-*.pack")))
	if len(packs) != 1 {
		f.Fatalf("packs %v", packs)
	}
	pack := must[[]byte](f)(os.ReadFile(packs[0]))
	idx := must[[]byte](f)(os.ReadFile(packs[0][:len(packs[0])-len("pack")] + "idx"))
	f.Add(pack, idx)
	f.Add(pack[:len(pack)/2], idx)
	into := f.TempDir() // one for all: making it takes longer than reading what is in it
	base := filepath.Join(into, "pack", "pack-1111111111111111111111111111111111111111")
	noErr(f, os.Mkdir(filepath.Dir(base), 0o700))
	f.Fuzz(func(t *testing.T, pack, idx []byte) {
		// Removed each time: ext4 flushes a file when it is closed that was cut to
		// nothing and written again, which takes ten times as long as all the rest.
		defer os.Remove(base + ".pack")
		defer os.Remove(base + ".idx")
		noErr(t, os.WriteFile(base+".pack", pack, 0o600))
		noErr(t, os.WriteFile(base+".idx", idx, 0o600))
		o, err := OpenDir(into, "")
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
