package missions

import (
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/restore"
)

// TestUnreadNow: what could not be read now is said, unless it could not be read
// then either, or is said already.
func TestUnreadNow(t *testing.T) {
	t.Parallel()
	side := func(list ...capture.Skipped) restore.Side {
		return restore.Side{Skipped: capture.NewSkippedSet(list)}
	}
	unreadable := func(path string) capture.Skipped {
		return capture.Skipped{Path: path, Reason: capture.ReasonUnreadable}
	}
	now := side(unreadable("dir"), unreadable("always/file"), unreadable("kept/file"), unreadable("part"), capture.Skipped{Path: "large", Reason: capture.ReasonSize})
	then := side(unreadable("always"), capture.Skipped{Path: "dir", Reason: capture.ReasonSize})
	plan := &restore.Plan{Keep: []restore.Kept{{Path: "kept/file"}, {Path: "part/file"}}}
	want := []Kept{{Path: "dir", Reason: string(capture.ReasonUnreadable)}, {Path: "part", Reason: string(capture.ReasonUnreadable)}}
	if got := unreadNow(now, then, plan); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := unreadNow(now, restore.Side{}, plan); len(got) != 3 {
		t.Errorf("without what was skipped then: %v", got)
	}
	var r RestoreResult
	(&filesPlan{plan, want}).describe(&r)
	if len(r.Keep) != 3 || r.Keep[0].Path != "kept/file" {
		t.Errorf("a directory is said, and what is in it: %v", r.Keep)
	}
	if got := unreadNow(restore.Side{}, then, plan); len(got) != 0 {
		t.Errorf("without what is skipped now: %v", got)
	}
}
