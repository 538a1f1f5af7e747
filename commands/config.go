package commands

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// configOptions say which file is meant.
type configOptions struct{ project bool }

func (o *configOptions) flags() []cli.Flag {
	return []cli.Flag{&cli.BoolFlag{Name: "project", Usage: "the project's own file, .umbra.yml at its top", Destination: &o.project}}
}

func configCommand() *verb {
	return &verb{
		name: "config", short: "what can be configured",
		verbs: []*verb{
			configListCommand(), configGetCommand(), configSetCommand(), configUnsetCommand(), configPathCommand(), configEditCommand(),
		},
	}
}

func configListCommand() *verb {
	return &verb{
		name: "list", short: "list every key, its value here, and where that comes from",
		run: func(c *call) error {
			list, err := c.settings()
			if err != nil {
				return err
			}
			return c.print(list, func(p *printer) {
				var t table
				for _, s := range list {
					t.row(cell{s.Key, bold}, cell{clean(settingText(s)), plain}, cell{clean(originText(c, s)), dim}, cell{s.Help, plain})
				}
				t.print(p, "")
			})
		},
	}
}

func configGetCommand() *verb {
	return &verb{
		name: "get", args: "KEY", min: 1, max: 1, short: "print the value of one key, a list one a line",
		run: func(c *call) error {
			key, err := settings.FindKey(c.arg(0))
			if err != nil {
				return err
			}
			list, err := c.settings()
			if err != nil {
				return err
			}
			for _, s := range list {
				if s.Key == key.Name {
					return c.print(s, func(p *printer) {
						for _, w := range s.Words {
							p.line("%s", clean(w))
						}
					})
				}
			}
			return nil
		},
	}
}

func configSetCommand() *verb {
	var o configOptions
	return &verb{
		name: "set", args: "KEY VALUE…", min: 2, max: anyNumber, short: "write one key into the configuration",
		long:  "Every other line of the file stays as it is. A list takes any number of values:\numbra config set capture.secrets '*.pem' '*.p12'",
		flags: o.flags(),
		run:   func(c *call) error { return c.writeConfig(o, c.args[1:]) },
	}
}

func configUnsetCommand() *verb {
	var o configOptions
	return &verb{
		name: "unset", args: "KEY", min: 1, max: 1, short: "take one key out of the configuration: its default counts again",
		flags: o.flags(),
		run:   func(c *call) error { return c.writeConfig(o, nil) },
	}
}

func configPathCommand() *verb {
	var o configOptions
	return &verb{
		name: "path", short: "print where the configuration is",
		flags: o.flags(),
		run: func(c *call) error {
			file, err := c.configFile(o)
			if err != nil {
				return err
			}
			return c.print(map[string]string{"file": file}, func(p *printer) { p.line("%s", clean(file)) })
		},
	}
}

// configFile is the file that the options mean.
func (c *call) configFile(o configOptions) (string, error) {
	if o.project {
		cwd, err := c.Getwd()
		if err != nil {
			return "", noDirectory(err)
		}
		return projects.ProjectConfig(cwd)
	}
	dir, err := c.home()
	if err != nil {
		return "", err
	}
	return home.Home{Dir: dir}.ConfigFile(), nil
}

// settings are all keys as they count here.
func (c *call) settings() ([]settings.Setting, error) {
	file, err := c.configFile(configOptions{})
	if err != nil {
		return nil, err
	}
	own, err := c.configFile(configOptions{project: true})
	if err != nil {
		return nil, err
	}
	return settings.InForce(file, filepath.Dir(own), c.Getenv)
}

func (c *call) writeConfig(o configOptions, words []string) error {
	key, err := settings.FindKey(c.arg(0))
	if err != nil {
		return err
	}
	if !o.project {
		if err := c.makeHome(); err != nil {
			return err
		}
	}
	file, err := c.configFile(o)
	if err != nil {
		return err
	}
	return c.whyUnwritten(o, settings.Set(file, key, words, o.project))
}

// whyUnwritten is the error of writing the file that the options mean: where that is
// in a home in which nothing can be written, it says so.
func (c *call) whyUnwritten(o configOptions, err error) error {
	dir, herr := c.home()
	if o.project || herr != nil || !errors.Is(err, syscall.EROFS) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return cmp.Or((home.Home{Dir: dir}).CheckWritable(), err)
}

// makeHome makes Umbra's home, which the user's file is in.
func (c *call) makeHome() error {
	dir, err := c.home()
	if err == nil {
		_, err = home.Open(dir)
	}
	return err
}

// settingText is a value on one line.
func settingText(s settings.Setting) string {
	if s.Kind == "list" || s.Kind == "commands" {
		words := make([]string, len(s.Words))
		for i, word := range s.Words {
			words[i] = home.ShellQuote(word)
		}
		return "[" + strings.Join(words, ", ") + "]"
	}
	return home.ShellCommand(s.Words)
}

// originText says where a value comes from.
func originText(c *call, s settings.Setting) string {
	switch s.Origin {
	case settings.OriginEnvironment:
		return "$" + s.Variable
	case settings.OriginDefault:
		return "default"
	}
	file := s.File
	if cwd, err := c.Getwd(); err == nil {
		if rel, err := filepath.Rel(cwd, file); err == nil && len(rel) < len(file) {
			file = rel
		}
	}
	return fmt.Sprintf("%s:%d", file, s.Line)
}
