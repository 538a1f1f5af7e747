package shadow_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

func TestDiffTreesAgreesWithGit(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx := context.Background()
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		b := s.NewBatch()
		from, to := storetest.WriteTree(t, b, storetest.RandomTree(rnd)), storetest.WriteTree(t, b, storetest.RandomTree(rnd))
		storetest.NoErr(t, b.Flush(ctx))
		b.Discard()
		var got strings.Builder
		storetest.NoErr(t, s.DiffTrees(from, to, func(c gitstore.Change) error {
			fmt.Fprintf(&got, ":%06o %06o %s %s %c\x00%s\x00", uint32(c.From.Mode), uint32(c.To.Mode), c.From.ID, c.To.ID, c.Type(), c.Path)
			return nil
		}))
		want := storetest.Must[[]byte](t)(s.Git(ctx, "diff-tree", "-r", "-z", "--no-renames", from.String(), to.String()))
		if got.String() != string(want) {
			t.Fatalf("got  %q\nwant %q", got.String(), want)
		}
	}
}

// TestDiffTreesIn enters only the directories that it may.
func TestDiffTreesIn(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	rnd := rand.New(rand.NewPCG(5, 7))
	for range 20 {
		b := s.NewBatch()
		from, to := storetest.WriteTree(t, b, storetest.RandomTree(rnd)), storetest.WriteTree(t, b, storetest.RandomTree(rnd))
		storetest.NoErr(t, b.Flush(context.Background()))
		b.Discard()
		allowed := map[string]bool{}
		enter := func(dir string) bool {
			if _, asked := allowed[dir]; !asked {
				allowed[dir] = dir == "" || rnd.IntN(3) > 0
			}
			return allowed[dir]
		}
		var got, want []string
		storetest.NoErr(t, s.DiffTreesIn(from, to, enter, func(c gitstore.Change) error {
			got = append(got, c.Path)
			return nil
		}))
		storetest.NoErr(t, s.DiffTrees(from, to, func(c gitstore.Change) error {
			ok := true
			for at, b := range c.Path {
				ok = ok && (b != '/' || enter(c.Path[:at]))
			}
			if ok {
				want = append(want, c.Path)
			}
			return nil
		}))
		if !slices.Equal(got, want) {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	}
}
