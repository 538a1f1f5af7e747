package doctor

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
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/forks"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/trash"
)

// Doctor checks every invariant and says what is wrong and what to type. With
// Fix it mends what can be mended without losing what is intact; with Rebuild
// it makes the index anew.
func (l *Examiner) Doctor(ctx context.Context, r missions.DoctorRequest) (missions.DoctorResult, error) {
	d := &Examination{L: l, request: r}
	d.Result = missions.DoctorResult{Checked: []string{"I1", "I2", "I3", "I4", "I5", "I6", "I7"}, Problems: []missions.Problem{}, Fixed: []missions.Problem{}}
	projects, problems := d.openProjects()
	if err := d.journal(ctx); err != nil {
		return d.Result, err
	}
	for _, p := range projects {
		if err := d.project(ctx, p); err != nil {
			return d.Result, err
		}
		d.Result.Projects++
	}
	if err := d.agentConfigs(ctx); err != nil {
		return d.Result, err
	}
	d.unstick(ctx)
	d.places(projects)
	if len(problems) == 0 { // else what seems to be no more may be what can't be read
		if err := d.leftovers(projects); err != nil {
			return d.Result, err
		}
	}
	if err := d.checkTemporaries(); err != nil {
		return d.Result, err
	}
	d.checkRoom()
	d.checkHooks(ctx)
	if problem := l.ConfigProblem(); problem != nil {
		d.found(*problem, nil)
	}
	return d.Result, d.index(ctx, projects)
}

// Examination is one run of doctor.
type Examination struct {
	L       *Examiner
	request missions.DoctorRequest
	Result  missions.DoctorResult
	stuck   []stuck

	// What can't be read in the project that is looked at, and was said.
	unreadable map[gitstore.ID]bool
	// What was proved of the conversations in the project that is looked at.
	Chunks    map[gitstore.ID]int64
	Inherited map[Inheritance]bool
}

// found notes a problem, and mends it if that was asked for and is known how.
func (d *Examination) found(p missions.Problem, mend func() error) {
	if d.request.Fix && mend != nil {
		err := mend()
		if err == nil {
			d.Result.Fixed = append(d.Result.Fixed, p)
			return
		}
		p.Message += "; mending it: " + err.Error()
	}
	if mend != nil {
		p.Fix = "umbra doctor --fix"
	}
	d.Result.Problems = append(d.Result.Problems, p)
}

// openProjects opens what can be opened, after the configurations were looked at
// that a process reads when it begins.
func (d *Examination) openProjects() ([]*projects.Project, []missions.Problem) {
	projects, problems := d.L.AllProjects()
	for _, p := range projects {
		if err := gitstore.CheckConfig(p.ShadowRepo(), p.ID); err != nil {
			d.found(missions.Problem{Invariant: "I1", Project: p.Name, Message: err.Error()}, func() error { return gitstore.RepairConfig(p.ShadowRepo(), p.ID) })
		}
	}
	if len(problems) == 0 {
		return projects, nil
	}
	for _, problem := range problems {
		closed := d.L.UnopenedProject(problem.Project)
		if problem.Project == "" || closed.ID == "" {
			d.found(problem, nil)
			continue
		}
		d.found(problem, func() error { return gitstore.RepairConfig(closed.ShadowRepo(), closed.ID) })
	}
	return d.L.AllProjects()
}

// project checks what the shadow repository promises, then each mission.
func (d *Examination) project(ctx context.Context, p *projects.Project) error {
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
		d.found(missions.Problem{Invariant: problem.Invariant, Project: p.Name, Message: messageOf(problem), Fix: problem.Fix, Details: problem.Details}, nil)
	}
	missions, unread := d.L.ProjectMissions(p)
	for _, problem := range unread {
		if !said[problem.Mission] {
			d.found(problem, nil)
		}
	}
	d.Chunks, d.Inherited = map[gitstore.ID]int64{}, map[Inheritance]bool{}
	for _, m := range missions {
		d.Result.Missions++
		if err := d.Mission(ctx, m); err != nil {
			return err
		}
	}
	d.names(ctx, p, missions, len(unread) == 0)
	d.noteSetAside(p)
	return ctx.Err()
}

// places checks that no directory belongs to two projects: the missions of one
// of them would not be found there.
func (d *Examination) places(list []*projects.Project) {
	owner := map[home.FileIdentity]*projects.Project{}
	for _, p := range list {
		for _, hint := range append([]projects.Location{{Path: p.Locations.CommonDir, Identity: p.Locations.CommonIdentity}}, p.Locations.Workspaces...) {
			o := owner[hint.Identity]
			if hint.Path == "" || !trash.IsDirectoryThere(hint) || o == p {
				continue
			}
			if owner[hint.Identity] = p; o != nil {
				d.found(missions.Problem{
					Project: p.Name, Message: fmt.Sprintf("%s belongs to two projects, %s", hint.Path, trash.ProjectDirNames([]*projects.Project{o, p})),
					Fix: "umbra project move " + filepath.Base(p.Dir) + " NEW, with the directory that the one of them is really in",
				}, nil)
			}
		}
	}
}

// Mission checks that its conversations can be read back, and that nothing of
// Umbra's was left in its workspace.
func (d *Examination) Mission(ctx context.Context, m *projects.Mission) error {
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, gitstore.HistoryOptions{}) {
		if err != nil {
			return nil // reported by the store's own check
		}
		if s.Mission != m.ID {
			break // the parent's, checked there
		}
		d.Result.Snapshots++
		if err := d.checkRestorable(m, s); err != nil && !d.saidLost(err) {
			d.found(missions.Problem{Invariant: "I7", Project: m.Project.Name, Mission: m.Name, Message: fmt.Sprintf("snapshot %s could not be restored: %v", s.ID.Short(), err)}, nil)
		}
		if err := d.conversation(m, s); err != nil && !d.saidLost(err) {
			d.found(missions.Problem{Invariant: "I3", Project: m.Project.Name, Mission: m.Name, Message: fmt.Sprintf("snapshot %s: %v", s.ID.Short(), err)}, nil)
		}
	}
	if err := d.Workspace(ctx, m); err != nil {
		return err
	}
	if d.L.presence.IsAgentGone(m) && d.L.presence.IsAgentStillGone(m) {
		d.found(missions.Problem{Invariant: "I6", Project: m.Project.Name, Mission: m.Name, Message: "its agent is gone without a word"}, func() error { return d.L.presence.CloseLostMission(ctx, m) })
	}
	return ctx.Err()
}

// conversation proves that a snapshot's conversation can be read: every chunk is
// there and what was inherited comes out as it was. What snapshots share is read
// once.
func (d *Examination) conversation(m *projects.Mission, s *gitstore.Snapshot) error {
	own, err := m.Project.Store.OpenSession(s.Record)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil
	}
	if err == nil {
		err = own.Check(d.Chunks)
	}
	if err != nil || own.Meta.Inherited == nil {
		return err
	}
	in := *own.Meta.Inherited
	part := Inheritance{in.SHA256, in.Record, in.SourceLength, string(in.Recipe)}
	if d.Inherited[part] {
		return nil
	}
	r, err := d.L.conversations.RemakeInherited(m.Project, in)
	if err != nil {
		return fmt.Errorf("its inherited part: %w", err)
	}
	defer r.Close()
	if _, err := io.Copy(io.Discard, r); err != nil {
		return fmt.Errorf("its inherited part: %w", err)
	}
	d.Inherited[part] = true
	return nil
}

// Inheritance is an inherited part of a conversation, and how it is made.
type Inheritance struct {
	sha256 string
	record gitstore.ID
	length int64
	recipe string
}

// Workspace looks whether the workspace is there, and for what is not to be in it.
func (d *Examination) Workspace(ctx context.Context, m *projects.Mission) error {
	if m.Binding.Workspace == "" {
		return nil
	}
	if m.IsWorkspaceGone() {
		d.found(m.WorkspaceGoneProblem(), nil)
		return nil
	}
	problem, err := d.L.snapshots.GitProblem(ctx, m)
	if err != nil {
		return err
	}
	if problem != nil && !snapshots.HasFix(d.Result.Problems, problem.Fix) {
		d.found(*problem, nil)
	}
	d.findStrays(m)
	return nil
}

// names checks that each mission is found under its name and no other.
func (d *Examination) names(ctx context.Context, p *projects.Project, listed []*projects.Mission, all bool) {
	list, err := p.Store.Refs(gitstore.RefHead)
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
	for _, m := range listed {
		name, target := gitstore.HeadRef(m.Name), gitstore.AgentRef(m.ID)
		if have[name] != target {
			d.found(missions.Problem{Invariant: "I1", Project: p.Name, Mission: m.Name, Message: "its name does not lead to it"}, func() error {
				if broken[name] {
					return p.Store.MendSymbolic(ctx, name, target)
				}
				return p.Store.SetSymbolic(ctx, name, have[name], target, gitstore.Durable)
			})
		}
		delete(have, name)
		delete(broken, name)
	}
	for name, target := range have {
		if !all { // it may be that of a mission that can't be read
			continue
		}
		d.found(missions.Problem{Invariant: "I1", Project: p.Name, Message: fmt.Sprintf("the name %s leads to a mission that is not called so", name.Arg())}, func() error {
			return p.Store.DeleteSymbolic(ctx, name, target)
		})
	}
	for name := range broken {
		found := missions.Problem{Invariant: "I1", Project: p.Name, Message: fmt.Sprintf("the name %s leads to nothing", name.Arg()), Fix: "umbra doctor --fix"}
		if !all { // it may be that of a mission that can't be read
			d.found(found, nil)
			continue
		}
		d.found(found, func() error { return p.Store.MendSymbolic(ctx, name, "") })
	}
}

// journal checks that nothing outlives the process that owned it.
func (d *Examination) journal(ctx context.Context) error {
	operations, damaged, err := d.L.Journal.List()
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	for _, entry := range damaged {
		d.found(missions.Problem{Invariant: "I6", Message: entry.Error() + halfDone(entry.Operation)}, func() error {
			_, err := d.L.Journal.MoveAside(entry)
			return err
		})
	}
	for _, op := range operations {
		phase, _ := op.Phase()
		if phase == journal.Done {
			d.checkSetAsideFiles(ctx, op)
		}
		if phase == journal.Done || phase != journal.Interrupted && !forks.IsAbandoned(op) {
			continue // finished, and what it took away is kept until the next idle point; or at work
		}
		message := fmt.Sprintf("a %s that began at %s was not finished", op.Kind(), op.Began().Format("2006-01-02 15:04:05"))
		p := missions.Problem{Invariant: "I6", Message: message}
		if d.request.Fix && phase != journal.Interrupted && d.L.recoverOperation(ctx, op) != nil {
			d.stuck = append(d.stuck, stuck{op, p}) // what it needs may be mended first
			continue
		}
		d.found(p, func() error { return d.L.recoverReloadedOperation(ctx, op) })
	}
	return nil
}

// halfDone says what can be done about a workspace whose restore can be neither
// finished nor taken back; op is nil if it is not known what was being done.
func halfDone(op *journal.Operation) string {
	if op == nil {
		return "; a restore that it was about may be half done: umbra log shows the snapshot taken before it"
	}
	var doc restores.JournalDoc
	if op.Kind() != restores.JournalKind || op.Document(&doc) != nil || doc.Files == nil || doc.Operation.SafetySnapshot == "" {
		return ""
	}
	return fmt.Sprintf("; %s may be half restored: umbra restore %s --mission %s --all gives back what it held before", doc.Files.Workspace, doc.Operation.SafetySnapshot[:12], doc.Mission)
}

// stuck is an operation that could not be recovered.
type stuck struct {
	op      *journal.Operation
	problem missions.Problem
}

// unstick tries again what could not be recovered before other things were
// mended. What can be neither finished nor taken back, since what it is about is
// damaged, is moved away with all that it has set aside, so that it holds up
// nobody: nothing of it is removed.
func (d *Examination) unstick(ctx context.Context) {
	for _, s := range d.stuck {
		err := d.L.recoverReloadedOperation(ctx, s.op)
		p := s.problem
		if err != nil && missions.AsError(err).Kind == missions.KindDamaged {
			var to string
			cause := err
			if to, err = d.L.Journal.MoveAside(&journal.DamagedError{Path: filepath.Dir(s.op.DisplacedDir()), Err: cause}); err == nil {
				p.Message += fmt.Sprintf(", and can't be: %v; what it had set aside is in %s", cause, to) + halfDone(s.op)
			}
		}
		d.found(p, func() error { return err })
	}
}

// leftovers are live states of missions that are no more: of which no project,
// all of which can be read, has a ref (H3).
func (d *Examination) leftovers(list []*projects.Project) error {
	ids, err := d.L.Journal.LiveMissions()
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	for _, id := range ids {
		var damaged *journal.DamagedError
		if _, err := d.L.Journal.Live(id); errors.As(err, &damaged) {
			d.found(missions.Problem{Invariant: "I6", Mission: id, Message: "the journal's state of a mission can't be read; what its record says counts"}, func() error {
				_, err := d.L.Journal.MoveAside(damaged)
				return err
			})
			continue
		}
		if d.L.waitsToBePublished(id) || slices.ContainsFunc(list, func(p *projects.Project) bool { return names(p, id) }) {
			continue
		}
		d.found(missions.Problem{Invariant: "I6", Mission: id, Message: "the journal holds the state of a mission that is no more"}, func() error { return d.L.Journal.DeleteLive(id) })
	}
	return nil
}

// names reports whether anything in the project's repository is, or may be, of
// a mission.
func names(p *projects.Project, id string) bool {
	for _, ref := range []gitstore.RefName{gitstore.AgentRef(id), gitstore.RecordRef(id)} {
		if _, err := p.Store.Ref(ref); !errors.Is(err, gitstore.ErrRefNotFound) {
			return true
		}
	}
	return false
}

// waitsToBePublished reports whether a mission that no ref names is one of a
// headless session that has changed nothing yet.
func (l *Examiner) waitsToBePublished(id string) bool {
	raw, err := l.Journal.Live(id)
	if err != nil {
		return false
	}
	var state projects.Live
	if json.Unmarshal(raw, &state) != nil || state.ProvisionalSnapshot == "" {
		return false
	}
	return state.Agent == nil || state.Agent.Liveness() == lock.Alive
}
