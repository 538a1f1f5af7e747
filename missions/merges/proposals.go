package merges

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/syntax"
)

// merger is the agent that proposes what paths become, which neither side has worked with.
type merger struct {
	Agent   string `json:"agent"`
	Mission string `json:"mission,omitempty"` // in whose workspace it works, "" while there is none
	Tree    string `json:"tree,omitempty"`    // that it has begun with
	// Asked are the paths that it was asked about, each with what the sides had there.
	Asked map[string]string `json:"asked,omitempty"`
	// Most is how often it is asked in all, where the check does not pass, and Times how often
	// it was.
	Most  int `json:"most,omitempty"`
	Times int `json:"times,omitempty"`
}

// mostAttempts is how often a merger is asked if nobody says otherwise.
const mostAttempts = 2

// proposal is what an agent proposes that a path becomes. It counts as long as the sides have
// the same there.
type proposal struct {
	missions.MergeProposal
	Path missions.Path `json:"path"`
	Of   string        `json:"of"`
	// Failed says that the check has refused it: it may be mended.
	Failed bool `json:"failed,omitempty"`
}

// askMerger has an agent propose, up to so many times, also where what was proposed before
// was refused.
func (s *state) askMerger(agent string, attempts int) {
	if s.Merger == nil || s.Merger.Agent != agent {
		s.Merger = &merger{Agent: agent}
	}
	s.Merger.Times, s.Merger.Most = 0, cmp.Or(attempts, s.Merger.Most, mostAttempts)
	s.Proposals = slices.DeleteFunc(s.Proposals, func(one proposal) bool { return one.Refused != "" })
}

// proposalFor is what was proposed for a path, nil if nothing was.
func (p *plan) proposalFor(q *question) *proposal {
	i := slices.IndexFunc(p.state.Proposals, func(one proposal) bool { return one.Path == q.Path && one.Of == q.of })
	if i < 0 {
		return nil
	}
	return &p.state.Proposals[i]
}

// addProposal says on a question what was proposed.
func (p *plan) addProposal(q *question) {
	q.Proposal = nil
	if one := p.proposalFor(q); one != nil {
		shown := one.MergeProposal
		shown.Content = nil
		q.Proposal = &shown
	}
}

// toPropose are the open paths that an agent can be asked about, and was not. Where the check
// does not pass it is asked about what Git merged, too, and anew about what it has proposed.
func (p *plan) toPropose() (list []*question) {
	at := p.state.Merger
	again := at != nil && (at.Times < at.Most || at.Mission != "") // or it works already
	for _, q := range p.open() {
		one := p.proposalFor(q)
		isMerged := q.Severity == missions.SeverityMedium && isRegular(q.merged) && p.state.isBad(p.tree.String())
		switch {
		case q.Severity == missions.SeverityHigh && one == nil:
			list = append(list, q)
		case again && (one != nil && one.Failed || one == nil && isMerged):
			list = append(list, q)
		}
	}
	return list
}

// isAnew reports whether a path is asked about since the check does not pass: what its file
// has is to be mended, and has no marks.
func (q *question) isAnew() bool {
	return q.Severity == missions.SeverityMedium || q.Proposal != nil
}

// wantedMerger is the agent that is to propose something, "" if none is.
func (p *plan) wantedMerger() string {
	if p.state.Merger == nil || len(p.toPropose()) == 0 {
		return ""
	}
	return p.state.Merger.Agent
}

// isLeftToGit reports whether Git merged a path to what no agent can write: a file that has
// another name now, or a link. A user alone can choose otherwise.
func (q *question) isLeftToGit() bool {
	return q.Severity == missions.SeverityMedium && len(q.conflicts) == 0 && !isRegular(q.merged)
}

// addProposedTree makes the tree that has all that is proposed, if nothing else is open that
// an agent could write.
func (p *plan) addProposedTree() error {
	p.proposed = gitstore.ID{}
	open := slices.DeleteFunc(p.open(), func(q *question) bool { return p.proposalFor(q) == nil && q.isLeftToGit() })
	if len(open) == 0 {
		return nil
	}
	tree := records.NewTree(p.store, p.tree)
	batch := p.store.NewBatch()
	defer batch.Discard()
	for _, q := range open {
		one := p.proposalFor(q)
		if one == nil || one.Refused != "" {
			return nil
		}
		e, err := p.takeContent(batch, q, one.Content)
		if err != nil {
			return err
		}
		if err := put(tree, string(q.Path), e); err != nil {
			return err
		}
	}
	proposed, err := tree.Write(batch)
	if err == nil {
		err = batch.Flush(p.ctx)
	}
	p.proposed = proposed
	return err
}

// judgeProposals takes over what the check has said of all that is proposed: it refuses
// proposals, or takes them where the user wants no question.
func (p *plan) judgeProposals() error {
	isBad := p.state.isBad(p.proposed.String())
	if p.proposed.IsZero() || !isBad && !p.state.isGood(p.proposed.String()) {
		return nil
	}
	for _, q := range p.open() {
		one := p.proposalFor(q)
		switch {
		case one == nil: // it is left to Git
		case isBad:
			one.Refused, one.Failed = "the check does not pass with what was proposed", true
		case p.state.Auto == missions.MergeMedium:
			chosen, err := p.choiceOf(q, missions.MergeChoice{Path: q.Path, Take: missions.TakeProposal})
			if err != nil {
				return err
			}
			chosen.ByCheck = true
			p.state.choose(chosen)
		default:
			one.Checked = true
		}
	}
	if err := p.fold(); err != nil {
		return err
	}
	return p.answer()
}

// makeMerger makes a mission whose agent is to propose what the open paths become: a fork of
// the mission merged into, without its conversation, in whose files the marks of conflicts
// are. One that was made before a process was killed is used again.
func (g *Merger) makeMerger(ctx context.Context, p *plan, r missions.MergeRequest) (result missions.MergeResult, err error) {
	list, at := p.toPropose(), p.state.Merger
	if at == nil || len(list) == 0 {
		return p.result(), missions.Errorf(missions.KindNotFound, "umbra merge --status shows what is open", "nothing is open that an agent could merge")
	}
	m, err := g.loadScratch(p.into, at.Mission)
	if err != nil {
		return p.result(), err
	}
	if m == nil {
		prompt, err := g.mergerPrompt(p, list)
		if err != nil {
			return p.result(), err
		}
		name, err := g.scratchName(p.into, mergerSuffix)
		if err != nil {
			return p.result(), err
		}
		if at.Mission == "" { // else a process was killed before it was there
			at.Times++
		}
		at.Mission = g.NewID() // noted before it is there, so that a kill leaves no agent that nobody asks
		if err := p.state.save(p.into.Project); err != nil {
			return p.result(), err
		}
		if _, err := g.rooms.Forks.Fork(ctx, missions.ForkRequest{
			Caller: r.Caller, From: p.into.Name, ID: at.Mission, Name: name, Agent: at.Agent, FilesAlone: true, Prompt: prompt, Headless: true,
			NoWait: true, Yes: true, Force: r.Force,
		}); err != nil {
			return p.result(), err
		}
		if m, err = g.LoadMission(p.into.Project, at.Mission); err != nil {
			return p.result(), err
		}
	}
	if view := g.rooms.Presence.MissionView(m); view.PromptKept {
		if err := g.putMarks(ctx, p, r, m, list); err != nil {
			return p.result(), err
		}
	}
	result = p.result()
	if m, err = g.LoadMission(p.into.Project, at.Mission); err == nil {
		view := g.rooms.Presence.MissionView(m)
		result.Scratch = &view
	}
	return result, err
}

// putMarks gives the merger the merged files, with marks in the open ones.
func (g *Merger) putMarks(ctx context.Context, p *plan, r missions.MergeRequest, m *projects.Mission, list []*question) error {
	tree := records.NewTree(p.store, p.tree)
	batch := p.store.NewBatch()
	defer batch.Discard()
	for _, q := range list {
		given, err := p.givenFor(q)
		if err != nil {
			return err
		}
		e, err := p.takeContent(batch, q, given)
		if err == nil {
			err = put(tree, string(q.Path), e)
		}
		if err != nil {
			return err
		}
	}
	marked, err := tree.Write(batch)
	if err == nil {
		err = batch.Flush(p.ctx)
	}
	if err != nil {
		return err
	}
	p.state.Merger.Tree, p.state.Merger.Asked = marked.String(), map[string]string{}
	for _, q := range list {
		p.state.Merger.Asked[q.Path.String()] = q.of
	}
	if err := p.state.save(p.into.Project); err != nil {
		return err
	}
	merged := p.request()
	merged.Tree, merged.Ours, merged.Scratch = marked.String(), m.Tip.Tree.String(), true
	_, err = g.apply(ctx, m, r, merged)
	return err
}

// givenFor is what the merger finds in a file: with marks, or what the check did not like.
func (p *plan) givenFor(q *question) ([]byte, error) {
	if one := p.proposalFor(q); one != nil {
		return one.Content, nil
	}
	if len(q.conflicts) == 0 {
		return p.read(q.merged)
	}
	texts, err := p.texts(q)
	if err != nil {
		return nil, err
	}
	return texts.Merged, nil
}

// takeProposals takes over what the merger has written, and refuses what can't be meant. What
// was taken over already, by a call whose answer was lost or by another command, it leaves.
func (g *Merger) takeProposals(ctx context.Context, p *plan, r missions.MergeRequest) (missions.MergeResult, error) {
	if slices.Contains(p.state.Ended, r.Proposed.Mission) {
		result := p.result()
		result.Left = g.viewsOf(p.into, p.state.Ended)
		return result, nil
	}
	if p.state.Merger == nil || p.state.Merger.Mission != r.Proposed.Mission {
		return p.result(), missions.Errorf(missions.KindConflict, "umbra merge --continue --into "+p.into.Name,
			"another agent is asked by now what paths become")
	}
	m, err := g.loadScratch(p.into, r.Proposed.Mission)
	if err != nil {
		return p.result(), err
	}
	if m == nil {
		return p.result(), missions.Errorf(missions.KindNotFound, "umbra merge --continue --into "+p.into.Name+" asks it again", "the agent that was to merge is gone")
	}
	if m, _, err = g.rooms.Promotes.SettleFork(ctx, m, settling(r)); err != nil {
		return p.result(), err
	}
	view := g.rooms.Presence.MissionView(m)
	notes, err := p.readProposals(m.Tip.Tree, *r.Proposed)
	if err != nil {
		return p.result(), err
	}
	p.state.Ended = append(p.state.Ended, m.ID) // in one step: a kill leaves no mission that nobody knows
	p.state.Merger.Mission, p.state.Merger.Tree, p.state.Merger.Asked = "", "", nil
	if err := p.answer(); err != nil {
		return p.result(), err
	}
	if err := p.judgeProposals(); err != nil { // the same as before is as bad as it was
		return p.result(), err
	}
	if err := p.state.save(p.into.Project); err != nil {
		return p.result(), err
	}
	result := p.result()
	result.Scratch, result.Notes = &view, append(result.Notes, notes...)
	result.Left = g.viewsOf(p.into, p.state.Ended)
	return result, nil
}

// readProposals reads what an agent has written at the paths that it was asked about.
func (p *plan) readProposals(tree gitstore.ID, end missions.MergerEnd) (notes []string, err error) {
	asked := p.state.Merger.Asked
	for _, q := range p.toPropose() {
		if asked[q.Path.String()] != q.of {
			continue // a side has changed it meanwhile: what is proposed is of another conflict
		}
		one, err := p.readProposal(q, tree, end)
		if err != nil {
			return nil, err
		}
		p.state.Proposals = slices.DeleteFunc(p.state.Proposals, func(old proposal) bool { return old.Path == q.Path && old.Of == q.of })
		p.state.Proposals = append(p.state.Proposals, one)
	}
	begun, err := gitstore.ParseID(p.state.Merger.Tree)
	if err != nil {
		return nil, err
	}
	var others []string
	changed, err := p.changesOf(begun, tree)
	for path := range changed {
		if asked[path] == "" {
			others = append(others, path)
		}
	}
	if len(others) > 0 {
		slices.Sort(others)
		notes = append(notes, fmt.Sprintf("%s has changed files that it was not asked about, which are left out: %s",
			p.state.Merger.Agent, strings.Join(others[:min(len(others), mostParts)], ", ")))
	}
	return notes, err
}

// readProposal reads what an agent has written at a path, and refuses what can't be meant.
func (p *plan) readProposal(q *question, tree gitstore.ID, end missions.MergerEnd) (one proposal, err error) {
	one = proposal{Path: q.Path, Of: q.of}
	one.By, one.Reason = p.state.Merger.Agent, reasonFor(string(q.Path), end.Answer)
	e, err := p.entryAt(tree, string(q.Path))
	if err != nil {
		return one, err
	}
	isText := false
	if isRegular(e) {
		if isText, err = p.isText(e); err == nil {
			one.Content, err = p.read(e)
		}
		if err != nil {
			return one, err
		}
	}
	given, err := p.givenFor(q)
	if err != nil {
		return one, err
	}
	problem := ""
	if isText {
		problem = syntax.Problem(string(q.Path), one.Content)
	}
	switch {
	case end.Problem != "":
		one.Refused = "the agent " + end.Problem
	case !isRegular(e):
		one.Refused = "the agent has left no file there"
	case !isText:
		one.Refused = "the agent has left no text there"
	case HasMarks(one.Content), leavesMark(one.Content, given):
		one.Refused = "the agent has left marks of conflicts"
	case problem != "":
		ours, err := p.problemOf(string(q.Path), q.merged) // where ours does not parse either, it is no language that is known
		if err == nil && ours == "" {
			one.Refused = "what the agent has left does not parse: " + problem
		}
		return one, err
	}
	return one, nil
}

// leavesMark reports whether a text has one of the marks that were in what it is made of.
func leavesMark(text, given []byte) bool {
	marks := map[string]bool{}
	for line := range bytes.Lines(given) {
		if isMark(line, "<") || isMark(line, "|") || isMark(line, ">") {
			marks[string(bytes.TrimSpace(line))] = true
		}
	}
	for line := range bytes.Lines(text) {
		if marks[string(bytes.TrimSpace(line))] {
			return true
		}
	}
	return false
}

// reasonFor is what an agent's answer says of a path: the rest of the line that begins with
// its name.
func reasonFor(path, answer string) string {
	for line := range strings.Lines(answer) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*` ")
		rest, found := strings.CutPrefix(line, path)
		if !found {
			rest, found = strings.CutPrefix(line, gitstore.QuotePath(path))
		}
		if found {
			rest = strings.TrimLeft(rest, "`* ")
			if reason, found := strings.CutPrefix(rest, ":"); found {
				return missions.TruncateText(strings.TrimSpace(strings.TrimLeft(reason, "* ")), maxReason)
			}
		}
	}
	return ""
}

// maxReason is how many bytes of an agent's reason are kept.
const maxReason = 500
