package beneath

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/hazards"
	"golang.org/x/sys/unix"
)

// TestMountsInTheRoot lists all mounts, since all are below the root.
func TestMountsInTheRoot(t *testing.T) {
	t.Parallel()
	points, err := MountPoints()
	if err != nil {
		t.Fatal(err)
	}
	within := MountsIn("/")
	for _, point := range []string{"/", "/proc"} {
		if slices.Contains(points, point) && !slices.Contains(within, point) {
			t.Errorf("%s is not among %q", point, within)
		}
	}
	if !slices.Contains(points, "/proc") {
		t.Skip("nothing is mounted at /proc")
	}
}

// TestRemoveTreeWithMounts removes nothing of a tree in which a directory or a file of the
// same file system, or another file system, is mounted; with openat2 and without, and
// where only the walk sees the mount.
func TestRemoveTreeWithMounts(t *testing.T) {
	base := t.TempDir()
	shared, precious := filepath.Join(base, "shared"), filepath.Join(base, "shared", "precious")
	if err := os.Mkdir(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(precious, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	naive, foreign := filepath.Join(base, "naive", "m"), filepath.Join(base, "foreign")
	for _, dir := range []string{naive, foreign} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(foreign, "f"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	mounted := unix.Mount(foreign, naive, "", unix.MS_BIND, "")
	hazards.Needs(t, hazards.H43, !errors.Is(mounted, unix.EPERM), "the right to mount")
	if mounted != nil {
		t.Fatal(mounted)
	}
	t.Cleanup(func() { _ = unix.Unmount(naive, unix.MNT_DETACH) })
	_ = os.RemoveAll(filepath.Dir(naive))
	_, gone := os.Lstat(filepath.Join(foreign, "f"))
	hazards.Shown(t, hazards.H43, gone != nil, "who removes a directory, and looks at device numbers at most, removes what is mounted in it from the same disk")

	for name, mount := range map[string]func(tree string) (string, error){
		"directory": func(tree string) (string, error) {
			at := filepath.Join(tree, "a dir", "m")
			return at, errors.Join(os.Mkdir(at, 0o755), unix.Mount(shared, at, "", unix.MS_BIND, ""))
		},
		"file": func(tree string) (string, error) {
			at := filepath.Join(tree, "f")
			return at, unix.Mount(precious, at, "", unix.MS_BIND, "")
		},
		"file system": func(tree string) (string, error) {
			at := filepath.Join(tree, "a dir", "t")
			return at, errors.Join(os.Mkdir(at, 0o755), unix.Mount("none", at, "tmpfs", 0, "size=1m"))
		},
		"itself": func(tree string) (string, error) { return tree, unix.Mount(shared, tree, "", unix.MS_BIND, "") },
	} {
		tree := filepath.Join(base, "tree of "+name)
		if err := os.MkdirAll(filepath.Join(tree, "a dir"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree, "f"), []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
		at, err := mount(tree)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
		for _, remove := range []func() error{
			func() error { return RemoveTree(tree) },
			func() error { return RemoveTreeWith(tree, Options{StepByStep: true}) },
			func() error { return removal{}.start(tree) },
			func() error { return removal{stepByStep: true}.start(tree) },
		} {
			err := remove()
			var mounted *MountError
			if onlyListed := name == "file" && err == nil; !onlyListed && (!errors.As(err, &mounted) || mounted.At != at) {
				t.Errorf("%s mounted: %v", name, err)
			}
		}
		if name != "itself" {
			if _, err := os.Lstat(filepath.Join(tree, "f")); err != nil {
				t.Errorf("%s mounted: the tree has lost a file: %v", name, err)
			}
		}
		if _, err := os.Lstat(precious); err != nil {
			t.Fatalf("%s mounted: what was mounted is gone: %v", name, err)
		}
	}
	hazards.Held(t, hazards.H43, "a directory in which something is mounted is not removed: mount ids decide")
}
