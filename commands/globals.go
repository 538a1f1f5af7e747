package commands

import (
	"path/filepath"

	"github.com/urfave/cli/v2"

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
	noColor  bool   // another word for never
	Help     bool
	reach    reach // not a flag: the command says it
	heeded   bool  // by an agent, for which a broken configuration stops nothing
}

func (g *Globals) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "home", Usage: "keep Umbra's data in `DIR` (UMBRA_HOME)", Destination: &g.Home},
		&cli.BoolFlag{Name: "json", Usage: "print JSON", Destination: &g.JSON},
		&cli.BoolFlag{Name: "no-daemon", Usage: "start no daemon: work in this process (UMBRA_NO_DAEMON=1)", Destination: &g.NoDaemon},
		&cli.BoolFlag{Name: "quiet", Usage: "no progress, no notices", Destination: &g.Quiet},
		&cli.BoolFlag{Name: "yes", Usage: "answer questions with yes", Destination: &g.Yes},
		&cli.StringFlag{Name: "color", Value: "auto", Usage: "colour: `auto|always|never`", Destination: &g.Color},
		&cli.BoolFlag{Name: "no-color", Usage: "no colour, as --color never", Destination: &g.noColor},
		&cli.BoolFlag{Name: "help", Aliases: []string{"h"}, Usage: "show what a command takes", Destination: &g.Help},
	}
}

// settle takes in the environment and refuses values that mean nothing.
func (g *Globals) settle(env Env) error {
	switch g.Color {
	case "auto", "always", "never":
	default:
		return missions.Errorf(missions.KindUsage, "use --color auto, always or never", "--color is %q", g.Color)
	}
	if g.noColor && g.Color == "always" {
		return missions.Errorf(missions.KindUsage, "choose one", "--color always and --no-color contradict each other")
	}
	if g.noColor {
		g.Color = "never"
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
