package agents

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// Which version of its agent's configuration a mission is launched with, where
// no commit is named.
const (
	configSource  = "source" // the one of the mission it is forked from
	configCurrent = "now"
)

// ConfigChoice is which version a fork gets.
type ConfigChoice struct {
	fromSource bool
	commit     string
	fixed      bool
}

// Version is the chosen version; before is the version of the source.
func (c ConfigChoice) Version(before string) (commit string, fixed bool) {
	if c.fromSource {
		return before, before != ""
	}
	return c.commit, c.fixed
}

// ChooseConfig finds the version that a request names for a mission's agent.
func (l *Launcher) ChooseConfig(ctx context.Context, m *projects.Mission, name string) (ConfigChoice, error) {
	if _, ok := l.Adapter(m.Agent).(sessions.Configured); !ok && name != "" && name != configSource {
		return ConfigChoice{}, missions.Errorf(missions.KindUsage, "leave out --config", "Umbra keeps no versions of a configuration of %s", m.Agent)
	}
	switch name {
	case "", configSource:
		return ConfigChoice{fromSource: true}, nil
	case configCurrent:
		now, err := l.SaveConfigVersion(ctx, m.Agent, m.AdapterEnv())
		return ConfigChoice{commit: now}, err
	}
	commit, err := l.FindConfigVersion(ctx, m.Agent, name)
	return ConfigChoice{commit: commit, fixed: true}, err
}

// launchConfig is the configuration that a launch gets instead of the present one, nil
// for none. It makes a version of the present one, and reports whether the version of
// the mission has changed.
func (l *Launcher) launchConfig(ctx context.Context, m *projects.Mission, name string, launch *missions.Launch) (*sessions.Config, bool, error) {
	before, fixed := m.Config, m.ConfigFixed
	m.StoreLiveConfig()
	if name != "" && name != configSource {
		choice, err := l.ChooseConfig(ctx, m, name)
		if err != nil {
			return nil, false, err
		}
		m.Config, m.ConfigFixed = choice.Version("")
	}
	now, err := l.SaveConfigVersion(ctx, m.Agent, m.AdapterEnv())
	if err != nil {
		// The agent's start matters more.
		launch.Notes = append(launch.Notes, err.Error())
		return nil, m.Config != before || m.ConfigFixed != fixed, nil
	}
	var config *sessions.Config
	if m.ConfigFixed {
		config, err = l.ConfigOfVersion(ctx, m.Agent, m.Config, now)
		if err != nil {
			launch.Notes = append(launch.Notes, fmt.Sprintf("version %.10s of its agent's configuration can't be read, it has that of now: %v", m.Config, err))
		}
	} else if now != "" {
		m.Config = now
	}
	return config, m.Config != before || m.ConfigFixed != fixed, nil
}

// addConfigNotes says what became of the configuration that a launch was to get.
func addConfigNotes(m *projects.Mission, config *sessions.Config, cmd sessions.Command, launch *missions.Launch) {
	switch {
	case config == nil:
	case cmd.Configured:
		but := cmd.Unconfigured
		if but != "" {
			but = ", but " + but
		}
		launch.Notes = append(launch.Notes, fmt.Sprintf("with the configuration of %s as it was in %.10s%s; for that of now: umbra mission resume %s --config now", m.Agent, m.Config, but, m.Name))
	default:
		why := cmd.Unconfigured
		if why == "" {
			why = "it can't be given to " + m.Agent
		}
		launch.Notes = append(launch.Notes, fmt.Sprintf("with the configuration of %s of now, not that in %.10s: %s", m.Agent, m.Config, why))
	}
}

// SaveAdoptedConfig makes a version for an adopted session, after its hook was
// answered. The next record names it.
func (l *Launcher) SaveAdoptedConfig(ctx context.Context, m *projects.Mission) {
	version, err := l.SaveConfigVersion(ctx, m.Agent, m.AdapterEnv())
	if err == nil && version != "" {
		err = l.WithRecoveredWorkspace(ctx, m, func(m *projects.Mission) error {
			m.Live.ConfigCommit = version
			l.SaveLiveState(m)
			return nil
		})
	}
	if err != nil && ctx.Err() == nil {
		l.Logger.Warn("keep an agent's configuration", "mission", m.ID, "error", err)
	}
}
