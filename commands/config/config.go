// Package config has the verbs that show and change what can be configured.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// configOptions say which file is meant.
type configOptions struct{ project bool }

func (o *configOptions) flags() []flags.Flag {
	return []flags.Flag{flags.Bool("project", "the project's own file, .umbra.yml at its top", &o.project)}
}

func Command() *call.Verb {
	return &call.Verb{
		Name: "config", Short: "what can be configured",
		Verbs: []*call.Verb{
			configListCommand(), configGetCommand(), configSetCommand(), configUnsetCommand(), configPathCommand(), configEditCommand(),
		},
	}
}

func configListCommand() *call.Verb {
	return &call.Verb{
		Name: "list", Short: "list every key, its value here, and where that comes from",
		Run: func(c *call.Call) error {
			list, err := settingsHere(c)
			if err != nil {
				return err
			}
			return c.Print(list, func(p *print.Printer) {
				var t print.Table
				for _, s := range list {
					t.Row(print.Bold.Cell(s.Key), print.Plain.Cell(print.Clean(settingText(s))), print.Dim.Cell(print.Clean(originText(c, s))), print.Plain.Cell(s.Help))
				}
				t.Print(p, "")
			})
		},
	}
}

func configGetCommand() *call.Verb {
	return &call.Verb{
		Name: "get", Args: "KEY", Min: 1, Max: 1, Short: "print the value of one key, a list one a line",
		Run: func(c *call.Call) error {
			key, err := settings.FindKey(c.Arg(0))
			if err != nil {
				return err
			}
			list, err := settingsHere(c)
			if err != nil {
				return err
			}
			for _, s := range list {
				if s.Key == key.Name {
					return c.Print(s, func(p *print.Printer) {
						for _, w := range s.Words {
							p.Line("%s", print.Clean(w))
						}
					})
				}
			}
			return nil
		},
	}
}

func configSetCommand() *call.Verb {
	var o configOptions
	return &call.Verb{
		Name: "set", Args: "KEY VALUE…", Min: 2, Max: call.AnyNumber, Short: "write one key into the configuration",
		Long:  "Every other line of the file stays as it is. A list takes any number of values:\numbra config set capture.secrets '*.pem' '*.p12'",
		Flags: o.flags(),
		Run:   func(c *call.Call) error { return writeConfig(c, o, c.Arguments[1:]) },
	}
}

func configUnsetCommand() *call.Verb {
	var o configOptions
	return &call.Verb{
		Name: "unset", Args: "KEY", Min: 1, Max: 1, Short: "take one key out of the configuration: its default counts again",
		Flags: o.flags(),
		Run:   func(c *call.Call) error { return writeConfig(c, o, nil) },
	}
}

func configPathCommand() *call.Verb {
	var o configOptions
	return &call.Verb{
		Name: "path", Short: "print where the configuration is",
		Flags: o.flags(),
		Run: func(c *call.Call) error {
			file, err := configFile(c, o)
			if err != nil {
				return err
			}
			return c.Print(map[string]string{"file": file}, func(p *print.Printer) { p.Line("%s", print.Clean(file)) })
		},
	}
}

// configFile is the file that the options mean.
func configFile(c *call.Call, o configOptions) (string, error) {
	if o.project {
		cwd, err := c.Getwd()
		if err != nil {
			return "", call.NoDirectory(err)
		}
		return projects.ProjectConfig(cwd)
	}
	dir, err := c.HomeDir()
	if err != nil {
		return "", err
	}
	return home.Home{Dir: dir}.ConfigFile(), nil
}

// settingsHere are all keys as they count here.
func settingsHere(c *call.Call) ([]settings.Setting, error) {
	file, err := configFile(c, configOptions{})
	if err != nil {
		return nil, err
	}
	own, err := configFile(c, configOptions{project: true})
	if err != nil {
		return nil, err
	}
	return settings.InForce(file, filepath.Dir(own), c.Getenv)
}

func writeConfig(c *call.Call, o configOptions, words []string) error {
	key, err := settings.FindKey(c.Arg(0))
	if err != nil {
		return err
	}
	if !o.project {
		if err := makeHome(c); err != nil {
			return err
		}
	}
	file, err := configFile(c, o)
	if err != nil {
		return err
	}
	if key.Name == "fork.root" && len(words) == 1 {
		if err := checkForkRoot(c, words[0]); err != nil {
			return err
		}
	}
	return whyUnwritten(c, o, settings.Set(file, key, words, o.project))
}

// checkForkRoot refuses a fork.root in which no fork could be made.
func checkForkRoot(c *call.Call, root string) error {
	dir, err := c.HomeDir()
	if err != nil {
		return err
	}
	return projects.CheckForkRoot(root, c.Getenv("HOME"), dir)
}

// whyUnwritten is the error of writing the file that the options mean: where that is
// in a home in which nothing can be written, it says so.
func whyUnwritten(c *call.Call, o configOptions, err error) error {
	dir, herr := c.HomeDir()
	if o.project || herr != nil || !errors.Is(err, syscall.EROFS) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return cmp.Or((home.Home{Dir: dir}).CheckWritable(), err)
}

// makeHome makes Umbra's home, which the user's file is in.
func makeHome(c *call.Call) error {
	dir, err := c.HomeDir()
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
func originText(c *call.Call, s settings.Setting) string {
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
