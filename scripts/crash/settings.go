package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// settingsFile is what the agent reads its hooks from.
func (w *world) settingsFile() string {
	return filepath.Join(w.umbra.Base, "home", ".claude", "settings.json")
}

// settings leaves a user's own settings: none, a file, or a link to one elsewhere.
func (w *world) settings() (own []byte, err error) {
	file := w.settingsFile()
	elsewhere := filepath.Join(w.umbra.Base, "home", "dotfiles", "settings.json")
	if err := errors.Join(removeAll(file, elsewhere), os.MkdirAll(filepath.Dir(file), 0o700)); err != nil {
		return nil, err
	}
	kind := w.rand.IntN(3)
	if kind == 0 {
		return nil, nil
	}
	own = fmt.Appendf(nil, "{\n    \"model\": \"number %d\",\n\t\"hooks\": {}\n}\n", w.made)
	if kind == 1 {
		return own, os.WriteFile(file, own, 0o640)
	}
	if err := w.write(elsewhere, string(own)); err != nil {
		return nil, err
	}
	return own, os.Symlink(elsewhere, file)
}

// installing puts hooks into the agent's settings.
func installing(_ context.Context, w *world) (scene, error) {
	w.made++
	own, err := w.settings()
	if err != nil {
		return scene{}, err
	}
	old, _, err := survey(w.work)
	return scene{args: []string{"hooks", "install", "claude"}, old: old, settle: func(ctx context.Context, w *world, f fate) error {
		return w.endSettings(ctx, own, f)
	}}, err
}

// uninstalling takes them out again.
func uninstalling(ctx context.Context, w *world) (scene, error) {
	s, err := installing(ctx, w)
	if err != nil {
		return s, err
	}
	if _, err := w.alone(ctx, w.work, s.args...); err != nil {
		return s, err
	}
	s.args = []string{"hooks", "uninstall", "claude"}
	return s, nil
}

// endSettings checks that the settings are the user's own, or those with hooks;
// that both commands can be typed again; and that then all is as it was, to the
// byte.
func (w *world) endSettings(ctx context.Context, own []byte, f fate) error {
	now, err := w.readSettings()
	if err != nil {
		return err
	}
	if _, err := w.alone(ctx, w.work, "hooks", "install", "claude"); err != nil {
		return err
	}
	with, err := w.readSettings()
	if err != nil {
		return err
	}
	if !bytes.Equal(now, own) && !bytes.Equal(now, with) {
		return fmt.Errorf("after %s the settings are neither\n%s\nnor\n%s\nbut\n%s", f, own, with, now)
	}
	if _, err := w.alone(ctx, w.work, "hooks", "uninstall", "claude"); err != nil {
		return err
	}
	if now, err = w.readSettings(); err != nil || !bytes.Equal(now, own) {
		return fmt.Errorf("the settings were\n%s\nand are\n%s (%v)", own, now, err)
	}
	return leftovers(filepath.Join(w.umbra.Base, "home"))
}

// readSettings reads them, nil where there are none.
func (w *world) readSettings() ([]byte, error) {
	text, err := os.ReadFile(w.settingsFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}
