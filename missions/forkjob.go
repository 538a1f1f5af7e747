package missions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/sessions"
)

// forkKind is a fork's kind in the journal.
const forkKind = "fork"

// forkDoc is a fork in flight, in the journal: what to take away if it is not
// finished. It is made durable before anything is made, and again as more is
// known.
type forkDoc struct {
	Project   string        `json:"project"` // the directory in Umbra's home
	Mission   string        `json:"mission"`
	Name      string        `json:"name"`
	Workspace fork.Document `json:"workspace"`
	Session   []string      `json:"session,omitempty"` // files placed in the agent's store
	// Again is a mission's lost workspace being made again: the mission is
	// there, and only its binding says whether the new workspace is its own.
	Again bool       `json:"again,omitempty"`
	Owner lock.Owner `json:"owner"` // the process that makes it
}

// forkJob is one fork being made.
type forkJob struct {
	l         *Local
	at        found
	present   bool // at is what is there now
	request   ForkRequest
	config    configChoice
	limit     int64 // bytes of ignored files copied without asking
	id        string
	name      string
	directory string

	operation *journal.Operation
	doc       forkDoc
	made      *fork.Made
	session   placed
	mission   *loaded     // the fork, once it is complete
	first     gitstore.ID // its first record
	cache     string      // the stat cache handed over, "" if none
	notes     []string
}

func (j *forkJob) begin() error {
	j.doc = forkDoc{Project: j.at.project.Dir, Mission: j.id, Name: j.name, Again: j.id == j.at.ID, Owner: j.l.self}
	op, err := j.l.journal.Begin(j.l.newID(), forkKind, j.doc)
	if err != nil {
		return fmt.Errorf("journal the fork: %w", err)
	}
	j.operation = op
	return nil
}

// takeAway undoes a fork that failed. One that was published, or of which that
// is not known, is left as it is.
func (j *forkJob) takeAway(ctx context.Context) error {
	err := j.l.dropFork(ctx, j.at.project, j.doc)
	if err == nil {
		err = j.session.remove()
	}
	if err == nil && j.made != nil {
		err = j.made.Undo(ctx)
	}
	if err == nil && j.cache != "" {
		err = journal.Remove(j.cache)
	}
	if err != nil {
		return fmt.Errorf("take the unfinished fork away: %w; umbra doctor --fix tries again", err)
	}
	return j.operation.Finish()
}

// errPublished is the answer for a fork whose ref is there: it is a mission.
var errPublished = errors.New("the fork is there already")

// dropFork removes the refs of a fork that was not published. Only a ref that is known
// not to exist says so (H3).
func (l *Local) dropFork(ctx context.Context, p *project, doc forkDoc) error {
	if _, err := p.store.Ref(gitstore.AgentRef(doc.Mission)); !errors.Is(err, gitstore.ErrRefNotFound) {
		return errors.Join(errPublished, err)
	}
	ref := gitstore.RecordRef(doc.Mission)
	id, err := p.store.Ref(ref)
	if err == nil {
		err = p.store.DeleteRef(ctx, ref, id)
	}
	if err != nil && !errors.Is(err, gitstore.ErrRefNotFound) {
		return err
	}
	return nil
}

// makeWorkspace makes the fork's files, worktree and branch.
func (j *forkJob) makeWorkspace(ctx context.Context) error {
	source, err := j.source(ctx)
	if err != nil {
		return err
	}
	j.made, err = fork.Make(ctx, source, j.target(ctx))
	var limit *fork.LimitError
	var target *fork.TargetError
	switch {
	case errors.As(err, &limit):
		e := Errorf(KindConflict, "--yes copies them, --ignored skip leaves them behind",
			"%d ignored files of %s (%s) would be copied", limit.Files, j.at.Name, byteCount(limit.Bytes))
		e.Details, _ = json.Marshal(map[string]int64{"files": int64(limit.Files), "bytes": limit.Bytes})
		return e
	case errors.As(err, &target):
		return Errorf(KindConflict, "choose another directory with --workspace DIR", "%w", err)
	case isDiskFull(err):
		return Errorf(KindFailed, "free some space there, or fork to another disk with --workspace DIR; --ignored skip needs less",
			"fork %s: no space is left for %s, what was made of it is taken away again: %w", j.at.Name, j.directory, err)
	case err != nil:
		return fmt.Errorf("fork %s: %w", j.at.Name, err)
	}
	j.notes = append(j.notes, j.made.Notes...)
	return nil
}

// source describes the moment to fork.
func (j *forkJob) source(ctx context.Context) (fork.Source, error) {
	p, s := j.at.project, j.at.step
	moment, err := j.l.recordedSide(p, s.Snapshot)
	if err != nil {
		return fork.Source{}, err
	}
	newest, err := j.l.recordedSide(p, j.at.tip)
	if err != nil {
		return fork.Source{}, err
	}
	source := fork.Source{Store: p.store, Tree: s.Tree, Modes: moment.Modes, Rules: newest.Rules, Skipped: newest.Skipped, Now: s.ID == j.at.tip.ID}
	if info, err := p.snapshotInfo(s.Snapshot); err == nil {
		source.Bytes = info.Bytes // for the progress bar alone
	}
	place, err := placeOf(j.at.bind.Workspace)
	if j.at.bind.Workspace != "" && err == nil && place == j.at.bind.Place {
		source.Live, source.Identity = j.at.bind.Workspace, beneath.Identity(place)
		source.Known = j.l.knownOf(j.at.loaded)
	}
	return source, j.sourceGit(ctx, &source)
}

// sourceGit adds the state of the user's repository at the moment.
func (j *forkJob) sourceGit(_ context.Context, source *fork.Source) error {
	g, staged, err := j.at.project.gitOf(j.at.step.Snapshot)
	if err != nil {
		return err
	}
	dir := source.Live
	if dir == "" {
		dir = j.at.project.hints.Path
	}
	repo, err := usergit.Discover(dir)
	if errors.Is(err, usergit.ErrNoRepository) || errors.Is(err, os.ErrNotExist) {
		if g.Head != "" {
			j.notes = append(j.notes, "The repository of the source is gone: the fork is a plain directory, without Git.")
		}
		return nil
	}
	if err == nil {
		err = unreadRepository(repo)
	}
	if err != nil {
		return err
	}
	source.Repo, source.Scope = repo, j.at.bind.Scope
	source.Head, source.Branch, source.Ancestors = g.Head, trimRef(g.Branch), g.Ancestors
	source.Unread = g.headUnread()
	for _, item := range staged.Entries {
		entry, err := item.entry()
		if err != nil {
			return Errorf(KindDamaged, "umbra doctor", "staged state of snapshot %s: %w", j.at.step.ID.Short(), err)
		}
		source.Staged = append(source.Staged, entry)
	}
	return nil
}

// entry is a recorded staged entry as the fork needs it.
func (i stagedItem) entry() (fork.Staged, error) {
	mode, err := strconv.ParseUint(i.Mode, 8, 32)
	if err != nil {
		return fork.Staged{}, fmt.Errorf("%s: mode %q", i.Path, i.Mode)
	}
	e := fork.Staged{Path: i.Path, Mode: usergit.Mode(mode), Stage: i.Stage}
	e.IntentToAdd, e.SkipWorktree, e.AssumeValid = i.IntentToAdd, i.SkipWorktree, i.AssumeValid
	if i.ID == "" {
		return e, nil
	}
	if e.ID, err = usergit.ParseID(i.ID); err != nil {
		return e, fmt.Errorf("%s: %w", i.Path, err)
	}
	if !i.Missing && !i.IntentToAdd && gitstore.Mode(mode).IsBlob() {
		e.Blob, err = storeID(e.ID)
	}
	return e, err
}

func (j *forkJob) target(ctx context.Context) fork.Target {
	making, text := &teller{ctx: ctx}, "making "+j.directory
	return fork.Target{
		Operation: j.operation.ID(), Directory: j.directory, Name: j.name,
		CopyIgnored: j.request.Ignored != "skip", Limit: j.limit, Force: j.request.Yes || j.request.Force,
		Progress: func(p fork.Progress) {
			making.tell(Notice{
				Text: text, Done: int64(p.Files), Total: int64(p.TotalFiles), Unit: "files",
				Bytes: p.Bytes, TotalBytes: p.TotalBytes,
			})
		},
		Record: func(d fork.Document) error {
			j.doc.Workspace = d
			return j.operation.Update(j.doc)
		},
	}
}

// makeSession puts the rewritten conversation into the agent's store, for the
// fork's own place. A moment without one gives a fork without one.
func (j *forkJob) makeSession() error {
	a := j.l.adapter(j.at.Agent)
	if a == nil || len(j.request.Command) > 0 && !a.Runs(j.request.Command) {
		return nil
	}
	if !j.at.movable(a) {
		j.notes = append(j.notes, j.at.unmovable())
		return nil
	}
	plan, err := j.l.cutOf(j.at.loaded, j.at.step.Snapshot)
	if errors.Is(err, sessions.ErrNoSession) || err == nil && plan.empty {
		j.notes = append(j.notes, "nothing was said yet: the agent begins a new conversation")
		return nil
	}
	if err != nil {
		return err
	}
	cwd := resolvedOr(j.cwd())
	oldRoot, oldCwd, err := j.l.spokenIn(j.at.project, j.at.step.Snapshot)
	if err != nil {
		return err
	}
	to := sessions.Rewrite{
		OldID: plan.source.SessionID, NewID: j.l.newSession(a), OldCwd: oldCwd, NewCwd: cwd,
		OldRoot: oldRoot, NewRoot: resolvedOr(j.made.Workspace), Now: j.l.now(),
	}
	j.doc.Session = []string{a.Path(j.env(), cwd, to.NewID)}
	if err := j.operation.Update(j.doc); err != nil {
		return err
	}
	if j.session, err = j.l.place(j.at.project, plan, j.env(), to); err != nil {
		return err
	}
	if j.session.strayed && j.present {
		return errStrayed
	}
	j.doc.Session = j.session.files
	return j.operation.Update(j.doc)
}

// errStrayed is met where the agent has rewritten a conversation, of which only
// the end was looked at: what was recorded as being there now is not.
var errStrayed = errors.New("the conversation was rewritten since it was recorded")

// env is where the fork's agent keeps its sessions: where the source's does.
func (j *forkJob) env() sessions.Environ { return j.at.adapterEnv() }

// cwd is where the fork's agent runs: the same place within the workspace.
func (j *forkJob) cwd() string {
	if j.at.Subdir == "" {
		return j.made.Workspace
	}
	return joinPath(j.made.Workspace, j.at.Subdir)
}

// complete makes what the fork is besides its workspace: its conversation and its
// first record. Nothing of it is published.
func (j *forkJob) complete(ctx context.Context) error {
	if err := j.makeSession(); err != nil {
		return err
	}
	m, err := j.unpublished()
	if err != nil {
		return err
	}
	batch := j.at.project.store.NewBatch()
	defer batch.Discard()
	if j.first, err = j.record(m, batch); err != nil {
		return err
	}
	if err := batch.Flush(ctx); err != nil {
		return err
	}
	failpoint.Hit("fork.flushed")
	j.mission = m
	return nil
}

// publish writes the fork's refs, the last of which is the commit point. Its
// history is the source's, shared and not copied.
func (j *forkJob) publish(ctx context.Context) (*loaded, error) {
	p, s, m := j.at.project, j.at.step, j.mission
	if err := j.l.addPlace(ctx, p, m.bind.Workspace, m.bind.Place); err != nil {
		return nil, fmt.Errorf("note the workspace: %w", err)
	}
	if err := p.store.UpdateRef(ctx, gitstore.RecordRef(m.ID), gitstore.ID{}, j.first, gitstore.Durable); err != nil {
		return nil, err
	}
	failpoint.Hit("fork.kept")
	if err := p.store.UpdateRef(ctx, gitstore.AgentRef(m.ID), gitstore.ID{}, s.ID, gitstore.Durable); err != nil {
		return nil, err
	}
	failpoint.Hit("fork.published")
	m.record, m.tip = j.first, s.Snapshot
	// The fork is there now. Its name can be mended if this fails.
	if err := j.l.publishName(ctx, m); err != nil {
		j.notes = append(j.notes, fmt.Sprintf("its name does not lead to it yet (%v): umbra doctor --fix", err))
	}
	j.l.saveLive(m)
	return m, nil
}

// handOver leaves what the fork knows of the files it wrote to the workspace's
// first capture, in its stat cache. Nobody captures it yet. It is a cache: a
// failure is only told in the log.
func (j *forkJob) handOver() {
	m := j.mission
	scanner, err := capture.PlacedScanner(capture.Workspace{
		Root: m.bind.Workspace, Identity: beneath.Identity(m.bind.Place),
	}, j.at.step.Tree, j.made.Placed)
	if err == nil {
		j.cache = j.l.home.statCache(m.bind.Place)
		err = j.l.saveScanner(scanner, m.bind.Place, m.project.generation())
	}
	if err != nil {
		j.l.log.Info("the fork's first capture will read everything", "workspace", m.bind.Workspace, "reason", err)
	}
}

// unpublished is the fork before it is published.
func (j *forkJob) unpublished() (*loaded, error) {
	g, err := survey(j.made.Workspace)
	if err != nil {
		return nil, err
	}
	now, s := j.l.now(), j.at.step
	then, err := j.at.project.storedAt(s.Record)
	if err != nil {
		return nil, err
	}
	said, err := j.at.project.saidAt(s.Snapshot)
	if err != nil {
		return nil, err
	}
	m := &loaded{project: j.at.project, life: Initializing{Turn: s.Turn}, since: now}
	m.stored = stored{
		Format: recordFormat, ID: j.id, Name: j.name, Agent: j.at.Agent, Tool: j.at.Tool, Resume: j.at.Resume, Command: j.at.outward(j.at.Command), Since: now,
		CreatedAt: now, UpdatedAt: now, Parent: &Parent{Mission: j.at.ID, Snapshot: s.ID.String()},
		Subdir: j.at.Subdir, EnvNames: j.request.EnvNames, LastPrompt: said.LastPrompt, LastTool: said.LastTool, Session: j.session.id, Step: then.Step,
	}
	if len(j.request.Command) > 0 {
		m.Command, m.Agent, m.Fresh = j.request.Command, j.l.agentOf(j.request.Command), true
		m.Tool, m.Resume = "", nil
	}
	if m.FirstPrompt, err = j.prompt(); err != nil {
		return nil, err
	}
	if t := then.talked(); t != nil && m.stored.Session != "" {
		m.Talk = &tallied{Tally: *t} // until it is counted itself
	}
	if m.Agent == j.at.Agent {
		m.Config, m.ConfigFixed = j.config.version(then.Config)
	}
	m.bind = binding{
		Machine: j.l.home.Machine, Workspace: g.Dir, Place: g.Place, Vars: j.at.bind.Vars, Scope: j.made.Document.Scope,
		Session: j.session.path, Made: true, Branch: j.made.Branch, Worktree: j.made.Worktree, Fork: &j.made.Document,
	}
	if g.Repo != nil {
		m.bind.CommonDir = g.Repo.CommonDir
	}
	m.inherited = j.session.inherited
	if j.present && m.stored.Session != "" {
		m.Notes = untoldOf(j.at.loaded, noteRestore, isForeign(j.l.adapter(m.Agent)))
	}
	if j.l.adapter(m.Agent) != nil {
		m.tell(noteFork, noteOfFork(m, j.at.loaded))
	}
	return m, nil
}

// prompt is what the fork's agent is sent first.
func (j *forkJob) prompt() (string, error) {
	if !j.request.Again {
		return j.request.Prompt, nil
	}
	steps, err := j.at.project.turnSteps(j.at.tip.ID, j.at.step.Turn)
	if err != nil {
		return "", err
	}
	for _, s := range steps {
		info, err := j.at.project.snapshotInfo(s.Snapshot)
		if err != nil {
			return "", err
		}
		if info.Prompt != "" {
			return info.Prompt, nil
		}
	}
	return "", Errorf(KindNotFound, "give it with --prompt", "no prompt is known of turn %d of %s", j.at.step.Turn, j.at.Name)
}

// record writes the fork's first record on top of the source's.
func (j *forkJob) record(m *loaded, batch *gitstore.Batch) (gitstore.ID, error) {
	p, s := j.at.project, j.at.step
	before, err := p.store.Commit(s.Record)
	if err != nil {
		return gitstore.ID{}, err
	}
	t := p.store.NewRecordTree(before.Tree)
	if err := t.Remove(bindingsDir); err != nil { // the source's, which is of another machine
		return gitstore.ID{}, err
	}
	ws := &workspace{l: j.l, sides: knownSides{}}
	if m.stored.Session == "" {
		err = t.RemoveSession()
	} else {
		_, err = j.l.putSession(t, m, Take{Of: m.life}, ws, batch)
	}
	if err != nil {
		return gitstore.ID{}, err
	}
	raw, err := marshalLifecycle(m.life)
	if err != nil {
		return gitstore.ID{}, err
	}
	m.stored.Lifecycle = raw
	op := operation{ID: j.operation.ID(), Kind: forkKind, Target: s.ID.String(), After: m.stored.Session, AfterPath: m.bind.Session}
	for _, left := range j.made.Left {
		op.Keep = append(op.Keep, Kept(left))
	}
	if err := errors.Join(
		writeDoc(t, missionDoc, m.stored), writeDoc(t, bindingDoc(j.l.home.Machine), m.bind), writeDoc(t, operationDoc, op),
	); err != nil {
		return gitstore.ID{}, err
	}
	tree, err := t.Write(batch)
	if err != nil {
		return gitstore.ID{}, err
	}
	author := before.Author
	author.When = m.CreatedAt
	return p.store.WriteRecord(batch, &gitstore.Record{
		Tree: tree, Parents: parents(s.Record), Author: author, At: m.CreatedAt,
		Kind: gitstore.KindMeta, Mission: m.ID, Message: "fork of " + j.at.Name,
	})
}

// report adds what the user is told.
func (j *forkJob) report(r *ForkResult) {
	for _, left := range j.made.Left {
		r.Left = append(r.Left, Kept(left))
	}
	r.PointsIn = append(r.PointsIn, j.made.PointsIn...)
	r.Notes = append(r.Notes, j.notes...)
	r.Fallback = r.Fallback || j.made.Fallback
}

// byteCount is a number of bytes as people read it.
func byteCount(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d bytes", n)
	}
	value, names := float64(n), []string{"KiB", "MiB", "GiB", "TiB"}
	i := -1
	for value >= unit && i < len(names)-1 {
		value /= unit
		i++
	}
	return fmt.Sprintf("%.1f %s", value, names[i])
}
