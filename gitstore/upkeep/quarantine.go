package upkeep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// quarantine is an object directory for git alone: links to what the
// repository's own one holds, beside which git writes. Symbolic links, since a
// hard link would touch the inode of a pack that belongs to the user's
// repository too.
type quarantine struct {
	store *shadow.Store
	dir   string
}

func newQuarantine(s *shadow.Store) (*quarantine, error) {
	dir, err := filepath.Abs(filepath.Join(s.Dir(), repackDir))
	if err != nil {
		return nil, err
	}
	if dir, err = os.MkdirTemp(dir, "objects-"); err != nil {
		return nil, err
	}
	q := &quarantine{store: s, dir: dir}
	if err := q.fill(); err != nil {
		q.remove()
		return nil, fmt.Errorf("make a quarantine: %w", err)
	}
	return q, nil
}

func (q *quarantine) remove() { _ = os.RemoveAll(q.dir) } // what stays, the next Repack clears

// fill links the directories of loose objects, and each pack.
func (q *quarantine) fill() error {
	from, err := filepath.Abs(filepath.Join(q.store.Dir(), "objects"))
	if err != nil {
		return err
	}
	if err := errors.Join(os.Mkdir(filepath.Join(q.dir, "pack"), 0o700), os.Mkdir(filepath.Join(q.dir, "info"), 0o700)); err != nil {
		return err
	}
	dirs, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range dirs {
		if len(e.Name()) != 2 || !e.IsDir() {
			continue
		}
		if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(q.dir, e.Name())); err != nil {
			return err
		}
	}
	packs, err := os.ReadDir(filepath.Join(from, "pack"))
	if err != nil {
		return err
	}
	for _, e := range packs {
		if !strings.HasPrefix(e.Name(), "pack-") {
			continue
		}
		if err := os.Symlink(filepath.Join(from, "pack", e.Name()), filepath.Join(q.dir, "pack", e.Name())); err != nil {
			return err
		}
	}
	return q.borrow(from)
}

// borrow names the alternates, whose paths may be relative to the repository's
// own object directory.
func (q *quarantine) borrow(from string) error {
	dirs, err := objects.Alternates(from)
	if err != nil || len(dirs) < 2 {
		return err
	}
	var text strings.Builder
	for _, d := range dirs[1:] {
		text.WriteString(gitstore.QuotePath(d) + "\n")
	}
	return os.WriteFile(filepath.Join(q.dir, "info", "alternates"), []byte(text.String()), 0o600)
}

// repack runs git.
func (q *quarantine) repack(ctx context.Context, held *os.File) error {
	_, err := git.Run(ctx, q.command(held, "repack", "--geometric=2", "-q", "-n"))
	return err
}

// command runs git in the quarantine. Its memory is bounded: one thread, a window of 64
// MiB, no deltas for files over 64 MiB, which no snapshot holds unless its user has raised
// the cap. Git needs five to seven times the largest file that it makes deltas of.
func (q *quarantine) command(held *os.File, args ...string) git.Command {
	return git.Command{
		Dir: q.store.Dir(), GitDir: q.store.Dir(), Gentle: true, Inherit: []*os.File{held},
		Env: []string{"GIT_OBJECT_DIRECTORY=" + q.dir},
		Config: []string{
			"pack.threads=1", "pack.windowMemory=64m", "pack.deltaCacheSize=32m", "core.bigFileThreshold=64m",
			"pack.writeReverseIndex=false", "repack.writeBitmaps=false", "repack.packKeptObjects=false",
			"repack.useDeltaBaseOffset=true",
		},
		Args: args,
	}
}

// adopt moves what git has made to the repository, proved and durable but for
// the names, which dropDoubles makes so.
func (q *quarantine) adopt(ctx context.Context, stats *RepackStats) error {
	made, err := filepath.Glob(filepath.Join(q.dir, "pack", "pack-*.idx"))
	if err != nil {
		return err
	}
	for _, idx := range made {
		info, err := os.Lstat(idx)
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			continue // a link to one that was there before
		}
		pack, err := shadow.AdoptPack(ctx, q.store, strings.TrimSuffix(idx, ".idx"))
		if err != nil {
			return err
		}
		if !pack.WasThere {
			stats.Packed += pack.Objects
			stats.Freed -= pack.Bytes + pack.Index
		}
	}
	return nil
}
