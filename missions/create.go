package missions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/sessions"
)

// newMission is everything a mission begins with.
type newMission struct {
	id, name, agent string
	command         []string
	tool            string   // its own name, if it is one that Umbra does not know
	resume          []string // and how it is resumed
	ground          ground   // of the directory the agent runs in
	root            string   // the workspace
	subdir          string   // of root, "." for root itself
	session         string
	transcript      string
	adopted         bool
	named           bool // the name was given: it is that or none
	env             sessions.Environ
	adapter         sessions.Adapter
	life            Lifecycle
	prompt          string // for the agent's first start, if that comes later
	envNames        []string
	startedIn       string // the mission whose agent started this one
	config          string // the version of the agent's configuration
	provisional     bool   // published when a later snapshot differs
	force           bool
}

// NewMission makes a mission without a parent and takes its first snapshot.
func (l *Local) NewMission(ctx context.Context, r NewMissionRequest) (Mission, error) {
	n, err := l.plan(r)
	if err != nil {
		return Mission{}, err
	}
	if r.Launching {
		if err := l.mayBegin(r.Caller, n.id); err != nil {
			return Mission{}, err // before anything is made
		}
	}
	if n.config, err = l.keepConfig(ctx, n.agent, n.env); err != nil {
		l.log.Warn("a mission begins without it", "mission", n.id, "error", err)
	}
	m, err := l.create(ctx, n)
	if err != nil {
		return Mission{}, err
	}
	v := l.view(m)
	v.Problems = append(v.Problems, l.neighbours(m)...)
	return v, nil
}

// plan turns a request into a mission to be made: workspace, agent, command.
func (l *Local) plan(r NewMissionRequest) (newMission, error) {
	n := newMission{id: l.newID(), env: callerEnv(r.Caller), life: Initializing{}, envNames: r.EnvNames, force: r.Force}
	var err error
	if n.ground, err = survey(r.Caller.Cwd); err != nil {
		return n, err
	}
	n.root = n.ground.Top
	if r.Workspace != "" {
		g, err := survey(joinPath(r.Caller.Cwd, r.Workspace))
		if err != nil {
			return n, err
		}
		n.root = g.Dir
		if !within(g.Dir, n.ground.Dir) {
			n.ground = g
		}
	}
	if n.subdir, err = filepath.Rel(n.root, n.ground.Dir); err != nil {
		return n, err
	}
	if n.agent, n.command, err = l.chooseAgent(r); err != nil {
		return n, err
	}
	n.adapter = l.adapter(n.agent)
	if err := l.mayPrompt(n.agent, n.agent, r.Prompt); err != nil {
		return n, err
	}
	if !r.Launching {
		n.prompt = r.Prompt
	}
	if r.Name != "" {
		if err := CheckName(r.Name); err != nil {
			return n, err
		}
		n.name, n.named = r.Name, true
	} else {
		n.name = nameFromPrompt(r.Prompt)
	}
	return n, nil
}

// joinPath is path as seen from dir.
func joinPath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// chooseAgent finds the agent and its command: as given, else the first known
// one on the caller's PATH, else the caller's shell.
func (l *Local) chooseAgent(r NewMissionRequest) (agent string, command []string, err error) {
	if len(r.Command) > 0 {
		if r.Command[0] == "" {
			return "", nil, Errorf(KindUsage, "umbra mission new -- COMMAND", "the command is empty")
		}
		agent = l.agentOf(r.Command)
		if r.Agent != "" && !l.knows(r.Agent) {
			return "", nil, l.unknownAgent(r.Agent)
		}
		if r.Agent != "" {
			agent = r.Agent
		}
		return agent, r.Command, mayRecord(r.Command)
	}
	if r.Agent != "" {
		if !l.knows(r.Agent) {
			return "", nil, l.unknownAgent(r.Agent)
		}
		return r.Agent, []string{r.Agent}, nil
	}
	for _, a := range l.adapters {
		if onPath(r.Caller.Env["PATH"], a.Name()) {
			return a.Name(), []string{a.Name()}, nil
		}
	}
	shell := r.Caller.Env["SHELL"]
	if shell == "" {
		shell = "/bin/sh"
	}
	return filepath.Base(shell), []string{shell}, nil
}

// knows reports whether a name is that of an agent, which Umbra can start.
func (l *Local) knows(name string) bool {
	a := l.adapter(name)
	return a != nil && !isForeign(a)
}

func (l *Local) unknownAgent(name string) error {
	var known []string
	for _, a := range l.adapters {
		known = append(known, a.Name())
	}
	return Errorf(KindUsage, "for any other command: umbra mission new -- COMMAND", "no agent %q; Umbra knows %s", name, strings.Join(known, ", "))
}

// onPath reports whether a program of that name is in one of PATH's
// directories.
func onPath(path, name string) bool {
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) {
			if _, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return true
			}
		}
	}
	return false
}

// create makes the mission's project if needed, takes the first snapshot and
// publishes both with the mission's ref. A mission that is there already, made
// by another process meanwhile, is returned as it is.
func (l *Local) create(ctx context.Context, n newMission) (*loaded, error) {
	if err := l.checkRoot(n); err != nil {
		return nil, err
	}
	g, err := survey(n.root)
	if err != nil {
		return nil, err
	}
	p, err := l.ensureProject(ctx, g)
	if err != nil {
		return nil, err
	}
	m, err := l.createIn(ctx, p, g, n)
	if err == nil {
		l.nobodys.admit(n.root)
		return m, nil
	}
	if m, there := l.load(p, n.id); there == nil {
		return m, nil
	}
	if _, gone := os.Stat(p.Dir); errors.Is(gone, fs.ErrNotExist) && ctx.Err() == nil {
		return l.create(ctx, n) // it was empty, and whoever else began there failed
	}
	return nil, errors.Join(err, l.removeEmpty(p))
}

// createIn makes the mission in a project.
func (l *Local) createIn(ctx context.Context, p *project, g ground, n newMission) (*loaded, error) {
	if _, err := l.nameFor(p, n); err != nil {
		return nil, err // before anything is read
	}
	if err := l.addPlace(ctx, p, g.Dir, g.Place); err != nil {
		return nil, fmt.Errorf("note the workspace: %w", err)
	}
	m := l.blank(p, n, g)
	hold := l.locked
	if n.adopted {
		hold = l.holding // a hook waits for it
	}
	err := hold(ctx, m, func(blank *loaded) error {
		if there, err := l.load(p, n.id); err == nil {
			m = there
			return nil
		}
		_, err := l.commit(ctx, blank, &wanted{
			Take:     Take{Trigger: TriggerManual, Of: n.life},
			triggers: Triggers{TriggerManual}, provisional: n.provisional, first: &n,
		})
		if err == nil {
			l.saveLive(blank)
			if n.adopted {
				l.automate(blank, OnReady)
			}
		}
		return err
	})
	return m, err
}

// checkRoot refuses what must not be a workspace.
func (l *Local) checkRoot(n newMission) error {
	err := l.mayBeRoot(n.root, n.env.Home, n.force)
	var refused *capture.RootError
	if errors.As(err, &refused) {
		hint := "name another directory with --workspace DIR"
		if refused.Reason.Overridable() {
			hint += "; --force insists"
		}
		return Errorf(KindConflict, hint, "%w", err)
	}
	return err
}

// mayBeRoot proves that a directory may be a workspace; home is its user's.
func (l *Local) mayBeRoot(root, home string, force bool) error {
	_, err := capture.CheckRoot(capture.RootCheck{Root: root, Home: home, UmbraHome: l.home.Dir, Force: force})
	return err
}

// blank is a mission before its first snapshot, which names it.
func (l *Local) blank(p *project, n newMission, g ground) *loaded {
	now := l.now()
	m := &loaded{project: p, life: n.life, since: now}
	m.stored = stored{
		Format: recordFormat, ID: n.id, Agent: n.agent, Tool: n.tool, Resume: n.resume, Command: n.command, Since: now,
		CreatedAt: now, UpdatedAt: now, Session: n.session, EnvNames: n.envNames, Adopted: n.adopted,
		Unnamed: n.adopted && n.name == "", FirstPrompt: n.prompt, StartedIn: n.startedIn, Config: n.config,
	}
	if n.subdir != "." {
		m.Subdir = n.subdir
	}
	m.bind = binding{Machine: l.home.Machine, Workspace: g.Dir, Place: g.Place, Vars: keptVars(n.adapter, n.env), Session: n.transcript}
	if g.Repo != nil {
		m.bind.CommonDir = g.Repo.CommonDir
		m.bind.Scope = strings.TrimPrefix(strings.TrimPrefix(g.Dir, g.Top), "/")
	}
	return m
}

// keptVars are the variables that say where the agent keeps its sessions, and
// git its configuration.
func keptVars(a sessions.Adapter, env sessions.Environ) map[string]string {
	names := []string{"XDG_CONFIG_HOME"} // where git looks for the user's own excludes
	names = append(names, agentVariables(a)...)
	vars := map[string]string{"HOME": env.Home}
	for _, name := range names {
		if v, ok := env.Vars[name]; ok && v != "" {
			vars[name] = v
		}
	}
	return vars
}

// neighbours names the live missions that work in the same files.
func (l *Local) neighbours(m *loaded) []string {
	all, _ := l.missionsOf(m.project)
	var notes []string
	for _, o := range all {
		if o.ID == m.ID || !HasAgent(o.life) || !overlap(o.bind.Workspace, m.bind.Workspace) {
			continue
		}
		notes = append(notes, fmt.Sprintf("mission %s works in %s too; to give this one files of its own: umbra mission new --clone %s", o.Name, o.bind.Workspace, o.Name))
	}
	return notes
}

func overlap(a, b string) bool { return a != "" && b != "" && (within(a, b) || within(b, a)) }
