package agents

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/sessions/claude"
)

// CallerConfig reads the configuration of Claude Code in a directory, behind what was read
// before, and what is left out of it for which reason.
func configOf(root string, entries int, bytes int64) (*configReader, map[string]error) {
	return configAfter(root, configReader{entries: entries, bytes: bytes})
}

func configAfter(root string, c configReader) (*configReader, map[string]error) {
	left := map[string]error{}
	c.adapter, c.root, c.leaveOut = claude.Adapter{}, root, func(name string, why error) { left[name] = why }
	for _, name := range []string{"CLAUDE.md", "agents", "skills", "rules"} {
		c.read(name, filepath.Ext(name) == "")
	}
	return &c, left
}

// TestConfigBounds: a part of which there is too much is left out whole, which is said
// once; what is before and behind it is kept.
func TestConfigBounds(t *testing.T) {
	t.Parallel()
	const room = 50
	files := func(dir string, size int64) error {
		for i := range 3 * room {
			name := filepath.Join(dir, fmt.Sprint(i))
			if err := cmp.Or(os.WriteFile(name, nil, 0o644), os.Truncate(name, size)); err != nil {
				return err
			}
		}
		return nil
	}
	for name, tt := range map[string]struct {
		entries int
		bytes   int64
		fill    func(dir string) error
	}{
		"bytes":                  {0, MaxConfigBytes - room<<10, func(dir string) error { return files(dir, 1<<10) }},
		"files in one directory": {maxConfigEntries - room, 0, func(dir string) error { return files(dir, 1) }},
		"directories": {maxConfigEntries - room, 0, func(dir string) error {
			for i := range 3 * room {
				if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint(i/10), fmt.Sprint(i)), 0o755); err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			big := filepath.Join(root, "skills", "big")
			if err := cmp.Or(
				os.MkdirAll(big, 0o755), os.MkdirAll(filepath.Join(root, "rules"), 0o755), os.MkdirAll(filepath.Join(root, "skills", "small"), 0o755), os.WriteFile(filepath.Join(root, "CLAUDE.md"), []byte("one"), 0o644),
				os.WriteFile(filepath.Join(root, "skills", "small", "SKILL.md"), []byte("small"), 0o644),
				os.WriteFile(filepath.Join(root, "rules", "late.md"), []byte("late"), 0o644), tt.fill(big),
			); err != nil {
				t.Fatal(err)
			}
			c, left := configOf(root, tt.entries, tt.bytes)
			if len(left) != 1 || !errors.Is(left["skills/big"], ErrConfigTooLarge) || c.bytes > MaxConfigBytes || c.entries > tt.entries+room {
				t.Errorf("%d entries, %d bytes, left out: %v", c.entries, c.bytes, left)
			}
			var names []string
			for _, f := range c.files {
				names = append(names, f.name)
			}
			if !slices.Equal(names, []string{"CLAUDE.md", "skills/small/SKILL.md", "rules/late.md"}) {
				t.Error("kept:", names)
			}
		})
	}
}

// TestConfigOfManyParts: a directory with too many parts costs no other one, and what is
// left out is not looked at for ever.
func TestConfigOfManyParts(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	const parts, each = 4, 60
	if err := cmp.Or(os.MkdirAll(filepath.Join(root, "rules"), 0o755), os.WriteFile(filepath.Join(root, "rules", "late.md"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	for i := range parts * each {
		if err := os.MkdirAll(filepath.Join(root, "skills", fmt.Sprint(i%parts), fmt.Sprint(i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c, left := configOf(root, maxConfigEntries-3, 0)
	if len(left) != 1 || !errors.Is(left["skills"], ErrConfigTooLarge) || len(c.files) != 1 {
		t.Errorf("too many parts: %d files, left out: %v", len(c.files), left)
	}
	c, left = configOf(root, maxConfigEntries-each, 0)
	if len(left) != parts || !errors.Is(left["skills/3"], ErrConfigTooLarge) || len(c.files) != 1 {
		t.Errorf("too much in each: %d files, left out: %v", len(c.files), left)
	}
	walked := maxConfigWalked - 3*each/2
	c, left = configAfter(root, configReader{entries: maxConfigEntries - each, walked: walked})
	if len(left) != 2 || !errors.Is(left["skills/0"], ErrConfigTooLarge) || !errors.Is(left["skills/1"], errConfigWalkTooLong) || len(c.files) != 0 {
		t.Errorf("too much in all: %d files, left out: %v", len(c.files), left)
	}
}

// TestConfigOfPrograms: what a program installed is no configuration, a large file is
// not read, and what is no directory keeps nobody waiting.
func TestConfigOfPrograms(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	large := filepath.Join(root, "skills", "s", "large.bin")
	for _, name := range []string{"skills/s/SKILL.md", "skills/s/.venv/lib/x.py", "skills/s/node_modules/x.js", "skills/s/__pycache__/x.pyc", "skills/s/.git/config", "skills/s/large.bin"} {
		if err := cmp.Or(os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755), os.WriteFile(filepath.Join(root, name), []byte("x"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmp.Or(os.Truncate(large, MaxConfigFileBytes+1), syscall.Mkfifo(filepath.Join(root, "agents"), 0o600)); err != nil {
		t.Fatal(err)
	}
	c, left := configOf(root, 0, 0)
	if len(c.files) != 1 || c.files[0].name != "skills/s/SKILL.md" || c.bytes != 1 || len(left) != 2 || !errors.Is(left["skills/s/large.bin"], errFileTooLarge) || left["agents"] == nil {
		t.Errorf("%d files, %d bytes, left out: %v", len(c.files), c.bytes, left)
	}
}
