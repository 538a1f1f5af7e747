package searches

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/searches/trigrams"
)

const (
	// indexEvery is how long after a project was indexed it is again, if nothing else is to
	// be done for it: what is not indexed yet is read.
	indexEvery = time.Hour
	// batchPieces is how many pieces are indexed in memory.
	batchPieces = 1024
)

func indexNote(p *projects.Project) string { return filepath.Join(indexDir(p), "indexed") }

// stateOf tells whether anything was added to a project's conversations since.
func stateOf(p *projects.Project) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, readerVersion())
	for _, kind := range []gitstore.RefKind{gitstore.RefAgent, gitstore.RefTrashAgent, gitstore.RefFetchedAgent} {
		list, err := p.Store.Refs(kind)
		if err != nil {
			return "", err
		}
		for _, ref := range list.Refs {
			fmt.Fprintln(sum, ref)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// IsIndexDue reports whether a process is to be started that calls IndexWhenChanged. It is
// cheap enough for each idle point.
func (sr *Searcher) IsIndexDue(p *projects.Project) bool {
	info, err := os.Stat(indexNote(p))
	if err != nil {
		info, err = os.Stat(filepath.Join(p.ShadowRepo(), "HEAD")) // a new project is in no hurry
	}
	return err == nil && sr.Now().Sub(info.ModTime()).Abs() >= indexEvery && sr.isChanged(p)
}

func (sr *Searcher) isChanged(p *projects.Project) bool {
	state, err := stateOf(p)
	noted, _ := disk.ReadFile(indexNote(p))
	return err == nil && string(noted) != state
}

// IndexWhenChanged brings a project's index up to date. It may be cut off at any time: what
// was indexed by then stays. One process at a time calls it for a project.
func (sr *Searcher) IndexWhenChanged(ctx context.Context, p *projects.Project) error {
	if !sr.isChanged(p) || sr.Space.CheckRoom() != nil {
		return nil
	}
	state, err := stateOf(p)
	if err != nil {
		return err
	}
	past, _ := sr.readPast(p) // doctor says what is wrong
	w := &indexWriter{Searcher: sr, project: p, set: new(trigrams.Set), useful: map[string]usefulness{}}
	w.index = trigrams.Open(indexDir(p), readerVersion())
	err = errors.Join(w.addAll(ctx, past), w.batch.Write(indexDir(p), readerVersion()), w.index.Close())
	if err != nil || ctx.Err() != nil {
		return err
	}
	if err := trigrams.Tidy(indexDir(p), readerVersion(), w.isUseful); err != nil {
		return err
	}
	return journal.WriteVolatile(p.Dir, indexNote(p), 0o600, []byte(state))
}

// usefulness is what of a record's conversation is worth to be kept.
type usefulness int

const (
	ofNoUse usefulness = iota
	withoutLast
	whole
)

// indexWriter indexes a project.
type indexWriter struct {
	*Searcher
	project *projects.Project
	index   *trigrams.Index
	batch   trigrams.Batch
	set     *trigrams.Set
	useful  map[string]usefulness // by key
}

func (w *indexWriter) isUseful(key string, p trigrams.Piece) bool {
	return w.useful[key] == whole || w.useful[key] == withoutLast && !p.Last
}

// addAll indexes what of the project's conversations is not indexed yet.
func (w *indexWriter) addAll(ctx context.Context, past *past) error {
	bySession := map[sessionID][]*run{}
	runs := findRuns(ctx, past, past.allSnapshots(ctx))
	for _, r := range runs {
		id := sessionID{r.meta.Agent, r.meta.SessionID}
		bySession[id] = append(bySession[id], r)
	}
	for _, r := range runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if a := w.Adapter(r.meta.Agent); a == nil || projects.IsForeignAdapter(a) {
			continue
		}
		t, err := w.turnsOf(r, bySession)
		if err != nil {
			w.Logger.Info("index a conversation", "mission", r.mission.Name, "error", err) // a search says so
			continue
		}
		t.File = ""
		w.noteUse(r, t)
		for _, s := range w.stretchesOf(w.index, r, t, false) {
			if s.indexed != nil {
				continue
			}
			if err := w.add(ctx, r, t, s); err != nil && ctx.Err() == nil {
				w.Logger.Info("index a conversation", "mission", r.mission.Name, "error", err) // a search says so
				break
			}
		}
	}
	for _, runs := range bySession {
		if err := ctx.Err(); err != nil {
			return err
		}
		slices.SortStableFunc(runs, compareRuns)
		if err := w.addSubagents(runs, bySession); err != nil {
			w.Logger.Info("index what subagents said", "mission", runs[0].mission.Name, "error", err) // a search says so
		}
	}
	return ctx.Err()
}

func (w *indexWriter) noteUse(r *run, t conversations.TurnRange) {
	for _, s := range r.snapshots {
		if key := indexKey(s.Record, t); w.isSharedByRecords(r) && w.useful[key] == ofNoUse {
			w.useful[key] = withoutLast
		}
	}
	w.useful[indexKey(t.Record, t)] = whole
}

// note takes a text into a piece.
func (w *indexWriter) note(piece *trigrams.Piece, u utterance) {
	w.set.Add(fold(u.text))
	if year := u.at.Year(); year < 1700 || year > 2200 { // none, or none that is believed
		piece.Newest, piece.Oldest = end, beginning
	} else {
		piece.Newest, piece.Oldest = max(piece.Newest, u.at.UnixNano()), min(piece.Oldest, u.at.UnixNano())
	}
}

// add indexes a stretch of a conversation, piece by piece.
func (w *indexWriter) add(ctx context.Context, r *run, t conversations.TurnRange, s stretch) error {
	piece := trigrams.Piece{Begins: beginning, Newest: beginning, Oldest: end}
	if t.From, t.To = s.from, s.to; s.from != nil {
		piece.Begins, piece.Read = s.from.Turn, s.from.Read
	}
	w.set.Take()
	key := indexKey(t.Record, t)
	var failed error
	done := func(ends, sought int64) {
		piece.Ends, piece.Sought = ends, sought
		w.batch.Add(key, piece, w.set.Take())
		piece = trigrams.Piece{Begins: ends, Read: sought, Newest: beginning, Oldest: end}
		if w.batch.Pieces() >= batchPieces {
			failed = errors.Join(failed, w.batch.Write(indexDir(w.project), readerVersion()))
		}
	}
	t.Output = true
	t.Border = func(b conversations.Border) {
		if b.Read <= r.meta.Length-r.meta.Torn {
			done(b.Turn, b.Read)
		}
	}
	err := w.conversations.ReadRecordedTurns(ctx, w.project, t, func(turn conversations.PlacedTurn) error {
		if failed != nil {
			return failed
		}
		for u := range utterances(turn) {
			w.note(&piece, u)
		}
		if turn.From != "" && (len(piece.From) == 0 || piece.From[len(piece.From)-1] != turn.From) {
			piece.From = append(piece.From, turn.From)
		}
		return nil
	})
	if err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	switch {
	case s.to == nil:
		piece.Last = true
		done(end, 0)
	case piece.Begins < s.to.Turn:
		done(s.to.Turn, s.to.Read)
	}
	return failed
}
