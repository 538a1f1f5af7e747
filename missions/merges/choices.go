package merges

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/merge"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
)

// resolve keeps what becomes of some paths.
func (g *Merger) resolve(p *plan, list []missions.MergeChoice) (missions.MergeResult, error) {
	for _, c := range list {
		q := p.paths[c.Path]
		if q == nil {
			return missions.MergeResult{}, missions.Errorf(missions.KindNotFound, "umbra merge --status lists the paths", "%s is no path of this merge", c.Path)
		}
		if err := p.check(q, c); err != nil {
			return missions.MergeResult{}, err
		}
		p.state.choose(choice{c, q.of})
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
		for _, from := range p.sides {
			if slices.Contains(q.Missions, from.mission.Name) {
				list = append(list, missions.MergeTake(from.mission.Name))
			}
		}
	}
	if len(q.conflicts) > 0 && q.Severity == missions.SeverityHigh {
		list = append(list, missions.TakeBoth)
	}
	return append(list, missions.TakeFile)
}

// check refuses what can't be chosen for a path.
func (p *plan) check(q *question, c missions.MergeChoice) error {
	var options []string
	for _, option := range q.Options {
		options = append(options, string(option))
	}
	if !slices.Contains(q.Options, c.Take) {
		return missions.Errorf(missions.KindUsage, fmt.Sprintf("--resolve %s=CHOICE, one of: %s", q.Path, strings.Join(options, ", ")),
			"%s is nothing that %s can become", c.Take, q.Path)
	}
	if c.Take == missions.TakeFile && HasMarks(c.Content) {
		return missions.Errorf(missions.KindUsage, "take out the marks, and what is not to stay between them", "the file for %s has marks of conflicts", q.Path)
	}
	return nil
}

// take is what a path becomes by a choice, if git merged it or the choice is a content.
func (p *plan) take(batch *shadow.Batch, q *question, c missions.MergeChoice) (e gitstore.TreeEntry, err error) {
	switch c.Take {
	case missions.TakeOurs:
		return p.entryAt(p.ours, q.Path)
	case missions.TakeFile:
		return p.takeContent(batch, q, c.Content)
	}
	for _, from := range p.sides {
		if c.Take == missions.TakeTheirs || from.mission.Name == string(c.Take) {
			return p.entryAt(from.tree, q.Path)
		}
	}
	return q.merged, nil
}

// settle applies what was chosen for the paths that a side conflicts in. What comes later
// is merged with that.
func (p *plan) settle(i int, got merge.Attempted) (gitstore.ID, error) {
	tree := records.NewTree(p.store, got.Tree)
	batch := p.store.NewBatch()
	defer batch.Discard()
	for _, c := range got.Conflicts {
		of, err := p.fingerprint(c.Path)
		if err != nil {
			return got.Tree, err
		}
		chosen, ok := p.state.chosen(c.Path, of)
		if !ok || chosen.Take == missions.TakeFile {
			continue
		}
		e, err := p.settleConflict(batch, c, chosen.Take, p.sides[i].mission.Name)
		if err == nil {
			err = put(tree, c.Path, e)
		}
		if err != nil {
			return got.Tree, err
		}
	}
	settled, err := tree.Write(batch)
	return settled, errors.Join(err, batch.Flush(p.ctx))
}

// settleConflict is what a path becomes in which a mission conflicts. Of a text, the choice
// is about the lines that conflict: no other line is lost.
func (p *plan) settleConflict(batch *shadow.Batch, c merge.Conflict, take missions.MergeTake, their string) (gitstore.TreeEntry, error) {
	flag, e := "--ours", c.Ours
	switch take {
	case missions.TakeBoth:
		flag = "--union"
	case missions.TakeTheirs, missions.MergeTake(their):
		flag, e = "--theirs", c.Theirs
	}
	if isText, err := p.areText(c); err != nil || !isText {
		return e, err
	}
	content, err := p.mergeLines(flag, c)
	if err != nil {
		return e, err
	}
	if e.Mode = c.Ours.Mode; e.Mode == c.Base.Mode {
		e.Mode = c.Theirs.Mode
	}
	e.ID, err = batch.Blob(content)
	return e, err
}

// areText reports whether each side has a text at a path.
func (p *plan) areText(c merge.Conflict) (bool, error) {
	if !isRegular(c.Ours) || !isRegular(c.Theirs) {
		return false, nil
	}
	for _, e := range []gitstore.TreeEntry{c.Base, c.Ours, c.Theirs} {
		if text, err := p.isText(e); err != nil || !text {
			return false, err
		}
	}
	return true, nil
}

// takeContent stores what its user wrote.
func (p *plan) takeContent(batch *shadow.Batch, q *question, content []byte) (e gitstore.TreeEntry, err error) {
	e.Mode = gitstore.ModeFile
	for _, tree := range p.trees() {
		if at, err := p.entryAt(tree, q.Path); err == nil && at.Mode == gitstore.ModeExec {
			e.Mode = gitstore.ModeExec
		}
	}
	e.ID, err = batch.Blob(content)
	return e, err
}

// HasMarks reports whether a text has the marks that git puts around lines in conflict.
func HasMarks(content []byte) bool {
	begins, ends := false, false
	for line := range bytes.Lines(content) {
		begins = begins || bytes.HasPrefix(line, []byte("<<<<<<< "))
		ends = ends || begins && bytes.HasPrefix(line, []byte(">>>>>>> "))
	}
	return ends
}

// mergeLines has git merge a text, with ours, theirs or both where lines conflict.
func (p *plan) mergeLines(flag string, c merge.Conflict) ([]byte, error) {
	dir, err := os.MkdirTemp("", "umbra-merge-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for name, e := range map[string]gitstore.TreeEntry{"ours": c.Ours, "base": c.Base, "theirs": c.Theirs} {
		content, err := p.read(e)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o600)
		}
		if err != nil {
			return nil, err
		}
	}
	return git.Run(p.ctx, git.Command{Dir: dir, Args: []string{"merge-file", "-p", flag, "ours", "base", "theirs"}})
}

func (p *plan) read(e gitstore.TreeEntry) ([]byte, error) {
	if e.ID.IsZero() {
		return nil, nil
	}
	content, _, err := p.store.BlobReader(e.ID)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	return io.ReadAll(content)
}
