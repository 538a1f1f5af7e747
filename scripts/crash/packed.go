package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// mayPack packs the refs of a shadow repository, and of user's repositories, one time
// in two, as any git of their user's may: what is packed is changed and deleted in
// another way than what is a file of its own.
func (w *world) mayPack(ctx context.Context, m lab.Mission, roots ...string) error {
	if w.rand.IntN(2) == 0 {
		return nil
	}
	if _, err := m.Git(ctx, "pack-refs", "--all"); err != nil {
		return fmt.Errorf("pack the refs of %s: %w", m.Shadow, err)
	}
	for _, root := range roots {
		if _, err := w.git(ctx, root, "pack-refs", "--all"); err != nil {
			return fmt.Errorf("pack the refs of %s: %w", root, err)
		}
	}
	return nil
}

// packing is what prepare prepares, with its refs packed, or not.
func packing(prepare func(context.Context, *world) (scene, error)) func(context.Context, *world) (scene, error) {
	return func(ctx context.Context, w *world) (scene, error) {
		s, err := prepare(ctx, w)
		if err != nil {
			return s, err
		}
		return s, w.mayPack(ctx, w.mission, w.work)
	}
}

// named checks that the refs of the shadow repository are those of its missions: each
// has its snapshots, its records and its name, and nobody else has any, but for the
// records of one whose removal was cut off when they were in the trash too.
func (w *world) named(ctx context.Context) error {
	list, err := w.missions(ctx)
	if err != nil {
		return err
	}
	want := []string{}
	for _, m := range list {
		want = append(want, "refs/agents/"+m.ID, "refs/heads/"+m.Name, "refs/records/"+m.ID)
	}
	slices.Sort(want)
	text, err := w.shadow(ctx, "for-each-ref", "--format=%(refname)", "refs/agents", "refs/heads", "refs/records")
	if err != nil {
		return err
	}
	trash, err := w.shadow(ctx, "for-each-ref", "--format=%(refname)", "refs/trash/records")
	if err != nil {
		return err
	}
	trashed := strings.Fields(trash)
	is := slices.DeleteFunc(strings.Fields(text), func(ref string) bool {
		id, record := strings.CutPrefix(ref, "refs/records/")
		return record && slices.Contains(trashed, "refs/trash/records/"+id)
	})
	slices.Sort(is)
	if !slices.Equal(is, want) {
		return fmt.Errorf("the refs of the missions are\n%q, not\n%q", is, want)
	}
	return nil
}
