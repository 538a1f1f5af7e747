package gitstore

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Rename pairs a change with the path that the content came from; OldPath is ""
// if there is none.
type Rename struct {
	Change
	OldPath string
	// Similarity is how much of the larger file is in both, in percent.
	Similarity int
}

// Type classifies the change, renames included.
func (r Rename) Type() ChangeType {
	if r.OldPath != "" {
		return Renamed
	}
	return r.Change.Type()
}

// What Git calls a rename, and how much of it is looked for (diffcore-rename.c).
const (
	wholeScore    = 60_000 // of two files that are the same
	leastScore    = wholeScore / 2
	leastNameSake = leastScore + (wholeScore-leastScore)/2 // for files that alone have a base name
	mostRivals    = 4                                      // sources that are remembered of a file
)

// The most that is spent on renames of files that were edited, beyond which those
// are left as they are: Git's default for diff.renameLimit, files gone times files
// new; bytes that are read; and pieces of files that are compared. The last two
// are Umbra's own, a second or two, since nobody waits for a log.
const (
	renameLimit    = 1000
	mostRenameRead = 128 << 20
	mostRenameWork = 1 << 28
)

// FindRenames pairs each added path with a deleted one of the same content, as Git
// does: each used once, one of the same base name first; the deletion is left out
// then. Empty files are not paired. The order of changes is kept.
func FindRenames(changes []Change) []Rename {
	p := newPairing(changes)
	p.exact()
	return p.list()
}

// SimilarRenames is FindRenames that also pairs files that were edited, as git diff
// -M does, where keep is true of both. The number is that of the added files which
// were not compared, since there were too many or they were too large.
func (o *Objects) SimilarRenames(ctx context.Context, changes []Change, keep func(Rename) bool) (list []Rename, unpaired int, err error) {
	p := newPairing(changes)
	p.exact()
	p.narrow(keep)
	if len(p.gone) == 0 || len(p.made) == 0 {
		return p.list(), 0, nil
	}
	s := &similarity{objects: o, ctx: ctx, sizes: map[ID]int64{}, prints: map[ID]fingerprint{}}
	if err := s.nameSakes(p); err != nil {
		return nil, 0, err
	}
	if err := s.others(p); err != nil {
		return nil, 0, err
	}
	if s.exhausted {
		unpaired = len(p.made)
	}
	return p.list(), unpaired, nil
}

// pairing is which deletion each addition is paired with.
type pairing struct {
	changes    []Change
	gone, made []int // what can be paired yet, as places in changes
	from       map[int]origin
	used       map[int]bool
}

// origin is a deletion, and how alike its file is.
type origin struct{ at, score int }

func newPairing(changes []Change) *pairing {
	p := &pairing{changes: changes, from: map[int]origin{}, used: map[int]bool{}}
	for i, c := range changes {
		switch c.Type() {
		case Deleted:
			if c.From.Mode.IsBlob() && c.From.ID != emptyBlob() {
				p.gone = append(p.gone, i)
			}
		case Added:
			if c.To.Mode.IsBlob() && c.To.ID != emptyBlob() {
				p.made = append(p.made, i)
			}
		}
	}
	return p
}

func (p *pairing) pair(made, gone, score int) {
	p.from[made], p.used[gone] = origin{gone, score}, true
}

// shrink forgets what is paired.
func (p *pairing) shrink() {
	p.gone = slices.DeleteFunc(p.gone, func(i int) bool { return p.used[i] })
	p.made = slices.DeleteFunc(p.made, func(i int) bool { _, paired := p.from[i]; return paired })
}

// narrow leaves regular files that are wanted. Others have no parts to compare.
func (p *pairing) narrow(keep func(Rename) bool) {
	unwanted := func(i int) bool {
		c := p.changes[i]
		return !regular(c.From.Mode) && !regular(c.To.Mode) || keep != nil && !keep(Rename{Change: c})
	}
	p.gone, p.made = slices.DeleteFunc(p.gone, unwanted), slices.DeleteFunc(p.made, unwanted)
}

// exact pairs what has the same content.
func (p *pairing) exact() {
	same := map[ID][]int{}
	for _, i := range p.gone {
		same[p.changes[i].From.ID] = append(same[p.changes[i].From.ID], i)
	}
	for _, i := range p.made {
		c, best := p.changes[i], -1
		for _, d := range same[c.To.ID] {
			old := p.changes[d]
			if p.used[d] || old.From.Mode != c.To.Mode && !(regular(old.From.Mode) && regular(c.To.Mode)) {
				continue
			}
			if baseName(old.Path) == baseName(c.Path) {
				best = d
				break
			}
			if best < 0 {
				best = d
			}
		}
		if best >= 0 {
			p.pair(i, best, wholeScore)
		}
	}
	p.shrink()
}

func (p *pairing) list() []Rename {
	out := make([]Rename, 0, len(p.changes)-len(p.used))
	for i, c := range p.changes {
		if p.used[i] {
			continue
		}
		r := Rename{Change: c}
		if s, ok := p.from[i]; ok {
			old := p.changes[s.at]
			r.OldPath, r.From, r.Similarity = old.Path, old.From, s.score*100/wholeScore
		}
		out = append(out, r)
	}
	return out
}

// similarity compares files, each of which it reads once, within bounds.
type similarity struct {
	objects    *Objects
	ctx        context.Context
	sizes      map[ID]int64
	prints     map[ID]fingerprint
	read, work int64
	exhausted  bool
}

// nameSakes pairs files whose base name no other file has that is gone or new.
func (s *similarity) nameSakes(p *pairing) error {
	gone, made := byBaseName(p.changes, p.gone), byBaseName(p.changes, p.made)
	for _, d := range p.gone {
		name := baseName(p.changes[d].Path)
		if s.exhausted || len(gone[name]) != 1 || len(made[name]) != 1 {
			continue
		}
		score, err := s.score(p.changes[d].From.ID, p.changes[made[name][0]].To.ID)
		if err != nil {
			return err
		}
		if score >= leastNameSake {
			p.pair(made[name][0], d, score)
		}
	}
	p.shrink()
	return nil
}

func byBaseName(changes []Change, places []int) map[string][]int {
	names := map[string][]int{}
	for _, i := range places {
		name := baseName(changes[i].Path)
		names[name] = append(names[name], i)
	}
	return names
}

// rival is a deletion that an addition may have come from.
type rival struct {
	made, gone, score int
	sameName          bool
}

// better orders rivals, the most similar first.
func better(a, b rival) int {
	switch {
	case a.score != b.score:
		return cmp.Compare(b.score, a.score)
	case a.sameName == b.sameName:
		return 0
	case a.sameName:
		return -1
	}
	return 1
}

// others compares what is left, each with each, and pairs the most similar first.
func (s *similarity) others(p *pairing) error {
	if len(p.gone)*len(p.made) > renameLimit*renameLimit {
		s.exhausted = true
	}
	var all []rival
	for _, i := range p.made {
		best, err := s.rivals(p, i)
		if err != nil {
			return err
		}
		if s.exhausted {
			return nil
		}
		all = append(all, best...)
	}
	slices.SortStableFunc(all, better)
	for _, r := range all {
		if r.score < leastScore {
			break
		}
		if _, paired := p.from[r.made]; !paired && !p.used[r.gone] {
			p.pair(r.made, r.gone, r.score)
		}
	}
	return nil
}

// rivals are the few deletions most like an addition.
func (s *similarity) rivals(p *pairing, made int) (best []rival, err error) {
	c := p.changes[made]
	for _, d := range p.gone {
		if s.exhausted {
			return nil, nil
		}
		score, err := s.score(p.changes[d].From.ID, c.To.ID)
		if err != nil {
			return nil, err
		}
		r := rival{made, d, score, baseName(p.changes[d].Path) == baseName(c.Path)}
		if len(best) < mostRivals {
			best = append(best, r)
			continue
		}
		worst := 0
		for i := range best {
			if better(best[i], best[worst]) > 0 {
				worst = i
			}
		}
		if better(best[worst], r) > 0 {
			best[worst] = r
		}
	}
	return best, s.ctx.Err()
}

// score is how alike two files are; 0 without reading them where their sizes alone
// differ by too much.
func (s *similarity) score(a, b ID) (int, error) {
	x, err := s.size(a)
	if err != nil {
		return 0, err
	}
	y, err := s.size(b)
	if err != nil {
		return 0, err
	}
	large, small := max(x, y), min(x, y)
	if large > diffableSize || large*int64(wholeScore-leastScore) < (large-small)*wholeScore {
		return 0, nil
	}
	f, err := s.print(a)
	if err != nil {
		return 0, err
	}
	g, err := s.print(b)
	if err != nil {
		return 0, err
	}
	s.work += int64(len(f) + len(g))
	s.exhausted = s.exhausted || s.work > mostRenameWork || s.read > mostRenameRead
	return int(int64(f.common(g)) * wholeScore / large), nil
}

func (s *similarity) size(id ID) (int64, error) {
	if n, known := s.sizes[id]; known {
		return n, nil
	}
	r, n, err := s.objects.BlobReader(id)
	if err != nil {
		return 0, err
	}
	s.sizes[id] = n
	return n, r.Close()
}

func (s *similarity) print(id ID) (fingerprint, error) {
	if f, known := s.prints[id]; known {
		return f, nil
	}
	content, err := s.objects.Blob(id)
	if err != nil {
		return nil, err
	}
	s.read += int64(len(content))
	f := fingerprintOf(content)
	s.prints[id] = f
	return f, s.ctx.Err()
}

func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func emptyBlob() ID {
	return ID{0xe6, 0x9d, 0xe2, 0x9b, 0xb2, 0xd1, 0xd6, 0x43, 0x4b, 0x8b,
		0x29, 0xae, 0x77, 0x5a, 0xd8, 0xc2, 0xe4, 0x8c, 0x53, 0x91}
}
