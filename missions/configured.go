package missions

import (
	"bytes"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// keptConfigFile is the text of the user's configuration when it was last read
// well, in the home; empty where there was none.
const keptConfigFile = "config.kept.yml"

// KeptConfig reads the user's configuration for a process that an agent relies on:
// while the file is broken, that is what it said when it was last read well, and
// broken says what is wrong. Err is set where neither can be had.
func (h Home) KeptConfig() (c settings.Config, broken, err error) {
	text, err := settings.Read(h.ConfigFile())
	if err == nil {
		if c, err = settings.Parse(h.ConfigFile(), text); err == nil {
			h.keepConfig(text)
			return c, nil, nil
		}
	}
	kept, kerr := disk.ReadFile(h.path(keptConfigFile))
	if kerr != nil {
		return settings.Default(), nil, err
	}
	c, kerr = settings.Parse(h.path(keptConfigFile), kept)
	if kerr != nil {
		return settings.Default(), nil, err
	}
	return c, err, nil
}

// keepConfig keeps what was read well, if it is not what is kept already. A home
// that can't be written to keeps nothing, and is of use all the same.
func (h Home) keepConfig(text []byte) {
	kept, err := disk.ReadFile(h.path(keptConfigFile))
	if err != nil || !bytes.Equal(kept, text) {
		_ = journal.WriteVolatile(h.Dir, h.path(keptConfigFile), 0o600, text)
	}
}

// configNow is the configuration as the user's file says it now: who changes it
// and types the next command must not have to wait until a daemon has begun anew
// with it. One that is broken counts as it was.
func (l *Local) configNow() settings.Config {
	config, _ := l.readConfig()
	return config
}

// readConfig is configNow; broken says what is wrong with the file.
func (l *Local) readConfig() (config settings.Config, broken error) {
	if stampOf(l.home.ConfigFile()) == l.configured {
		return l.config, l.broken
	}
	config, err := settings.Load(l.home.ConfigFile())
	if err != nil {
		return l.config, err
	}
	config, _ = config.OverriddenBy(l.getenv) // what is wrong with a variable was said when this process began
	return config, nil
}

// configProblem says what is wrong with the user's file; nil if nothing is.
func (l *Local) configProblem() *Problem {
	_, broken := l.readConfig()
	if broken == nil {
		return nil
	}
	return &Problem{Message: AsError(broken).Message + "; until it is mended, what it said before counts", Fix: "umbra config edit"}
}

// configOf is the configuration that counts for a caller.
func (l *Local) configOf(c Caller) (settings.Config, error) {
	return l.configNow().OverriddenBy(func(name string) string { return c.Env[name] })
}

// configOfAgent is configOf for the hooks of an agent, which a variable that makes no
// sense is not to stop: then none counts, and the log says why.
func (l *Local) configOfAgent(c Caller) settings.Config {
	config, err := l.configOf(c)
	if err != nil {
		l.log.Warn("a hook's variables do not count", "error", err)
	}
	return config
}

// ProjectConfig is the file in which the project that holds a directory says
// its own configuration.
func ProjectConfig(dir string) (string, error) {
	g, err := survey(dir)
	if err != nil {
		return "", err
	}
	return filepath.Join(g.Top, settings.ProjectFile), nil
}
