package commits

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// file is an entry of the user's trees and indexes; the zero one is none.
type file struct{ mode, blob string }

// contents gives files of snapshots as the user's git has them: snapshots hold the bytes
// of the disk, and between these and Git are clean filters, line ends and LFS. They are
// written to a directory of their own, and added to an index from there.
type contents struct {
	repo    *repository
	shadow  string // the shadow repository
	scratch string
	index   string // of the branch: where a file has CRLF in it, git keeps it
	filters []string
	known   map[version]file
}

// version is a file of a tree.
type version struct{ tree, path string }

// newContents finds the user's filters.
func newContents(r *repository, shadow, scratch, index string) (*contents, error) {
	c := &contents{repo: r, shadow: shadow, scratch: scratch, index: index, known: map[version]file{}}
	out, err := r.git(run{args: []string{"config", "--null", "--get-regexp", `^filter\..*\.(clean|process)$`}})
	if err != nil && exitCode(err) != 1 { // 1: there is none
		return nil, err
	}
	return c, c.moveFilters(string(out))
}

// moveFilters has the filters run where the user's files are, since a command such as
// ./tools/clean is meant from there.
func (c *contents) moveFilters(configured string) error {
	n := 0
	for _, kv := range c.repo.environ {
		if count, ok := strings.CutPrefix(kv, "GIT_CONFIG_COUNT="); ok {
			var err error
			if n, err = strconv.Atoi(count); err != nil {
				return fmt.Errorf("GIT_CONFIG_COUNT: %w", err)
			}
		}
	}
	commands := map[string]string{} // the last one counts, and an empty one is none
	for entry := range strings.SplitSeq(configured, "\x00") {
		if key, command, ok := strings.Cut(entry, "\n"); ok {
			commands[key] = command
		}
	}
	for _, key := range slices.Sorted(maps.Keys(commands)) {
		if command := commands[key]; command != "" {
			c.filters = append(c.filters, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key),
				fmt.Sprintf("GIT_CONFIG_VALUE_%d=cd %s && %s", n, home.ShellQuote(c.repo.user.TopLevel), command))
			n++
		}
	}
	c.filters = append(c.filters, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
	return nil
}

// of gives a file of a tree that add has added.
func (c *contents) of(tree, path string) file { return c.known[version{tree, path}] }

// add takes files of one tree, by their paths in the workspace.
func (c *contents) add(tree string, files map[string]missions.LandingFile) error {
	blobs := map[string]missions.LandingFile{}
	for name, f := range files {
		if _, known := c.known[version{tree, name}]; !known && f.Exists() {
			blobs[name] = f
		}
	}
	if len(blobs) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp(c.scratch, "files-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	without, err := c.writeAttributes(dir, tree, blobs)
	if err != nil {
		return err
	}
	if err := c.writeFiles(filepath.Join(dir, filepath.FromSlash(c.repo.prefix)), blobs); err != nil {
		return err
	}
	return c.addFrom(dir, tree, blobs, without)
}

// addFrom lets git add files that are written in a directory to an index of its own, without
// attributes of the branch that the files' tree does not have: git takes those of the index
// where it finds none on the disk.
func (c *contents) addFrom(dir, tree string, blobs map[string]missions.LandingFile, without []string) error {
	index := filepath.Join(c.scratch, "add.index")
	if err := copyFile(c.index, index); err != nil {
		return err
	}
	var gone bytes.Buffer
	for _, name := range without {
		gone.WriteString(c.repo.prefix + name + "\x00")
	}
	remove := run{args: []string{"update-index", "--force-remove", "-z", "--stdin"}, env: []string{"GIT_INDEX_FILE=" + index}, input: &gone}
	if _, err := c.repo.git(remove); err != nil {
		return err
	}
	var paths bytes.Buffer
	for name := range blobs {
		paths.WriteString(c.repo.prefix + name + "\x00")
	}
	settings := []string{"core.fsmonitor=false", "core.splitIndex=false", "core.untrackedCache=false", "core.sparseCheckout=false", "index.sparse=false"}
	var args []string
	for _, kv := range settings {
		args = append(args, "-c", kv)
	}
	_, err := c.repo.git(run{
		args: append(args, "update-index", "--add", "--replace", "-z", "--stdin"), dir: dir, input: &paths,
		env: append([]string{"GIT_DIR=" + c.repo.user.GitDir, "GIT_WORK_TREE=" + dir, "GIT_INDEX_FILE=" + index}, c.filters...),
	})
	if err != nil {
		return missions.Errorf(missions.KindFailed, "git add of these files would fail as well: see the filters of git config", "git can't take the files as they are: %w", err)
	}
	entries, err := c.repo.entries(index)
	if err != nil {
		return err
	}
	for name := range blobs {
		c.known[version{tree, name}] = entries[c.repo.prefix+name]
	}
	return nil
}

// attributesName is the name of the files that say how git takes others.
const attributesName = ".gitattributes"

// mostArguments is how many paths one call of git takes: each may be of 4 KiB, and all
// together of 2 MiB.
const mostArguments = 400

// writeAttributes writes the files of a tree that say how git takes the given ones, and
// those above the workspace. Where a directory has no such file, its name is in without.
func (c *contents) writeAttributes(dir, tree string, blobs map[string]missions.LandingFile) (without []string, err error) {
	above := strings.TrimSuffix(c.repo.prefix, "/")
	for above != "" {
		if above = path.Dir(above); above == "." {
			above = ""
		}
		place := filepath.Join(above, attributesName)
		if info, err := os.Lstat(filepath.Join(c.repo.user.TopLevel, place)); err == nil && !info.Mode().IsRegular() {
			continue // git follows no link
		}
		if err := copyFile(filepath.Join(c.repo.user.TopLevel, place), filepath.Join(dir, place)); err != nil && !os.IsNotExist(err) {
			return nil, err
		}
	}
	asked := map[string]bool{}
	for name := range blobs {
		for at := path.Dir(name); ; at = path.Dir(at) {
			asked[path.Join(at, attributesName)] = true
			if at == "." {
				break
			}
		}
	}
	found := map[string]missions.LandingFile{}
	for names := range slices.Chunk(slices.Sorted(maps.Keys(asked)), mostArguments) {
		out, err := git.Run(c.repo.ctx, git.Command{GitDir: c.shadow, Args: append([]string{"ls-tree", "-z", tree, "--"}, names...)})
		if err != nil {
			return nil, err
		}
		for entry := range strings.SplitSeq(string(out), "\x00") {
			about, name, _ := strings.Cut(entry, "\t")
			if fields := strings.Fields(about); len(fields) == 3 && fields[1] == "blob" && fields[0] != modeSymlink { // git follows none
				found[name] = missions.LandingFile{Mode: fields[0], Blob: fields[2]}
			}
		}
	}
	for name := range asked {
		if !found[name].Exists() {
			without = append(without, name)
		}
	}
	return without, c.writeFiles(filepath.Join(dir, filepath.FromSlash(c.repo.prefix)), found)
}

// writeFiles writes files of the shadow repository as they were on the disk.
func (c *contents) writeFiles(dir string, files map[string]missions.LandingFile) error {
	var ids bytes.Buffer
	var names []string
	for name, f := range files {
		names = append(names, name)
		ids.WriteString(f.Blob + "\n")
	}
	reader, writer := io.Pipe()
	failed := make(chan error, 1)
	go func() {
		_, err := git.Run(c.repo.ctx, git.Command{GitDir: c.shadow, Args: []string{"cat-file", "--batch", "--buffer"}, Stdin: &ids, Stdout: writer})
		writer.CloseWithError(err)
		failed <- err
	}()
	err := writeBatch(bufio.NewReader(reader), dir, names, files)
	reader.CloseWithError(err)
	if gitErr := <-failed; gitErr != nil && (err == nil || err == io.ErrUnexpectedEOF) {
		err = gitErr
	}
	return err
}

// writeBatch writes what `git cat-file --batch` gives: a line that says how long a blob
// is, the blob, and a line's end.
func writeBatch(in *bufio.Reader, dir string, names []string, files map[string]missions.LandingFile) error {
	for _, name := range names {
		header, err := in.ReadString('\n')
		if err != nil {
			return io.ErrUnexpectedEOF
		}
		fields := strings.Fields(header)
		if len(fields) != 3 || fields[1] != "blob" {
			return missions.Errorf(missions.KindDamaged, "umbra doctor", "%s is lost from the snapshots: %s", name, strings.TrimSpace(header))
		}
		size, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), files[name].Mode, io.LimitReader(in, size)); err != nil {
			return err
		}
		if _, err := in.Discard(1); err != nil {
			return io.ErrUnexpectedEOF
		}
	}
	return nil
}

// The modes of files, as Git writes them.
const (
	modeExecutable = "100755"
	modeSymlink    = "120000"
)

// writeFile writes a file, or makes a symbolic link.
func writeFile(place, mode string, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return err
	}
	if mode == modeSymlink {
		target, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		return os.Symlink(string(target), place)
	}
	perm := os.FileMode(0o600)
	if mode == modeExecutable {
		perm = 0o700
	}
	out, err := os.OpenFile(place, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return err
}

// copyFile copies a small file.
func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// merge merges what two versions differ in into a third, as git merges a file. In the same
// lines theirs win if that is asked for. ok is false where git can't.
func (c *contents) merge(base, ours, theirs file, theirsWin bool) (merged file, ok bool, err error) {
	switch {
	case ours == base || ours == theirs:
		return theirs, true, nil
	case theirs == base:
		return ours, true, nil
	case !regular(base) || !regular(ours) || !regular(theirs):
		return file{}, false, nil
	}
	merged = file{mode: theirs.mode, blob: theirs.blob}
	if theirs.mode == base.mode {
		merged.mode = ours.mode
	}
	if ours.blob == base.blob || ours.blob == theirs.blob {
		return merged, true, nil
	}
	if theirs.blob == base.blob {
		merged.blob = ours.blob
		return merged, true, nil
	}
	var names []string
	for i, f := range []file{ours, base, theirs} {
		text, err := c.repo.git(run{args: []string{"cat-file", "blob", f.blob}})
		if err != nil {
			return file{}, false, err
		}
		name := filepath.Join(c.scratch, "side"+strconv.Itoa(i))
		if err := os.WriteFile(name, text, 0o600); err != nil {
			return file{}, false, err
		}
		names = append(names, name)
	}
	args := []string{"merge-file", "-p", "-q"}
	if theirsWin {
		args = append(args, "--theirs")
	}
	text, err := c.repo.git(run{args: append(args, names...)})
	if code := exitCode(err); code > 0 {
		return file{}, false, nil // conflicts, or it is binary
	}
	if err != nil {
		return file{}, false, err
	}
	merged.blob, err = c.store(text)
	return merged, err == nil, err
}

// store writes a blob as it is.
func (c *contents) store(text []byte) (string, error) {
	out, err := c.repo.git(run{args: []string{"hash-object", "-w", "--stdin"}, input: bytes.NewReader(text)})
	return strings.TrimSpace(string(out)), err
}

func regular(f file) bool { return slices.Contains([]string{"100644", modeExecutable}, f.mode) }
