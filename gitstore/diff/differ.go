package diff

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// Detail is how much a Differ tells of two trees.
type Detail int

// The details; each tells what the ones above it tell.
const (
	Names Detail = iota // which files differ, renames paired
	Lines               // and how many of their lines
	Patch               // and the patch, which git apply takes but for binary files
)

const (
	// renameLimit is Git's default for diff.renameLimit.
	renameLimit = 1000
	// pairEnd is sent after each pair of trees. Git prints it again, and flushes: no
	// line of a patch begins so.
	pairEnd = "end of pair\n"
)

// File is how one path differs.
type File struct {
	gitstore.Change
	// OldPath is where a renamed file was, "" of others; Similarity how much of it is
	// in both, in percent.
	OldPath    string
	Similarity int
	// LinesAdded and LinesDeleted are zero where Binary is set, as it is of files over
	// 32 MiB.
	LinesAdded, LinesDeleted int
	Binary                   bool
}

// Type classifies the change, renames included.
func (f File) Type() gitstore.ChangeType {
	if f.OldPath != "" {
		return gitstore.Renamed
	}
	return f.Change.Type()
}

// Differences are what differs between two trees.
type Differences struct {
	Files []File
	Patch string
	// Unpaired counts the new files that may be renamed ones which were edited: they
	// were too many to be compared with those that are gone.
	Unpaired int
}

// A Differ compares trees as `git diff-tree -M` does: any number of pairs with one
// process, which is started for the first. It is not for concurrent use.
type Differ struct {
	store  *shadow.Store
	ctx    context.Context
	detail Detail
	paths  []string

	in      *os.File // nil before the first pair
	out     *bufio.Reader
	answers *io.PipeReader // below out
	stop    context.CancelFunc
	stopped chan struct{}
}

// New compares trees until the context ends: those paths of them and what lies
// below, or all if there are none. It must be closed.
func New(ctx context.Context, s *shadow.Store, detail Detail, paths ...string) *Differ {
	return &Differ{store: s, ctx: ctx, detail: detail, paths: paths}
}

// Trees compares two trees; the zero ID stands for the empty one. The error is
// git.ErrNotInstalled, a *git.Error where something of them is lost or damaged, or the context's.
func (d *Differ) Trees(a, b gitstore.ID) (Differences, error) {
	if a == b {
		return Differences{}, nil
	}
	if d.in == nil {
		if err := d.start(); err != nil {
			return Differences{}, err
		}
	}
	_, err := fmt.Fprintf(d.in, "%s %s\n%s", orEmptyTree(a), orEmptyTree(b), pairEnd)
	var diff Differences
	if err == nil {
		diff, err = d.answer()
	}
	if err != nil {
		d.Close()
		return Differences{}, err
	}
	return diff, nil
}

func orEmptyTree(id gitstore.ID) gitstore.ID {
	if id.IsZero() {
		return gitstore.EmptyTree()
	}
	return id
}

func (d *Differ) start() error {
	requests, in, err := os.Pipe()
	if err != nil {
		return err
	}
	answers, out := io.Pipe()
	ctx, stop := context.WithCancel(d.ctx)
	d.in, d.answers, d.out = in, answers, bufio.NewReaderSize(answers, 64<<10)
	d.stop, d.stopped = stop, make(chan struct{})
	command := d.command()
	command.Stdin, command.Stdout = requests, out
	go func() {
		defer close(d.stopped)
		_, err := git.Run(ctx, command)
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		out.CloseWithError(err)
		requests.Close()
	}()
	return nil
}

func (d *Differ) command() git.Command {
	args := []string{
		"--literal-pathspecs", "diff-tree", "--stdin", "-r", "-z", "-M", fmt.Sprintf("-l%d", renameLimit), "--no-rename-empty",
		"--no-ext-diff", "--no-textconv", "--raw",
	}
	if d.detail >= Lines {
		args = append(args, "--numstat")
	}
	if d.detail >= Patch {
		args = append(args, "-p")
	}
	return git.Command{
		Dir: d.store.Dir(), GitDir: d.store.Dir(), Env: d.store.GitEnv(), Config: []string{"core.bigFileThreshold=32m"},
		Args: append(append(args, "--"), d.paths...),
	}
}

// Close ends the process; another pair starts another one.
func (d *Differ) Close() {
	if d.in == nil {
		return
	}
	d.stop()
	d.answers.Close()
	<-d.stopped
	d.in.Close()
	d.in = nil
}

// answer reads what git says of one pair: a line that repeats it, then records that
// end with NUL, the files and their lines, then an empty record and the patch.
func (d *Differ) answer() (diff Differences, err error) {
	if _, err := d.out.ReadString('\n'); err != nil {
		return diff, err
	}
	counted := 0
	for {
		c, err := d.out.ReadByte()
		if err != nil {
			return diff, err
		}
		switch {
		case c == ':':
			err = d.readFile(&diff)
		case c == '-' || c >= '0' && c <= '9':
			err = errors.Join(d.out.UnreadByte(), d.readLines(diff.Files, &counted))
		case c == 0:
			diff.Patch, err = d.readPatch()
			diff.Unpaired = unpaired(diff.Files)
			return diff, err
		default:
			_, err = d.out.ReadString('\n')
			diff.Unpaired = unpaired(diff.Files)
			return diff, err
		}
		if err != nil {
			return diff, err
		}
	}
}

// field reads one that ends with NUL.
func (d *Differ) field() (string, error) {
	text, err := d.out.ReadString(0)
	return strings.TrimSuffix(text, "\x00"), err
}

// readFile reads "MODE MODE ID ID TYPE" and the path, or both paths of a rename.
func (d *Differ) readFile(diff *Differences) error {
	head, err := d.field()
	if err != nil {
		return err
	}
	parts := strings.Fields(head)
	if len(parts) != 5 {
		return fmt.Errorf("git diff-tree says %q of a file", head)
	}
	var f File
	for i, side := range []*gitstore.TreeEntry{&f.From, &f.To} {
		mode, merr := strconv.ParseUint(parts[i], 8, 32)
		id, ierr := gitstore.ParseID(parts[2+i])
		if err := errors.Join(merr, ierr); err != nil {
			return fmt.Errorf("git diff-tree says %q of a file: %w", head, err)
		}
		side.Mode, side.ID = gitstore.Mode(mode), id
	}
	if score, renamed := strings.CutPrefix(parts[4], string(gitstore.Renamed)); renamed {
		if f.Similarity, err = strconv.Atoi(score); err != nil {
			return err
		}
		if f.OldPath, err = d.field(); err != nil {
			return err
		}
	}
	f.Path, err = d.field()
	diff.Files = append(diff.Files, f)
	return err
}

// readLines reads "ADDED<tab>DELETED<tab>PATH", or no path there and then both of a
// rename, into the next of the files that is called so.
func (d *Differ) readLines(files []File, next *int) error {
	text, err := d.field()
	if err != nil {
		return err
	}
	parts := strings.SplitN(text, "\t", 3)
	if len(parts) != 3 {
		return fmt.Errorf("git diff-tree says %q of a file's lines", text)
	}
	if path := &parts[2]; *path == "" {
		if _, err = d.field(); err != nil {
			return err
		}
		if *path, err = d.field(); err != nil {
			return err
		}
	}
	for *next < len(files) && files[*next].Path != parts[2] {
		*next++
	}
	if *next == len(files) {
		return fmt.Errorf("git diff-tree counts lines of %s, which does not differ", gitstore.QuotePath(parts[2]))
	}
	f := &files[*next]
	if f.Binary = parts[0] == "-"; f.Binary {
		return nil
	}
	added, aerr := strconv.Atoi(parts[0])
	deleted, derr := strconv.Atoi(parts[1])
	f.LinesAdded, f.LinesDeleted = added, deleted
	return errors.Join(aerr, derr)
}

func (d *Differ) readPatch() (string, error) {
	var patch bytes.Buffer
	for begins := true; ; {
		line, err := d.out.ReadSlice('\n') // or as much of it as the buffer holds
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
		if begins && string(line) == pairEnd {
			return patch.String(), nil
		}
		patch.Write(line)
		begins = err == nil
	}
}

// unpaired tells from what is left whether Git compared it: each file that is gone
// with each that is new, but for empty ones, unless there were too many.
func unpaired(files []File) int {
	gone, made := 0, 0
	for _, f := range files {
		switch f.Type() {
		case gitstore.Deleted:
			if f.From.ID != gitstore.EmptyBlob() {
				gone++
			}
		case gitstore.Added:
			if f.To.ID != gitstore.EmptyBlob() {
				made++
			}
		}
	}
	if gone*made <= renameLimit*renameLimit {
		return 0
	}
	return made
}
