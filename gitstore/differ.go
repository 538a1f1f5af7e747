package gitstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/git"
)

// DiffDetail is how much a Differ tells of two trees.
type DiffDetail int

// The details; each tells what the ones above it tell.
const (
	DiffNames DiffDetail = iota // which files differ, renames paired
	DiffLines                   // and how many of their lines
	DiffPatch                   // and the patch, which git apply takes but for binary files
)

const (
	// renameLimit is Git's default for diff.renameLimit.
	renameLimit = 1000
	// pairEnd is sent after each pair of trees. Git prints it again, and flushes: no
	// line of a patch begins so.
	pairEnd = "end of pair\n"
)

// FileDiff is how one path differs.
type FileDiff struct {
	Change
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
func (f FileDiff) Type() ChangeType {
	if f.OldPath != "" {
		return Renamed
	}
	return f.Change.Type()
}

// Differences are what differs between two trees.
type Differences struct {
	Files []FileDiff
	Patch string
	// Unpaired counts the new files that may be renamed ones which were edited: they
	// were too many to be compared with those that are gone.
	Unpaired int
}

// A Differ compares trees as `git diff-tree -M` does: any number of pairs with one
// process, which is started for the first. It is not for concurrent use.
type Differ struct {
	store  *Store
	ctx    context.Context
	detail DiffDetail
	paths  []string

	in      *os.File // nil before the first pair
	out     *bufio.Reader
	answers *io.PipeReader // below out
	stop    context.CancelFunc
	stopped chan struct{}
}

// Differ compares trees until the context ends: those paths of them and what lies
// below, or all if there are none. It must be closed.
func (s *Store) Differ(ctx context.Context, detail DiffDetail, paths ...string) *Differ {
	return &Differ{store: s, ctx: ctx, detail: detail, paths: paths}
}

// Trees compares two trees; the zero ID stands for the empty one. The error is
// git.ErrNotInstalled, a *git.Error where something of them is lost or damaged, or the context's.
func (d *Differ) Trees(a, b ID) (Differences, error) {
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

func orEmptyTree(id ID) ID {
	if id.IsZero() {
		return EmptyTree()
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
		"--no-ext-diff", "--no-textconv", "--full-index", "--raw",
	}
	if d.detail >= DiffLines {
		args = append(args, "--numstat")
	}
	if d.detail >= DiffPatch {
		args = append(args, "-p")
	}
	c := git.Command{
		Dir: d.store.dir, GitDir: d.store.dir, Config: []string{"core.bigFileThreshold=32m"},
		Args: append(append(args, "--"), d.paths...),
	}
	if d.store.IsScratch() {
		c.Env = []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quoteC(filepath.Join(d.store.area, "objects"))}
	}
	return c
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
	var f FileDiff
	for i, side := range []*TreeEntry{&f.From, &f.To} {
		mode, merr := strconv.ParseUint(parts[i], 8, 32)
		id, ierr := ParseID(parts[2+i])
		if err := errors.Join(merr, ierr); err != nil {
			return fmt.Errorf("git diff-tree says %q of a file: %w", head, err)
		}
		side.Mode, side.ID = Mode(mode), id
	}
	if score, renamed := strings.CutPrefix(parts[4], string(Renamed)); renamed {
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
func (d *Differ) readLines(files []FileDiff, next *int) error {
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
		return fmt.Errorf("git diff-tree counts lines of %s, which does not differ", QuotePath(parts[2]))
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
func unpaired(files []FileDiff) int {
	gone, made := 0, 0
	for _, f := range files {
		switch f.Type() {
		case Deleted:
			if f.From.ID != emptyBlob() {
				gone++
			}
		case Added:
			if f.To.ID != emptyBlob() {
				made++
			}
		}
	}
	if gone*made <= renameLimit*renameLimit {
		return 0
	}
	return made
}
