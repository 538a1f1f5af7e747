package missions

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/sessions"
)

// Which version of its agent's configuration a mission is launched with, where
// no commit is named.
const (
	configSource = "source" // the one of the mission it is forked from
	configAsNow  = "now"
)

// configChoice is which version a fork gets.
type configChoice struct {
	source bool
	commit string
	fixed  bool
}

// version is what was chosen, where the source had the version of before.
func (c configChoice) version(before string) (commit string, fixed bool) {
	if c.source {
		return before, before != ""
	}
	return c.commit, c.fixed
}

// chooseConfig finds the version that a request names for the agent of a
// mission.
func (l *Local) chooseConfig(ctx context.Context, m *loaded, name string) (configChoice, error) {
	if _, ok := l.adapter(m.Agent).(sessions.Configured); !ok && name != "" && name != configSource {
		return configChoice{}, Errorf(KindUsage, "leave out --config", "Umbra keeps no versions of a configuration of %s", m.Agent)
	}
	switch name {
	case "", configSource:
		return configChoice{source: true}, nil
	case configAsNow:
		now, err := l.keepConfig(ctx, m.Agent, m.adapterEnv())
		return configChoice{commit: now}, err
	}
	commit, err := l.findConfig(ctx, m.Agent, name)
	return configChoice{commit: commit, fixed: true}, err
}

// launchConfig is the configuration that a launch is to have instead of that of
// now, nil for none. It makes a version of that of now, and reports whether the
// mission's has become another.
func (l *Local) launchConfig(ctx context.Context, m *loaded, name string, launch *Launch) (*sessions.Config, bool, error) {
	before, fixed := m.Config, m.ConfigFixed
	m.takeConfig()
	if name != "" && name != configSource {
		choice, err := l.chooseConfig(ctx, m, name)
		if err != nil {
			return nil, false, err
		}
		m.Config, m.ConfigFixed = choice.version("")
	}
	now, err := l.keepConfig(ctx, m.Agent, m.adapterEnv())
	if err != nil {
		// The agent's start matters more.
		launch.Notes = append(launch.Notes, err.Error())
		return nil, m.Config != before || m.ConfigFixed != fixed, nil
	}
	var config *sessions.Config
	if m.ConfigFixed {
		config, err = l.configOfCommit(ctx, m.Agent, m.Config, now)
		if err != nil {
			launch.Notes = append(launch.Notes, fmt.Sprintf("version %.10s of its agent's configuration can't be read, it has that of now: %v", m.Config, err))
		}
	} else if now != "" {
		m.Config = now
	}
	return config, m.Config != before || m.ConfigFixed != fixed, nil
}

// tellConfig says what became of a configuration that a launch was to have.
func (m *loaded) tellConfig(config *sessions.Config, cmd sessions.Command, launch *Launch) {
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

// takeConfig makes the version that was noted beside the record part of it.
func (m *loaded) takeConfig() {
	if m.live.Config != "" {
		m.stored.Config, m.live.Config = m.live.Config, ""
	}
}

// configLater makes a version for a session that was adopted, when no hook waits
// any more. The next record says it.
func (l *Local) configLater(ctx context.Context, m *loaded) {
	version, err := l.keepConfig(ctx, m.Agent, m.adapterEnv())
	if err == nil && version != "" {
		err = l.locked(ctx, m, func(m *loaded) error {
			m.live.Config = version
			l.saveLive(m)
			return nil
		})
	}
	if err != nil && ctx.Err() == nil {
		l.log.Warn("keep an agent's configuration", "mission", m.ID, "error", err)
	}
}
