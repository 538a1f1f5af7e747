package userfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestChange begins again with what others have written meanwhile, and gives up
// where they never stop.
func TestChange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "settings")
	add := func(line string, meanwhile func(attempt int) error) (bool, error) {
		attempt := 0
		return Change(file, 0o600, func(before []byte) ([]byte, error) {
			attempt++
			return append(slices.Clone(before), line...), meanwhile(attempt)
		})
	}
	theirs := func(attempt int) error {
		if attempt > 1 {
			return nil
		}
		before, err := Read(file)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		return os.WriteFile(file, append(before, "theirs\n"...), 0o600)
	}
	for range 2 { // a file that is not there, and one that is
		if changed, err := add("mine\n", theirs); !changed || err != nil {
			t.Fatal(changed, err)
		}
	}
	if p, err := Read(file); string(p) != "theirs\nmine\ntheirs\nmine\n" || err != nil {
		t.Errorf("%q, %v", p, err)
	}
	refused := errors.New("refused")
	if changed, err := add("", func(int) error { return refused }); changed || err != refused {
		t.Errorf("what change refuses: %t, %v", changed, err)
	}
	if changed, err := add("", func(int) error { return nil }); changed || err != nil {
		t.Errorf("what is so already: %t, %v", changed, err)
	}
	_, err := add("mine\n", func(attempt int) error {
		return os.WriteFile(file, []byte(fmt.Sprint(attempt)), 0o600)
	})
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file that others always change: %v", err)
	}
}

// TestChangeTogether loses nothing of what is written at the same time, and leaves
// nothing beside the file.
func TestChangeTogether(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings")
	const each = 8
	var all sync.WaitGroup
	errs := make(chan error, each*each)
	for who := range each {
		all.Go(func() {
			for n := range each {
				_, err := Change(file, 0o600, func(before []byte) ([]byte, error) {
					return fmt.Appendf(slices.Clone(before), "%d.%d\n", who, n), nil
				})
				errs <- err
			}
		})
	}
	all.Wait()
	for range each * each {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	p, err := Read(file)
	if lines := strings.Count(string(p), "\n"); lines != each*each || err != nil {
		t.Errorf("of %d lines %d are left: %v", each*each, lines, err)
	}
	if list, err := os.ReadDir(filepath.Dir(file)); len(list) != 1 || err != nil {
		t.Errorf("there is more than the file: %v, %v", list, err)
	}
}

// TestChangeBehindLink makes and removes what a link leads to, and leaves the link.
func TestChangeBehindLink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "dotfiles", "settings"), filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join("dotfiles", "settings"), link); err != nil {
		t.Fatal(err)
	}
	for _, content := range [][]byte{[]byte("mine"), nil} {
		if err := put(link, 0o600, content); err != nil {
			t.Fatal(err)
		}
		if p, err := Read(file); !same(p, content) || err != nil {
			t.Errorf("it holds %q, want %q: %v", p, content, err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is %v: %v", info, err)
		}
	}
	if err := os.Symlink("round", filepath.Join(dir, "round")); err != nil {
		t.Fatal(err)
	}
	if err := put(filepath.Join(dir, "round"), 0o600, []byte("x")); err == nil {
		t.Error("a link to itself is written to")
	}
}
