package records

import (
	"context"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

func TestRecordTree(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := context.Background()
	b := s.NewBatch()
	defer b.Discard()
	tree := NewTree(s, gitstore.ID{})
	storetest.NoErr(t, tree.Put("mission.json", []byte("{}")))
	storetest.NoErr(t, tree.Put("git/entries/a", []byte("a")))
	storetest.NoErr(t, tree.Put("updates/x/y", []byte("1")))
	first := storetest.Must[gitstore.ID](t)(tree.Write(b))
	storetest.NoErr(t, b.Flush(ctx))

	next := NewTree(s, first)
	storetest.NoErr(t, next.Remove("updates/x/y"))
	storetest.NoErr(t, next.Remove("nothing/here"))
	storetest.NoErr(t, next.Put("git", []byte("now a file")))
	storetest.NoErr(t, next.Put("bindings/m.json", []byte("m")))
	storetest.NoErr(t, next.PutEntry("old", gitstore.ModeDir, first))
	second := storetest.Must[gitstore.ID](t)(next.Write(b))
	storetest.NoErr(t, b.Flush(ctx))
	want := map[string]string{"mission.json": "{}", "git": "now a file", "bindings/m.json": "m",
		"old/mission.json": "{}", "old/git/entries/a": "a", "old/updates/x/y": "1"}
	got := map[string]string{}
	storetest.NoErr(t, s.WalkTree(second, func(path string, e gitstore.TreeEntry) error {
		if !e.Mode.IsDir() {
			got[path] = string(storetest.Must[[]byte](t)(s.Blob(e.ID)))
		}
		return nil
	}))
	if len(got) != len(want) {
		t.Fatalf("got %v", got)
	}
	for path, data := range want {
		if got[path] != data {
			t.Errorf("%s = %q, want %q", path, got[path], data)
		}
	}
	for _, bad := range []string{"", "/a", "a//b", "../a", "a/.", ".git/x", "a\x00b"} {
		if err := next.Put(bad, nil); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if empty := storetest.Must[gitstore.ID](t)(NewTree(s, gitstore.ID{}).Write(b)); empty != gitstore.EmptyTree() {
		t.Errorf("empty record has tree %s", empty)
	}
	storetest.Fsck(t, s)
}
