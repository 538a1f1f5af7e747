package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/webpage"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
)

// snapshotPage is what show prints, as a page. That of a turn's end has all that the turn
// changed.
func snapshotPage(s missions.ShowResult, o changeOptions, source *webpage.Source, paths []string) (*webpage.Page, error) {
	e, title, from, files, patch, lost := s.Entry, "What changed", s.Entry.Parent, s.Files, s.Patch, s.Lost
	if e.Turn > 0 && slices.Contains(e.Triggers, string(missions.TriggerIdle)) {
		mission, _, _ := strings.Cut(e.Address, "@") // as it can be typed: that of another home may have the same id
		d, err := source.Service.Diff(source.Ctx, missions.DiffRequest{
			Caller: source.Caller, From: mission, Turn: e.Turn, Patch: o.lines(), Paths: paths, Tolerant: true,
		})
		if err != nil {
			return nil, err
		}
		title, from, files, patch = fmt.Sprintf("What turn %d changed", e.Turn), d.From, d.Files, d.Patch
		lost = d.Lost
	}
	page := webpage.New(e.Address + ": " + missions.LabelOf(e).String())
	page.Prompt(s.Prompt)
	page.Facts(
		[2]string{"mission", e.MissionName}, [2]string{"turn", fmt.Sprint(e.Turn)}, [2]string{"state", e.StateWords()}, [2]string{"at", e.At.Format(time.RFC1123Z)},
		[2]string{"changes", wording.Changes(e)}, [2]string{"git", strings.TrimSpace(s.Git.Branch + " " + print.Short(s.Git.Head) + " " + s.Git.Operation)},
		[2]string{"pins", strings.Join(e.Pins, " ")}, [2]string{"snapshot", e.ID},
	)
	var left []string
	for _, k := range missions.FoldPaths(s.Skipped) {
		left = append(left, print.Path(k.Path)+": "+k.Words())
	}
	page.List("left out", left)
	page.List("was changing while it was read", s.Changing)
	var gone []string
	for _, l := range lost {
		gone = append(gone, print.Path(l.Path)+": "+l.Reason)
	}
	page.List("lost, and not shown", gone)
	if len(s.Conversation) > 0 {
		said := "What was said"
		if slices.Contains(e.Triggers, string(missions.TriggerFork)) {
			said += " before the fork" // to its parent
		}
		page.Heading(said)
		page.Conversation(s.Conversation)
	}
	if len(files) > 0 {
		page.Heading(title)
		if o.lines() {
			page.Patch(source, from, files, patch)
		} else {
			page.Paths(files)
		}
	}
	return page, nil
}
