package merges

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/databases"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/merge"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// plan is what a merge comes to now.
type plan struct {
	contents
	state *state
	into  *projects.Mission
	sides []side
	ours  gitstore.ID // the tree of the mission that is merged into
	git   gitstore.ID // the merged tree as git made it
	tree  gitstore.ID // the same with what was chosen; lines that nobody chose yet are as in ours
	// proposed is tree with all that is proposed, zero where something else is open.
	proposed gitstore.ID
	modes    *documents.Modes
	were     *documents.Modes // of the mission that is merged into
	limit    time.Duration    // of a driver
	paths    map[string]*question
	types    map[string]bool // paths that are a directory on one side and something else on another
}

// side is a mission that is merged.
type side struct {
	mission *projects.Mission
	tip     *gitstore.Snapshot
	tree    gitstore.ID
	base    restores.Base
}

// question is a path that a side changed, and what is known of it.
type question struct {
	missions.MergedPath
	conflicts map[int]merge.Conflict // by the side that it is with
	answers   map[int]missions.MergeTake
	of        string // what the sides have there, for choices
	without   string // which choices leave no file there, "" where none does
	merged    gitstore.TreeEntry
	// isDatabase says that the logs beside it become what it becomes.
	isDatabase bool
}

// plan computes what a merge comes to. done is to be called once it is of no use any more.
func (g *Merger) plan(ctx context.Context, into *projects.Mission, s *state, r missions.MergeRequest) (*plan, func(), error) {
	if err := g.LentError(into); err != nil {
		return nil, nil, err
	}
	config, err := g.CallerConfig(r.Caller)
	if err != nil {
		return nil, nil, err
	}
	into, done, err := g.rooms.Snapshots.ScratchView(into)
	if err != nil {
		return nil, nil, err
	}
	p := &plan{contents: contents{ctx, into.Project.Store}, state: s, into: into, ours: into.Tip.Tree}
	p.limit = time.Duration(config.Check.TimeLimit)
	if settling(r).Preview {
		if p.ours, err = g.rooms.Promotes.PresentTree(ctx, into); err != nil {
			done()
			return nil, nil, err
		}
	}
	err = g.addSides(p)
	if err == nil {
		err = p.fold()
	}
	if err == nil {
		err = p.answer()
	}
	if err != nil {
		done()
		return nil, nil, restores.MergeError(err, "merge into "+into.Name, g.rooms.Snapshots.FreeSpaceHint())
	}
	return p, done, nil
}

// addSides loads what is merged.
func (g *Merger) addSides(p *plan) error {
	for _, from := range p.state.Sides {
		m, err := g.LoadMissionOrRemoved(p.into.Project, from.Mission)
		if err != nil {
			return err
		}
		id, err := gitstore.ParseID(from.Snapshot)
		if err != nil {
			return err
		}
		one := side{mission: m}
		if one.tip, err = p.store.Snapshot(id); err != nil {
			return err
		}
		one.tree = one.tip.Tree
		if from.Tree != "" {
			if one.tree, err = gitstore.ParseID(from.Tree); err != nil {
				return err
			}
		}
		at := *m
		at.Tip = one.tip // whatever it did since does not count
		point, err := g.point(p.into, &at)
		if err != nil {
			return err
		}
		if one.base, err = restores.FindBase(p.ctx, p.into, &at, point); err != nil {
			return err
		}
		p.sides = append(p.sides, one)
	}
	return nil
}

// fold merges the sides one after the other, and again where a later one has a file in the
// place of a directory: what came before is then a part of that question.
func (p *plan) fold() error {
	for p.types = map[string]bool{}; ; {
		known := len(p.types)
		if err := p.foldSides(); err != nil || len(p.types) == known {
			return err
		}
	}
}

func (p *plan) foldSides() error {
	present, err := snapshots.RecordedSide(p.into.Project, p.into.Tip)
	if err != nil {
		return err
	}
	p.tree, p.modes, p.were, p.paths = p.ours, present.Modes, present.Modes, map[string]*question{}
	for i, from := range p.sides {
		step := merge.Sides{Base: from.base.Tree, Ours: p.tree, Theirs: from.tree}
		got, err := p.attempt(step, p.state.Driver, p.limit)
		if err != nil {
			return err
		}
		if got.Conflicts, err = p.joinParts(step, got.Conflicts); err != nil {
			return err
		}
		if err := p.judge(i, step, got); err != nil {
			return err
		}
		if p.tree, err = p.settle(i, got.Tree, got.Conflicts); err != nil {
			return err
		}
		their, err := recordedModes(p.into.Project, from)
		if err != nil {
			return err
		}
		if p.modes, err = mergeModes(p.store, p.tree, step, from.base.Modes, their, p.modes); err != nil {
			return err
		}
	}
	p.git = p.tree
	if err := (wholes{p}).joinLogs(); err != nil {
		return err
	}
	p.dropParts()
	return absences{p}.say()
}

// mergeModes merges what trees can't hold: ours is the mission that is merged into, which
// keeps what both changed.
func mergeModes(s *shadow.Store, tree gitstore.ID, step merge.Sides, base, theirs, ours *documents.Modes) (*documents.Modes, error) {
	return merge.Modes(s, tree, merge.SideModes{Tree: step.Base, Modes: base}, merge.SideModes{Tree: step.Theirs, Modes: theirs},
		merge.SideModes{Tree: step.Ours, Modes: ours})
}

func recordedModes(project *projects.Project, from side) (*documents.Modes, error) {
	recorded, err := snapshots.RecordedSide(project, from.tip)
	return recorded.Modes, err
}

// judge says of each path that a side changed, or that its merge changes, how much of a
// question it is.
func (p *plan) judge(i int, step merge.Sides, got merge.Attempted) error {
	theirs, err := wholes{p}.changed(step.Base, step.Theirs)
	if err != nil {
		return err
	}
	mine, err := wholes{p}.changed(step.Base, step.Ours)
	if err != nil {
		return err
	}
	made, err := wholes{p}.changed(step.Ours, got.Tree)
	if err != nil {
		return err
	}
	open := map[string]bool{}
	for _, c := range got.Conflicts {
		open[c.Path] = true
		q := p.ask(i, c.Path, true)
		q.conflicts[i] = c
		if c.Database {
			q.isDatabase = true
			for _, end := range databases.Beside() {
				open[c.Path+end] = true
			}
		}
		severity, reason, err := p.judgeConflict(i, c)
		if err == nil && severity == missions.SeverityHigh {
			reason, err = lineEnds{p}.addTo(reason, i, step, c.Path, c.Ours)
		}
		if err != nil {
			return err
		}
		q.raise(severity, reason)
	}
	for path, c := range theirs {
		if open[path] {
			continue
		}
		my, both := mine[path]
		now := c.From // what the merge has there
		if both {
			now = my.To
		}
		if merged, ok := made[path]; ok {
			now = merged.To
		}
		switch {
		case !both && sameEntry(now, c.To):
			p.ask(i, path, false).raise(missions.SeverityLow, "changed in "+p.sides[i].mission.Name+" alone")
		case both && sameEntry(my.To, c.To):
			p.ask(i, path, true).raise(missions.SeverityLow, "changed alike")
		case !both || now.ID.IsZero():
			p.ask(i, path, true).raise(missions.SeverityMedium, "renamed in one and changed in another, and merged by "+p.state.engine())
		default:
			reason, err := lineEnds{p}.addTo("changed in each, and merged by "+p.state.engine(), i, step, path, now)
			if err != nil {
				return err
			}
			p.ask(i, path, true).raise(missions.SeverityMedium, reason)
		}
	}
	for path := range made {
		if _, changed := theirs[path]; !changed && !open[path] {
			p.ask(i, path, true).raise(missions.SeverityMedium, "renamed in one and changed in another, and merged by "+p.state.engine())
		}
	}
	return nil
}

func sameEntry(a, b gitstore.TreeEntry) bool { return a.ID == b.ID && a.Mode == b.Mode }

// ask is the question of a path that a side changed, and the mission merged into too, or a
// side before, if both is set.
func (p *plan) ask(i int, path string, both bool) *question {
	q := p.paths[path]
	if q == nil {
		q = &question{MergedPath: missions.MergedPath{Path: missions.Path(path), Missions: []string{}}, conflicts: map[int]merge.Conflict{}, answers: map[int]missions.MergeTake{}}
		p.paths[path] = q
		if both {
			q.Missions = append(q.Missions, p.into.Name)
		}
	}
	if name := p.sides[i].mission.Name; !slices.Contains(q.Missions, name) {
		q.Missions = append(q.Missions, name)
	}
	return q
}

// raise makes a question as severe as this, if it is not yet.
func (q *question) raise(severity missions.Severity, reason string) {
	order := []missions.Severity{"", missions.SeverityLow, missions.SeverityMedium, missions.SeverityHigh, missions.SeverityCritical}
	if slices.Index(order, severity) > slices.Index(order, q.Severity) {
		q.Severity, q.Reason = severity, reason
	}
}

// judgeConflict says how much of a question a conflict is.
func (p *plan) judgeConflict(i int, c merge.Conflict) (missions.Severity, string, error) {
	their := p.sides[i].mission.Name
	mine := strings.Join(slices.DeleteFunc(slices.Clone(p.paths[c.Path].Missions), func(name string) bool { return name == their }), ", ")
	gone := func(e gitstore.TreeEntry) bool { return e.ID.IsZero() }
	if gone(c.Ours) != gone(c.Theirs) {
		alike, err := absences{p}.whoHas(c.Path, p.paths[c.Path].Missions, !gone(c.Ours))
		if err != nil {
			return "", "", err
		}
		alike = slices.DeleteFunc(alike, func(name string) bool { return name == their })
		mine = cmp.Or(strings.Join(alike, ", "), mine)
	}
	switch {
	case c.Database && (gone(c.Base) || gone(c.Ours) == gone(c.Theirs)):
		return missions.SeverityCritical, "a database with its logs, changed in each", nil
	case gone(c.Ours) && gone(c.Theirs), gone(c.Base) && (gone(c.Ours) || gone(c.Theirs)):
		return missions.SeverityCritical, "renamed in each, otherwise", nil
	case gone(c.Ours):
		return missions.SeverityCritical, "deleted in " + mine + ", changed in " + their, nil
	case gone(c.Theirs):
		return missions.SeverityCritical, "changed in " + mine + ", deleted in " + their, nil
	case !isRegular(c.Ours) || !isRegular(c.Theirs):
		return missions.SeverityCritical, "a file, a link or a directory, and changed in each", nil
	}
	if text, err := p.areText(c); err != nil || !text {
		return missions.SeverityCritical, "no text, and changed in each", err
	}
	if c.Ours.ID != c.Theirs.ID && c.Ours.Mode != c.Theirs.Mode && !gone(c.Base) && c.Base.Mode != c.Ours.Mode && c.Base.Mode != c.Theirs.Mode {
		return missions.SeverityCritical, "executable in one alone, and changed in each", nil
	}
	if gone(c.Base) {
		return missions.SeverityHigh, "added in each", nil
	}
	return missions.SeverityHigh, "the same lines changed in each", nil
}

func isRegular(e gitstore.TreeEntry) bool {
	return e.Mode == gitstore.ModeFile || e.Mode == gitstore.ModeExec
}

// answer applies what was chosen, and says what may be chosen for the rest.
func (p *plan) answer() error {
	tree := records.NewTree(p.store, p.git)
	batch := p.store.NewBatch()
	defer batch.Discard()
	for _, q := range p.sorted() {
		var err error
		if q.merged, err = p.entryAt(p.git, string(q.Path)); err != nil {
			return err
		}
		if q.of, err = p.fingerprint(string(q.Path)); err != nil {
			return err
		}
		if err := p.doubt(q); err != nil {
			return err
		}
		p.addProposal(q)
		q.Options = p.options(q)
		chosen, ok := p.answerOf(q)
		if !ok || len(q.conflicts) > 0 && !chosen.isContent() {
			continue // it is open, or was settled where it came up
		}
		e, err := p.take(batch, q, chosen.MergeChoice)
		if err != nil {
			return err
		}
		if err := (wholes{p}).putChosen(tree, q, e, chosen); err != nil {
			return err
		}
	}
	merged, err := tree.Write(batch)
	if err == nil {
		err = batch.Flush(p.ctx)
	}
	p.tree = merged
	for _, q := range p.paths {
		q.Auto = q.Chosen == "" && p.takesAlone(q)
	}
	if err == nil {
		err = p.addProposedTree()
	}
	return err
}

// answerOf is what was chosen for a path, once it is for each of its conflicts.
func (p *plan) answerOf(q *question) (last choice, ok bool) {
	if len(q.conflicts) == 0 {
		if last, ok = p.chosen(q, ""); ok {
			q.Chosen = p.nameOf(last)
		}
		return last, ok
	}
	var names []string
	for i, from := range p.sides {
		if _, conflicts := q.conflicts[i]; !conflicts {
			continue
		}
		if last, ok = p.chosen(q, from.mission.ID); !ok {
			return last, false
		}
		if name := p.nameOf(last); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	q.Chosen = strings.Join(names, ", ")
	return last, true
}

func put(tree *records.Tree, path string, e gitstore.TreeEntry) error {
	if e.ID.IsZero() {
		return tree.Remove(path)
	}
	return tree.PutEntry(path, e.Mode, e.ID)
}

// takesAlone reports whether a path is taken as git merged it, without a question.
func (p *plan) takesAlone(q *question) bool {
	switch q.Severity {
	case missions.SeverityLow:
		return p.state.Auto != missions.MergeNone
	case missions.SeverityMedium:
		asks := p.state.Check != ""
		if asks && p.state.isBad(p.tree.String()) {
			return false
		}
		return p.state.Auto == missions.MergeMedium || asks && p.state.Auto == missions.MergeLow
	}
	return false
}

// fingerprint is what the sides have at a path, and in the logs of it if it is a database.
func (p *plan) fingerprint(path string) (string, error) {
	var all []string
	for _, tree := range p.trees() {
		e, err := p.entryAt(tree, path)
		if err != nil {
			return "", err
		}
		logs, err := wholes{p}.logsAt(tree, path)
		if err != nil {
			return "", err
		}
		var text []string
		for _, e := range append([]gitstore.TreeEntry{e}, logs...) {
			text = append(text, fmt.Sprintf("%o %s", uint32(e.Mode), e.ID))
		}
		all = append(all, strings.Join(text, "+"))
	}
	return strings.Join(all, ","), nil
}

func (p *plan) trees() []gitstore.ID {
	list := []gitstore.ID{p.ours}
	for _, from := range p.sides {
		list = append(list, from.tree)
	}
	return list
}

// changesNothing reports whether the mission has all of it: contents, permissions and empty
// directories.
func (p *plan) changesNothing() bool {
	now, were := p.modes, p.were
	sameUsual := !now.File.Differs(were.File) && !now.Executable.Differs(were.Executable) && !now.Directory.Differs(were.Directory)
	return p.tree == p.ours && sameUsual && maps.Equal(now.Unusual, were.Unusual) && slices.Equal(now.Empty, were.Empty)
}

// sorted are the questions, the most severe ones first.
func (p *plan) sorted() []*question {
	order := []missions.Severity{missions.SeverityCritical, missions.SeverityHigh, missions.SeverityMedium, missions.SeverityLow}
	return slices.SortedFunc(maps.Values(p.paths), func(a, b *question) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Severity), slices.Index(order, b.Severity)), strings.Compare(string(a.Path), string(b.Path)))
	})
}

// open are the questions that nobody has answered.
func (p *plan) open() (list []*question) {
	for _, q := range p.sorted() {
		if !q.Auto && q.Chosen == "" {
			list = append(list, q)
		}
	}
	return list
}

// result is the plan as its user sees it.
func (p *plan) result() missions.MergeResult {
	r := p.state.result(p.into)
	for _, from := range p.sides {
		at := missions.MergeSide{Mission: from.mission.Name, Address: restores.AddressOfSnapshot(from.mission, from.tip.ID)}
		at.Base = cmp.Or(restores.AddressOfSnapshot(p.into, from.base.Snapshot.ID), restores.AddressOfSnapshot(from.mission, from.base.Snapshot.ID))
		r.From = append(r.From, at)
	}
	r.Base, r.Tree, r.Merger = r.From[0].Base, p.tree.String(), p.wantedMerger()
	if proposed := p.proposed.String(); !p.proposed.IsZero() && !p.state.isGood(proposed) && !p.state.isBad(proposed) {
		r.ProposedTree = proposed
	}
	for _, q := range p.sorted() {
		if q.Auto || q.Chosen != "" {
			r.Taken = append(r.Taken, q.MergedPath)
		} else {
			r.Conflicts = append(r.Conflicts, q.MergedPath)
		}
	}
	if checked := p.state.Checked; checked != nil && checked.Tree == r.Tree {
		r.Check = &checked.Check
	}
	return r
}
