package restores

import (
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
)

// TestUnreadNow: what could not be read now is said, unless it could not be read
// then either, or is said already.
func TestUnreadNow(t *testing.T) {
	t.Parallel()
	side := func(list ...documents.Skipped) restore.Side {
		return restore.Side{Skipped: documents.NewSkippedSet(list)}
	}
	unreadable := func(path string) documents.Skipped {
		return documents.Skipped{Path: path, Reason: documents.ReasonUnreadable}
	}
	now := side(unreadable("dir"), unreadable("always/file"), unreadable("kept/file"), unreadable("part"), documents.Skipped{Path: "large", Reason: documents.ReasonSize})
	then := side(unreadable("always"), documents.Skipped{Path: "dir", Reason: documents.ReasonSize})
	plan := &restore.Plan{Keep: []restore.Kept{{Path: "kept/file"}, {Path: "part/file"}}}
	want := []missions.PathReason{{Path: "dir", Reason: string(documents.ReasonUnreadable)}, {Path: "part", Reason: string(documents.ReasonUnreadable)}}
	if got := unreadableNow(now, then, plan); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := unreadableNow(now, restore.Side{}, plan); len(got) != 3 {
		t.Errorf("without what was skipped then: %v", got)
	}
	var r missions.RestoreResult
	(&FilesPlan{Plan: plan, unreadable: want}).describeTo(&r)
	if len(r.Kept) != 3 || r.Kept[0].Path != "kept/file" {
		t.Errorf("a directory is said, and what is in it: %v", r.Kept)
	}
	if got := unreadableNow(restore.Side{}, then, plan); len(got) != 0 {
		t.Errorf("without what is skipped now: %v", got)
	}
}
