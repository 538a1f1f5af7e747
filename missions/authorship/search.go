package authorship

import (
	"context"
	"errors"
	"maps"
	"slices"
	"unicode"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/diff"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/comparisons"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// version is what a file held in a snapshot.
type version struct {
	step *step
	path string
	blob gitstore.ID
}

// lineMap says for lines of a version which lines of the file that was asked for they are:
// several, where an older line stands twice now.
type lineMap map[int][]int

// search looks for the origins of lines, from the newest version back.
type search struct {
	*past
	ctx    context.Context
	store  *shadow.Store
	differ *diff.Differ
	trees  map[gitstore.ID]gitstore.ID // of a blob: a tree with nothing else
	open   map[version]lineMap
	known  map[string][]version // at a path
	heads  map[headPath]*committed
	found  map[int]missions.BlamedLine
}

func newSearch(ctx context.Context, g *past, store *shadow.Store) *search {
	return &search{
		past: g, ctx: ctx, store: store, differ: diff.New(ctx, store, diff.Patch), trees: map[gitstore.ID]gitstore.ID{},
		open: map[version]lineMap{}, known: map[string][]version{}, heads: map[headPath]*committed{}, found: map[int]missions.BlamedLine{},
	}
}

func (s *search) close() { s.differ.Close() }

// findOrigins finds where the lines of a version come from.
func (s *search) findOrigins(top version, first, last int) (map[int]missions.BlamedLine, error) {
	lines := lineMap{}
	for i := first; i <= last; i++ {
		lines[i] = []int{i}
	}
	s.pass(top, lines)
	for len(s.open) > 0 {
		newest := slices.MaxFunc(slices.Collect(maps.Keys(s.open)), func(a, b version) int { return a.step.rank - b.step.rank })
		lines := s.open[newest]
		delete(s.open, newest)
		if err := s.trace(newest, lines); err != nil {
			return nil, err
		}
	}
	return s.found, s.ctx.Err()
}

// pass says that lines are in an older version too.
func (s *search) pass(to version, lines lineMap) {
	if len(lines) == 0 {
		return
	}
	if s.open[to] == nil {
		s.open[to] = lineMap{}
	}
	for was, asked := range lines {
		s.open[to][was] = append(s.open[to][was], asked...)
	}
}

// trace passes on the lines of a version that are older. The others were new in it.
func (s *search) trace(v version, lines lineMap) error {
	before, err := s.versionBefore(v)
	if err != nil {
		return err
	}
	if before.blob == v.blob {
		s.pass(before, lines)
		return nil
	}
	own, err := s.madeItself(v)
	if err != nil {
		return err
	}
	if !own {
		same, err := s.sameContent(v)
		if err != nil {
			return err
		}
		if same.step != nil {
			s.pass(same, lines)
			return nil
		}
	}
	if !before.blob.IsZero() {
		older, err := s.olderLines(before.blob, v.blob)
		if err != nil {
			return err
		}
		s.pass(before, older.take(lines))
	}
	if err := s.passToSources(v, lines); err != nil {
		return err
	}
	if !own && len(lines) > 0 {
		if err := s.passByContent(v, v.path, lines); err != nil {
			return err
		}
	}
	if !own && len(lines) > 0 && v.step.operation() == "" {
		if err := s.passByCommits(v, lines); err != nil {
			return err
		}
	}
	return s.settle(v, lines, own)
}

// versionBefore is what the file held in the snapshot before, by the name that it had
// there. Its blob is zero if it was not there.
func (s *search) versionBefore(v version) (version, error) {
	if v.step.before == nil {
		return version{path: v.path}, nil
	}
	before, err := s.versionIn(v.step.before, v)
	if err != nil || !before.blob.IsZero() {
		return before, err
	}
	name, err := s.copiedFrom(before.step.snapshot.Tree, v.blob)
	if err != nil || name == "" {
		return before, err
	}
	before.path, before.blob = name, v.blob
	return before, nil
}

// versionIn is what the file of a version held in a snapshot before it, by the name that it had
// there. Its blob is zero if it was not there.
func (s *search) versionIn(before *step, v version) (version, error) {
	is := version{step: before, path: v.path}
	e, err := s.entryAt(before, v.path)
	if err != nil || !e.ID.IsZero() {
		is.blob = e.ID
		return is, err
	}
	name, err := comparisons.NameBefore(s.ctx, s.project, before.snapshot.Tree, v.step.snapshot.Tree, v.path)
	if err != nil || name == "" {
		return is, err
	}
	e, err = s.entryAt(before, name)
	is.path, is.blob = name, e.ID
	return is, err
}

// copiedFrom is a file of a tree with the same content, "" if there is none.
func (s *search) copiedFrom(tree, blob gitstore.ID) (name string, err error) {
	err = s.project.Store.WalkTree(tree, func(path string, e gitstore.TreeEntry) error {
		if e.ID == blob && e.Mode != gitstore.ModeSymlink {
			name = path
			return projects.ErrStopWalk
		}
		return s.ctx.Err()
	})
	if errors.Is(err, projects.ErrStopWalk) {
		err = nil
	}
	return name, err
}

// sameContent is an older version that held the same: the one that an operation names, or
// else the newest.
func (s *search) sameContent(v version) (version, error) {
	snap := v.step.snapshot.Snapshot
	for _, id := range []gitstore.ID{snap.RestoredFrom, snap.PromotedFrom, snap.ForkedFrom} {
		from := version{step: s.steps[id], path: v.path, blob: v.blob}
		if from.step == nil {
			continue
		}
		if e, err := s.entryAt(from.step, v.path); err != nil || e.ID == v.blob {
			return from, err
		}
	}
	older, err := s.olderVersions(v, v.path)
	for _, other := range older {
		if other.blob == v.blob {
			return other, err
		}
	}
	return version{}, err
}

// passToSources passes on the lines that an operation has taken from a snapshot that it names,
// however little they say.
func (s *search) passToSources(v version, lines lineMap) error {
	if v.step.operation() == "" {
		return nil
	}
	snap := v.step.snapshot.Snapshot
	for _, id := range append([]gitstore.ID{snap.RestoredFrom, snap.PromotedFrom}, snap.Parents...) {
		source := s.steps[id]
		if source == nil || source == v.step.before || len(lines) == 0 {
			continue
		}
		from, err := s.versionIn(source, v)
		if err != nil {
			return err
		}
		if from.blob.IsZero() {
			continue
		}
		taken, err := s.olderLines(from.blob, v.blob)
		if err != nil {
			return err
		}
		s.pass(from, taken.take(lines))
	}
	return nil
}

// olderVersions are what a path held before a version in any mission, newest first.
func (s *search) olderVersions(v version, path string) (older []version, err error) {
	all, read := s.known[path]
	if !read {
		if all, err = s.versionsAt(s.ctx, path); err != nil {
			return nil, err
		}
		s.known[path] = all
	}
	for _, other := range slices.Backward(all) {
		if other.step.rank < v.step.rank {
			older = append(older, other)
		}
	}
	return older, nil
}

// tellingText is how many letters and digits lines must have to be recognised anywhere, as
// with git blame -M.
const tellingText = 20

// passByContent passes on lines that a file at a path had before, in any mission. A merge, a
// promotion or the user's own git put them into this version.
func (s *search) passByContent(v version, path string, lines lineMap) error {
	older, err := s.olderVersions(v, path)
	if err != nil {
		return err
	}
	content, err := s.store.Blob(v.blob)
	if err != nil {
		return err
	}
	text, tried := textLines(content), map[gitstore.ID]bool{}
	for _, other := range older {
		if len(lines) == 0 {
			return nil
		}
		if tried[other.blob] {
			continue
		}
		tried[other.blob] = true
		kept, err := s.olderLines(other.blob, v.blob)
		if err != nil {
			return err
		}
		passed := lineMap{}
		for _, run := range kept.runs(text, lines) {
			for line := run.first; line <= run.last; line++ {
				was, _ := kept.line(line)
				passed[was] = lines[line]
				delete(lines, line)
			}
		}
		s.pass(other, passed)
	}
	return nil
}

// kept says which lines of a version an older one has.
type kept struct{ hunks []diff.Hunk }

// line is a line's number in the older version.
func (k kept) line(line int) (was int, ok bool) {
	shift := 0
	for _, h := range k.hunks {
		if line < h.NewFrom {
			break
		}
		if line < h.NewTo {
			return 0, false
		}
		shift = h.To - h.NewTo
	}
	return line + shift, true
}

// take takes the lines that the older version has out of a map, by their numbers there.
func (k kept) take(lines lineMap) lineMap {
	taken := lineMap{}
	for line, asked := range lines {
		if was, ok := k.line(line); ok {
			taken[was] = asked
			delete(lines, line)
		}
	}
	return taken
}

// joined reports whether two neighbouring lines were neighbours in the older version too.
// The ends of both files are neighbours.
func (k kept) joined(line, last int) bool {
	was, here := k.line(line)
	next, there := k.line(line + 1)
	switch {
	case line == 0:
		return there && next == 1
	case line == last:
		return here
	}
	return here && there && next == was+1
}

// run is lines that follow each other.
type run struct{ first, last int }

// runs are the wanted lines that the older version has, as far as that is no accident:
// they have enough text, or the same lines around them.
func (k kept) runs(text []string, wanted lineMap) (list []run) {
	for line := 1; line <= len(text); line++ {
		_, asked := wanted[line]
		if _, has := k.line(line); !asked || !has {
			continue
		}
		r := run{first: line, last: line}
		for {
			if _, asked := wanted[r.last+1]; !asked || !k.joined(r.last, len(text)) {
				break
			}
			r.last++
		}
		line = r.last
		letters := 0
		for _, t := range text[r.first-1 : r.last] {
			for _, c := range t {
				if unicode.IsLetter(c) || unicode.IsDigit(c) {
					letters++
				}
			}
		}
		if letters >= tellingText || letters > 0 && k.joined(r.first-1, len(text)) && k.joined(r.last, len(text)) {
			list = append(list, r)
		}
	}
	return list
}

// olderLines compares two versions, with git.
func (s *search) olderLines(old, now gitstore.ID) (kept, error) {
	if old == now {
		return kept{}, nil
	}
	from, err := s.treeOf(old)
	if err != nil {
		return kept{}, err
	}
	to, err := s.treeOf(now)
	if err != nil {
		return kept{}, err
	}
	d, err := s.differ.Trees(from, to)
	if err != nil {
		return kept{}, snapshots.NotCompared(from, to, err)
	}
	if len(d.Files) != 1 || d.Files[0].Binary {
		return kept{hunks: []diff.Hunk{{From: 1, To: 1, NewFrom: 1, NewTo: 1 << 30}}}, nil
	}
	hunks, err := diff.Hunks(d.Patch)
	return kept{hunks: hunks}, err
}

// treeOf is a tree with one file in it.
func (s *search) treeOf(blob gitstore.ID) (gitstore.ID, error) {
	if tree, ok := s.trees[blob]; ok {
		return tree, nil
	}
	batch := s.store.NewBatch()
	defer batch.Discard()
	tree, err := batch.Tree([]gitstore.TreeEntry{{Name: "file", Mode: gitstore.ModeFile, ID: blob}})
	if err == nil {
		err = batch.Flush(s.ctx)
	}
	s.trees[blob] = tree
	return tree, err
}

// settle says that lines were new in a version. What its mission has not written itself may
// have come with a commit of the user's.
func (s *search) settle(v version, lines lineMap, own bool) error {
	if len(lines) == 0 {
		return nil
	}
	operation := v.step.operation() != ""
	if !own && !operation {
		if err := s.settleByCommits(v, lines); err != nil {
			return err
		}
	}
	origin, err := s.originOf(v)
	if err != nil {
		return err
	}
	by := missions.AuthorMission
	switch {
	case v.step.pruned():
		origin.FirstTurn, origin.Turn = projects.PrunedBetween(v.step.before.snapshot, v.step.snapshot)
		origin.Prompt, origin.Message = "", projects.GapText(v.step.before.snapshot, v.step.snapshot)
		if !own {
			by, origin.Agent = missions.AuthorPruned, ""
		}
	case operation:
		origin.Prompt = "" // it is of the turn before
	case own:
	case v.step.before == nil:
		by, origin = missions.AuthorUnknown, missions.LineOrigin{At: origin.At, Message: "before " + origin.Mission}
	default:
		by, origin.Agent, origin.Prompt, origin.Message = missions.AuthorOther, "", "", "between turns"
	}
	for _, asked := range lines {
		for _, line := range asked {
			s.found[line] = missions.BlamedLine{By: by, LineOrigin: origin}
		}
	}
	return nil
}

// originOf describes a snapshot.
func (s *search) originOf(v version) (missions.LineOrigin, error) {
	snap := v.step.snapshot
	o := missions.LineOrigin{Turn: snap.Turn, Prompt: snap.Prompt, At: snap.At, Path: v.path, Message: "not in a snapshot yet"}
	m := s.missions[snap.Mission]
	if m != nil {
		o.Mission, o.Agent = m.Name, m.Agent
	}
	if v.step.now {
		o.Mission = s.mission.Name
		return o, nil
	}
	o.Snapshot, o.Address, o.Message = snap.ID.String(), snap.ID.Short(), snap.Message
	if m == nil {
		return o, nil
	}
	e, err := s.entries.LogEntry(s.ctx, m, snap, nil)
	o.Address, o.Message, o.At = e.Address, e.Label, e.At
	return o, err
}
