package agents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// Launch says how a keeper is to start a mission's agent, and puts in place
// what the agent needs for it: a missing session file, the hooks of this launch.
func (l *Launcher) Launch(ctx context.Context, r missions.LaunchRequest) (missions.Launch, error) {
	if err := projects.MayRecord(r.Command); err != nil {
		return missions.Launch{}, err
	}
	m, err := l.addresses.FindMission(ctx, r.Caller, r.Mission, addresses.InProject)
	if err != nil {
		return missions.Launch{}, err
	}
	if err := l.checkLaunch(m, r.KeeperPID); err != nil {
		return missions.Launch{}, err
	}
	if m, err = l.Recreate(ctx, m, r); err != nil {
		return missions.Launch{}, err
	}
	release, err := l.lockLaunches(ctx, r.Caller)
	if err != nil {
		return missions.Launch{}, err
	}
	defer release()
	if err := l.CheckLiveLimit(r.Caller, m.ID); err != nil {
		return missions.Launch{}, err
	}
	var launch missions.Launch
	err = l.WithRecoveredWorkspace(ctx, m, func(m *projects.Mission) error {
		if err := l.checkLaunch(m, r.KeeperPID); err != nil {
			return err
		}
		m.Live.Handover, m.Live.Notice = nil, "" // of a keeper that is gone
		launch, err = l.PrepareLaunch(ctx, m, r)
		return err
	})
	return launch, err
}

// checkLaunch refuses a mission that has an agent, here or outside Umbra, or that
// another keeper than this one is about to give one.
func (l *Launcher) checkLaunch(m *projects.Mission, keeper int) error {
	if err := m.CheckMachine(); err != nil {
		return err
	}
	if p, alive := m.Live.LivingProcess(); alive && p.PID != keeper {
		return missions.Errorf(missions.KindBusy, fmt.Sprintf("go to it, or: umbra mission stop %s", m.Name), "mission %s is live already (pid %d)", m.Name, p.PID)
	}
	if l.presence.IsAgentHidden(m) {
		return missions.Errorf(missions.KindBusy, presence.HiddenAgentHint(m), "mission %s may be live: its process can't be seen from here", m.Name)
	}
	if pid, alive := l.presence.SessionProcess(m); alive {
		return missions.Errorf(missions.KindBusy, "end it first", "the session of mission %s is open in another %s (pid %d)", m.Name, m.Agent, pid)
	}
	return nil
}

// PrepareLaunch makes the command line. The caller holds the workspace.
func (l *Launcher) PrepareLaunch(ctx context.Context, m *projects.Mission, r missions.LaunchRequest) (missions.Launch, error) {
	command := m.Command
	if len(r.Command) > 0 {
		command = r.Command
	}
	if err := l.CheckPrompt(m.Agent, m.AgentName(), r.Prompt); err != nil {
		return missions.Launch{}, err
	}
	launch := missions.Launch{ID: l.NewID(), Argv: command, Dir: m.Cwd(), Env: map[string]string{
		"UMBRA_MISSION": m.ID,
		"UMBRA_HOME":    l.Home.Dir,
	}}
	if info, err := os.Stat(launch.Dir); err != nil || !info.IsDir() {
		launch.Dir = m.Binding.Workspace
		launch.Notes = append(launch.Notes, fmt.Sprintf("%s is no longer there: the agent starts in %s", m.Cwd(), m.Binding.Workspace))
	}
	m.Live.HasHooks, m.Live.BoundSession, m.Live.LaunchID, m.Live.HeardSinceLaunch = false, "", launch.ID, false
	m.Live.Problem, m.Live.OutsideDir, m.Live.RefusedCall = "", "", nil
	l.SwitchToThisBoot(m)
	m.Live.LaunchedAt, m.Live.MissingHooks, m.Live.Numbering = l.InstantNow(), nil, nil
	if r.KeeperPID > 0 {
		keeper := l.ProcessByPID(r.KeeperPID)
		m.Live.Keeper, m.Live.Agent, m.Live.KeeperChild = &keeper, nil, nil
	}
	changed := !slices.Equal(m.Command, command)
	m.Command = command
	if a := l.Adapter(m.Agent); a != nil {
		moved, err := l.prepareAgentCommand(ctx, m, a, r, &launch)
		if err != nil {
			return missions.Launch{}, err
		}
		changed = changed || moved
	}
	for _, name := range r.EnvNames {
		if !slices.Contains(m.EnvNames, name) {
			m.EnvNames, changed = append(m.EnvNames, name), true
		}
	}
	if changed {
		if err := l.snapshots.WriteMetaRecord(ctx, m, "launch"); err != nil {
			return missions.Launch{}, err
		}
	}
	l.SaveLiveState(m)
	launch.Mission = l.presence.MissionView(m)
	return launch, nil
}

// prepareAgentCommand lets the adapter make the command line of an agent it knows. It
// reports whether the mission's session has become another one.
func (l *Launcher) prepareAgentCommand(ctx context.Context, m *projects.Mission, a sessions.Adapter, r missions.LaunchRequest, launch *missions.Launch) (bool, error) {
	resume, err := l.HasSessionFile(m, a)
	if err != nil {
		return false, err
	}
	if resume {
		err := l.conversations.ImportConversation(ctx, m, r.Caller)
		if errors.Is(err, conversations.ErrSubagentsNotImported) {
			missions.Notify(ctx, missions.Notice{Text: conversations.NotImportedNote(m, err)})
		} else if err != nil {
			return false, missions.Errorf(missions.KindFailed, "umbra mission resume "+m.Name+" tries again", "%s can't take the conversation of %s: %w", m.Agent, m.Name, err)
		}
	}
	id, prompt := m.Stored.Session, r.Prompt
	if id == "" {
		id = l.NewSession(a)
	}
	sent, fresh := m.FirstPrompt != "" || m.FreshCommand, m.FreshCommand || len(r.Command) > 0
	if prompt == "" {
		prompt = m.FirstPrompt
	}
	m.FirstPrompt, m.FreshCommand = "", false
	config, moved, err := l.launchConfig(ctx, m, r.Config, launch)
	if err != nil {
		return false, err
	}
	cmd, err := a.Launch(sessions.Launch{
		Config: config,
		Env:    m.AdapterEnv(), Dir: launch.Dir, Command: m.Command, SessionID: id, Resume: resume, Fresh: fresh, Again: m.Lifecycle.LastTurn() > 0, Prompt: prompt,
		How: m.ResumeCommand, Transcript: m.Binding.SessionPath,
		HookCommand: HookCommand(r.Caller.Binary, a.Name()), SettingsDir: l.presence.LaunchDir(m),
		ReadFile: func(name string) ([]byte, error) { return os.ReadFile(projects.AbsolutePath(launch.Dir, name)) },
	})
	if err != nil {
		return false, missions.Errorf(missions.KindUsage, "", "%s: %w", m.AgentName(), err)
	}
	if resume && !fresh && !m.CanCopyConversation(a) {
		launch.Notes = append(launch.Notes, m.NoCopyReason())
	}
	addConfigNotes(m, config, cmd, launch)
	if err := l.placeLaunchFiles(m, cmd.Files); err != nil {
		return false, err
	}
	launch.Argv, m.Live.HasHooks = cmd.Argv, cmd.Hooked
	maps.Copy(launch.Env, cmd.Env)
	if resume {
		KeepSessionStore(m, a, launch)
	}
	if note := presence.UntriedClient(a, m.Live.ClientVersion); note != "" {
		launch.Notes = append(launch.Notes, note)
	}
	if !cmd.Hooked {
		m.Live.Numbering = &projects.TurnNumbering{}
		if cmd.Why != "" {
			launch.Notes = append(launch.Notes, "without hooks: "+cmd.Why)
			m.Live.MissingHooks = presence.NewMissingHooks(m, cmd.Why)
		}
	}
	if cmd.SessionID == "" || cmd.SessionID == m.Stored.Session {
		return sent || moved, nil
	}
	if m.Stored.Session != "" {
		m.FormerSessions = append(m.FormerSessions, m.Stored.Session)
	}
	m.Stored.Session = cmd.SessionID
	m.Binding.SessionPath = a.Path(m.AdapterEnv(), projects.ResolveLinks(launch.Dir), cmd.SessionID)
	return true, nil
}

// KeepSessionStore has the session that an agent goes on with looked for where it is: the
// shell that it is resumed in may name another store than the one it was begun in.
// Where the session is in neither, the shell's word counts.
func KeepSessionStore(m *projects.Mission, a sessions.Adapter, launch *missions.Launch) {
	r, ok := a.(sessions.Relocatable)
	if !ok {
		return
	}
	env := m.AdapterEnv()
	root := a.Root(env)
	if !home.IsWithin(root, m.Binding.SessionPath) && !home.IsWithin(projects.ResolveLinks(root), m.Binding.SessionPath) {
		return
	}
	for _, name := range r.StoreVariables() {
		if value := env.Vars[name]; value != "" {
			launch.Env[name] = value
		} else {
			launch.Unset = append(launch.Unset, name)
		}
	}
}

// placeLaunchFiles places the files of a launch, and takes away those of an earlier one.
func (l *Launcher) placeLaunchFiles(m *projects.Mission, files []sessions.File) error {
	if err := os.RemoveAll(l.presence.LaunchDir(m)); err != nil {
		return fmt.Errorf("take away what an earlier launch had: %w", err)
	}
	for _, f := range files {
		if err := conversations.PlaceFile(l.Home.Dir, f); err != nil {
			return err
		}
	}
	return nil
}

// HookCommand is the one command line for an agent's hooks, byte for byte the
// same wherever it is installed, so that the agent runs it once. A Go program
// that dies (no memory, no thread, no descriptor to be had) exits with 2, by
// which a hook forbids what its agent is about to do: the shell makes that a
// failure of the hook, which agents show and go on.
func HookCommand(binary, agent string) string {
	if binary == "" {
		return ""
	}
	return home.ShellQuote(binary) + " hook " + agent + " || exit 1"
}

// Stop ends the agents of missions: SIGTERM, and SIGKILL after five seconds.
func (l *Launcher) Stop(ctx context.Context, r missions.StopRequest) ([]missions.Mission, error) {
	list, err := l.addresses.FindMissions(ctx, r.Caller, r.Missions)
	if err != nil {
		return nil, err
	}
	stopped := []missions.Mission{}
	for _, m := range list {
		if err := l.StopAgent(ctx, m, r.Force); err != nil {
			return stopped, err
		}
		fresh, err := l.LoadMission(m.Project, m.ID)
		if err != nil {
			return stopped, err
		}
		stopped = append(stopped, l.presence.MissionView(fresh))
	}
	return stopped, nil
}

const StopPatience = 5 * time.Second

func (l *Launcher) StopAgent(ctx context.Context, m *projects.Mission, force bool) error {
	if l.IsHandoverOwned(m.Live.Handover) {
		return missions.Errorf(missions.KindBusy, "wait a moment and try again", "the agent of %s is being ended: %s", m.Name, m.Live.Handover)
	}
	if !missions.HasAgent(m.Lifecycle) && !m.Live.HasKeeper() {
		return nil // stopped already
	}
	known := m.Live.Agent
	if known == nil {
		if pid, alive := l.presence.SessionProcess(m); alive {
			owner := l.ProcessByPID(pid)
			known = &owner
		}
	}
	switch {
	case known == nil && !force && !l.presence.IsAgentGone(m):
		return missions.Errorf(missions.KindFailed, presence.HiddenAgentHint(m), "which process %s runs in is not known", m.Name)
	case l.presence.IsAgentHidden(m) && !force:
		return missions.Errorf(missions.KindFailed, presence.HiddenAgentHint(m), "the process of %s can't be seen from here: it runs in another container, or too little was noted of it", m.Name)
	case known == nil || known.Liveness() != lock.Alive:
		return l.presence.CloseLostMission(ctx, m)
	}
	agent := *known
	if err := TerminateProcess(ctx, agent, StopPatience); err != nil {
		return missions.Errorf(missions.KindFailed, "", "stop %s (pid %d): %w", m.Name, agent.PID, err)
	}
	// Its keeper reports the end; without one nobody does.
	deadline := l.Now().Add(StopPatience)
	for m.Live.HasKeeper() && l.Now().Before(deadline) {
		fresh, err := l.LoadMission(m.Project, m.ID)
		if err != nil || !missions.HasAgent(fresh.Lifecycle) {
			return err
		}
		if err := projects.Sleep(ctx, projects.PollInterval); err != nil {
			return err
		}
		m = fresh
	}
	return l.closeStoppedMission(ctx, m)
}

// closeStoppedMission closes a mission whose agent Umbra has ended. Who saw no more of that than a
// process that is gone may have closed it before.
func (l *Launcher) closeStoppedMission(ctx context.Context, m *projects.Mission) error {
	return l.presence.CloseDeadMission(ctx, m, func(m *projects.Mission) (missions.Event, bool) {
		c, closed := m.Lifecycle.(missions.Closed)
		return missions.AgentStopped{}, missions.HasAgent(m.Lifecycle) || closed && c.Reason == missions.CloseReasonLost
	})
}

func (l *Launcher) HasSessionFile(m *projects.Mission, a sessions.Adapter) (bool, error) {
	if m.Stored.Session == "" || m.Binding.SessionPath == "" {
		return false, nil
	}
	conversations.FindSessionFile(m, a)
	s, err := a.Open(m.Binding.SessionPath)
	switch {
	case errors.Is(err, sessions.ErrNoSession), errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("session of %s: %w", m.Name, err)
	}
	return s.Size > 0, nil
}
