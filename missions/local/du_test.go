package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/history"
)

func (b *testBench) usage() missions.Usage {
	b.Helper()
	u, err := b.local.Usage(context.Background(), missions.UsageRequest{Caller: b.caller()})
	if err != nil || len(u.Projects) != 1 || len(u.Projects[0].Missions) != 1 {
		b.Fatalf("usage: %+v %v", u, err)
	}
	return u
}

// TestUsageGoesOnPastWhatCantBeRead: a directory of objects that can't be read is
// named, and all else counts.
func TestUsageGoesOnPastWhatCantBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	objects := filepath.Join(b.mission("work").ShadowRepo, "objects")
	borrowed := filepath.Join(objects, "info", "borrowed")
	b.put(borrowed, "the user's")
	if err := os.Link(borrowed, filepath.Join(filepath.Dir(b.dir), "theirs")); err != nil {
		t.Fatal(err)
	}
	whole := b.usage()
	if p := whole.Projects[0]; len(whole.Problems) != 0 || p.Missions[0].Files == 0 || p.Borrowed == 0 {
		t.Fatalf("before: %+v", whole)
	}
	beyond(t, objects)
	u := b.usage()
	if len(u.Problems) != 1 || !strings.Contains(u.Problems[0].Message, filepath.Join(objects, "000")) || !strings.Contains(u.Problems[0].Message, syscall.ENAMETOOLONG.Error()) {
		t.Errorf("problems: %.200v", u.Problems)
	}
	if p, was := u.Projects[0], whole.Projects[0]; p.Bytes < was.Bytes || p.Borrowed != was.Borrowed || p.Missions[0] != was.Missions[0] {
		t.Errorf("%+v, before %+v", u.Projects, whole.Projects)
	}
}

// TestUsageWithoutPacks: what is stored of each mission can't be told where packs
// can't be listed, what the project takes can.
func TestUsageWithoutPacks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	packs := filepath.Join(b.mission("work").ShadowRepo, "objects", "pack")
	b.usage()
	if err := os.Rename(packs, packs+"-away"); err != nil {
		t.Fatal(err)
	}
	b.put(packs, "no directory")
	u := b.usage()
	if len(u.Problems) != 1 || u.Problems[0].Fix != "umbra doctor" || !strings.Contains(u.Problems[0].Message, "can't be told") {
		t.Errorf("problems: %+v", u.Problems)
	}
	if p := u.Projects[0]; p.Bytes == 0 || p.Rest != p.Bytes {
		t.Errorf("%+v", p)
	}
}

// TestUsageNamesFewUnread: of many places that can't be read some are named.
func TestUsageNamesFewUnread(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		at := filepath.Join(dir, name)
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		beyond(t, at)
	}
	var u missions.Usage
	if history.MeasureDir(&u, dir); len(u.Problems) != 1 {
		t.Fatalf("%d problems", len(u.Problems))
	}
	said := u.Problems[0].Message
	if strings.Count(said, " (") != history.MaxNamedUnread || !strings.HasSuffix(said, "), 2 more") {
		t.Errorf("it names %d, and ends %s", strings.Count(said, " ("), said[len(said)-40:])
	}
}

// TestTrashWithTooLongPaths: a directory whose paths are too long for the system is
// measured in part, and emptied.
func TestTrashWithTooLongPaths(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.versioned()
	b.mission("work")
	_, kept := b.trashed("work", "fix")
	beyond(t, filepath.Dir(kept))
	in, err := b.trash(false)
	if err != nil || len(in.Removed) != 1 || !slices.ContainsFunc(in.Removed[0].Items, func(i missions.TrashItem) bool { return i.Incomplete }) {
		t.Fatalf("in the trash: %+v %v", in, err)
	}
	if done, err := b.trash(true); err != nil || !done.HasItems() || len(done.Left) != 0 {
		t.Errorf("emptied: %+v %v", done, err)
	}
	b.stands(kept, false)
}

// beyond makes directories in dir that are too deep to be read by their paths, by
// anybody.
func beyond(t *testing.T, dir string) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	for depth := 0; err == nil && depth*200 < 5000; depth++ {
		above, name := root, strings.Repeat("0", 200)
		if err = above.Mkdir(name, 0o700); err == nil {
			root, err = above.OpenRoot(name)
		}
		above.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	root.Close()
}
