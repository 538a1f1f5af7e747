package capture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// TestWalkOfManyDirectories changes some of many directories, and walks with
// more goroutines than there are processors: what each walk gives must be what
// one without any memory gives.
func TestWalkOfManyDirectories(t *testing.T) {
	l := newLab(t, Settings{})
	random := rand.New(rand.NewPCG(5, 6))
	file := func() string {
		return fmt.Sprintf("d%d/e%d/g%d/f%d", random.IntN(6), random.IntN(5), random.IntN(3), random.IntN(3))
	}
	for range 400 {
		l.write(file(), fmt.Sprint(random.Uint64()))
	}
	l.scanner.workspace.Workers = 5
	l.walk()
	for step := range 30 {
		for range random.IntN(5) {
			path := file()
			above := path[:len("d0/e0")]
			info, err := os.Lstat(l.path(above))
			switch isFile := err == nil && !info.IsDir(); {
			case isFile || random.IntN(4) == 0:
				l.must(os.RemoveAll(l.path(above)))
			case random.IntN(3) == 0:
				l.must(os.RemoveAll(l.path(above)))
				l.write(above, "a file in the place of a directory")
			case random.IntN(2) == 0:
				l.must(os.RemoveAll(l.path(path)))
			default:
				l.write(path, fmt.Sprint(random.Uint64()))
			}
		}
		got := l.walk()
		fresh, err := l.newScanner().Capture(context.Background(), l.batch, l.refresh(), Dirty{All: true}, Options{})
		l.must(err)
		if got.Tree != fresh.Tree {
			t.Fatalf("step %d: walked to %q, there is %q", step, l.files(got), l.files(fresh))
		}
	}
}

// TestWalkOfNothingNewAllocatesLittle: what a walk costs is one lstat for each
// name, and no memory.
func TestWalkOfNothingNewAllocatesLittle(t *testing.T) {
	const files = 2000
	l := newLab(t, Settings{})
	for i := range files {
		l.write(fmt.Sprintf("d%d/f%d", i%2, i), "content")
	}
	l.write("link-to", "x")
	l.must(os.Symlink("link-to", l.path("link")))
	first := l.walk()
	for deadline := time.Now().Add(patience.Of(time.Minute)); first.Stats.ReadFiles > 0; {
		// Until the stat data are old enough to be trusted.
		if time.Now().After(deadline) {
			t.Fatalf("still reads %d files", first.Stats.ReadFiles)
		}
		first = l.walk()
	}
	rules := l.refresh()
	allocations := testing.AllocsPerRun(10, func() {
		r, err := l.scanner.Capture(context.Background(), l.batch, rules, Dirty{All: true}, Options{})
		l.must(err)
		if r.Stats.ReadFiles > 0 || r.Tree != first.Tree {
			t.Errorf("read %d files", r.Stats.ReadFiles)
		}
		l.scanner.Accept(r)
	})
	if allocations > files/10 {
		t.Errorf("a walk over %d files that changes nothing makes %.0f allocations", files, allocations)
	}
}

// TestDirectoryChangesUnderAWalkWithMemory changes a directory that stands as
// it did between its listing and its visit.
func TestDirectoryChangesUnderAWalkWithMemory(t *testing.T) {
	changes := map[string]func(l *lab){
		"vanished": func(*lab) {},
		"link":     func(l *lab) { l.must(os.Symlink(l.home, l.path("d"))) },
		"file":     func(l *lab) { l.write("d", "a file") },
		"another":  func(l *lab) { l.write("d/other", "other") },
		"fifo":     func(l *lab) { l.must(unix.Mkfifo(l.path("d"), 0o644)) },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, Settings{})
			l.must(os.WriteFile(filepath.Join(l.home, "private"), []byte("private"), 0o600))
			l.write("d/private", "mine")
			l.write("e/f", "stays")
			before := l.walk()
			once := true
			l.scanner.hooks.beforeDirectory = func(path string) {
				if path == "d" && once {
					once = false
					l.must(os.RemoveAll(l.path("d")))
					change(l)
				}
			}
			files := l.files(l.walk())
			for path, content := range files {
				if content == "private" {
					t.Errorf("%s was read through a link", path)
				}
			}
			if files["e/f"] != "stays" {
				t.Errorf("captured %q", files)
			}
			again := l.walk()
			if want := l.freshTree(); again.Tree != want || again.Tree == before.Tree {
				t.Errorf("the next walk gives %q", l.files(again))
			}
		})
	}
}

// TestWalksWhileEverythingChanges walks while files and directories come and
// go: no walk fails, and the first one after that is right.
func TestWalksWhileEverythingChanges(t *testing.T) {
	l := newLab(t, Settings{})
	for i := range 200 {
		l.write(fmt.Sprintf("d%d/e%d/f%d", i%4, i%3, i), "first")
	}
	l.walk()
	elsewhere := filepath.Join(t.TempDir(), "elsewhere") // what is written to a link is written there
	stop := make(chan struct{})
	var writers sync.WaitGroup
	writers.Go(func() {
		random := rand.New(rand.NewPCG(7, 8))
		for {
			select {
			case <-stop:
				return
			default:
			}
			dir := l.path(fmt.Sprintf("d%d/e%d", random.IntN(4), random.IntN(3)))
			name := filepath.Join(dir, fmt.Sprint("f", random.IntN(200)))
			// Any of these may fail: what they meet is not what was there before.
			switch random.IntN(5) {
			case 0:
				_ = os.RemoveAll(dir)
			case 1:
				_ = os.Rename(dir, l.path(fmt.Sprintf("d%d/x", random.IntN(4))))
			case 2:
				_ = os.Remove(name)
				_ = os.Symlink(elsewhere, name)
			default:
				_ = os.MkdirAll(dir, 0o755)
				_ = os.WriteFile(name, []byte(fmt.Sprint(random.Uint64())), 0o644)
			}
		}
	})
	for range 40 {
		l.walk()
	}
	close(stop)
	writers.Wait()
	if got, want := l.walk(), l.freshTree(); got.Tree != want {
		t.Errorf("the walk after all that holds %d files, which are not those there", len(l.files(got)))
	}
}

// TestTreeThatGrowsUnderTheWalk: somebody makes a directory in each one that the walk comes
// to. The walk comes to an end all the same, and says where.
func TestTreeThatGrowsUnderTheWalk(t *testing.T) {
	t.Parallel()
	l := newLab(t, Settings{})
	l.write("d/f", "f")
	at, err := unix.Open(l.root, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	l.must(err)
	defer func() { l.must(unix.Close(at)) }()
	l.scanner.hooks.beforeList = func(path string) {
		if path == "" {
			return
		}
		dir, err := unix.Openat(at, "d", unix.O_RDONLY|unix.O_DIRECTORY, 0) // a whole path takes long
		l.must(err)
		l.must(unix.Close(at))
		at = dir
		if err := unix.Mkdirat(at, "d", 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
			l.must(err)
		}
	}
	r := l.walk()
	end := "d" + strings.Repeat("/d", Deepest)
	if want := []documents.Skipped{{Path: end, Reason: documents.ReasonDepth}}; !slices.Equal(withoutTimes(r.Skipped), want) {
		t.Errorf("%d paths are left out", len(r.Skipped))
	}
	l.wantFiles(r, map[string]string{"d/f": "f"})
}

// TestNoWalkLeavesTheWorkspace: directories are exchanged for links that lead outside, and
// move into each other and out again, while walks go through them. Nothing from outside is
// ever captured.
func TestNoWalkLeavesTheWorkspace(t *testing.T) {
	t.Parallel()
	l := newLab(t, Settings{})
	outside := t.TempDir()
	l.must(os.MkdirAll(filepath.Join(outside, "private"), 0o755))
	for _, name := range []string{"key", "private/key"} {
		l.must(os.WriteFile(filepath.Join(outside, name), []byte("outside"), 0o600))
	}
	for _, name := range []string{"a/f", "a/b/f", "a/b/c/f", "x/f"} {
		l.write(name, "inside")
	}
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for seed := range uint64(2) {
		writers.Go(func() {
			dirs := []string{"a", "a/b", "a/b/c", "x", "x/b", "x/a/b", "b", "c"}
			random := rand.New(rand.NewPCG(seed, 3))
			draw := func() string { return l.path(dirs[random.IntN(len(dirs))]) }
			for {
				select {
				case <-stop:
					return
				default:
				}
				// Any of these may fail: what they meet is not what was there before.
				switch at := draw(); random.IntN(4) {
				case 0:
					_ = os.Rename(at, at+".was")
					_ = os.Symlink(outside, at)
					_ = os.RemoveAll(at + ".was")
				case 1:
					_ = os.Remove(at) // if it is a link
					_ = os.MkdirAll(at, 0o755)
					_ = os.WriteFile(at+"/f", []byte("inside"), 0o644)
				default:
					_ = os.Rename(at, draw())
				}
			}
		})
	}
	for range 150 {
		for path, content := range l.files(l.walk()) {
			if content == "outside" {
				t.Errorf("%q is a file from outside", path)
			}
		}
	}
	close(stop)
	writers.Wait()
	if got, want := l.walk(), l.freshTree(); got.Tree != want {
		t.Error("the walk after all that is not what is there")
	}
}
