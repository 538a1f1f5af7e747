package missions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// Doctor checks every invariant and says what is wrong and what to type. With
// Fix it mends what can be mended without losing what is intact; with Rebuild
// it makes the index anew.
func (l *Local) Doctor(ctx context.Context, r DoctorRequest) (DoctorResult, error) {
	d := &examination{l: l, request: r}
	d.result = DoctorResult{Checked: []string{"I1", "I2", "I3", "I4", "I5", "I6", "I7"}, Problems: []Problem{}, Fixed: []Problem{}}
	projects, problems := d.openProjects()
	if err := d.journal(ctx); err != nil {
		return d.result, err
	}
	for _, p := range projects {
		if err := d.project(ctx, p); err != nil {
			return d.result, err
		}
		d.result.Projects++
	}
	if err := d.agentConfigs(ctx); err != nil {
		return d.result, err
	}
	d.unstick(ctx)
	d.places(projects)
	if len(problems) == 0 { // else what seems to be no more may be what can't be read
		if err := d.leftovers(projects); err != nil {
			return d.result, err
		}
	}
	if err := d.temporaries(); err != nil {
		return d.result, err
	}
	d.room()
	d.goneHooks(ctx)
	if problem := l.configProblem(); problem != nil {
		d.found(*problem, nil)
	}
	return d.result, d.index(ctx, projects)
}

// examination is one run of doctor.
type examination struct {
	l       *Local
	request DoctorRequest
	result  DoctorResult
	stuck   []stuck

	// What can't be read in the project that is looked at, and was said.
	unreadable map[gitstore.ID]bool
	// What was proved of the conversations in the project that is looked at.
	chunks    map[gitstore.ID]int64
	inherited map[inheritance]bool
}

// found notes a problem, and mends it if that was asked for and is known how.
func (d *examination) found(p Problem, mend func() error) {
	if d.request.Fix && mend != nil {
		err := mend()
		if err == nil {
			d.result.Fixed = append(d.result.Fixed, p)
			return
		}
		p.Message += "; mending it: " + err.Error()
	}
	if mend != nil {
		p.Fix = "umbra doctor --fix"
	}
	d.result.Problems = append(d.result.Problems, p)
}

// openProjects opens what can be opened, after the configurations were looked at
// that a process reads when it begins.
func (d *examination) openProjects() ([]*project, []Problem) {
	projects, problems := d.l.allProjects()
	for _, p := range projects {
		if err := gitstore.CheckConfig(p.shadow(), p.ID); err != nil {
			d.found(Problem{Invariant: "I1", Project: p.Name, Message: err.Error()}, func() error { return gitstore.RepairConfig(p.shadow(), p.ID) })
		}
	}
	if len(problems) == 0 {
		return projects, nil
	}
	for _, problem := range problems {
		closed := d.l.closedProject(problem.Project)
		if problem.Project == "" || closed.ID == "" {
			d.found(problem, nil)
			continue
		}
		d.found(problem, func() error { return gitstore.RepairConfig(closed.shadow(), closed.ID) })
	}
	return d.l.allProjects()
}

// project checks what the shadow repository promises, then each mission.
func (d *examination) project(ctx context.Context, p *project) error {
	if err := d.borrowed(ctx, p); err != nil {
		return fmt.Errorf("check project %s: %w", p.Name, err)
	}
	d.unreadable = nil
	problems, err := d.shadow(ctx, p)
	if err != nil {
		return fmt.Errorf("check project %s: %w", p.Name, err)
	}
	said := map[string]bool{}
	for _, problem := range problems {
		name := gitstore.RefName(problem.Ref)
		said[name.Mission()] = true
		if name.Kind() == gitstore.RefHead {
			continue // by the missions' names
		}
		if len(problem.Lost) > 0 {
			for _, loss := range problem.Lost {
				said[loss.Mission] = true
			}
			d.lost(p, problem)
			continue
		}
		d.found(Problem{Invariant: problem.Invariant, Project: p.Name, Message: messageOf(problem), Fix: problem.Fix, Details: problem.Details}, nil)
	}
	missions, unread := d.l.missionsOf(p)
	for _, problem := range unread {
		if !said[problem.Mission] {
			d.found(problem, nil)
		}
	}
	d.chunks, d.inherited = map[gitstore.ID]int64{}, map[inheritance]bool{}
	for _, m := range missions {
		d.result.Missions++
		if err := d.mission(ctx, m); err != nil {
			return err
		}
	}
	d.names(ctx, p, missions, len(unread) == 0)
	d.setAside(p)
	return ctx.Err()
}

// places checks that no directory belongs to two projects: the missions of one
// of them would not be found there.
func (d *examination) places(projects []*project) {
	owner := map[Place]*project{}
	for _, p := range projects {
		for _, hint := range append([]placeHint{{Path: p.hints.CommonDir, Place: p.hints.Common}}, p.hints.Places...) {
			o := owner[hint.Place]
			if hint.Path == "" || !hint.there() || o == p {
				continue
			}
			if owner[hint.Place] = p; o != nil {
				d.found(Problem{
					Project: p.Name, Message: fmt.Sprintf("%s belongs to two projects, %s", hint.Path, projectDirs([]*project{o, p})),
					Fix: "umbra project move " + filepath.Base(p.Dir) + " NEW, with the directory that the one of them is really in",
				}, nil)
			}
		}
	}
}

// mission checks that its conversations can be read back, and that nothing of
// Umbra's was left in its workspace.
func (d *examination) mission(ctx context.Context, m *loaded) error {
	for s, err := range m.project.store.Snapshots(m.tip.ID, gitstore.HistoryOptions{}) {
		if err != nil {
			return nil // reported by the store's own check
		}
		if s.Mission != m.ID {
			break // the parent's, checked there
		}
		d.result.Snapshots++
		if err := d.restorable(m, s); err != nil && !d.saidLost(err) {
			d.found(Problem{Invariant: "I7", Project: m.project.Name, Mission: m.Name, Message: fmt.Sprintf("snapshot %s could not be restored: %v", s.ID.Short(), err)}, nil)
		}
		if err := d.conversation(m, s); err != nil && !d.saidLost(err) {
			d.found(Problem{Invariant: "I3", Project: m.project.Name, Mission: m.Name, Message: fmt.Sprintf("snapshot %s: %v", s.ID.Short(), err)}, nil)
		}
	}
	if err := d.workspace(ctx, m); err != nil {
		return err
	}
	if d.l.gone(m) && d.l.stillGone(m) {
		d.found(Problem{Invariant: "I6", Project: m.project.Name, Mission: m.Name, Message: "its agent is gone without a word"}, func() error { return d.l.reap(ctx, m) })
	}
	return ctx.Err()
}

// conversation proves that a snapshot's conversation can be read: every chunk is
// there and what was inherited comes out as it was. What snapshots share is read
// once.
func (d *examination) conversation(m *loaded, s *gitstore.Snapshot) error {
	own, err := m.project.store.OpenSession(s.Record)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil
	}
	if err == nil {
		err = own.Check(d.chunks)
	}
	if err != nil || own.Meta.Inherited == nil {
		return err
	}
	in := *own.Meta.Inherited
	part := inheritance{in.SHA256, in.Record, in.SourceLength, string(in.Recipe)}
	if d.inherited[part] {
		return nil
	}
	r, err := d.l.inherit(m.project, in)
	if err != nil {
		return fmt.Errorf("its inherited part: %w", err)
	}
	defer r.Close()
	if _, err := io.Copy(io.Discard, r); err != nil {
		return fmt.Errorf("its inherited part: %w", err)
	}
	d.inherited[part] = true
	return nil
}

// inheritance is an inherited part of a conversation, and how it is made.
type inheritance struct {
	sha256 string
	record gitstore.ID
	length int64
	recipe string
}

// workspace looks whether the workspace is there, and for what is not to be in it.
func (d *examination) workspace(ctx context.Context, m *loaded) error {
	if m.bind.Workspace == "" {
		return nil
	}
	if m.workspaceGone() {
		d.found(m.goneProblem(), nil)
		return nil
	}
	problem, err := d.l.gitProblem(ctx, m)
	if err != nil {
		return err
	}
	if problem != nil && !fixed(d.result.Problems, problem.Fix) {
		d.found(*problem, nil)
	}
	d.strays(m)
	return nil
}

// names checks that each mission is found under its name and no other.
func (d *examination) names(ctx context.Context, p *project, missions []*loaded, all bool) {
	list, err := p.store.Refs(gitstore.RefHead)
	if err != nil {
		return // reported above
	}
	have, broken := map[gitstore.RefName]gitstore.RefName{}, map[gitstore.RefName]bool{}
	for _, ref := range list.Refs {
		have[ref.Name] = ref.Symbolic
	}
	for _, bad := range list.Bad {
		broken[gitstore.RefName(bad.Ref)] = true
	}
	for _, m := range missions {
		name, target := gitstore.HeadRef(m.Name), gitstore.AgentRef(m.ID)
		if have[name] != target {
			d.found(Problem{Invariant: "I1", Project: p.Name, Mission: m.Name, Message: "its name does not lead to it"}, func() error {
				if broken[name] {
					return p.store.MendSymbolic(ctx, name, target)
				}
				return p.store.SetSymbolic(ctx, name, have[name], target, gitstore.Durable)
			})
		}
		delete(have, name)
		delete(broken, name)
	}
	for name, target := range have {
		if !all { // it may be that of a mission that can't be read
			continue
		}
		d.found(Problem{Invariant: "I1", Project: p.Name, Message: fmt.Sprintf("the name %s leads to a mission that is not called so", name.Arg())}, func() error {
			return p.store.DeleteSymbolic(ctx, name, target)
		})
	}
	for name := range broken {
		found := Problem{Invariant: "I1", Project: p.Name, Message: fmt.Sprintf("the name %s leads to nothing", name.Arg()), Fix: "umbra doctor --fix"}
		if !all { // it may be that of a mission that can't be read
			d.found(found, nil)
			continue
		}
		d.found(found, func() error { return p.store.MendSymbolic(ctx, name, "") })
	}
}

// journal checks that nothing outlives the process that owned it.
func (d *examination) journal(ctx context.Context) error {
	operations, damaged, err := d.l.journal.List()
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	for _, entry := range damaged {
		d.found(Problem{Invariant: "I6", Message: entry.Error() + halfDone(entry.Operation)}, func() error {
			_, err := d.l.journal.MoveAside(entry)
			return err
		})
	}
	for _, op := range operations {
		phase, _ := op.Phase()
		if phase == journal.Done {
			d.setAsideBeside(ctx, op)
		}
		if phase == journal.Done || phase != journal.Interrupted && !abandoned(op) {
			continue // finished, and what it took away is kept until the next idle point; or at work
		}
		message := fmt.Sprintf("a %s that began at %s was not finished", op.Kind(), op.Began().Format("2006-01-02 15:04:05"))
		p := Problem{Invariant: "I6", Message: message}
		if d.request.Fix && phase != journal.Interrupted && d.l.recoverOperation(ctx, op) != nil {
			d.stuck = append(d.stuck, stuck{op, p}) // what it needs may be mended first
			continue
		}
		d.found(p, func() error { return d.l.recoverAnew(ctx, op) })
	}
	return nil
}

// halfDone says what can be done about a workspace whose restore can be neither
// finished nor taken back; op is nil if it is not known what was being done.
func halfDone(op *journal.Operation) string {
	if op == nil {
		return "; a restore that it was about may be half done: umbra log shows the snapshot taken before it"
	}
	var doc restoreDoc
	if op.Kind() != restoreKind || op.Document(&doc) != nil || doc.Files == nil || doc.Operation.Safety == "" {
		return ""
	}
	return fmt.Sprintf("; %s may be half restored: umbra restore %s --mission %s --all gives back what it held before", doc.Files.Workspace, doc.Operation.Safety[:12], doc.Mission)
}

// stuck is an operation that could not be recovered.
type stuck struct {
	op      *journal.Operation
	problem Problem
}

// unstick tries again what could not be recovered before other things were
// mended. What can be neither finished nor taken back, since what it is about is
// damaged, is moved away with all that it has set aside, so that it holds up
// nobody: nothing of it is removed.
func (d *examination) unstick(ctx context.Context) {
	for _, s := range d.stuck {
		err := d.l.recoverAnew(ctx, s.op)
		p := s.problem
		if err != nil && AsError(err).Kind == KindDamaged {
			var to string
			cause := err
			if to, err = d.l.journal.MoveAside(&journal.DamagedError{Path: filepath.Dir(s.op.DisplacedDir()), Err: cause}); err == nil {
				p.Message += fmt.Sprintf(", and can't be: %v; what it had set aside is in %s", cause, to) + halfDone(s.op)
			}
		}
		d.found(p, func() error { return err })
	}
}

// leftovers are live states of missions that are no more: of which no project,
// all of which can be read, has a ref (H3).
func (d *examination) leftovers(projects []*project) error {
	ids, err := d.l.journal.LiveMissions()
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	for _, id := range ids {
		var damaged *journal.DamagedError
		if _, err := d.l.journal.Live(id); errors.As(err, &damaged) {
			d.found(Problem{Invariant: "I6", Mission: id, Message: "the journal's state of a mission can't be read; what its record says counts"}, func() error {
				_, err := d.l.journal.MoveAside(damaged)
				return err
			})
			continue
		}
		if d.l.waitsToBePublished(id) || slices.ContainsFunc(projects, func(p *project) bool { return p.names(id) }) {
			continue
		}
		d.found(Problem{Invariant: "I6", Mission: id, Message: "the journal holds the state of a mission that is no more"}, func() error { return d.l.journal.DeleteLive(id) })
	}
	return nil
}

// names reports whether anything in the project's repository is, or may be, of
// a mission.
func (p *project) names(id string) bool {
	for _, ref := range []gitstore.RefName{gitstore.AgentRef(id), gitstore.RecordRef(id)} {
		if _, err := p.store.Ref(ref); !errors.Is(err, gitstore.ErrRefNotFound) {
			return true
		}
	}
	return false
}

// waitsToBePublished reports whether a mission that no ref names is one of a
// headless session that has changed nothing yet.
func (l *Local) waitsToBePublished(id string) bool {
	raw, err := l.journal.Live(id)
	if err != nil {
		return false
	}
	var state live
	if json.Unmarshal(raw, &state) != nil || state.Provisional == "" {
		return false
	}
	return state.Agent == nil || state.Agent.Liveness() == lock.Alive
}
