package gitstore

import (
	"bytes"
	"context"
)

// binaryProbe is how much of a file Git looks at for a NUL.
const binaryProbe = 8000

// diffableSize is the size above which a file's lines are not compared; it is
// treated like a binary one, as Git does with core.bigFileThreshold (512 MiB
// there).
const diffableSize = 32 << 20

// IsBinary reports whether Git would call content binary: a NUL among its first
// 8,000 bytes.
func IsBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), binaryProbe)], 0) >= 0
}

// FileStat is how one path changed.
type FileStat struct {
	Rename
	// LinesAdded and LinesDeleted are zero where Binary is set, which it is
	// too for files over 32 MiB and for gitlinks.
	LinesAdded, LinesDeleted int
	Binary                   bool
}

// DiffStat sums up the difference between two trees.
type DiffStat struct {
	Added, Modified, Deleted int
	LinesAdded, LinesDeleted int
}

// DiffStat compares two trees, line by line; the zero ID stands for the empty
// tree. A rename counts as an addition and a deletion, and of its lines those that
// were edited.
func (o *Objects) DiffStat(ctx context.Context, a, b ID) (DiffStat, error) {
	var sum DiffStat
	d, err := o.DiffFiles(ctx, a, b, nil)
	if err != nil {
		return sum, err
	}
	for _, f := range d.Files {
		switch f.Type() {
		case Added:
			sum.Added++
		case Deleted:
			sum.Deleted++
		case Renamed:
			sum.Added++
			sum.Deleted++
		default:
			sum.Modified++
		}
		sum.LinesAdded += f.LinesAdded
		sum.LinesDeleted += f.LinesDeleted
	}
	return sum, nil
}

// Differences are what differs between two trees.
type Differences struct {
	Files []FileStat
	// Unpaired counts the new files that may be renamed ones which were edited: they
	// were too many to be compared with those that are gone, or too large.
	Unpaired int
}

// DiffFiles lists what differs between two trees, renames paired, with line counts.
// Of files for which keep is false nothing is read, and they are left out; nil keeps
// all. A file that was edited and renamed is paired if both names are kept.
func (o *Objects) DiffFiles(ctx context.Context, a, b ID, keep func(Rename) bool) (Differences, error) {
	var changes []Change
	err := o.DiffTrees(a, b, func(c Change) error {
		changes = append(changes, c)
		return ctx.Err()
	})
	if err != nil {
		return Differences{}, err
	}
	renames, unpaired, err := o.SimilarRenames(ctx, changes, keep)
	if err != nil {
		return Differences{}, err
	}
	d := Differences{Files: make([]FileStat, 0, len(renames)), Unpaired: unpaired}
	for _, r := range renames {
		if err := ctx.Err(); err != nil {
			return Differences{}, err
		}
		if keep != nil && !keep(r) {
			continue
		}
		f, err := o.fileStat(r)
		if err != nil {
			return Differences{}, err
		}
		d.Files = append(d.Files, f)
	}
	return d, nil
}

func (o *Objects) fileStat(r Rename) (FileStat, error) {
	f := FileStat{Rename: r}
	if r.From.ID == r.To.ID {
		return f, nil
	}
	from, to, binary, err := o.sides(r.Change)
	if err != nil || binary {
		f.Binary = binary
		return f, err
	}
	for _, e := range diffLines(splitLines(from), splitLines(to)) {
		if !e.equal {
			f.LinesDeleted += e.aTo - e.aFrom
			f.LinesAdded += e.bTo - e.bFrom
		}
	}
	return f, nil
}

// sides reads both contents of a change; binary also stands for too large.
func (o *Objects) sides(c Change) (from, to []byte, binary bool, err error) {
	read := func(e TreeEntry) ([]byte, bool, error) {
		if e.ID.IsZero() {
			return nil, false, nil
		}
		if e.Mode == ModeGitlink {
			return nil, true, nil
		}
		r, size, err := o.BlobReader(e.ID)
		if err != nil {
			return nil, false, err
		}
		defer r.Close()
		if size > diffableSize {
			return nil, true, nil
		}
		buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		_, err = buf.ReadFrom(r)
		return buf.Bytes(), err == nil && IsBinary(buf.Bytes()), err
	}
	from, fromBinary, err := read(c.From)
	if err != nil {
		return nil, nil, false, err
	}
	to, toBinary, err := read(c.To)
	return from, to, fromBinary || toBinary, err
}
