package restores

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/restore"
)

// TestIgnoredFinder looks in workspaces of more names than it looks at, and of places that
// nobody should look at.
func TestIgnoredFinder(t *testing.T) {
	t.Parallel()
	many := func(dir string) (list []string) {
		for i := range mostIgnoredNames + 100 {
			list = append(list, fmt.Sprintf("%s/%d", dir, i))
		}
		return list
	}
	for name, c := range map[string]struct {
		old, written, future []string // files
		mount, home          string   // directories
		stopped              bool
		found                string
		isCut                bool
	}{
		"files and a directory, which is named once": {written: []string{"a.o", "build/1", "build/x/2", "src/b.o", "src/c"}, found: "a.o build/ src/b.o"},
		"deep in an ignored directory":               {old: []string{"build/0"}, written: []string{"build/x/y/z"}, found: "build/"},
		"beside a large ignored directory":           {old: many("big"), written: []string{"src/deep/a.o"}, found: "src/deep/a.o", isCut: true},
		"in a large captured directory":              {old: many("src"), written: []string{"build/x/1"}, found: "build/", isCut: true},
		"a large ignored directory that was written": {written: many("big"), found: "big/"},
		"a time to come":                             {future: []string{"a.o"}},
		"behind a mount":                             {old: []string{"build/0"}, written: []string{"build/mnt/1"}, mount: "build/mnt"},
		"a mount itself":                             {written: []string{"build/1"}, mount: "build"},
		"in Umbra's own directory":                   {old: []string{"build/0"}, written: []string{"build/share/umbra/log"}, home: "build/share/umbra"},
		"stopped":                                    {written: []string{"a.o"}, stopped: true, found: "a.o"},
	} {
		dir, now := t.TempDir(), time.Now()
		put := func(at time.Time, list []string) {
			for _, file := range list {
				path := filepath.Join(dir, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, at, at); err != nil {
					t.Fatal(err)
				}
			}
		}
		then := now.Add(-time.Hour)
		put(then, c.old)
		put(now, c.written)
		put(now.Add(time.Hour), c.future)
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() && path != filepath.Join(dir, c.home) && path != filepath.Join(dir, c.mount) {
				err = os.Chtimes(path, then, then)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		root, err := beneath.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		rules, err := documents.ParseRules([]byte(`{"version":1,"size_cap":1000,"excludes":"*.o\nbuild/\nbig/\n","secrets":[]}`), func(string) ([]byte, bool, error) { return nil, false, nil })
		if err != nil {
			t.Fatal(err)
		}
		f := ignoredFinder{
			root: root, present: restore.Side{Rules: rules}, holds: func(restore.Side, string) (bool, error) { return false, nil },
			since: now.Add(-time.Minute).UnixNano(), now: now.UnixNano(), home: identityAt(t, filepath.Join(dir, c.home)),
		}
		if c.mount != "" {
			f.mounts = []string{filepath.Join(dir, c.mount)}
		}
		ctx, stop := context.WithCancel(context.Background())
		if c.stopped {
			stop()
		}
		err = f.find(ctx)
		stop()
		root.Close()
		found := strings.Join(slices.Sorted(maps.Keys(f.found)), " ")
		if (err != nil) != c.stopped || found != c.found || f.isCut != c.isCut {
			t.Errorf("%s: found %q, cut %v, %v; want %q, cut %v", name, found, f.isCut, err, c.found, c.isCut)
		}
	}
}

func identityAt(t *testing.T, dir string) beneath.Identity {
	root, err := beneath.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return root.Identity()
}
