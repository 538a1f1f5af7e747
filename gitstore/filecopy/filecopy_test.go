package filecopy

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// TestCopy copies files around the size of a buffer, twice with one Copier, whose file
// systems have been asked for shared blocks by then.
func TestCopy(t *testing.T) {
	t.Parallel()
	var c Copier
	for name, size := range map[string]int{"empty": 0, "small": 5, "buffer": Whole, "buffer and one": Whole + 1, "two": Whole + 2, "large": 3*Whole + 7} {
		dir := t.TempDir()
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(i%251 + 1)
		}
		if size > 2*Whole {
			clear(want[Whole : 2*Whole]) // a hole, below
		}
		writeSparse(t, filepath.Join(dir, "from"), want)
		d := openDir(t, dir)
		for _, to := range []string{"once", "again"} {
			from, st, err := d.OpenHandle("from")
			if err != nil {
				t.Fatal(err)
			}
			target, err := d.CreateHandle(to, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Copy(from, target, st.Size); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := SetModTime(target, st.Mtime); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			_, _ = from.Close(), target.Close()
			got, err := os.ReadFile(filepath.Join(dir, to))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %s: the copy has %d bytes of %d, or others: %v", name, to, len(got), size, err)
			}
			_, copied, err := d.OpenHandle(to)
			if err != nil || copied.Mtime != st.Mtime {
				t.Errorf("%s: the copy is of %d, the original of %d: %v", name, copied.Mtime, st.Mtime, err)
			}
		}
	}
}

func openDir(t *testing.T, path string) *beneath.Dir {
	t.Helper()
	root, err := beneath.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	d, err := root.OpenDir("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// writeSparse writes a file that has no block where there are zeros for a whole buffer.
func writeSparse(t *testing.T, path string, content []byte) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for at := 0; at < len(content); at += Whole {
		part := content[at:min(at+Whole, len(content))]
		if len(bytes.Trim(part, "\x00")) == 0 {
			continue
		}
		if _, err := f.WriteAt(part, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCopyOfAFileThatShrank takes what is there: its caller looks whether it has changed.
func TestCopyOfAFileThatShrank(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "from"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := openDir(t, dir)
	var c Copier
	c.noShare.Store(true)
	for to, size := range map[string]int64{"within a buffer": 100, "beyond": 2 * Whole} {
		from, _, err := d.OpenHandle("from")
		if err != nil {
			t.Fatal(err)
		}
		target, err := d.CreateHandle(to, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Copy(from, target, size); err != nil {
			t.Errorf("%s: %v", to, err)
		}
		_, _ = from.Close(), target.Close()
		if got, err := os.ReadFile(filepath.Join(dir, to)); err != nil || !bytes.HasPrefix(got, []byte("short")) {
			t.Errorf("%s: the copy is %q, %v", to, got, err)
		}
	}
}
