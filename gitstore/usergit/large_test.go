package usergit

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestLargeFilesFillNoMemory: a file of the repository that is far longer than Git's can
// be is damaged, which is found without reading it. It counts what is allocated, and so
// runs beside no other test.
func TestLargeFilesFillNoMemory(t *testing.T) {
	dir := t.TempDir()
	r := &Repository{GitDir: dir, CommonDir: dir, Format: SHA1}
	head := func(count uint32) []byte {
		return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("DIRC"), 2), count)
	}
	write := func(begins []byte, size int64) func(string) error {
		return func(path string) error {
			return errors.Join(os.WriteFile(path, begins, 0o600), os.Truncate(path, size))
		}
	}
	for name, c := range map[string]struct {
		file string
		make func(path string) error
		read func() error
	}{
		"an index of zeros":            {"index", write(nil, 1<<27), func() error { _, err := ReadIndex(filepath.Join(dir, "index"), SHA1); return err }},
		"more entries than fit":        {"index", write(head(1<<31), 1<<27), func() error { _, err := ReadIndex(filepath.Join(dir, "index"), SHA1); return err }},
		"an index of a gigabyte":       {"index", write(head(1), 1<<30), func() error { _, err := ReadIndex(filepath.Join(dir, "index"), SHA1); return err }},
		"a HEAD of a gigabyte":         {"HEAD", write([]byte("ref: refs/heads/main"), 1<<30), func() error { _, _, err := r.readLoose("HEAD"); return err }},
		"a configuration of that size": {"config", write(nil, 1<<30), func() error { _, err := readSettings(filepath.Join(dir, "config")); return err }},
	} {
		if err := c.make(filepath.Join(dir, c.file)); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := c.read()
		runtime.ReadMemStats(&after)
		if damaged := (*DamagedError)(nil); !errors.As(err, &damaged) {
			t.Errorf("%s: %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
			t.Errorf("%s: %d bytes were allocated", name, took)
		}
		if err := os.Remove(filepath.Join(dir, c.file)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPackedRefsAreReadLineByLine finds a ref behind many others and behind a line that
// is far too long, in little memory.
func TestPackedRefsAreReadLineByLine(t *testing.T) {
	dir := t.TempDir()
	r := &Repository{GitDir: dir, CommonDir: dir, Format: SHA1}
	id := strings.Repeat("12", 20)
	long := strings.Repeat("x", 1<<17) + id + " refs/heads/hidden\n"
	text := strings.Repeat(strings.Repeat("ab", 20)+" refs/heads/other\n", 100_000) + long + id + " refs/heads/main"
	if err := os.WriteFile(filepath.Join(dir, "packed-refs"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := r.readPacked("refs/heads/main")
	runtime.ReadMemStats(&after)
	if err != nil || got.String() != id {
		t.Errorf("%s, %v", got, err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("%d bytes were allocated for %d", took, len(text))
	}
	for _, name := range []string{"refs/heads/hidden", "refs/heads/none"} {
		if got, err := r.readPacked(name); err != nil || !got.IsZero() {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// TestMoreSettingsThanFit says why the settings are unread, where git can say only that
// nobody listens any more.
func TestMoreSettingsThanFit(t *testing.T) {
	r := newRepo(t)
	r.write("../.gitconfig", "[a]\n"+strings.Repeat(" b = "+strings.Repeat("x", 1<<20)+"\n", 2*MaxConfig>>20+1))
	if c := r.configuration(); c.Unread == nil || !strings.Contains(c.Unread.Error(), "bytes of settings") {
		t.Errorf("unread: %v", c.Unread)
	}
}
