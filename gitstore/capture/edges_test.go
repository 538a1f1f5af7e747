package capture

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/scripts/hazards"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

func (l *lab) wantFiles(r *Result, want map[string]string) {
	l.t.Helper()
	if got := l.files(r); !reflect.DeepEqual(got, want) {
		l.t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestSameSizeEditWithMtimePutBack(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("f", "before")
	l.walk()
	info, err := os.Stat(l.path("f"))
	l.must(err)
	l.write("f", "after!")
	l.must(os.Chtimes(l.path("f"), time.Time{}, info.ModTime()))
	again, err := os.Stat(l.path("f"))
	l.must(err)
	hazards.Shown(t, hazards.H4, info.Size() == again.Size() && info.ModTime().Equal(again.ModTime()), "a cache of sizes and mtimes does not see an edit of the same size whose time was put back")
	hazards.Held(t, hazards.H4, "ctime, inode and nanoseconds count too")
	l.wantFiles(l.walk(), map[string]string{"f": "after!"})
}

func TestEditsInTheTickOfTheCapture(t *testing.T) {
	hazards.Held(t, hazards.H4, "stat data is believed only if it is older than the read, by the file system's own clock")
	l := newLab(t, Settings{})
	for i := range 300 {
		content := fmt.Sprintf("%04d", i)
		l.write("f", content)
		l.wantFiles(l.walk(), map[string]string{"f": content})
		if t.Failed() {
			t.Fatalf("edit %d was missed", i)
		}
	}
}

func TestStampTrusts(t *testing.T) {
	const second = int64(time.Second)
	now := 100*second + 500
	for _, c := range []struct {
		mtime, ctime int64
		coarse, want bool
	}{
		{90*second + 1, 90*second + 1, false, true},
		{now, 90*second + 1, false, false},
		{90*second + 1, now, false, false},
		{now - 19e6, now - 19e6, false, false},
		{now - 21e6, now - 21e6, false, true},
		{now - 21e6, now - 21e6, true, false},
		{now - 3*second, now - 3*second, true, true},
		{now - second, 99 * second, false, false}, // a file system that keeps seconds
		{97 * second, 97 * second, false, true},
		{200 * second, 90*second + 1, false, false}, // the clock went backwards
	} {
		s := stamp{now: now, coarse: c.coarse}
		if got := s.trusts(&fingerprint{mtime: c.mtime, ctime: c.ctime}); got != c.want {
			t.Errorf("mtime %d, ctime %d, coarse %v: %v", c.mtime, c.ctime, c.coarse, got)
		}
	}
}

// settle waits until the stat data of everything in the workspace are trusted,
// so that a test can tell what is read again.
func (l *lab) settle() *Result {
	l.t.Helper()
	for deadline := time.Now().Add(patience.Of(time.Minute)); ; {
		r := l.walk()
		if l.walk().Stats.ReadFiles == 0 {
			return r
		}
		if time.Now().After(deadline) {
			l.t.Fatal("stat data are never trusted")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestWhatIsTrustedIsNotReadAgain(t *testing.T) {
	l := newLab(t, Settings{})
	for i := range 50 {
		l.write(fmt.Sprintf("d%d/f", i), "x")
	}
	l.settle()
	l.write("d7/f", "y")
	if r := l.walk(); r.Stats.ReadFiles != 1 || r.Stats.Files != 50 {
		t.Errorf("read %d of %d files", r.Stats.ReadFiles, r.Stats.Files)
	}
	// A dirty path is read whatever its stat data say.
	l.settle()
	if r := l.paths("d9/f"); r.Stats.ReadFiles != 1 || r.Walked {
		t.Errorf("read %d files, walked %v", r.Stats.ReadFiles, r.Walked)
	}
	if r := l.paths("d9"); r.Stats.ReadFiles != 0 {
		t.Errorf("read %d files of a dirty directory", r.Stats.ReadFiles)
	}
}

// TestRecheckFindsWhatStatCannotSee changes a captured id to stand for a write
// that left no trace in the stat data, such as a second store to a mapping.
func TestRecheckFindsWhatStatCannotSee(t *testing.T) {
	l := newLab(t, Settings{})
	for i := range 9 {
		l.write(fmt.Sprintf("d/f%d", i), fmt.Sprint(i))
	}
	want := l.settle().Tree
	e := l.scanner.base.at("d/f5")
	e.id[0]++
	corrected := 0
	for range 3 {
		r := l.capture(Dirty{}, Options{Recheck: 3})
		if r.Stats.ReadFiles != 3 {
			t.Errorf("read %d files", r.Stats.ReadFiles)
		}
		corrected += r.Stats.Corrected
	}
	r := l.walk()
	if corrected != 1 || r.Tree != want {
		t.Errorf("corrected %d, tree right: %v", corrected, r.Tree == want)
	}
}

func TestNames(t *testing.T) {
	l := newLab(t, Settings{})
	l.gitInit()
	l.write("x/:(glob)*", "magic")
	l.write("x/-rf", "a flag")
	naive := hazards.NewNaive(t, l.path("x"))
	_, magic := naive.Try("add", ":(glob)*")
	_, flag := naive.Try("add", "-rf")
	hazards.Shown(t, hazards.H22, magic == nil && flag != nil && naive.Git("ls-files") != ":(glob)*", "`git add` takes a name for pathspec magic, and another for flags")
	hazards.Held(t, hazards.H22, "names are bytes; the tree is the one that git makes of them")
	for i, name := range []string{
		"a b", "new\nline", "tab\tb", "-rf", ":(glob)*", "\xff\xfe", "e\u0301", "\u00e9", strings.Repeat("n", 255),
		"nul", "CON", "dot.", "space ", "back\\slash", "quote\"", "\x01", "*", "?", "[x]", "~", "#x", "!x", "$(x)",
	} {
		l.write(name, fmt.Sprint(i))
		l.write("d/"+name, fmt.Sprint(i, i))
	}
	l.write("a-b", "")
	l.write("a/b", "")
	l.write("a.b", "")
	if got, want := l.walk().Tree, l.oracle(); got != want {
		t.Errorf("tree %s, git says %s", got, want)
	}
}

func TestPathsOverPathMax(t *testing.T) {
	hazards.Held(t, hazards.H22, "paths of more than 4,096 bytes are captured")
	l := newLab(t, Settings{})
	root, err := beneath.Open(l.root)
	l.must(err)
	defer root.Close()
	deep := strings.Repeat(strings.Repeat("d", 200)+"/", 40) + strings.Repeat("e/", 100)
	l.must(root.MkdirAll(strings.TrimSuffix(deep, "/"), 0o755))
	write := func(content string) {
		_ = root.Unlink(deep + "f")
		f, err := root.Create(deep+"f", 0o644)
		l.must(err)
		_, err = f.WriteString(content)
		l.must(err)
		l.must(f.Close())
	}
	write("deep")
	l.wantFiles(l.walk(), map[string]string{deep + "f": "deep"})
	write("deeper")
	l.wantFiles(l.paths(deep+"f"), map[string]string{deep + "f": "deeper"})
	l.wantFiles(l.walk(), map[string]string{deep + "f": "deeper"})
}

func TestReservedAndScratchNames(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("a", "a")
	l.write(".git/config", "")
	l.write("d/.git", "gitdir: nowhere\n")
	l.write("d/b", "b")
	l.write("e/.GIT/hooks/x", "evil")
	l.write("git~1", "evil")
	l.write("d/.umbra-01234567-89ab-cdef-0123-456789abcdef-0", "staged")
	l.write("d/.umbra-notes", "mine")
	r := l.walk()
	l.wantFiles(r, map[string]string{"a": "a", "d/b": "b", "d/.umbra-notes": "mine"})
	want := []documents.Skipped{{Path: "e/.GIT", Reason: documents.ReasonReserved}, {Path: "git~1", Reason: documents.ReasonReserved}}
	if !reflect.DeepEqual(withoutTimes(r.Skipped), want) {
		t.Errorf("skipped %v", r.Skipped)
	}
}

func TestSpecialFilesDoNotHang(t *testing.T) {
	l := newLab(t, Settings{})
	l.must(unix.Mkfifo(l.path("fifo"), 0o644))
	hung := exec.Command("cat", l.path("fifo"))
	l.must(hung.Start())
	ended := make(chan error, 1)
	go func() { ended <- hung.Wait() }()
	select {
	case <-ended:
		hung = nil
	case <-time.After(50 * time.Millisecond):
		l.must(hung.Process.Kill())
		<-ended
	}
	hazards.Shown(t, hazards.H22, hung != nil, "whoever opens a FIFO to read it waits for ever")
	hazards.Held(t, hazards.H22, "special files are listed and not opened")
	socket, err := net.Listen("unix", l.path("socket"))
	l.must(err)
	defer socket.Close()
	r := l.walk()
	want := []documents.Skipped{{Path: "fifo", Reason: documents.ReasonSpecial}, {Path: "socket", Reason: documents.ReasonSpecial}}
	if !reflect.DeepEqual(withoutTimes(r.Skipped), want) {
		t.Errorf("skipped %v", r.Skipped)
	}
}

func TestSizeCap(t *testing.T) {
	l := newLab(t, Settings{SizeCap: 10})
	l.write("at", strings.Repeat("x", 10))
	l.write("over", strings.Repeat("x", 11))
	l.write("grows", "x")
	l.write("shrinks", strings.Repeat("x", 12))
	r := l.walk()
	want := []documents.Skipped{{Path: "over", Reason: documents.ReasonSize, Size: 11}, {Path: "shrinks", Reason: documents.ReasonSize, Size: 12}}
	if !reflect.DeepEqual(withoutTimes(r.Skipped), want) {
		t.Errorf("skipped %v", r.Skipped)
	}
	l.write("grows", strings.Repeat("x", 13))
	l.write("shrinks", "y")
	r = l.paths("grows", "shrinks")
	want = []documents.Skipped{{Path: "grows", Reason: documents.ReasonSize, Size: 13}, {Path: "over", Reason: documents.ReasonSize, Size: 11}}
	if !reflect.DeepEqual(withoutTimes(r.Skipped), want) {
		t.Errorf("skipped %v", r.Skipped)
	}
	l.wantFiles(r, map[string]string{"at": strings.Repeat("x", 10), "shrinks": "y"})
}

func TestEmptyAndWhollyIgnored(t *testing.T) {
	const empty = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	l := newLab(t, Settings{})
	if got := l.walk().Tree.String(); got != empty {
		t.Errorf("empty workspace: %s", got)
	}
	l.gitInit()
	l.write(".gitignore", "*\n")
	l.write("a", "a")
	r := l.walk()
	if r.Tree.String() != empty {
		t.Errorf("ignored workspace: %q", l.files(r))
	}
}

func TestMovedRoot(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("a", "a")
	l.walk()
	aside := l.root + ".aside"
	fails := func(what string) {
		t.Helper()
		if _, err := l.try(Dirty{Paths: []string{"a"}}, Options{}); !errors.Is(err, ErrMoved) {
			t.Errorf("%s: %v", what, err)
		}
	}
	l.must(os.Rename(l.root, aside))
	fails("missing")
	l.must(os.Mkdir(l.root, 0o755))
	fails("another directory")
	l.must(os.Remove(l.root))
	l.must(os.WriteFile(l.root, nil, 0o644))
	fails("a file")
	l.must(os.Remove(l.root))
	l.must(os.Rename(aside, l.root))
	l.scanner.hooks.beforeOpen = func(string) { l.must(os.Rename(l.root, aside)) }
	fails("moved away meanwhile")
	l.scanner.hooks.beforeOpen = nil
	l.must(os.Rename(aside, l.root))
	l.write("a", "b")
	l.wantFiles(l.paths(), map[string]string{"a": "b"})
}

func TestMassDeletionIsWalked(t *testing.T) {
	l := newLab(t, Settings{})
	for i := range 120 {
		l.write(fmt.Sprintf("d%d/f", i), "x")
	}
	l.walk()
	l.must(os.RemoveAll(l.path("d0")))
	if r := l.paths("d0"); r.Walked {
		t.Error("one deletion was walked")
	}
	var gone []string
	for i := range 80 {
		gone = append(gone, fmt.Sprintf("d%d", i))
		l.must(os.RemoveAll(l.path(gone[i])))
	}
	l.write("unnoticed", "x")
	r := l.paths(gone...)
	if _, ok := l.files(r)["unnoticed"]; !r.Walked || !ok || r.Stats.Files != 41 {
		t.Errorf("walked %v, %d files", r.Walked, r.Stats.Files)
	}
}

func TestFailedCaptureIsMadeUpFor(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("a", "a")
	l.write("d/b", "b")
	l.walk()
	l.write("a", "A")
	l.must(os.Remove(l.path("d/b")))
	broken := errors.New("disk full")
	l.batch.fail = func() error { return broken }
	if _, err := l.try(Dirty{Paths: []string{"a", "d/b"}}, Options{}); !errors.Is(err, broken) {
		t.Fatalf("got %v", err)
	}
	// The batch's own EIO is no unreadable file.
	l.batch.fail = func() error { return unix.EIO }
	if r, err := l.try(Dirty{Paths: []string{"a", "d/b"}}, Options{}); !errors.Is(err, unix.EIO) {
		t.Fatalf("got %v, %v", r, err)
	}
	l.batch.fail = nil
	// A capture that was not accepted is as good as one that failed.
	if _, err := l.try(Dirty{}, Options{}); err != nil {
		t.Fatal(err)
	}
	l.wantFiles(l.paths(), map[string]string{"a": "A"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.scanner.Capture(ctx, l.batch, l.refresh(), Dirty{All: true}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestModes(t *testing.T) {
	l := newLab(t, Settings{})
	for _, name := range []string{"a", "b", "c", "d/e"} {
		l.write(name, name)
	}
	l.must(os.Chmod(l.path("b"), 0o600))
	l.must(os.Chmod(l.path("c"), 0o750))
	for _, dir := range []string{"empty/inner", "special", "ignored/x"} {
		l.must(os.MkdirAll(l.path(dir), 0o755))
	}
	l.write(".gitignore", "ignored/\n")
	l.must(unix.Mkfifo(l.path("special/fifo"), 0o644))
	l.must(os.Link(l.path("a"), l.path("d/linked")))
	l.walk()
	l.must(os.Chmod(l.path("d"), 0o700|os.ModeSetgid))
	got := l.walk().Modes
	want := &documents.Modes{
		File: documents.KnownPerm(0o644), Executable: documents.KnownPerm(0o750), Directory: documents.KnownPerm(0o755),
		Unusual: map[string]uint32{"b": 0o600, "d": 0o2700},
		Empty:   []string{"empty/inner", "special"}, Links: [][]string{{"a", "d/linked"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestDirtyPathsOfAnyForm(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("d/a", "a")
	l.walk()
	l.write("d/a", "b")
	l.wantFiles(l.paths("/d/"), map[string]string{"d/a": "b"})
	for i, path := range []string{"../x", "./d", "d/../d/a", "d//a", "d/a\x00", "", "."} {
		content := fmt.Sprint(i)
		l.write("d/a", content)
		if r := l.paths(path); !r.Walked || l.files(r)["d/a"] != content {
			t.Errorf("%q: walked %v, captured %q", path, r.Walked, l.files(r))
		}
	}
	// Neither there nor ever captured.
	for _, path := range []string{"gone", "d/a/below", "no/such/dir", ".git/index", "d/.git/x"} {
		l.wantFiles(l.paths(path), map[string]string{"d/a": "6"})
	}
}

func TestAvoidedDirectory(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("a", "a")
	l.write("hidden/umbra/x", "own")
	root, err := beneath.Open(l.path("hidden/umbra"))
	l.must(err)
	defer root.Close()
	l.scanner.workspace.Avoid = []beneath.Identity{root.Identity()}
	for range 2 {
		r := l.walk()
		l.wantFiles(r, map[string]string{"a": "a"})
		if want := []documents.Skipped{{Path: "hidden/umbra", Reason: documents.ReasonReserved}}; !reflect.DeepEqual(withoutTimes(r.Skipped), want) {
			t.Errorf("skipped %v", r.Skipped)
		}
	}
}

// withoutTimes is a list without the times at which files were written.
func withoutTimes(list []documents.Skipped) []documents.Skipped {
	out := slices.Clone(list)
	for i := range out {
		out[i].Mtime = 0
	}
	return out
}
