package agents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/sessions"
)

// NewMission makes a mission without a parent and takes its first snapshot.
func (l *Launcher) NewMission(ctx context.Context, r missions.NewMissionRequest) (missions.Mission, error) {
	n, err := l.planMission(r)
	if err != nil {
		return missions.Mission{}, err
	}
	if r.Launching {
		if err := l.CheckLiveLimit(r.Caller, n.ID); err != nil {
			return missions.Mission{}, err // before anything is made
		}
	}
	if n.ConfigCommit, err = l.SaveConfigVersion(ctx, n.Agent, n.Env); err != nil {
		l.Logger.Warn("a mission begins without it", "mission", n.ID, "error", err)
	}
	m, err := l.CreateMission(ctx, n)
	if err != nil {
		return missions.Mission{}, err
	}
	v := l.presence.MissionView(m)
	v.Problems = append(v.Problems, l.neighbourNotes(m)...)
	if problem := snapshots.IgnoredWorkspaceProblem(m); problem != nil {
		v.Problems = append(v.Problems, problem.Message+"; "+problem.Fix)
	}
	return v, nil
}

// planMission turns a request into a mission to be made: workspace, agent, command.
func (l *Launcher) planMission(r missions.NewMissionRequest) (projects.MissionPlan, error) {
	n := projects.MissionPlan{ID: l.NewID(), Env: projects.CallerEnv(r.Caller), Lifecycle: missions.Initializing{}, EnvNames: r.EnvNames, Force: r.Force}
	var err error
	if n.Directory, err = projects.InspectDirectory(r.Caller.Cwd); err != nil {
		return n, err
	}
	n.Workspace = n.Directory.Top
	if r.Workspace != "" {
		g, err := projects.InspectDirectory(projects.AbsolutePath(r.Caller.Cwd, r.Workspace))
		if err != nil {
			return n, err
		}
		n.Workspace = g.Dir
		if !home.IsWithin(g.Dir, n.Directory.Dir) {
			n.Directory = g
		}
	}
	if n.Subdir, err = filepath.Rel(n.Workspace, n.Directory.Dir); err != nil {
		return n, err
	}
	if n.Agent, n.Command, err = l.chooseAgent(r); err != nil {
		return n, err
	}
	n.Adapter = l.Adapter(n.Agent)
	if err := l.CheckPrompt(n.Agent, n.Agent, r.Prompt); err != nil {
		return n, err
	}
	if n.Adapter != nil {
		if err := checkCommand(n, l.NewSession(n.Adapter), r.Caller.Cwd); err != nil {
			return n, err
		}
	}
	if !r.Launching {
		n.FirstPrompt = r.Prompt
	}
	if r.Name != "" {
		if err := missions.CheckName(r.Name); err != nil {
			return n, err
		}
		n.Name, n.NameGiven = r.Name, !r.NameMade
	} else {
		n.Name = projects.NameFromPrompt(r.Prompt)
	}
	return n, nil
}

// checkCommand refuses a command that its adapter would launch at no time.
func checkCommand(n projects.MissionPlan, session, dir string) error {
	_, err := n.Adapter.Launch(sessions.Launch{
		Env: n.Env, Dir: dir, Command: n.Command, SessionID: session, Fresh: true,
		ReadFile: func(name string) ([]byte, error) { return os.ReadFile(projects.AbsolutePath(dir, name)) },
	})
	if err != nil {
		return missions.Errorf(missions.KindUsage, "", "%s: %w", n.Agent, err)
	}
	return nil
}

// CreateMission makes the mission's project if needed, takes the first snapshot, and
// publishes both with the mission's ref. If another process has made the mission
// meanwhile, it is returned as it is.
func (l *Launcher) CreateMission(ctx context.Context, n projects.MissionPlan) (*projects.Mission, error) {
	if err := l.checkPlanRoot(n); err != nil {
		return nil, err
	}
	g, err := projects.InspectDirectory(n.Workspace)
	if err != nil {
		return nil, err
	}
	p, err := l.FindOrCreateProject(ctx, g)
	if err != nil {
		return nil, err
	}
	m, err := l.createInProject(ctx, p, g, n)
	if err == nil {
		l.Unadopted.forgetRefusal(n.Workspace)
		return m, nil
	}
	if m, there := l.LoadMission(p, n.ID); there == nil {
		return m, nil
	}
	if _, gone := os.Stat(p.Dir); errors.Is(gone, fs.ErrNotExist) && ctx.Err() == nil {
		return l.CreateMission(ctx, n) // it was empty, and whoever else began there failed
	}
	return nil, errors.Join(err, l.RemoveEmptyProject(p))
}

// createInProject makes the mission in a project.
func (l *Launcher) createInProject(ctx context.Context, p *projects.Project, g projects.Directory, n projects.MissionPlan) (*projects.Mission, error) {
	if _, err := l.addresses.ChooseName(p, n); err != nil {
		return nil, err // before anything is read
	}
	if err := l.AddLocation(ctx, p, g.Dir, g.Identity); err != nil {
		return nil, fmt.Errorf("note the workspace: %w", err)
	}
	m := l.blankMission(p, n, g)
	hold := l.WithRecoveredWorkspace
	if n.Adopted {
		hold = l.WithWorkspaceLock // a hook waits for it
	}
	err := hold(ctx, m, func(blank *projects.Mission) error {
		if there, err := l.LoadMission(p, n.ID); err == nil {
			m = there
			return nil
		}
		_, err := l.snapshots.TakeSnapshot(ctx, blank, &snapshots.WantedSnapshot{
			TakeSnapshot: missions.TakeSnapshot{Trigger: missions.TriggerManual, Lifecycle: n.Lifecycle},
			Triggers:     missions.Triggers{missions.TriggerManual}, IsProvisional: n.Provisional, NewMission: &n,
		})
		if err == nil {
			l.SaveLiveState(blank)
			if n.Adopted && missions.HasAgent(n.Lifecycle) {
				l.StartAutomations(blank, missions.OnReady)
			}
		}
		return err
	})
	return m, err
}

// checkPlanRoot refuses what must not be a workspace.
func (l *Launcher) checkPlanRoot(n projects.MissionPlan) error {
	return refusedRootError(l.CheckRoot(n.Workspace, n.Env.Home, n.Force))
}

// CheckPlace refuses what must not become a workspace, whether it is there or not yet.
func (l *Launcher) CheckPlace(place, home string, force bool) error {
	return refusedRootError(capture.CheckPlace(capture.RootCheck{Root: place, Home: home, UmbraHome: l.Home.Dir, Force: force}))
}

func refusedRootError(err error) error {
	var refused *capture.RootError
	if errors.As(err, &refused) {
		hint := "name another directory with --workspace DIR"
		if refused.Reason.Overridable() {
			hint += "; --force insists"
		}
		return missions.Errorf(missions.KindConflict, hint, "%w", err)
	}
	return err
}

// CheckRoot proves that a directory may be a workspace; home is its user's.
func (l *Launcher) CheckRoot(root, home string, force bool) error {
	_, err := capture.CheckRoot(capture.RootCheck{Root: root, Home: home, UmbraHome: l.Home.Dir, Force: force})
	return err
}

// blankMission is a mission before its first snapshot, with which it gets its name.
func (l *Launcher) blankMission(p *projects.Project, n projects.MissionPlan, g projects.Directory) *projects.Mission {
	now := l.Now()
	m := &projects.Mission{Project: p, Lifecycle: n.Lifecycle, StateSince: now}
	m.Stored = projects.Stored{
		Format: projects.RecordFormat, ID: n.ID, Agent: n.Agent, ToolName: n.ToolName, ResumeCommand: n.ResumeCommand, Command: n.Command, RecordedStateSince: now,
		CreatedAt: now, UpdatedAt: now, Session: n.Session, EnvNames: n.EnvNames, Adopted: n.Adopted,
		Unnamed: n.Adopted && n.Name == "", NameGiven: n.NameGiven, StartedBy: n.StartedBy, Config: n.ConfigCommit,
	}
	m.SetFirstPrompt(n.FirstPrompt)
	if n.Subdir != "." {
		m.Subdir = n.Subdir
	}
	m.Binding = projects.Binding{Machine: l.Home.Machine, Workspace: g.Dir, Identity: g.Identity, AgentVars: AgentVars(n.Adapter, n.Env), SessionPath: n.Transcript}
	if g.Repo != nil {
		m.Binding.CommonDir = g.Repo.CommonDir
		m.Binding.PathInRepo = strings.TrimPrefix(strings.TrimPrefix(g.Dir, g.Top), "/")
	}
	return m
}

// AgentVars are the variables that say where the agent keeps its sessions, and
// git its configuration.
func AgentVars(a sessions.Adapter, env sessions.Environ) map[string]string {
	names := []string{"XDG_CONFIG_HOME"} // where git looks for the user's own excludes
	names = append(names, projects.AgentVariables(a)...)
	vars := map[string]string{"HOME": env.Home}
	for _, name := range names {
		if v, ok := env.Vars[name]; ok && v != "" {
			vars[name] = v
		}
	}
	return vars
}

// neighbourNotes names the live missions that work in the same files.
func (l *Launcher) neighbourNotes(m *projects.Mission) []string {
	all, _ := l.ProjectMissions(m.Project)
	var notes []string
	for _, o := range all {
		if o.ID == m.ID || !missions.HasAgent(o.Lifecycle) || !PathsOverlap(o.Binding.Workspace, m.Binding.Workspace) {
			continue
		}
		notes = append(notes, fmt.Sprintf("mission %s works in %s too; to give this one files of its own: umbra mission new --clone %s", o.Name, o.Binding.Workspace, o.Name))
	}
	return notes
}

func PathsOverlap(a, b string) bool {
	return a != "" && b != "" && (home.IsWithin(a, b) || home.IsWithin(b, a))
}
