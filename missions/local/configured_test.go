package local

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// TestKeptConfig: while the user's file is broken, what it said when it was last
// read well counts, for as long as it takes, and status says so.
func TestKeptConfig(t *testing.T) {
	t.Parallel()
	h, err := home.Open(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(h.ConfigFile(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const broken = "capture: {max_files: many}\n"
	write(broken)
	if _, _, err := h.ReadConfig(); err == nil {
		t.Error("a file that was never read well is taken for one that was")
	}
	write("capture: {max_files: 7}\n")
	if c, wrong, err := h.ReadConfig(); c.Capture.MaxFiles != 7 || wrong != nil || err != nil {
		t.Errorf("read well: %d, %v, %v", c.Capture.MaxFiles, wrong, err)
	}
	write(broken)
	for range 2 {
		c, wrong, err := h.ReadConfig()
		if c.Capture.MaxFiles != 7 || wrong == nil || !strings.Contains(wrong.Error(), "many") || err != nil {
			t.Errorf("broken: %d, %v, %v", c.Capture.MaxFiles, wrong, err)
		}
	}
	if err := os.WriteFile(filepath.Join(h.Dir, home.LastGoodConfigFile), []byte(broken), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.ReadConfig(); err == nil {
		t.Error("what is kept is broken too, and believed")
	}
	if err := os.Remove(h.ConfigFile()); err != nil {
		t.Fatal(err)
	}
	if c, wrong, err := h.ReadConfig(); c.Capture.MaxFiles != settings.Default().Capture.MaxFiles || wrong != nil || err != nil {
		t.Errorf("no file: %d, %v, %v", c.Capture.MaxFiles, wrong, err)
	}
}

// TestConfigurationThatIsNoFile: what stands in the place of the configuration, or of
// what is kept of it, keeps nobody waiting; the one is named, the other replaced.
func TestConfigurationThatIsNoFile(t *testing.T) {
	t.Parallel()
	h, err := home.Open(filepath.Join(t.TempDir(), "home"))
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(h.Dir, home.LastGoodConfigFile)
	if err := syscall.Mkfifo(kept, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(h.ConfigFile(), []byte("capture: {max_files: 7}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, broken, err := h.ReadConfig(); c.Capture.MaxFiles != 7 || broken != nil || err != nil {
		t.Errorf("beside a FIFO: %d, %v, %v", c.Capture.MaxFiles, broken, err)
	}
	if p, err := os.ReadFile(kept); err != nil || len(p) == 0 {
		t.Errorf("what is kept: %q, %v", p, err)
	}
	if err := os.Remove(h.ConfigFile()); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(h.ConfigFile(), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, broken, err := h.ReadConfig(); c.Capture.MaxFiles != 7 || broken == nil || !strings.Contains(broken.Error(), h.ConfigFile()) || err != nil {
		t.Errorf("a FIFO: %d, %v, %v", c.Capture.MaxFiles, broken, err)
	}
	if err := os.Remove(kept); err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.ReadConfig(); missions.AsError(err).Hint == "" || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("with nothing kept: %v", err)
	}
}

func TestStatusNamesABrokenConfiguration(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.ConfigError = missions.Errorf(missions.KindUsage, "", "line 2: many is no number")
	s, err := b.local.Status(t.Context(), missions.StatusRequest{Caller: b.caller()})
	if err != nil || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Message, "many") || s.Problems[0].Fix != "umbra config edit" {
		t.Errorf("%+v, %v", s.Problems, err)
	}
}

// TestConfigurationBreaksMeanwhile: status and doctor say what is wrong with a
// configuration that was whole when their process began, and no more once it is mended.
func TestConfigurationBreaksMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for text, wrong := range map[string]int{"capture: {max_flies: 3}\n": 1, "capture: {max_files: 3}\n": 0} {
		if err := os.WriteFile(b.local.Home.ConfigFile(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := b.local.Status(t.Context(), missions.StatusRequest{Caller: b.caller()})
		if err != nil || len(s.Problems) != wrong {
			t.Errorf("status of %q: %+v, %v", text, s.Problems, err)
		}
		d, err := b.local.Doctor(t.Context(), missions.DoctorRequest{Caller: b.caller()})
		if err != nil || len(d.Problems) != wrong {
			t.Errorf("doctor of %q: %+v, %v", text, d.Problems, err)
		}
	}
}

// TestConfigurationCountsAtOnce: the next snapshot follows what the user has just set, such
// as that a file is a secret, in a process that began before.
func TestConfigurationCountsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.mission("work")
	if err := os.WriteFile(b.local.Home.ConfigFile(), []byte("capture: {secrets: ['*.vault']}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.write("key.vault", "secret")
	b.write("a.txt", "one\n")
	b.snapshot("")
	if !b.has("work", "a.txt", "one\n") || b.has("work", "key.vault", "secret") {
		t.Errorf("the snapshot lacks a.txt, or holds the secret: %+v", b.newest())
	}
}

// TestVariablesReachTheService: what overrides a key is sent along by every client.
func TestVariablesReachTheService(t *testing.T) {
	t.Parallel()
	for _, name := range settings.Variables() {
		if !slices.Contains(projects.CallerVariables(), name) {
			t.Errorf("%s does not reach the service", name)
		}
	}
}

// TestConfigurationErrors: what is wrong with a configuration has a kind of its own,
// and says what to type next.
func TestConfigurationErrors(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.yml")
	_, err := settings.FindKey("fork.rooot")
	if e := missions.AsError(fmt.Errorf("read: %w", err)); e.Kind != missions.KindUsage || e.Hint != "did you mean fork.root?" || !strings.HasPrefix(e.Message, "read: there is no key") {
		t.Errorf("%+v", e)
	}
	if e := missions.AsError(settings.Replace(file, []byte("was: other\n"), nil)); e.Kind != missions.KindConflict || e.Hint == "" {
		t.Errorf("%+v", e)
	}
}
