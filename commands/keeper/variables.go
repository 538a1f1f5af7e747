package keeper

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/missions"
)

// Variables are the environment given to an agent at its launch. Their values
// go to the agent alone: a record holds the names, never the values.
type Variables struct {
	given flags.List
	file  string
	List  []string // KEY=value
}

func (v *Variables) Flags() []flags.Flag {
	return []flags.Flag{
		flags.Strings("env", "set `K=V` for the agent (may be repeated)", &v.given),
		flags.String("env-file", "set what `FILE` says, a line of K=V each", &v.file),
	}
}

// Read gathers the variables: the file's first, so that --env overrides it.
func (v Variables) Read(c *call.Call) (Variables, error) {
	if v.file != "" {
		if err := v.readFile(c); err != nil {
			return v, err
		}
	}
	for _, kv := range v.given.Value() {
		if !flags.Assignment(kv) {
			return v, missions.Errorf(missions.KindUsage, "for example --env DEBUG=1", "--env %q is no K=V", kv)
		}
		v.List = append(v.List, kv)
	}
	return v, nil
}

// readFile takes lines of K=V; empty lines and those that begin with # say
// nothing. Values are taken as they are, quotes too.
func (v *Variables) readFile(c *call.Call) error {
	name := v.file
	if !filepath.IsAbs(name) {
		cwd, err := c.Getwd()
		if err != nil {
			return call.NoDirectory(err)
		}
		name = filepath.Join(cwd, name)
	}
	f, err := os.Open(name)
	if err != nil {
		return missions.Errorf(missions.KindNotFound, "name a file with lines of K=V", "--env-file: %w", err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for n := 1; s.Scan(); n++ {
		line := strings.TrimRight(s.Text(), "\r")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		if !flags.Assignment(line) {
			return missions.Errorf(missions.KindUsage, "write K=V", "%s: line %d is no K=V", v.file, n)
		}
		v.List = append(v.List, line)
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("read %s: %w", v.file, err)
	}
	return nil
}

// allNames names all that an agent will have in its environment.
func (v Variables) allNames(c *call.Call) []string {
	names := Variables{List: c.Environ()}.Names()
	names = append(names, v.Names()...)
	slices.Sort(names)
	return slices.Compact(names)
}

// Names are the variables' names, for the record.
func (v Variables) Names() []string {
	var names []string
	for _, kv := range v.List {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	return names
}
