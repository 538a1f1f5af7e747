package commands

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/missions"
)

// variables are the environment given to an agent at its launch. Their values
// go to the agent alone: a record holds the names, never the values.
type variables struct {
	given flags.List
	file  string
	list  []string // KEY=value
}

func (v *variables) flags() []flags.Flag {
	return []flags.Flag{
		flags.Strings("env", "set `K=V` for the agent (may be repeated)", &v.given),
		flags.String("env-file", "set what `FILE` says, a line of K=V each", &v.file),
	}
}

// read gathers the variables: the file's first, so that --env overrides it.
func (v variables) read(c *call.Call) (variables, error) {
	if v.file != "" {
		if err := v.readFile(c); err != nil {
			return v, err
		}
	}
	for _, kv := range v.given.Value() {
		if !flags.Assignment(kv) {
			return v, missions.Errorf(missions.KindUsage, "for example --env DEBUG=1", "--env %q is no K=V", kv)
		}
		v.list = append(v.list, kv)
	}
	return v, nil
}

// readFile takes lines of K=V; empty lines and those that begin with # say
// nothing. Values are taken as they are, quotes too.
func (v *variables) readFile(c *call.Call) error {
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
		v.list = append(v.list, line)
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("read %s: %w", v.file, err)
	}
	return nil
}

// names are the variables' names, for the record.
func (v variables) names() []string {
	var names []string
	for _, kv := range v.list {
		name, _, _ := strings.Cut(kv, "=")
		names = append(names, name)
	}
	return names
}
