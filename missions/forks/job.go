package forks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// forkJob is one fork being made.
type forkJob struct {
	forker       *Forker
	moment       forkPoint
	request      missions.ForkRequest
	configChoice agents.ConfigChoice
	copyLimit    int64 // bytes of ignored files copied without asking
	id           string
	name         string
	directory    string

	Operation     *journal.Operation
	doc           projects.ForkDoc
	Made          *fork.Made
	placedSession conversations.PlacedSession
	mission       *projects.Mission // the fork, once it is complete
	firstRecord   gitstore.ID       // its first record
	statCache     string            // the stat cache handed over, "" if none
	notes         []string
}

func (j *forkJob) begin(ctx context.Context) error {
	s := j.moment.Snapshot
	j.doc = projects.ForkDoc{
		Project: j.moment.Project.Dir, Mission: j.id, Name: j.name, Snapshot: s.ID.String(), Record: s.Record.String(),
		Recreated: j.id == j.moment.ID, Owner: j.forker.Self,
	}
	op, err := j.forker.Journal.Begin(j.forker.NewID(), projects.ForkKind, j.doc)
	if err != nil {
		return fmt.Errorf("journal the fork: %w", err)
	}
	j.Operation = op
	if j.moment.Tip != nil && s.ID == j.moment.Tip.ID { // that always stays
		return nil
	}
	if err := j.forker.CheckNotPruned(ctx, j.moment.Mission, s.Snapshot); err != nil {
		return errors.Join(err, op.Finish())
	}
	return nil
}

// discard undoes a fork that failed. A fork that was published, or may have been, is
// left as it is.
func (j *forkJob) discard(ctx context.Context) error {
	err := j.forker.dropForkRefs(ctx, j.moment.Project, j.doc)
	if err == nil {
		err = j.placedSession.Remove()
	}
	if err == nil && j.Made != nil {
		err = j.undoWorkspace(ctx)
	}
	if err == nil && !j.doc.Recreated {
		err = j.forker.updates.Discard(j.moment.Project, j.id)
	}
	if err == nil && j.statCache != "" {
		err = journal.Remove(j.statCache)
	}
	if err != nil {
		return fmt.Errorf("take the unfinished fork away: %w; umbra doctor --fix tries again", err)
	}
	return j.Operation.Finish()
}

// undoWorkspace moves the workspace of a fork that failed into the trash: others may have
// written into it.
func (j *forkJob) undoWorkspace(ctx context.Context) error {
	if j.request.InPlace {
		return nil // it is the parent's
	}
	place, err := j.Made.Undo(ctx, j.trash())
	j.notifyUndone(ctx, place)
	return err
}

func (j *forkJob) trash() string { return j.forker.Home.Path("trash", j.id) }

func (j *forkJob) notifyUndone(ctx context.Context, place string) {
	if place != "" {
		missions.Notify(ctx, missions.Notice{Text: "what was made of " + j.name + " is in " + place + ", with what others wrote there"})
	}
}

// errForkPublished says that the ref of a fork exists: the fork is a mission.
var errForkPublished = errors.New("the fork is there already")

// dropForkRefs removes the refs of a fork that was not published. A ref that can't be
// read counts as published (H3).
func (f *Forker) dropForkRefs(ctx context.Context, p *projects.Project, doc projects.ForkDoc) error {
	if _, err := p.Store.Ref(gitstore.AgentRef(doc.Mission)); !errors.Is(err, gitstore.ErrRefNotFound) {
		return errors.Join(errForkPublished, err)
	}
	ref := gitstore.RecordRef(doc.Mission)
	id, err := p.Store.Ref(ref)
	if err == nil {
		err = p.Store.DeleteRef(ctx, ref, id)
	}
	if err != nil && !errors.Is(err, gitstore.ErrRefNotFound) {
		return err
	}
	return nil
}

// MakeWorkspace makes the fork's files, worktree and branch.
func (j *forkJob) MakeWorkspace(ctx context.Context) error {
	if j.request.InPlace {
		j.takeParentsWorkspace()
		return nil
	}
	if err := j.forker.agents.CheckPlace(j.directory, j.moment.AdapterEnv().Home, j.request.Force); err != nil {
		return err
	}
	source, err := j.source(ctx)
	if err != nil {
		return err
	}
	j.Made, err = fork.Make(ctx, source, j.target(ctx))
	var limit *fork.LimitError
	var target *fork.TargetError
	switch {
	case errors.As(err, &limit):
		e := missions.Errorf(missions.KindConflict, "--yes copies them, --ignored skip leaves them behind",
			"%d ignored files of %s (%s) would be copied", limit.Files, j.moment.Name, byteCount(limit.Bytes))
		e.Details, _ = json.Marshal(map[string]int64{"files": int64(limit.Files), "bytes": limit.Bytes})
		return e
	case errors.As(err, &target):
		return missions.Errorf(missions.KindConflict, j.targetHint(source, err), "%w", err)
	case home.IsDiskFull(err):
		return missions.Errorf(missions.KindFailed,
			"free some space there, also by umbra trash empty, or fork to another disk with --workspace DIR; --ignored skip needs less",
			"fork %s: no space is left for %s, what was made of it is taken away again: %w", j.moment.Name, j.directory, err)
	case err != nil:
		return fmt.Errorf("fork %s: %w", j.moment.Name, err)
	}
	j.notes = append(append(j.notes, j.Made.Notes...), hindranceNotes(j.Made, source.Repo)...)
	if j.subdir() != j.moment.Subdir {
		j.notes = append(j.notes, fmt.Sprintf("%s leads out of the workspace: the agent works at its top", j.moment.Subdir))
	}
	return nil
}

// targetHint is what to do where a workspace can't be made.
func (j *forkJob) targetHint(source fork.Source, err error) string {
	if !errors.Is(err, fork.ErrWorktreeNoted) {
		if j.doc.Recreated {
			return "move away what is there"
		}
		return "choose another directory with --workspace DIR"
	}
	git := "git -C " + home.ShellQuote(source.Repo.CommonDir) + " worktree "
	return fmt.Sprintf("%sprune if it is gone for good (%[1]sunlock %s before that if it is locked), %[1]srepair NEW if it was moved",
		git, home.ShellQuote(j.directory))
}

// source describes the moment to fork.
func (j *forkJob) source(ctx context.Context) (fork.Source, error) {
	p, s := j.moment.Project, j.moment.Snapshot
	moment, err := snapshots.RecordedSide(p, s.Snapshot)
	if err != nil {
		return fork.Source{}, err
	}
	newest, err := snapshots.RecordedSide(p, j.moment.Tip)
	if err != nil {
		return fork.Source{}, err
	}
	source := fork.Source{Store: p.Store, Tree: s.Tree, Rules: newest.Rules, Skipped: newest.Skipped, Now: s.ID == j.moment.Tip.ID}
	source.Moment = fork.Moment{Modes: moment.Modes, Then: moment.Skipped, Rules: moment.Rules}
	if info, err := p.ReadSnapshotInfo(s.Snapshot); err == nil {
		source.Bytes = info.Bytes // for the progress bar alone
	}
	place, err := projects.DirectoryIdentity(j.moment.Binding.Workspace)
	if j.moment.Binding.Workspace != "" && err == nil && j.moment.Binding.Identity.Is(place) {
		source.Live, source.Identity = j.moment.Binding.Workspace, beneath.Identity(place.FileIdentity)
		source.Known = j.forker.snapshots.KnownFiles(j.moment.Mission)
	} else if moved := j.moment.Whereabouts(j.request.Caller.Cwd); moved != "" {
		j.notes = append(j.notes, movedNote(j.moment.Mission, moved))
	}
	return source, j.addSourceGit(ctx, &source)
}

// makeSession puts the rewritten conversation into the agent's store. If the moment has
// no conversation, the fork has none.
func (j *forkJob) makeSession(ctx context.Context) error {
	a := j.forker.Adapter(j.moment.Agent)
	if j.request.FilesAlone {
		return nil
	}
	if j.request.Agent != "" && j.request.Agent != j.moment.Agent {
		j.notes = append(j.notes, fmt.Sprintf("%s begins with the files alone: it can't go on with a conversation of %s", j.request.Agent, j.moment.AgentName()))
	}
	if a == nil || len(j.request.Command) > 0 && !a.Runs(j.request.Command) {
		return nil
	}
	if !j.moment.CanCopyConversation(a) {
		j.notes = append(j.notes, j.moment.NoCopyReason())
		return nil
	}
	plan, err := j.moment.planCut(j.forker.conversations)
	if errors.Is(err, sessions.ErrNoSession) || err == nil && plan.IsEmpty {
		note := "nothing was said yet"
		if then, err := j.moment.Project.ReadStored(j.moment.Snapshot.Record); err == nil && then.ConversationLeftOut {
			note = "the conversation was left out by who sent it"
		}
		j.notes = append(j.notes, note+": the agent begins a new conversation")
		return nil
	}
	if err != nil {
		return err
	}
	to, err := j.planMove(sessions.Rewrite{OldID: plan.SourceMeta.SessionID, NewID: j.forker.NewSession(a)})
	if err != nil {
		return err
	}
	j.doc.SessionFiles = []string{a.Path(j.env(), to.NewCwd, to.NewID)}
	if err := j.Operation.Update(j.doc); err != nil {
		return err
	}
	if j.placedSession, err = j.forker.conversations.PlaceConversation(ctx, j.moment.Project, plan, j.env(), to); err != nil {
		return err
	}
	if j.placedSession.FileDiffers && j.moment.isPresent {
		return errConversationRewritten
	}
	j.doc.SessionFiles = j.placedSession.Files
	return j.Operation.Update(j.doc)
}

// planMove completes how the source's conversation becomes the fork's.
func (j *forkJob) planMove(to sessions.Rewrite) (sessions.Rewrite, error) {
	to.NewCwd, to.NewRoot = projects.ResolveLinks(j.cwd()), projects.ResolveLinks(j.Made.Workspace)
	return j.forker.conversations.PlanMove(j.moment.Mission, j.moment.Snapshot.Snapshot, to)
}

// errConversationRewritten says that the agent has rewritten a conversation of which
// only the end was compared: the record holds what is not there any more.
var errConversationRewritten = errors.New("the conversation was rewritten since it was recorded")

// env says where the fork's agent keeps its sessions: where the source's agent does.
func (j *forkJob) env() sessions.Environ { return j.moment.AdapterEnv() }

// cwd is where the fork's agent runs: the same directory within the workspace.
func (j *forkJob) cwd() string {
	if dir := j.subdir(); dir != "" {
		return projects.AbsolutePath(j.Made.Workspace, dir)
	}
	return j.Made.Workspace
}

// subdir is where in the workspace the fork's agent runs: at its top where the snapshot has
// a link there that leads out of it.
func (j *forkJob) subdir() string {
	dir := j.moment.Subdir
	if dir == "" || !home.IsWithin(projects.ResolveLinks(j.Made.Workspace), projects.ResolveLinks(projects.AbsolutePath(j.Made.Workspace, dir))) {
		return ""
	}
	return dir
}

// complete makes what the fork has besides its workspace: its conversation and its
// first record. It publishes nothing.
func (j *forkJob) complete(ctx context.Context) error {
	if err := j.makeSession(ctx); err != nil {
		return err
	}
	m, err := j.buildMission()
	if err != nil {
		return err
	}
	batch := j.moment.Project.Store.NewBatch()
	defer batch.Discard()
	if j.firstRecord, err = j.writeRecord(m, batch); err != nil {
		return err
	}
	if err := batch.Flush(ctx); err != nil {
		return err
	}
	failpoint.Hit("fork.flushed")
	j.mission = m
	j.forker.updates.NoteCopy(j.moment.Mission, j.placedSession.Move.OldID, j.placedSession.ID, j.moment.isPresent)
	if j.moment.isPresent {
		return j.forker.updates.Peek(j.moment.Mission, j.id)
	}
	return nil
}

// publish writes the fork's refs; the last one is the commit point. The history is the
// source's, shared and not copied.
func (j *forkJob) publish(ctx context.Context) (*projects.Mission, error) {
	p, s, m := j.moment.Project, j.moment.Snapshot, j.mission
	if err := j.noteLocation(ctx, m); err != nil {
		return nil, fmt.Errorf("note the workspace: %w", err)
	}
	if err := p.Store.UpdateRef(ctx, gitstore.RecordRef(m.ID), gitstore.ID{}, j.firstRecord, gitstore.Durable); err != nil {
		return nil, err
	}
	failpoint.Hit("fork.kept")
	if err := p.Store.UpdateRef(ctx, gitstore.AgentRef(m.ID), gitstore.ID{}, s.ID, gitstore.Durable); err != nil {
		return nil, err
	}
	failpoint.Hit("fork.published")
	m.Record, m.Tip = j.firstRecord, s.Snapshot
	// The fork is there now. Its name can be mended if this fails.
	if err := j.forker.snapshots.PublishName(ctx, m); err != nil {
		j.notes = append(j.notes, fmt.Sprintf("its name does not lead to it yet (%v): umbra doctor --fix", err))
	}
	j.forker.SaveLiveState(m)
	return m, nil
}

// writeStatCache leaves a stat cache of the files that the fork wrote, for the first
// capture of the workspace. A failure is only logged, since it is a cache.
func (j *forkJob) writeStatCache() {
	if j.request.InPlace {
		return // its parent's captures know the files
	}
	m := j.mission
	scanner, err := capture.PlacedScanner(capture.Workspace{
		Root: m.Binding.Workspace, Identity: beneath.Identity(m.Binding.Identity.FileIdentity),
	}, j.moment.Snapshot.Tree, j.Made.Placed)
	if err == nil {
		j.statCache = j.forker.Home.StatCacheFile(m.Binding.Identity.FileIdentity)
		err = j.forker.SaveStatCache(scanner, m.Binding.Identity.FileIdentity, m.Project.Generation())
	}
	if err != nil {
		j.forker.Logger.Info("the fork's first capture will read everything", "workspace", m.Binding.Workspace, "reason", err)
	}
}

// buildMission is the fork before it is published.
func (j *forkJob) buildMission() (*projects.Mission, error) {
	g, err := projects.InspectDirectory(j.Made.Workspace)
	if err != nil {
		return nil, err
	}
	now, s := j.forker.Now(), j.moment.Snapshot
	then, err := j.moment.Project.ReadStored(s.Record)
	if err != nil {
		return nil, err
	}
	said, err := conversations.ReadStoredBeforePrompt(j.moment.Project, s.Snapshot)
	if err != nil {
		return nil, err
	}
	command, err := j.command(g.Dir)
	if err != nil {
		return nil, err
	}
	m := &projects.Mission{Project: j.moment.Project, Lifecycle: missions.Initializing{Turn: s.Turn}, StateSince: now}
	given := j.request.NameTyped && j.request.Name != "" && j.request.Caller.Mission == "" // not an agent's words
	m.Stored = projects.Stored{
		Format: projects.RecordFormat, ID: j.id, Name: j.name, NameGiven: given,
		Agent: j.moment.Agent, ToolName: j.moment.ToolName, ResumeCommand: j.moment.ResumeCommand, RecordedStateSince: now,
		Command:   command,
		CreatedAt: now, UpdatedAt: now, Parent: &missions.Parent{Mission: j.moment.ID, Snapshot: s.ID.String()},
		Subdir: j.subdir(), EnvNames: j.request.EnvNames, LastPrompt: said.LastPrompt, LastTool: said.LastTool,
		Session: j.placedSession.ID, TurnPosition: then.TurnPosition,
		Withheld: j.Made.Withheld, Contest: j.request.Contest, Scratch: j.request.Scratch,
	}
	if len(j.request.Command) > 0 {
		m.Command, m.Agent, m.FreshCommand = j.request.Command, j.forker.AgentOf(j.request.Command), true
		m.ToolName, m.ResumeCommand = "", nil
	}
	if modelled, ok := j.forker.Adapter(m.Agent).(sessions.Modelled); ok && j.request.Model != "" {
		m.Command = modelled.WithModel(m.Command, j.request.Model)
	}
	prompt, err := j.firstPrompt()
	if err != nil {
		return nil, err
	}
	m.SetFirstPrompt(prompt)
	if t := conversations.MissionTally(&then); t != nil && m.Stored.Session != "" {
		m.Tally = &projects.TallyProgress{Total: *t} // until it is counted itself
	}
	if m.Agent == j.moment.Agent {
		m.Config, m.ConfigFixed = j.configChoice.Version(then.Config)
	}
	m.Binding = projects.Binding{
		Machine: j.forker.Home.Machine, Workspace: g.Dir, Identity: g.Identity, AgentVars: j.moment.Binding.AgentVars, PathInRepo: j.Made.Document.Scope,
		SessionPath: j.placedSession.Path, MadeByUmbra: true, Branch: j.Made.Branch, Worktree: j.Made.Worktree, Fork: &j.Made.Document,
	}
	if g.Repo != nil {
		m.Binding.CommonDir = g.Repo.CommonDir
	}
	j.leaveWithoutWorkspace(m)
	m.InheritedSession = j.placedSession.Inherited
	if j.moment.isPresent && m.Stored.Session != "" {
		m.Notes = snapshots.UntoldNotes(j.moment.Mission, snapshots.NoteRestore, projects.IsForeignAdapter(j.forker.Adapter(m.Agent)))
	}
	if j.forker.Adapter(m.Agent) != nil {
		snapshots.SetNote(m, snapshots.NoteFork, snapshots.ForkNote(m, j.moment.Mission))
	}
	return m, nil
}

// writeRecord writes the fork's first record on top of the source's.
func (j *forkJob) writeRecord(m *projects.Mission, batch *shadow.Batch) (gitstore.ID, error) {
	p, s := j.moment.Project, j.moment.Snapshot
	before, err := p.Store.Commit(s.Record)
	if err != nil {
		return gitstore.ID{}, err
	}
	t := records.NewTree(p.Store, before.Tree)
	for _, sources := range []string{projects.BindingsDir, snapshots.DisplacedDir} {
		if err := t.Remove(sources); err != nil {
			return gitstore.ID{}, err
		}
	}
	ws := j.forker.snapshots.UnknownWorkspace()
	if m.Stored.Session == "" {
		err = t.RemoveSession()
	} else {
		_, err = j.forker.snapshots.PutSession(t, m, missions.TakeSnapshot{Lifecycle: m.Lifecycle}, ws, batch)
	}
	if err != nil {
		return gitstore.ID{}, err
	}
	raw, err := missions.MarshalLifecycle(m.Lifecycle)
	if err != nil {
		return gitstore.ID{}, err
	}
	m.Stored.LifecycleJSON = raw
	op := projects.Operation{
		ID: j.Operation.ID(), Kind: projects.ForkKind, Target: s.ID.String(),
		SessionAfter: m.Stored.Session, SessionAfterPath: m.Binding.SessionPath,
	}
	for _, left := range j.Made.Left {
		op.Kept = append(op.Kept, missions.PathReason(left))
	}
	if err := errors.Join(
		projects.WriteDoc(t, projects.MissionDoc, m.Stored),
		projects.WriteDoc(t, projects.BindingDoc(j.forker.Home.Machine), m.Binding),
		projects.WriteDoc(t, projects.OperationDoc, op),
	); err != nil {
		return gitstore.ID{}, err
	}
	tree, err := t.Write(batch)
	if err != nil {
		return gitstore.ID{}, err
	}
	author := before.Author
	author.When = m.CreatedAt
	return p.Store.WriteRecord(batch, &gitstore.Record{
		Tree: tree, Parents: snapshots.ParentList(s.Record), Author: author, At: m.CreatedAt,
		Kind: gitstore.KindMeta, Mission: m.ID, Message: "fork of " + j.moment.Name,
	})
}

// reportTo adds to the result what the user is told.
func (j *forkJob) reportTo(r *missions.ForkResult) {
	for _, left := range j.Made.Left {
		r.LeftOut = append(r.LeftOut, missions.PathReason(left))
	}
	r.PointsIn = append(r.PointsIn, j.Made.PointsIn...)
	for _, note := range j.notes {
		if !slices.Contains(r.Notes, note) { // of another fork of the moment
			r.Notes = append(r.Notes, note)
		}
	}
	r.Fallback = r.Fallback || j.Made.Fallback
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
