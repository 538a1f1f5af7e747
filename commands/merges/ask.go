package merges

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// The letters of the answers that are no content of a path. The missions of a path that has
// several have numbers.
const (
	letterOurs     = "o"
	letterTheirs   = "t"
	letterBoth     = "b"
	letterMerged   = "g"
	letterAll      = "a"
	letterDiff     = "d"
	letterEdit     = "e"
	letterPrevious = "p"
	letterLeave    = "q"
	letterSkip     = "s"
	letterProposal = "y"
	letterContinue = "c"
	letterForce    = "f"
	letterDrop     = "x"
)

// asker asks a user about the paths of a merge that are open.
type asker struct {
	c       *call.Call
	result  missions.MergeResult // as it stands
	timeout time.Duration        // of the merger
	skipped map[missions.Path]bool
}

// merge does a step of the merge. A step that fails leaves the merge as it was. Each asks
// for the Service anew: a pager gives it back.
func (a *asker) merge(r missions.MergeRequest) (missions.MergeResult, error) {
	svc, caller, ctx, err := a.c.Asking()
	if err != nil {
		return a.result, err
	}
	r.Caller, r.Into, r.Merge = caller, a.result.Into, a.result.ID // no other one that has begun meanwhile
	result, err := svc.Merge(ctx, r)
	if err != nil {
		return a.result, err
	}
	return result, nil
}

// next is what comes after the questions.
type next string

const (
	leaveOpen     next = ""
	continueMerge next = letterContinue
	forceMerge    next = letterForce
	dropMerge     next = letterDrop
)

// ask asks about each path that is open, the most severe first, until all are chosen or
// skipped, and then what comes next. What was chosen is kept with each answer.
func (a *asker) ask() (next, error) {
	if slices.ContainsFunc(a.result.Conflicts, func(q missions.MergedPath) bool { return q.Path == checkPath }) {
		return a.askCheck()
	}
	a.c.Notice("merge into %s: %s taken, %s open", a.result.Into, print.Count(len(a.result.Taken), "path"), print.Count(len(a.result.Conflicts), "path"))
	for {
		list := a.unasked()
		if len(list) == 0 {
			return a.askEnd()
		}
		for i := 0; i >= 0 && i < len(list); {
			step, err := a.askPath(list, i)
			if err != nil {
				return leaveOpen, err
			}
			if step == 0 {
				return leaveOpen, nil
			}
			i += step
		}
	}
}

// unasked are the open paths that nobody has skipped.
func (a *asker) unasked() (list []missions.MergedPath) {
	for _, q := range a.result.Conflicts {
		if !a.skipped[q.Path] {
			list = append(list, q)
		}
	}
	return list
}

// rest are the path that is asked about and those after it in the list that are still open:
// what their user has chosen or skipped meanwhile, and gone back from, stays so.
func (a *asker) rest(list []missions.MergedPath, i int) []missions.MergedPath {
	open := a.unasked()
	rest := []missions.MergedPath{list[i]}
	for _, q := range list[i+1:] {
		if slices.ContainsFunc(open, func(o missions.MergedPath) bool { return o.Path == q.Path }) {
			rest = append(rest, q)
		}
	}
	return rest
}

// askPath asks about one path. It returns how far to go in the list: one back, one on, or
// over all that is left; 0 is that the user has enough.
func (a *asker) askPath(list []missions.MergedPath, i int) (step int, err error) {
	if list[i].Texts, list[i].Proposal, err = a.texts(list[i].Path); err != nil {
		return 0, err
	}
	q := list[i]
	p := a.c.Err
	p.Line("%s of %d: %s  %s  %s (%s)", missions.Itoa(i+1), len(list), q.Severity, print.Path(string(q.Path)),
		print.Clean(q.Reason), print.Clean(strings.Join(q.Missions, ", ")))
	writeExcerpt(p, q)
	if err := p.Flush(); err != nil {
		return 0, err
	}
	for {
		letter, err := a.c.Ask("What becomes of "+print.Path(string(q.Path))+"?", a.answers(list, i)...)
		if err != nil {
			return 0, err
		}
		switch letter {
		case letterDiff:
			err = a.c.Paged("diff", func(p *print.Printer) { WriteTexts(p, q) })
		case letterEdit:
			var done bool
			if done, err = a.edit(q); done && err == nil {
				return 1, nil
			}
		case letterPrevious:
			return -1, nil
		case letterLeave:
			return 0, nil
		case letterSkip:
			a.skipped[q.Path] = true
			return 1, nil
		case letterAll:
			delete(a.skipped, q.Path)
			return len(list), a.takeMerged(a.rest(list, i))
		default:
			delete(a.skipped, q.Path)
			for _, one := range Answers(a.result, q) {
				if one.Letter == letter {
					return 1, a.choose(missions.MergeChoice{Path: q.Path, Take: one.Take})
				}
			}
		}
		if err != nil {
			return 0, err
		}
	}
}

// answers are what may become of a path. Skipping is the last one: it does nothing.
func (a *asker) answers(list []missions.MergedPath, i int) (all []call.Answer) {
	q := list[i]
	for _, one := range Answers(a.result, q) {
		all = append(all, call.Answer{one.Letter, one.Text})
	}
	if rest := countMerged(a.rest(list, i)); canTakeMerged(q) && rest > 1 {
		all = append(all, call.Answer{letterAll, "all: what Git merged, of this and of " + missions.Itoa(rest-1) + " more"})
	}
	if len(q.Texts.Sides) > 0 {
		all = append(all, call.Answer{letterDiff, "diff: all that each has changed in it"})
	}
	if i > 0 {
		all = append(all, call.Answer{letterPrevious, "previous: the one before it again"})
	}
	return append(all, call.Answer{letterLeave, "quit: it waits, with what is chosen"}, call.Answer{letterSkip, "skip it for now"})
}

// canTakeMerged reports whether what Git merged may be taken of a path with that of others.
func canTakeMerged(q missions.MergedPath) bool {
	return q.Severity != missions.SeverityCritical && slices.Contains(q.Options, missions.TakeMerged)
}

func countMerged(list []missions.MergedPath) (n int) {
	for _, q := range list {
		if canTakeMerged(q) {
			n++
		}
	}
	return n
}

// texts are what the sides of a path have, and what is proposed for it.
func (a *asker) texts(path missions.Path) (*missions.MergeTexts, *missions.MergeProposal, error) {
	r, err := a.merge(missions.MergeRequest{Step: missions.MergeStatus, Texts: []missions.Path{path}})
	if err != nil {
		return nil, nil, err
	}
	for _, q := range slices.Concat(r.Conflicts, r.Taken) {
		if q.Path == path && q.Texts != nil {
			return q.Texts, q.Proposal, nil
		}
	}
	return &missions.MergeTexts{}, nil, nil
}

// choose keeps what becomes of paths.
func (a *asker) choose(list ...missions.MergeChoice) (err error) {
	result, err := a.merge(missions.MergeRequest{Step: missions.MergeResolve, Choices: list})
	if err == nil {
		a.result = result
	}
	return err
}

// takeMerged takes what Git merged, where it did.
func (a *asker) takeMerged(list []missions.MergedPath) error {
	var choices []missions.MergeChoice
	for _, q := range list {
		if canTakeMerged(q) {
			choices = append(choices, missions.MergeChoice{Path: q.Path, Take: missions.TakeMerged})
		}
	}
	return a.choose(choices...)
}

// edit has the user write what a path becomes. done says that it is chosen.
func (a *asker) edit(q missions.MergedPath) (done bool, err error) {
	content, err := Edited(a.c, q)
	if err != nil {
		a.notChosen(q, err)
		return false, a.c.Context.Err()
	}
	err = a.choose(missions.MergeChoice{Path: q.Path, Take: missions.TakeFile, Content: content})
	if err == nil {
		return true, nil
	}
	a.say(Keep(string(q.Path), content))
	if missions.AsError(err).Kind == missions.KindUsage { // it has marks still
		a.notChosen(q, err)
		return false, nil
	}
	return false, err
}

func (a *asker) notChosen(q missions.MergedPath, err error) {
	e := missions.AsError(err)
	text := print.Path(string(q.Path)) + " is as open as before: " + print.Clean(e.Message)
	if e.Hint != "" {
		text += "; " + print.Clean(e.Hint)
	}
	a.say(text)
}

// say answers a user who was asked: --quiet does not leave it out.
func (a *asker) say(text string) {
	a.c.Err.Line("%s", print.Clean(text))
	_ = a.c.Err.Flush() // nobody is left to tell
}

// askEnd asks what becomes of a merge once each path was asked about.
func (a *asker) askEnd() (next, error) {
	if len(a.result.Conflicts) > 0 {
		return leaveOpen, nil
	}
	return a.askNext("Nothing is open any more. What is next?", call.Answer{letterContinue, "continue: merge into " + print.Clean(a.result.Into)})
}

// askCheck asks what becomes of a merge of which the check alone is no good.
func (a *asker) askCheck() (next, error) {
	return a.askNext("The check does not pass on the whole. What is next?",
		call.Answer{letterContinue, "check it again"}, call.Answer{letterForce, "force: take it all the same"})
}

// askNext asks what comes next. To leave it open is the last answer: it does nothing.
func (a *asker) askNext(question string, answers ...call.Answer) (next, error) {
	letter, err := a.c.Ask(question, append(answers, call.Answer{letterDrop, "drop the merge; nothing of it was there"},
		call.Answer{letterLeave, "leave it open"})...)
	if letter == letterLeave {
		return leaveOpen, err
	}
	return next(letter), err
}

// mostExcerpt is how many lines of a path are shown before a question about it.
const mostExcerpt = 30

// writeExcerpt shows the lines in conflict, or what each side changed where there are none.
func writeExcerpt(p *print.Printer, q missions.MergedPath) {
	t := q.Texts
	lines := conflictLines(t.Merged)
	if slices.ContainsFunc(t.Sides, func(side missions.MergeText) bool { return side.Deleted }) {
		lines = nil // they are the whole file
	}
	if len(lines) == 0 {
		for _, side := range t.Sides {
			if side.Deleted {
				lines = append(lines, side.Mission+" has deleted it")
			}
			lines = append(lines, linesOf(side.Patch)...)
		}
	}
	writeSome(p, lines)
	if q.Proposal != nil {
		p.Line("%s", print.Clean(SayProposal(*q.Proposal)))
		writeSome(p, linesOf(q.Proposal.Patch))
	}
}

func linesOf(patch string) []string {
	if patch == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(patch, "\n"), "\n")
}

// writeSome shows lines, and how many more there are.
func writeSome(p *print.Printer, lines []string) {
	for _, line := range lines[:min(len(lines), mostExcerpt)] {
		p.Line("  %s", print.CleanLines(line))
	}
	if more := len(lines) - mostExcerpt; more > 0 {
		p.Line("  … and %s, which %s shows", print.Count(more, "more line"), letterDiff)
	}
}

// marked is how many signs a line has before a name, 0 if it is no mark of a conflict: those
// have seven or more.
func marked(line []byte, sign string) int {
	rest := bytes.TrimLeft(line, sign)
	if n := len(line) - len(rest); n >= 7 && bytes.HasPrefix(rest, []byte(" ")) {
		return n
	}
	return 0
}

// conflictLines are the lines of a text between marks of conflicts, the marks with them. The
// marks of each further side have one sign more, and may be around or between those before.
func conflictLines(text []byte) (list []string) {
	open := map[int]bool{} // by the number of signs
	for line := range bytes.Lines(text) {
		if n := marked(line, "<"); n > 0 {
			open[n] = true
		}
		if len(open) > 0 {
			list = append(list, strings.TrimRight(string(line), "\r\n"))
		}
		delete(open, marked(line, ">"))
	}
	return list
}

// WriteTexts prints what each side has changed at a path, and what is proposed.
func WriteTexts(p *print.Printer, q missions.MergedPath) {
	if len(q.Texts.Sides) == 0 {
		p.Line("%s is no text in each: there are no lines to show", print.Clean(string(q.Path)))
	}
	for _, side := range q.Texts.Sides {
		switch {
		case side.Deleted:
			p.Line("%s has deleted it", print.Clean(side.Mission))
		case side.Absent:
			p.Line("%s has nothing there", print.Clean(side.Mission))
		case side.Patch == "":
			p.Line("%s has it as it was before", print.Clean(side.Mission))
		}
		print.WritePatch(p, "", nil, side.Patch)
	}
	if q.Proposal != nil {
		p.Line("%s", print.Clean(SayProposal(*q.Proposal)))
		print.WritePatch(p, "", nil, q.Proposal.Patch)
	}
}
