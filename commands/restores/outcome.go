package restores

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// printRestored prints the plan or the outcome of a restore, an undo or a redo.
// The error is partly if something was displaced, or left out that was not to be kept.
func printRestored(c *call.Call, did string, r missions.RestoreResult, keepOthers bool) error {
	return finish(c, r, outcome{r, keepOthers}, func(p *print.Printer) { WriteOutcome(p, did, r) })
}

// outcome is what came of a restore, and whether the paths that others have changed were to be
// kept.
type outcome struct {
	missions.RestoreResult
	keepOthers bool
}

// isPart reports whether less was done than was asked for.
func (o outcome) isPart() bool {
	left := slices.Clone(o.Kept)
	if o.keepOthers {
		left = slices.DeleteFunc(left, func(p missions.PathReason) bool { return slices.Contains(o.Foreign, p) })
	}
	return o.Done && len(o.Displaced)+len(left) > 0
}

// finish prints a result, of which o is the restore.
func finish(c *call.Call, result any, o outcome, text func(*print.Printer)) error {
	err := c.Print(result, text)
	if err == nil && o.isPart() {
		return call.Partly
	}
	return err
}

// WriteOutcome prints the plan or the outcome of what was done: restore, undo or redo.
func WriteOutcome(p *print.Printer, did string, r missions.RestoreResult) {
	writeOutcome(p, did, r, false)
}

// writeOutcome is WriteOutcome; movesBranch says that the user's branch moves too.
func writeOutcome(p *print.Printer, did string, r missions.RestoreResult, movesBranch bool) {
	switch {
	case r.Queued && r.Handover != nil:
		p.Line("the agent restarts for the %s", did)
	case r.Queued:
		p.Line("the agent is in a turn: the %s happens when it ends (umbra undo %s --queued cancels it)", did, print.Clean(r.MissionName))
	case !r.Done:
		if r.Target != "" {
			if isPromotion(r) {
				p.Line("promote %s into %s would:", restoredTo(r), print.Clean(r.Workspace))
			} else {
				p.Line("%s of %s %s would:", did, print.Clean(r.Workspace), source(r))
			}
			writePlan(p, r, movesBranch)
		}
		writeForeseen(p, r)
	default:
		if isPromotion(r) {
			p.Line("promote %s to %s: %s", restoredTo(r), print.Clean(r.MissionName), restoreCounts(r))
			if r.Snapshot != "" { // else nothing was done
				writeMerged(p, r)
			}
		} else {
			p.Line("%s %s: %s", did, source(r), restoreCounts(r))
		}
		print.WriteKept(p, "left as they are", r.Kept)
		if r.OfDisplaced && len(r.Kept) > 0 {
			p.Line("umbra cat %s --displaced PATH prints it; once the path is free, the same command puts it back", print.Clean(r.MissionName))
		} else if did == "restore" && slices.ContainsFunc(r.Kept, missions.PathReason.IsObstructed) {
			p.Line("once what is in the way is gone, the same command puts them back")
		}
		print.WriteKept(p, "changed by another program meanwhile", r.Displaced)
		if len(r.Displaced) > 0 {
			p.Line("to have there what it wrote: umbra restore --displaced --mission %s", print.Clean(r.MissionName))
		}
	}
	print.WriteNotTakenUp(p, r.NotTakenUp)
	for _, note := range r.Notes {
		p.Line("note: %s", print.Clean(note))
	}
	if r.Handover != nil && r.Handover.How == "relaunched" && r.Done {
		p.Line("the agent goes on from there in its terminal")
	}
	if r.Handover != nil && r.Handover.Type != "" {
		switch r.Handover.How {
		case "type":
			p.Line("to go on, type in the agent: %s", print.Clean(r.Handover.Type))
		default:
			p.Line("to go on: %s", print.Clean(r.Handover.Type))
		}
	}
	if r.Done && r.Snapshot != "" {
		again := "to take it back: umbra undo"
		if did == "undo" {
			again = "to do it again: umbra redo"
		}
		p.Line("%s %s", again, print.Clean(r.MissionName))
	}
}

// isPromotion reports whether a result is one of umbra promote.
func isPromotion(r missions.RestoreResult) bool { return r.Merged != nil }

// writeMerged lists the paths in which a promotion left what the parent had changed.
func writeMerged(p *print.Printer, r missions.RestoreResult) {
	const most = 20
	for i, path := range r.Merged {
		switch {
		case i == 0:
			p.Line("merged with what changed in %s since the fork:", print.Clean(r.MissionName))
			fallthrough
		case i < most:
			p.Line("  %s", print.Path(path))
		case i == most:
			p.Line("  … and %d more", len(r.Merged)-most)
		}
	}
}

// restoredTo names the moment: its id, and its address if it has one.
func restoredTo(r missions.RestoreResult) string {
	if r.TargetAddress == "" {
		return print.Short(r.Target)
	}
	return print.Short(r.Target) + " (" + print.Clean(r.TargetAddress) + ")"
}

// source says what is put back: a moment, or what restores displaced.
func source(r missions.RestoreResult) string {
	if r.OfDisplaced {
		return "with what was displaced"
	}
	return "to " + restoredTo(r)
}

func restoreCounts(r missions.RestoreResult) string {
	s := fmt.Sprintf("%d changed, %d created, %d deleted", len(r.Modify), len(r.Create), len(r.Delete))
	if of := conversationWords(r); of != "" {
		s += "; conversation: " + of
	} else if r.Conversation.Switched {
		s += "; conversation: as it was then"
	}
	return s
}

// conversationWords says what becomes of the conversation, "" if nothing is taken back and
// it becomes no fork's.
func conversationWords(r missions.RestoreResult) string {
	switch {
	case r.Conversation.FromFork && len(r.Conversation.TurnsDropped) > 0:
		return "the fork's; of the parent's since the fork, " + takenBack(r)
	case r.Conversation.FromFork:
		return "the fork's"
	case r.Conversation.EventsDropped > 0:
		return takenBack(r)
	}
	return ""
}

// takenBack says what of a conversation a restore takes back.
func takenBack(r missions.RestoreResult) string {
	turns := r.Conversation.TurnsDropped
	switch last := len(turns) - 1; {
	case last < 0 && r.TargetAddress != "":
		return "what was said after " + print.Clean(r.TargetAddress) + " is taken back"
	case last < 0:
		return print.Count(r.Conversation.EventsKept, "event") + " kept, " + missions.Itoa(r.Conversation.EventsDropped) + " dropped"
	case last == 0:
		return fmt.Sprintf("turn %d is taken back", turns[0])
	case last > 1 && turns[last]-turns[0] == last:
		return fmt.Sprintf("turns %d to %d are taken back", turns[0], turns[last])
	default:
		var list []string
		for _, turn := range turns[:last] {
			list = append(list, missions.Itoa(turn))
		}
		return fmt.Sprintf("turns %s and %d are taken back", strings.Join(list, ", "), turns[last])
	}
}

// writePlan lists what a restore is to do.
func writePlan(p *print.Printer, r missions.RestoreResult, movesBranch bool) {
	var t print.Table
	list := func(what string, s print.Style, paths []string) {
		for _, path := range paths {
			t.Row(s.Cell(what), print.Plain.Cell(print.Path(path)))
		}
	}
	list("change", print.Yellow, r.Modify)
	list("create", print.Green, r.Create)
	list("delete", print.Red, r.Delete)
	list("merge", print.Cyan, r.Merged)
	for _, k := range missions.FoldPaths(r.Kept) {
		t.Row(print.Dim.Cell("keep"), print.Plain.Cell(print.Path(k.Path)), print.Dim.Cell(print.Clean(k.Words())))
	}
	for _, k := range r.Foreign {
		t.Row(print.Magenta.Cell("others"), print.Plain.Cell(print.Path(k.Path)), print.Dim.Cell(print.Clean(k.Reason)))
	}
	t.Print(p, "  ")
	conversation := conversationWords(r)
	if conversation != "" {
		p.Line("  conversation: %s", conversation)
	}
	if len(t.Rows) == 0 && conversation == "" && !movesBranch {
		p.Line("  change nothing")
	}
	if r.Git.Then.Branch != r.Git.Now.Branch || r.Git.Then.Head != r.Git.Now.Head {
		then, stays := "then", " (a restore moves neither)"
		if isPromotion(r) {
			then, stays = "in the fork", " (a promotion moves neither)"
		}
		if movesBranch {
			stays = ""
		}
		p.Line("  git %s: %s, now: %s%s", then, gitPlace(r.Git.Then), gitPlace(r.Git.Now), stays)
	}
}

// writeForeseen says how the agent would go on, and what would refuse the plan.
func writeForeseen(p *print.Printer, r missions.RestoreResult) {
	if r.Handover != nil {
		if text := handoverInWords(r.Handover.How); text != "" {
			p.Line("  agent: %s", text)
		}
	}
	for _, e := range r.Refused {
		p.Line("it would be refused: %s", print.Clean(e.Message))
		if e.Hint != "" {
			p.Line("  %s", print.Clean(e.Hint))
		}
	}
}

// handoverInWords says how the agent would go on once its conversation is another
// one.
func handoverInWords(how string) string {
	switch how {
	case "relaunched":
		return "restarts at once, with that conversation; text that was typed and not sent is lost"
	case "type":
		return "stays as it is until you type in it the command that is printed then"
	case "resume":
		return "continues with that conversation when it is resumed"
	}
	return ""
}

// gitPlace is where the user's Git is: a branch, a commit, both or none.
func gitPlace(g missions.GitState) string {
	switch {
	case g.Branch == "" && g.Head == "":
		return "no repository"
	case g.Branch == "":
		return "detached at " + print.Short(g.Head)
	case g.Head == "":
		return print.Clean(g.Branch) + " without a commit"
	}
	return print.Clean(g.Branch) + " " + print.Short(g.Head)
}
