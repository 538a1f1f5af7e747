package capture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
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
	for deadline := time.Now().Add(time.Minute); first.Stats.ReadFiles > 0; {
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
