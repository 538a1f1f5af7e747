package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, err, target error) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Errorf("error is %v, want %v", err, target)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	return string(content)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

func TestWriteFile(t *testing.T) {
	for name, write := range map[string]func(string, fs.FileMode, []byte) error{
		"durable": WriteFile,
		"volatile": func(path string, mode fs.FileMode, content []byte) error {
			return WriteVolatile(filepath.Dir(filepath.Dir(filepath.Dir(path))), path, mode, content)
		},
	} {
		t.Run(name, func(t *testing.T) {
			top := filepath.Join(t.TempDir(), "new")
			path := filepath.Join(top, "deep", "f")
			must(t, write(path, 0o666, []byte("one")))
			must(t, write(path, 0o640, []byte("two")))
			if got := read(t, path); got != "two" {
				t.Errorf("content %q", got)
			}
			info, err := os.Stat(path)
			must(t, err)
			if info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v", info.Mode())
			}
			for _, dir := range []string{top, filepath.Dir(path)} {
				if info, err = os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
					t.Errorf("directory: %v %v", info.Mode(), err)
				}
			}
			if left := names(t, filepath.Dir(path)); len(left) != 1 {
				t.Errorf("left over: %v", left)
			}
			if err := write(filepath.Join(path, "below"), 0o600, nil); err == nil {
				t.Error("wrote below a file")
			}
			must(t, os.Mkdir(filepath.Join(top, "d"), 0o700))
			if err := write(filepath.Join(top, "d"), 0o600, nil); err == nil {
				t.Error("wrote over a directory")
			}
			if left := names(t, top); len(left) != 2 {
				t.Errorf("left over after an error: %v", left)
			}
		})
	}
}

func TestWriteFileKeepsLinks(t *testing.T) {
	dir := t.TempDir()
	for link, target := range map[string]string{"a": "dotfiles/a", "b": filepath.Join(dir, "a"), "c": "b", "loop": "loop"} {
		must(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	must(t, WriteFile(filepath.Join(dir, "c"), 0o600, []byte("x")))
	if got := read(t, filepath.Join(dir, "dotfiles", "a")); got != "x" {
		t.Errorf("content %q", got)
	}
	for _, link := range []string{"a", "b", "c"} {
		if info, err := os.Lstat(filepath.Join(dir, link)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", link)
		}
	}
	if err := WriteFile(filepath.Join(dir, "loop"), 0o600, nil); err == nil {
		t.Error("wrote to a loop")
	}
}

func TestPlace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sessions", "s.jsonl")
	fill := func(w io.Writer) error {
		_, err := io.WriteString(w, "line\n")
		return err
	}
	before := time.Now().Add(-time.Second)
	must(t, Place(path, 0o644, fill, PlaceOptions{}))
	info, err := os.Stat(path)
	must(t, err)
	if read(t, path) != "line\n" || info.Mode().Perm() != 0o644 || info.ModTime().Before(before) {
		t.Errorf("placed %q %v %v", read(t, path), info.Mode(), info.ModTime())
	}
	want(t, Place(path, 0o644, fill, PlaceOptions{Volatile: true}), fs.ErrExist)
	dangling := filepath.Join(dir, "link")
	must(t, os.Symlink("nowhere", dangling))
	want(t, Place(dangling, 0o644, fill, PlaceOptions{}), fs.ErrExist)

	then := time.Unix(1, 0)
	dated := filepath.Join(dir, "sessions", "dated")
	must(t, Place(dated, 0o644, fill, PlaceOptions{ModTime: then}))
	if info, err := os.Stat(dated); err != nil || !info.ModTime().Equal(then) {
		t.Errorf("placed with the time of %v: %v %v", then, info, err)
	}
	must(t, Remove(dated))

	broken := errors.New("broken")
	want(t, Place(filepath.Join(dir, "no"), 0o644, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return broken
	}, PlaceOptions{}), broken)
	if left := names(t, dir); len(left) != 2 {
		t.Errorf("left over: %v", left)
	}
	must(t, Remove(path))
	must(t, Remove(path))
}

// The name is taken while the content is being written: the loser must not
// replace it, by neither way of publishing.
func TestPlaceLosesTheRace(t *testing.T) {
	for name, publish := range map[string]func(string, string) error{"rename": renameNew, "link": linkNew} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "f")
			err := put("", path, 0o600, func(w io.Writer) error {
				return os.WriteFile(path, []byte("theirs"), 0o600)
			}, true, publish)
			want(t, err, fs.ErrExist)
			if got := read(t, path); got != "theirs" {
				t.Errorf("content %q", got)
			}
			must(t, put("", path+"2", 0o600, func(w io.Writer) error { return nil }, true, publish))
			if left := names(t, filepath.Dir(path)); len(left) != 2 {
				t.Errorf("left over: %v", left)
			}
		})
	}
}

// TestWriteBesideSweeps: what a sweep takes from a write is not an error of the write.
func TestWriteBesideSweeps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	done, swept := make(chan struct{}), make(chan error)
	go func() {
		var err error
		for over := false; !over; {
			_, failed := Sweep(dir)
			err = errors.Join(err, failed)
			select {
			case <-done:
				over = true
			default:
			}
		}
		swept <- err
	}()
	path := filepath.Join(dir, "state")
	var err error
	for n := range 3000 {
		if err = WriteVolatile(dir, path, 0o600, []byte(fmt.Sprint(n))); err != nil {
			break
		}
	}
	close(done)
	must(t, errors.Join(err, <-swept))
	if p, err := os.ReadFile(path); string(p) != "2999" || err != nil {
		t.Errorf("%q %v", p, err)
	}
}

func TestSweepLeavesWhatIsInUse(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".umbra-tmp-dead", ".umbra-notes", "f"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	must(t, os.MkdirAll(filepath.Join(dir, ".umbra-tmp-deaddir", "full"), 0o700))
	must(t, os.Symlink("f", filepath.Join(dir, ".umbra-tmp-link")))
	var swept []string
	must(t, Place(filepath.Join(dir, "placed"), 0o600, func(io.Writer) error {
		var err error
		swept, err = Sweep(dir)
		return err
	}, PlaceOptions{}))
	if got := fmt.Sprint(swept); got != "[.umbra-tmp-dead .umbra-tmp-deaddir]" {
		t.Errorf("swept %s", got)
	}
	if got := fmt.Sprint(names(t, dir)); got != "[.umbra-notes .umbra-tmp-link f placed]" {
		t.Errorf("left %s", got)
	}
	if swept, err := Sweep(filepath.Join(dir, "none")); len(swept) != 0 || err != nil {
		t.Errorf("sweep of nothing: %v %v", swept, err)
	}
}
