package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Checkout makes the tree of plain files that is at root a clean checkout of a
// repository of its own, whose objects are packed as after a clone. Nothing is
// removed meanwhile: see Stage.
func Checkout(ctx context.Context, root string) error {
	git := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.compression=1", "-c", "fastimport.unpackLimit=0"}, args...)...)
		cmd.Dir, cmd.Env = root, GitEnv(root)
		return cmd
	}
	if out, err := git("init", "-q", "-b", "main").CombinedOutput(); err != nil {
		return fmt.Errorf("make a repository: %w: %s", err, out)
	}
	load := git("fast-import", "--quiet", "--depth=0")
	in, err := load.StdinPipe()
	if err != nil {
		return fmt.Errorf("import the tree: %w", err)
	}
	if err := load.Start(); err != nil {
		return fmt.Errorf("import the tree: %w", err)
	}
	err = errors.Join(exportTree(in, root), in.Close())
	if err := errors.Join(err, load.Wait()); err != nil {
		return fmt.Errorf("import the tree: %w", err)
	}
	if out, err := git("reset", "-q").CombinedOutput(); err != nil {
		return fmt.Errorf("make the index: %w: %s", err, out)
	}
	// Git believes no entry of a file that is not older, by whole seconds, than
	// the index; the next status, which every prompt and editor asks for, writes
	// an index that is.
	time.Sleep(time.Second + 100*time.Millisecond)
	if out, err := git("status", "--porcelain").CombinedOutput(); err != nil || len(out) > 0 {
		return fmt.Errorf("look at the checkout: %w: %s", err, out)
	}
	return nil
}

// exportTree writes the files below root as git's fast-import reads them.
func exportTree(out io.Writer, root string) error {
	w := bufio.NewWriterSize(out, 1<<20)
	fmt.Fprintf(w, "commit refs/heads/main\ncommitter bench <bench@localhost> 1700000000 +0000\ndata 5\nfirst\n")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		return exportFile(w, root, path, entry)
	})
	return errors.Join(err, w.Flush())
}

func exportFile(w *bufio.Writer, root, path string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	mode, content := "100644", []byte(nil)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, rerr := os.Readlink(path)
		mode, content, err = "120000", []byte(target), rerr
	case info.Mode().IsRegular():
		if info.Mode()&0o100 != 0 {
			mode = "100755"
		}
		content, err = os.ReadFile(path)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "M %s inline %s\ndata %d\n", mode, name, len(content))
	_, err = w.Write(content)
	return errors.Join(err, w.WriteByte('\n'))
}
