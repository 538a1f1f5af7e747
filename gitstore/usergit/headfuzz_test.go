package usergit

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzHead reads HEAD, a loose ref and packed-refs of any bytes.
func FuzzHead(f *testing.F) {
	const id = "1111111111111111111111111111111111111111"
	f.Add([]byte("ref: refs/heads/main\n"), []byte(id+"\n"), []byte("# pack-refs with: peeled\n"+id+" refs/heads/main\n^"+id+"\n"))
	f.Add([]byte("ref: refs/heads/main\n"), []byte("ref: refs/heads/../../HEAD\n"), []byte(nil))
	f.Add([]byte(id), []byte(nil), []byte(id+" refs/heads/main"))
	dir := f.TempDir()
	for _, sub := range []string{"objects", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, head, loose, packed []byte) {
		for name, data := range map[string][]byte{"HEAD": head, "refs/heads/main": loose, "packed-refs": packed} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := At(dir)
		if err != nil {
			return
		}
		if h, err := r.Head(); err == nil && h.Ref != "" && !validRef(h.Ref) {
			t.Fatalf("HEAD is %+v", h)
		}
	})
}
