package missions

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// defaultForkWait is how long a fork waits for a running source.
const defaultForkWait = 5 * time.Minute

// Fork makes missions that begin where another is now, or was. The source is
// byte for byte as it was; a fork that fails leaves nothing.
func (l *Local) Fork(ctx context.Context, r ForkRequest) (ForkResult, error) {
	if err := r.check(); err != nil {
		return ForkResult{}, err
	}
	if r.Launching {
		if err := l.mayBegin(r.Caller, ""); err != nil {
			return ForkResult{}, err // before anything is made
		}
	}
	at, present, err := l.forkPoint(ctx, r)
	if err != nil {
		return ForkResult{}, err
	}
	result, err := l.forkFrom(ctx, at, present, r)
	if errors.Is(err, errStrayed) {
		if at, err = l.snapshotForFork(ctx, at.loaded, true); err != nil {
			return ForkResult{}, err
		}
		result, err = l.forkFrom(ctx, at, false, r)
	}
	return result, err
}

// forkFrom makes the forks of one moment; present says that it is now.
func (l *Local) forkFrom(ctx context.Context, at found, present bool, r ForkRequest) (ForkResult, error) {
	result := ForkResult{}
	if at.bound() != nil { // its agent's stores here are those of who forks it
		at.bind.Vars = keptVars(l.adapter(at.Agent), callerEnv(r.Caller))
	}
	err := l.mayPromptFork(at, r)
	if err != nil {
		return ForkResult{}, err
	}
	if result.Source, err = l.entry(ctx, at.loaded, at.step, nil); err != nil {
		return ForkResult{}, err
	}
	if err := l.forkJobs(ctx, at, present, r, &result); err != nil {
		return ForkResult{}, err
	}
	return result, nil
}

// mayPromptFork refuses a prompt that the forks' agent could not be given.
func (l *Local) mayPromptFork(at found, r ForkRequest) error {
	agent, program, prompt := at.Agent, at.program(), r.Prompt
	if len(r.Command) > 0 {
		agent = l.agentOf(r.Command)
		program = agent
	}
	if r.Again {
		prompt = "--again"
	}
	return l.mayPrompt(agent, program, prompt)
}

func (r ForkRequest) check() error {
	switch {
	case r.Count < 0 || r.Count > 100:
		return Errorf(KindUsage, "give a number from 1 to 100", "--count %d makes no sense", r.Count)
	case r.Count > 0 && r.Workspace != "":
		return Errorf(KindUsage, "leave out --workspace", "%d forks can't share one workspace", r.Count)
	case r.Prompt != "" && r.Again:
		return Errorf(KindUsage, "choose one", "--prompt and --again contradict each other")
	case r.Ignored != "" && r.Ignored != "copy" && r.Ignored != "skip":
		return Errorf(KindUsage, "use copy or skip", "--ignored %s", r.Ignored)
	}
	if err := mayRecord(r.Command); err != nil || r.Name == "" {
		return err
	}
	return CheckName(r.Name)
}

// forkPoint is the snapshot to fork from: of the source as it is now, once its
// turn has ended, or of the moment that was named. Present says which.
func (l *Local) forkPoint(ctx context.Context, r ForkRequest) (at found, present bool, err error) {
	moment := Moment{}
	if r.From != "" {
		if moment, err = ParseMoment(r.From); err != nil {
			return found{}, false, err
		}
	}
	reach := reading
	if moment.Base == "" {
		reach = writing // a workspace is not made of a guess
	}
	if moment.At != Newest {
		at, err = l.findMoment(ctx, r.Caller, r.From, reach)
		return at, false, err
	}
	m, snapshot, err := l.findBase(ctx, r.Caller, moment, reach)
	if err != nil {
		return found{}, false, err
	}
	if !snapshot.IsZero() {
		at, err = m.stepBack(snapshot, 0)
		return at, false, err
	}
	if m, err = l.fresh(ctx, m); err != nil {
		return found{}, false, err
	}
	if r.NoWait && InTurn(m.life) {
		s, err := m.project.finished(m.Name, m.tip.ID, 1)
		return found{m, s}, false, err
	}
	if m.bound() == nil { // nobody is at work here in one of another machine
		if m, err = l.awaitIdle(ctx, m, r.Timeout); err != nil {
			return found{}, false, err
		}
	}
	at, err = l.snapshotForFork(ctx, m, false)
	return at, true, err
}

// awaitIdle waits until a mission is in no turn, saying what it waits for.
func (l *Local) awaitIdle(ctx context.Context, m *loaded, timeout time.Duration) (*loaded, error) {
	if timeout <= 0 {
		timeout = defaultForkWait
	}
	deadline := l.now().Add(timeout)
	said := map[string]bool{} // between two tools it is again what it was before
	for l.engaged(ctx, m) {
		if text := waitingFor(m); !said[text] {
			said[text] = true
			Notify(ctx, Notice{Text: text})
		}
		if !l.now().Before(deadline) {
			return nil, Errorf(KindTimeout, fmt.Sprintf("umbra fork %s --no-wait forks from its last finished turn", m.Name), "%s is still in turn %d after %s", m.Name, m.life.LastTurn(), timeout)
		}
		if err := pause(ctx, pollEvery); err != nil {
			return nil, err
		}
		var err error
		if m, err = l.fresh(ctx, m); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// waitingFor says what a running mission is at, or what is to be done in another.
func waitingFor(m *loaded) string {
	if action := m.action(); action != "" && !InTurn(m.life) {
		return fmt.Sprintf("waiting for what is done in %s: %s", m.Name, action)
	}
	text := fmt.Sprintf("waiting for %s to end turn %d", m.Name, m.life.LastTurn())
	r, _ := m.life.(Running)
	switch {
	case len(r.Pending) > 0:
		return text + ": it asks its user about " + oneLine(r.Pending[0].Tool, r.Pending[0].Target)
	case r.Tool != nil:
		return text + ": it runs " + oneLine(r.Tool.Name, r.Tool.Target)
	}
	return text
}

// snapshotForFork takes the source's snapshot, unless its workspace is gone:
// then it is forked as it was last. Whole says that its conversation is not what
// is recorded of it.
func (l *Local) snapshotForFork(ctx context.Context, m *loaded, whole bool) (found, error) {
	place, err := placeOf(m.bind.Workspace)
	if m.bind.Workspace == "" || err != nil || place != m.bind.Place {
		Notify(ctx, Notice{Text: fmt.Sprintf("the workspace of %s is not there: forking from its newest snapshot", m.Name)})
		return m.stepBack(m.tip.ID, 0)
	}
	answer, err := l.submit(ctx, m.project, m.ID, &request{take: &Take{Trigger: TriggerFork, What: "forked", OnlyIfChanged: !whole, Whole: whole}})
	if err != nil {
		return found{}, err
	}
	t, _ := answer.last()
	return answer.mission.stepBack(t.snapshot.ID, 0)
}

// forkJobs makes the forks, all or none: names and journal entries first, then
// workspaces, sessions and records, and at last each one's ref, which is its
// commit point.
func (l *Local) forkJobs(ctx context.Context, at found, present bool, r ForkRequest, result *ForkResult) (err error) {
	jobs, err := l.reserve(ctx, at, r)
	published := 0
	defer func() {
		for _, job := range jobs[published:] {
			// The user's Ctrl-C ends the fork, not its taking away.
			err = errors.Join(err, job.takeAway(context.WithoutCancel(ctx)))
		}
	}()
	if err != nil {
		return err
	}
	for _, job := range jobs {
		job.present = present
		if err := job.makeWorkspace(ctx); err != nil {
			return err
		}
	}
	if err := l.completeJobs(ctx, jobs); err != nil {
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
		if err := job.operation.Finish(); err != nil {
			job.notes = append(job.notes, fmt.Sprintf("the journal still has it (%v): umbra doctor --fix", err))
		}
		if err := l.importTalk(ctx, m, r.Caller); err != nil {
			job.notes = append(job.notes, notImported(m, err))
		}
		job.report(result)
		result.Missions = append(result.Missions, l.view(m))
	}
	return nil
}

// completeJobs makes what forks are besides their workspaces, and then all of it
// durable. The caches, which need not be, are written while the disk is.
func (l *Local) completeJobs(ctx context.Context, jobs []*forkJob) error {
	for _, job := range jobs {
		if err := job.complete(ctx); err != nil {
			return err
		}
	}
	synced := make(chan error, 1)
	go func() { synced <- l.syncJobs(jobs) }()
	for _, job := range jobs {
		job.handOver()
	}
	return <-synced
}

// syncJobs makes the workspaces of forks durable before anybody is told of them:
// one wait for each file system.
func (l *Local) syncJobs(jobs []*forkJob) error {
	made := make([]*fork.Made, len(jobs))
	for n, job := range jobs {
		made[n] = job.made
	}
	if _, err := l.syncForks(made); err != nil {
		return Errorf(KindFailed, "look at the disk; what was made is taken away again", "%w", err)
	}
	return nil
}

// reserve chooses the forks' names and places and opens their journal entries,
// which keep the names from others while the workspaces are made. With an error
// it returns those that are to be taken away.
func (l *Local) reserve(ctx context.Context, at found, r ForkRequest) ([]*forkJob, error) {
	config, err := l.configOf(r.Caller)
	if err != nil {
		return nil, err
	}
	choice, err := l.chooseConfig(ctx, at.loaded, r.Config)
	if err != nil {
		return nil, err
	}
	l.recoverForks(ctx, at.project)
	naming, err := l.naming(ctx, at.project)
	if err != nil {
		return nil, err
	}
	defer naming.Release()
	var jobs []*forkJob
	for n := range max(1, r.Count) {
		job := &forkJob{l: l, at: at, request: r, config: choice, limit: config.Fork.CopyLimit, id: l.newID()}
		if job.name, err = l.forkName(at, r, n); err != nil {
			return jobs, err
		}
		if job.directory, err = l.forkDirectory(at.project, r, config.Fork, job.name); err != nil {
			return jobs, err
		}
		if err := job.begin(); err != nil {
			return jobs, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// forkName is the fork's name: the one given, numbered where several are made.
func (l *Local) forkName(at found, r ForkRequest, n int) (string, error) {
	taken := l.taken(at.project)
	switch {
	case r.Name != "" && r.Count > 0:
		name := r.Name + "-" + itoa(n+1)
		if err := CheckName(name); err != nil {
			return "", err
		}
		return taken.given(name, "choose another name")
	case r.Name != "":
		return taken.given(r.Name, "choose another name")
	}
	if name := nameFromPrompt(r.Prompt); name != "" {
		return taken.free(name)
	}
	base := at.Name + "-fork"
	if len(base) > 56 {
		base = base[:56]
	}
	return taken.numbered(base)
}

// forkDirectory is where the fork's workspace goes.
func (l *Local) forkDirectory(p *project, r ForkRequest, config settings.Fork, name string) (string, error) {
	if r.Workspace != "" {
		return joinPath(r.Caller.Cwd, r.Workspace), nil
	}
	root := config.Root
	if rest, ok := strings.CutPrefix(root, "~/"); ok {
		home := r.Caller.Env["HOME"]
		if home == "" {
			return "", Errorf(KindUsage, "set fork.root in "+l.home.ConfigFile()+", or give --workspace DIR", "HOME is not set, so there is no place for the fork")
		}
		root = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(root) {
		return "", Errorf(KindUsage, "mend "+l.home.ConfigFile(), "fork.root %q is not absolute", root)
	}
	return filepath.Join(root, filepath.Base(p.Dir), name), nil
}
