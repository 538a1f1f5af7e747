package merges

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/merge"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// state is a merge that waits, as it is kept in its project's directory. What is merged is
// computed again whenever it is needed: snapshots keep the sides, nothing keeps the rest.
type state struct {
	ID      string               `json:"id"`
	Into    string               `json:"into"`
	Sides   []mergedSide         `json:"sides"`
	Auto    missions.MergeAuto   `json:"auto"`
	Check   string               `json:"check,omitempty"`
	Driver  merge.Driver         `json:"driver,omitzero"`   // that merges texts
	Checked *missions.MergeCheck `json:"checked,omitempty"` // what the check said last
	Bad     []string             `json:"bad,omitempty"`     // the trees that it did not like
	Choices []choice             `json:"choices,omitempty"`
	Scratch string               `json:"scratch,omitempty"` // the mission in whose workspace the check runs
	Ended   []string             `json:"ended,omitempty"`   // missions of the merger that are of no use any more
	Merger  *merger              `json:"merger,omitempty"`
	// Proposals are what the merger has written.
	Proposals []proposal `json:"proposals,omitempty"`
	BeganAt   time.Time  `json:"at"`
	// Over is the step that has ended it, continue or abort: what it has made is being removed,
	// and nothing else is done with it.
	Over missions.MergeStep `json:"over,omitempty"`
}

// mergedSide is a mission that is merged, at one moment.
type mergedSide struct {
	Mission  string `json:"mission"`
	Snapshot string `json:"snapshot"`
	Tree     string `json:"tree,omitempty"` // in a preview, what is in its workspace
}

// choice is what a user chose for a path. It counts as long as the sides have the same
// there. Take is a word or, by name, the ID of a mission that is merged.
type choice struct {
	missions.MergeChoice
	Of string `json:"of"`
	// Sides are the missions with which the path was in conflict when it was chosen. It is no
	// answer to a conflict with another one.
	Sides []string `json:"sides,omitempty"`
	// By is, of a proposal, the agent that made it, and ByCheck whether the check took it.
	By      string `json:"by,omitempty"`
	ByCheck bool   `json:"by_check,omitempty"`
}

// isContent reports whether what was chosen is what the whole path becomes.
func (c choice) isContent() bool {
	return c.Take == missions.TakeFile || c.Take == missions.TakeProposal
}

func stateFile(p *projects.Project, into string) string {
	return filepath.Join(p.Dir, projects.MergesDir, into+".json")
}

// readState reads the merge that waits, nil if none does.
func readState(into *projects.Mission) (*state, error) {
	text, err := os.ReadFile(stateFile(into.Project, into.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil { // it may be whole: it is not put aside
		return nil, missions.Errorf(missions.KindFailed, "have the file readable, then the same again",
			"the merge into %s that waits can't be read: %w", into.Name, err)
	}
	s := &state{}
	err = json.Unmarshal(text, s)
	if err == nil && (s.ID == "" || len(s.Sides) == 0) {
		err = errors.New("it names no merge")
	}
	if err != nil {
		return nil, missions.Errorf(missions.KindFailed, "umbra merge --abort --into "+into.Name+" puts it aside",
			"the merge into %s that waits can't be read: %w", into.Name, err)
	}
	return s, nil
}

// save makes a state durable.
func (s *state) save(p *projects.Project) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	file := stateFile(p, s.Into)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return journal.WriteFile(file, 0o600, text)
}

// setAside takes a state that can't be read out of the way. What its user wrote may be in it.
func setAside(into *projects.Mission) (aside string, err error) {
	file := stateFile(into.Project, into.ID)
	if _, err := os.ReadFile(file); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		aside = file + ".unread-" + missions.Itoa(n)
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			return aside, os.Rename(file, aside)
		} else if err != nil {
			return aside, err
		}
	}
}

func (s *state) remove(p *projects.Project) error { return journal.Remove(stateFile(p, s.Into)) }

// update takes over what a step says anew.
func (s *state) update(r missions.MergeRequest) {
	if r.Auto != "" {
		s.Auto = r.Auto
	}
	if r.Merger != "" {
		s.askMerger(r.Merger, r.Attempts)
	}
	switch r.Driver.Name {
	case "":
	case missions.NoDriver:
		s.Driver = merge.Driver{}
	default:
		s.Driver = merge.Driver{Name: r.Driver.Name, Program: r.Driver.Program}
	}
	if r.Check != "" && r.Check != s.Check {
		s.Check, s.Checked, s.Bad = r.Check, nil, nil
	}
	switch {
	case r.Checked != nil:
		s.Checked = r.Checked
		s.Bad = slices.DeleteFunc(s.Bad, func(tree string) bool { return tree == r.Checked.Tree })
		if r.Checked.Check.State != missions.CheckGood {
			s.Bad = append(s.Bad, r.Checked.Tree)
		}
	case r.Step == missions.MergeContinue && !r.Force:
		s.Bad = nil // a user who goes on has mended what the check did not like
		if s.Checked != nil && s.Checked.Check.State != missions.CheckGood {
			s.Checked = nil
		}
	}
}

// choose keeps what was chosen for a path, instead of what was for the same sides.
func (s *state) choose(c choice) {
	var list []choice
	for _, old := range s.Choices {
		rest := slices.DeleteFunc(slices.Clone(old.Sides), func(id string) bool { return slices.Contains(c.Sides, id) })
		switch {
		case old.Path != c.Path:
			list = append(list, old)
		case old.Of == c.Of && len(rest) > 0 && !old.isContent() && !c.isContent():
			old.Sides = rest
			list = append(list, old)
		}
	}
	s.Choices = append(list, c)
}

// chosen is what was chosen for a path, as long as the sides are as they were then. side is
// the mission that it is in conflict with, "" if Git merged it.
func (s *state) chosen(path missions.Path, of, side string) (choice, bool) {
	i := slices.IndexFunc(s.Choices, func(c choice) bool {
		answers := slices.Contains(c.Sides, side) || side == "" && (len(c.Sides) == 0 || c.isContent())
		return c.Path == path && c.Of == of && answers
	})
	if i < 0 {
		return choice{}, false
	}
	return s.Choices[i], true
}

// isGood reports whether the check has said that a tree is good.
func (s *state) isGood(tree string) bool {
	return s.Checked != nil && s.Checked.Tree == tree && s.Checked.Check.State == missions.CheckGood
}

// isBad reports whether the check has said of a tree anything else than good.
func (s *state) isBad(tree string) bool {
	return slices.Contains(s.Bad, tree)
}

// result begins the result of a step.
func (s *state) result(into *projects.Mission) missions.MergeResult {
	return missions.MergeResult{
		Into: into.Name, From: []missions.MergeSide{}, Taken: []missions.MergedPath{}, Conflicts: []missions.MergedPath{},
		MergeTrial: missions.MergeTrial{IntoID: into.ID, ID: s.ID, CheckCommand: s.Check},
	}
}
