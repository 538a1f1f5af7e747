package call

import (
	"io"
	"path/filepath"

	"github.com/umbra-vcs/umbra/commands/fields"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/highlight"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// Globals are the flags that every command takes, wherever they stand.
type Globals struct {
	Home     string // "" is the default one
	JSON     bool
	Fields   fields.Fields // what to print of the JSON
	NoDaemon bool
	Quiet    bool
	Yes      bool
	Color    string // auto, always, never
	noColor  bool   // another word for never
	fields   string // of --json, "" if it was not given
	jq       string // the filter that JSON goes through, "" for none

	jqProgram string
	Help      bool
	Reach     Reach // not a flag: the command says it
	Heeded    bool  // by an agent, for which a broken configuration stops nothing
}

func (g *Globals) Flags() []flags.Flag {
	g.Color = "auto"
	return []flags.Flag{
		flags.String("home", "keep Umbra's data in `DIR` (UMBRA_HOME)", &g.Home),
		flags.Optional("json", "print JSON, or `FIELD,…` of it alone", &g.fields),
		flags.String("jq", "print JSON as the program jq filters it with `FILTER`, texts without quotes", &g.jq),
		flags.Bool("no-daemon", "start no daemon: work in this process (UMBRA_NO_DAEMON=1)", &g.NoDaemon),
		flags.Bool("quiet", "no progress, no notices, no word of what was only done", &g.Quiet),
		flags.Bool("yes", "answer questions with yes", &g.Yes),
		flags.String("color", "colour: `auto|always|never`", &g.Color),
		flags.Bool("no-color", "no colour, as --color never", &g.noColor),
		flags.Bool("help", "show what a command takes", &g.Help, "h"),
	}
}

// Settle takes in the environment and refuses values that mean nothing.
func (g *Globals) Settle(env Env) error {
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
	if g.fields != "" && g.fields != "false" {
		g.JSON = true
		if g.fields != "true" {
			g.Fields = fields.Parse(g.fields)
		}
	}
	if err := g.findJQ(env); err != nil || g.Home == "" {
		return err
	}
	if !filepath.IsAbs(g.Home) {
		cwd, err := env.Getwd()
		if err != nil {
			return NoDirectory(err)
		}
		g.Home = filepath.Join(cwd, g.Home)
	}
	g.Home = filepath.Clean(g.Home)
	return nil
}

func NoDirectory(err error) error {
	return missions.Errorf(missions.KindFailed, "cd to a directory that is there", "the current directory can't be read: %w", err)
}

// HomeDir is the directory of Umbra's data.
func (g Globals) HomeDir(env Env) (string, error) {
	if g.Home != "" {
		return g.Home, nil
	}
	return home.DefaultDir(env.Getenv)
}

// Printer writes to one of the world's streams as the flags say.
func (g Globals) Printer(env Env, w io.Writer) *print.Printer {
	p := print.To(w)
	p.Terminal = env.IsTerminal(w)
	switch g.Color {
	case "always":
		p.Color = true
	case "auto":
		p.Color = p.Terminal && env.Getenv("NO_COLOR") == "" && env.Getenv("TERM") != "dumb"
	}
	if p.Color {
		p.Palette = highlight.PaletteOf(env.Getenv)
	}
	if p.Terminal {
		p.Width = env.Width()
	}
	p.Now = env.Now()
	return p
}

// Reach says where a command may find the Service when no daemon is wanted.
type Reach int

const (
	Alone   Reach = iota // in its own process
	Joining              // with whoever serves: a hook beneath a keeper
	Staying              // it serves the home itself while nobody else does
)
