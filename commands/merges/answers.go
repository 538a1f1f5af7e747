package merges

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// An Answer is one thing that an open path may become, the letter that takes it, and what
// it means to a user.
type Answer struct {
	Letter, Text string
	Take         missions.MergeTake // TakeFile is what the user edits
}

// Answers are what an open path of a merge may become. The missions of a path that has
// several others have numbers. What can be edited is known only of a path with texts.
func Answers(r missions.MergeResult, q missions.MergedPath) (all []Answer) {
	number := 0
	for _, option := range q.Options {
		a := Answer{Take: option}
		switch option {
		case missions.TakeOurs:
			a.Letter, a.Text = letterOurs, "ours: what "+print.Clean(r.Into)+" has"+before(r, q)
		case missions.TakeTheirs:
			a.Letter, a.Text = letterTheirs, "theirs: what "+print.Clean(theirs(r, q))+" has"
		case missions.TakeBoth:
			a.Letter, a.Text = letterBoth, "both: the lines of all, ours first"
		case missions.TakeMerged:
			a.Letter, a.Text = letterMerged, "git: what Git merged"
		case missions.TakeFile:
			a.Letter, a.Text = letterEdit, "edit it"
		case missions.TakeProposal:
			a.Letter, a.Text = letterProposal, "yes: what an agent proposes"
			if q.Proposal != nil {
				a.Text = "yes: what " + print.Clean(q.Proposal.By) + " proposes"
			}
		default:
			number++
			a.Letter, a.Text = missions.Itoa(number), "what "+print.Clean(string(option))+" has"
		}
		if option != missions.TakeFile || q.Texts == nil || len(q.Texts.Sides) > 0 {
			all = append(all, a)
		}
	}
	return all
}

// before says that the target's side has more than what is the target's own: missions that
// are merged one after the other each add to it.
func before(r missions.MergeResult, q missions.MergedPath) string {
	others := slices.DeleteFunc(slices.Clone(q.Missions), func(name string) bool { return name == r.Into })
	if len(others) < 2 {
		return ""
	}
	return ", with what is merged before"
}

// theirs is the mission that a path which has only one other side is from.
func theirs(r missions.MergeResult, q missions.MergedPath) string {
	for _, name := range slices.Backward(q.Missions) { // the last is merged into what the others made
		if name != r.Into {
			return name
		}
	}
	return "the other"
}

// Keep keeps what a user has written that a path becomes, where the merge did not take it, and
// says where that is.
func Keep(path string, content []byte) string {
	dir, err := os.MkdirTemp("", "umbra-merge-")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, filepath.Base(path)), content, 0o600)
	}
	if err != nil {
		return "what you wrote could not be kept: " + err.Error()
	}
	return "what you wrote is in " + print.Clean(dir)
}

// Edited has the user write what a path becomes, beginning with what is proposed, or with
// what Git made of it. A file that is left as it was is an error: nothing was chosen.
func Edited(c *call.Call, q missions.MergedPath) ([]byte, error) {
	dir, err := os.MkdirTemp("", "umbra-merge-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, filepath.Base(string(q.Path)))
	begin := q.Texts.Merged
	if slices.Contains(q.Options, missions.TakeProposal) {
		begin = q.Proposal.Content
	}
	if err := os.WriteFile(file, begin, 0o600); err != nil {
		return nil, err
	}
	if err := c.Edit(file); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(file)
	if err == nil && bytes.Equal(content, begin) {
		err = missions.Errorf(missions.KindUsage, "", "nothing was changed")
	}
	return content, err
}
