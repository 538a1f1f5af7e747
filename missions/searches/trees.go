package searches

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// searchRecords looks through what snapshots say themselves: the messages that people and
// operations gave them and, where no conversation can be read, the prompts and tools that
// hooks told of.
func (s *scope) searchRecords(ctx context.Context, p *page, all []ownedSnapshot, told map[string]bool) error {
	for _, one := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !s.isMeant(one.mission) || s.agent != "" && one.mission.Agent != s.agent {
			continue
		}
		if at := newestIn([]projects.NumberedSnapshot{one.NumberedSnapshot}); p.isPast(at) {
			p.more = p.more || !at.Before(p.since)
			continue
		}
		if s.places[missions.SearchMessages] && hasOwnMessage(one) && p.query.matches(one.Message) {
			s.addRecordHit(p, one, missions.SearchMessages, one.Message, 0)
		}
		if told == nil || !s.isSilent(one, told) {
			continue
		}
		info, err := one.mission.Project.ReadSnapshotInfo(one.Snapshot)
		if err != nil {
			notifyUnread(ctx, one.mission, err)
			continue
		}
		if s.places[missions.SearchPrompts] && projects.TriggersOf(one.Snapshot).Has(missions.TriggerPrompt) && p.query.matches(info.Prompt) {
			s.addRecordHit(p, one, missions.SearchPrompts, info.Prompt, 0)
		}
		if s.places[missions.SearchPrompts] && info.Typed != "" && p.query.matches(info.Typed) {
			s.addRecordHit(p, one, missions.SearchPrompts, info.Typed, 1)
		}
		for i, tool := range info.MadeBy {
			in := missions.SearchTools
			if isCommand(tool.Name) {
				in = missions.SearchCommands
			}
			text := missions.OneLine(tool.Name, tool.Target)
			if (s.places[in] || s.places[missions.SearchTools]) && p.query.matches(text) {
				s.addRecordHit(p, one, in, text, i)
			}
		}
	}
	return nil
}

// isSilent reports whether no conversation of a snapshot can be read.
func (s *scope) isSilent(one ownedSnapshot, told map[string]bool) bool {
	a := s.Adapter(one.mission.Agent)
	return a == nil || projects.IsForeignAdapter(a) || !told[one.Session]
}

// hasOwnMessage reports whether a snapshot's message says more than its conversation.
func hasOwnMessage(one ownedSnapshot) bool {
	triggers := projects.TriggersOf(one.Snapshot)
	return triggers.Has(missions.TriggerManual) || triggers.Has(missions.TriggerFork) || triggers.Operation() != ""
}

func (s *scope) addRecordHit(p *page, one ownedSnapshot, in missions.SearchPlace, text string, n int) {
	hit := s.hitAt(one.mission, one.NumberedSnapshot, one.mission.Project.TakenAt(one.Snapshot), in)
	hit.Order = fmt.Sprintf("%s %s %d", one.ID, in, n)
	hit.Text, _ = p.query.line(text)
	p.add(hit)
}

// searchTrees looks through the names of files, and their content, as they ever were: each
// name and each content once, where it came about first.
func (s *scope) searchTrees(ctx context.Context, p *page, past *past, all []ownedSnapshot) error {
	t := treeSearch{scope: s, page: p, project: past.project, paths: map[string]bool{}, blobs: map[gitstore.ID]bool{}}
	trees := map[gitstore.ID]gitstore.ID{} // by snapshot
	for _, one := range all {
		trees[one.ID] = one.Tree
	}
	for _, one := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		before, known := trees[one.Parent()]
		if !known && !one.Parent().IsZero() {
			if parent, err := past.project.SnapshotCache.ReadSnapshot(past.project.Store, one.Parent()); err == nil {
				before = parent.Tree
			}
		}
		if err := t.searchTree(ctx, one, before); err != nil {
			if ctx.Err() != nil {
				return err
			}
			notifyUnread(ctx, one.mission, err)
		}
	}
	return nil
}

// treeSearch is one search in the files of a project.
type treeSearch struct {
	*scope
	page    *page
	project *projects.Project
	paths   map[string]bool // found before
	blobs   map[gitstore.ID]bool
	unread  bool // something could not be read, and it was said
}

// searchTree looks through what a snapshot brought.
func (t *treeSearch) searchTree(ctx context.Context, one ownedSnapshot, before gitstore.ID) error {
	return t.project.Store.DiffTrees(before, one.Tree, func(c gitstore.Change) error {
		if err := ctx.Err(); err != nil || c.To.ID.IsZero() {
			return err
		}
		if t.places[missions.SearchPaths] && c.From.ID.IsZero() && !t.paths[c.Path] && t.page.query.matches(c.Path) {
			t.paths[c.Path] = true
			t.add(one, missions.SearchPaths, c.Path, 0, func() string { return projects.RedactText(c.Path) })
		}
		if !t.places[missions.SearchFiles] || !c.To.Mode.IsBlob() || t.blobs[c.To.ID] {
			return nil
		}
		t.blobs[c.To.ID] = true
		content, err := t.project.Store.Blob(c.To.ID)
		if err != nil {
			if !t.unread {
				t.unread = true
				notifyUnread(ctx, one.mission, fmt.Errorf("%s: %w", gitstore.QuotePath(c.Path), err))
			}
			return nil // the other files can be
		}
		t.searchFile(one, c.Path, content)
		return nil
	})
}

// mostLookedAt is how far into a file a zero byte makes it a binary one, as for git.
const mostLookedAt = 8000

// searchFile looks for the first line that matches.
func (t *treeSearch) searchFile(one ownedSnapshot, path string, content []byte) {
	if bytes.IndexByte(content[:min(len(content), mostLookedAt)], 0) >= 0 {
		return
	}
	n, begins := 0, 0
	for line := range strings.Lines(string(content)) {
		n++
		if t.page.query.matches(line) {
			t.add(one, missions.SearchFiles, path, n, func() string { return projects.RedactPart(content, begins, begins+len(line)) })
			return
		}
		begins += len(line)
	}
}

// add adds a hit. Its text, without secrets, is asked for only where it is wanted.
func (t *treeSearch) add(one ownedSnapshot, in missions.SearchPlace, path string, line int, text func() string) {
	if !t.isMeant(one.mission) || t.agent != "" && one.mission.Agent != t.agent {
		return
	}
	hit := missions.SearchHit{At: t.project.TakenAt(one.Snapshot).UTC(), Order: fmt.Sprintf("%s %s %s", one.ID, in, path)}
	if !t.page.wants(hit) {
		return
	}
	order := hit.Order
	hit = t.hitAt(one.mission, one.NumberedSnapshot, hit.At, in)
	hit.Text, _ = t.page.query.line(text())
	hit.Order, hit.Path, hit.Line = order, path, line
	t.page.add(hit)
}
