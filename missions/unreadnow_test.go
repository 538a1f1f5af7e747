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
	side := func(list ...capture.Skipped) restore.Side {
		return restore.Side{Skipped: capture.NewSkippedSet(list)}
	}
	unreadable := func(path string) capture.Skipped {
		return capture.Skipped{Path: path, Reason: capture.ReasonUnreadable}
	}
	now := side(unreadable("dir"), unreadable("always/file"), unreadable("kept"), capture.Skipped{Path: "large", Reason: capture.ReasonSize})
	then := side(unreadable("always"), capture.Skipped{Path: "dir", Reason: capture.ReasonSize})
	plan := &restore.Plan{Keep: []restore.Kept{{Path: "kept/file"}}}
	want := []Kept{{Path: "dir", Reason: string(capture.ReasonUnreadable)}}
	if got := unreadNow(now, then, plan); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := unreadNow(now, restore.Side{}, plan); len(got) != 2 {
		t.Errorf("without what was skipped then: %v", got)
	}
	if got := unreadNow(restore.Side{}, then, plan); len(got) != 0 {
		t.Errorf("without what is skipped now: %v", got)
	}
}
