package missions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/sessions"
)

// Launch says how a keeper is to start a mission's agent, and puts in place
// what the agent needs for it: a missing session file, the hooks of this launch.
func (l *Local) Launch(ctx context.Context, r LaunchRequest) (Launch, error) {
	if err := mayRecord(r.Command); err != nil {
		return Launch{}, err
	}
	m, err := l.findMission(ctx, r.Caller, r.Mission, writing)
	if err != nil {
		return Launch{}, err
	}
	if err := l.mayLaunch(m, r.KeeperID); err != nil {
		return Launch{}, err
	}
	if m, err = l.restored(ctx, m, r); err != nil {
		return Launch{}, err
	}
	release, err := l.launching(ctx, r.Caller)
	if err != nil {
		return Launch{}, err
	}
	defer release()
	if err := l.mayBegin(r.Caller, m.ID); err != nil {
		return Launch{}, err
	}
	var launch Launch
	err = l.locked(ctx, m, func(m *loaded) error {
		if err := l.mayLaunch(m, r.KeeperID); err != nil {
			return err
		}
		m.live.Handover, m.live.Notice = nil, "" // of a keeper that is gone
		launch, err = l.prepare(ctx, m, r)
		return err
	})
	return launch, err
}

// mayLaunch refuses a mission that has an agent, here or outside Umbra, or that
// another keeper than this one is about to give one.
func (l *Local) mayLaunch(m *loaded, keeper int) error {
	if err := m.bound(); err != nil {
		return err
	}
	if p, alive := m.live.process(); alive && p.PID != keeper {
		return Errorf(KindBusy, fmt.Sprintf("go to it, or: umbra mission stop %s", m.Name), "mission %s is live already (pid %d)", m.Name, p.PID)
	}
	if l.unseen(m) {
		return Errorf(KindBusy, unseenHint(m), "mission %s may be live: its process can't be seen from here", m.Name)
	}
	if pid, alive := l.sessionProcess(m); alive {
		return Errorf(KindBusy, "end it first", "the session of mission %s is open in another %s (pid %d)", m.Name, m.Agent, pid)
	}
	return nil
}

// prepare makes the command line. The caller holds the workspace.
func (l *Local) prepare(ctx context.Context, m *loaded, r LaunchRequest) (Launch, error) {
	command := m.Command
	if len(r.Command) > 0 {
		command = r.Command
	}
	if err := l.mayPrompt(m.Agent, m.program(), r.Prompt); err != nil {
		return Launch{}, err
	}
	launch := Launch{ID: l.newID(), Argv: command, Dir: m.cwd(), Env: map[string]string{
		"UMBRA_MISSION": m.ID,
		"UMBRA_HOME":    l.home.Dir,
	}}
	if info, err := os.Stat(launch.Dir); err != nil || !info.IsDir() {
		launch.Dir = m.bind.Workspace
		launch.Notes = append(launch.Notes, fmt.Sprintf("%s is no longer there: the agent starts in %s", m.cwd(), m.bind.Workspace))
	}
	m.live.Hooked, m.live.Bound, m.live.Launch, m.live.Spoke = false, "", launch.ID, false
	m.live.Problem, m.live.Away, m.live.Refused = "", "", nil
	l.inThisBoot(m)
	m.live.Launched, m.live.Unheard, m.live.Numbering = l.instant(), nil, nil
	if r.KeeperID > 0 {
		keeper := l.processOf(r.KeeperID)
		m.live.Keeper, m.live.Agent, m.live.Child = &keeper, nil, nil
	}
	changed := !slices.Equal(m.Command, command)
	m.Command = command
	if a := l.adapter(m.Agent); a != nil {
		moved, err := l.prepareAgent(ctx, m, a, r, &launch)
		if err != nil {
			return Launch{}, err
		}
		changed = changed || moved
	}
	for _, name := range r.EnvNames {
		if !slices.Contains(m.EnvNames, name) {
			m.EnvNames, changed = append(m.EnvNames, name), true
		}
	}
	if changed {
		if err := l.writeMeta(ctx, m, "launch"); err != nil {
			return Launch{}, err
		}
	}
	l.saveLive(m)
	launch.Mission = l.view(m)
	return launch, nil
}

// prepareAgent lets the adapter make the command line of an agent it knows. It
// reports whether the mission's session has become another one.
func (l *Local) prepareAgent(ctx context.Context, m *loaded, a sessions.Adapter, r LaunchRequest, launch *Launch) (bool, error) {
	resume, err := l.sessionPresent(m, a)
	if err != nil {
		return false, err
	}
	if resume {
		err := l.importTalk(ctx, m, r.Caller)
		if errors.Is(err, errBeside) {
			Notify(ctx, Notice{Text: notImported(m, err)})
		} else if err != nil {
			return false, Errorf(KindFailed, "umbra mission resume "+m.Name+" tries again", "%s can't take the conversation of %s: %w", m.Agent, m.Name, err)
		}
	}
	id, prompt := m.stored.Session, r.Prompt
	if id == "" {
		id = l.newSession(a)
	}
	sent, fresh := m.FirstPrompt != "" || m.Fresh, m.Fresh || len(r.Command) > 0
	if prompt == "" {
		prompt = m.FirstPrompt
	}
	m.FirstPrompt, m.Fresh = "", false
	config, moved, err := l.launchConfig(ctx, m, r.Config, launch)
	if err != nil {
		return false, err
	}
	cmd, err := a.Launch(sessions.Launch{
		Config: config,
		Env:    m.adapterEnv(), Dir: launch.Dir, Command: m.Command, SessionID: id, Resume: resume, Fresh: fresh, Again: m.life.LastTurn() > 0, Prompt: prompt,
		How: m.Resume, Transcript: m.bind.Session,
		HookCommand: hookCommand(r.Caller.Binary, a.Name()), SettingsDir: l.launchDir(m),
		ReadFile: func(name string) ([]byte, error) { return os.ReadFile(joinPath(launch.Dir, name)) },
	})
	if err != nil {
		return false, Errorf(KindUsage, "", "%s: %w", m.program(), err)
	}
	if resume && !fresh && !m.movable(a) {
		launch.Notes = append(launch.Notes, m.unmovable())
	}
	m.tellConfig(config, cmd, launch)
	if err := l.placeLaunch(m, cmd.Files); err != nil {
		return false, err
	}
	launch.Argv, m.live.Hooked = cmd.Argv, cmd.Hooked
	maps.Copy(launch.Env, cmd.Env)
	if resume {
		m.keepStore(a, launch)
	}
	if note := untriedClient(a, m.live.Client); note != "" {
		launch.Notes = append(launch.Notes, note)
	}
	if !cmd.Hooked {
		m.live.Numbering = &numbering{}
		if cmd.Why != "" {
			launch.Notes = append(launch.Notes, "without hooks: "+cmd.Why)
			m.live.Unheard = m.launchedUnheard(cmd.Why)
		}
	}
	if cmd.SessionID == "" || cmd.SessionID == m.stored.Session {
		return sent || moved, nil
	}
	if m.stored.Session != "" {
		m.Sessions = append(m.Sessions, m.stored.Session)
	}
	m.stored.Session = cmd.SessionID
	m.bind.Session = a.Path(m.adapterEnv(), resolvedOr(launch.Dir), cmd.SessionID)
	return true, nil
}

// keepStore has the session that an agent goes on with looked for where it is: the
// shell that it is resumed in may name another store than the one it was begun in.
// Where the session is in neither, the shell's word counts.
func (m *loaded) keepStore(a sessions.Adapter, launch *Launch) {
	r, ok := a.(sessions.Relocatable)
	if !ok {
		return
	}
	env := m.adapterEnv()
	root := a.Root(env)
	if !within(root, m.bind.Session) && !within(resolvedOr(root), m.bind.Session) {
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

// placeLaunch places the files of a launch, and takes away those of an earlier one.
func (l *Local) placeLaunch(m *loaded, files []sessions.File) error {
	if err := os.RemoveAll(l.launchDir(m)); err != nil {
		return fmt.Errorf("take away what an earlier launch had: %w", err)
	}
	for _, f := range files {
		if err := placeFile(l.home.Dir, f); err != nil {
			return err
		}
	}
	return nil
}

// placeFile writes a file that an adapter asks for, anew at the next launch: below home,
// where one is given, which is not made.
func placeFile(home string, f sessions.File) error {
	var content bytes.Buffer
	if err := f.Write(&content); err != nil {
		return fmt.Errorf("make %s: %w", f.Path, err)
	}
	return journal.WriteVolatile(home, f.Path, f.Mode, content.Bytes())
}

// clearLaunch takes away what the launch of an agent had that has ended: settings
// may hold what nobody else is to read.
func (l *Local) clearLaunch(m *loaded) {
	if err := os.RemoveAll(l.launchDir(m)); err != nil {
		l.log.Warn("take away what a launch had", "mission", m.ID, "error", err)
	}
}

// launchDir is where files for a mission's launch are.
func (l *Local) launchDir(m *loaded) string { return l.home.path("agents", "launch", m.ID) }

func resolvedOr(dir string) string {
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		return r
	}
	return dir
}

// hookCommand is the one command line for an agent's hooks, byte for byte the
// same wherever it is installed, so that the agent runs it once. A Go program
// that dies (no memory, no thread, no descriptor to be had) exits with 2, by
// which a hook forbids what its agent is about to do: the shell makes that a
// failure of the hook, which agents show and go on.
func hookCommand(binary, agent string) string {
	if binary == "" {
		return ""
	}
	return shellQuote(binary) + " hook " + agent + " || exit 1"
}

// shellQuote makes a word that a shell takes as it is.
func shellQuote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Stop ends the agents of missions: SIGTERM, and SIGKILL after five seconds.
func (l *Local) Stop(ctx context.Context, r StopRequest) ([]Mission, error) {
	list, err := l.findMissions(ctx, r.Caller, r.Missions)
	if err != nil {
		return nil, err
	}
	stopped := []Mission{}
	for _, m := range list {
		if err := l.stop(ctx, m, r.Force); err != nil {
			return stopped, err
		}
		fresh, err := l.load(m.project, m.ID)
		if err != nil {
			return stopped, err
		}
		stopped = append(stopped, l.view(fresh))
	}
	return stopped, nil
}

const stopPatience = 5 * time.Second

func (l *Local) stop(ctx context.Context, m *loaded, force bool) error {
	if l.owned(m.live.Handover) {
		return Errorf(KindBusy, "wait a moment and try again", "the agent of %s is being ended: %s", m.Name, m.live.Handover)
	}
	if !HasAgent(m.life) && !m.live.kept() {
		return nil // stopped already
	}
	known := m.live.Agent
	if known == nil {
		if pid, alive := l.sessionProcess(m); alive {
			owner := l.processOf(pid)
			known = &owner
		}
	}
	switch {
	case known == nil && !force && !l.gone(m):
		return Errorf(KindFailed, unseenHint(m), "which process %s runs in is not known", m.Name)
	case l.unseen(m) && !force:
		return Errorf(KindFailed, unseenHint(m), "the process of %s can't be seen from here: it runs in another container, or too little was noted of it", m.Name)
	case known == nil || known.Liveness() != lock.Alive:
		return l.reap(ctx, m)
	}
	agent := *known
	if err := terminate(ctx, agent, stopPatience); err != nil {
		return Errorf(KindFailed, "", "stop %s (pid %d): %w", m.Name, agent.PID, err)
	}
	// Its keeper reports the end; without one nobody does.
	deadline := l.now().Add(stopPatience)
	for m.live.kept() && l.now().Before(deadline) {
		fresh, err := l.load(m.project, m.ID)
		if err != nil || !HasAgent(fresh.life) {
			return err
		}
		if err := pause(ctx, pollEvery); err != nil {
			return err
		}
		m = fresh
	}
	return l.ended(ctx, m)
}

// reap closes a mission whose agent is gone without a word.
func (l *Local) reap(ctx context.Context, m *loaded) error {
	return l.bury(ctx, m, func(m *loaded) (Event, bool) {
		boot := m.live.boot()
		return Vanished{LongAgo: boot != "" && boot != l.self.Boot}, HasAgent(m.life)
	})
}

// ended closes a mission whose agent Umbra has ended. Who saw no more of that than a
// process that is gone may have closed it before.
func (l *Local) ended(ctx context.Context, m *loaded) error {
	return l.bury(ctx, m, func(m *loaded) (Event, bool) {
		c, closed := m.life.(Closed)
		return Stopped{}, HasAgent(m.life) || closed && c.How == HowLost
	})
}

// bury closes a mission that has no process any more, by the event that of gives, if it
// still does.
func (l *Local) bury(ctx context.Context, m *loaded, of func(*loaded) (Event, bool)) error {
	r := &request{event: Vanished{}}
	r.heard = func(m *loaded) (bool, error) {
		event, ok := of(m)
		if _, alive := m.live.process(); alive || !ok {
			return false, nil
		}
		r.event = event
		l.clearLaunch(m)
		m.live.Keeper, m.live.Agent, m.live.Child, m.live.Handover = nil, nil, nil, nil
		return true, nil
	}
	_, err := l.submit(ctx, m.project, m.ID, r)
	return err
}

func (l *Local) sessionPresent(m *loaded, a sessions.Adapter) (bool, error) {
	if m.stored.Session == "" || m.bind.Session == "" {
		return false, nil
	}
	m.seekSession(a)
	s, err := a.Open(m.bind.Session)
	switch {
	case errors.Is(err, sessions.ErrNoSession), errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("session of %s: %w", m.Name, err)
	}
	return s.Size > 0, nil
}
