package fork

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// loopMounted is a file system of a kind of its own, in an image of so many
// megabytes. The test is skipped where none can be made or mounted.
func loopMounted(t *testing.T, megabytes int64, mkfs ...string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skipf("%s: only root may mount a loop device", mkfs[0])
	}
	if _, err := exec.LookPath(mkfs[0]); err != nil {
		t.Skipf("%s: %v (apt install xfsprogs btrfs-progs)", mkfs[0], err)
	}
	base := t.TempDir()
	image, dir := filepath.Join(base, "image"), filepath.Join(base, "mounted")
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, megabytes<<20), os.Mkdir(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(mkfs[0], append(mkfs[1:], image)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", mkfs, err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop", image, dir).CombinedOutput(); err != nil {
		t.Skipf("%s: no loop mounts here: %v %s", mkfs[0], err, out)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// settled is the source once its newest capture knows every file: those written
// in the tick of the capture it does not.
func (l *lab) settled(paths ...string) Source {
	l.t.Helper()
	for deadline := time.Now().Add(patience.Of(time.Minute)); time.Now().Before(deadline); {
		src, all := l.snapshot(), true
		for _, path := range paths {
			all = all && knows(l.t, src, path)
		}
		if all {
			return src
		}
	}
	l.t.Fatal("the capture never knows its files")
	return Source{}
}

func knows(t testing.TB, src Source, path string) bool {
	t.Helper()
	root, err := beneath.Open(src.Live)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	st, err := root.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	_, ok := src.Known.Content(path, &st)
	return ok
}

func free(t *testing.T, dir string) int64 {
	t.Helper()
	unix.Sync()
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		t.Fatal(err)
	}
	return int64(st.Bfree) * int64(st.Bsize)
}

// TestReflink forks on file systems that share blocks: a fork of fifty megabytes
// takes next to none, and what is written on one side is not seen on the other.
func TestReflink(t *testing.T) {
	for _, mkfs := range [][]string{{"mkfs.xfs", "-q", "-m", "reflink=1"}, {"mkfs.btrfs", "-q"}} {
		t.Run(strings.TrimPrefix(mkfs[0], "mkfs."), func(t *testing.T) {
			hermetic(t)
			dir := loopMounted(t, 512, mkfs...)
			l := newLabIn(t, dir)
			random := rand.NewChaCha8([32]byte{1})
			content := make([]byte, 512<<10)
			var paths []string
			for n := range 50 {
				_, _ = random.Read(content)
				paths = append(paths, fmt.Sprintf("d%d/%d.bin", n%5, n))
				l.write(paths[n], string(content))
			}
			big := bytes.Repeat(content, 50)
			l.write(".gitignore", "big\n")
			l.write("big", string(big))
			l.initGit()
			src := l.settled(paths...)
			before := free(t, dir)
			made := l.fork(src, l.target("shared"))
			if used := before - free(t, dir); used > 5<<20 {
				t.Errorf("the fork took %d bytes: nothing is shared", used)
			}
			l.same(made)
			if err := os.WriteFile(filepath.Join(made.Workspace, paths[0]), []byte("the fork's"), 0o644); err != nil {
				t.Fatal(err)
			}
			l.write(paths[1], "the source's")
			for path, root := range map[string]string{paths[0]: l.top, paths[1]: made.Workspace} {
				st, err := os.Stat(filepath.Join(root, path))
				if err != nil || st.Size() != int64(len(content)) {
					t.Errorf("%s of %s: %v %v", path, root, st, err)
				}
			}

			// A copied repository shares blocks, too: the limit is not meant for it.
			around := filepath.Join(dir, "around")
			if err := os.Mkdir(around, 0o755); err != nil {
				t.Fatal(err)
			}
			n := newLabIn(t, around)
			n.container(".bare")
			target := n.target("within")
			target.Limit = 1
			n.worksApart(n.fork(n.around(), target), "main")
		})
	}
}

// TestForkToAnotherFileSystem copies where nothing can be shared.
func TestForkToAnotherFileSystem(t *testing.T) {
	hermetic(t)
	l := newLab(t)
	l.write("a/b.txt", "content\n")
	l.write(".gitignore", "big\n")
	l.write("big", strings.Repeat("0123456789abcdef", 200_000))
	l.initGit()
	target := l.target("away")
	target.Directory = filepath.Join(mounted(t, "64m"), "fork")
	l.same(l.fork(l.settled("a/b.txt"), target))
}

// TestKnownFilesAreNotTrustedBlindly writes to a file of the snapshot, in place
// and without changing its size, while forks of that snapshot are made: they
// hold what the snapshot does.
func TestKnownFilesAreNotTrustedBlindly(t *testing.T) {
	l := newLab(t)
	then := strings.Repeat("then ", 100_000)
	l.write("busy.txt", then)
	for n := range 50 {
		l.write(fmt.Sprintf("other/%d", n), "other\n")
	}
	src := l.settled("busy.txt")
	f, err := os.OpenFile(filepath.Join(l.top, "busy.txt"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var wait sync.WaitGroup
	end, begun := make(chan struct{}), make(chan struct{})
	wait.Go(func() {
		later := []byte(strings.Repeat("later", 100_000))
		for n := 0; ; n++ {
			select {
			case <-end:
				return
			default:
			}
			if n == 1 {
				close(begun)
			}
			if _, err := f.WriteAt(later, 0); err != nil {
				t.Error(err)
				return
			}
			if _, err := f.WriteAt([]byte(then), 0); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for n := range 15 {
		if n == 3 {
			<-begun // the first forks may be ahead of the writer
		}
		made := l.fork(src, l.target(fmt.Sprint("fork", n)))
		got, err := os.ReadFile(filepath.Join(made.Workspace, "busy.txt"))
		if err != nil || string(got) != then {
			t.Fatalf("fork %d holds another state: %d bytes, %v", n, len(got), err)
		}
	}
	close(end)
	wait.Wait()
}

// TestLargeKnownFile copies a file larger than any buffer, with its holes.
func TestLargeKnownFile(t *testing.T) {
	l := newLab(t)
	l.cap = 64 << 20
	f, err := os.Create(filepath.Join(l.top, "disk"))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{0, 3 << 20, 12<<20 - 1} {
		if _, err := f.WriteAt([]byte("data"), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(f.Truncate(20<<20), f.Close()); err != nil {
		t.Fatal(err)
	}
	made := l.fork(l.settled("disk"), l.target("large"))
	l.same(made)
	var st unix.Stat_t
	if err := unix.Stat(filepath.Join(made.Workspace, "disk"), &st); err != nil || st.Blocks*512 > 1<<20 || st.Size != 20<<20 {
		t.Errorf("%d blocks of %d bytes, %v", st.Blocks, st.Size, err)
	}
}
