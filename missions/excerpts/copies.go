package excerpts

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// What a copy has is listed here, and all else is left out: what is added to a record later
// stays here until somebody has looked at it.

// copySnapshot copies a snapshot whose parents and record are copied. Of the ids of other
// snapshots it has those of its parents alone: others may be in no copy.
func (e *Excerpt) copySnapshot(snap *gitstore.Snapshot) (gitstore.ID, error) {
	made := &gitstore.Snapshot{
		Tree: snap.Tree, Parents: e.copiesOf(snap.Parents), Author: snap.Author, At: snap.At, State: snap.State,
		Subject: fmt.Sprintf("turn %d: %s", snap.Turn, strings.Join(snap.Triggers, ", ")),
		Trailers: gitstore.Trailers{
			Mission: snap.Mission, Triggers: snap.Triggers, Turn: snap.Turn, Record: e.copies[snap.Record],
			GitHead: snap.GitHead, Skipped: snap.Skipped, Late: snap.Late, Partial: snap.Partial,
		},
	}
	if slices.Contains(snap.Parents, snap.PromotedFrom) {
		made.PromotedFrom = e.copies[snap.PromotedFrom]
	}
	if parent := snap.Parent(); !parent.IsZero() {
		before, err := e.from.Store.Snapshot(parent)
		if err != nil {
			return gitstore.ID{}, err
		}
		if before.Mission != snap.Mission {
			made.ForkedFrom = e.copies[parent]
		}
	}
	return e.batch.Commit(gitstore.FormatSnapshot(made))
}

// copyRecord copies a record whose parents are copied.
func (e *Excerpt) copyRecord(r *gitstore.Record) (gitstore.ID, error) {
	entries, err := e.from.Store.Tree(r.Tree)
	if err != nil {
		return gitstore.ID{}, err
	}
	made := entries[:0:0]
	_, hasConversation := named(entries, "session")
	for _, one := range entries {
		switch one.Name {
		case projects.RulesDoc, projects.SkippedDoc, projects.ModesDoc, "displaced":
		case projects.MissionDoc:
			one.ID, err = e.copyDoc(one.ID, func(data []byte) (any, error) { return missionOf(data, hasConversation) })
		case projects.SnapshotDoc:
			one.ID, err = e.copyDoc(one.ID, infoOf)
		case path.Dir(projects.GitDoc):
			one.ID, err = e.copyGit(one.ID)
		default:
			continue
		}
		if err != nil {
			return gitstore.ID{}, fmt.Errorf("record %s: %w", r.ID.Short(), err)
		}
		made = append(made, one)
	}
	copied := &gitstore.Record{Parents: e.copiesOf(r.Parents), Author: r.Author, Kind: r.Kind, Mission: r.Mission, Message: "without the conversation"}
	if copied.Tree, err = e.batch.Tree(made); err != nil {
		return gitstore.ID{}, err
	}
	return e.batch.Commit(gitstore.FormatRecord(copied, r.At))
}

func named(entries []gitstore.TreeEntry, name string) (gitstore.TreeEntry, bool) {
	for _, one := range entries {
		if one.Name == name {
			return one, true
		}
	}
	return gitstore.TreeEntry{}, false
}

// copyDoc writes what of makes of a document.
func (e *Excerpt) copyDoc(doc gitstore.ID, of func([]byte) (any, error)) (gitstore.ID, error) {
	data, err := e.from.Store.Blob(doc)
	if err != nil {
		return gitstore.ID{}, err
	}
	made, err := of(data)
	if err != nil {
		return gitstore.ID{}, err
	}
	text, err := json.MarshalIndent(made, "", " ")
	if err != nil {
		return gitstore.ID{}, err
	}
	return e.batch.Blob(append(text, '\n'))
}

// missionOf is what a copy says of its mission. A name may be made of a prompt, unless
// somebody has given it.
func missionOf(data []byte, hasConversation bool) (any, error) {
	var m projects.Stored
	if err := projects.ParseDoc(projects.MissionDoc, data, &m); err != nil {
		return nil, err
	}
	made := projects.Stored{
		Format: m.Format, ID: m.ID, Name: m.Name, NameGiven: m.NameGiven, Agent: m.Agent, Command: []string{},
		RecordedStateSince: m.RecordedStateSince, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
		Subdir: m.Subdir, Withheld: m.Withheld, TurnPosition: m.TurnPosition, ConversationLeftOut: hasConversation || m.ConversationLeftOut,
	}
	if !m.NameGiven {
		made.Name = fmt.Sprintf("%s-%.8s", m.Agent, m.ID)
		if missions.CheckName(made.Name) != nil {
			made.Name = fmt.Sprintf("mission-%.8s", m.ID)
		}
	}
	life, err := missions.UnmarshalLifecycle(m.LifecycleJSON)
	if err != nil {
		return nil, err
	}
	switch l := life.(type) {
	case missions.Running:
		life = missions.Running{Turn: l.Turn}
	case missions.Failed:
		life = missions.Failed{Turn: l.Turn}
	}
	made.LifecycleJSON, err = missions.MarshalLifecycle(life)
	return made, err
}

// infoOf is what a copy says of its snapshot.
func infoOf(data []byte) (any, error) {
	var s projects.SnapshotInfo
	if err := projects.ParseDoc(projects.SnapshotDoc, data, &s); err != nil {
		return nil, err
	}
	return projects.SnapshotInfo{
		Format: s.Format, At: s.At, Triggers: s.Triggers, Turn: s.Turn, Files: s.Files, Bytes: s.Bytes, ChangingPaths: s.ChangingPaths,
		Consistent: s.Consistent, Late: s.Late, RequestedAt: s.RequestedAt, WithoutHooks: s.WithoutHooks, Partial: s.Partial, Corrected: s.Corrected,
	}, nil
}

// copyGit copies what a record has of the user's repository, without the name of the branch:
// Umbra names a fork's branch after its prompt, and agents do so too.
func (e *Excerpt) copyGit(tree gitstore.ID) (gitstore.ID, error) {
	entries, err := e.from.Store.Tree(tree)
	if err != nil {
		return gitstore.ID{}, err
	}
	for i := range entries {
		if entries[i].Name != path.Base(projects.GitDoc) {
			continue
		}
		entries[i].ID, err = e.copyDoc(entries[i].ID, func(data []byte) (any, error) {
			all, made := map[string]json.RawMessage{}, map[string]json.RawMessage{"branch": json.RawMessage(`""`)}
			err := projects.ParseDoc(projects.GitDoc, data, &all)
			for _, name := range []string{"head", "unborn", "ancestors", "operation"} {
				if value, has := all[name]; has {
					made[name] = value
				}
			}
			return made, err
		})
		if err != nil {
			return gitstore.ID{}, err
		}
	}
	return e.batch.Tree(entries)
}
