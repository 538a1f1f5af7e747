package commits

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// planned answers with the steps of a mission, and with what its workspace has since.
type planned struct {
	missions.Service
	steps []missions.LandingStep
	since missions.Difference
	err   error
}

func (s planned) PlanLanding(_ context.Context, r missions.LandingRequest) (missions.LandingPlan, error) {
	return missions.LandingPlan{Mission: missions.Mission{ID: r.Mission, MadeByUmbra: true}, Steps: s.steps}, nil
}

func (s planned) Diff(_ context.Context, r missions.DiffRequest) (missions.Difference, error) {
	if r.Tolerant {
		return missions.Difference{}, errors.New("a part of the answer is none")
	}
	return s.since, s.err
}

// TestWorkNotLanded: whatever is in a workspace of Umbra's own and on no branch is left, also
// where work that landed came after it; what can't be told is no work that has landed.
func TestWorkNotLanded(t *testing.T) {
	step := func(key, from, to, path string) missions.LandingStep {
		return missions.LandingStep{Key: key, From: from, To: to, Changes: []missions.LandingChange{{Path: path}}}
	}
	s := planned{
		steps: []missions.LandingStep{step("", "a", "b", "hand.txt"), step("1", "b", "c", "agents.txt"), step("2", "c", "d", "later.txt")},
		since: missions.Difference{Files: []missions.FileChange{{Path: "since.txt"}}},
	}
	landed := map[string]bool{"1:b:c": true}
	of := missions.LandingPlan{Mission: missions.Mission{ID: "m", MadeByUmbra: true}}
	left, err := WorkNotLanded(t.Context(), s, missions.Caller{}, of, landed)
	if want := []string{"hand.txt", "later.txt", "since.txt"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("%q %v, want %q", left, err, want)
	}
	s.err = errors.New("content is lost")
	if _, err := WorkNotLanded(t.Context(), s, missions.Caller{}, of, landed); err == nil {
		t.Error("what is lost counts as nothing")
	}
}
