package missions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/sessions"
)

// Restore puts files, conversation or both back to a moment. What is on disk is
// kept in a snapshot first, and undo takes the restore back.
func (l *Local) Restore(ctx context.Context, r RestoreRequest) (RestoreResult, error) {
	if err := r.check(); err != nil {
		return RestoreResult{}, err
	}
	at, m, err := l.restoreScope(ctx, r)
	if err != nil {
		return RestoreResult{}, err
	}
	r.Moment, r.Mission = at.step.ID.String(), m.ID // whatever happens until it is done
	return l.do(ctx, m, asked{Restore: &r})
}

func (r RestoreRequest) check() error {
	switch {
	case r.Mine && r.All:
		return Errorf(KindUsage, "choose one", "--mine and --all contradict each other")
	case r.FilesOnly && r.ConversationOnly:
		return Errorf(KindUsage, "leave both out to restore both", "--files-only and --conversation-only contradict each other")
	case len(r.Paths) > 0 && r.ConversationOnly:
		return Errorf(KindUsage, "leave out one of them", "--path is about files, --conversation-only leaves them alone")
	case r.Moment == "":
		return Errorf(KindUsage, "umbra log lists moments", "name the moment to restore")
	}
	return nil
}

// filled makes lists empty rather than absent.
func (r RestoreResult) filled() RestoreResult {
	for _, list := range []*[]string{&r.Modify, &r.Create, &r.Delete} {
		if *list == nil {
			*list = []string{}
		}
	}
	if r.Keep == nil {
		r.Keep = []Kept{}
	}
	return r
}

// restoreScope finds the moment, and the mission whose workspace is meant: the
// one that --mission names, else the one named by the moment or working in the
// current directory, if it has the snapshot in its history and its workspace
// holds the directory.
func (l *Local) restoreScope(ctx context.Context, r RestoreRequest) (found, *loaded, error) {
	at, err := l.findMoment(ctx, r.Caller, r.Moment, writing)
	if err != nil {
		return found{}, nil, err
	}
	if r.Mission != "" {
		m, err := l.findMission(ctx, r.Caller, r.Mission, writing)
		if err != nil {
			return found{}, nil, err
		}
		if m.project.ID != at.project.ID {
			return found{}, nil, Errorf(KindUsage, "restore a snapshot of its own project", "%s is in another project than %s", at.step.ID.Short(), m.Name)
		}
		return at, m, nil
	}
	here := resolvedOr(r.Caller.Cwd)
	if within(at.bind.Workspace, here) && at.bind.Workspace != "" {
		return at, at.loaded, nil
	}
	if m, err := l.findMission(ctx, r.Caller, "", writing); err == nil && m.project.ID == at.project.ID && within(m.bind.Workspace, here) {
		if _, ok, err := m.project.locate(m.tip.ID, at.step.ID); ok || err != nil {
			return at, m, err
		}
	}
	if err := at.bound(); err != nil {
		return found{}, nil, err
	}
	return found{}, nil, Errorf(KindConflict, fmt.Sprintf("umbra restore %s --mission %s", r.Moment, at.Name),
		"%s is a moment of mission %s, which works in %s, not here", at.step.address(at.Name), at.Name, at.bind.Workspace)
}

// inTurn refuses what would change files under an agent in its turn.
func inTurn(m *loaded) error {
	const now = "or --force to have it done now"
	if !inKnownTurn(m.life) {
		return Errorf(KindBusy, "add --when-idle to have it done when it is quiet, "+now, "%s is at work", m.Name)
	}
	return Errorf(KindBusy, "add --when-idle to have it done at the turn's end, "+now, "%s is in turn %d", m.Name, m.life.LastTurn())
}

// snapshotNamed reads a snapshot by its id.
func (p *project) snapshotNamed(text string) (*gitstore.Snapshot, error) {
	id, err := gitstore.ParseID(text)
	if err != nil {
		return nil, err
	}
	s, err := p.store.Snapshot(id)
	if err != nil {
		return nil, Errorf(KindDamaged, "umbra doctor", "snapshot %s: %w", id.Short(), err)
	}
	return s, nil
}

// restoreLocked restores a mission to a snapshot named by its id. The caller
// holds the workspace.
func (l *Local) restoreLocked(ctx context.Context, m *loaded, r RestoreRequest) (RestoreResult, error) {
	target, err := m.project.snapshotNamed(r.Moment)
	if err != nil {
		return RestoreResult{}, err
	}
	if err := l.neighbourInTurn(m); err != nil && !r.Force && !r.Preview {
		return RestoreResult{}, err
	}
	if err := l.refuseInterrupted(ctx, m); err != nil {
		return RestoreResult{}, err
	}
	job, err := l.planRestore(ctx, m, target, r)
	if err != nil {
		return RestoreResult{}, err
	}
	if r.Preview {
		return l.foresee(m, job, asked{Restore: &r}), nil
	}
	if err := job.refusal(r); err != nil {
		return job.result, err
	}
	return l.runRestore(ctx, m, job, r.Caller)
}

// neighbourInTurn refuses while the agent of another mission is at work in the
// same files: of any project, since a nested repository is one of its own.
func (l *Local) neighbourInTurn(m *loaded) error {
	others, err := l.overlapping(m)
	if err != nil {
		return err
	}
	for _, o := range others {
		if (InTurn(o.life) || l.afterTurn(o) == atWork) && !l.gone(o) {
			hint := "wait for it: umbra mission wait " + o.Name
			if o.nameless() {
				hint += "; if its agent is gone: umbra mission stop " + o.Name + " --force"
			}
			return Errorf(KindBusy, hint, "mission %s is in a turn in %s", o.Name, o.bind.Workspace)
		}
	}
	return nil
}

// overlapping lists the other missions whose workspace holds m's, or is in it.
// One that can't be read may be such: nothing is known then.
func (l *Local) overlapping(m *loaded) ([]*loaded, error) {
	list, problems := l.others(m)
	if len(problems) > 0 {
		return nil, Errorf(KindDamaged, "umbra doctor --fix; --force goes on without",
			"who else works in %s can't be told: %s", m.bind.Workspace, problems[0].Message)
	}
	return list, nil
}

// others is overlapping as far as the missions can be read, and what can't be.
func (l *Local) others(m *loaded) (list []*loaded, problems []Problem) {
	projects, problems := l.allProjects()
	for _, p := range projects {
		all, more := l.missionsOf(p)
		if p.ID == m.project.ID || p.near(m.bind.Workspace) {
			problems = append(problems, more...)
		}
		for _, o := range all {
			if o.ID != m.ID && overlap(o.bind.Workspace, m.bind.Workspace) {
				list = append(list, o)
			}
		}
	}
	return list, problems
}

// near reports whether a workspace of the project is known to overlap path.
func (p *project) near(path string) bool {
	for _, h := range p.hints.Places {
		if overlap(h.Path, path) {
			return true
		}
	}
	return false
}

// job is a restore that was planned.
type job struct {
	kind     string // restore, undo, redo
	target   *gitstore.Snapshot
	safety   *gitstore.Snapshot // nil in a preview
	files    *filesPlan         // nil: files stay
	talk     *talkPlan          // nil: the conversation stays
	takesID  string
	refusals []error
	result   RestoreResult
}

// refusal is the first reason not to go on that was not overridden.
func (j *job) refusal(r RestoreRequest) error {
	if !r.Force && len(j.refusals) > 0 {
		return joinRefusals(j.refusals)
	}
	e := j.contested(r)
	if e == nil {
		return nil
	}
	e.Message += ":"
	for _, f := range j.result.Foreign {
		e.Message += "\n  " + f.Path + " (" + f.Reason + ")"
	}
	e.Details, _ = json.Marshal(j.result)
	return e
}

// contested is the refusal where others changed what is to be restored and
// nobody has said whose changes count; nil where that is clear.
func (j *job) contested(r RestoreRequest) *Error {
	if len(j.result.Foreign) == 0 || r.Mine || r.All {
		return nil
	}
	changed := "1 path was changed"
	if n := len(j.result.Foreign); n > 1 {
		changed = itoa(n) + " paths were changed"
	}
	return Errorf(KindConflict, "--mine leaves them as they are, --all takes them back too", "%s by others since then", changed)
}

// joinRefusals tells every reason that --force would pass over.
func joinRefusals(list []error) error {
	first := AsError(list[0])
	var reasons []string
	for _, err := range list {
		reasons = append(reasons, AsError(err).Message)
	}
	return Errorf(first.Kind, first.Hint, "%s", strings.Join(reasons, "; "))
}

// planRestore takes the safety snapshot (a preview only looks) and works out
// what is to be done.
func (l *Local) planRestore(ctx context.Context, m *loaded, target *gitstore.Snapshot, r RestoreRequest) (*job, error) {
	j := &job{kind: "restore", target: target}
	j.result = RestoreResult{Target: target.ID.String(), Address: m.addressOf(target.ID), Mission: m.ID, Name: m.Name, Workspace: m.bind.Workspace}
	if !r.ConversationOnly {
		if err := l.planFiles(ctx, m, j, r); err != nil {
			return nil, err
		}
	}
	if !r.FilesOnly && len(r.Paths) == 0 {
		if err := l.planTalk(m, j); err != nil {
			return nil, err
		}
	}
	if err := l.planGit(ctx, m, j, target); err != nil {
		return nil, err
	}
	j.result = j.result.filled()
	return j, nil
}

// planFiles plans the files' side.
func (l *Local) planFiles(ctx context.Context, m *loaded, j *job, r RestoreRequest) error {
	present, err := l.safety(ctx, m, j, r.Preview)
	if err != nil {
		return err
	}
	var paths []string
	for _, typed := range r.Paths {
		rel, err := m.pathIn(r.Caller, typed)
		if err != nil {
			return err
		}
		paths = append(paths, rel)
	}
	owners, err := l.owners(ctx, m, j.target, present.Tree, paths)
	if err != nil {
		return err
	}
	leave := map[string]string{}
	j.result.Foreign = owners.foreign()
	for _, f := range j.result.Foreign {
		if r.Mine {
			leave[f.Path] = f.Reason
		}
	}
	if j.files, err = l.planPaths(m, present, j.target, paths, leave); err != nil {
		return err
	}
	j.files.describe(&j.result)
	return nil
}

// safety captures what is on disk, so that nothing is lost: as a snapshot, or
// for a preview as a tree that nothing names.
func (l *Local) safety(ctx context.Context, m *loaded, j *job, preview bool) (restore.Side, error) {
	if preview {
		return l.presentSide(ctx, m)
	}
	t, err := l.commit(ctx, m, &wanted{
		Take:     Take{Trigger: TriggerManual, Of: m.life, What: "before " + j.kind, OnlyIfChanged: true},
		triggers: Triggers{TriggerManual},
	})
	if err != nil {
		return restore.Side{}, err
	}
	l.saveLive(m)
	j.safety, j.result.Safety = t.snapshot, t.snapshot.ID.String()
	return l.recordedSide(m.project, t.snapshot)
}

// describe names the target for the snapshot's subject.
func (j *job) describe(m *loaded) string {
	if address := m.addressOf(j.target.ID); address != "" {
		return "to " + address
	}
	return "to " + j.target.ID.Short()
}

// addressOf is a snapshot's address in the mission's history, "" if it is in
// none of its.
func (m *loaded) addressOf(id gitstore.ID) string {
	if s, ok, err := m.project.locate(m.tip.ID, id); ok && err == nil {
		return s.address(m.Name)
	}
	return ""
}

// handover says how the agent goes on: a live one is not touched here, so its
// user is told what to type. One of an unknown process may have ended.
func (l *Local) handover(m *loaded, j *job) *Handover {
	if j.talk == nil || m.live.isIn(m.stored.Session) { // which an undo has returned to
		return &Handover{How: "none"}
	}
	resume := "umbra mission resume " + m.Name
	_, alive := m.live.process()
	switch {
	case m.live.orphaned():
		return &Handover{How: "resume", Type: "umbra mission stop " + m.Name + " && " + resume}
	case alive:
		switcher, ok := l.adapter(m.Agent).(sessions.Switcher)
		switch {
		case !ok:
			return &Handover{How: "resume", Type: "end " + m.program() + ", then " + resume}
		case j.talk.empty:
			return &Handover{How: "type", Type: switcher.Switch("")}
		}
		return &Handover{How: "type", Type: switcher.Switch(m.stored.Session)}
	case HasAgent(m.life) && m.nameless():
		return &Handover{How: "resume", Type: "end " + m.program() + " if it still runs, then " + resume}
	}
	return &Handover{How: "resume", Type: resume}
}

// planGit compares the user's repository then, at a snapshot, and now. A restore
// never moves HEAD or a branch, so where they moved the user decides. For an undo
// then is when what it takes back was done: the safety snapshot of that may be
// older, since it is one that was there if no file had changed.
func (l *Local) planGit(ctx context.Context, m *loaded, j *job, at *gitstore.Snapshot) error {
	then, _, err := m.project.gitOf(at)
	if err != nil {
		return err
	}
	j.result.Git.Then = GitState{Head: then.Head, Branch: trimRef(then.Branch), Operation: then.Operation}
	ws, err := l.workspace(ctx, m)
	if err != nil {
		return err
	}
	if ws.repo == nil {
		return nil
	}
	head, err := ws.repo.Head()
	if err != nil {
		j.result.Notes = append(j.result.Notes, "the repository's HEAD can't be read: "+err.Error())
		return nil
	}
	now := GitState{Head: head.ID.String(), Branch: trimRef(head.Branch())}
	if ops, err := ws.repo.Operations(); err == nil && len(ops) > 0 {
		now.Operation = string(ops[0])
	}
	j.result.Git.Now = now
	if j.files == nil || j.result.Git.Then.Head == "" && now.Head == "" {
		return nil
	}
	l.compareGit(ctx, ws, then.headUnread(), j)
	return nil
}

// compareGit gathers what speaks against restoring files over the repository's
// present state. Unread is why HEAD was not read then, "" if it was.
func (l *Local) compareGit(ctx context.Context, ws *workspace, unread string, j *job) {
	then, now := j.result.Git.Then, j.result.Git.Now
	refuse := func(hint, format string, args ...any) {
		j.refusals = append(j.refusals, Errorf(KindConflict, hint+"; or --force", format, args...))
	}
	if now.Operation != "" && now.Operation != then.Operation {
		refuse("finish or abort it first", "a %s is in progress in %s", now.Operation, ws.root)
	}
	if unread != "" {
		j.result.Notes = append(j.result.Notes, "HEAD of that moment could not be read ("+unread+"): whether the repository stood elsewhere then can't be told")
		return
	}
	if now.Branch != then.Branch {
		refuse(branchBack(ctx, ws.repo, then), "the repository is on %s now and was on %s then", branchName(now), branchName(then))
		return
	}
	if now.Head == then.Head || then.Head == "" {
		return
	}
	ok, err := isAncestor(ctx, ws.repo, then.Head, now.Head)
	switch {
	case errors.Is(err, errCommitGone):
		refuse("look with git log", "HEAD is %s now; %.10s, where it was then, is no longer in the repository", headName(now), then.Head)
	case err != nil:
		refuse("look with git log", "whether HEAD moved on from %.10s can't be told: %v", then.Head, err)
	case !ok:
		refuse("git log "+then.Head, "HEAD is %s now, which does not descend from %.10s of then", headName(now), then.Head)
	default:
		j.result.Notes = append(j.result.Notes, fmt.Sprintf("HEAD has moved on since: files go back, commits stay; git reset --soft %.10s would take the commits back too", then.Head))
	}
}

// headName is the commit of HEAD; a branch that is new has none.
func headName(g GitState) string {
	if g.Head == "" {
		return "at no commit"
	}
	return fmt.Sprintf("%.10s", g.Head)
}

func branchName(g GitState) string {
	if g.Branch == "" {
		return "no branch"
	}
	return "branch " + g.Branch
}

// sortedKept orders kept paths.
func sortedKept(list []Kept) []Kept {
	slices.SortFunc(list, func(a, b Kept) int { return strings.Compare(a.Path, b.Path) })
	return list
}
