package restore

import (
	"cmp"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// Request is what is to be planned.
type Request struct {
	// From is S, the safety snapshot, and To is T, the target.
	From, To Side
	// Paths limit the plan to these files and directories; empty for all.
	Paths []string
	// Leave are files that are to be left as they are, and why.
	Leave map[string]Reason
	// Stays tells of a directory that is to be removed that it is to stay, whatever
	// becomes of what is in it: ReasonWorkspace. Nil if there is none.
	Stays func(dir string) bool
}

// Make plans a restore by the table in the rules: paths of T on which something
// lies that is not in S, paths of S that T's rules would not have captured, what S
// could not read, and all below that or below what S has left out whole, are kept. It changes nothing. What
// cannot be read of either snapshot is an error, never taken for "not there" (H3).
func Make(objects Objects, disk Disk, r Request) (*Plan, error) {
	if r.To.Rules == nil {
		return nil, ErrNoRules
	}
	p := newPlanner(objects, disk, &r.From, &r.To, r.Paths, r.Leave)
	p.isTargetDir, p.stays = p.inTarget, r.Stays
	if err := p.differences(); err != nil {
		return nil, err
	}
	d := &databasePlanner{planner: p}
	if err := d.plan(); err != nil {
		return nil, err
	}
	for _, c := range p.sorted() {
		if c.Action() == Delete && !isLog(c) {
			if err := p.judgeDeletion(c); err != nil {
				return nil, err
			}
		}
	}
	if err := p.modes(); err != nil {
		return nil, err
	}
	if err := p.obstructed(); err != nil {
		return nil, err
	}
	if err := p.resolve(p.open(r.To.empty())); err != nil {
		return nil, err
	}
	d.settle()
	if err := p.revealed(); err != nil {
		return nil, err
	}
	return p.plan(), nil
}

// planner is the making of one plan.
type planner struct {
	objects  Objects
	disk     Disk
	from, to *Side
	paths    []string
	leave    map[string]Reason

	changes  map[string]*Change
	keep     map[string]Reason
	dirModes []DirMode
	renames  []Rename
	deleted  map[string]string // folded path of a deletion, to its path
	makes    map[string]bool
	removes  map[string]bool // whether it makes room

	looks  map[string]look
	isDirs map[string]bool
	// isTargetDir tells whether a directory is to be there in the end.
	isTargetDir func(path string) (bool, error)
	stays       func(path string) bool // nil if none does
}

func newPlanner(objects Objects, disk Disk, from, to *Side, paths []string, leave map[string]Reason) *planner {
	return &planner{
		objects: objects, disk: disk, from: from, to: to, paths: paths, leave: leave,
		changes: map[string]*Change{}, keep: map[string]Reason{},
		makes: map[string]bool{}, removes: map[string]bool{},
		looks: map[string]look{}, isDirs: map[string]bool{},
	}
}

func (p *planner) wanted(path string) bool {
	return len(p.paths) == 0 || slices.ContainsFunc(p.paths, func(dir string) bool { return treepath.Covers(dir, path) })
}

// sorted are the changes that are still planned, by path.
func (p *planner) sorted() []*Change {
	out := make([]*Change, 0, len(p.changes))
	for _, c := range p.changes {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// leaveOut drops a change and reports the path.
func (p *planner) leaveOut(path string, why Reason) {
	delete(p.changes, path)
	p.keep[path] = why
}

// differences takes the changes from the difference of the two trees. T may be
// hostile: names that no capture writes are kept, and so is a path that it
// holds twice (H11).
func (p *planner) differences() error {
	var double []string
	err := p.objects.DiffTrees(p.from.Tree, p.to.Tree, func(d gitstore.Change) error {
		if !p.wanted(d.Path) {
			return nil
		}
		c := &Change{Path: d.Path, From: p.from.state(d.Path, d.From), To: p.to.state(d.Path, d.To)}
		if old, twice := p.changes[d.Path]; twice {
			if old.From != nil && c.From != nil || old.To != nil && c.To != nil {
				double = append(double, d.Path)
				return nil
			}
			c.From, c.To = cmp.Or(c.From, old.From), cmp.Or(c.To, old.To)
		}
		p.changes[d.Path] = c
		return nil
	})
	if err != nil {
		return err
	}
	for _, path := range double {
		p.leaveOut(path, ReasonCollision)
	}
	for _, c := range p.sorted() {
		p.admit(c)
	}
	p.collisions()
	return nil
}

func (p *planner) admit(c *Change) {
	if why, ok := p.leave[c.Path]; ok {
		p.leaveOut(c.Path, why)
		return
	}
	why, closed := p.from.closed(c.Path)
	switch {
	case hostile(c.Path):
		p.leaveOut(c.Path, ReasonHostile)
	case closed:
		// Although it may be readable by now: what S cannot give back is left alone.
		p.leaveOut(c.Path, Reason(why))
	case c.From != nil && !c.From.Mode.IsBlob(), c.To != nil && !c.To.Mode.IsBlob():
		p.leaveOut(c.Path, ReasonGitlink)
	case !c.Whole && c.From.holds(c.To) && c.From.Mode == c.To.Mode:
		// Met twice in a tree that is out of order, and equal after all.
		delete(p.changes, c.Path)
	}
}

// open are the directories of which S can tell; the others are kept.
func (p *planner) open(dirs []string) []string {
	var out []string
	for _, dir := range dirs {
		if why, closed := p.from.closed(dir); !closed {
			out = append(out, dir)
		} else if p.wanted(dir) && !hostile(dir) {
			p.keep[dir] = Reason(why)
		}
	}
	return out
}

func hostile(path string) bool {
	if beneath.CheckPath(path) != nil {
		return true
	}
	for name := range strings.SplitSeq(path, "/") {
		if _, _, scratch := beneath.ParseScratch(name); scratch {
			return true
		}
	}
	return false
}

// collisions finds paths that T wants as a file and as a directory.
func (p *planner) collisions() {
	for _, c := range p.sorted() {
		if c.To == nil {
			continue
		}
		for dir := treepath.Parent(c.Path); dir != ""; dir = treepath.Parent(dir) {
			above, ok := p.changes[dir]
			if ok && above.To != nil {
				p.leaveOut(dir, ReasonCollision)
			}
			if p.keep[dir] == ReasonCollision {
				p.leaveOut(c.Path, ReasonCollision)
			}
		}
	}
}

// judgeDeletion keeps what T would not have captured.
func (p *planner) judgeDeletion(c *Change) error {
	if why, ok := p.to.skipped(c.Path); ok {
		p.leaveOut(c.Path, Reason(why))
		return nil
	}
	candidate := documents.Candidate{Mode: c.From.Mode}
	if c.From.Mode != gitstore.ModeSymlink {
		r, size, err := p.objects.BlobReader(c.From.Blob)
		if err != nil {
			return err
		}
		_ = r.Close()
		candidate.Size = size
	}
	eligible, why, err := p.to.Rules.Eligible(c.Path, candidate)
	if err != nil {
		return err
	}
	if !eligible {
		p.leaveOut(c.Path, Reason(why))
	}
	return nil
}

// inTarget tells whether T holds the directory.
func (p *planner) inTarget(path string) (bool, error) {
	if known, ok := p.isDirs[path]; ok {
		return known, nil
	}
	is := slices.ContainsFunc(p.to.empty(), func(dir string) bool { return treepath.Covers(path, dir) })
	if !is {
		e, err := lookup(p.objects, p.to.Tree, path)
		if err != nil {
			return false, err
		}
		is = e.Mode.IsDir()
	}
	p.isDirs[path] = is
	return is, nil
}

// plan puts the result in order.
func (p *planner) plan() *Plan {
	out := &Plan{From: p.from.Tree, To: p.to.Tree, Renames: p.renames, DirModes: p.dirModes}
	for _, c := range p.sorted() {
		out.Changes = append(out.Changes, *c)
	}
	for path := range p.makes {
		out.MakeDirs = append(out.MakeDirs, Directory{Path: path, Perm: p.to.perm(path, gitstore.ModeDir)})
	}
	for path, frees := range p.removes {
		out.RemoveDirs = append(out.RemoveDirs, Directory{Path: path, Perm: p.from.perm(path, gitstore.ModeDir), Frees: frees})
	}
	for path, why := range p.keep {
		out.Keep = append(out.Keep, Kept{path, why})
	}
	slices.SortFunc(out.MakeDirs, topDown)
	slices.SortFunc(out.RemoveDirs, func(a, b Directory) int { return topDown(b, a) })
	slices.SortFunc(out.DirModes, func(a, b DirMode) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(out.Keep, func(a, b Kept) int { return strings.Compare(a.Path, b.Path) })
	out.Links = linksOf(out, p.from.Modes)
	return out
}

func topDown(a, b Directory) int {
	return cmp.Or(cmp.Compare(depth(a.Path), depth(b.Path)), strings.Compare(a.Path, b.Path))
}
