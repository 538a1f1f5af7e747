package conversations

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestNamesInRoot: what was once in a workspace is no route, though its agent has
// removed it.
func TestNamesInRoot(t *testing.T) {
	t.Parallel()
	const id = "11111111-1111-4111-8111-111111111111"
	store, err := shadow.Create(t.Context(), filepath.Join(t.TempDir(), "shadow.git"), shadow.CreateOptions{ProjectID: id})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	root, p := t.TempDir(), &projects.Project{Store: store}
	if err := os.WriteFile(filepath.Join(root, "ignored"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	history := func(namesAt ...string) *gitstore.Snapshot {
		b := store.NewBatch()
		defer b.Discard()
		s := &gitstore.Snapshot{}
		for _, names := range namesAt {
			blob, err := b.Blob(nil)
			var entries []gitstore.TreeEntry
			for _, name := range strings.Fields(names) {
				entries = append(entries, gitstore.TreeEntry{Name: name, Mode: gitstore.ModeFile, ID: blob})
			}
			tree, terr := b.Tree(entries)
			at := gitstore.Signature{Name: "n", Email: "e", When: time.Unix(1, 0).UTC()}
			next := &gitstore.Snapshot{Tree: tree, Author: at, At: at.When, State: "idle", Message: "m", Trailers: gitstore.Trailers{Mission: id}}
			if !s.ID.IsZero() {
				next.Parents = []gitstore.ID{s.ID}
			}
			var cerr error
			next.ID, cerr = b.Commit(gitstore.FormatSnapshot(next))
			if err := errors.Join(err, terr, cerr); err != nil {
				t.Fatal(err)
			}
			s = next
		}
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s
	}
	if names := namesInRoot(p, history("first kept", "gone kept", "kept"), root); !slices.Equal(names, []string{"first", "gone", "ignored", "kept"}) {
		t.Errorf("names %q", names)
	}
	var many strings.Builder
	for n := range mostNames {
		fmt.Fprintf(&many, "%04d ", n)
	}
	if names := namesInRoot(p, history(many.String(), "kept"), root); len(names) != mostNames || !slices.Contains(names, "kept") {
		t.Errorf("%d names, with those of before", len(names))
	}
	if names := namesInRoot(p, history(many.String()), root); names != nil {
		t.Errorf("%d names are too many to be kept", len(names))
	}
}
