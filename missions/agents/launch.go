package agents

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/missions/updates"
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
	if m, err = awaitOrphanEnd(ctx, l.Desk, m); err != nil {
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

// checkLaunch refuses a mission that has an agent, in Umbra or outside of it, or whose
// agent another keeper is about to start.
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
	return l.CheckLending(m)
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
	presence.PutBackPrompt(m, presence.HasTakenPrompt(m)) // of a launch whose end nobody has reported
	headless := r.Headless || r.SumUp
	if headless {
		if err := l.CheckHeadless(m.Agent, m.AgentName()); err != nil {
			return missions.Launch{}, err
		}
		if r.Prompt == "" && m.FirstPrompt == "" {
			return missions.Launch{}, missions.Errorf(missions.KindUsage, "umbra mission resume "+m.Name, "%s has no prompt that is still to be sent", m.Name)
		}
	}
	launch := missions.Launch{ID: l.NewID(), Argv: command, Dir: m.Cwd(), Env: map[string]string{
		"UMBRA_MISSION": m.ID,
		"UMBRA_HOME":    l.Home.Dir,
	}, Unset: projects.SessionVariables()} // its caller may be an agent
	if info, err := os.Stat(launch.Dir); err != nil || !info.IsDir() {
		launch.Dir = m.Binding.Workspace
		launch.Notes = append(launch.Notes, fmt.Sprintf("%s is no longer there: the agent starts in %s", m.Cwd(), m.Binding.Workspace))
	}
	if problem := snapshots.LostWorktreeProblem(m); problem != nil {
		launch.Notes = append(launch.Notes, problem.Message+"; "+problem.Fix)
	}
	m.Live.Beside = m.Live.Beside && (m.Live.LaunchID == "" || m.Live.HasKeeper()) // until its first terminal ends
	m.Live.HasHooks, m.Live.BoundSession, m.Live.LaunchID, m.Live.HeardSinceLaunch = false, "", launch.ID, false
	m.Live.Headless, m.Live.Problem, m.Live.RefusedCall = r.Headless, "", nil
	if m.Live.OwedAnswer = ""; r.Headless && !r.Passing {
		m.Live.OwedAnswer = launch.ID
	}
	m.Live.Places, m.Live.SideFork = projects.WorkPlaces{}, nil // it has a terminal of its own again
	l.SwitchToThisBoot(m)
	m.Live.LaunchedAt, m.Live.MissingHooks, m.Live.Numbering = l.InstantNow(), nil, nil
	if r.KeeperPID > 0 {
		keeper := l.ProcessByPID(r.KeeperPID)
		m.Live.Keeper, m.Live.Agent, m.Live.KeeperChild, m.Live.KeeperPath = &keeper, nil, nil, keeperPath(m, r)
	}
	if parent := l.ParkedParent(m); parent != nil && !headless {
		launch.LookIn = parent.Live.SideFork.IdleTimeout
	}
	if headless {
		launch.Output = l.Home.OutputFile(m.ID)
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

// keeperPath is the PATH in which a keeper looks for the program of an agent, "" where its user
// has given the agent another, whose value the keeper alone knows.
func keeperPath(m *projects.Mission, r missions.LaunchRequest) string {
	if slices.Contains(m.EnvNames, "PATH") || slices.Contains(r.EnvNames, "PATH") {
		return ""
	}
	return r.Caller.Env["PATH"]
}

// CheckProgram refuses a mission whose program a keeper would not find that looks for it in a
// PATH. A PATH that is not known refuses nothing.
func CheckProgram(m *projects.Mission, path string) error {
	if path == "" || len(m.Command) == 0 {
		return nil
	}
	dir := m.Cwd()
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = m.Binding.Workspace
	}
	_, err := missions.LookPath(m.Command[0], dir, path)
	return err
}

// prepareAgentCommand lets the adapter make the command line of an agent that it knows.
// It reports whether the record of the mission has changed.
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
		prompt = m.WholeFirstPrompt()
	}
	if !r.SumUp && !r.Passing { // the user's prompt, if one is kept, stays for the next launch
		m.SetFirstPrompt("")
		m.HoldSentPrompt(prompt)
	}
	m.FreshCommand = false
	config, moved, err := l.launchConfig(ctx, m, r.Config, launch)
	if err != nil {
		return false, err
	}
	command := m.Command
	if h, ok := a.(sessions.Headless); ok && (r.Headless || r.SumUp) {
		command, _ = h.Headless(command)
	}
	program, _ := missions.LookPath(command[0], launch.Dir, r.Caller.Env["PATH"]) // "" where the shell says it better
	cmd, news, err := agentCommand(l.updates, m, a, sessions.Launch{
		Config: config,
		Env:    m.AdapterEnv(), Dir: launch.Dir, Command: command, SessionID: id, Resume: resume, Fresh: fresh, Again: m.Lifecycle.LastTurn() > 0, Prompt: prompt,
		Marks: maps.Clone(launch.Env), Resumption: sessions.Resumption{How: m.ResumeCommand, Transcript: m.Binding.SessionPath},
		Hooks: sessions.LaunchHooks{Command: HookCommand(r.Caller.Binary, a.Name()), Program: program}, Server: toolServer(l.HookConfig(r.Caller), r), SettingsDir: l.presence.LaunchDir(m),
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
	if news != nil {
		l.updates.MarkGiven(m, news)
	}
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

// agentCommand is the adapter's command line. An agent that no hook can give the updates
// for it is sent them in front of the prompt that it is launched with.
func agentCommand(u *updates.Courier, m *projects.Mission, a sessions.Adapter, with sessions.Launch) (sessions.Command, *updates.Delivery, error) {
	cmd, err := a.Launch(with)
	if err != nil || cmd.Hooked || with.Prompt == "" {
		return cmd, nil, err
	}
	news := u.Prepare(m, "", "")
	if news == nil {
		return cmd, nil, nil
	}
	with.Prompt = news.Context + "\n\n" + with.Prompt
	cmd, err = a.Launch(with)
	return cmd, news, err
}
