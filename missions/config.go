package missions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// Config is the user's configuration. Every key has a default; an unknown key
// or a value that makes no sense is an error with its line, so that a typing
// mistake is not ignored in silence. ConfigKeys describes the keys.
type Config struct {
	Capture CaptureConfig
	Fork    ForkConfig
	Hooks   HooksConfig
	Adopt   AdoptConfig
	Watch   WatchConfig
	Launch  LaunchConfig
	Storage StorageConfig
	// Missions and Automations are the user's own to say, like Launch.
	Missions    MissionsConfig
	Automations AutomationsConfig
}

// CaptureConfig limits what a snapshot holds. A project's .umbra.yml may make
// each limit smaller and add secrets, never the reverse, for files that no
// snapshot holds yet: see limits.
type CaptureConfig struct {
	MaxFileSize int64    // bytes
	MaxFiles    int      // in a workspace
	MaxBytes    int64    // in a workspace
	Secrets     []string // patterns, beside the built-in ones
}

// ForkConfig says where forks go.
type ForkConfig struct {
	Root      string // default ~/umbra
	CopyLimit int64  // bytes of ignored files copied without asking
	Guard     bool   // keep a fork's file tools out of its source's workspace
}

// HooksConfig tunes the hooks.
type HooksConfig struct {
	MaxWait Duration // how long a prompt waits for the first import
	Tools   bool     // snapshot before tools that write
}

// AdoptConfig says which sessions started by hand become missions: globs over
// the session's directory.
type AdoptConfig struct {
	Include []string
	Exclude []string
}

// WatchConfig tunes idle detection.
type WatchConfig struct {
	Settle  Duration
	MaxWait Duration
}

// LaunchConfig names commands, so only the user's own file may hold it.
type LaunchConfig struct {
	Open string // run for each fork of --count; {id} is the mission
}

// Duration is a time.Duration written as 5s or 2m.
type Duration time.Duration

// DefaultConfig is the configuration of a user who has none.
func DefaultConfig() Config {
	return Config{
		Capture:     CaptureConfig{MaxFileSize: 64 << 20, MaxFiles: 1_000_000, MaxBytes: 20 << 30},
		Fork:        ForkConfig{Root: "~/umbra", CopyLimit: 2 << 30, Guard: true},
		Hooks:       HooksConfig{MaxWait: Duration(5 * time.Second), Tools: true},
		Watch:       WatchConfig{Settle: Duration(2 * time.Second), MaxWait: Duration(30 * time.Second)},
		Storage:     StorageConfig{MaxBytes: 100 << 30, KeepFree: 200 << 20},
		Automations: AutomationsConfig{TimeLimit: Duration(time.Minute)},
	}
}

// LoadConfig reads the user's configuration; a missing file is the default.
func LoadConfig(file string) (Config, error) {
	text, err := readConfigFile(file)
	if err != nil {
		return DefaultConfig(), err
	}
	return parseConfig(file, text)
}

// readConfigFile reads the text of a configuration, none if there is no file.
func readConfigFile(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return text, nil
}

func parseConfig(file string, text []byte) (Config, error) {
	c := DefaultConfig()
	if len(text) == 0 {
		return c, nil
	}
	if _, err := readConfig(text, ConfigKeys(), &c); err != nil {
		return DefaultConfig(), Errorf(KindUsage, "umbra config edit, or move the file away", "configuration %s: %w", file, err)
	}
	return c, nil
}

// ProjectConfigFile is a project's own configuration, in its workspace.
const ProjectConfigFile = ".umbra.yml"

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
