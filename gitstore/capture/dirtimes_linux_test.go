package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// byTimes is a walk that goes by the directories' times, and the directories
// that it listed all the same.
func (l *lab) byTimes() (*Result, []string) {
	l.t.Helper()
	return l.listing(Options{ByTimes: true})
}

func (l *lab) listing(options Options) (*Result, []string) {
	l.t.Helper()
	listed := make(chan string, 1000)
	l.scanner.hooks.beforeList = func(path string) { listed <- path }
	r := l.capture(Dirty{All: true}, options)
	l.scanner.hooks.beforeList = nil
	close(listed)
	var paths []string
	for path := range listed {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return r, paths
}

// settleTimes walks until the times of every directory, but those that are listed
// always, are old enough.
func (l *lab) settleTimes(always ...string) {
	l.t.Helper()
	for deadline := time.Now().Add(patience.Of(time.Minute)); ; {
		r, listed := l.byTimes()
		if slices.Equal(listed, always) && r.Stats.ReadFiles == 0 {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("still lists %q", listed)
		}
	}
}

// stampedLab is a workspace where times tell of names.
func stampedLab(t *testing.T) *lab {
	l := newLab(t, Settings{SizeCap: 4 << 20})
	root, err := beneath.Open(l.root)
	l.must(err)
	defer root.Close()
	dir, err := root.OpenDir("")
	l.must(err)
	defer dir.Close()
	system, err := fileSystemOf(dir)
	l.must(err)
	if !system.stampsNames {
		t.Skipf("the temporary directory is on a file system that is not known to stamp names")
	}
	return l
}

// TestWalkByTimes changes one thing at a time in a tree whose directories' times
// are all believed: what the walk gives is what one without memory gives, and
// nothing is listed but what was changed.
func TestWalkByTimes(t *testing.T) {
	cases := map[string]struct {
		change func(l *lab)
		listed []string // besides those that always are; "" is the root
	}{
		"nothing":          {func(*lab) {}, nil},
		"content":          {func(l *lab) { l.write("d/f", "other content") }, nil},
		"mode":             {func(l *lab) { l.must(os.Chmod(l.path("d/f"), 0o755)) }, nil},
		"a new file":       {func(l *lab) { l.write("d/new", "new") }, []string{"d"}},
		"a removed file":   {func(l *lab) { l.must(os.Remove(l.path("d/f"))) }, []string{"d"}},
		"a renamed file":   {func(l *lab) { l.must(os.Rename(l.path("d/f"), l.path("d/g"))) }, []string{"d"}},
		"a moved file":     {func(l *lab) { l.must(os.Rename(l.path("d/f"), l.path("e/g"))) }, []string{"d", "e"}},
		"a replaced file":  {func(l *lab) { l.write("x", "file"); l.must(os.Rename(l.path("x"), l.path("d/f"))) }, []string{"", "d"}},
		"a link to a file": {func(l *lab) { l.must(os.Link(l.path("d/f"), l.path("e/linked"))) }, []string{"e"}},
		"a file becomes a link": {func(l *lab) {
			l.must(os.Remove(l.path("d/f")))
			l.must(os.Symlink("elsewhere", l.path("d/f")))
		}, []string{"d"}},
		"a file becomes a FIFO": {func(l *lab) {
			l.must(os.Remove(l.path("d/f")))
			l.must(unix.Mkfifo(l.path("d/f"), 0o600))
		}, []string{"d"}},
		"a new directory":     {func(l *lab) { l.write("d/sub/f", "deep") }, []string{"d", "d/sub"}},
		"a removed directory": {func(l *lab) { l.must(os.RemoveAll(l.path("d"))) }, []string{""}},
		"another directory of the name": {func(l *lab) {
			l.must(os.Rename(l.path("d"), l.path("was")))
			l.write("d/f", "another")
		}, []string{"", "d", "was"}},
		"a directory becomes a link": {func(l *lab) {
			l.must(os.RemoveAll(l.path("d")))
			l.must(os.Symlink("e", l.path("d")))
		}, []string{""}},
		"times put back": {func(l *lab) {
			info, err := os.Stat(l.path("d"))
			l.must(err)
			l.write("d/new", "new")
			l.must(os.Chtimes(l.path("d"), info.ModTime(), info.ModTime()))
		}, []string{"d"}},
		"new rules":           {func(l *lab) { l.write("d/.gitignore", "f\n") }, []string{"d"}},
		"other rules":         {func(l *lab) { l.write("r/.gitignore", "*.o\n") }, []string{"r", "r/s"}},
		"rules taken away":    {func(l *lab) { l.write("r/.gitignore", "\n") }, []string{"r", "r/s"}},
		"rules from above":    {func(l *lab) { l.write("r/.gitignore", "nothing\n") }, []string{"r", "r/s"}},
		"a repository":        {func(l *lab) { l.git(l.path("d"), "init", "-q", ".") }, []string{"d"}},
		"in a repository":     {func(l *lab) { l.write("n/new", "new") }, []string{"n"}},
		"excludes changed":    {func(l *lab) { l.must(os.WriteFile(l.sources.Excludes, []byte("f\n"), 0o600)) }, []string{"", "d", "e", "n", "r", "r/s", "z"}},
		"hidden rules change": {func(l *lab) { l.must(os.Truncate(l.path("z/.gitignore"), 2)) }, []string{"z"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			l := stampedLab(t)
			for _, path := range []string{"d/f", "e/f", "n/f", "r/f.o", "r/ignored", "r/s/f.o", "r/s/ignored", "z/f"} {
				l.write(path, path)
			}
			l.write("r/.gitignore", "ignored\n")
			l.git(l.path("n"), "init", "-q", ".")
			// Rules that are too long, and rule themselves out.
			l.write("z/.gitignore", "f\n")
			l.must(os.Truncate(l.path("z/.gitignore"), MaxIgnoreFile+2))
			l.write(".gitignore", "/z/.gitignore\n")
			l.settleTimes("n", "z")
			held := l.heldNow()
			c.change(l)
			got, listed := l.byTimes()
			if want := l.freshTree(held...); got.Tree != want {
				t.Errorf("the walk gives %q", l.files(got))
			}
			want := append(c.listed, "n", "z")
			slices.Sort(want)
			if want = slices.Compact(want); !slices.Equal(listed, want) {
				t.Errorf("listed %q, not %q", listed, want)
			}
			if again, _ := l.byTimes(); again.Tree != got.Tree {
				t.Errorf("the next walk gives %q", l.files(again))
			}
		})
	}
}

// TestWalkByTimesAtOnce: what is made right after a directory was listed, while
// its times can't tell, is found.
func TestWalkByTimesAtOnce(t *testing.T) {
	l := newLab(t, Settings{})
	for i := range 300 {
		l.write(fmt.Sprintf("d/f%d", i), "content")
		got, _ := l.byTimes()
		if files := l.files(got); len(files) != i+1 {
			t.Fatalf("%d files were made, %d captured", i+1, len(files))
		}
	}
}

// TestOnlyWalksByTimesGoByTimes: any other walk, one that verifies above all,
// asks the system for every name.
func TestOnlyWalksByTimesGoByTimes(t *testing.T) {
	l := stampedLab(t)
	l.write("d/e/f", "f")
	l.settleTimes()
	all := []string{"", "d", "d/e"}
	for name, options := range map[string]Options{
		"a full walk":     {},
		"one to verify":   {Verify: true, ByTimes: true},
		"one of suspects": {ByTimes: true, Present: l.batch.has},
	} {
		if options.Present != nil {
			l.scanner.Suspect()
		}
		if _, listed := l.listing(options); !slices.Equal(listed, all) {
			t.Errorf("%s lists %q", name, listed)
		}
	}
	// A memory that comes from a file has no times.
	file := filepath.Join(l.home, "cache")
	l.must(l.scanner.Save(1, func(data []byte) error { return os.WriteFile(file, data, 0o600) }))
	var err error
	l.scanner, err = OpenScanner(l.scanner.workspace, file, 1)
	l.must(err)
	l.scanner.hooks = &hooks{}
	if _, listed := l.byTimes(); !slices.Equal(listed, all) {
		t.Errorf("a walk with a memory from a file lists %q", listed)
	}
}

// TestRulesThatFailedLeaveNoTimes: a walk by other rules that fails leaves none of
// its findings behind for one by the former rules.
func TestRulesThatFailedLeaveNoTimes(t *testing.T) {
	l := stampedLab(t)
	l.write("d/a", "a")
	l.settleTimes()
	// Under rules that ignore it, a new file changes nothing.
	l.must(os.WriteFile(l.sources.Excludes, []byte("new\n"), 0o600))
	l.write("d/new", "new")
	for deadline := time.Now().Add(patience.Of(time.Minute)); ; {
		old := l.scanner.base.at("d").dir.listed
		_, err := l.try(Dirty{All: true}, Options{ByTimes: true}) // not accepted
		l.must(err)
		if now := l.scanner.base.at("d").dir.listed; now != old {
			t.Fatalf("the times of what was accepted became %v", now)
		}
		var st unix.Stat_t
		l.must(unix.Stat(l.path("d"), &st))
		if fresh := (stamp{now: disk.Now()}); fresh.trusts(&fingerprint{mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano()}) || time.Now().After(deadline) {
			break
		}
	}
	l.must(os.Remove(l.sources.Excludes))
	got, _ := l.byTimes()
	if want := l.freshTree(); got.Tree != want {
		t.Errorf("the walk gives %q", l.files(got))
	}
}

// TestTimesThatProveNothing are of directories whose names may change unseen.
func TestTimesThatProveNothing(t *testing.T) {
	now := disk.Now()
	second := int64(time.Second)
	old, whole := now-second, (now-second)/second*second
	for name, c := range map[string]struct {
		mtime, ctime int64
		system       fileSystem
		proves       bool
	}{
		"old":                            {old, old, fileSystem{stampsNames: true}, true},
		"on an unknown file system":      {old, old, fileSystem{}, false},
		"with a coarse clock":            {old, old, fileSystem{stampsNames: true, coarse: true}, false},
		"of whole seconds":               {whole, whole, fileSystem{stampsNames: true}, false},
		"changed just now":               {old, now, fileSystem{stampsNames: true}, false},
		"that claims to be of next year": {now + 365*24*3600*second, old, fileSystem{stampsNames: true}, false},
	} {
		here := directory{st: beneath.Stat{Mtime: c.mtime, Ctime: c.ctime}}
		if got := here.times(c.system, now); got.none() == c.proves {
			t.Errorf("%s: %v", name, got)
		}
	}
}
