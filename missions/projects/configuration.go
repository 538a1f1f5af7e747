package projects

import (
	"path/filepath"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// Configuration is the user's configuration as this process has read it.
type Configuration struct {
	Config      settings.Config
	getenv      func(string) string // what overrides it in this process
	ConfigError error               // why it is not what the user's file says
	configStamp home.FileStamp      // of the user's file when it was read
}

// CurrentConfig is the configuration as the user's file says it now: who changes it
// and types the next command must not have to wait until a daemon has begun anew
// with it. One that is broken counts as it was.
func (d *Desk) CurrentConfig() settings.Config {
	config, _ := d.readCurrentConfig()
	return config
}

// readCurrentConfig is CurrentConfig; broken says what is wrong with the file.
func (d *Desk) readCurrentConfig() (config settings.Config, broken error) {
	if home.StampOf(d.Home.ConfigFile()) == d.configStamp {
		return d.Config, d.ConfigError
	}
	config, err := settings.Load(d.Home.ConfigFile())
	if err != nil {
		return d.Config, err
	}
	config, _ = config.OverriddenBy(d.getenv) // what is wrong with a variable was said when this process began
	return config, nil
}

// ConfigProblem says what is wrong with the user's file; nil if nothing is.
func (d *Desk) ConfigProblem() *missions.Problem {
	_, broken := d.readCurrentConfig()
	if broken == nil {
		return nil
	}
	return &missions.Problem{Message: missions.AsError(broken).Message + "; until it is mended, what it said before counts", Fix: "umbra config edit"}
}

// CallerConfig is the configuration that counts for a caller.
func (d *Desk) CallerConfig(c missions.Caller) (settings.Config, error) {
	return d.CurrentConfig().OverriddenBy(func(name string) string { return c.Env[name] })
}

// HookConfig is CallerConfig for the hooks of an agent, which a variable that makes no
// sense is not to stop: then none counts, and the log says why.
func (d *Desk) HookConfig(c missions.Caller) settings.Config {
	config, err := d.CallerConfig(c)
	if err != nil {
		d.Logger.Warn("a hook's variables do not count", "error", err)
	}
	return config
}

// ProjectConfig is the file in which the project that holds a directory says
// its own configuration.
func ProjectConfig(dir string) (string, error) {
	g, err := InspectDirectory(dir)
	if err != nil {
		return "", err
	}
	return filepath.Join(g.Top, settings.ProjectFile), nil
}
