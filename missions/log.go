package missions

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
)

// Log lists a mission's snapshots, newest first.
func (l *Local) Log(ctx context.Context, r LogRequest) ([]Entry, error) {
	at, err := l.findMoment(ctx, r.Caller, r.Mission, reading)
	if err != nil {
		return nil, err
	}
	filter, err := l.logFilter(at.loaded, r)
	if err != nil {
		return nil, err
	}
	entries, err := l.history(ctx, at, filter, r)
	if err == nil && (r.Graph || r.All) {
		entries, err = l.withForks(ctx, at, filter, r, entries)
	}
	if err == nil && r.Said {
		err = l.addSaid(at.project, entries)
	}
	return entries, err
}

// history lists the snapshots of one mission from a moment back. A path is what
// has that name at the moment, or had it before; one that is named so only since
// is listed by what it was called at the moment.
func (l *Local) history(ctx context.Context, at found, filter filter, r LogRequest) ([]Entry, error) {
	entries, known, err := l.followed(ctx, at, filter, r)
	if known || err != nil {
		return entries, err
	}
	name, err := at.nameThen(ctx, filter.path)
	if err != nil || name == filter.path {
		return entries, err
	}
	filter.path = name
	entries, _, err = l.followed(ctx, at, filter, r)
	return entries, err
}

// followed is history of a path by its name at the moment; known says whether there
// is anything of that name.
func (l *Local) followed(ctx context.Context, at found, filter filter, r LogRequest) (entries []Entry, known bool, err error) {
	pins := at.project.pinsBySnapshot()
	entries = []Entry{}
	trail := trail{project: at.project, path: filter.path}
	told := logged{project: at.project, request: r}
	defer told.close()
	err = at.project.eachTurn(at.step.ID, func(turn []step) error {
		prompt, asked := askedIn(turn)
		for _, s := range turn {
			path, from, touched, err := trail.step(ctx, s.Snapshot)
			if err != nil {
				return err
			}
			if filter.past(s) {
				if trail.known {
					return errStop
				}
				continue
			}
			e, err := l.entry(ctx, at.loaded, s, told.counting(ctx))
			if err != nil {
				return err
			}
			if !touched || !filter.keeps(e) {
				continue
			}
			if e.RenamedFrom = from; s.ID != asked {
				e.Prompt = prompt
			}
			if names := pins[s.ID]; names != nil {
				e.Pins = names
			}
			if r.Changes || r.Patch {
				err := told.addChanges(ctx, &e, s.Snapshot, names(path, from))
				if err != nil && !filesLost(err) {
					return err
				}
				e.Partial = e.Partial || err != nil
			}
			entries = append(entries, e)
			if r.Limit > 0 && len(entries) >= r.Limit {
				return errStop
			}
		}
		return ctx.Err()
	})
	return entries, trail.known, err
}

// names are those of them that there are.
func names(all ...string) []string {
	return slices.DeleteFunc(all, func(name string) bool { return name == "" })
}

// askedIn is what a turn's user asked for, and the snapshot that says so.
func askedIn(turn []step) (prompt string, by gitstore.ID) {
	for _, s := range slices.Backward(turn) {
		if said, ok := strings.CutPrefix(s.Message, "prompt: "); ok && triggersOf(s.Snapshot).Has(TriggerPrompt) {
			return said, s.ID
		}
	}
	return "", by
}

// withForks adds the snapshots of the missions that were forked from this one,
// and from those, or of all missions; newest first.
func (l *Local) withForks(ctx context.Context, at found, filter filter, r LogRequest, entries []Entry) ([]Entry, error) {
	family, listed := map[string]*loaded{at.ID: at.loaded}, map[string]bool{}
	names := map[string]string{at.ID: filter.path} // of the path, in each mission
	for _, e := range entries {
		listed[e.ID] = true
	}
	all, _ := l.missionsOf(at.project) // oldest first: a parent before its forks
	for _, m := range all {
		var parent *loaded
		if m.Parent != nil {
			parent = family[m.Parent.Mission]
		}
		if !r.All && parent == nil {
			continue
		}
		if filter.path = names[at.ID]; parent != nil && m.ID != at.ID {
			var err error
			if filter.path, err = at.project.nameInFork(ctx, parent, m, names[parent.ID]); err != nil {
				return nil, err
			}
		}
		family[m.ID], names[m.ID] = m, filter.path
		own, err := l.history(ctx, found{m, step{Snapshot: m.tip}}, filter, r)
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
	slices.SortStableFunc(entries, func(a, b Entry) int { return b.At.Compare(a.At) })
	if r.Limit > 0 && len(entries) > r.Limit {
		entries = entries[:r.Limit]
	}
	return entries, nil
}

// filter is what a log leaves out.
type filter struct {
	since time.Time
	state StateName
	path  string
	grep  *regexp.Regexp
	ops   bool
}

func (l *Local) logFilter(m *loaded, r LogRequest) (filter, error) {
	f := filter{state: r.State, ops: r.Ops}
	var err error
	if r.Since != "" {
		if f.since, err = ParseWhen(r.Since, l.now()); err != nil {
			return f, err
		}
	}
	if r.Grep != "" {
		if f.grep, err = regexp.Compile("(?i)" + r.Grep); err != nil {
			return f, Errorf(KindUsage, "give a regular expression", "--grep: %w", err)
		}
	}
	if r.State != "" && !slices.Contains(stateNames[:], r.State) {
		return f, Errorf(KindUsage, "use one of initializing, running, idle, error, closed", "--state: no state %q", r.State)
	}
	if r.Path != "" {
		if f.path, err = m.pathIn(r.Caller, r.Path); err != nil {
			return f, err
		}
	}
	return f, nil
}

var stateNames = [...]StateName{StateInitializing, StateRunning, StateWaiting, StateIdle, StateError, StateClosed}

func (f filter) past(s step) bool { return !f.since.IsZero() && s.At.Before(f.since) }

// keeps reports whether an entry is listed, as far as its path does not decide.
func (f filter) keeps(e Entry) bool {
	switch {
	case f.state != "" && e.State != f.state,
		f.grep != nil && !f.grep.MatchString(e.Message),
		f.ops && e.Operation == "":
		return false
	}
	return true
}

// facts are what an Entry takes from a snapshot and its parent alone: they
// never change, so the index keeps them.
type facts struct {
	Entry Entry `json:"entry"`
	Lined bool  `json:"lined"`

	unrecorded bool // what its record says is lost, for now or for good
}

// entry projects a snapshot. Its address and names are those of the mission it
// was asked by. Lines are not counted if lines is nil.
func (l *Local) entry(ctx context.Context, m *loaded, s step, lines *gitstore.Differ) (Entry, error) {
	f, err := l.facts(ctx, m.project, s.Snapshot, lines)
	if err != nil {
		return Entry{}, err
	}
	e := f.Entry
	e.Address, e.Name, e.Pins = s.address(m.Name), m.Name, []string{}
	return e, nil
}

func (l *Local) facts(ctx context.Context, p *project, s *gitstore.Snapshot, lines *gitstore.Differ) (facts, error) {
	if f, ok := l.indexedFacts(s.ID, lines != nil); ok && s.Lost.IsZero() {
		return f, nil
	}
	f, err := p.facts(ctx, s, lines)
	if err == nil && !f.unrecorded && s.Lost.IsZero() && l.index != nil {
		if raw, err := json.Marshal(f); err == nil {
			l.index.Put(factsKey(s.ID), raw)
		}
	}
	return f, err
}

func factsKey(id gitstore.ID) string { return "snapshot/" + id.String() }

// indexedFacts are what the index knows of a snapshot.
func (l *Local) indexedFacts(id gitstore.ID, lines bool) (facts, bool) {
	if l.index == nil {
		return facts{}, false
	}
	var f facts
	raw, ok := l.index.Get(factsKey(id))
	ok = ok && json.Unmarshal(raw, &f) == nil && (f.Lined || !lines)
	return f, ok
}

// filesLost tells of an error that says that what a snapshot holds can't be read, by us
// or by git.
func filesLost(err error) bool { return objectLost(err) || AsError(err).Kind == KindDamaged }

// facts reads a snapshot, its record and what it changed.
func (p *project) facts(ctx context.Context, s *gitstore.Snapshot, lines *gitstore.Differ) (facts, error) {
	e := Entry{
		ID: s.ID.String(), Mission: s.Mission, State: StateName(s.State), At: s.At, Message: s.Message,
		Turn: s.Turn, SessionID: s.Session, Skipped: s.Skipped, Restored: idText(s.RestoredFrom),
		ForkedFrom: idText(s.ForkedFrom), Partial: s.Partial, LostBefore: idText(s.Lost), Late: s.Late, Pins: []string{},
	}
	triggers := triggersOf(s)
	e.Triggers, e.Operation = triggers.texts(), string(triggers.operation())
	var from gitstore.ID
	if parent := s.Parent(); !parent.IsZero() {
		prev, err := p.store.Snapshot(parent)
		if err != nil {
			return facts{}, err
		}
		e.Parent, from = parent.String(), prev.Tree
	}
	counted := p.countChanges(ctx, &e, from, s.Tree, lines)
	if counted != nil && !filesLost(counted) {
		return facts{}, counted
	}
	err := p.addRecordFacts(&e, s)
	if objectLost(err) || err == nil && counted != nil {
		e.Partial = true // doctor says what is lost; the others are to be seen
		return facts{Entry: e, Lined: lines != nil, unrecorded: true}, nil
	}
	return facts{Entry: e, Lined: lines != nil}, err
}

func idText(id gitstore.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// addRecordFacts takes from the record what the commit does not say.
func (p *project) addRecordFacts(e *Entry, s *gitstore.Snapshot) error {
	info, err := p.snapshotInfo(s)
	if err != nil {
		return err
	}
	e.At, e.Bytes, e.Events, e.Conversation = info.At, info.Bytes, info.Events, info.Talk
	return nil
}

// snapshotInfo reads the snapshot's own document in its record.
func (p *project) snapshotInfo(s *gitstore.Snapshot) (snapshotInfo, error) {
	var info snapshotInfo
	doc, err := p.recordDoc(s, snapshotDoc)
	if err != nil {
		return info, err
	}
	return info, parseDoc(snapshotDoc, doc, &info)
}

// recordDoc reads a document of a snapshot's record. The error wraps
// gitstore.ErrNoEntry if the record has none of that name.
func (p *project) recordDoc(s *gitstore.Snapshot, name string) ([]byte, error) {
	doc, err := p.store.RecordFile(s.Record, name)
	if err != nil {
		return nil, Errorf(KindDamaged, "umbra doctor", "record of snapshot %s: %w", s.ID.Short(), err)
	}
	return doc, nil
}

// mostLined is in how many files lines are counted: those of a workspace that is
// new are no change, and reading all of them takes seconds.
const mostLined = 1000

func (p *project) countChanges(ctx context.Context, e *Entry, from, to gitstore.ID, lines *gitstore.Differ) error {
	err := p.store.DiffTrees(from, to, func(c gitstore.Change) error {
		switch c.Type() {
		case gitstore.Added:
			e.Files.Added++
		case gitstore.Deleted:
			e.Files.Deleted++
		default:
			e.Files.Modified++
		}
		return ctx.Err()
	})
	if err != nil || lines == nil || e.Files.Added+e.Files.Modified+e.Files.Deleted > mostLined {
		return err
	}
	d, err := lines.Trees(from, to)
	if err != nil {
		return notCompared(from, to, err)
	}
	e.Lines = &LineCounts{}
	for _, f := range d.Files {
		e.Lines.Added += f.LinesAdded
		e.Lines.Deleted += f.LinesDeleted
	}
	return nil
}

// pinsBySnapshot lists the pins of each snapshot.
func (p *project) pinsBySnapshot() map[gitstore.ID][]string {
	pins := map[gitstore.ID][]string{}
	list, err := p.store.Refs(gitstore.RefPin)
	if err != nil {
		return pins
	}
	for _, ref := range list.Refs {
		pins[ref.ID] = append(pins[ref.ID], ref.Name.Arg())
	}
	return pins
}
