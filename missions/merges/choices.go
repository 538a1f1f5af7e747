package merges

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/merge"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
)

// resolve keeps what becomes of some paths.
func (g *Merger) resolve(p *plan, list []missions.MergeChoice) (missions.MergeResult, error) {
	for _, c := range list {
		q := p.paths[string(c.Path)]
		if at := p.partOf(string(c.Path)); at != "" {
			return missions.MergeResult{}, missions.Errorf(missions.KindNotFound, "--resolve "+at+"=CHOICE", "%s is chosen with %s: it can't be there beside it", c.Path, at)
		}
		if q == nil {
			return missions.MergeResult{}, notInMerge(p, c.Path)
		}
		chosen, err := p.choiceOf(q, c)
		if err != nil {
			return missions.MergeResult{}, err
		}
		p.state.choose(chosen)
	}
	if err := p.fold(); err != nil {
		return missions.MergeResult{}, err
	}
	if err := p.answer(); err != nil {
		return missions.MergeResult{}, err
	}
	return p.result(), p.state.save(p.into.Project)
}

// options are what can be chosen for a path.
func (p *plan) options(q *question) []missions.MergeTake {
	var list []missions.MergeTake
	if len(q.conflicts) == 0 {
		list = append(list, missions.TakeMerged)
	}
	list = append(list, missions.TakeOurs)
	if len(q.conflicts) == 1 || len(q.conflicts) == 0 && len(p.sides) == 1 {
		list = append(list, missions.TakeTheirs)
	} else {
		for _, from := range p.sidesOf(q) {
			list = append(list, missions.MergeTake(from.mission.Name))
		}
	}
	if len(q.conflicts) > 0 && q.Severity == missions.SeverityHigh {
		list = append(list, missions.TakeBoth)
	}
	if q.Proposal != nil && q.Proposal.Refused == "" {
		list = append(list, missions.TakeProposal)
	}
	return append(list, missions.TakeFile)
}

// sidesOf are the missions whose name is a choice for a path: those that it conflicts with
// or, where Git merged it, those that changed it.
func (p *plan) sidesOf(q *question) (list []side) {
	for i, from := range p.sides {
		_, conflicts := q.conflicts[i]
		if conflicts || len(q.conflicts) == 0 && slices.Contains(q.Missions, from.mission.Name) {
			list = append(list, from)
		}
	}
	return list
}

// choiceOf is what a user chose, for the conflicts that nobody has answered yet, or for all
// if each has its answer. It refuses what can't be chosen for a path.
func (p *plan) choiceOf(q *question, c missions.MergeChoice) (choice, error) {
	text := c.Take
	if c.Typed != "" {
		text = missions.MergeTake(c.Typed)
	}
	if take, ok := p.takeOf(q, text); ok {
		c.Take, c.Content = take, nil
	} else if c.Take != missions.TakeFile {
		var options []string
		for _, option := range q.Options {
			options = append(options, option.Typed())
		}
		return choice{}, missions.Errorf(missions.KindUsage, fmt.Sprintf("--resolve %s=CHOICE, one of: %s", q.Path, strings.Join(options, ", ")),
			"%s is nothing that %s can become", text, q.Path)
	}
	if c.Take == missions.TakeFile && HasMarks(c.Content) {
		return choice{}, missions.Errorf(missions.KindUsage, "take out the marks, and what is not to stay between them", "the file for %s has marks of conflicts", q.Path)
	}
	c.Typed = ""
	chosen := choice{MergeChoice: c, Of: q.of}
	if c.Take == missions.TakeProposal {
		one := p.proposalFor(q)
		chosen.Content, chosen.By = one.Content, one.By
	}
	again := len(q.answers) == len(q.conflicts) || chosen.isContent()
	for i, from := range p.sides {
		_, conflicts := q.conflicts[i]
		_, answered := q.answers[i]
		if conflicts && (again || !answered) {
			chosen.Sides = append(chosen.Sides, from.mission.ID)
		}
	}
	return chosen, nil
}

// takeOf is what a word or a mission's name stands for, if it can be chosen for a path.
func (p *plan) takeOf(q *question, text missions.MergeTake) (missions.MergeTake, bool) {
	if slices.Contains(words, text) {
		return text, slices.Contains(q.Options, text)
	}
	if string(text) == p.into.Name { // of several, ours has lines of those before where lines conflict
		return missions.TakeOurs, len(p.sides) == 1 || len(q.conflicts) == 0
	}
	for _, from := range p.sidesOf(q) {
		if string(text) == from.mission.Name {
			return missions.MergeTake(from.mission.ID), true
		}
	}
	return "", false
}

// words are the choices that are no mission and no file.
var words = []missions.MergeTake{missions.TakeOurs, missions.TakeTheirs, missions.TakeBoth, missions.TakeMerged, missions.TakeProposal}

// chosen is what was chosen for a path, in conflict with a mission, or merged by Git if with
// is "". What nobody knows is not chosen.
func (p *plan) chosen(q *question, with string) (choice, bool) {
	c, ok := p.state.chosen(q.Path, q.of, with)
	isSide := slices.ContainsFunc(p.sides, func(from side) bool { return from.mission.ID == string(c.Take) })
	return c, ok && (isSide || c.isContent() || slices.Contains(words, c.Take))
}

// nameOf is a choice as its user reads it: missions may have new names.
func (p *plan) nameOf(c choice) string {
	for _, from := range p.sides {
		if from.mission.ID == string(c.Take) {
			return from.mission.Name
		}
	}
	switch {
	case c.ByCheck:
		return "proposal of " + c.By + ", accepted by the check"
	case c.Take == missions.TakeProposal:
		return "proposal of " + c.By
	}
	return string(c.Take)
}

// take is what a path becomes by a choice, if git merged it or the choice is a content.
func (p *plan) take(batch *shadow.Batch, q *question, c missions.MergeChoice) (e gitstore.TreeEntry, err error) {
	switch from := (wholes{p}).treeOf(c.Take); {
	case !from.IsZero():
		return p.entryAt(from, string(q.Path))
	case c.Take == missions.TakeFile, c.Take == missions.TakeProposal:
		return p.takeContent(batch, q, c.Content)
	}
	return q.merged, nil
}

// settle applies what was chosen for the paths that a side conflicts in. What comes later
// is merged with that. Until it is chosen it is as in ours where lines conflict, so that
// what else conflicts is seen before anybody chooses.
func (p *plan) settle(i int, merged gitstore.ID, conflicts []merge.Conflict) (gitstore.ID, error) {
	tree := records.NewTree(p.store, merged)
	batch := p.store.NewBatch()
	defer batch.Discard()
	for _, c := range conflicts {
		q, take := p.paths[c.Path], missions.TakeOurs
		var err error
		if q.of, err = p.fingerprint(c.Path); err != nil {
			return merged, err
		}
		if chosen, ok := p.chosen(q, p.sides[i].mission.ID); ok {
			q.answers[i] = chosen.Take
			take = chosen.Take
		}
		e, err := p.settleConflict(batch, c, take, i)
		if err == nil && c.Database && (take == missions.TakeTheirs || take == missions.MergeTake(p.sides[i].mission.ID)) {
			err = wholes{p}.putLogs(tree, c.Path, merged, p.sides[i].tree)
		}
		if err != nil {
			return merged, err
		}
		if at, err := p.entryAt(merged, c.Path); err == nil && at == e {
			continue
		}
		if err := put(tree, c.Path, e); err != nil {
			return merged, err
		}
	}
	settled, err := tree.Write(batch)
	return settled, errors.Join(err, batch.Flush(p.ctx))
}

// settleConflict is what a path becomes in which a side conflicts. Of a text, the choice
// is about the lines that conflict: no other line is lost.
func (p *plan) settleConflict(batch *shadow.Batch, c merge.Conflict, take missions.MergeTake, i int) (gitstore.TreeEntry, error) {
	flag, e := "--ours", c.Ours
	switch take {
	case missions.TakeBoth:
		flag = "--union"
	case missions.TakeTheirs, missions.MergeTake(p.sides[i].mission.ID):
		flag, e = "--theirs", c.Theirs
	}
	if isText, err := p.areText(c); err != nil || !isText {
		return e, err
	}
	content, err := p.mergeLines(flag, c)
	if err != nil {
		return e, err
	}
	switch {
	case c.Ours.Mode == c.Base.Mode:
		e.Mode = c.Theirs.Mode
	case c.Theirs.Mode == c.Base.Mode:
		e.Mode = c.Ours.Mode
	case take == missions.TakeBoth && c.Theirs.Mode == gitstore.ModeExec:
		e.Mode = gitstore.ModeExec
	}
	e.ID, err = batch.Blob(content)
	return e, err
}

// takeContent stores what its user wrote.
func (p *plan) takeContent(batch *shadow.Batch, q *question, content []byte) (e gitstore.TreeEntry, err error) {
	e.Mode = gitstore.ModeFile
	for _, tree := range p.trees() {
		if at, err := p.entryAt(tree, string(q.Path)); err == nil && at.Mode == gitstore.ModeExec {
			e.Mode = gitstore.ModeExec
		}
	}
	e.ID, err = batch.Blob(content)
	return e, err
}

// HasMarks reports whether a text has the marks that git puts around lines in conflict:
// seven signs and a name, and more signs where it merged a part by itself.
func HasMarks(content []byte) bool {
	begins, ends := false, false
	for line := range bytes.Lines(content) {
		begins = begins || isMark(line, "<")
		ends = ends || begins && isMark(line, ">")
	}
	return ends
}

func isMark(line []byte, sign string) bool {
	rest := bytes.TrimLeft(line, sign)
	return len(line)-len(rest) >= 7 && bytes.HasPrefix(rest, []byte(" "))
}
