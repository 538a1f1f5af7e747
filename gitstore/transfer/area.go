package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// areaDir is where areas are, in the shadow repository.
const areaDir = "umbra/transfer"

// Area is a bare repository beside the shadow repository's objects, of which it can read
// all: git writes there and never among the shadow repository's own packs, some of which
// are the user's too. It goes with Remove, or when the next one is opened after its
// process has died.
type Area struct {
	store *shadow.Store
	dir   string
	held  *os.File
}

// Open makes an Area.
func Open(s *shadow.Store) (*Area, error) {
	above, err := filepath.Abs(filepath.Join(s.Dir(), areaDir))
	if err != nil {
		return nil, err
	}
	if err := disk.MakeDirs(s.Dir(), above); err != nil {
		return nil, err
	}
	if err := clear(above); err != nil {
		return nil, err
	}
	a := &Area{store: s}
	if err = a.makeDir(above); err == nil {
		err = a.fill()
	}
	if err != nil {
		a.Remove()
		return nil, fmt.Errorf("make a place for git: %w", err)
	}
	return a, nil
}

// makeDir makes and holds the area's directory. Who clears what others have left may take it in
// between: then it makes another.
func (a *Area) makeDir(above string) (err error) {
	for {
		if a.dir, err = os.MkdirTemp(above, "area-"); err != nil {
			return err
		}
		a.held, err = flock.Hold(a.dir, os.O_RDONLY, unix.LOCK_EX)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		_ = os.Remove(a.dir)
	}
}

// clear removes areas whose process is gone.
func clear(above string) error {
	return eachLeft(above, os.RemoveAll)
}

// eachLeft calls fn for each area whose process is gone, and holds it meanwhile.
func eachLeft(above string, fn func(path string) error) error {
	left, err := os.ReadDir(above)
	if err != nil {
		return gitstore.Ignoring(err, fs.ErrNotExist)
	}
	for _, e := range left {
		path := filepath.Join(above, e.Name())
		held, err := flock.Hold(path, os.O_RDONLY, unix.LOCK_EX)
		if err != nil {
			continue // somebody's, or gone
		}
		if err := errors.Join(fn(path), flock.Release(held)); err != nil {
			return err
		}
	}
	return nil
}

// Left lists the areas whose process is gone. One that is empty may have been made just now.
func Left(s *shadow.Store) (paths []string, err error) {
	err = eachLeft(filepath.Join(s.Dir(), areaDir), func(path string) error {
		in, err := os.ReadDir(path)
		if len(in) > 0 {
			paths = append(paths, path)
		}
		return gitstore.Ignoring(err, fs.ErrNotExist)
	})
	return paths, err
}

// Clear removes them, with what was decrypted there.
func Clear(s *shadow.Store) error { return clear(filepath.Join(s.Dir(), areaDir)) }

func (a *Area) fill() error {
	own, err := filepath.Abs(filepath.Join(a.store.Dir(), "objects"))
	if err != nil {
		return err
	}
	dirs, err := objects.Alternates(own)
	if err != nil {
		return err
	}
	if scratch := filepath.Dir(a.store.PackDir()); scratch != own && a.store.IsScratch() {
		dirs = append(dirs, scratch)
	}
	var alternates strings.Builder
	for _, dir := range dirs {
		alternates.WriteString(gitstore.QuotePath(dir) + "\n")
	}
	for _, dir := range []string{"refs", "objects", "objects/info", "objects/pack"} {
		if err := os.Mkdir(filepath.Join(a.dir, dir), 0o700); err != nil {
			return err
		}
	}
	files := map[string]string{
		"HEAD":                    "ref: " + gitstore.UnbornHead + "\n",
		"config":                  "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
		"objects/info/alternates": alternates.String(),
	}
	boundary, err := disk.ReadFile(filepath.Join(a.store.Dir(), "shallow"))
	if err == nil {
		files["shallow"] = string(boundary)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Dir is the area's repository, for git to read.
func (a *Area) Dir() string { return a.dir }

// EndAt has histories end at commits that the other side has, and what is before them too.
func (a *Area) EndAt(ids []gitstore.ID) error {
	shallow, err := os.OpenFile(filepath.Join(a.dir, "shallow"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := fmt.Fprintln(shallow, id); err != nil {
			return errors.Join(err, shallow.Close())
		}
	}
	return shallow.Close()
}

// Remove takes the area away.
func (a *Area) Remove() {
	_ = os.RemoveAll(a.dir) // what stays, the next Open clears
	if a.held != nil {
		_ = flock.Release(a.held)
	}
}

// uncheckedNames are what git's check of objects says of files that a client may check out
// and follow. Umbra keeps what a workspace holds, and follows none of them.
func uncheckedNames() (config []string) {
	for _, id := range []string{
		"gitmodulesBlob", "gitmodulesLarge", "gitmodulesName", "gitmodulesPath", "gitmodulesSymlink", "gitmodulesUpdate", "gitmodulesUrl",
		"gitattributesBlob", "gitattributesLarge", "gitattributesLineLength",
	} {
		config = append(config, "fetch.fsck."+id+"=ignore")
	}
	return config
}

// Fetch brings commits of a remote, by the names that it has for them, with everything
// that they need. Git proves each object. Whole, it brings also what is here, or was lost here.
func (a *Area) Fetch(ctx context.Context, r Remote, refs []Ref, whole bool) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--recurse-submodules=no", "--stdin"}
	if whole {
		boundary, _, err := prunedBoundary(a.store)
		if err == nil {
			err = os.WriteFile(filepath.Join(a.dir, "shallow"), boundary, 0o600)
		}
		if err != nil {
			return err
		}
		args = append(args, "--refetch")
	}
	var specs strings.Builder
	for _, ref := range refs {
		fmt.Fprintf(&specs, "%s:%s\n", ref.Name, ref.Name)
	}
	_, err := git.Run(ctx, git.Command{
		GitDir: a.dir, Dir: a.dir, User: r.user(), Stdin: strings.NewReader(specs.String()),
		Config: append(append(uncheckedNames(), boundedMemory()...),
			"fetch.fsckObjects=true", "fetch.unpackLimit=1", "transfer.unpackLimit=1", "fetch.writeCommitGraph=false", "pack.writeReverseIndex=false", "fetch.recurseSubmodules=no", "fetch.parallel=1", "fetch.bundleURI=", "transfer.bundleURI=false"),
		Args: append(args, "--", r.URL),
	})
	return r.failed(err)
}

// HasLost reports whether a history of the shadow repository breaks off at something that was
// lost, and not pruned.
func HasLost(s *shadow.Store) (bool, error) {
	_, has, err := prunedBoundary(s)
	return has, err
}

// prunedBoundary lists the commits at which pruning has cut histories, as Git reads it. Those
// before which something was lost are left out.
func prunedBoundary(s *shadow.Store) (shallow []byte, hasLost bool, err error) {
	all, err := disk.ReadFile(filepath.Join(s.Dir(), "shallow"))
	if err == nil {
		err = s.Reread()
	}
	if err != nil {
		return nil, false, gitstore.Ignoring(err, fs.ErrNotExist)
	}
	for line := range bytes.Lines(all) {
		id, err := gitstore.ParseID(string(bytes.TrimSpace(line)))
		if err != nil {
			return nil, false, err
		}
		c, err := s.Commit(id)
		if gitstore.Ignoring(err, gitstore.ErrMissing) != nil {
			return nil, false, err
		}
		if err == nil && c.PrunedAt.IsZero() {
			hasLost = true
			continue
		}
		shallow = append(shallow, line...)
	}
	return shallow, hasLost, nil
}

// Refs are what has been fetched.
func (a *Area) Refs(ctx context.Context) (refs []Ref, err error) {
	out, err := git.Run(ctx, git.Command{GitDir: a.dir, Args: []string{"for-each-ref", "--format=%(objectname) %(refname)"}})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		hex, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		id, err := gitstore.ParseID(hex)
		if err != nil {
			return nil, err
		}
		refs = append(refs, Ref{Name: name, ID: id})
	}
	return refs, nil
}

// Adopt moves what was fetched into the shadow repository, proved and durable. It counts
// the objects, and the bytes that they take.
func (a *Area) Adopt(ctx context.Context) (number int, bytes int64, err error) {
	made, err := filepath.Glob(filepath.Join(a.dir, "objects", "pack", "pack-*.idx"))
	if err != nil {
		return 0, 0, err
	}
	for _, idx := range made {
		pack, err := shadow.AdoptPack(ctx, a.store, strings.TrimSuffix(idx, ".idx"))
		if err != nil {
			return number, bytes, err
		}
		number, bytes = number+pack.Objects, bytes+pack.Bytes
	}
	if err := a.store.SyncPath(a.store.PackDir()); err != nil {
		return number, bytes, err
	}
	return number, bytes, a.store.Rescan()
}

// Bundle writes commits, with everything that they need beside known commits and the names that
// they are given, to out: gitformat-bundle(5).
func (a *Area) Bundle(ctx context.Context, refs []Ref, known []gitstore.ID, out io.Writer) error {
	for _, ref := range refs {
		path := filepath.Join(a.dir, filepath.FromSlash(ref.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(ref.ID.String()+"\n"), 0o600); err != nil {
			return err
		}
	}
	without := []string{"--all"}
	for _, id := range known {
		without = append(without, "^"+id.String())
	}
	if err := a.checkWhole(ctx, without); err != nil {
		return err
	}
	_, err := git.Run(ctx, git.Command{
		GitDir: a.dir, Dir: a.dir, Stdout: out,
		Config: boundedMemory(),
		Args:   append([]string{"bundle", "create", "--quiet", "-"}, without...),
	})
	var failed *git.Error
	if errors.As(err, &failed) && strings.Contains(failed.Stderr, "empty bundle") {
		return ErrNothingNew
	}
	return err
}

// ErrCut is the error of a bundle of a history whose older commits are gone: a bundle can't
// say where a history was cut, so that nobody could read it.
var ErrCut = errors.New("older snapshots of it are gone")

// ErrNothingNew is the error of a bundle without a commit: all are known.
var ErrNothingNew = errors.New("there is no new commit")

// CheckWhole reports ErrCut if a bundle of commits beside known ones could be read nowhere.
func (a *Area) CheckWhole(ctx context.Context, tips, known []gitstore.ID) error {
	var revisions []string
	for _, id := range tips {
		revisions = append(revisions, id.String())
	}
	for _, id := range known {
		revisions = append(revisions, "^"+id.String())
	}
	return a.checkWhole(ctx, revisions)
}

// checkWhole reports ErrCut if the area's refs lead to a commit before which the history was
// cut.
func (a *Area) checkWhole(ctx context.Context, revisions []string) error {
	cuts, err := os.ReadFile(filepath.Join(a.dir, "shallow"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(cuts) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	roots, err := git.Run(ctx, git.Command{GitDir: a.dir, Dir: a.dir, Args: append([]string{"rev-list", "--max-parents=0"}, revisions...)})
	if err != nil {
		return err
	}
	for root := range bytes.Lines(roots) {
		if bytes.Contains(cuts, bytes.TrimSpace(root)) {
			return ErrCut
		}
	}
	return nil
}
