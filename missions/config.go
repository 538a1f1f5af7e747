package missions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// Config is the user's configuration. Every key has a default; an unknown key
// is an error, so that a typing mistake is not ignored in silence.
type Config struct {
	Capture CaptureConfig `yaml:"capture"`
	Fork    ForkConfig    `yaml:"fork"`
	Hooks   HooksConfig   `yaml:"hooks"`
	Adopt   AdoptConfig   `yaml:"adopt"`
	Watch   WatchConfig   `yaml:"watch"`
	Launch  LaunchConfig  `yaml:"launch"`
	Storage StorageConfig `yaml:"storage"`
}

// CaptureConfig limits what a snapshot holds. A project's .umbra.yml may make
// each limit smaller and add secrets, never the reverse.
type CaptureConfig struct {
	MaxFileSize int64    `yaml:"max_file_size"` // bytes
	MaxFiles    int      `yaml:"max_files"`     // in a workspace
	MaxBytes    int64    `yaml:"max_bytes"`     // in a workspace
	Secrets     []string `yaml:"secrets"`       // patterns, beside the built-in ones
}

// ForkConfig says where forks go.
type ForkConfig struct {
	Root      string `yaml:"root"`       // default ~/umbra
	CopyLimit int64  `yaml:"copy_limit"` // bytes of ignored files copied without asking
	Guard     bool   `yaml:"guard"`      // keep a fork's file tools out of its source's workspace
}

// HooksConfig tunes the hooks.
type HooksConfig struct {
	MaxWait Duration `yaml:"max_wait"` // how long a prompt waits for the first import
	Tools   bool     `yaml:"tools"`    // snapshot before tools that write
}

// AdoptConfig says which sessions started by hand become missions: globs over
// the session's directory.
type AdoptConfig struct {
	Include []string `yaml:"include"`
	Exclude []string `yaml:"exclude"`
}

// WatchConfig tunes idle detection.
type WatchConfig struct {
	Settle  Duration `yaml:"settle"`
	MaxWait Duration `yaml:"max_wait"`
}

// LaunchConfig names commands, so only the user's own file may hold it.
type LaunchConfig struct {
	Open string `yaml:"open"` // run for each fork of --count; {id} is the mission
}

// Duration is a time.Duration written as 5s or 2m.
type Duration time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || v < 0 {
		return fmt.Errorf("line %d: %q is no duration (use 500ms, 5s, 2m)", n.Line, n.Value)
	}
	*d = Duration(v)
	return nil
}

// DefaultConfig is the configuration of a user who has none.
func DefaultConfig() Config {
	return Config{
		Capture: CaptureConfig{MaxFileSize: 64 << 20, MaxFiles: 1_000_000, MaxBytes: 20 << 30},
		Fork:    ForkConfig{Root: "~/umbra", CopyLimit: 2 << 30, Guard: true},
		Hooks:   HooksConfig{MaxWait: Duration(5 * time.Second), Tools: true},
		Watch:   WatchConfig{Settle: Duration(2 * time.Second), MaxWait: Duration(30 * time.Second)},
		Storage: StorageConfig{MaxBytes: 100 << 30, KeepFree: 200 << 20},
	}
}

// LoadConfig reads the user's configuration; a missing file is the default.
func LoadConfig(file string) (Config, error) {
	c := DefaultConfig()
	p, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read the configuration: %w", err)
	}
	if err := decodeStrict(p, &c); err != nil {
		return c, Errorf(KindUsage, "mend "+file+", or move it away", "configuration %s: %w", file, err)
	}
	return c, nil
}

// unknownKey is how the decoder words it, with a type of ours.
var unknownKey = pattern(`field (\S+) not found in type \S+`)

// decodeStrict decodes one YAML document, refusing unknown keys.
func decodeStrict(p []byte, into any) error {
	d := yaml.NewDecoder(bytes.NewReader(p))
	d.KnownFields(true)
	if err := d.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		text := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n  ", "")
		text = unknownKey().ReplaceAllString(text, `unknown key "$1"`)
		return errors.New(strings.ReplaceAll(text, "\n  ", "; "))
	}
	return nil
}

// maxProjectFile is more than a project file can say.
const maxProjectFile = 1 << 20

// projectFile is what a project's own .umbra.yml may say.
type projectFile struct {
	Capture CaptureConfig `yaml:"capture"`
}

// forMission is narrowedBy for a mission that has begun: then a project file,
// which an agent may write, turns no capture off (H25). A budget of its own
// counts for the beginning alone, and one that can't be read leaves the limits
// as they were; status shows why.
func (c CaptureConfig) forMission(workspace string, before *CaptureConfig) CaptureConfig {
	narrow, err := c.narrowedBy(workspace)
	if err != nil && before != nil {
		return *before
	}
	narrow.MaxFiles, narrow.MaxBytes = c.MaxFiles, c.MaxBytes
	return narrow
}

// narrowedBy returns the limits after the project file of a workspace, which
// may only make them smaller. They are as they were after an error.
func (c CaptureConfig) narrowedBy(workspace string) (CaptureConfig, error) {
	file := filepath.Join(workspace, ".umbra.yml")
	p, err := usergit.ReadFile(file, maxProjectFile)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read %s: %w", file, err)
	}
	var own projectFile
	if err := decodeStrict(p, &own); err != nil {
		return c, Errorf(KindUsage, "a project file may set capture.max_file_size, max_files, max_bytes and secrets", "%s: %w", file, err)
	}
	c.MaxFileSize = smaller(c.MaxFileSize, own.Capture.MaxFileSize)
	c.MaxFiles = smaller(c.MaxFiles, own.Capture.MaxFiles)
	c.MaxBytes = smaller(c.MaxBytes, own.Capture.MaxBytes)
	c.Secrets = append(append([]string(nil), c.Secrets...), own.Capture.Secrets...)
	return c, nil
}

// smaller is the smaller limit, where zero sets none.
func smaller[N int | int64](a, b N) N {
	if b <= 0 || (a > 0 && a < b) {
		return a
	}
	return b
}

// adopts reports whether a session in dir is to become a mission.
func (c AdoptConfig) adopts(dir string) bool {
	in := func(patterns []string) bool {
		for _, p := range patterns {
			if ok, _ := path.Match(p, dir); ok || dir == p || strings.HasPrefix(dir, strings.TrimSuffix(p, "/")+"/") {
				return true
			}
		}
		return false
	}
	return (len(c.Include) == 0 || in(c.Include)) && !in(c.Exclude)
}
