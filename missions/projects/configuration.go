package projects

import (
	"path/filepath"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// Configuration is the user's configuration.
type Configuration struct {
	*Base
	Config      settings.Config     // as this process began; what counts is CurrentConfig
	getenv      func(string) string // what overrides it in this process
	ConfigError error               // why it is not what the user's file says
	configStamp home.FileStamp      // of the user's file when it was read
}

func newConfiguration(b *Base, o Options) Configuration {
	return Configuration{Base: b, Config: o.Config, getenv: o.Getenv, ConfigError: o.Broken, configStamp: home.StampOf(o.Home.ConfigFile())}
}

// CurrentConfig is the configuration as the user's file says it now: who changes it
// and types the next command must not have to wait until a daemon has begun anew
// with it. One that is broken counts as it was.
func (conf *Configuration) CurrentConfig() settings.Config {
	config, _ := conf.readCurrentConfig()
	return config
}

// readCurrentConfig is CurrentConfig; broken says what is wrong with the file.
func (conf *Configuration) readCurrentConfig() (config settings.Config, broken error) {
	if home.StampOf(conf.Home.ConfigFile()) == conf.configStamp {
		return conf.Config, conf.ConfigError
	}
	config, err := settings.Load(conf.Home.ConfigFile())
	if err != nil {
		return conf.Config, err
	}
	config, _ = config.OverriddenBy(conf.getenv) // what is wrong with a variable was said when this process began
	return config, nil
}

// ConfigProblem says what is wrong with the user's file; nil if nothing is.
func (conf *Configuration) ConfigProblem() *missions.Problem {
	_, broken := conf.readCurrentConfig()
	if broken == nil {
		return nil
	}
	return &missions.Problem{Message: missions.AsError(broken).Message + "; until it is mended, what it said before counts", Fix: "umbra config edit"}
}

// CallerConfig is the configuration that counts for a caller.
func (conf *Configuration) CallerConfig(c missions.Caller) (settings.Config, error) {
	return conf.CurrentConfig().OverriddenBy(func(name string) string { return c.Env[name] })
}

// HookConfig is CallerConfig for the hooks of an agent, which a variable that makes no
// sense is not to stop: then none counts, and the log says why.
func (conf *Configuration) HookConfig(c missions.Caller) settings.Config {
	config, err := conf.CallerConfig(c)
	if err != nil {
		conf.Logger.Warn("a hook's variables do not count", "error", err)
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
