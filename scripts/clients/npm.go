package clients

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func (p pin) program(place string) string {
	return filepath.Join(place, "node_modules", ".bin", p.agent)
}

// ensure installs into a temporary directory and renames that into place, under
// a lock, so that what is in place is whole and was seen to run.
func (p pin) ensure(ctx context.Context, cache, place string) (err error) {
	if there(place) {
		return nil
	}
	unlock, err := lock(filepath.Join(cache, "lock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if there(place) {
		return nil
	}
	left, err := filepath.Glob(filepath.Join(cache, "installing-*"))
	if err != nil {
		return err
	}
	for _, dir := range left { // of a process that was killed: it held the lock
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp(cache, "installing-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := p.install(ctx, dir); err != nil {
		return err
	}
	return os.Rename(filepath.Join(dir, "tree"), place)
}

// install runs npm without the packages' scripts, then the one script that is
// known to place the program and to download nothing.
func (p pin) install(ctx context.Context, dir string) error {
	tree := filepath.Join(dir, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return err
	}
	if p.overrides != "" {
		about := fmt.Sprintf(`{"private":true,"overrides":%s}`, p.overrides)
		if err := os.WriteFile(filepath.Join(tree, "package.json"), []byte(about), 0o644); err != nil {
			return err
		}
	}
	words := append([]string{
		"install", "--ignore-scripts", "--no-audit", "--no-fund",
		"--cache", filepath.Join(dir, "npm"), "--prefix", tree, p.pkg + "@" + p.version,
	}, p.also...)
	if err := command(ctx, tree, "npm", words...)(); err != nil {
		return err
	}
	if p.after != "" {
		script := filepath.Join(tree, "node_modules", filepath.FromSlash(p.pkg), p.after)
		if err := command(ctx, tree, "node", script)(); err != nil {
			return err
		}
	}
	asked := exec.CommandContext(ctx, p.program(tree), "--version")
	asked.Env = append(os.Environ(), "PATH="+filepath.Dir(p.program(tree))+string(os.PathListSeparator)+os.Getenv("PATH"), unpackedAt(tree))
	out, err := asked.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s --version: %w: %s", p.agent, err, out)
	}
	if !bytes.Contains(out, []byte(p.version)) {
		return fmt.Errorf("%s --version says %s", p.agent, out)
	}
	return nil
}

func command(ctx context.Context, dir, name string, args ...string) func() error {
	return func() error {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", filepath.Base(name), err, out)
		}
		return nil
	}
}

func there(place string) bool {
	_, err := os.Stat(place)
	return !errors.Is(err, fs.ErrNotExist)
}

// lock waits for the file's lock. It is given up before the file is closed,
// since a child that is being started holds the descriptor too.
func lock(path string) (unlock func() error, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return func() error {
		return errors.Join(unix.Flock(int(file.Fd()), unix.LOCK_UN), file.Close())
	}, nil
}
