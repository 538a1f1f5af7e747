package commands

import (
	"path/filepath"

	"github.com/umbra-vcs/umbra/missions"
)

// Globals are the flags that every command takes, wherever they stand.
type Globals struct {
	Home     string // "" is the default one
	JSON     bool
	NoDaemon bool
	Quiet    bool
	Yes      bool
	Color    string // auto, always, never
	reach    reach  // not a flag: the command says it
}

func (g *Globals) flags() []*flag {
	return []*flag{
		textFlag(&g.Home, "keep Umbra's data in `DIR` (UMBRA_HOME)", "home"),
		boolFlag(&g.JSON, "print JSON", "json"),
		boolFlag(&g.NoDaemon, "start no daemon: work in this process (UMBRA_NO_DAEMON=1)", "no-daemon"),
		boolFlag(&g.Quiet, "no progress and no notices", "quiet"),
		boolFlag(&g.Yes, "answer questions with yes", "yes"),
		textFlag(&g.Color, "colour: `auto|always|never`", "color"),
		boolFlag(new(bool), "show what a command takes", "help", "h"),
	}
}

// settle takes in the environment and refuses values that mean nothing.
func (g *Globals) settle(env Env) error {
	switch g.Color {
	case "auto", "always", "never":
	default:
		return missions.Errorf(missions.KindUsage, "use --color auto, always or never", "--color is %q", g.Color)
	}
	switch v := env.Getenv("UMBRA_NO_DAEMON"); v {
	case "", "0":
	default:
		g.NoDaemon = true
	}
	if g.Home == "" {
		return nil
	}
	if !filepath.IsAbs(g.Home) {
		cwd, err := env.Getwd()
		if err != nil {
			return noDirectory(err)
		}
		g.Home = filepath.Join(cwd, g.Home)
	}
	g.Home = filepath.Clean(g.Home)
	return nil
}

func noDirectory(err error) error {
	return missions.Errorf(missions.KindFailed, "cd to a directory that is there", "the current directory can't be read: %w", err)
}
