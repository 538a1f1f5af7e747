package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// Origin says where a value comes from.
type Origin string

// The origins of a value; a later one counts more, but for a project's, which
// only narrows.
const (
	OriginDefault     Origin = "default"
	OriginUser        Origin = "user"
	OriginProject     Origin = "project"
	OriginEnvironment Origin = "environment"
)

// Setting is one key as it counts now.
type Setting struct {
	Key      string `json:"key"`
	Value    any    `json:"value"`
	Default  any    `json:"default"`
	Origin   Origin `json:"origin"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Variable string `json:"variable,omitempty"` // that overrides it
	Kind     string `json:"kind"`
	Help     string `json:"help"`
	// Words are the value as it is typed.
	Words []string `json:"-"`
}

// InForce are all keys as they count for a command with this environment in a
// workspace ("" for none): the user's file, narrowed by the project's own, and
// what variables override.
func InForce(file, workspace string, getenv func(string) string) ([]Setting, error) {
	config, err := Load(file)
	if err != nil {
		return nil, err
	}
	user, err := linesOf(file, Keys())
	if err != nil {
		return nil, err
	}
	narrowed, own := config, map[string]int{}
	if workspace != "" {
		capture, err := config.Capture.NarrowedBy(workspace)
		if narrowed.Capture = capture.Narrowest(); err != nil {
			return nil, err
		}
		if own, err = linesOf(filepath.Join(workspace, ProjectFile), projectKeys()); err != nil {
			return nil, err
		}
	}
	overridden, err := config.OverriddenBy(getenv)
	if err != nil {
		return nil, err
	}
	defaults := Default()
	var list []Setting
	for _, k := range Keys() {
		s := Setting{
			Key: k.Name, Value: k.value(config), Default: k.value(defaults), Origin: OriginDefault, Variable: k.Variable(), Kind: k.Kind(), Help: k.Help, Words: k.words(config),
		}
		if line := user[k.Name]; line > 0 {
			s.Origin, s.File, s.Line = OriginUser, file, line
		}
		if line := own[k.Name]; line > 0 && !reflect.DeepEqual(k.value(narrowed), s.Value) {
			s.Origin, s.File, s.Line = OriginProject, filepath.Join(workspace, ProjectFile), line
			s.Value, s.Words = k.value(narrowed), k.words(narrowed)
		}
		if k.overridden(getenv) {
			s.Origin, s.File, s.Line = OriginEnvironment, "", 0
			s.Value, s.Words = k.value(overridden), k.words(overridden)
		}
		list = append(list, s)
	}
	return list, nil
}

// linesOf are the lines on which a file says keys; none without a file.
func linesOf(file string, keys []Key) (map[string]int, error) {
	p, err := usergit.ReadFile(file, maxProjectFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	var c Config
	return readConfig(p, keys, &c)
}

// OverriddenBy is a configuration with what environment variables say instead. An
// empty variable says nothing. After an error it is the configuration as it was.
func (c Config) OverriddenBy(getenv func(string) string) (Config, error) {
	was := c
	for _, k := range Keys() {
		if !k.overridden(getenv) {
			continue
		}
		value, err := k.parse([]string{getenv(k.Variable())})
		if err != nil {
			return was, wrong("unset "+k.Variable()+", or export "+k.Variable()+"="+k.shown(), "%s %w", k.Variable(), err)
		}
		k.put(&c, value)
	}
	return c, nil
}

// OverridesWork reports whether a variable overrides a key that counts in the
// process which does the work: then nobody else can do it for this one.
func OverridesWork(getenv func(string) string) bool {
	return slices.ContainsFunc(Keys(), func(k Key) bool { return k.counts == working && k.overridden(getenv) })
}

func (k Key) overridden(getenv func(string) string) bool {
	name := k.Variable()
	return name != "" && getenv(name) != ""
}

// Template is a configuration file that says nothing yet, with every key
// in comments.
func Template(project bool) string {
	keys, head := Keys(), "# Umbra's configuration. Each key is shown with its default; docs: umbra config list\n"
	if project {
		keys, head = projectKeys(), "# What Umbra leaves out of this project's snapshots: these limits can only be made smaller.\n"
	}
	var b strings.Builder
	b.WriteString(head)
	section := ""
	defaults := Default()
	for _, k := range keys {
		of, name, _ := strings.Cut(k.Name, ".")
		if of != section {
			section = of
			fmt.Fprintf(&b, "\n#%s:\n", section)
		}
		text, err := yamlText(k, zeroOf(k))
		if err != nil {
			text = strings.Join(k.words(defaults), " ")
		}
		fmt.Fprintf(&b, "#  %s: %s  # %s\n", name, text, k.Help)
	}
	return b.String()
}

// Check reports what is wrong with the text of a configuration file.
func Check(text []byte, project bool) error {
	keys := Keys()
	if project {
		keys = projectKeys()
	}
	var c Config
	_, err := readConfig(text, keys, &c)
	return err
}
