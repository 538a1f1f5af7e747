package history

import (
	"context"
	"regexp"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Log lists a mission's snapshots, newest first.
func (rd *Reader) Log(ctx context.Context, r missions.LogRequest) ([]missions.Entry, error) {
	at, err := rd.addresses.FindMoment(ctx, r.Caller, r.Mission, addresses.InAnyProject)
	if err != nil {
		return nil, err
	}
	filter, err := rd.newFilter(at.Mission, r)
	if err != nil {
		return nil, err
	}
	entries, err := rd.listEntries(ctx, at, filter, r)
	if err == nil && (r.Graph || r.All) {
		entries, err = rd.addForkEntries(ctx, at, filter, r, entries)
	}
	if err == nil && r.WithConversation {
		err = rd.addConversations(at.Project, entries)
	}
	return entries, err
}

// listEntries lists the snapshots of one mission from a moment back. A path means the
// file that has that name at the moment, or had it before. If there is none, it means
// the file that got the name since, by its name at the moment.
func (rd *Reader) listEntries(ctx context.Context, at addresses.ResolvedMoment, filter filter, r missions.LogRequest) ([]missions.Entry, error) {
	entries, known, err := rd.listEntriesByName(ctx, at, filter, r)
	if known || err != nil {
		return entries, err
	}
	name, err := nameAtMoment(ctx, at, filter.path)
	if err != nil || name == filter.path {
		return entries, err
	}
	filter.path = name
	entries, _, err = rd.listEntriesByName(ctx, at, filter, r)
	return entries, err
}

// listEntriesByName is the history of a path by its name at the moment. known says whether
// any file has that name.
func (rd *Reader) listEntriesByName(ctx context.Context, at addresses.ResolvedMoment, filter filter, r missions.LogRequest) (entries []missions.Entry, known bool, err error) {
	pins := at.Project.PinsBySnapshot()
	entries = []missions.Entry{}
	trail := pathTrail{project: at.Project, path: filter.path}
	differ := logDiffer{project: at.Project, request: r}
	defer differ.close()
	reversals := restores.Reversals{Project: at.Project}
	awaited := r.After
	err = at.Project.WalkTurns(at.Snapshot.ID, func(turn []projects.NumberedSnapshot) error {
		begins := len(entries)
		back := make([]bool, len(turn))
		for i, s := range turn {
			back[i] = reversals.TookBack(s.Snapshot)
		}
		for i, s := range turn {
			path, from, touched, err := trail.follow(ctx, s.Snapshot)
			if err != nil {
				return err
			}
			if awaited != "" { // what is newer decides of those behind it what was taken back
				if s.ID.String() == awaited {
					awaited = ""
				}
				continue
			}
			if filter.isBeforeSince(s) {
				if trail.found {
					return projects.ErrStopWalk
				}
				continue
			}
			e, err := rd.snapshots.LogEntry(ctx, at.Mission, s, differ.lineDiffer(ctx))
			if err != nil {
				return err
			}
			if !touched || !filter.matches(e) {
				continue
			}
			e.RenamedFrom, e.TakenBack, e.TurnTakenBack = from, back[i], back[len(back)-1]
			if names := pins[s.ID]; names != nil {
				e.Pins = names
			}
			if r.Changes || r.Patch {
				err := differ.addChanges(ctx, &e, s.Snapshot, nonEmptyNames(path, from))
				if err != nil && !snapshots.FilesLost(err) {
					return err
				}
				e.Partial = e.Partial || err != nil
			}
			entries = append(entries, e)
			if r.Limit > 0 && len(entries) >= r.Limit {
				rd.addPrompt(at.Project, turn, entries[begins:])
				return projects.ErrStopWalk
			}
		}
		rd.addPrompt(at.Project, turn, entries[begins:])
		return ctx.Err()
	})
	if err == nil && awaited != "" {
		err = missions.Errorf(missions.KindNotFound, "umbra log", "snapshot %s is not in the history of %s", awaited, at.Mission.Name)
	}
	return entries, trail.found, err
}

// nonEmptyNames leaves out empty names.
func nonEmptyNames(all ...string) []string {
	return slices.DeleteFunc(all, func(name string) bool { return name == "" })
}

// addPrompt adds to the newest of a turn's entries what began the turn, where the prompt's
// own snapshot is not among them.
func (rd *Reader) addPrompt(p *projects.Project, turn []projects.NumberedSnapshot, entries []missions.Entry) {
	if len(entries) == 0 || slices.ContainsFunc(entries, missions.Entry.HasPromptTrigger) {
		return
	}
	entries[0].Prompt = rd.promptOfTurn(p, turn)
}

// promptOfTurn is what began a turn: whole, or as commits have it if no record has it.
func (rd *Reader) promptOfTurn(p *projects.Project, turn []projects.NumberedSnapshot) string {
	for _, s := range slices.Backward(turn) {
		if !projects.TriggersOf(s.Snapshot).Has(missions.TriggerPrompt) {
			continue
		}
		if f, ok := rd.snapshots.IndexedFacts(s.ID, false); ok {
			return f.Entry.Prompt
		}
		if info, err := p.ReadSnapshotInfo(s.Snapshot); err == nil {
			return info.Prompt
		}
	}
	return projects.PromptOfTurn(turn)
}

// addForkEntries adds the snapshots of this mission's forks and of their forks, or of all
// missions, newest first.
func (rd *Reader) addForkEntries(ctx context.Context, at addresses.ResolvedMoment, filter filter, r missions.LogRequest, entries []missions.Entry) ([]missions.Entry, error) {
	family, listed := map[string]*projects.Mission{at.ID: at.Mission}, map[string]bool{}
	names := map[string]string{at.ID: filter.path} // of the path, in each mission
	for _, e := range entries {
		listed[e.ID] = true
	}
	all, _ := rd.ProjectMissions(at.Project) // oldest first: a parent before its forks
	for _, m := range all {
		var parent *projects.Mission
		if m.Parent != nil {
			parent = family[m.Parent.Mission]
		}
		if !r.All && parent == nil {
			continue
		}
		if filter.path = names[at.ID]; parent != nil && m.ID != at.ID {
			var err error
			if filter.path, err = nameInFork(ctx, at.Project, parent, m, names[parent.ID]); err != nil {
				return nil, err
			}
		}
		family[m.ID], names[m.ID] = m, filter.path
		own, err := rd.listEntries(ctx, addresses.ResolvedMoment{Mission: m, Snapshot: projects.NumberedSnapshot{Snapshot: m.Tip}}, filter, r)
		if err != nil {
			return nil, err
		}
		for _, e := range own {
			if e.Mission == m.ID && !listed[e.ID] {
				listed[e.ID] = true
				entries = append(entries, e)
			}
		}
	}
	slices.SortStableFunc(entries, func(a, b missions.Entry) int { return b.At.Compare(a.At) })
	if r.Limit > 0 && len(entries) > r.Limit {
		entries = entries[:r.Limit]
	}
	return entries, nil
}

// filter decides which snapshots a log lists.
type filter struct {
	since          time.Time
	state          missions.StateName
	path           string
	grep           *regexp.Regexp
	operationsOnly bool
}

func (rd *Reader) newFilter(m *projects.Mission, r missions.LogRequest) (filter, error) {
	f := filter{state: r.State, operationsOnly: r.Ops}
	var err error
	if r.Since != "" {
		if f.since, err = missions.ParseWhen(r.Since, rd.Now()); err != nil {
			return f, err
		}
	}
	if r.Grep != "" {
		if f.grep, err = regexp.Compile("(?i)" + r.Grep); err != nil {
			return f, missions.Errorf(missions.KindUsage, "give a regular expression", "--grep: %w", err)
		}
	}
	if r.State != "" && !slices.Contains(missions.StateNames[:], r.State) {
		return f, missions.Errorf(missions.KindUsage, "use one of initializing, running, idle, error, closed", "--state: no state %q", r.State)
	}
	if r.Path != "" {
		if f.path, err = m.WorkspacePath(r.Caller, r.Path); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (f filter) isBeforeSince(s projects.NumberedSnapshot) bool {
	return !f.since.IsZero() && s.At.Before(f.since)
}

// matches reports whether an entry is listed, as far as its path does not decide.
func (f filter) matches(e missions.Entry) bool {
	switch {
	case f.state != "" && e.State != f.state,
		f.grep != nil && !f.grep.MatchString(textOf(e)),
		f.operationsOnly && e.Operation == "":
		return false
	}
	return true
}

// textOf is what the expression of a log is looked for in.
func textOf(e missions.Entry) string {
	text := e.Message + "\n" + e.Label + "\n" + e.Typed
	if e.HasPromptTrigger() {
		text += "\nprompt: " + e.Prompt
	}
	return text
}
