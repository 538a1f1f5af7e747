package forks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// defaultIdleWait is how long a fork waits for a running source.
const defaultIdleWait = 5 * time.Minute

// Fork makes missions that begin where another mission is now, or was. The source stays
// as it is, byte for byte. A fork that fails leaves nothing.
func (f *Forker) Fork(ctx context.Context, r missions.ForkRequest) (missions.ForkResult, error) {
	if err := checkRequest(r); err != nil {
		return missions.ForkResult{}, err
	}
	if r.Launching {
		if err := f.agents.CheckLiveLimit(r.Caller, ""); err != nil {
			return missions.ForkResult{}, err // before anything is made
		}
	}
	if r.Session != "" {
		return f.forkMessage(ctx, r)
	}
	at, present, err := f.ForkPoint(ctx, r)
	if err != nil {
		return missions.ForkResult{}, err
	}
	return f.forkWholeMoment(ctx, forkPoint{ResolvedMoment: at, isPresent: present}, r)
}

// forkPoint is what forks begin with.
type forkPoint struct {
	addresses.ResolvedMoment
	isPresent bool                            // it is what is there now
	plan      *conversations.ConversationPlan // of the conversation; nil: as much as the moment has
}

func (p forkPoint) planCut(l *conversations.Library) (*conversations.ConversationPlan, error) {
	if p.plan != nil {
		return p.plan, nil
	}
	return l.PlanCut(p.Mission, p.Snapshot.Snapshot)
}

// ForkAtRest is Fork for a mission whose agent is known to be at rest: of a snapshot in its
// history, or of now if that is the zero value.
func (f *Forker) ForkAtRest(ctx context.Context, m *projects.Mission, snapshot gitstore.ID, r missions.ForkRequest) (missions.ForkResult, error) {
	err := checkRequest(r)
	if err != nil {
		return missions.ForkResult{}, err
	}
	var at addresses.ResolvedMoment
	if snapshot.IsZero() {
		at, err = f.takeSourceSnapshot(ctx, m, false)
	} else {
		at, err = addresses.MomentBack(m, snapshot, 0)
	}
	if err != nil {
		return missions.ForkResult{}, err
	}
	return f.forkWholeMoment(ctx, forkPoint{ResolvedMoment: at, isPresent: snapshot.IsZero()}, r)
}

// forkWholeMoment is forkMoment, once more with all of the conversation if the agent has
// rewritten that.
func (f *Forker) forkWholeMoment(ctx context.Context, at forkPoint, r missions.ForkRequest) (missions.ForkResult, error) {
	result, err := f.forkMoment(ctx, at, r)
	if errors.Is(err, errConversationRewritten) {
		whole, err := f.takeSourceSnapshot(ctx, at.Mission, true)
		if err != nil {
			return missions.ForkResult{}, err
		}
		return f.forkMoment(ctx, forkPoint{ResolvedMoment: whole}, r)
	}
	return result, err
}

// forkMoment makes the forks of one moment.
func (f *Forker) forkMoment(ctx context.Context, at forkPoint, r missions.ForkRequest) (missions.ForkResult, error) {
	result := missions.ForkResult{}
	if at.isPresent || r.InPlace { // a past moment needs no workspace
		if moved := at.Whereabouts(r.Caller.Cwd); moved != "" {
			return result, at.MovedError(moved)
		}
	}
	if at.CheckMachine() != nil { // its agent's stores here are those of who forks it
		at.Binding.AgentVars = agents.AgentVars(f.Adapter(at.Agent), projects.CallerEnv(r.Caller))
	}
	single, err := f.singleRequests(at.ResolvedMoment, r)
	if err != nil {
		return missions.ForkResult{}, err
	}
	for _, one := range single {
		if err := f.checkForkAgent(at.ResolvedMoment, one); err != nil {
			return missions.ForkResult{}, err
		}
	}
	if result.Source, err = f.snapshots.LogEntry(ctx, at.Mission, at.Snapshot, nil); err != nil {
		return missions.ForkResult{}, err
	}
	if err := f.makeForks(ctx, at, r, &result); err != nil {
		return missions.ForkResult{}, err
	}
	return result, nil
}

// checkForkAgent refuses what the forks' agent could not be given: a prompt, a model, a
// launch without a terminal.
func (f *Forker) checkForkAgent(at addresses.ResolvedMoment, r missions.ForkRequest) error {
	agent, program, prompt := at.Agent, at.AgentName(), r.Prompt
	if _, err := f.agents.AgentCommand(agent); at.Remote != "" && len(r.Command) == 0 && err != nil {
		return missions.Errorf(missions.KindConflict, "umbra fork "+at.Name+" -- COMMAND",
			"%s was fetched, and its agent %s is none that Umbra can start: say what is to run here", at.Name, agent)
	}
	if len(r.Command) > 0 {
		agent = f.AgentOf(r.Command)
		program = agent
	}
	if r.Again {
		prompt = "--again"
	}
	if r.Headless {
		if err := f.CheckHeadless(agent, program); err != nil {
			return err
		}
	}
	return cmp.Or(f.CheckModel(agent, program, r.Model), f.CheckPrompt(agent, program, prompt))
}

// checkRequest refuses a request that is not complete, contradicts itself, or has what no
// record may have.
func checkRequest(r missions.ForkRequest) error {
	return cmp.Or(r.Check(), projects.MayRecord(r.Command))
}

// ForkPoint is the snapshot to fork from: of the source as it is now, after its turn
// has ended, or of the moment that the request names. present says that it is of now.
func (f *Forker) ForkPoint(ctx context.Context, r missions.ForkRequest) (at addresses.ResolvedMoment, present bool, err error) {
	moment := missions.Moment{}
	if r.From != "" {
		if moment, err = missions.ParseMoment(r.From); err != nil {
			return addresses.ResolvedMoment{}, false, err
		}
	}
	reach := addresses.InAnyProject
	if moment.Base == "" {
		reach = addresses.InProject // a workspace is not made of a guess
	}
	if moment.Form != missions.MomentNewest {
		at, err = f.addresses.FindMoment(ctx, r.Caller, r.From, reach)
		return at, false, err
	}
	m, snapshot, err := f.addresses.FindMomentBase(ctx, r.Caller, moment, reach)
	if err != nil {
		return addresses.ResolvedMoment{}, false, err
	}
	if !snapshot.IsZero() {
		at, err = addresses.MomentBack(m, snapshot, 0)
		return at, false, err
	}
	if m, err = f.presence.ReloadMission(ctx, m); err != nil {
		return addresses.ResolvedMoment{}, false, err
	}
	if r.NoWait && missions.InTurn(m.Lifecycle) {
		s, err := m.Project.NthFinishedTurn(m.Name, m.Tip.ID, 1)
		return addresses.ResolvedMoment{Mission: m, Snapshot: s}, false, err
	}
	if m.CheckMachine() == nil { // nobody is at work here in one of another machine
		if m, err = f.awaitIdle(ctx, m, r.Timeout); err != nil {
			return addresses.ResolvedMoment{}, false, err
		}
	}
	at, err = f.takeSourceSnapshot(ctx, m, false)
	return at, true, err
}

// awaitIdle waits until a mission is in no turn, and says what it waits for.
func (f *Forker) awaitIdle(ctx context.Context, m *projects.Mission, timeout time.Duration) (*projects.Mission, error) {
	if timeout <= 0 {
		timeout = defaultIdleWait
	}
	deadline := f.Now().Add(timeout)
	said := map[string]bool{} // between two tools it is again what it was before
	for f.presence.IsAgentEngaged(ctx, m) {
		if text := waitingText(m); !said[text] {
			said[text] = true
			missions.Notify(ctx, missions.Notice{Text: text})
		}
		if !f.Now().Before(deadline) {
			return nil, missions.Errorf(missions.KindTimeout, fmt.Sprintf("umbra fork %s --no-wait forks from its last finished turn", m.Name),
				"%s is still in turn %d after %s", m.Name, m.Lifecycle.LastTurn(), timeout)
		}
		if err := projects.Sleep(ctx, projects.PollInterval); err != nil {
			return nil, err
		}
		var err error
		if m, err = f.presence.ReloadMission(ctx, m); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// waitingText says what a running mission does, or what the user must do in it.
func waitingText(m *projects.Mission) string {
	if action := presence.PendingAction(m); action != "" && !missions.InTurn(m.Lifecycle) {
		return fmt.Sprintf("waiting for what is done in %s: %s", m.Name, action)
	}
	text := fmt.Sprintf("waiting for %s to end turn %d", m.Name, m.Lifecycle.LastTurn())
	r, _ := m.Lifecycle.(missions.Running)
	switch {
	case len(r.Pending) > 0:
		return text + ": it asks its user about " + missions.OneLine(r.Pending[0].Tool, r.Pending[0].Target)
	case r.Tool != nil:
		return text + ": it runs " + missions.OneLine(r.Tool.Name, r.Tool.Target)
	}
	return text
}

// takeSourceSnapshot takes a snapshot of the source. If its workspace is gone, the
// newest snapshot is forked. whole says that the agent has rewritten the conversation,
// so that all of it is to be compared.
func (f *Forker) takeSourceSnapshot(ctx context.Context, m *projects.Mission, whole bool) (addresses.ResolvedMoment, error) {
	if m.Remote != "" {
		return addresses.MomentBack(m, m.Tip.ID, 0)
	}
	if moved := m.Whereabouts(""); moved != "" {
		return addresses.ResolvedMoment{}, m.MovedError(moved)
	}
	if m.IsWorkspaceGone() && !m.IsWorkspaceCopied() {
		missions.Notify(ctx, missions.Notice{Text: fmt.Sprintf("the workspace of %s is not there: forking from its newest snapshot", m.Name)})
		return addresses.MomentBack(m, m.Tip.ID, 0)
	}
	take := missions.TakeSnapshot{Trigger: missions.TriggerFork, Message: "forked", OnlyIfChanged: !whole, CompareWholeSession: whole, CompareModes: true}
	answer, err := f.snapshots.SubmitRequest(ctx, m.Project, m.ID, &snapshots.Request{Take: &take})
	if err != nil {
		return addresses.ResolvedMoment{}, err
	}
	t, _ := answer.LastSnapshot()
	return addresses.MomentBack(answer.Mission, t.Snapshot.ID, 0)
}

// makeForks makes all forks, or none. Names and journal entries come first, then
// workspaces, then conversations and records. Each fork's ref comes last: it is the
// commit point.
func (f *Forker) makeForks(ctx context.Context, at forkPoint, r missions.ForkRequest, result *missions.ForkResult) (err error) {
	jobs, err := f.ReserveNames(ctx, at.ResolvedMoment, r)
	published := 0
	defer func() {
		for _, job := range jobs[published:] {
			// The user's Ctrl-C ends the fork, not its taking away.
			err = errors.Join(err, job.discard(context.WithoutCancel(ctx)))
		}
	}()
	if err != nil {
		return err
	}
	for _, job := range jobs {
		job.moment = at
		if at.isPresent && !r.InPlace {
			for _, problem := range presence.UnforkedProblems(at.Mission, job.copiesIgnored()) {
				job.notes = append(job.notes, problem.Message+", and not in the fork")
			}
		}
		if err := job.MakeWorkspace(ctx); err != nil {
			return err
		}
	}
	if err := f.completeJobs(ctx, jobs); err != nil {
		return err
	}
	for _, job := range jobs {
		m, err := job.publish(ctx)
		if err != nil {
			if published > 0 {
				err = fmt.Errorf("%d of %d forks were made, from %s on: %w", published, len(jobs), jobs[0].name, err)
			}
			return err
		}
		failpoint.Hit("fork.named")
		published++
		if err := job.Operation.Finish(); err != nil {
			job.notes = append(job.notes, fmt.Sprintf("the journal still has it (%v): umbra doctor --fix", err))
		}
		if err := f.conversations.ImportConversation(ctx, m, r.Caller); err != nil {
			job.notes = append(job.notes, conversations.NotImportedNote(m, err))
		}
		job.reportTo(result)
		result.Missions = append(result.Missions, f.presence.MissionView(m))
	}
	return nil
}

// completeJobs makes what forks have besides their workspaces, and makes all of it
// durable. Caches need not be durable: they are written while the disk is busy with the
// rest.
func (f *Forker) completeJobs(ctx context.Context, jobs []*forkJob) error {
	for _, job := range jobs {
		if err := job.complete(ctx); err != nil {
			return err
		}
	}
	synced := make(chan error, 1)
	go func() { synced <- f.syncJobs(jobs) }()
	for _, job := range jobs {
		job.writeStatCache()
	}
	return <-synced
}

// syncJobs makes the workspaces of forks durable before anybody is told of them, with
// one wait for each file system.
func (f *Forker) syncJobs(jobs []*forkJob) error {
	var made []*fork.Made
	for _, job := range jobs {
		if !job.request.InPlace {
			made = append(made, job.Made)
		}
	}
	if len(made) == 0 {
		return nil
	}
	if _, err := f.SyncForks(made); err != nil {
		return missions.Errorf(missions.KindFailed, "look at the disk; what was made is taken away again", "%w", err)
	}
	return nil
}
