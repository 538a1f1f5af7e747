package objects

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
)

// emptyDir makes an object directory without objects.
func emptyDir(t testing.TB) *Reader {
	t.Helper()
	dir := t.TempDir()
	noErr(t, os.Mkdir(filepath.Join(dir, "pack"), 0o700))
	return must[*Reader](t)(OpenDir(dir, ""))
}

// withIndex gives a pack of a Reader that has an index of these entries and no content.
func withIndex(t *testing.T, entries []packEntry) (*Reader, *Pack) {
	t.Helper()
	o := emptyDir(t)
	base := filepath.Join(o.root, "pack", "pack-x")
	noErr(t, os.WriteFile(base+".pack", nil, 0o600))
	noErr(t, os.WriteFile(base+".idx", (&PackWriter{entries: entries}).index(make([]byte, gitstore.IDSize)), 0o600))
	noErr(t, o.Rescan())
	p := o.Own().Packs[0]
	noErr(t, p.Broken)
	return o, p
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		noErr(t, err)
		return v
	}
}

func noErr(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// numbered is an id of its own for each number.
func numbered(n int) gitstore.ID {
	return gitstore.HashObject(gitstore.TypeBlob, binary.BigEndian.AppendUint32(nil, uint32(n)))
}
