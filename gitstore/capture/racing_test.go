package capture

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/scripts/hazards"
)

func TestFileWrittenWhileRead(t *testing.T) {
	for _, size := range []int{10, wholeSize + 10} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			l := newLab(t, Settings{})
			start := strings.Repeat("s", size)
			l.write("log", start)
			grown := 0
			l.scanner.hooks.afterRead = func(path string) {
				f, err := os.OpenFile(l.path(path), os.O_APPEND|os.O_WRONLY, 0)
				l.must(err)
				_, err = f.WriteString("+")
				l.must(err)
				l.must(f.Close())
				grown++
			}
			r := l.walk()
			if want := []string{"log"}; !slices.Equal(r.Changing, want) {
				t.Errorf("changing: %q", r.Changing)
			}
			got := l.files(r)["log"]
			if !strings.HasPrefix(got, start) || len(got) > size+grown {
				t.Errorf("captured %d bytes of a file of %d that grew %d times", len(got), size, grown)
			}
			l.scanner.hooks.afterRead = nil
			r = l.walk()
			if len(r.Changing) > 0 || l.files(r)["log"] != start+strings.Repeat("+", grown) {
				t.Errorf("the next capture: changing %q, %d bytes", r.Changing, len(l.files(r)["log"]))
			}
		})
	}
}

func TestFileWrittenOnceWhileRead(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("f", "before")
	once := true
	l.scanner.hooks.afterRead = func(string) {
		if once {
			once = false
			l.write("f", "later")
		}
	}
	r := l.walk()
	l.wantFiles(r, map[string]string{"f": "later"})
	if len(r.Changing) > 0 {
		t.Errorf("changing: %q", r.Changing)
	}
}

func TestFileTruncatedWhileStreamed(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("f", "first half, second half")
	plain, err := os.Open(l.path("f"))
	l.must(err)
	defer plain.Close()
	half := make([]byte, 10)
	_, err = io.ReadFull(plain, half)
	l.must(err)
	l.write("f", "FIRST HALF, SECOND HALF") // what another process does meanwhile
	rest, err := io.ReadAll(plain)
	l.must(err)
	hazards.Shown(t, hazards.H2, string(half)+string(rest) == "first half, SECOND HALF", "a plain read of a file that is written meanwhile gives what was never on disk")
	hazards.Held(t, hazards.H2, "a file that changes while it is read is read again until it holds still")
	l.write("f", strings.Repeat("x", wholeSize+100))
	n := 0
	l.scanner.hooks.beforeRead = func(string) {
		n++
		l.must(os.Truncate(l.path("f"), int64(wholeSize+100-10*n)))
	}
	r := l.walk()
	if got := len(l.files(r)["f"]); got != wholeSize+100-10*n {
		t.Errorf("captured %d bytes after %d truncations", got, n)
	}
}

func TestTypeChangesUnderTheCapture(t *testing.T) {
	hazards.Held(t, hazards.H2, "what vanishes, or becomes something else, between listing and reading, is taken for what it is now")
	changes := map[string]func(l *lab){
		"vanished":  func(*lab) {},
		"link":      func(l *lab) { l.must(os.Symlink("elsewhere", l.path("d/x"))) },
		"fifo":      func(l *lab) { l.must(unix.Mkfifo(l.path("d/x"), 0o644)) },
		"directory": func(l *lab) { l.write("d/x/y", "below") },
		"over cap":  func(l *lab) { l.write("d/x", strings.Repeat("x", 101)) },
		"another":   func(l *lab) { l.write("d/x", "another") },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, Settings{SizeCap: 100})
			l.write("d/a", "a")
			l.write("d/x", "x")
			once := true
			l.scanner.hooks.beforeOpen = func(path string) {
				if path == "d/x" && once {
					once = false
					l.must(os.Remove(l.path("d/x")))
					change(l)
				}
			}
			first := l.walk()
			l.scanner.hooks.beforeOpen = nil
			if again := l.walk(); again.Tree != first.Tree || !reflect.DeepEqual(again.Skipped, first.Skipped) {
				t.Errorf("captured %q, skipped %v; now %q, skipped %v",
					l.files(first), first.Skipped, l.files(again), again.Skipped)
			}
		})
	}
}

func TestDirectoryReplacedByLinkUnderTheCapture(t *testing.T) {
	hazards.Held(t, hazards.H2, "a directory that becomes a symlink between listing and reading is not followed")
	l := newLab(t, Settings{})
	outside := filepath.Join(l.home, "outside")
	l.must(os.Mkdir(outside, 0o755))
	l.must(os.WriteFile(filepath.Join(outside, "private"), []byte("private"), 0o644))
	for _, moment := range []string{"listing", "reading"} {
		l.write("d/private", "mine")
		swap := func(string) {
			l.must(os.RemoveAll(l.path("d")))
			l.must(os.Symlink(outside, l.path("d")))
		}
		l.scanner = l.newScanner()
		if moment == "listing" {
			l.scanner.hooks.beforeDirectory = swap
		} else {
			l.write("a", "a")
			l.scanner.hooks.beforeOpen = func(path string) {
				if path == "a" {
					swap(path)
				}
			}
		}
		for path, content := range l.files(l.walk()) {
			if content == "private" {
				t.Errorf("%s: %q was read through the link", moment, path)
			}
		}
		l.scanner.hooks.beforeDirectory, l.scanner.hooks.beforeOpen = nil, nil
		if got := l.files(l.walk())["d"]; got != outside {
			t.Errorf("%s: the link is captured as %q", moment, got)
		}
		l.must(os.Remove(l.path("d")))
	}
}
