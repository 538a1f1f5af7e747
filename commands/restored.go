package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

// printRestored prints the plan or the outcome of a restore, an undo or a redo.
// The error is partly if something was displaced or left out.
func (c *call) printRestored(did string, r missions.RestoreResult) error {
	err := c.print(r, func(p *printer) { writeRestored(p, did, r) })
	if err == nil && r.Done && len(r.Displaced)+len(r.Kept) > 0 {
		return partly
	}
	return err
}

func writeRestored(p *printer, did string, r missions.RestoreResult) {
	switch {
	case r.Queued && r.Handover != nil:
		p.line("the agent is ended for the %s, and is there again in a moment", did)
	case r.Queued:
		p.line("the agent is in a turn: the %s happens when it ends (umbra undo %s --queued cancels it)", did, clean(r.MissionName))
	case !r.Done:
		if r.Target != "" {
			p.line("%s of %s to %s would:", did, clean(r.Workspace), restoredTo(r))
			writePlan(p, r)
		}
		writeForeseen(p, r)
	default:
		p.line("%s to %s: %s", did, restoredTo(r), restoreCounts(r))
		writeKept(p, "left as they are", r.Kept)
		if did == "restore" && slices.ContainsFunc(r.Kept, missions.PathReason.IsObstructed) {
			p.line("once what is in the way is gone, the same command puts them back")
		}
		writeKept(p, "changed by another program meanwhile; what it wrote is kept in the snapshot's record", r.Displaced)
	}
	writeNotTakenUp(p, r.NotTakenUp)
	for _, note := range r.Notes {
		p.line("note: %s", clean(note))
	}
	if r.Handover != nil && r.Handover.How == "relaunched" && r.Done {
		p.line("the agent goes on from there in its terminal")
	}
	if r.Handover != nil && r.Handover.Type != "" {
		switch r.Handover.How {
		case "type":
			p.line("to go on, type in the agent: %s", clean(r.Handover.Type))
		default:
			p.line("to go on: %s", clean(r.Handover.Type))
		}
	}
	if r.Done && r.Snapshot != "" {
		again := "to take it back: umbra undo"
		if did == "undo" {
			again = "to do it again: umbra redo"
		}
		p.line("%s %s", again, clean(r.MissionName))
	}
}

// writeNotTakenUp prints in whole what had been sent to an agent that has not taken it up.
func writeNotTakenUp(p *printer, prompts []missions.Prompt) {
	for i, prompt := range prompts {
		if i == 0 {
			p.line("\nsent, and not taken up by the agent:")
		}
		for line := range strings.SplitSeq(prompt.Text, "\n") {
			p.line("    %s", p.paint(bold, clean(line)))
		}
	}
}

// restoredTo names the moment: its id, and its address if it has one.
func restoredTo(r missions.RestoreResult) string {
	if r.TargetAddress == "" {
		return short(r.Target)
	}
	return short(r.Target) + " (" + clean(r.TargetAddress) + ")"
}

func restoreCounts(r missions.RestoreResult) string {
	s := fmt.Sprintf("%d changed, %d created, %d deleted", len(r.Modify), len(r.Create), len(r.Delete))
	if n := r.Conversation.EventsDropped; n > 0 {
		s += fmt.Sprintf("; conversation: %s kept, %d dropped", count(r.Conversation.EventsKept, "event"), n)
	} else if r.Conversation.Switched {
		s += "; conversation: as it was then"
	}
	return s
}

// writePlan lists what a restore is to do.
func writePlan(p *printer, r missions.RestoreResult) {
	var t table
	list := func(what string, s style, paths []string) {
		for _, path := range paths {
			t.row(cell{what, s}, cell{quotePath(path), plain})
		}
	}
	list("change", yellow, r.Modify)
	list("create", green, r.Create)
	list("delete", red, r.Delete)
	for _, k := range missions.FoldPaths(r.Kept) {
		t.row(cell{"keep", dim}, cell{quotePath(k.Path), plain}, cell{clean(k.Words()), dim})
	}
	for _, k := range r.Foreign {
		t.row(cell{"others", magenta}, cell{quotePath(k.Path), plain}, cell{clean(k.Reason), dim})
	}
	t.print(p, "  ")
	if r.Conversation.EventsDropped > 0 || r.Conversation.EventsKept > 0 {
		p.line("  conversation: %s kept, %d dropped", count(r.Conversation.EventsKept, "event"), r.Conversation.EventsDropped)
	}
	if len(t.rows) == 0 && r.Conversation.EventsDropped == 0 {
		p.line("  change nothing")
	}
	if r.Git.Then.Branch != r.Git.Now.Branch || r.Git.Then.Head != r.Git.Now.Head {
		p.line("  git then: %s, now: %s (a restore moves neither)", gitPlace(r.Git.Then), gitPlace(r.Git.Now))
	}
}

// writeForeseen says how the agent would go on, and what would refuse the plan.
func writeForeseen(p *printer, r missions.RestoreResult) {
	if r.Handover != nil {
		if text := handoverInWords(r.Handover.How); text != "" {
			p.line("  agent: %s", text)
		}
	}
	for _, e := range r.Refused {
		p.line("it would be refused: %s", clean(e.Message))
		if e.Hint != "" {
			p.line("  %s", clean(e.Hint))
		}
	}
}

// handoverInWords says how the agent would go on once its conversation is another
// one.
func handoverInWords(how string) string {
	switch how {
	case "relaunched":
		return "is ended and is there again at once, on that conversation; what was typed and not sent is lost"
	case "type":
		return "stays as it is until you type in it what is said then"
	case "resume":
		return "goes on with that conversation when it is resumed"
	}
	return ""
}

// gitPlace is where the user's Git is: a branch, a commit, both or none.
func gitPlace(g missions.GitState) string {
	switch {
	case g.Branch == "" && g.Head == "":
		return "no repository"
	case g.Branch == "":
		return "detached at " + short(g.Head)
	case g.Head == "":
		return clean(g.Branch) + " without a commit"
	}
	return clean(g.Branch) + " " + short(g.Head)
}
