package searches

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/searches/trigrams"
	"github.com/umbra-vcs/umbra/sessions"
)

// subagentFile is what a subagent of a run said, as the last of some snapshots in a row has
// it: in those before, the file is the beginning of that.
type subagentFile struct {
	subagent    string
	side        string
	id          gitstore.ID // of its content in the last of them
	first, last int         // of the run's snapshots
	path        string      // the agent's own file, if that holds more; "" otherwise
}

// delegating is the adapter of a run, if its agent has subagents in files of their own.
func (sr *Searcher) delegating(r *run) (sessions.Delegating, bool) {
	a, ok := sr.Adapter(r.meta.Agent).(sessions.Delegating)
	return a, ok
}

// subagentSides are the files of subagents that a snapshot of a run has.
func (sr *Searcher) subagentSides(a sessions.Delegating, r *run, at int) (map[string]gitstore.ID, error) {
	if known, ok := r.sides[at]; ok {
		return known, nil
	}
	list, err := records.SessionSides(r.mission.Project.Store, r.snapshots[at].Record)
	if err != nil {
		return nil, err
	}
	sides := map[string]gitstore.ID{}
	for _, side := range list {
		if _, ok := a.Subagent(side.Name); ok {
			sides[side.Name] = side.ID
		}
	}
	r.sides[at] = sides
	return sides, nil
}

// subagentFiles are what a run has of what its subagents said, by the names of the files.
func (sr *Searcher) subagentFiles(a sessions.Delegating, r *run) ([]subagentFile, error) {
	files, err := sr.splitSubagents(a, r, 0, len(r.snapshots)-1)
	slices.SortStableFunc(files, func(x, y subagentFile) int { return cmp.Compare(x.side, y.side) })
	return files, err
}

// splitSubagents looks at snapshots from first to last. Only where something of the first is
// not in the last are those between them looked at.
func (sr *Searcher) splitSubagents(a sessions.Delegating, r *run, first, last int) ([]subagentFile, error) {
	then, err := sr.subagentSides(a, r, first)
	if err != nil {
		return nil, err
	}
	now, err := sr.subagentSides(a, r, last)
	if err != nil {
		return nil, err
	}
	whole := true
	for side, id := range then {
		goes, err := goesOn(r.mission.Project, id, now[side])
		if err != nil {
			return nil, err
		}
		whole = whole && goes
	}
	if whole || first == last {
		var files []subagentFile
		for _, side := range slices.Sorted(maps.Keys(now)) {
			subagent, _ := a.Subagent(side)
			files = append(files, subagentFile{subagent: subagent, side: side, id: now[side], first: first, last: last})
		}
		return files, nil
	}
	half := first + (last-first)/2
	before, err := sr.splitSubagents(a, r, first, half)
	if err != nil {
		return nil, err
	}
	after, err := sr.splitSubagents(a, r, half+1, last)
	if err != nil {
		return nil, err
	}
	for i, f := range after {
		at := slices.IndexFunc(before, func(b subagentFile) bool { return b.side == f.side && b.last == half && f.first == half+1 })
		if at < 0 {
			continue
		}
		next, err := sr.subagentSides(a, r, half+1)
		if err != nil {
			return nil, err
		}
		goes, err := goesOn(r.mission.Project, before[at].id, next[f.side])
		if err != nil {
			return nil, err
		}
		if goes {
			after[i].first = before[at].first
			before = slices.Delete(before, at, at+1)
		}
	}
	return append(before, after...), nil
}

// goesOn reports whether a file may be the beginning of what it is later: agents add to what
// subagents said, or write it anew.
func goesOn(p *projects.Project, then, now gitstore.ID) (bool, error) {
	if now.IsZero() || then == now {
		return then == now, nil
	}
	was, err := sizeOf(p, then)
	if err != nil {
		return false, err
	}
	is, err := sizeOf(p, now)
	return is >= was, err
}

// sizeOf is the size of a file, of which its beginning is read at most: what is in the store
// as the difference from another file is not put together for it.
func sizeOf(p *projects.Project, id gitstore.ID) (int64, error) {
	at, err := p.Store.LocateOne(id, nil)
	if err != nil {
		return 0, err
	}
	if !at.Nowhere() {
		if size, err := p.Store.BlobSize(at); err == nil {
			return size, nil
		}
	}
	r, size, err := p.Store.BlobReader(id) // it was packed meanwhile, or is whole elsewhere
	if err != nil {
		return 0, err
	}
	return size, r.Close()
}

// copied is what the files of a session's subagents were when it began, as a copy of a session
// that is known: it was said there.
type copied struct {
	sizes map[string]int64 // by the name of the file
	// until is when the copy was made, if more may be in what sizes counts: what is dated
	// later is none of it.
	until time.Time
}

// copiedOfSubagents is what was copied of what a session's subagents said.
func (sr *Searcher) copiedOfSubagents(a sessions.Delegating, runs []*run, known map[sessionID][]*run) (c copied, err error) {
	r := runs[0]
	if r.meta.Inherited == nil {
		return c, nil
	}
	what, err := sr.turnsOf(r, known)
	if err != nil || what.Inherited {
		return c, err
	}
	first, err := sessionOf(r.mission.Project, r.snapshots[0])
	if err != nil {
		return c, err
	}
	if first.Length > r.meta.Inherited.Length {
		var recipe conversations.CopyRecipe
		if err := json.Unmarshal(r.meta.Inherited.Recipe, &recipe); err != nil {
			return c, fmt.Errorf("recipe: %w", err)
		}
		c.until = recipe.Now
	}
	sides, err := sr.subagentSides(a, r, 0)
	if err != nil {
		return c, err
	}
	c.sizes = map[string]int64{}
	for side, id := range sides {
		if c.sizes[side], err = sizeOf(r.mission.Project, id); err != nil {
			return c, err
		}
	}
	return c, nil
}

// isWhole reports whether all of a file of that size was copied.
func (c copied) isWhole(side string, size int64) bool {
	return c.until.IsZero() && size <= c.sizes[side]
}

// has reports whether a text was copied.
func (c copied) has(side string, u utterance) bool {
	return u.place <= c.sizes[side] && (c.until.IsZero() || u.at.IsZero() || !u.at.After(c.until))
}

// key names in the index what a subagent said since its file was copied.
func (c copied) key(f *subagentFile) string {
	key := "subagent " + f.id.String()
	if size := c.sizes[f.side]; size > 0 {
		key += fmt.Sprintf(" from %d", size)
		if !c.until.IsZero() {
			key += fmt.Sprintf(" or %d", c.until.UnixNano())
		}
	}
	return key
}

// holderOfSubagent is the first snapshot that has a place of what a subagent said.
func (sr *Searcher) holderOfSubagent(a sessions.Delegating, r *run, f *subagentFile, place int64) projects.NumberedSnapshot {
	at := f.first + sort.Search(f.last-f.first, func(i int) bool {
		sides, err := sr.subagentSides(a, r, f.first+i)
		if err != nil || sides[f.side].IsZero() {
			return false
		}
		size, err := sizeOf(r.mission.Project, sides[f.side])
		return err == nil && size >= place
	})
	return r.snapshots[at]
}

// searchSubagents looks through what the subagents of a session said, where that is in files
// of its own.
func (t *conversationSearch) searchSubagents(ctx context.Context, page *page) (time.Time, error) {
	a, ok := t.delegating(t.runs[0])
	if !ok {
		return time.Time{}, nil
	}
	t.heard = map[said]*subagentFile{}
	before, err := t.copiedOfSubagents(a, t.runs, t.known)
	if err != nil {
		notifyUnread(ctx, t.runs[0].mission, err)
		return time.Time{}, ctx.Err()
	}
	for _, r := range t.runs {
		own := page.part()
		files, err := t.subagentFiles(a, r)
		if err == nil {
			files, err = t.grownSubagents(a, r, files)
		}
		for i := range files {
			err = errors.Join(err, t.searchSubagent(own, a, r, &files[i], before))
			if ctx.Err() != nil {
				return time.Time{}, ctx.Err()
			}
		}
		if err != nil {
			notifyUnread(ctx, r.mission, err)
		}
		if t.isMeant(r.mission) {
			page.take(own)
		}
	}
	return time.Time{}, nil
}

// grownSubagents adds what the agent's own files have since, where the session is the one
// that the mission is in now.
func (t *conversationSearch) grownSubagents(a sessions.Delegating, r *run, files []subagentFile) ([]subagentFile, error) {
	if r.presentFile() == "" {
		return files, nil
	}
	sides, err := conversations.SidesNow(r.mission, a)
	if err != nil {
		return files, err
	}
	newest := len(r.snapshots) - 1
	for _, side := range sides {
		subagent, ok := a.Subagent(side.Name)
		if !ok {
			continue
		}
		at := slices.IndexFunc(files, func(f subagentFile) bool { return f.side == side.Name && f.last == newest })
		if at < 0 {
			files = append(files, subagentFile{subagent: subagent, side: side.Name, first: newest, last: newest, path: side.Path})
			continue
		}
		if size, err := sizeOf(r.mission.Project, files[at].id); err != nil || side.Size > size {
			files[at].path = side.Path
		}
	}
	return files, nil
}

// searchSubagent looks through one of them, but for what was copied.
func (t *conversationSearch) searchSubagent(page *page, a sessions.Delegating, r *run, f *subagentFile, before copied) error {
	if f.path == "" {
		if known := t.index(t.project).Pieces(before.key(f)); len(known) > 0 {
			if skipped, _ := t.skip(page, r, stretch{indexed: &known[0]}); skipped {
				return nil
			}
		} else if size, err := sizeOf(r.mission.Project, f.id); err != nil || before.isWhole(f.side, size) {
			return err
		}
	}
	turns, err := readSubagent(r.mission.Project, a, f, t.places[missions.SearchOutput])
	if err != nil {
		return err
	}
	for _, turn := range turns {
		for u := range utterances(conversations.PlacedTurn{Turn: turn, Place: turn.Start}) {
			if before.has(f.side, u) || !t.wants(u.in) || !page.query.matches(u.text) {
				continue
			}
			one := said{u.in, u.at.UnixNano(), u.text, f.subagent}
			if other := t.heard[one]; other != nil && other != f {
				continue
			}
			t.heard[one] = f
			u.subagent = f.subagent
			u.moment = func() projects.NumberedSnapshot { return t.holderOfSubagent(a, r, f, u.place) }
			t.take(page, r, u)
		}
	}
	return nil
}

// readSubagent is what a subagent said.
func readSubagent(p *projects.Project, a sessions.Adapter, f *subagentFile, output bool) ([]sessions.Turn, error) {
	var from io.ReadCloser
	var err error
	if f.path != "" {
		from, _, err = conversations.OpenWithSize(f.path)
	}
	if from == nil || err != nil {
		if f.id.IsZero() {
			return nil, nil // it has gone
		}
		if from, _, err = p.Store.BlobReader(f.id); err != nil {
			return nil, err
		}
	}
	defer from.Close()
	read := a.Follow()
	if keeping, ok := read.(sessions.OutputKeeping); ok && output {
		keeping.KeepOutput()
	}
	c, err := sessions.FeedAll(read, from)
	return c.Turns, err
}

// addSubagents indexes what the subagents of a session said, as its runs have it now. One
// piece is one file: it mostly holds one turn.
func (w *indexWriter) addSubagents(runs []*run, known map[sessionID][]*run) error {
	a, ok := w.delegating(runs[0])
	if !ok {
		return nil
	}
	before, err := w.copiedOfSubagents(a, runs, known)
	if err != nil {
		return err
	}
	var failed error
	for _, r := range runs {
		files, err := w.subagentFiles(a, r)
		failed = errors.Join(failed, err)
		for i := range files {
			f := &files[i]
			key := before.key(f)
			switch {
			case w.useful[key] == whole:
				continue
			case len(w.index.Pieces(key)) > 0:
				w.useful[key] = whole
				continue
			}
			size, err := sizeOf(w.project, f.id)
			failed = errors.Join(failed, err)
			if err == nil && !before.isWhole(f.side, size) {
				w.useful[key] = whole
				failed = errors.Join(failed, w.addSubagent(a, f, before))
			}
		}
	}
	return failed
}

func (w *indexWriter) addSubagent(a sessions.Adapter, f *subagentFile, before copied) error {
	turns, err := readSubagent(w.project, a, f, true)
	if err != nil {
		return err
	}
	w.set.Take()
	piece := trigrams.Piece{Begins: beginning, Ends: end, Last: true, Newest: beginning, Oldest: end}
	for _, turn := range turns {
		for u := range utterances(conversations.PlacedTurn{Turn: turn, Place: turn.Start}) {
			if !before.has(f.side, u) {
				w.note(&piece, u)
			}
		}
	}
	w.batch.Add(before.key(f), piece, w.set.Take())
	if w.batch.Pieces() >= batchPieces {
		return w.batch.Write(indexDir(w.project), readerVersion())
	}
	return nil
}
